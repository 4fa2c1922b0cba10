// A core of another kind, as an example for who brings one: it has nothing in common with rtl/ but the port of the test
// bench. One wave runs after the other, one instruction at a time, one lane at a time at memory, without a cache. It knows
// the nine instructions of the suite's kernel `transpose_naive`. What makes it comparable are the calls of bench_*.
/* verilator lint_off UNUSEDSIGNAL */
module tiny_core (
    input logic        clk,
    input logic        rst_n,
    // The launch, constant while it runs.
    input logic [31:0] base_word,
    input logic [31:0] end_word,
    input logic [31:0] registers,
    input logic [31:0] local_bytes,
    input logic [31:0] device_bytes,
    input logic [31:0] workgroup_size[3],
    input logic [31:0] grid_size[3],
    input logic [31:0] thread_count,
    input logic [31:0] waves,
    input logic [31:0] resident,
    input logic [31:0] workgroups,
    input logic [63:0] initial_valid,
    input logic [31:0] initial_value[64],
    // The memory side: a packet may be sent, an answer is there.
    input logic        credit,
    input logic        reply_valid,
    input logic [1:0]  reply_kind,
    input logic [31:0] reply_tag,
    input logic [31:0] reply_line,
    input logic [31:0] reply_data[8]
);
  import "DPI-C" function void bench_issue(
      input int slot, input int seq, input int pc, input int retires, input int words, input int word0, input int word1,
      input int active, input int lanes, input int wave, input int group_x, input int group_y, input int group_z,
      input int next_pc, input int ends);
  import "DPI-C" function void bench_row(input int place, input int w0, input int w1, input int w2, input int w3,
      input int w4, input int w5, input int w6, input int w7);
  import "DPI-C" function void bench_access(input int slot, input int seq);
  import "DPI-C" function void bench_retire(
      input int slot, input int seq, input int pc, input int is_pred, input int index, input int value);
  import "DPI-C" function void bench_write(input int slot, input int index);
  import "DPI-C" function void bench_fault(input int kind, input int slot, input int pc);
  import "DPI-C" function void bench_request(
      input int kind, input int tag, input int code, input int line, input int byte_mask, input int atomic_op,
      input int swap, input int hint);
  import "DPI-C" function void bench_reply_taken();
  import "DPI-C" function void bench_over();
  localparam int READ = 0, WRITE = 1, CACHED = 0, ILLEGAL = 0, OUT_OF_BOUNDS = 6;

  typedef logic [31:0] word_t;
  typedef logic [7:0][31:0] row_t;
  typedef enum logic [2:0] {START_WAVE, FETCH, FETCHING, EXECUTE, MEMORY, ANSWER, OVER} state_e;
  state_e state;

  // The wave at work.
  word_t wave, group[3], pc, seq;
  logic [7:0] active, pred[4];
  row_t rows[64];

  // Its instruction, and the line of code that came last.
  word_t word[2], code[8], code_line;
  logic second, code_valid;
  word_t at, line_of_code;
  assign at = base_word + pc + 32'(second);
  assign line_of_code = {at[29:3], 5'd0};

  // Decoded: opcode and modifier.
  typedef enum logic [11:0] {
    IADD = 12'h000, IMAD = 12'h040, SHL = 12'h240, UCMP_GE = 12'h295, LOAD = 12'h382, STORE = 12'h392, HALT = 12'h3F9,
    MOV_IMM = 12'h411, MOV_SR = 12'h412
  } op_e;
  op_e op;
  assign op = op_e'({word[0][31:24], word[0][7:4]});
  logic ends_here, known;
  word_t words;
  assign ends_here = pc == end_word;
  assign known = op inside {IADD, IMAD, SHL, UCMP_GE, LOAD, STORE, HALT, MOV_IMM, MOV_SR} && pc + words <= end_word;
  assign words = ends_here ? 0 : op inside {LOAD, HALT, MOV_SR} ? 1 : 2;
  logic [5:0] rd, a, b, c;
  assign {rd, a, b, c} = {word[0][21:16], word[0][13:8], word[1][29:24], word[1][21:16]};
  logic [7:0] guard, lanes;
  assign guard = word[0][2:0] == 0 || ends_here ? '1 : pred[word[0][1:0]] ^ {8{word[0][2]}};
  assign lanes = active & guard;

  // What it gives.
  row_t  result;
  logic [7:0] compared;
  word_t thread, special;
  always_comb begin
    {thread, special} = '0;
    for (int l = 0; l < 8; l++) begin
      thread = wave * 8 + l;
      case (word[0][15:8])
        0: special = thread % workgroup_size[0];
        1: special = thread / workgroup_size[0] % workgroup_size[1];
        2: special = thread / workgroup_size[0] / workgroup_size[1];
        5, 6, 7: special = group[2'(word[0][15:8] - 8'd5)];
        8, 9, 10: special = workgroup_size[2'(word[0][15:8] - 8'd8)];
        11, 12, 13: special = grid_size[2'(word[0][15:8] - 8'd11)];
        default: special = '0;
      endcase
      compared[l] = rows[a][l] >= rows[b][l];
      case (op)
        IADD: result[l] = rows[a][l] + rows[b][l];
        IMAD: result[l] = rows[a][l] * rows[b][l] + rows[c][l];
        SHL: result[l] = rows[a][l] << rows[b][l][4:0];
        MOV_IMM: result[l] = word[1];
        default: result[l] = special;
      endcase
    end
  end

  // The lane at memory. Addresses are multiples of 4: others would take two accesses.
  logic [7:0] left;
  logic [2:0] lane;
  logic outside;
  word_t address;
  always_comb begin
    lane = '0;
    outside = 1'b0;
    for (int l = 7; l >= 0; l--) begin
      if (left[l]) lane = 3'(l);
      if (lanes[l] && rows[a][l] > device_bytes - 4) outside = 1'b1;
    end
  end
  assign address = rows[a][lane];

  function automatic void report_row(input int place, input row_t r);
    bench_row(place, int'(r[0]), int'(r[1]), int'(r[2]), int'(r[3]), int'(r[4]), int'(r[5]), int'(r[6]), int'(r[7]));
  endfunction
  function automatic void report_issue(input logic retires, input logic ends);
    bench_issue(0, int'(seq), int'(pc), int'(retires), int'(words), ends_here ? 0 : int'(word[0]),
                words == 2 ? int'(word[1]) : 0, int'(active), int'(lanes), int'(wave), int'(group[0]), int'(group[1]),
                int'(group[2]), int'(pc + words), int'(ends));
  endfunction

  always @(posedge clk)
    if (!rst_n) begin
      state <= START_WAVE;
      code_valid <= 1'b0;
      wave <= '0;
      for (int i = 0; i < 3; i++) group[i] <= '0;
    end else
      case (state)
        START_WAVE: begin
          for (int l = 0; l < 8; l++) active[l] <= wave * 8 + l < thread_count;
          for (int p = 0; p < 4; p++) pred[p] <= '0;
          for (int r = 0; r < 64; r++) rows[r] <= {8{initial_valid[r] ? initial_value[r] : '0}};
          pc <= '0;
          seq <= '0;
          second <= 1'b0;
          state <= FETCH;
        end
        FETCH:
          if (ends_here || (second && words == 1)) state <= EXECUTE;
          else if (!code_valid || code_line != line_of_code) begin
            if (credit) begin
              bench_request(READ, 0, 1, int'(line_of_code), 0, 0, 0, CACHED);
              state <= FETCHING;
            end
          end else begin
            word[second] <= code[at[2:0]];
            second <= 1'b1;
            if (second) state <= EXECUTE;
          end
        FETCHING:
          if (reply_valid) begin
            bench_reply_taken();
            for (int i = 0; i < 8; i++) code[i] <= reply_data[i];
            code_line <= line_of_code;
            code_valid <= 1'b1;
            state <= FETCH;
          end
        EXECUTE: begin
          seq <= (seq + 1) & 32'hFFFF;
          pc <= pc + words;
          second <= 1'b0;
          state <= FETCH;
          if (!ends_here && !known) begin
            bench_fault(ILLEGAL, 0, int'(pc));
          end else if (ends_here || op == HALT) begin
            report_issue(1'b1, lanes == active);
            active <= active & ~lanes;
            if (lanes == active) begin
              // The next wave, or the next workgroup.
              state <= START_WAVE;
              wave <= wave + 1 == waves ? '0 : wave + 1;
              if (wave + 1 == waves) begin
                group[0] <= group[0] + 1 == grid_size[0] ? '0 : group[0] + 1;
                if (group[0] + 1 == grid_size[0]) begin
                  group[1] <= group[1] + 1 == grid_size[1] ? '0 : group[1] + 1;
                  if (group[1] + 1 == grid_size[1]) begin
                    group[2] <= group[2] + 1;
                    if (group[2] + 1 == grid_size[2]) state <= OVER;
                  end
                end
              end
            end
          end else begin
            report_issue(lanes == 0, 1'b0);
            if (lanes != 0 && op inside {LOAD, STORE}) begin
              if (outside) bench_fault(OUT_OF_BOUNDS, 0, int'(pc));
              report_row(0, rows[a]);
              report_row(1, rows[b]);
              bench_access(0, int'(seq));
              left <= lanes;
              pc <= pc;
              seq <= seq;
              state <= MEMORY;
            end else if (lanes != 0 && op == UCMP_GE) begin
              bench_retire(0, int'(seq), int'(pc), 1, int'(rd), int'(compared));
              pred[rd[1:0]] <= (pred[rd[1:0]] & ~lanes) | (compared & lanes);
            end else if (lanes != 0) begin
              report_row(0, result);
              bench_write(0, int'(rd));
              bench_retire(0, int'(seq), int'(pc), 0, 0, 0);
              for (int l = 0; l < 8; l++) if (lanes[l]) rows[rd][l] <= result[l];
            end
          end
        end
        MEMORY:
          if (left == 0) begin
            if (op == LOAD) begin
              report_row(0, rows[rd]);
              bench_write(0, int'(rd));
            end
            bench_retire(0, int'(seq), int'(pc), 0, 0, 0);
            seq <= (seq + 1) & 32'hFFFF;
            pc <= pc + words;
            state <= FETCH;
          end else if (credit) begin
            report_row(0, {8{rows[b][lane]}});
            bench_request(op == LOAD ? READ : WRITE, 0, 0, int'({address[31:5], 5'd0}),
                          op == LOAD ? 0 : int'(32'hF << address[4:0]), 0, 0, CACHED);
            state <= ANSWER;
          end
        ANSWER:
          if (reply_valid) begin
            bench_reply_taken();
            if (op == LOAD) rows[rd][lane] <= reply_data[address[4:2]];
            left[lane] <= 1'b0;
            state <= MEMORY;
          end
        default: bench_over();
      endcase
endmodule
/* verilator lint_on UNUSEDSIGNAL */
