// The coalescer (rules L4, L5): the line that the lowest remaining lane touches first, and the access to it.
`include "bugs.svh"
module coalesce
  import wave_core_pkg::*;
(
    input  logic    valid,
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

  logic found;
  logic [31:0] part_line;
  always_comb begin
    served = '0;
    line = '0;
    lanes = '0;
    byte_mask = '0;
    line_data = '0;
    swap = '0;
    found = 1'b0;
    part_line = '0;
    if (valid)
      for (int l = 0; l < LANES; l++)
        for (int p = 0; p < 2; p++) begin
          part_line = {address[l][31:LINE_SHIFT], {LINE_SHIFT{1'b0}}} + unsigned'(p * L1_LINE_BYTES);
          if (left[l][p] && (!found || part_line == line)
              // At most one operation a word; a compare-and-swap is alone.
              && !(memory.atomic && found
                   && (((byte_mask & touched[l][p]) != 0 && !`BUG(144)) || memory.atomic_op == ATOMIC_CAS))) begin
            found = 1'b1;
            line = part_line;
            lanes[l] = 1'b1;
            served[l][p] = 1'b1;
            if (memory.atomic_op == ATOMIC_CAS) swap = `BUG(145) ? data[0][l] : data[1][l];
            if (!memory.load)
              for (int i = 0; i < L1_LINE_BYTES; i++)
                if (touched[l][p][i]) begin
                  byte_mask[i] = 1'b1;
                  line_data[8*i+:8] = placed[l][p][8*i+:8];
                end
          end
        end
  end
endmodule
