// Operand collectors (rules O1 to O3, I4). A collector takes an issued instruction and reads its rows from the banks
// from the cycle after the issue on, the oldest collector first. When complete, it offers the instruction to the units.
//
// A row comes in the cycle after its read, in which the instruction may already leave. So operands come from the banks in
// this cycle, and from the collector later.
//
// Each bank reads the first row of those that lie in it, in the order of the collectors and of their operands. All banks
// choose side by side.
`include "bugs.svh"
`include "events.svh"
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
    // Operand read. A row comes in the next cycle.
    output logic   read[REGISTERS_BANKS],
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
  logic [SOURCES-1:0] need_q[N];         // rows that it lacks
  logic [SOURCES-1:0][BANK_BITS-1:0] bank_q[N];
  row_t   operands_q[N][SOURCES], current[N][SOURCES];

  always_comb begin
    for (int k = 0; k < N; k++) begin
      complete[k] = count_t'(k) < count_q && !reading_q[order_q[k]];
      slot[k] = slot_q[order_q[k]];
      seq[k] = seq_q[order_q[k]];
      uop[k] = uop_q[order_q[k]];
      mask[k] = mask_q[order_q[k]];
      condition[k] = condition_q[order_q[k]];
      for (int s = 0; s < SOURCES; s++) operands[k][s] = current[order_q[k]][s];
    end
  end

  // The rows that the banks read, of all that are wanted, in the order of their collectors and operands.
  localparam int ALL = N * SOURCES;
  typedef logic [ALL-1:0] all_t;
  function automatic all_t lowest_row(input all_t set);
    all_t below;
    below = set << 1;
    for (int s = 1; s < ALL; s = 2 * s) below = below | (below << s);
    return set & ~below;
  endfunction
  all_t wanted, served, column, in_bank[REGISTERS_BANKS], chosen[REGISTERS_BANKS];
  reg_t source[ALL];
  slot_t owner[N];
  logic [BANK_BITS-1:0] bank[ALL];
  logic [N-1:0] reads;
  always_comb begin
    served = '0;
    column = '0;
    finishes = '0;
    collecting = '0;
    for (int k = 0; k < N; k++) begin
      owner[k] = slot_q[order_q[k]];
      reads[k] = count_t'(k) < count_q && reading_q[order_q[k]];
      for (int s = 0; s < SOURCES; s++) begin
        wanted[k*SOURCES+s] = reads[k] && need_q[order_q[k]][s];
        source[k*SOURCES+s] = uop_q[order_q[k]].source[s];
        bank[k*SOURCES+s] = bank_q[order_q[k]][s];
      end
    end
    for (int b = 0; b < REGISTERS_BANKS; b++) begin
      for (int i = 0; i < ALL; i++) in_bank[b][i] = wanted[i] && int'(bank[i]) == b;
      chosen[b] = lowest_row(in_bank[b]);
      read[b] = in_bank[b] != 0;
      served = served | (`BUG(129) ? in_bank[b] : chosen[b]);
      for (int n = 0; n < SLOT_BITS; n++) begin
        for (int i = 0; i < ALL; i++) column[i] = chosen[b][i] && owner[i/SOURCES][n];
        read_slot[b][n] = column != 0;
      end
      for (int n = 0; n < REG_BITS; n++) begin
        for (int i = 0; i < ALL; i++) column[i] = chosen[b][i] && source[i][n];
        read_register[b][n] = column != 0;
      end
    end
    for (int k = 0; k < N; k++) begin
      finishes[k] = reads[k] && (wanted[k*SOURCES+:SOURCES] & ~served[k*SOURCES+:SOURCES]) == 0;
      for (int w = 0; w < MAX_WAVES; w++)
        if (reads[k] && !finishes[k] && owner[k] == slot_t'(w) && !`BUG(131)) collecting[w] = 1'b1;
    end
  end
  // The same, by collector.
  logic [SOURCES-1:0] row_read[N];
  always_comb
    for (int c = 0; c < N; c++) begin
      row_read[c] = '0;
      for (int k = 0; k < N; k++) if (reads[k] && order_q[k] == index_t'(c)) row_read[c] = served[k*SOURCES+:SOURCES];
    end

  // A row serves every operand that names its register. It comes in the next cycle, from the bank of `from_q`.
  logic [REGISTERS_BANKS-1:0] from[N][SOURCES], from_q[N][SOURCES];
  row_t arriving[N][SOURCES];
  always_comb
    for (int c = 0; c < N; c++)
      for (int s = 0; s < SOURCES; s++) begin
        from[c][s] = '0;
        arriving[c][s] = '0;
        for (int b = 0; b < REGISTERS_BANKS; b++) begin
          for (int r = 0; r < SOURCES; r++)
            if (row_read[c][r] && int'(bank_q[c][r]) == b && uop_q[c].uses[s] && uop_q[c].source[s] == uop_q[c].source[r])
              from[c][s][b] = 1'b1;
          if (from_q[c][s][b]) arriving[c][s] = arriving[c][s] | read_row[b];
        end
        current[c][s] = from_q[c][s] != 0 ? arriving[c][s] : operands_q[c][s];
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
      need_q[c] <= need_q[c] & ~row_read[c];
      if ((need_q[c] & ~row_read[c]) == 0) reading_q[c] <= 1'b0;
      for (int s = 0; s < SOURCES; s++) begin
        from_q[c][s] <= from[c][s];
        if (from_q[c][s] != 0) operands_q[c][s] <= arriving[c][s];
      end
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
      for (int s = 0; s < SOURCES; s++) bank_q[entry][s] <= bank_of(take_uop.source[s], take_slot);
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
  // What coverage counts.
  `EVENT(collectors_full, count_q == count_t'(N))
  `EVENT(collectors_taken_as_one_leaves, take && count_left != count_q)
  `EVENT(collectors_leave_together, $countones(leaves) > 1)
  `EVENT(collectors_younger_leaves_first, leaves[N-1] && !leaves[0] && count_q == count_t'(N))
  `EVENT(operands_wait_for_a_bank, (wanted & ~served) != 0)
  `EVENT(operands_of_two_collectors, $countones(reads) > 1)
  `EVENT(operands_end_together, $countones(finishes) > 1)
  `EVENT(operands_name_a_register_twice, take && take_uop.uses != take_uop.reads)
  `EVENT(operands_none, take && take_uop.uses == 0)
  `EVENT(operands_five, take && take_uop.uses == '1)
endmodule
