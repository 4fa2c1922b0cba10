// Operand collectors (rules O1 to O3, I4). A collector takes an issued instruction and reads its rows from the banks
// from the cycle after the issue on, the oldest collector first. When complete, it offers the instruction to the units.
`include "bugs.svh"
module collector
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    // Dispatch. Indices are in the order of issue.
    output logic   complete[REGISTERS_COLLECTORS],
    output slot_t  slot[REGISTERS_COLLECTORS],
    output seq_t   seq[REGISTERS_COLLECTORS],
    output uop_t   uop[REGISTERS_COLLECTORS],
    output lanes_t mask[REGISTERS_COLLECTORS],
    output lanes_t condition[REGISTERS_COLLECTORS],
    output row_t   operands[REGISTERS_COLLECTORS][SOURCES],
    input  logic [REGISTERS_COLLECTORS-1:0] leaves,
    // Operand read.
    output slot_t  read_slot[REGISTERS_BANKS],
    output reg_t   read_register[REGISTERS_BANKS],
    input  row_t   read_row[REGISTERS_BANKS],
    output logic [REGISTERS_COLLECTORS-1:0] finishes,  // places, as before dispatch, whose last row is read now
    output slots_t collecting,         // waves with rows to read after this
    // Issue.
    output logic   free,               // after dispatch
    input  logic   take,
    input  slot_t  take_slot,
    input  seq_t   take_seq,
    input  uop_t   take_uop,
    input  lanes_t take_mask,
    input  lanes_t take_condition
);
  localparam int N = REGISTERS_COLLECTORS;
  typedef logic [$clog2(N)-1:0] index_t;
  typedef logic [$clog2(N+1)-1:0] count_t;

  logic [N-1:0] used_q, reading_q;
  index_t order_q[N], order_left[N];    // of the used ones, the oldest first
  count_t count_q, count_left;
  slot_t  slot_q[N];
  seq_t   seq_q[N];
  uop_t   uop_q[N];
  lanes_t mask_q[N];
  lanes_t condition_q[N];
  logic [SOURCES-1:0] need_q[N];
  row_t   operands_q[N][SOURCES];

  always_comb begin
    for (int k = 0; k < N; k++) begin
      complete[k] = count_t'(k) < count_q && !reading_q[order_q[k]];
      slot[k] = slot_q[order_q[k]];
      seq[k] = seq_q[order_q[k]];
      uop[k] = uop_q[order_q[k]];
      mask[k] = mask_q[order_q[k]];
      condition[k] = condition_q[order_q[k]];
      for (int s = 0; s < SOURCES; s++) operands[k][s] = operands_q[order_q[k]][s];
    end
  end

  // The rows that the banks read.
  logic [REGISTERS_BANKS-1:0] bank_used;
  logic [SOURCES-1:0] need[N];
  logic [BANK_BITS-1:0] bank;
  logic [N-1:0] row_read[SOURCES];
  always_comb begin
    bank_used = '0;
    bank = '0;
    finishes = '0;
    collecting = '0;
    for (int b = 0; b < REGISTERS_BANKS; b++) begin
      read_slot[b] = '0;
      read_register[b] = '0;
    end
    for (int s = 0; s < SOURCES; s++) row_read[s] = '0;
    for (int c = 0; c < N; c++) need[c] = need_q[c];
    for (int k = 0; k < N; k++) begin
      if (count_t'(k) < count_q && reading_q[order_q[k]]) begin
        for (int s = 0; s < SOURCES; s++) begin
          bank = bank_of(uop_q[order_q[k]].source[s], slot_q[order_q[k]]);
          if (need[order_q[k]][s] && !bank_used[bank]) begin
            bank_used[bank] = !`BUG(129);
            read_slot[bank] = slot_q[order_q[k]];
            read_register[bank] = uop_q[order_q[k]].source[s];
            need[order_q[k]][s] = 1'b0;
            row_read[s][order_q[k]] = 1'b1;
          end
        end
        if (need[order_q[k]] == 0) finishes[k] = 1'b1;
        else if (!`BUG(131)) collecting[slot_q[order_q[k]]] = 1'b1;
      end
    end
  end

  // Collectors in use after dispatch.
  logic [N-1:0] used_left;
  index_t entry;
  always_comb begin
    used_left = used_q;
    count_left = '0;
    for (int k = 0; k < N; k++) order_left[k] = '0;
    for (int k = 0; k < N; k++) begin
      if (count_t'(k) < count_q) begin
        if (leaves[k]) used_left[order_q[k]] = 1'b0;
        else begin
          order_left[index_t'(count_left)] = order_q[k];
          count_left = count_left + 1'b1;
        end
      end
    end
    free = count_left != count_t'(N);
    entry = '0;
    for (int c = N - 1; c >= 0; c--) if (!used_left[c]) entry = index_t'(c);
  end

  always_ff @(posedge clk) begin
    used_q <= used_left;
    count_q <= count_left;
    for (int k = 0; k < N; k++) order_q[k] <= order_left[k];
    for (int c = 0; c < N; c++) begin
      need_q[c] <= need[c];
      if (need[c] == 0) reading_q[c] <= 1'b0;
      // A row serves every operand that names its register.
      for (int s = 0; s < SOURCES; s++)
        for (int r = 0; r < SOURCES; r++)
          if (row_read[r][c] && uop_q[c].uses[s] && uop_q[c].source[s] == uop_q[c].source[r])
            operands_q[c][s] <= read_row[bank_of(uop_q[c].source[r], slot_q[c])];
    end
    if (take) begin
      used_q[entry] <= 1'b1;
      reading_q[entry] <= 1'b1;
      order_q[index_t'(count_left)] <= entry;
      count_q <= count_left + 1'b1;
      slot_q[entry] <= take_slot;
      seq_q[entry] <= take_seq;
      uop_q[entry] <= take_uop;
      mask_q[entry] <= take_mask;
      condition_q[entry] <= take_condition;
      need_q[entry] <= `BUG(130) ? take_uop.uses : take_uop.reads;
    end
    if (!rst_n) begin
      used_q <= '0;
      count_q <= '0;
      reading_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert ($countones(used_q) == int'(count_q)) else $error("the order names other collectors than those in use");
      assert (!take || free) else $error("an instruction without a collector");
      assert ((reading_q & ~used_q) == 0) else $error("a free collector reads operands");
    end
endmodule
