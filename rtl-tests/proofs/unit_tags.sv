// Proves: a tag comes out exactly LATENCY cycles after its operation, in order, and a cycle ahead as `soon`;
//   no tag is lost or invented
// Parameters: LATENCY=2 INTERVAL=1
// Parameters: LATENCY=9 INTERVAL=4
// Parameters: LATENCY=34 INTERVAL=33
// Method: induction 1, bounded 40, quick
// Mutant: unit_tags.sv | next_q <= after(next_q); | next_q <= soon.valid ? next_q : after(next_q);
// Mutant: unit_tags.sv | if (soon.valid) first_q <= after(first_q); | if (soon.valid && !enters) first_q <=
//   after(first_q);
// Mutant: unit_tags.sv | {enters, coming_q} >> 1 | {enters, coming_q} >> 2 | LATENCY=9

// The units of a class: they say that a result is due, LATENCY cycles after its operation.
module prove_unit_tags
  import wave_core_pkg::*;
#(
    parameter int LATENCY = 2,
    parameter int INTERVAL = 1
) (
    input logic    clk,
    input logic    rst_n,
    input logic    enters,
    input result_t tag
);
  logic due;
  result_t oldest, soon;
  unit_tags #(.LATENCY(LATENCY), .INTERVAL(INTERVAL)) dut (.clk, .rst_n, .enters, .tag, .due, .oldest, .soon);

  // What entered i + 1 cycles ago.
  logic    [LATENCY-1:0] entered_q;
  result_t [LATENCY-1:0] tag_q;
  always_ff @(posedge clk) begin
    entered_q <= rst_n ? LATENCY'({entered_q, enters}) : '0;
    tag_q <= {tag_q[LATENCY-2:0], tag};
  end
  assign due = entered_q[LATENCY-1];
  // The same tag with its valid bit as it comes out.
  function automatic result_t valid(input result_t t);
    valid = t;
    valid.valid = 1'b1;
  endfunction

  logic recent;                  // an operation entered less than INTERVAL cycles ago
  always_comb begin
    recent = 1'b0;
    for (int i = 0; i < INTERVAL - 1; i++) recent = recent || entered_q[i];
  end

  function automatic int wrapped(input int index);
    return index >= dut.ENTRIES ? index - dut.ENTRIES : index;
  endfunction
  // Where the queue has to have the operation that entered i + 1 cycles ago: behind the older ones.
  int place[LATENCY], older, spaced;
  always_comb begin
    older = 0;
    for (int i = LATENCY - 1; i >= 0; i--) begin
      place[i] = wrapped(int'(dut.first_q) + older);
      if (i < LATENCY - 1 && entered_q[i]) older = older + 1;
    end
    // Operations are INTERVAL cycles apart.
    spaced = 1;
    for (int i = 0; i < LATENCY; i++)
      for (int j = i + 1; j < LATENCY; j++)
        if (j - i < INTERVAL && entered_q[i] && entered_q[j]) spaced = 0;
  end

  always_ff @(posedge clk)
    if (rst_n) begin
      assume (!enters || !recent);
      assert (oldest.valid == due);
      assert (!due || oldest == valid(tag_q[LATENCY-1]));
      assert (soon.valid == entered_q[LATENCY-2]);
      assert (!soon.valid || soon == valid(tag_q[LATENCY-2]));
      // What makes the induction go: the queue has the operations on their way.
      assert (spaced == 1);
      assert (int'(dut.count_q) == older);
      assert (int'(dut.first_q) < dut.ENTRIES && int'(dut.next_q) == wrapped(int'(dut.first_q) + older));
      for (int i = 0; i < LATENCY - 1; i++) begin
        assert (dut.coming_q[i] == entered_q[LATENCY-2-i]);
        assert (!entered_q[i] || dut.tag_q[place[i]] == tag_q[i]);
      end
      cover (due && enters);
    end
endmodule
