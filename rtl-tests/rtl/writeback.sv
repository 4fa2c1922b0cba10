// Write-back (rules X3, W1, W2): the result that has reserved this cycle's port, else a row of the oldest complete
// load.
`include "bugs.svh"
module writeback
  import wave_core_pkg::*;
(
    input  result_t result[CLASSES],
    input  row_t    result_row[CLASSES],
    input  logic [REGISTERS_BANKS-1:0] reserved,
    input  logic    return_valid,
    input  slot_t   return_slot,
    input  reg_t    return_register,
    input  lanes_t  return_mask,
    input  row_t    return_row,
    output logic    return_taken,
    output logic    write,
    output slot_t   write_slot,
    output reg_t    write_register,
    output lanes_t  write_mask,
    output row_t    write_row
);
  assign return_taken = return_valid && !reserved[bank_of(return_register, return_slot)]
      && ($countones(reserved) < REGISTERS_WRITE_PORTS || `BUG(135));
  always_comb begin
    write = return_taken;
    write_slot = return_slot;
    write_register = return_register;
    write_mask = `BUG(229) ? '1 : return_mask;
    write_row = return_row;
    for (int c = 0; c < CLASSES; c++)
      if (result[c].valid && result[c].rows != 0) begin
        write = 1'b1;
        write_slot = result[c].slot;
        write_register = result[c].rd;
        write_mask = result[c].mask;
        write_row = result_row[c];
      end
  end
endmodule
