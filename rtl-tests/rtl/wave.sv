// The wave slots: instruction buffers, and what each wave's next instruction waits for (rules I2, I5).
//
// Order within a cycle: stage resolve (`drop`), `retire` of write-back and of the load/store unit, then issue (`pop`,
// `collect`), then decode (`push`). Registers and predicates that retire in a cycle are free for the issue of this cycle.
// All else that waits for memory accesses, and fetch, see the counts of the cycle before.
`include "bugs.svh"
module wave
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  logic     drop,             // a redirect or the end of a wave empties the buffer of `drop_slot`
    input  slot_t    drop_slot,
    input  retire_t  retire[RETIRE_PORTS],
    // Issue: the instruction of `slot` leaves its buffer.
    input  logic     pop,
    input  slot_t    slot,
    input  logic     collect,          // and goes to a collector
    // Decode: the group that arrives, also if stage resolve drops it, and what it brings.
    input  logic     arrives,
    input  logic [1:0] arriving_words,
    input  logic [1:0] push_valid,
    input  slot_t    push_slot,
    input  uop_t     push_uop[FETCH_WORDS],
    output uop_t     head,             // of `slot`
    output slots_t   buffered,
    output slots_t   hazard_free,
    output slots_t   needs_collector,
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

  uop_t   buffer_q[MAX_WAVES][FETCH_BUFFER_ENTRIES];
  ptr_t   first_q[MAX_WAVES];
  count_t count_q[MAX_WAVES];
  logic [MAX_REGISTERS-1:0] pending_q[MAX_WAVES];
  logic [PREDICATES-1:0] pending_preds_q[MAX_WAVES];
  flight_t accesses_q[MAX_WAVES];
  flight_t loads_q[MAX_WAVES];
  flight_t in_flight_q[MAX_WAVES];

  // Registers and predicates that each buffered instruction waits for, computed when it enters.
  typedef struct packed {
    logic [MAX_REGISTERS-1:0] registers;
    logic [PREDICATES-1:0]    preds;
    logic                     collector;
    logic                     all;          // waits for every access
    logic                     loads;        // waits for loads
    logic                     releases;
    logic                     system;
  } needs_t;
  needs_t needs_q[MAX_WAVES][FETCH_BUFFER_ENTRIES];

  function automatic logic [MAX_REGISTERS-1:0] rows_of(input reg_t first, input logic [2:0] rows);
    logic [MAX_REGISTERS-1:0] set;
    set = '0;
    for (int i = 0; i < 4; i++) if (i < int'(rows)) set[first + reg_t'(i)] = 1'b1;
    return set;
  endfunction

  function automatic needs_t needs_of(input uop_t uop);
    needs_t n;
    logic   far;
    n = '0;
    n.registers = rows_of(uop.rd, `BUG(109) ? 3'd0 : uop.dst_rows);
    for (int i = 0; i < SOURCES; i++) if (uop.uses[i]) n.registers[uop.source[i]] = 1'b1;
    if (uop.dst_pred) n.preds[uop.rd[1:0]] = 1'b1;
    if (uop.guarded && !`BUG(110)) n.preds[uop.guard_pred] = 1'b1;
    if (uop.has_ps) n.preds[uop.ps] = 1'b1;
    n.collector = uop.kind inside {KIND_COMPUTE, KIND_MEMORY};
    far = uop.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM};
    n.loads = uop.kind == KIND_WAIT;
    n.releases = uop.kind == KIND_FENCE && uop.release_ && far;
    n.system = n.releases && uop.scope == SCOPE_SYSTEM;
    n.all = (uop.kind == KIND_BARRIER && !`BUG(111)) || (uop.kind == KIND_FENCE && uop.scope != SCOPE_WAVE && !n.releases);
    return n;
  endfunction

  // Retirements of this cycle, per wave.
  logic [MAX_REGISTERS-1:0] cleared[MAX_WAVES];
  logic [PREDICATES-1:0] cleared_preds[MAX_WAVES];
  localparam int RETIRED_BITS = $clog2(RETIRE_PORTS + 1);
  logic [RETIRED_BITS-1:0] retired[MAX_WAVES];
  // Of write-back, and of the load/store unit.
  logic [1:0] accesses_over[MAX_WAVES];
  logic [1:0] loads_over[MAX_WAVES];
  logic [RETIRE_PORTS-1:0] retires, loads_retire, accesses_retire;
  logic [MAX_REGISTERS-1:0] freed[RETIRE_PORTS];
  always_comb
    for (int p = 0; p < RETIRE_PORTS; p++) freed[p] = rows_of(retire[p].rd, retire[p].rows);
  always_comb begin
    retires = '0;
    loads_retire = '0;
    accesses_retire = '0;
    for (int w = 0; w < MAX_WAVES; w++) begin
      cleared[w] = '0;
      cleared_preds[w] = '0;
      for (int p = 0; p < RETIRE_PORTS; p++) begin
        retires[p] = retire[p].valid && retire[p].slot == slot_t'(w);
        accesses_retire[p] = retires[p] && retire[p].access;
        loads_retire[p] = accesses_retire[p] && retire[p].rows != 0;
        if (retires[p]) cleared[w] = cleared[w] | freed[p];
        if (retires[p] && retire[p].pred) cleared_preds[w][retire[p].rd[1:0]] = 1'b1;
      end
      retired[w] = RETIRED_BITS'($countones(retires));
      accesses_over[w] = 2'($countones(accesses_retire));
      loads_over[w] = 2'($countones(loads_retire));
    end
  end

  logic [MAX_REGISTERS-1:0] pending[MAX_WAVES];
  logic [PREDICATES-1:0] pending_preds[MAX_WAVES];
  flight_t accesses[MAX_WAVES];
  flight_t loads[MAX_WAVES];
  flight_t in_flight[MAX_WAVES];
  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      pending[w] = pending_q[w] & ~cleared[w];
      pending_preds[w] = pending_preds_q[w] & ~cleared_preds[w];
      accesses[w] = accesses_q[w] - flight_t'(accesses_over[w]);
      loads[w] = loads_q[w] - flight_t'(loads_over[w]);
      in_flight[w] = in_flight_q[w] - flight_t'(retired[w]);
    end
  end

  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      buffered[w] = count_q[w] != 0;
      hazard_free[w] = (pending[w] & needs_q[w][first_q[w]].registers) == 0
          && (pending_preds[w] & needs_q[w][first_q[w]].preds) == 0;
      needs_collector[w] = needs_q[w][first_q[w]].collector;
      releases[w] = needs_q[w][first_q[w]].releases;
      releases_system[w] = needs_q[w][first_q[w]].system;
      performed[w] = accesses_q[w] == 0;
      drains[w] = (needs_q[w][first_q[w]].all && !performed[w]) || (needs_q[w][first_q[w]].loads && loads_q[w] != 0);
      drained[w] = in_flight_q[w] == 0;
    end
  end

  assign head = buffer_q[slot][first_q[slot]];

  // Buffers after issue and decode, and after stage resolve. The wave that it concerns neither issues nor gets a group.
  logic [1:0] pushes;
  assign pushes = 2'(push_valid[0]) + 2'(push_valid[1]);
  count_t count_d[MAX_WAVES];
  count_t claimed[MAX_WAVES];          // entries in use or claimed by the words of the group that arrives
  always_comb begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      count_d[w] = count_q[w];
      if (pop && slot == slot_t'(w)) count_d[w] = count_q[w] - 1'b1;
      if (push_slot == slot_t'(w)) count_d[w] = count_d[w] + count_t'(pushes);
      if (drop && drop_slot == slot_t'(w)) count_d[w] = '0;
      claimed[w] = count_q[w] + (arrives && push_slot == slot_t'(w) ? count_t'(arriving_words) : '0);
      has_room[w] = claimed[w] <= count_t'(FETCH_BUFFER_ENTRIES - FETCH_WORDS - int'(`BUG(112)));
    end
  end

  needs_t pushed[FETCH_WORDS];
  assign pushed[0] = needs_of(push_uop[0]);
  assign pushed[1] = needs_of(push_uop[1]);
  ptr_t push_at;
  assign push_at = first_q[push_slot] + ptr_t'(count_q[push_slot]);

  always_ff @(posedge clk) begin
    for (int w = 0; w < MAX_WAVES; w++) begin
      count_q[w] <= count_d[w];
      pending_q[w] <= pending[w];
      pending_preds_q[w] <= pending_preds[w];
      accesses_q[w] <= accesses[w];
      loads_q[w] <= loads[w];
      in_flight_q[w] <= in_flight[w];
    end
    if (pop) first_q[slot] <= first_q[slot] + 1'b1;
    if (pop && collect) begin
      pending_q[slot] <= pending[slot] | rows_of(head.rd, head.dst_rows);
      if (head.dst_pred) pending_preds_q[slot][head.rd[1:0]] <= 1'b1;
      in_flight_q[slot] <= in_flight[slot] + 1'b1;
      if (head.kind == KIND_MEMORY) begin
        accesses_q[slot] <= accesses[slot] + 1'b1;
        if (head.dst_rows != 0 && !`BUG(113)) loads_q[slot] <= loads[slot] + 1'b1;
      end
    end
    if (push_valid[0]) begin
      buffer_q[push_slot][push_at] <= push_uop[0];
      needs_q[push_slot][push_at] <= pushed[0];
    end
    if (push_valid[1]) begin
      buffer_q[push_slot][push_at + 1'b1] <= push_uop[1];
      needs_q[push_slot][push_at + 1'b1] <= pushed[1];
    end
    if (!rst_n)
      for (int w = 0; w < MAX_WAVES; w++) begin
        count_q[w] <= '0;
        first_q[w] <= '0;
        pending_q[w] <= '0;
        pending_preds_q[w] <= '0;
        accesses_q[w] <= '0;
        loads_q[w] <= '0;
        in_flight_q[w] <= '0;
      end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!pop || count_q[slot] != 0) else $error("an instruction issues from an empty buffer");
      assert (!(drop && drop_slot == slot && pop)) else $error("an instruction issues from a buffer that is emptied");
      assert (!(drop && drop_slot == push_slot && push_valid != 0))
      else $error("an instruction enters a buffer that is emptied");
      assert (count_d[push_slot] <= count_t'(FETCH_BUFFER_ENTRIES))
      else $error("more instructions than the buffer has entries");
      assert (!(pop && collect) || (pending[slot] & rows_of(head.rd, head.dst_rows)) == 0)
      else $error("an instruction overwrites a register that is outstanding");
      for (int w = 0; w < MAX_WAVES; w++) begin
        assert (in_flight_q[w] >= flight_t'(retired[w])) else $error("more retirements than instructions in flight");
        assert (accesses_q[w] >= flight_t'(accesses_over[w]))
        else $error("more accesses retire than are outstanding");
        assert (loads_q[w] >= flight_t'(loads_over[w])) else $error("more loads retire than are outstanding");
        assert ((cleared[w] & ~pending_q[w]) == 0) else $error("a register is written that is not outstanding");
      end
    end
endmodule
