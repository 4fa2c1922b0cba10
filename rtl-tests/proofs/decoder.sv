// Proves: an instruction waits for every register that it reads or writes, and for every predicate; none is named
//   beyond those
//   that the kernel declares; what has two words is no single word at the end of the code; each source is read once
// Method: bounded 1, stateless, quick
// Mutant: 109
// Mutant: 110
// Mutant: 111
// Mutant: decoder.sv | plain.source[i] = reg_t'(rs2) + reg_t'(i - 1); | plain.source[i] = reg_t'(rs2) + reg_t'(i);
// Mutant: decoder.sv | return rows != 0 && 9'(first) + 9'(rows) > declared; | return rows != 0 && 9'(first) + 9'(rows)
//   > declared + 9'd1;

// For every pair of words: the decoder has no state.
module prove_decoder
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input logic clk,
    input logic rst_n,
    input logic [31:0] base_word,
    input pc_t end_word,
    input logic [8:0] registers,
    input pc_t pc,
    input logic at_end,
    input logic truncated,
    input logic [31:0] word0,
    input logic [31:0] word1
);
  launch_t launch;
  uop_t    uop;
  needs_t  needs;
  always_comb begin
    launch = '0;
    launch.base_word = base_word;
    launch.end_word = end_word;
    launch.registers = registers;
  end
  decoder dut (.*);

  // From the words by themselves: fields and the operation's row of the opcode table.
  op_info_t info;
  logic legal, writes;
  logic [7:0] rd, rs1, rs2, rs3, rs4;
  assign info = op_info(word0[31:24], word0[7:4]);
  assign {rd, rs1} = word0[23:8];
  assign {rs2, rs3, rs4} = word1[31:8];
  assign legal = !(uop.kind inside {KIND_ILLEGAL, KIND_END});
  assign writes = info.dst_rows != 0 && !(info.dst_optional && rd == 0);

  function automatic logic covers(input registers_t set, input logic [7:0] first, input logic [2:0] rows);
    covers = 1'b1;
    for (int i = 0; i < 4; i++) if (i < int'(rows) && !set[reg_t'(first) + reg_t'(i)]) covers = 1'b0;
  endfunction
  function automatic logic inside_(input logic [7:0] first, input logic [2:0] rows);
    return rows == 0 || int'(first) + int'(rows) <= int'(registers);
  endfunction

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (registers <= MAX_REGISTERS);
      assert (!at_end || (uop.kind == KIND_END && needs.registers == 0 && needs.preds == 0));
      assert (legal || needs.registers == 0);
      if (legal) begin
        // Registers and predicates of the operands.
        assert (!writes || (covers(needs.registers, rd, info.dst_rows) && inside_(rd, info.dst_rows)));
        assert (covers(needs.registers, rs1, info.a_rows) && inside_(rs1, info.a_rows));
        assert (info.has_imm || (covers(needs.registers, rs2, info.b_rows) && inside_(rs2, info.b_rows)));
        assert (info.has_imm || (covers(needs.registers, rs3, info.c_rows) && inside_(rs3, info.c_rows)));
        assert (info.has_imm || (covers(needs.registers, rs4, info.e_rows) && inside_(rs4, info.e_rows)));
        assert (word0[2:0] == 0 || (needs.preds[word0[1:0]] && uop.guarded && uop.guard_neg == word0[2]));
        assert (!info.src_pred || (needs.preds[rs1[1:0]] && uop.ps == rs1[1:0]));
        assert (!info.dst_pred || (needs.preds[rd[1:0]] && int'(rd) < PREDICATES));
        assert (uop.two_words == info.two_words && !(info.two_words && truncated));
        assert (uop.op == info.op && info.op != OP_ILLEGAL && !info.needs_f64 && !info.needs_mma);
        // The destination that the scoreboard marks.
        assert (uop.rd == rd[5:0] && uop.dst_rows == (writes ? info.dst_rows : 3'd0) && uop.dst_pred == info.dst_pred);
        // Each row that it uses is read by one of its sources, and what is read is waited for.
        for (int i = 0; i < SOURCES; i++) begin
          logic found;
          found = 1'b0;
          for (int j = 0; j <= i; j++) if (uop.reads[j] && uop.source[j] == uop.source[i]) found = 1'b1;
          assert (!uop.uses[i] || found);
          assert (!uop.reads[i] || (uop.uses[i] && needs.registers[uop.source[i]]));
          for (int j = 0; j < i; j++) assert (!(uop.reads[i] && uop.reads[j]) || uop.source[i] != uop.source[j]);
        end
      end
      // What issue decides by is the same instruction.
      assert (needs.next.kind == uop.kind);
      assert (needs.next.collector == (legal && uop.kind inside {KIND_COMPUTE, KIND_MEMORY}));
      assert (!legal || (needs.next.rd == uop.rd && needs.next.dst_rows == uop.dst_rows
          && needs.next.dst_pred == uop.dst_pred));
      assert (!(needs.next.halts || needs.next.returns) || uop.kind == KIND_CONTROL);
      assert (uop.kind != KIND_BARRIER || needs.next.all);
      // A fence waits for its wave's accesses, or for more, unless it is one of its wave alone.
      assert (uop.kind != KIND_FENCE || uop.scope == SCOPE_WAVE || needs.next.all || needs.next.releases);
      assert (needs.next.releases == (uop.kind == KIND_FENCE && uop.release_
          && uop.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM}));
      cover (legal && info.e_rows != 0);
      cover (legal && info.b_rows == 4 && word0[2:0] == 3'd5);
      cover (uop.kind == KIND_FENCE && needs.next.system);
      cover (uop.kind == KIND_ILLEGAL && info.op == OP_IADD);
    end
endmodule
