// Tags of the instructions in the units of a class, in the order of their entry. A class gives its results in the order
// of their operations, so the tag of the oldest is that of the result that is due.
module unit_tags
  import wave_core_pkg::*;
#(
    parameter int LATENCY = 2,         // cycles from an operation to its result
    parameter int INTERVAL = 1         // cycles between two operations
) (
    input  logic    clk,
    input  logic    rst_n,
    input  logic    enters,
    input  result_t tag,
    input  logic    due,
    output result_t oldest             // valid if its result is due
);
  // Operations on their way, when one enters in the cycle of a result.
  localparam int ENTRIES = LATENCY / INTERVAL + 1;
  localparam int INDEX_BITS = $clog2(ENTRIES);
  typedef logic [INDEX_BITS-1:0] index_t;
  result_t tag_q[ENTRIES];
  index_t  first_q, next_q;
  logic [INDEX_BITS:0] count_q;

  function automatic index_t after(input index_t index);
    return index == index_t'(ENTRIES - 1) ? '0 : index + 1'b1;
  endfunction

  always_comb begin
    oldest = tag_q[first_q];
    oldest.valid = due;
  end
  always_ff @(posedge clk) begin
    if (enters) begin
      tag_q[next_q] <= tag;
      next_q <= after(next_q);
    end
    if (due) first_q <= after(first_q);
    count_q <= count_q + (INDEX_BITS+1)'(enters) - (INDEX_BITS+1)'(due);
    assert (!rst_n || !due || count_q != 0) else $error("a result without an instruction");
    assert (!rst_n || !enters || due || int'(count_q) < ENTRIES) else $error("more instructions than the units have");
    if (!rst_n) begin
      first_q <= '0;
      next_q <= '0;
      count_q <= '0;
    end
  end
endmodule
