// Requests of the L1 that wait for the port. Those of a reply come before the access's.
`include "events.svh"
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
    // What the request that was sent in the cycle before writes, if it was not known then.
    input  logic     then_changes,
    input  bytes_t   then_mask,
    input  data_t    then_data,
    output request_count_t room,       // before these
    output logic     request_valid,
    output request_t request,
    input  logic     request_taken
);
  typedef logic [$clog2(REQUESTS)-1:0] index_t;
  request_t queue_q[REQUESTS];
  index_t first_q;
  request_count_t count_q, added;
  assign request_valid = count_q != 0;
  index_t then_at_q;
  always_comb begin
    request = queue_q[first_q];
    if (then_changes && then_at_q == first_q) begin
      request.byte_mask = then_mask;
      request.data = then_data;
    end
  end
  assign room = request_count_t'(REQUESTS) - count_q;

  // The place that many behind the first. There are fewer of them than places.
  function automatic index_t at(input index_t first, input request_count_t offset);
    request_count_t to_the_end;
    to_the_end = request_count_t'(REQUESTS) - request_count_t'(first);
    return offset >= to_the_end ? index_t'(offset - to_the_end) : first + index_t'(offset);
  endfunction

  // Each write goes behind those before it.
  request_count_t behind[MERGES];
  always_comb begin
    added = '0;
    for (int m = 0; m < MERGES; m++) begin
      behind[m] = added;
      added = added + request_count_t'(writes[m]);
    end
  end
  always_ff @(posedge clk) begin
    for (int m = 0; m < MERGES; m++) if (writes[m]) queue_q[at(first_q, count_q + behind[m])] <= write[m];
    if (then_changes) begin
      queue_q[then_at_q].byte_mask <= then_mask;
      queue_q[then_at_q].data <= then_data;
    end
    if (sends) queue_q[at(first_q, count_q + added)] <= sent;
    then_at_q <= at(first_q, count_q + added);
    count_q <= count_q + added + request_count_t'(sends) - request_count_t'(request_taken);
    if (request_taken) first_q <= at(first_q, request_count_t'(1));
    if (!rst_n) begin
      first_q <= '0;
      count_q <= '0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (int'(count_q) <= REQUESTS) else $error("more requests than places");
      assert (!request_taken || request_valid) else $error("a request is taken that is not there");
    end
  // What coverage counts.
  `EVENT(requests_full, int'(count_q) == REQUESTS)
  `EVENT(requests_of_a_reply, writes != 0)
  `EVENT(requests_of_both, writes != 0 && sends)
  `EVENT(requests_changed_as_it_leaves, then_changes && request_taken && then_at_q == first_q)
  `EVENT(requests_changed_behind_others, then_changes && then_at_q != first_q)
  `EVENT(requests_in_and_out, sends && request_taken)
endmodule
