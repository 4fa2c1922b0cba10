// Proves: at most one packet leaves, only with a credit and as its source has it; code goes before releases, releases
//   before
//   the L1; a packet leaves whenever the port is free; it holds the port for its bytes, and no longer
// Method: induction 1, bounded 8, quick
// Mutant: 157
// Mutant: 158
// Mutant: memory_port.sv | assign ready = busy_q == 0 && credit; | assign ready = busy_q == 0;
// Mutant: memory_port.sv | && (!code_valid || `BUG(158)) && !release_valid; | && (!code_valid || `BUG(158));
module prove_memory_port
  import wave_core_pkg::*;
(
    input logic     clk,
    input logic     rst_n,
    input logic     credit,
    input logic     code_valid,
    input logic [30:0] code_line,
    input logic     release_valid,
    input logic     l1_valid,
    input request_t l1_request
);
  logic code_taken, release_taken, l1_taken, send;
  request_t request;
  memory_port dut (.*);

  // Bytes of the packet that has left last which are still to be sent.
  int left_q, bytes;
  always_comb begin
    bytes = 8;
    if (request.kind inside {REQUEST_WRITE, REQUEST_ATOMIC} && request.byte_mask != 0) bytes = 8 + L1_SECTOR_BYTES;
  end
  always_ff @(posedge clk)
    if (!rst_n) left_q <= 0;
    else if (send) left_q <= bytes - INTERCONNECT_PORT_BYTES_PER_CYCLE;
    else if (left_q > 0) left_q <= left_q - INTERCONNECT_PORT_BYTES_PER_CYCLE;

  always_ff @(posedge clk)
    if (rst_n) begin
      assert (32'(code_taken) + 32'(release_taken) + 32'(l1_taken) == 32'(send));
      assert (!code_taken || (code_valid && request.kind == REQUEST_READ && request.code
          && request.tag[30:0] == code_line
          && request.tag[ICACHE_TAG_BIT] && request.line == {code_line[26:0], 5'd0}));
      assert (!release_taken || (release_valid && !code_valid && request.kind == REQUEST_RELEASE && !request.code));
      assert (!l1_taken || (l1_valid && !code_valid && !release_valid && request == l1_request));
      assert (send == (credit && left_q <= 0 && (code_valid || release_valid || l1_valid)));
      // What makes the induction go.
      assert (left_q > -INTERCONNECT_PORT_BYTES_PER_CYCLE && left_q <= 8 + L1_SECTOR_BYTES);
      assert (int'(dut.busy_q) * INTERCONNECT_PORT_BYTES_PER_CYCLE
          == (left_q <= 0 ? 0
              : INTERCONNECT_PORT_BYTES_PER_CYCLE * (1 + (left_q - 1) / INTERCONNECT_PORT_BYTES_PER_CYCLE)));
      cover (code_taken);
      cover (release_taken);
      cover (l1_taken && left_q < 0);
      cover (left_q > 0);
    end
endmodule
