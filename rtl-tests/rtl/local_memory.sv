// Local memory (rules L2, L3): one pass a cycle, in which each bank serves one word. Lanes on one word share its pass;
// atomics take a pass each. Each workgroup's part begins at bank 0.
`include "bugs.svh"
module local_memory
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  launch_t launch,
    input  logic    start,            // a workgroup arrives: its part has its initial contents
    input  group_t  start_group,
    // A pass of an access.
    input  logic    valid,
    input  logic    first,            // its first pass
    input  group_t  group,
    input  memory_t memory,
    input  lanes_t  mask,
    input  row_t    address,
    input  row_t    data[2],          // rows of a store; operand and swap of an atomic
    output logic    last,             // its last pass
    output row_t    read_row[2],      // what this pass read, where
    output logic [LANES-1:0][7:0] read_bytes
);
  // Most words that the bytes of a lane can touch.
  localparam int PARTS = 3;
  localparam int BANK_INDEX_BITS = $clog2(LOCAL_BANKS);
  localparam int PART_ALIGN = 4 * LOCAL_BANKS;
  localparam int ROWS = LOCAL_MEMORY_BYTES / PART_ALIGN + MAX_WORKGROUPS;
  localparam int ROW_BITS = $clog2(ROWS);
  typedef logic [ROW_BITS-1:0] bank_row_t;
  typedef logic [LANES-1:0][PARTS-1:0] parts_t;

  bank_row_t part_rows, base;
  assign part_rows = bank_row_t'((launch.local_bytes + unsigned'(PART_ALIGN - 1)) / unsigned'(PART_ALIGN));
  assign base = `BUG(142) ? '0 : bank_row_t'(group) * part_rows;

  // Bytes still to be served.
  parts_t all_parts, left_q, left, served;
  logic [31:0] bytes;
  logic [PARTS-1:0][3:0] all_bytes;
  assign bytes = 32'd1 << memory.log_bytes;
  assign all_bytes = ((4*PARTS)'(1) << bytes) - (4*PARTS)'(1);
  always_comb begin
    all_parts = '0;
    if (valid)
      for (int l = 0; l < LANES; l++)
        for (int k = 0; k < PARTS; k++)
          all_parts[l][k] = mask[l] && 32'(address[l][1:0]) + bytes > unsigned'(4 * k);
  end
  assign left = first ? all_parts : left_q;

  // Of each part that is left: its word, and its bank. Each bank serves the word of the first of its parts, and with it
  // all parts on this word; of an atomic the first part alone.
  localparam int ALL = LANES * PARTS;
  logic [ALL-1:0] wanted;
  logic [ALL-1:0][29:0] part_word;
  logic [LOCAL_BANKS-1:0][ALL-1:0] in_bank, first_of, of_bank;
  logic [LOCAL_BANKS-1:0] serves;
  logic [29:0] word[LOCAL_BANKS];
  always_comb begin
    for (int i = 0; i < ALL; i++) begin
      wanted[i] = valid && left[i/PARTS][i%PARTS];
      part_word[i] = address[i/PARTS][31:2] + 30'(unsigned'(i % PARTS));
    end
    for (int b = 0; b < LOCAL_BANKS; b++) begin
      for (int i = 0; i < ALL; i++)
        in_bank[b][i] = wanted[i] && int'(part_word[i][BANK_INDEX_BITS-1:0]) == b;
      first_of[b] = in_bank[b] & (~in_bank[b] + 1'b1);
      serves[b] = in_bank[b] != 0;
      word[b] = '0;
      for (int i = 0; i < ALL; i++) if (first_of[b][i]) word[b] = word[b] | part_word[i];
      for (int i = 0; i < ALL; i++)
        of_bank[b][i] = first_of[b][i] || (in_bank[b][i] && part_word[i] == word[b] && !`BUG(141) && !memory.atomic);
    end
    served = '0;
    for (int b = 0; b < LOCAL_BANKS; b++)
      for (int i = 0; i < ALL; i++) if (of_bank[b][i]) served[i/PARTS][i%PARTS] = 1'b1;
  end
  assign last = valid && (left & ~served) == 0;

  // Each lane's bytes at their places in the words that it can touch.
  logic [LANES-1:0][PARTS-1:0][3:0] touched;
  logic [LANES-1:0][PARTS-1:0][31:0] placed;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      touched[l] = all_bytes << address[l][1:0];
      placed[l] = {32'd0, data[1][l], data[0][l]} << {address[l][1:0], 3'd0};
    end

  // Each bank reads its word and writes it back with the bytes of the lanes, or with the result of one lane's atomic.
  logic [31:0] old_word[LOCAL_BANKS], new_word[LOCAL_BANKS];
  logic [31:0] operand, swap;
  always_comb begin
    operand = '0;
    swap = '0;
    for (int b = 0; b < LOCAL_BANKS; b++) begin
      new_word[b] = old_word[b];
      operand = '0;
      swap = '0;
      for (int i = 0; i < ALL; i++) begin
        if (first_of[b][i]) begin
          operand = operand | data[0][i/PARTS];
          swap = swap | data[1][i/PARTS];
        end
        // Of several lanes that store a byte, the last one does.
        for (int n = 0; n < 4; n++)
          if (of_bank[b][i] && memory.store && touched[i/PARTS][i%PARTS][n])
            new_word[b][8*n+:8] = placed[i/PARTS][i%PARTS][8*n+:8];
      end
      if (memory.atomic) new_word[b] = atomic_result(memory.atomic_op, old_word[b], operand, swap);
    end
  end

  // The bytes that each lane receives.
  logic [PARTS-1:0][31:0] got;
  logic [PARTS-1:0][3:0] got_bytes;
  always_comb begin
    got = '0;
    got_bytes = '0;
    for (int l = 0; l < LANES; l++) begin
      for (int k = 0; k < PARTS; k++) begin
        got[k] = old_word[part_word[l*PARTS+k][BANK_INDEX_BITS-1:0]];
        got_bytes[k] = served[l][k] ? touched[l][k] : '0;
      end
      got = got >> {address[l][1:0], 3'd0};
      got_bytes = got_bytes >> address[l][1:0];
      read_row[0][l] = got[0];
      read_row[1][l] = got[1];
      read_bytes[l] = got_bytes[1:0];
    end
  end

  logic writes;
  assign writes = valid && (memory.store || memory.atomic);
  logic [ROWS-1:0] fresh;
  always_comb begin
    fresh = '0;
    if (start)
      for (int r = 0; r < ROWS; r++)
        fresh[r] = bank_row_t'(r) >= bank_row_t'(start_group) * part_rows
            && bank_row_t'(r) < (bank_row_t'(start_group) + 1'b1) * part_rows;
  end
  for (genvar b = 0; b < LOCAL_BANKS; b++) begin : gen_bank
    logic [31:0] words_q[ROWS];
    logic [ROWS-1:0] written_q;
    bank_row_t row;
    assign row = base + bank_row_t'(word[b] >> BANK_INDEX_BITS);
    assign old_word[b] = serves[b] && written_q[row] ? words_q[row] : {4{LOCAL_POISON}};
    always_ff @(posedge clk) begin
      if (start && !`BUG(143)) written_q <= written_q & ~fresh;
      if (writes && serves[b]) begin
        words_q[row] <= new_word[b];
        written_q[row] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk) if (valid) left_q <= left & ~served;
endmodule
