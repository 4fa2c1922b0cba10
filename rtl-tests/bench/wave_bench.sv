// The test bench around wave_top: hands each step of each instruction, and each packet of the memory port, to the C++
// program, which plays the memory side. It tells the steps of a cycle in the next one, when it is known what a control
// instruction does; packets, which the memory side needs at once, and the end of the run in theirs.
module wave_bench
  import wave_core_pkg::*;
(
    input  logic        clk,
    input  logic        rst_n,
    input  logic [31:0] base_word,
    input  logic [31:0] end_word,
    input  logic [31:0] registers,
    input  logic [31:0] local_bytes,
    input  logic [31:0] device_bytes,
    input  logic [31:0] workgroup_size[3],
    input  logic [31:0] grid_size[3],
    input  logic [31:0] thread_count,
    input  logic [31:0] waves,
    input  logic [31:0] resident,
    input  logic [31:0] workgroups,
    input  logic [63:0] initial_valid,
    input  logic [31:0] initial_value[64],
    input  logic        credit,
    input  logic        reply_valid,
    input  logic [1:0]  reply_kind,
    input  logic [31:0] reply_tag,
    input  logic [31:0] reply_line,
    input  logic [31:0] reply_data[8]
);
  import "DPI-C" function void bench_step(input int kind, input int slot, input int seq, input int pc);
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
  import "DPI-C" function void bench_trails();

  launch_t launch;
  logic [MAX_REGISTERS-1:0][31:0] initial_values;
  request_t request;
  reply_t reply;
  logic send, reply_taken, over;
  trace_t trace;
  always_comb begin
    launch.base_word = base_word;
    launch.end_word = pc_t'(end_word);
    launch.registers = 9'(registers);
    launch.local_bytes = local_bytes;
    launch.device_bytes = device_bytes;
    for (int i = 0; i < 3; i++) begin
      launch.workgroup_size[i] = workgroup_size[i];
      launch.grid_size[i] = grid_size[i];
    end
    for (int i = 0; i < 2; i++)
      launch.reciprocal[i] = (RECIPROCAL_BITS+1)'((32'd1 << RECIPROCAL_BITS) / (workgroup_size[i] == 0 ? 1 : workgroup_size[i]) + 1);
    launch.threads = thread_count;
    launch.waves = waves;
    launch.resident = resident;
    launch.workgroups = workgroups;
    for (int r = 0; r < MAX_REGISTERS; r++) initial_values[r] = initial_value[r];
    reply.kind = reply_e'(reply_kind);
    reply.tag = reply_tag;
    reply.line = reply_line;
    for (int i = 0; i < 8; i++) reply.data[32*i+:32] = reply_data[i];
  end

  wave_top u_top (
      .clk, .rst_n, .launch, .initial_valid(initial_valid[MAX_REGISTERS-1:0]), .initial_value(initial_values), .credit,
      .send, .request, .reply_valid, .reply, .reply_taken, .over, .trace);

  function automatic void row(input int place, input row_t r);
    bench_row(place, int'(r[0]), int'(r[1]), int'(r[2]), int'(r[3]), int'(r[4]), int'(r[5]), int'(r[6]), int'(r[7]));
  endfunction

  initial bench_trails();

  // The steps of the cycle before. Where its wave goes on after a control instruction is known now.
  trace_t told;
  always @(posedge clk) told <= rst_n ? trace : '0;
  logic fault_of_control, fault_waits;
  assign fault_of_control = trace.act_fault && !told.fault;
  // An instruction whose fault waits neither retires nor goes on.
  assign fault_waits = told.issue_faults || trace.act_waits;

  // The row of a result, and an access, come before the retirement in their cycle.
  // Kinds of steps: 0 fetch, 1 decode, 3 operands, 4 execute.
  always @(posedge clk) if (rst_n) begin
    if (told.access.valid) begin
      row(0, told.access_address);
      for (int r = 0; r < 4; r++) row(1 + r, told.access_data[r]);
      bench_access(int'(told.access.slot), int'(told.access.seq));
    end
    if (told.write) begin
      row(0, told.write_row);
      bench_write(int'(told.write_slot), int'(told.write_register));
    end
    for (int p = 0; p < RETIRE_PORTS; p++) if (told.retire[p].valid)
      bench_retire(int'(told.retire[p].slot), int'(told.retire[p].seq), int'(told.retire[p].pc),
                   p < CLASSES ? int'(told.retire_pred[p]) : 0, p < CLASSES ? int'(told.retire_index[p]) : 0,
                   p < CLASSES ? int'(told.retire_value[p]) : 0);
    for (int k = 0; k < REGISTERS_COLLECTORS; k++) begin
      if (told.execute[k].valid)
        bench_step(4, int'(told.execute[k].slot), int'(told.execute[k].seq), int'(told.execute[k].pc));
      if (told.operands[k].valid)
        bench_step(3, int'(told.operands[k].slot), int'(told.operands[k].seq), int'(told.operands[k].pc));
    end
    if (told.issue.valid)
      bench_issue(int'(told.issue.slot), int'(told.issue.seq), int'(told.issue.pc), int'(told.issue_retires && !fault_waits),
                  int'(told.issue_words), int'(told.issue_word0), int'(told.issue_word1), int'(told.issue_active),
                  int'(told.issue_lanes), int'(told.issue_wave), int'(told.issue_group[0]),
                  int'(told.issue_group[1]), int'(told.issue_group[2]),
                  trace.acts ? int'(trace.act_next) : int'(told.issue_next), int'((trace.acts && trace.act_ends) || fault_waits));
    for (int i = 0; i < FETCH_WORDS; i++) if (told.decode[i].valid)
      bench_step(1, int'(told.decode[i].slot), 0, int'(told.decode[i].pc));
    if (told.fetch.valid) bench_step(0, int'(told.fetch.slot), 0, int'(told.fetch.pc));
    if (told.fault) bench_fault(int'(told.fault_kind), int'(told.fault_slot), int'(told.fault_pc));
    if (fault_of_control) bench_fault(int'(trace.act_fault_kind), int'(told.issue.slot), int'(told.issue.pc));
    if (send) begin
      row(0, request.data);
      bench_request(int'(request.kind), int'(request.tag), int'(request.code), int'(request.line),
                    int'(request.byte_mask), int'(request.atomic_op), int'(request.swap), int'(request.hint));
    end
    if (reply_taken && reply_valid) bench_reply_taken();
    if (over) bench_over();
  end
endmodule
