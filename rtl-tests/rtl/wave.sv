// The wave slots: instruction buffers, and what each wave's next instruction waits for (rules I2, I5).
//
// Order within a cycle: stage resolve (`drop`), then issue (`pop`, `collects`), then decode (`push`). Registers and
// predicates that retire in a cycle are free for the issue of this cycle: those of the units are told a cycle ahead, and
// the last row of a load comes last. All else that waits for memory accesses, and fetch, see the counts of the cycle
// before.
//
// The next instruction of each wave is in registers, as far as issue decides by it. The rest of it is read from the
// buffer once the wave is known.
`include "bugs.svh"
`include "events.svh"
module wave
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  logic     drop,             // a redirect or the end of a wave empties the buffer of `drop_slot`
    input  slot_t    drop_slot,
    input  result_t  soon[CLASSES],    // results that are due in the next cycle
    input  retire_t  retire[RETIRE_PORTS],
    // Issue: the instruction of the wave in `slot`, and in `pop`, leaves its buffer.
    input  slots_t   pop,
    input  slot_t    slot,
    input  slots_t   collects,         // and goes to a collector
    // Decode: the group that arrives, also if stage resolve drops it, and what it brings.
    input  logic     arrives,
    input  logic [1:0] brings,
    input  logic [1:0] push_valid,
    input  slot_t    push_slot,
    input  uop_t     push_uop[FETCH_WORDS],
    input  needs_t   push_needs[FETCH_WORDS],
    output uop_t     head,             // of `slot`
    output next_t    next[MAX_WAVES],
    output slots_t   buffered,
    output slots_t   hazard_free,
    output slots_t   drains,           // barrier, wait or fence that has to wait for accesses, but for those of `releases`
    output slots_t   releases,         // fence that releases at device or system scope
    output slots_t   releases_system,
    output slots_t   performed,        // no memory instruction was outstanding before this cycle
    output slots_t   drained,          // nothing was in flight before this cycle
    output slots_t   has_room          // for a group more than the one that arrives
);
  localparam int PTR_BITS = $clog2(FETCH_BUFFER_ENTRIES);
  typedef logic [PTR_BITS-1:0] ptr_t;
  typedef logic [PTR_BITS:0] count_t;
  // Count of memory instructions, or of all instructions, of a wave in flight.
  typedef logic [7:0] flight_t;

  uop_t   buffer_q[MAX_WAVES*FETCH_BUFFER_ENTRIES];
  ptr_t   first_q[MAX_WAVES];
  count_t count_q[MAX_WAVES];
  registers_t pending_q[MAX_WAVES];
  preds_t pending_preds_q[MAX_WAVES];
  // What retires in a cycle leaves these counts a cycle later. The numbers beside them say how many that are.
  typedef logic [1:0] over_t;
  localparam int RETIRED_BITS = $clog2(RETIRE_PORTS + 1);
  typedef logic [RETIRED_BITS-1:0] retired_t;
  flight_t  accesses_q[MAX_WAVES], loads_q[MAX_WAVES], in_flight_q[MAX_WAVES];
  over_t    accesses_over_q[MAX_WAVES], loads_over_q[MAX_WAVES];
  retired_t retired_q[MAX_WAVES];

  needs_t head_q[MAX_WAVES];             // of the next instruction
  needs_t behind[MAX_WAVES];             // and of the one behind it

  // Results of the units that are due in the next cycle, per wave. The issue of that cycle finds them written.
  registers_t cleared[MAX_WAVES];
  preds_t     cleared_preds[MAX_WAVES];
  registers_t freed[CLASSES];
  always_comb for (int c = 0; c < CLASSES; c++) freed[c] = rows_of(soon[c].rd, soon[c].rows);
  for (genvar w = 0; w < MAX_WAVES; w++) begin : gen_cleared
    logic [CLASSES-1:0] hit, column;
    always_comb begin
      {hit, column} = '0;
      for (int c = 0; c < CLASSES; c++) hit[c] = soon[c].valid && soon[c].slot == slot_t'(w);
      for (int r = 0; r < MAX_REGISTERS; r++) begin
        for (int c = 0; c < CLASSES; c++) column[c] = hit[c] && freed[c][r];
        cleared[w][r] = column != 0;
      end
      for (int i = 0; i < PREDICATES; i++) begin
        for (int c = 0; c < CLASSES; c++) column[c] = hit[c] && soon[c].pred && soon[c].rd[1:0] == 2'(unsigned'(i));
        cleared_preds[w][i] = column != 0;
      end
    end
  end

  // A load that writes its last row. It is known late, so that its wave's hazards are computed with its registers and
  // without them.
  registers_t loaded;
  slots_t     load_retires;
  assign loaded = rows_of(retire[RETIRE_LOAD].rd, retire[RETIRE_LOAD].rows);
  always_comb
    for (int w = 0; w < MAX_WAVES; w++)
      load_retires[w] = retire[RETIRE_LOAD].valid && retire[RETIRE_LOAD].slot == slot_t'(w);

  slots_t free_before, free_after;
  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      free_before[w] = (pending_q[w] & head_q[w].registers) == 0 && (pending_preds_q[w] & head_q[w].preds) == 0;
      free_after[w] = (pending_q[w] & head_q[w].registers & ~loaded) == 0
          && (pending_preds_q[w] & head_q[w].preds) == 0;
      hazard_free[w] = free_before[w] || (load_retires[w] && free_after[w] && !`BUG(260));
      buffered[w] = count_q[w] != 0;
      next[w] = head_q[w].next;
      releases[w] = next[w].releases;
      releases_system[w] = next[w].system;
      performed[w] = accesses_q[w] == flight_t'(accesses_over_q[w]);
      drains[w] = (next[w].all && !performed[w] && !`BUG(261)) || (next[w].loads && loads_q[w] != flight_t'(loads_over_q[w]));
      drained[w] = in_flight_q[w] == flight_t'(retired_q[w]);
    end

  // Retirements of this cycle, per wave. Those of local and device memory that return nothing are known last, so that the
  // counts without them, with one and with both are at hand.
  over_t    accesses_over[MAX_WAVES], loads_over[MAX_WAVES];
  retired_t retired[MAX_WAVES], retired_before[MAX_WAVES];
  slots_t   local_retires, device_retires;
  logic [RETIRE_LOAD:0] retires;
  always_comb begin
    retires = '0;
    for (int w = 0; w < MAX_WAVES; w++) begin
      for (int p = 0; p <= RETIRE_LOAD; p++) retires[p] = retire[p].valid && retire[p].slot == slot_t'(w);
      local_retires[w] = retire[RETIRE_LOCAL].valid && retire[RETIRE_LOCAL].slot == slot_t'(w);
      device_retires[w] = retire[RETIRE_DEVICE].valid && retire[RETIRE_DEVICE].slot == slot_t'(w);
      loads_over[w] = over_t'(retires[RETIRE_LOAD]);
      retired_before[w] = retired_t'($countones(retires));
      if (local_retires[w] && device_retires[w]) begin
        accesses_over[w] = loads_over[w] + over_t'(2);
        retired[w] = retired_before[w] + retired_t'(2);
      end else if (local_retires[w] || device_retires[w]) begin
        accesses_over[w] = loads_over[w] + over_t'(1);
        retired[w] = retired_before[w] + retired_t'(1);
      end else begin
        accesses_over[w] = loads_over[w];
        retired[w] = retired_before[w];
      end
    end
  end

  flight_t accesses_left[MAX_WAVES], loads_left[MAX_WAVES], in_flight_left[MAX_WAVES];
  always_comb
    for (int w = 0; w < MAX_WAVES; w++) begin
      accesses_left[w] = accesses_q[w] - flight_t'(accesses_over_q[w]);
      loads_left[w] = loads_q[w] - flight_t'(loads_over_q[w]);
      in_flight_left[w] = in_flight_q[w] - flight_t'(retired_q[w]);
    end

  // The first entry of the chosen wave's buffer.
  ptr_t     first;
  numbers_t firsts;
  always_comb for (int w = 0; w < MAX_WAVES; w++) firsts[w] = 32'(first_q[w]);
  assign first = ptr_t'(number_of(pop, firsts));
  assign head = buffer_q[{slot, first}];

  // Buffers after issue and decode, and after stage resolve. The wave that it concerns neither issues nor gets a group.
  logic [1:0] pushes;
  assign pushes = 2'(push_valid[0]) + 2'(push_valid[1]);
  count_t count_d[MAX_WAVES];
  // Room beside none, one and two more instructions. How many the group brings is known late.
  localparam int MOST = FETCH_BUFFER_ENTRIES - FETCH_WORDS;
  slots_t arrives_for;
  logic [2:0] room[MAX_WAVES];
  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      count_d[w] = count_q[w];
      if (push_slot == slot_t'(w)) count_d[w] = count_q[w] + count_t'(pushes);
      if (pop[w]) count_d[w] = count_d[w] - 1'b1;
      if (drop && drop_slot == slot_t'(w)) count_d[w] = '0;
      arrives_for[w] = arrives && push_slot == slot_t'(w);
      for (int n = 0; n < 3; n++)
        room[w][n] = int'(count_q[w]) + (arrives_for[w] ? n : 0) + int'(`BUG(112)) <= MOST;
      has_room[w] = brings == 2'd3 ? room[w][2] : brings != 0 ? room[w][1] : room[w][0];
    end
  end

  ptr_t push_at[MAX_WAVES];
  always_comb for (int w = 0; w < MAX_WAVES; w++) push_at[w] = first_q[w] + ptr_t'(count_q[w]);

  for (genvar w = 0; w < MAX_WAVES; w++) begin : gen_wave
    needs_t needs_q[FETCH_BUFFER_ENTRIES];
    assign behind[w] = count_q[w] > 1 ? needs_q[first_q[w]+1'b1] : push_needs[0];
    always_ff @(posedge clk) begin
      if (push_valid[0] && push_slot == slot_t'(w)) needs_q[push_at[w]] <= push_needs[0];
      if (push_valid[1] && push_slot == slot_t'(w)) needs_q[push_at[w]+1'b1] <= push_needs[1];
    end
  end

  always_ff @(posedge clk) begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      count_q[w] <= count_d[w];
      if (pop[w]) first_q[w] <= first_q[w] + 1'b1;
      if (pop[w] || count_q[w] == 0) head_q[w] <= behind[w];
      pending_q[w] <= (pending_q[w] & ~(cleared[w] | (load_retires[w] ? loaded : '0)))
          | (collects[w] ? rows_of(next[w].rd, next[w].dst_rows) : '0);
      pending_preds_q[w] <= pending_preds_q[w] & ~cleared_preds[w];
      if (collects[w] && next[w].dst_pred) pending_preds_q[w][next[w].rd[1:0]] <= 1'b1;
      retired_q[w] <= retired[w];
      accesses_over_q[w] <= accesses_over[w];
      loads_over_q[w] <= loads_over[w];
      // What issues is known last.
      in_flight_q[w] <= collects[w] ? in_flight_left[w] + 1'b1 : in_flight_left[w];
      accesses_q[w] <= collects[w] && next[w].kind == KIND_MEMORY ? accesses_left[w] + 1'b1 : accesses_left[w];
      loads_q[w] <= collects[w] && next[w].kind == KIND_MEMORY && next[w].dst_rows != 0 && !`BUG(113)
          ? loads_left[w] + 1'b1 : loads_left[w];
    end
    if (push_valid[0]) buffer_q[{push_slot, push_at[push_slot]}] <= push_uop[0];
    if (push_valid[1]) buffer_q[{push_slot, push_at[push_slot] + 1'b1}] <= push_uop[1];
    if (!rst_n)
      for (int w = 0; w < MAX_WAVES; w++) begin
        count_q[w] <= '0;
        first_q[w] <= '0;
        pending_q[w] <= '0;
        pending_preds_q[w] <= '0;
        accesses_q[w] <= '0;
        loads_q[w] <= '0;
        in_flight_q[w] <= '0;
        accesses_over_q[w] <= '0;
        loads_over_q[w] <= '0;
        retired_q[w] <= '0;
      end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!(drop && pop[drop_slot])) else $error("an instruction issues from a buffer that is emptied");
      assert (!(drop && drop_slot == push_slot && push_valid != 0))
      else $error("an instruction enters a buffer that is emptied");
      assert (count_d[push_slot] <= count_t'(FETCH_BUFFER_ENTRIES))
      else $error("more instructions than the buffer has entries");
      for (int w = 0; w < MAX_WAVES; w++) begin
        assert (!pop[w] || (count_q[w] != 0 && slot == slot_t'(w))) else $error("an instruction issues from an empty buffer");
        assert (!pop[w] || (next[w].kind == head.kind && next[w].rd == head.rd)) else $error("the next instruction is not the first of its buffer");
        assert (!collects[w] || (pending_q[w] & ~(load_retires[w] ? loaded : '0) & rows_of(next[w].rd, next[w].dst_rows)) == 0)
        else $error("an instruction overwrites a register that is outstanding");
        assert (in_flight_q[w] >= flight_t'(retired_q[w])) else $error("more retirements than instructions in flight");
        assert (accesses_q[w] >= flight_t'(accesses_over_q[w]))
        else $error("more accesses retire than are outstanding");
        assert (loads_q[w] >= flight_t'(loads_over_q[w])) else $error("more loads retire than are outstanding");
        assert ((cleared[w] & ~pending_q[w]) == 0 && (!load_retires[w] || (loaded & ~pending_q[w]) == 0))
        else $error("a register is written that is not outstanding");
      end
    end
  // What coverage counts.
  `EVENT(buffer_fills, push_valid != 0 && count_d[push_slot] == count_t'(FETCH_BUFFER_ENTRIES))
  `EVENT(buffer_was_empty, push_valid != 0 && count_q[push_slot] == 0)
  `EVENT(buffer_empties, pop != 0 && count_d[slot] == 0)
  `EVENT(buffer_in_and_out, push_valid != 0 && pop[push_slot])
  `EVENT(buffer_wraps, pop != 0 && first == ptr_t'(FETCH_BUFFER_ENTRIES - 1))
  `EVENT(buffer_dropped, drop && count_q[drop_slot] != 0)
  `EVENT(hazard_holds, (buffered & ~hazard_free) != 0)
  `EVENT(hazard_ends_with_a_load, (buffered & hazard_free & ~free_before) != 0)
  `EVENT(drain_holds, (buffered & drains) != 0)
  `EVENT(retire_of_both_memories, (local_retires & device_retires) != 0)
  `EVENT(retire_load_with_result, retire[RETIRE_LOAD].valid && (retire[CLASS_INT].valid || retire[CLASS_FP32].valid))
  `EVENT(accesses_many, accesses_q[slot] > 8)
  `EVENT(in_flight_many, in_flight_q[slot] > 16)
endmodule
