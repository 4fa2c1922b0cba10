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
  typedef logic [PARTS-1:0] parts_t;
  parts_t wanted, first, same_line, blocked, serves;
  parts_t meets[PARTS];                 // earlier parts with a byte at the same place of their line
  logic [PARTS-1:0][31-LINE_SHIFT:0] part_line;
  logic [31-LINE_SHIFT:0] line_number;
  parts_t column;                       // bits that are joined by one reduction, as a tree

  function automatic parts_t lowest_part(input parts_t set);
    parts_t below;
    below = set << 1;
    for (int s = 1; s < PARTS; s = 2 * s) below = below | (below << s);
    return set & ~below;
  endfunction
  function automatic parts_t highest_part(input parts_t set);
    parts_t above;
    above = set >> 1;
    for (int s = 1; s < PARTS; s = 2 * s) above = above | (above >> s);
    return set & ~above;
  endfunction

  always_comb begin
    column = '0;
    for (int i = 0; i < PARTS; i++) begin
      wanted[i] = left[i/2][i%2];
      part_line[i] = address[i/2][31:LINE_SHIFT] + (32-LINE_SHIFT)'(unsigned'(i % 2));
    end
    first = lowest_part(wanted);
    for (int n = 0; n < 32 - LINE_SHIFT; n++) begin
      for (int i = 0; i < PARTS; i++) column[i] = first[i] && part_line[i][n];
      line_number[n] = column != 0;
    end
    for (int i = 0; i < PARTS; i++) same_line[i] = wanted[i] && part_line[i] == line_number;
  end

  // At most one operation a word, that of the first lane; a compare-and-swap is alone. The operations of an atomic have
  // one word each. So a part that an earlier one keeps out is kept out by the first with its word as well.
  always_comb
    for (int i = 0; i < PARTS; i++) begin
      meets[i] = '0;
      for (int j = 0; j < i; j++) meets[i][j] = (touched[i/2][i%2] & touched[j/2][j%2]) != 0 && !`BUG(144);
      blocked[i] = memory.atomic
          && ((memory.atomic_op == ATOMIC_CAS && !first[i]) || (same_line & meets[i]) != 0);
    end
  assign serves = same_line & ~blocked;
  assign line = {line_number, {LINE_SHIFT{1'b0}}} & (`BUG(233) ? 32'h0000_FFFF : '1);

  parts_t swap_bits;
  always_comb begin
    swap_bits = '0;
    served = '0;
    lanes = '0;
    swap = '0;
    for (int i = 0; i < PARTS; i++) begin
      served[i/2][i%2] = serves[i];
      if (serves[i]) lanes[i/2] = 1'b1;
    end
    for (int n = 0; n < 32; n++) begin
      for (int i = 0; i < PARTS; i++) swap_bits[i] = first[i] && (`BUG(145) ? data[0][i/2][n] : data[1][i/2][n]);
      swap[n] = swap_bits != 0 && memory.atomic_op == ATOMIC_CAS;
    end
  end

  // Of several lanes that store a byte, the last one does.
  for (genvar b = 0; b < L1_LINE_BYTES; b++) begin : gen_byte
    parts_t storing, last_storing, stored_bits;
    always_comb begin
      stored_bits = '0;
      for (int i = 0; i < PARTS; i++) storing[i] = serves[i] && touched[i/2][i%2][b] && !memory.load;
      byte_mask[b] = storing != 0;
      last_storing = `BUG(234) ? lowest_part(storing) : highest_part(storing);
      for (int n = 8 * b; n < 8 * b + 8; n++) begin
        for (int i = 0; i < PARTS; i++) stored_bits[i] = last_storing[i] && placed[i/2][i%2][n];
        line_data[n] = stored_bits != 0;
      end
    end
  end
endmodule
