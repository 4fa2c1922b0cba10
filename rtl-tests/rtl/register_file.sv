// Register banks (rule O1): register r of slot s lies in bank (r + s) mod banks; each reads one row a cycle. A register
// that was not written since its wave started has its initial value.
`include "bugs.svh"
module register_file
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  slots_t  started,
    input  logic [MAX_REGISTERS-1:0] initial_valid,
    input  logic [MAX_REGISTERS-1:0][31:0] initial_value,
    input  slot_t   read_slot[REGISTERS_BANKS],
    input  reg_t    read_register[REGISTERS_BANKS],
    output row_t    read_row[REGISTERS_BANKS],
    input  logic    write,
    input  slot_t   write_slot,
    input  reg_t    write_register,
    input  lanes_t  write_mask,
    input  row_t    write_row
);
  localparam int ROW_BITS = REG_BITS - BANK_BITS;
  logic [MAX_REGISTERS-1:0] written_q[MAX_WAVES];

  function automatic logic [31:0] initial_of(input logic valid, input logic [31:0] value);
    return valid ? value : 32'd0;
  endfunction

  logic [31:0] fresh;
  logic fresh_write;
  assign fresh_write = !written_q[write_slot][write_register];
  assign fresh = initial_of(initial_valid[write_register], initial_value[write_register]);

  for (genvar b = 0; b < REGISTERS_BANKS; b++) begin : gen_bank
    row_t rows_q[MAX_WAVES << ROW_BITS];
    logic [31:0] value;
    assign value = initial_of(initial_valid[read_register[b]], initial_value[read_register[b]]);
    assign read_row[b] = written_q[read_slot[b]][read_register[b]]
        ? rows_q[{read_slot[b], read_register[b][REG_BITS-1:BANK_BITS]}] : {LANES{value}};
    always_ff @(posedge clk)
      if (write && int'(bank_of(write_register, write_slot)) == b)
        for (int l = 0; l < LANES; l++)
          if (write_mask[l]) rows_q[{write_slot, write_register[REG_BITS-1:BANK_BITS]}][l] <= write_row[l];
          else if (fresh_write && !`BUG(161)) rows_q[{write_slot, write_register[REG_BITS-1:BANK_BITS]}][l] <= fresh;
  end

  always_ff @(posedge clk) begin
    if (write) written_q[write_slot][write_register] <= 1'b1;
    for (int w = 0; w < MAX_WAVES; w++) if (started[w] && !`BUG(160)) written_q[w] <= '0;
  end
endmodule
