// Requests of the L1 that wait for the port. Those of a reply come before the access's.
module l1_requests
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  logic [MERGES-1:0] writes,
    input  request_t write[MERGES],
    input  logic     sends,
    input  request_t sent,
    output int       room,             // before these
    output logic     request_valid,
    output request_t request,
    input  logic     request_taken
);
  localparam int ENTRIES = INTERCONNECT_QUEUE_ENTRIES > 2 ? INTERCONNECT_QUEUE_ENTRIES : 2;
  localparam int INDEX_BITS = $clog2(ENTRIES);
  request_t queue_q[ENTRIES];
  logic [INDEX_BITS-1:0] first_q;
  logic [INDEX_BITS:0] count_q;
  assign request_valid = count_q != 0;
  assign request = queue_q[first_q];
  assign room = ENTRIES - int'(count_q);

  function automatic logic [INDEX_BITS-1:0] at(input int offset);
    return INDEX_BITS'((int'(first_q) + int'(count_q) + offset) % ENTRIES);
  endfunction

  always_ff @(posedge clk) begin
    for (int m = 0; m < MERGES; m++) if (writes[m]) queue_q[at(m == 0 || !writes[0] ? 0 : 1)] <= write[m];
    if (sends) queue_q[at($countones(writes))] <= sent;
    count_q <= (INDEX_BITS + 1)'(int'(count_q) + $countones(writes) + int'(sends) - int'(request_taken));
    if (request_taken) first_q <= INDEX_BITS'((int'(first_q) + 1) % ENTRIES);
    if (!rst_n) begin
      first_q <= '0;
      count_q <= '0;
    end
  end
endmodule
