// Decodes one instruction of one or two words.
`include "bugs.svh"
module decoder
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  launch_t     launch,
    input  pc_t         pc,        // of word0, from the kernel's first word
    input  logic        at_end,    // the end mark: no words
    input  logic        truncated, // word0 is the kernel's last word
    input  logic [31:0] word0,
    input  logic [31:0] word1,
    output uop_t        uop,
    output needs_t      needs
);
  op_info_t info;
  assign info = op_info(word0[31:24], word0[7:4]);

  logic [7:0] rd, rs1, rs2, rs3, rs4;
  assign {rd, rs1} = word0[23:8];
  assign {rs2, rs3, rs4} = info.has_imm ? 24'd0 : word1[31:8];

  // True if a register operand of this many rows passes the last declared register.
  function automatic logic past(input logic [7:0] first, input logic [2:0] rows, input logic [8:0] declared);
    return rows != 0 && 9'(first) + 9'(rows) > declared;
  endfunction

  logic writes;
  assign writes = info.dst_rows != 0 && !(info.dst_optional && rd == 0);

  logic guarded;
  assign guarded = word0[2:0] != 0;

  logic [31:0] target;
  assign target = (word1 >> 2) - launch.base_word;

  logic illegal;
  always_comb begin
    illegal = info.op == OP_ILLEGAL || word0[3] || (info.two_words && truncated);
    if (info.two_words && !info.has_imm && word1[7:2] != 0) illegal = 1'b1;
    if (guarded && info.no_guard) illegal = 1'b1;
    if (info.dst_pred && int'(rd) >= PREDICATES) illegal = 1'b1;
    if (info.src_pred && int'(rs1) >= (info.src_pred_neg ? 2 * PREDICATES : PREDICATES)) illegal = 1'b1;
    if (info.src_special && rs1 >= SPECIAL_REGISTERS) illegal = 1'b1;
    if (info.needs_f64 || info.needs_mma) illegal = 1'b1;
    if (info.op == OP_CALL && (word1[1:0] != 0 || word1 >> 2 < launch.base_word || target >= 32'(launch.end_word)))
      illegal = 1'b1;
    if (past(rd, writes ? info.dst_rows : 3'd0, launch.registers) || past(rs1, info.a_rows, launch.registers)
        || past(rs2, info.b_rows, launch.registers) || past(rs3, info.c_rows, launch.registers)
        || past(rs4, info.e_rows, launch.registers))
      illegal = 1'b1;
  end

  kind_e   kind;
  memory_t memory;
  logic    is_memory;
  assign is_memory = info.exec_class inside {CLASS_LOCAL_MEMORY, CLASS_DEVICE_MEMORY};
  always_comb begin
    memory = '0;
    memory.device = info.exec_class == CLASS_DEVICE_MEMORY;
    memory.atomic_op = word0[7:4];
    memory.log_bytes = 3'd2;
    case (word0[31:24])
      8'h30, 8'h31: begin
        memory.load = !word0[24];
        memory.store = word0[24];
        memory.log_bytes = 3'(word0[7:4]);
      end
      8'h38, 8'h39: begin
        memory.load = !word0[24];
        memory.store = word0[24];
        memory.hint = word0[7:4] < 5 ? HINT_CACHED : word0[7:4] < 10 ? HINT_UNCACHED : HINT_STREAMING;
        memory.log_bytes = 3'(word0[7:4] < 5 ? word0[7:4] : word0[7:4] < 10 ? word0[7:4] - 4'd5 : word0[7:4] - 4'd10);
      end
      default: memory.atomic = 1'b1;
    endcase
    if (!is_memory) memory = '0;
  end

  always_comb begin
    case (info.op)
      OP_BARRIER: kind = KIND_BARRIER;
      OP_FENCE_ACQUIRE, OP_FENCE_RELEASE, OP_FENCE_ACQ_REL: kind = KIND_FENCE;
      OP_WAIT: kind = KIND_WAIT;
      OP_NOP: kind = KIND_NOP;
      default: kind = is_memory ? KIND_MEMORY : info.exec_class == CLASS_CONTROL ? KIND_CONTROL : KIND_COMPUTE;
    endcase
  end

  // The instruction if it is legal. Whether it is legal is known last.
  uop_t plain;
  always_comb begin
    plain = '0;
    plain.kind = kind;
    plain.op = info.op;
    plain.exec_class = info.exec_class;
    plain.pc = pc;
    plain.word0 = word0;
    plain.two_words = info.two_words && !truncated;
    if (plain.two_words) plain.word1 = word1;
    plain.guarded = guarded;
    {plain.guard_neg, plain.guard_pred} = word0[2:0];
    plain.has_ps = info.src_pred;
    plain.ps = rs1[1:0];
    plain.ps_neg = info.src_pred_neg && rs1[2];
    plain.rd = REG_BITS'(rd);
    plain.dst_rows = writes ? info.dst_rows : 3'd0;
    plain.dst_pred = info.dst_pred;
    plain.scope = info.has_scope ? scope_e'(word1[1:0]) : SCOPE_WAVE;
    plain.acquire = info.op inside {OP_FENCE_ACQUIRE, OP_FENCE_ACQ_REL};
    plain.release_ = info.op inside {OP_FENCE_RELEASE, OP_FENCE_ACQ_REL};
    plain.memory = memory;
    // Rows of rs2 follow the row of rs1. If there is more than one of them, there is no rs3.
    plain.source[0] = REG_BITS'(rs1);
    plain.uses[0] = info.a_rows != 0;
    for (int i = 1; i < SOURCES; i++) begin
      if (i <= int'(info.b_rows)) begin
        plain.source[i] = reg_t'(rs2) + reg_t'(i - 1);
        plain.uses[i] = 1'b1;
      end
    end
    if (info.c_rows != 0) begin
      plain.source[2] = REG_BITS'(rs3);
      plain.uses[2] = 1'b1;
    end
    if (info.e_rows != 0) begin
      plain.source[3] = REG_BITS'(rs4);
      plain.uses[3] = 1'b1;
    end
    for (int i = 0; i < SOURCES; i++) begin
      plain.reads[i] = plain.uses[i];
      for (int j = 0; j < i; j++) if (plain.uses[j] && plain.source[j] == plain.source[i]) plain.reads[i] = 1'b0;
    end
  end
  always_comb begin
    uop = '0;
    uop.op = OP_NOP;
    uop.exec_class = CLASS_CONTROL;
    uop.pc = pc;
    if (at_end) uop.kind = KIND_END;
    else if (illegal) begin
      uop.kind = KIND_ILLEGAL;
      uop.word0 = word0;
      uop.word1 = plain.word1;
      uop.two_words = plain.two_words;
    end else uop = plain;
  end

  // What it waits for. An instruction that is illegal, and the end mark, wait for nothing.
  function automatic needs_t needs_of(input uop_t u);
    needs_t n;
    logic   far;
    registers_t [SOURCES-1:0] named;
    n = '0;
    named = '0;
    for (int i = 0; i < SOURCES; i++) if (u.uses[i]) named[i] = registers_t'(1) << u.source[i];
    n.registers = (rows_of(u.rd, `BUG(109) ? 3'd0 : u.dst_rows) | named[0]) | ((named[1] | named[2]) | (named[3] | named[4]));
    if (u.dst_pred) n.preds[u.rd[1:0]] = 1'b1;
    if (u.guarded && !`BUG(110)) n.preds[u.guard_pred] = 1'b1;
    if (u.has_ps) n.preds[u.ps] = 1'b1;
    far = u.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM};
    n.next.kind = u.kind;
    n.next.collector = u.kind inside {KIND_COMPUTE, KIND_MEMORY};
    n.next.guarded = u.guarded;
    n.next.guard_pred = u.guard_pred;
    n.next.guard_neg = u.guard_neg;
    n.next.has_ps = u.has_ps;
    n.next.ps = u.ps;
    n.next.ps_neg = u.ps_neg;
    n.next.rd = u.rd;
    n.next.dst_rows = u.dst_rows;
    n.next.dst_pred = u.dst_pred;
    n.next.loads = u.kind == KIND_WAIT;
    n.next.releases = u.kind == KIND_FENCE && u.release_ && far;
    n.next.system = n.next.releases && u.scope == SCOPE_SYSTEM;
    n.next.all = (u.kind == KIND_BARRIER && !`BUG(111))
        || (u.kind == KIND_FENCE && u.scope != SCOPE_WAVE && !n.next.releases);
    n.next.invalidates = u.kind == KIND_FENCE && u.acquire && far;
    n.next.halts = u.kind == KIND_CONTROL && u.op == OP_HALT;
    n.next.returns = u.kind == KIND_CONTROL && u.op == OP_RETURN;
    return n;
  endfunction
  needs_t plain_needs;
  assign plain_needs = needs_of(plain);
  always_comb begin
    needs = at_end || illegal ? '0 : plain_needs;
    needs.next.kind = uop.kind;
  end
endmodule
