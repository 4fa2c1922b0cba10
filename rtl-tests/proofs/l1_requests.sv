// Proves: requests leave in the order in which they came, those of a reply before the access's, each with what was
//   written
//   into it a cycle later; none is lost; the queue does not overflow while no more come than `room` says
// Method: induction 1, bounded 10
// Mutant: l1_requests.sv | if (sends) queue_q[at(first_q, count_q + added)] <= sent; | if (sends) queue_q[at(first_q,
//   count_q)] <= sent;
// Mutant: l1_requests.sv | if (then_changes && then_at_q == first_q) begin | if (1'b0) begin
// Mutant: l1_requests.sv | then_at_q <= at(first_q, count_q + added); | then_at_q <= at(first_q, count_q);
module prove_l1_requests
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input logic     clk,
    input logic     rst_n,
    input logic [MERGES-1:0] writes,
    input request_t [MERGES-1:0] writes_what,
    input logic     sends,
    input request_t sent,
    input logic     then_changes,
    input bytes_t   then_mask,
    input data_t    then_data,
    input logic     request_taken
);
  request_t write[MERGES];
  request_count_t room;
  logic request_valid;
  request_t request;
  always_comb for (int m = 0; m < MERGES; m++) write[m] = writes_what[m];
  l1_requests dut (.*);

  // The queue as a list, oldest first. The last entry came a cycle ago if `sent_q`.
  request_t [REQUESTS-1:0] list_q, list, changed;
  int length_q, length, last;
  logic sent_q;
  always_comb begin
    changed = list_q;
    last = length_q - 1;
    if (then_changes && length_q > 0) begin
      changed[last].byte_mask = then_mask;
      changed[last].data = then_data;
    end
    list = changed;
    length = length_q;
    if (request_taken) begin
      list = changed >> $bits(request_t);
      length = length - 1;
    end
    for (int m = 0; m < MERGES; m++)
      if (writes[m]) begin
        for (int i = 0; i < REQUESTS; i++) if (i == length) list[i] = writes_what[m];
        length = length + 1;
      end
    if (sends) begin
      for (int i = 0; i < REQUESTS; i++) if (i == length) list[i] = sent;
      length = length + 1;
    end
  end
  always_ff @(posedge clk) begin
    list_q <= list;
    length_q <= rst_n ? length : 0;
    sent_q <= rst_n && sends;
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      assume ($countones(writes) + int'(sends) <= int'(room));
      assume (!request_taken || request_valid);
      assume (!then_changes || sent_q);
      assert (int'(room) == REQUESTS - length_q);
      assert (request_valid == (length_q > 0));
      assert (!request_valid || request == changed[0]);
      // What makes the induction go.
      assert (length_q >= 0 && length_q <= REQUESTS && int'(dut.count_q) == length_q && int'(dut.first_q) < REQUESTS);
      assert (!sent_q || (length_q > 0 && int'(dut.then_at_q) == (int'(dut.first_q) + last) % REQUESTS));
      for (int i = 0; i < REQUESTS; i++)
        assert (i >= length_q || dut.queue_q[(int'(dut.first_q) + i) % REQUESTS] == list_q[i]);
      cover (length_q == REQUESTS && request_taken && then_changes);
      cover ($countones(writes) == 2);
    end
endmodule
