// Register banks (rule O1): register r of slot s lies in bank (r + s) mod banks, and each bank reads one row a cycle. A
// register not written since its wave started has its initial value.
//
// The banks are memories with clocks: a row comes in the cycle after its read. No read meets a write of its row, because
// the scoreboard lets no instruction issue that would read a register with a write outstanding (rule I5), and its wave
// issues nothing else until it has read its operands (rule I4).
//
// The launch's register count divides the rows: each slot has that many, directly behind the previous slot's. As many
// waves are resident as fit, in the lowest slots (rule R2).
`include "bugs.svh"
`include "events.svh"
module register_file
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  slots_t  started,
    input  logic [8:0] registers,      // of a lane
    input  logic [MAX_REGISTERS-1:0] initial_valid,
    input  logic [MAX_REGISTERS-1:0][31:0] initial_value,
    input  logic    read[REGISTERS_BANKS],
    input  slot_t   read_slot[REGISTERS_BANKS],
    input  reg_t    read_register[REGISTERS_BANKS],
    output row_t    read_row[REGISTERS_BANKS],     // in the next cycle
    input  logic    write,
    input  slot_t   write_slot,
    input  reg_t    write_register,
    input  lanes_t  write_mask,
    input  row_t    write_row
);
  localparam int BANK_ROWS = REGISTER_FILE_BYTES / (4 * WAVE_WIDTH * REGISTERS_BANKS) * MAX_WAVES / FULL_WAVES;
  typedef logic [$clog2(BANK_ROWS)-1:0] place_t;
  logic [MAX_REGISTERS-1:0] written_q[MAX_WAVES];

  function automatic logic [31:0] initial_of(input logic valid, input logic [31:0] value);
    return valid ? value : 32'd0;
  endfunction

  // Rows of a bank that belong to earlier slots: one per slot for each full set of banks, and one for each remaining
  // register that lies in the bank.
  function automatic place_t rows_before(input logic [BANK_BITS-1:0] bank, input slot_t slot);
    logic [BANK_BITS-1:0] first, remaining;
    rows_before = place_t'(slot) * place_t'(registers >> BANK_BITS);
    for (int r = 0; r < REGISTERS_BANKS - 1; r++) begin
      // Slots first, first + banks, … have their remaining register r in this bank.
      remaining = BANK_BITS'(unsigned'(r));
      first = bank - remaining;
      if (remaining < registers[BANK_BITS-1:0] && !`BUG(162))
        rows_before += place_t'((int'(slot) + REGISTERS_BANKS - 1 - int'(first)) >> BANK_BITS);
    end
  endfunction

  function automatic place_t place_of(input logic [BANK_BITS-1:0] bank, input slot_t slot, input reg_t index);
    return rows_before(bank, slot) + place_t'(index[REG_BITS-1:BANK_BITS]);
  endfunction

  place_t write_place;
  assign write_place = place_of(bank_of(write_register, write_slot), write_slot, write_register);

  // The first write of a register gives the other lanes their initial value.
  logic [31:0] fresh;
  logic fresh_write;
  lanes_t lanes_written;
  row_t lanes_row;
  assign fresh_write = !written_q[write_slot][write_register] && !`BUG(161);
  assign fresh = initial_of(initial_valid[write_register], initial_value[write_register]);
  assign lanes_written = write_mask | {LANES{fresh_write}};
  always_comb for (int l = 0; l < LANES; l++) lanes_row[l] = write_mask[l] ? write_row[l] : fresh;

  for (genvar b = 0; b < REGISTERS_BANKS; b++) begin : gen_bank
    logic [31:0] value_q;
    logic written_then_q;              // whether the row that was read has been written
    row_t bank_row;
    sram #(.WORDS(BANK_ROWS), .WIDTH(32 * LANES), .PARTS(LANES)) u_rows (
        .clk, .rst_n, .read(read[b]), .read_at(place_of(BANK_BITS'(b), read_slot[b], read_register[b])),
        .read_word(bank_row), .write(write && int'(bank_of(write_register, write_slot)) == b),
        .write_at(write_place), .write_mask(lanes_written), .write_word(lanes_row));
    always_ff @(posedge clk) begin
      written_then_q <= written_q[read_slot[b]][read_register[b]];
      value_q <= initial_of(initial_valid[read_register[b]], initial_value[read_register[b]]);
    end
    assign read_row[b] = written_then_q ? bank_row : {LANES{value_q}};
  end

  always_ff @(posedge clk) begin
    if (write) written_q[write_slot][write_register] <= 1'b1;
    for (int w = 0; w < MAX_WAVES; w++) if (started[w] && !`BUG(160)) written_q[w] <= '0;
  end
  // What coverage counts.
  `EVENT(register_written_first, write && fresh_write)
  `EVENT(register_written_first_in_part, write && fresh_write && write_mask != '1)
  `EVENT(register_written_in_part, write && !fresh_write && write_mask != '1)
  `EVENT(register_last_written, write && int'(write_register) == MAX_REGISTERS - 1)
  `EVENT(register_bank_read_and_written, write && read[bank_of(write_register, write_slot)])
  `EVENT(register_read_unwritten, read[0] && !written_q[read_slot[0]][read_register[0]])
endmodule
