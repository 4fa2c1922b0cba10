// Tags of the instructions in the units of a class, in the order of their entry. A class gives its results in the order
// of their operations, so the tag of the oldest is that of the next result. When it is due follows from the latency, so
// that it is known a cycle ahead.
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
    input  logic    due,               // by the unit
    output result_t oldest,            // a register: valid if its result is due
    output result_t soon               // valid if it is due in the next cycle
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

  // Bit i: a result is due in i + 1 cycles.
  logic [LATENCY-2:0] coming_q;
  result_t oldest_q;
  assign oldest = oldest_q;
  always_comb begin
    soon = tag_q[first_q];
    soon.valid = coming_q[0];
  end
  always_ff @(posedge clk) begin
    coming_q <= (LATENCY-1)'({enters, coming_q} >> 1);
    oldest_q <= soon;
    if (enters) begin
      tag_q[next_q] <= tag;
      next_q <= after(next_q);
    end
    if (soon.valid) first_q <= after(first_q);
    count_q <= count_q + (INDEX_BITS+1)'(enters) - (INDEX_BITS+1)'(soon.valid);
    assert (!rst_n || due == oldest_q.valid) else $error("the result of an operation comes in another cycle than it is due");
    assert (!rst_n || !soon.valid || count_q != 0) else $error("a result without an instruction");
    assert (!rst_n || !enters || soon.valid || int'(count_q) < ENTRIES) else $error("more instructions than the units have");
    if (!rst_n) begin
      coming_q <= '0;
      oldest_q <= '0;
      first_q <= '0;
      next_q <= '0;
      count_q <= '0;
    end
  end
endmodule
