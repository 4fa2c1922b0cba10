// Dispatch to the execution units and the load/store unit (rules X1 to X4), and results until their write-back.
`include "bugs.svh"
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
  function automatic ptr_t latency_of(input class_e c);
    case (c)
      CLASS_INT_MUL: return ptr_t'(INT_MUL_RESULT);
      CLASS_CONVERT: return ptr_t'(CONVERT_RESULT);
      CLASS_WAVE: return ptr_t'(WAVE_RESULT);
      CLASS_INT_DIV: return ptr_t'(INT_DIV_RESULT);
      CLASS_FP32_DIV: return ptr_t'(FP32_DIV_RESULT);
      CLASS_FP32: return ptr_t'(FP32_RESULT);
      CLASS_FP16: return ptr_t'(FP16_RESULT);
      CLASS_SFU: return ptr_t'(SFU_RESULT);
      default: return ptr_t'(INT_RESULT);
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

  logic [N-1:0] starts;     // places that enter a unit
  logic [UNITS-1:0] unit_taken;
  logic lsu_used;
  ptr_t due;
  logic [BANK_BITS-1:0] bank;
  logic ports_free;
  always_comb begin
    leaves = '0;
    starts = '0;
    lsu_used = 1'b0;
    lsu_place = '0;
    due = '0;
    bank = '0;
    ports_free = 1'b0;
    unit_taken = '0;
    reserved_d = reserved_q;
    for (int u = 0; u < UNITS; u++) busy_d[u] = busy_q[u] == 0 ? '0 : busy_q[u] - 1'b1;
    for (int k = 0; k < N; k++) begin
      if (complete[k]) begin
        if (uop[k].kind == KIND_MEMORY) begin
          if (lsu_room && !lsu_used && !(`BUG(134) && k != 0)) begin
            lsu_used = 1'b1;
            lsu_place = ($bits(lsu_place))'(k);
            leaves[k] = 1'b1;
          end
        end else begin
          due = latency_of(uop[k].exec_class);
          bank = bank_of(uop[k].rd, slot[k]);
          ports_free = uop[k].dst_rows == 0 || `BUG(133)
              || (!reserved_d[due][bank] && $countones(reserved_d[due]) < REGISTERS_WRITE_PORTS);
          if (busy_q[unit_of(uop[k].exec_class)] == 0 && !unit_taken[unit_of(uop[k].exec_class)] && ports_free) begin
            unit_taken[unit_of(uop[k].exec_class)] = 1'b1;
            leaves[k] = 1'b1;
            starts[k] = 1'b1;
            if (uop[k].dst_rows != 0) reserved_d[due][bank] = 1'b1;
            busy_d[unit_of(uop[k].exec_class)] = interval_of_class(uop[k].exec_class) - 1'b1 - ptr_t'(`BUG(132) && uop[k].exec_class == CLASS_SFU);
          end
        end
      end
    end
  end
  assign lsu_take = lsu_used;

  // The inputs of each unit.
  logic   unit_valid[CLASSES];
  op_e    unit_op[UNITS];
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
      unit_op[u] = OP_NOP;
      unit_imm[u] = '0;
      unit_mask[u] = '0;
      unit_condition[u] = '0;
      for (int s = 0; s < 4; s++) unit_operand[u][s] = '0;
      for (int k = 0; k < N; k++)
        if (starts[k] && unit_of(uop[k].exec_class) == unit_t'(u)) begin
          unit_op[u] = uop[k].op;
          unit_imm[u] = uop[k].word1;
          unit_mask[u] = mask[k];
          unit_condition[u] = condition[k];
          for (int s = 0; s < 4; s++) unit_operand[u][s] = operands[k][s];
        end
    end
    for (int k = 0; k < N; k++)
      if (starts[k]) begin
        unit_valid[uop[k].exec_class] = 1'b1;
        if (uop[k].op == OP_MOV_SR) begin
          special_valid = 1'b1;
          special_slot = slot[k];
          special_code = uop[k].word0[15:8];
        end
      end
  end
  special_registers u_special (
      .launch, .valid(special_valid), .code(special_code), .wave_id(wave_id[special_slot]),
      .group_id(group_id[group_of[special_slot]]), .row(special_row));

  // The instructions in the units.
  logic unit_due[CLASSES];
  for (genvar c = 0; c < CLASSES; c++) begin : gen_tags
    result_t tag;
    always_comb begin
      tag = '0;
      for (int k = 0; k < N; k++)
        if (starts[k] && int'(uop[k].exec_class) == c)
          tag = '{
              valid: 1'b1, slot: slot[k], seq: seq[k], pc: uop[k].pc, mask: mask[k], rd: uop[k].rd,
              rows: uop[k].dst_rows, pred: uop[k].dst_pred};
    end
    unit_tags #(
        .LATENCY(int'(latency_of(class_e'(c)))), .INTERVAL(int'(interval_of_class(class_e'(c))))
    ) u_tags (.clk, .rst_n, .enters(unit_valid[c]), .tag, .due(unit_due[c]), .oldest(result[c]));
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
endmodule
