// Local memory (rules L2, L3): one pass a cycle, in which each bank serves one word. Lanes on one word share its pass;
// atomics take a pass each. Each workgroup's part begins at bank 0.
//
// A pass takes two cycles. In the first, which is that of the rules, the banks choose their words and begin to read them,
// and it is known whether the pass is the last one. In the second, each bank has its word and writes it. All passes go the
// same way, so each sees what those before it have written: a bank does not read a word that it writes in the same cycle
// for the pass before, but keeps it. A result is needed two cycles after its last pass at the earliest.
`include "bugs.svh"
`include "events.svh"
module local_memory
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    input  logic    start,            // a workgroup arrives: its part has its initial contents
    input  group_t  start_group,
    // A pass of an access.
    input  logic    valid,
    input  logic    first,            // its first pass, if it is one
    input  group_t  group,
    input  memory_t memory,
    input  lanes_t  mask,
    input  row_t    address,
    output logic    last,             // its last pass, if it is one
    // The pass of the cycle before: its operands once more.
    input  memory_t then_memory,
    input  row_t    then_address,
    input  row_t    then_data[2],     // rows of a store; operand and swap of an atomic
    output row_t    read_row[2],      // what it reads, where
    output logic [LANES-1:0][7:0] read_bytes
);
  // Most words that the bytes of a lane can touch.
  localparam int PARTS = 3;
  localparam int BANK_INDEX_BITS = $clog2(LOCAL_BANKS);
  localparam int PART_ALIGN = 4 * LOCAL_BANKS;
  localparam int ROWS = LOCAL_MEMORY_BYTES / PART_ALIGN + MAX_WORKGROUPS;
  localparam int ROW_BITS = $clog2(ROWS);
  localparam int WORD_BITS = $clog2(LOCAL_MEMORY_BYTES / 4);
  typedef logic [ROW_BITS-1:0] bank_row_t;
  // A word of the workgroup's part. An access beyond the part is a fault and makes no pass.
  typedef logic [WORD_BITS-1:0] word_t;
  typedef logic [LANES-1:0][PARTS-1:0] parts_t;
  localparam int ALL = LANES * PARTS;
  typedef logic [ALL-1:0] all_t;

  // Rows of a workgroup, and the first row of each. They are constant while a launch runs.
  bank_row_t part_rows_q, base_q[MAX_WORKGROUPS];
  always_ff @(posedge clk) begin
    part_rows_q <= bank_row_t'((launch.local_bytes + unsigned'(PART_ALIGN - 1)) / unsigned'(PART_ALIGN));
    for (int g = 0; g < MAX_WORKGROUPS; g++) base_q[g] <= bank_row_t'(g) * part_rows_q;
  end

  function automatic all_t lowest_part(input all_t set);
    all_t below;
    below = set << 1;
    for (int s = 1; s < ALL; s = 2 * s) below = below | (below << s);
    return set & ~below;
  endfunction
  function automatic all_t highest_part(input all_t set);
    all_t above;
    above = set >> 1;
    for (int s = 1; s < ALL; s = 2 * s) above = above | (above >> s);
    return set & ~above;
  endfunction

  // ---- The first cycle. Bytes still to be served.
  parts_t all_parts, left_q, left, served;
  logic [31:0] bytes;
  assign bytes = 32'd1 << memory.log_bytes;
  always_comb
    for (int l = 0; l < LANES; l++)
      for (int k = 0; k < PARTS; k++)
        all_parts[l][k] = mask[l] && 32'(address[l][1:0]) + bytes > unsigned'(4 * k);
  assign left = first ? all_parts : left_q;

  // Of each part that is left: its word, and its bank. Each bank serves the word of the first of its parts, and with it
  // all parts on this word; of an atomic the first part alone.
  all_t wanted;
  word_t [ALL-1:0] part_word;
  logic [LOCAL_BANKS-1:0][ALL-1:0] in_bank, first_of, of_bank;
  logic [LOCAL_BANKS-1:0] serves;
  word_t word[LOCAL_BANKS];
  assign wanted = left;
  always_comb
    for (int i = 0; i < ALL; i++)
      part_word[i] = word_t'(address[i/PARTS] >> 2) + word_t'(unsigned'(i % PARTS));
  for (genvar b = 0; b < LOCAL_BANKS; b++) begin : gen_choice
    all_t column;                       // bits that are joined by one reduction, as a tree
    always_comb begin
      column = '0;
      for (int i = 0; i < ALL; i++)
        in_bank[b][i] = wanted[i] && int'(part_word[i][BANK_INDEX_BITS-1:0]) == b;
      first_of[b] = lowest_part(in_bank[b]);
      serves[b] = in_bank[b] != 0;
      for (int n = 0; n < WORD_BITS; n++) begin
        for (int i = 0; i < ALL; i++) column[i] = first_of[b][i] && part_word[i][n];
        word[b][n] = column != 0;
      end
      for (int i = 0; i < ALL; i++)
        of_bank[b][i] = first_of[b][i] || (in_bank[b][i] && part_word[i] == word[b] && !`BUG(141) && !memory.atomic);
    end
  end
  logic [LOCAL_BANKS-1:0] part_of;
  always_comb begin
    part_of = '0;
    for (int i = 0; i < ALL; i++) begin
      for (int b = 0; b < LOCAL_BANKS; b++) part_of[b] = of_bank[b][i];
      served[i/PARTS][i%PARTS] = part_of != 0;
    end
  end
  assign last = (left & ~served) == 0;

  // ---- The second cycle.
  logic valid_q;
  bank_row_t base, then_base_q;
  bank_row_t row[LOCAL_BANKS], row_q[LOCAL_BANKS];
  assign base = `BUG(142) ? '0 : base_q[group];
  always_comb for (int b = 0; b < LOCAL_BANKS; b++) row[b] = base + bank_row_t'(word[b] >> BANK_INDEX_BITS);
  logic [LOCAL_BANKS-1:0][ALL-1:0] first_of_q, of_bank_q;
  logic [LOCAL_BANKS-1:0] serves_q;
  parts_t served_q;
  always_ff @(posedge clk) begin
    if (valid) left_q <= left & ~served;
    valid_q <= rst_n && valid;
    then_base_q <= base;
    first_of_q <= first_of;
    of_bank_q <= of_bank;
    serves_q <= serves;
    for (int b = 0; b < LOCAL_BANKS; b++) row_q[b] <= row[b];
    served_q <= served;
  end

  // Each lane's bytes at their places in the words that it can touch.
  logic [31:0] then_bytes;
  logic [PARTS-1:0][3:0] all_bytes;
  assign then_bytes = 32'd1 << then_memory.log_bytes;
  assign all_bytes = ((4*PARTS)'(1) << then_bytes) - (4*PARTS)'(1);
  logic [LANES-1:0][PARTS-1:0][3:0] touched;
  logic [LANES-1:0][PARTS-1:0][31:0] placed;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      touched[l] = all_bytes << then_address[l][1:0];
      placed[l] = {32'd0, then_data[1][l], then_data[0][l]} << {then_address[l][1:0], 3'd0};
    end

  // Each bank writes its word back with the bytes of the lanes, or with the result of one lane's atomic.
  logic [31:0] old_word[LOCAL_BANKS], new_word[LOCAL_BANKS];
  for (genvar b = 0; b < LOCAL_BANKS; b++) begin : gen_new_word
    logic [31:0] operand, swap, stored;
    lanes_t first_lane, operand_bits, swap_bits;
    logic [3:0] stores;
    all_t storing, last_storing, stored_bits;
    always_comb begin
      {operand_bits, swap_bits, storing, last_storing, stored_bits} = '0;
      for (int l = 0; l < LANES; l++) first_lane[l] = first_of_q[b][PARTS*l+:PARTS] != 0;
      for (int n = 0; n < 32; n++) begin
        for (int l = 0; l < LANES; l++) begin
          operand_bits[l] = first_lane[l] && then_data[0][l][n];
          swap_bits[l] = first_lane[l] && then_data[1][l][n];
        end
        operand[n] = operand_bits != 0;
        swap[n] = swap_bits != 0;
      end
      for (int n = 0; n < 4; n++) begin
        // Of several lanes that store a byte, the last one does.
        for (int i = 0; i < ALL; i++) storing[i] = of_bank_q[b][i] && then_memory.store && touched[i/PARTS][i%PARTS][n];
        stores[n] = storing != 0;
        last_storing = highest_part(storing);
        for (int m = 8 * n; m < 8 * n + 8; m++) begin
          for (int i = 0; i < ALL; i++) stored_bits[i] = last_storing[i] && placed[i/PARTS][i%PARTS][m];
          stored[m] = stored_bits != 0;
        end
      end
      new_word[b] = old_word[b];
      for (int n = 0; n < 4; n++) if (stores[n]) new_word[b][8*n+:8] = stored[8*n+:8];
      if (then_memory.atomic) new_word[b] = atomic_result(then_memory.atomic_op, old_word[b], operand, swap);
    end
  end

  // The bytes that each lane receives.
  logic [PARTS-1:0][31:0] got;
  logic [PARTS-1:0][3:0] got_bytes;
  logic [BANK_INDEX_BITS-1:0] got_bank;
  always_comb begin
    got = '0;
    got_bytes = '0;
    got_bank = '0;
    for (int l = 0; l < LANES; l++) begin
      for (int k = 0; k < PARTS; k++) begin
        got_bank = BANK_INDEX_BITS'(then_address[l] >> 2) + BANK_INDEX_BITS'(unsigned'(k));
        got[k] = old_word[got_bank];
        got_bytes[k] = served_q[l][k] && valid_q ? touched[l][k] : '0;
      end
      got = got >> {then_address[l][1:0], 3'd0};
      got_bytes = got_bytes >> then_address[l][1:0];
      read_row[0][l] = got[0];
      read_row[1][l] = got[1];
      read_bytes[l] = got_bytes[1:0];
    end
  end

  // The rows of a workgroup that arrives.
  logic writes;
  assign writes = valid_q && (then_memory.store || then_memory.atomic);
  logic [ROWS-1:0] fresh;
  bank_row_t start_end;
  assign start_end = base_q[start_group] + part_rows_q;
  always_comb begin
    fresh = '0;
    if (start)
      for (int r = 0; r < ROWS; r++)
        fresh[r] = bank_row_t'(r) >= base_q[start_group] && bank_row_t'(r) < start_end;
  end
  for (genvar b = 0; b < LOCAL_BANKS; b++) begin : gen_bank
    logic [ROWS-1:0] written_q;
    logic bank_writes, again, again_q;  // the word of the pass before
    logic [31:0] bank_word, written_word_q;
    assign bank_writes = writes && serves_q[b];
    assign again = bank_writes && row[b] == row_q[b];
    sram #(.WORDS(ROWS), .WIDTH(32)) u_words (
        .clk, .rst_n, .read(valid && serves[b] && !again), .read_at(row[b]), .read_word(bank_word),
        .write(bank_writes), .write_at(row_q[b]), .write_mask(1'b1), .write_word(new_word[b]));
    assign old_word[b] = !serves_q[b] || !written_q[row_q[b]] ? {4{LOCAL_POISON}} : again_q ? written_word_q : bank_word;
    always_ff @(posedge clk) begin
      again_q <= again;
      written_word_q <= new_word[b];
      if (start && !`BUG(143)) written_q <= written_q & ~fresh;
      if (bank_writes) written_q[row_q[b]] <= 1'b1;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!start || !valid_q || then_base_q >= start_end || then_base_q < base_q[start_group] || part_rows_q == 0)
      else $error("a pass in the part of a workgroup that arrives");
      assert (!valid || mask == 0 || served != 0) else $error("a pass of local memory serves nothing");
    end
  // What coverage counts.
  `EVENT(local_conflict, valid && !last)
  `EVENT(local_writes, writes)
  `EVENT(local_writes_while_read, writes && valid)
  `EVENT(local_part_of_a_later_workgroup, valid && group != 0)
  `EVENT(local_arrival_while_others_access, start && valid)
  `EVENT(local_last_row, valid && serves[0] && row[0] == start_end - 1'b1)
endmodule
