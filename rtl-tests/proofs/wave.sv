// Proves: a wave is free of hazards only if no register and no predicate is outstanding that its next instruction reads
//   or
//   writes; instructions leave a buffer in the order in which they came, and what issue decides by is of the first; no
//   buffer
//   overflows; what is performed, and what is drained, has no access, or no instruction, in flight; the module's
//   assertions.
//   Of an instruction in a buffer it looks at pc, kind and destination, because all bits take the same way
// Method: induction 1 separately, bounded 5
// Mutant: 112
// Mutant: 113
// Mutant: wave.sv | assign pushes = 2'(push_valid[0]) + 2'(push_valid[1]); | assign pushes = 2'(push_valid[0]);
// Mutant: wave.sv | free_after[w] = (pending_q[w] & head_q[w].registers & ~loaded) == 0 | free_after[w] = 1'b1
// Mutant: wave.sv | assign behind[w] = count_q[w] > 1 ? needs_q[first_q[w]+1'b1] : push_needs[0]; | assign behind[w] =
//   needs_q[first_q[w]+1'b1];

// One wave, any of them, and one register and one predicate, any of them.
module prove_wave
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic    clk,
    input logic    rst_n,
    input logic    drop,
    input slot_t   drop_slot,
    input result_t [CLASSES-1:0] soon_of,
    input retire_t [RETIRE_PORTS-1:0] retire_of,
    input slots_t  pop,
    input slot_t   slot,
    input slots_t  collects,
    input logic    arrives,
    input logic    [1:0] brings,
    input logic    [1:0] push_valid,
    input slot_t   push_slot,
    input uop_t    [FETCH_WORDS-1:0] push_uop_of,
    input needs_t  [FETCH_WORDS-1:0] push_needs_of,
    input slot_t   any_wave,
    input reg_t    any_register,
    input logic    [1:0] any_pred
);
  result_t soon[CLASSES];
  retire_t retire[RETIRE_PORTS];
  uop_t    push_uop[FETCH_WORDS], head;
  needs_t  push_needs[FETCH_WORDS];
  next_t   next[MAX_WAVES];
  slots_t  buffered, hazard_free, drains, releases, releases_system, performed, drained, has_room;
  always_comb begin
    for (int c = 0; c < CLASSES; c++) soon[c] = soon_of[c];
    for (int p = 0; p < RETIRE_PORTS; p++) retire[p] = retire_of[p];
    for (int i = 0; i < FETCH_WORDS; i++) begin
      push_uop[i] = push_uop_of[i];
      push_needs[i] = push_needs_of[i];
    end
  end
  wave dut (.*);

  slot_t wave_q;
  reg_t  register_q;
  logic  [1:0] pred_q;
  // The wave's buffer as a list, oldest first.
  localparam int ENTRIES = FETCH_BUFFER_ENTRIES;
  uop_t   [ENTRIES-1:0] uops_q, uops;
  needs_t [ENTRIES-1:0] needs_q, needs, kept;
  int     length_q, length;
  always_comb begin
    uops = uops_q;
    needs = needs_q;
    length = length_q;
    if (pop[wave_q]) begin
      uops = uops >> $bits(uop_t);
      needs = needs >> $bits(needs_t);
      length = length - 1;
    end
    if (push_slot == wave_q)
      for (int p = 0; p < FETCH_WORDS; p++)
        if (push_valid[p]) begin
          for (int i = 0; i < ENTRIES; i++)
            if (i == length) begin
              uops[i] = push_uop_of[p];
              needs[i] = push_needs_of[p];
            end
          length = length + 1;
        end
    if (drop && drop_slot == wave_q) length = 0;
  end

  // Whether the register, and the predicate, is outstanding; accesses, loads and instructions in flight. A result of a
  // unit
  // is told a cycle ahead, a load's last row in its cycle.
  logic out_q, out, told, pred_out_q, pred_told;
  int   accesses_q, loads_q, flying_q, retires[MAX_WAVES], accesses[MAX_WAVES], loads[MAX_WAVES];
  logic memory, waits;
  always_comb begin
    told = 1'b0;
    pred_told = 1'b0;
    for (int c = 0; c < CLASSES; c++)
      if (soon_of[c].valid && soon_of[c].slot == wave_q) begin
        if (in_rows(soon_of[c].rd, soon_of[c].rows)) told = 1'b1;
        if (soon_of[c].pred && soon_of[c].rd[1:0] == pred_q) pred_told = 1'b1;
      end
    out = out_q && !(retire_of[RETIRE_LOAD].valid && retire_of[RETIRE_LOAD].slot == wave_q
        && in_rows(retire_of[RETIRE_LOAD].rd, retire_of[RETIRE_LOAD].rows));
    for (int w = 0; w < MAX_WAVES; w++) begin
      retires[w] = 0;
      accesses[w] = 0;
      for (int p = 0; p < RETIRE_PORTS; p++)
        if (retire_of[p].valid && retire_of[p].slot == slot_t'(w)) begin
          retires[w] = retires[w] + 1;
          if (p >= RETIRE_LOAD) accesses[w] = accesses[w] + 1;
        end
      loads[w] = int'(retire_of[RETIRE_LOAD].valid && retire_of[RETIRE_LOAD].slot == slot_t'(w));
    end
    memory = needs_q[0].next.kind == KIND_MEMORY;
    waits = memory && needs_q[0].next.dst_rows != 0;
  end
  function automatic logic in_rows(input reg_t first, input logic [2:0] rows);
    in_rows = 1'b0;
    for (int i = 0; i < 4; i++) if (i < int'(rows) && int'(first) + i == int'(register_q)) in_rows = 1'b1;
  endfunction

  needs_t [MAX_WAVES-1:0][ENTRIES-1:0] kept_of;
  for (genvar w = 0; w < MAX_WAVES; w++) begin : gen_kept
    always_comb for (int i = 0; i < ENTRIES; i++) kept_of[w][i] = dut.gen_wave[w].needs_q[i];
  end
  assign kept = kept_of[wave_q];
  // Of each wave's buffer: what issue decides by is that of the instruction, which waits for what it writes.
  function automatic needs_t entry_of(input int w, input int i);
    return i == 0 ? dut.head_q[w] : kept_of[w][dut.first_q[w] + 2'(unsigned'(i))];
  endfunction
  function automatic uop_t uop_of(input int w, input int i);
    return dut.buffer_q[{slot_t'(w), dut.first_q[w] + 2'(unsigned'(i))}];
  endfunction
  function automatic logic fits(input needs_t n, input uop_t u);
    return n.next.kind == u.kind && n.next.rd == u.rd && (rows_of(n.next.rd, n.next.dst_rows) & ~n.registers) == 0;
  endfunction

  function automatic logic [PC_BITS+REG_BITS+3:0] seen(input uop_t u);
    return {u.pc, u.kind, u.rd};
  endfunction

  // Fetch asks for a group while there is room for one more than the one that arrives, and for the next one behind it.
  slots_t room_q, arriving;
  always_comb begin
    arriving = '0;
    if (arrives) arriving[push_slot] = 1'b1;
  end
  always_ff @(posedge clk) begin
    wave_q <= rst_n ? wave_q : any_wave;
    register_q <= rst_n ? register_q : any_register;
    pred_q <= rst_n ? pred_q : any_pred;
    uops_q <= uops;
    needs_q <= needs;
    length_q <= rst_n ? length : 0;
    room_q <= rst_n ? has_room | (room_q & ~arriving) : '0;
    out_q <= rst_n && ((out && !told) || (collects[wave_q] && in_rows(needs_q[0].next.rd, needs_q[0].next.dst_rows)));
    pred_out_q <= rst_n && ((pred_out_q && !pred_told)
        || (collects[wave_q] && needs_q[0].next.dst_pred && needs_q[0].next.rd[1:0] == pred_q));
    flying_q <= rst_n ? flying_q + int'(collects[wave_q]) - retires[wave_q] : 0;
    accesses_q <= rst_n ? accesses_q + int'(collects[wave_q] && memory) - accesses[wave_q] : 0;
    loads_q <= rst_n ? loads_q + int'(collects[wave_q] && waits) - loads[wave_q] : 0;
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      // Issue takes one instruction that is there and free of hazards. Stage resolve drops no buffer that issues or is
      // filled.
      assume ($countones(pop) <= 1 && (pop & ~(buffered & hazard_free)) == 0 && (pop == 0 || pop[slot]));
      assume ((collects & ~pop) == 0);
      assume (!drop || !(pop[drop_slot] || (drop_slot == push_slot && push_valid != 0)));
      // Decode brings none, one or two, of a group that there is room for. It says the same of both.
      assume (brings != 2'b10 && (push_valid == 0 || push_valid == brings));
      assume ((push_valid == 0 || arrives) && (arriving & ~room_q) == 0);
      for (int i = 0; i < FETCH_WORDS; i++) begin
        // An instruction waits for what it writes (proof of decoder).
        assume (fits(push_needs_of[i], push_uop_of[i]));
        assume (!push_needs_of[i].next.dst_pred || push_needs_of[i].preds[push_needs_of[i].next.rd[1:0]]);
      end
      // What retires is in flight, and what is written is outstanding.
      for (int w = 0; w < MAX_WAVES; w++) begin
        assume (int'(dut.in_flight_left[w]) >= retires[w] && dut.in_flight_q[w] < 8'd200);
        assume (int'(dut.accesses_left[w]) >= accesses[w] && int'(dut.loads_left[w]) >= loads[w]);
        assume (int'(dut.in_flight_left[w]) - int'(dut.accesses_left[w]) >= retires[w] - accesses[w]);
        assume (int'(dut.accesses_left[w]) - int'(dut.loads_left[w]) >= accesses[w] - loads[w]);
        assume ((dut.cleared[w] & ~dut.pending_q[w]) == 0);
        assume (!dut.load_retires[w] || (dut.loaded & ~dut.pending_q[w]) == 0);
      end

      assert (!(buffered[wave_q] && hazard_free[wave_q] && out) || !needs_q[0].registers[register_q]);
      assert (!(buffered[wave_q] && hazard_free[wave_q] && pred_out_q) || !needs_q[0].preds[pred_q]);
      assert (buffered[wave_q] == (length_q != 0));
      assert (length_q == 0 || next[wave_q] == needs_q[0].next);
      assert (!pop[wave_q] || seen(head) == seen(uops_q[0]));
      assert (performed[wave_q] == (accesses_q == 0) && drained[wave_q] == (flying_q == 0));
      assert (length_q == 0 || drains[wave_q] == ((needs_q[0].next.all && accesses_q != 0)
          || (needs_q[0].next.loads && loads_q != 0)));
      // Room for a group, behind the one that arrives.
      assert (has_room[wave_q]
          == (length_q + (arriving[wave_q] ? int'(brings[0]) + int'(brings[1]) : 0) <= ENTRIES - FETCH_WORDS));

      // What makes the induction go.
      assert (length_q >= 0 && length_q <= ENTRIES && int'(dut.count_q[wave_q]) == length_q);
      for (int w = 0; w < MAX_WAVES; w++) begin
        assert (!room_q[w] || int'(dut.count_q[w]) <= ENTRIES - FETCH_WORDS);
        assert (int'(dut.count_q[w]) <= ENTRIES);
        for (int i = 0; i < ENTRIES; i++) assert (i >= int'(dut.count_q[w]) || fits(entry_of(w, i), uop_of(w, i)));
        assert (dut.in_flight_q[w] <= 8'd200 && dut.accesses_q[w] <= 8'd200 && dut.loads_q[w] <= 8'd200);
        assert (dut.accesses_left[w] <= dut.in_flight_left[w] && dut.loads_left[w] <= dut.accesses_left[w]);
      end
      assert (int'(dut.in_flight_left[wave_q]) == flying_q && int'(dut.accesses_left[wave_q]) == accesses_q);
      assert (int'(dut.loads_left[wave_q]) == loads_q);
      assert (dut.pending_q[wave_q][register_q] == out_q && dut.pending_preds_q[wave_q][pred_q] == pred_out_q);
      assert (length_q == 0 || dut.head_q[wave_q] == needs_q[0]);
      for (int i = 0; i < ENTRIES; i++) begin
        assert (i >= length_q
            || seen(dut.buffer_q[{wave_q, dut.first_q[wave_q] + 2'(unsigned'(i))}]) == seen(uops_q[i]));
        assert (i == 0 || i >= length_q || kept[dut.first_q[wave_q] + 2'(unsigned'(i))] == needs_q[i]);
      end
      cover (length_q == ENTRIES && pop[wave_q]);
      cover (out_q && !out && pop[wave_q] && needs_q[0].registers[register_q]);
      cover (!hazard_free[wave_q] && pred_out_q && length_q > 1);
      cover (length_q == 1 && pop[wave_q] && push_slot == wave_q && push_valid == 2'b11);
    end
endmodule
