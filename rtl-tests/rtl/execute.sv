// Dispatch to the execution units and the load/store unit (rules X1 to X4), and results until their write-back.
`include "bugs.svh"
`include "events.svh"
module execute
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    // Collectors, oldest first.
    input  logic    complete[REGISTERS_COLLECTORS],
    input  slot_t   slot[REGISTERS_COLLECTORS],
    input  seq_t    seq[REGISTERS_COLLECTORS],
    input  uop_t    uop[REGISTERS_COLLECTORS],
    input  lanes_t  mask[REGISTERS_COLLECTORS],
    input  lanes_t  condition[REGISTERS_COLLECTORS],
    input  row_t    operands[REGISTERS_COLLECTORS][SOURCES],
    output logic [REGISTERS_COLLECTORS-1:0] leaves,
    // State of the load/store unit after its own stage of this cycle.
    input  logic    lsu_room,
    output logic    lsu_take,
    output logic [$clog2(REGISTERS_COLLECTORS+1)-1:0] lsu_place,
    // For special registers.
    input  group_t  group_of[MAX_WAVES],
    input  logic [SLOT_BITS-1:0] wave_id[MAX_WAVES],
    input  logic [2:0][31:0] group_id[MAX_WORKGROUPS],
    // Write-back of this cycle: per class, the instruction whose result is due.
    output result_t result[CLASSES],
    output row_t    result_row[CLASSES],
    output lanes_t  result_pred[CLASSES],
    output result_t soon[CLASSES],     // what is due in the next cycle
    // Write ports reserved in this cycle.
    output logic [REGISTERS_BANKS-1:0] reserved
);
  localparam int N = REGISTERS_COLLECTORS;
  localparam int UNITS = 4;
  typedef logic [$clog2(HORIZON)-1:0] ptr_t;
  typedef logic [1:0] unit_t;

  function automatic unit_t unit_of(input class_e c);
    case (c)
      CLASS_INT_DIV, CLASS_FP32_DIV: return 2'd1;
      CLASS_FP32, CLASS_FP16: return 2'd2;
      CLASS_SFU: return 2'd3;
      default: return 2'd0;
    endcase
  endfunction
  // Cycles from dispatch to the result, of each class.
  function automatic int latency_of(input int c);
    case (class_e'(c))
      CLASS_INT_MUL: return INT_MUL_RESULT;
      CLASS_CONVERT: return CONVERT_RESULT;
      CLASS_WAVE: return WAVE_RESULT;
      CLASS_INT_DIV: return INT_DIV_RESULT;
      CLASS_FP32_DIV: return FP32_DIV_RESULT;
      CLASS_FP32: return FP32_RESULT;
      CLASS_FP16: return FP16_RESULT;
      CLASS_SFU: return SFU_RESULT;
      default: return INT_RESULT;
    endcase
  endfunction
  function automatic ptr_t interval_of_class(input class_e c);
    case (c)
      CLASS_INT_MUL: return ptr_t'(interval_of(INT_MUL_PASSES, UNIT_INT_LANES));
      CLASS_CONVERT: return ptr_t'(interval_of(CONVERT_PASSES, UNIT_INT_LANES));
      CLASS_WAVE: return ptr_t'(interval_of(WAVE_PASSES, UNIT_INT_LANES));
      CLASS_INT_DIV: return ptr_t'(interval_of(INT_DIV_PASSES, UNIT_DIV_LANES));
      CLASS_FP32_DIV: return ptr_t'(interval_of(FP32_DIV_PASSES, UNIT_DIV_LANES));
      CLASS_FP32: return ptr_t'(interval_of(FP32_PASSES, UNIT_FP32_LANES));
      CLASS_FP16: return ptr_t'(interval_of(FP16_PASSES, UNIT_FP32_LANES));
      CLASS_SFU: return ptr_t'(interval_of(SFU_PASSES, UNIT_SFU_LANES));
      default: return ptr_t'(interval_of(INT_PASSES, UNIT_INT_LANES));
    endcase
  endfunction

  // Cycles until a unit takes another instruction; banks written in each of the coming cycles, this one first.
  ptr_t busy_q[UNITS], busy_d[UNITS];
  logic [HORIZON-1:0][REGISTERS_BANKS-1:0] reserved_q, reserved_d;
  assign reserved = reserved_q[0];

  // What each place could do by itself: it goes to the load/store unit, or its unit is free and so are the write ports of
  // its result. Only one row is written in a cycle, so that a port is free if no bank is written.
  typedef logic [CLASSES-1:0] classes_t;
  classes_t in_class[N], ports_free;
  logic [UNITS-1:0] unit_free, in_unit[N];
  logic [HORIZON-1:0] due[N];        // the cycle of its result, if it has rows
  logic [N-1:0] to_memory, rows, could_start, starts;
  always_comb begin
    for (int u = 0; u < UNITS; u++) unit_free[u] = busy_q[u] == 0;
    for (int c = 0; c < CLASSES; c++) ports_free[c] = reserved_q[latency_of(c)] == 0;
    for (int k = 0; k < N; k++) begin
      to_memory[k] = complete[k] && uop[k].kind == KIND_MEMORY;
      rows[k] = uop[k].dst_rows != 0;
      for (int u = 0; u < UNITS; u++) in_unit[k][u] = unit_of(uop[k].exec_class) == unit_t'(u);
      for (int c = 0; c < CLASSES; c++) in_class[k][c] = uop[k].exec_class == class_e'(c);
      could_start[k] = complete[k] && !to_memory[k] && (in_unit[k] & unit_free) != 0
          && (!rows[k] || `BUG(133) || (in_class[k] & ports_free) != 0);
      due[k] = '0;
      for (int c = 0; c < CLASSES; c++) if (in_class[k][c]) due[k][latency_of(c)] = rows[k] && !`BUG(133);
    end
  end
  // Two results that would come in one cycle.
  logic [N-1:0] together[N];
  always_comb
    for (int k = 0; k < N; k++) begin
      together[k] = '0;
      for (int j = 0; j < k; j++) together[k][j] = (due[k] & due[j]) != 0;
    end

  // An older place goes first to a unit, a port and the load/store unit.
  always_comb begin
    leaves = '0;
    starts = '0;
    lsu_take = 1'b0;
    lsu_place = '0;
    for (int k = 0; k < N; k++) begin
      starts[k] = could_start[k];
      for (int j = 0; j < k; j++)
        if (starts[j] && (((in_unit[k] & in_unit[j]) != 0 && !`BUG(245)) || (together[k][j] && !`BUG(246)))) starts[k] = 1'b0;
      leaves[k] = starts[k];
      if (to_memory[k] && lsu_room && !lsu_take && !(`BUG(134) && k != 0)) begin
        lsu_take = 1'b1;
        lsu_place = ($bits(lsu_place))'(k);
        leaves[k] = 1'b1;
      end
    end
  end

  always_comb begin
    reserved_d = reserved_q;
    for (int u = 0; u < UNITS; u++) busy_d[u] = busy_q[u] == 0 ? '0 : busy_q[u] - 1'b1;
    for (int k = 0; k < N; k++)
      if (starts[k]) begin
        for (int c = 0; c < CLASSES; c++)
          if (in_class[k][c] && rows[k]) reserved_d[latency_of(c)][bank_of(uop[k].rd, slot[k])] = 1'b1;
        for (int u = 0; u < UNITS; u++)
          if (in_unit[k][u])
            busy_d[u] = interval_of_class(uop[k].exec_class) - 1'b1
                - ptr_t'(`BUG(132) && uop[k].exec_class == CLASS_SFU) + ptr_t'(`BUG(244) && uop[k].exec_class == CLASS_FP32_DIV);
      end
  end

  // The inputs of each unit.
  logic   unit_valid[CLASSES];
  op_e    unit_op[UNITS];
  logic [$bits(op_e)-1:0] unit_code[UNITS];
  logic [31:0] unit_imm[UNITS];
  lanes_t unit_mask[UNITS], unit_condition[UNITS];
  row_t   unit_operand[UNITS][4];
  logic   special_valid;
  slot_t  special_slot;
  logic [7:0] special_code;
  row_t   special_row;
  always_comb begin
    special_valid = 1'b0;
    special_slot = '0;
    special_code = '0;
    for (int c = 0; c < CLASSES; c++) unit_valid[c] = 1'b0;
    for (int u = 0; u < UNITS; u++) begin
      unit_code[u] = '0;
      unit_imm[u] = '0;
      unit_mask[u] = '0;
      unit_condition[u] = '0;
      for (int s = 0; s < 4; s++) unit_operand[u][s] = '0;
      // At most one place starts in a unit. What a unit gets if none does is of no account.
      for (int k = 0; k < N; k++)
        if (starts[k] && in_unit[k][u]) begin
          unit_code[u] = unit_code[u] | $bits(op_e)'(uop[k].op);
          unit_imm[u] = unit_imm[u] | uop[k].word1;
          unit_mask[u] = unit_mask[u] | mask[k];
          unit_condition[u] = unit_condition[u] | condition[k];
          for (int s = 0; s < 4; s++) unit_operand[u][s] = unit_operand[u][s] | operands[k][s];
        end
      unit_op[u] = op_e'(unit_code[u]);
    end
    for (int k = 0; k < N; k++)
      if (starts[k]) begin
        for (int c = 0; c < CLASSES; c++) if (in_class[k][c]) unit_valid[c] = 1'b1;
        if (uop[k].op == OP_MOV_SR) begin
          special_valid = 1'b1;
          special_slot = special_slot | slot[k];
          special_code = special_code | uop[k].word0[15:8];
        end
      end
  end
  special_registers u_special (
      .clk, .launch, .code(special_code), .wave_id(wave_id[`BUG(247) ? '0 : special_slot]), .group_id(group_id[group_of[special_slot]]),
      .row(special_row));

  // The instructions in the units.
  logic unit_due[CLASSES];
  for (genvar c = 0; c < CLASSES; c++) begin : gen_tags
    result_t tag;
    always_comb begin
      tag = '0;
      for (int k = 0; k < N; k++)
        if (starts[k] && in_class[k][c])
          tag = '{
              valid: 1'b1, slot: slot[k], seq: seq[k], pc: uop[k].pc, mask: mask[k], rd: uop[k].rd,
              rows: uop[k].dst_rows, pred: uop[k].dst_pred};
    end
    unit_tags #(
        .LATENCY(latency_of(c)), .INTERVAL(int'(interval_of_class(class_e'(c))))
    ) u_tags (.clk, .rst_n, .enters(unit_valid[c]), .tag, .due(unit_due[c]), .oldest(result[c]), .soon(soon[c]));
  end

  units u_units (
      .clk, .rst_n, .valid(unit_valid), .op(unit_op), .imm(unit_imm), .mask(unit_mask), .condition(unit_condition),
      .operand(unit_operand), .special(special_valid), .special_row, .due(unit_due),
      .row(result_row), .pred(result_pred));

  always_ff @(posedge clk) begin
    reserved_q <= reserved_d >> REGISTERS_BANKS;
    for (int u = 0; u < UNITS; u++) busy_q[u] <= busy_d[u];
    if (!rst_n) begin
      reserved_q <= '0;
      for (int u = 0; u < UNITS; u++) busy_q[u] <= '0;
    end
  end
  logic [N-1:0] complete_set;
  always_comb for (int k = 0; k < N; k++) complete_set[k] = complete[k];
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert ($countones(reserved) <= REGISTERS_WRITE_PORTS) else $error("more results than write ports");
      assert ((leaves & ~complete_set) == 0)
      else $error("an instruction leaves its collector before its operands are read");
    end
  // What coverage counts: the operands of each unit, and events.
`ifdef EVENTS
  for (genvar k = 0; k < N; k++) begin : gen_operands
    always @(posedge clk)
      if (starts[k])
        wave_events_pkg::bench_operands(int'(uop[k].op), int'(uop[k].exec_class == CLASS_FP16), int'(mask[k]),
            operands[k][0], uop[k].uses[1] ? operands[k][1] : {LANES{uop[k].word1}}, operands[k][2]);
  end
`endif
  `EVENT(unit_busy, (complete_set & ~to_memory) != 0 && could_start == 0)
  `EVENT(unit_int_starts, starts != 0 && unit_valid[CLASS_INT])
  `EVENT(unit_div_busy, busy_q[1] != 0)
  `EVENT(unit_sfu_busy, busy_q[3] != 0)
  `EVENT(unit_div_goes_on_at_once, (unit_valid[CLASS_INT_DIV] || unit_valid[CLASS_FP32_DIV]) && result[CLASS_INT_DIV].valid)
  `EVENT(units_start_together, $countones(starts) > 1)
  `EVENT(units_contend, (could_start & ~starts) != 0)
  `EVENT(results_would_meet, together[N-1] != 0 && could_start == '1)
  `EVENT(result_has_no_port, ((complete_set & ~to_memory) & ~could_start) != 0 && unit_free == '1)
  `EVENT(lsu_has_no_room, to_memory != 0 && !lsu_room)
  `EVENT(lsu_two_come, to_memory == '1)
  `EVENT(results_of_two_classes, soon[CLASS_INT].valid && (soon[CLASS_FP32].valid || soon[CLASS_SFU].valid || soon[CLASS_INT_MUL].valid))
endmodule
