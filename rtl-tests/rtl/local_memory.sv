// Local memory (rules L2, L3): one pass a cycle, in which each bank serves one word. Lanes on one word share its pass;
// atomics take one each. The part of each workgroup begins at bank 0.
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
  // Words that the bytes of a lane can touch.
  localparam int PARTS = 3;
  localparam int BANK_INDEX_BITS = $clog2(LOCAL_BANKS);
  localparam int PART_ALIGN = 4 * LOCAL_BANKS;
  localparam int ROWS = LOCAL_MEMORY_BYTES / PART_ALIGN + MAX_WORKGROUPS;
  localparam int ROW_BITS = $clog2(ROWS);
  typedef logic [BANK_INDEX_BITS-1:0] bank_t;
  typedef logic [ROW_BITS-1:0] bank_row_t;
  typedef logic [LANES-1:0][PARTS-1:0] parts_t;

  logic [31:0] words_q[LOCAL_BANKS][ROWS];
  logic [ROWS-1:0] written_q[LOCAL_BANKS];

  bank_row_t part_rows, base;
  assign part_rows = bank_row_t'((launch.local_bytes + 32'(PART_ALIGN - 1)) / 32'(PART_ALIGN));
  assign base = `BUG(142) ? '0 : bank_row_t'(group) * part_rows;

  // What is left to serve.
  parts_t all_parts, left_q, left, served;
  logic [31:0] bytes;
  assign bytes = 32'd1 << memory.log_bytes;
  always_comb begin
    all_parts = '0;
    if (valid)
      for (int l = 0; l < LANES; l++)
        for (int k = 0; k < PARTS; k++)
          all_parts[l][k] = mask[l] && (address[l] >> 2) + 32'(k) <= (address[l] + bytes - 32'd1) >> 2;
  end
  assign left = first ? all_parts : left_q;

  // The word that each bank serves.
  logic [LOCAL_BANKS-1:0] serves;
  logic [31:0] word[LOCAL_BANKS];
  logic [31:0] here;
  bank_t bank;
  always_comb begin
    serves = '0;
    served = '0;
    here = '0;
    bank = '0;
    for (int b = 0; b < LOCAL_BANKS; b++) word[b] = '0;
    if (valid)
      for (int l = 0; l < LANES; l++)
        for (int k = 0; k < PARTS; k++)
          if (left[l][k]) begin
            here = (address[l] >> 2) + 32'(k);
            bank = bank_t'(here);
            if (!serves[bank]) begin
              serves[bank] = 1'b1;
              word[bank] = here;
              served[l][k] = 1'b1;
            end else if (word[bank] == here && !`BUG(141) && !memory.atomic) served[l][k] = 1'b1;
          end
  end
  assign last = valid && (left & ~served) == 0;

  // Each bank reads its word and writes it back.
  logic [31:0] old_word[LOCAL_BANKS], new_word[LOCAL_BANKS];
  bank_row_t row[LOCAL_BANKS];
  always_comb begin
    for (int b = 0; b < LOCAL_BANKS; b++) begin
      row[b] = base + bank_row_t'(word[b] >> BANK_INDEX_BITS);
      old_word[b] = serves[b] && written_q[b][row[b]] ? words_q[b][row[b]] : {4{LOCAL_POISON}};
    end
  end

  bank_t part_bank;
  logic [31:0] offset;
  logic [63:0] value;
  always_comb begin
    part_bank = '0;
    offset = '0;
    value = '0;
    read_bytes = '0;
    read_row[0] = '0;
    read_row[1] = '0;
    for (int b = 0; b < LOCAL_BANKS; b++) new_word[b] = old_word[b];
    if (valid)
      for (int l = 0; l < LANES; l++) begin
        value = {data[1][l], data[0][l]};
        for (int k = 0; k < PARTS; k++)
          if (served[l][k]) begin
            part_bank = bank_t'((address[l] >> 2) + 32'(k));
            if (memory.atomic)
              new_word[part_bank] = atomic_result(memory.atomic_op, old_word[part_bank], data[0][l], data[1][l]);
            for (int i = 0; i < 4; i++) begin
              offset = {word[part_bank][29:0], 2'(i)} - address[l];
              if (offset < bytes) begin
                if (memory.store) new_word[part_bank][8*i+:8] = value[8*offset[2:0]+:8];
                read_bytes[l][offset[2:0]] = 1'b1;
                read_row[offset[2]][l][8*offset[1:0]+:8] = old_word[part_bank][8*i+:8];
              end
            end
          end
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
    always_ff @(posedge clk) begin
      if (start && !`BUG(143)) written_q[b] <= written_q[b] & ~fresh;
      if (writes && serves[b]) begin
        words_q[b][row[b]] <= new_word[b];
        written_q[b][row[b]] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk) if (valid) left_q <= left & ~served;
endmodule
