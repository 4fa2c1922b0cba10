// The coalescer (rules L4, L5): the line that the lowest remaining lane touches first, and the access to it.
`include "bugs.svh"
module coalesce
  import wave_core_pkg::*;
(
    input  memory_t memory,
    input  row_t    address,
    input  row_t    data[4],              // rows of a store; operand and swap of an atomic
    input  logic [LANES-1:0][1:0] left,   // parts of each lane's bytes: in the first line, in the next
    output logic [LANES-1:0][1:0] served,
    output logic [31:0] line,
    output lanes_t  lanes,
    output logic [L1_LINE_BYTES-1:0] byte_mask,
    output logic [LINE_BITS-1:0] line_data,
    output logic [31:0] swap
);
  localparam int PAIR = 2 * L1_LINE_BYTES;
  logic [31:0] bytes;
  logic [PAIR-1:0] all_bytes;
  assign bytes = 32'd1 << memory.log_bytes;
  assign all_bytes = (PAIR'(1) << bytes) - PAIR'(1);

  // Each lane's bytes at their places in its first line and in the next.
  logic [LANES-1:0][1:0][L1_LINE_BYTES-1:0] touched;
  logic [LANES-1:0][1:0][LINE_BITS-1:0] placed;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      touched[l] = all_bytes << address[l][LINE_SHIFT-1:0];
      placed[l] = {{8*PAIR-128{1'b0}}, data[3][l], data[2][l], data[1][l], data[0][l]}
          << {address[l][LINE_SHIFT-1:0], 3'd0};
    end

  // The parts that are left in the order of the lanes, and the line of the first.
  localparam int PARTS = 2 * LANES;
  logic [PARTS-1:0] wanted, first, same_line, blocked, serves;
  logic [PARTS-1:0][31-LINE_SHIFT:0] part_line;
  logic [31-LINE_SHIFT:0] line_number;
  always_comb begin
    line_number = '0;
    for (int i = 0; i < PARTS; i++) begin
      wanted[i] = left[i/2][i%2];
      part_line[i] = address[i/2][31:LINE_SHIFT] + (32-LINE_SHIFT)'(unsigned'(i % 2));
    end
    first = wanted & (~wanted + 1'b1);
    for (int i = 0; i < PARTS; i++) if (first[i]) line_number = line_number | part_line[i];
    for (int i = 0; i < PARTS; i++) same_line[i] = wanted[i] && part_line[i] == line_number;
  end

  // At most one operation a word, that of the first lane; a compare-and-swap is alone. The operations of an atomic have
  // one word each. So a part that an earlier one keeps out is kept out by the first with its word as well.
  always_comb begin
    blocked = '0;
    if (memory.atomic)
      for (int i = 0; i < PARTS; i++) begin
        if (memory.atomic_op == ATOMIC_CAS) blocked[i] = !first[i];
        for (int j = 0; j < i; j++)
          if (same_line[j] && (touched[i/2][i%2] & touched[j/2][j%2]) != 0 && !`BUG(144)) blocked[i] = 1'b1;
      end
  end
  assign serves = same_line & ~blocked;
  assign line = {line_number, {LINE_SHIFT{1'b0}}};

  always_comb begin
    served = '0;
    lanes = '0;
    byte_mask = '0;
    line_data = '0;
    swap = '0;
    for (int i = 0; i < PARTS; i++) begin
      served[i/2][i%2] = serves[i];
      if (serves[i]) lanes[i/2] = 1'b1;
      if (first[i] && memory.atomic_op == ATOMIC_CAS) swap = swap | (`BUG(145) ? data[0][i/2] : data[1][i/2]);
    end
    // Of several lanes that store a byte, the last one does.
    if (!memory.load)
      for (int i = 0; i < PARTS; i++)
        for (int b = 0; b < L1_LINE_BYTES; b++)
          if (serves[i] && touched[i/2][i%2][b]) begin
            byte_mask[b] = 1'b1;
            line_data[8*b+:8] = placed[i/2][i%2][8*b+:8];
          end
  end
endmodule
