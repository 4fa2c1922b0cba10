// The core's port to the memory side (docs/memory.md, M6; pipeline rules F4, B6). Code goes first, then releases, then
// the L1. A packet holds the port for its bytes.
`include "bugs.svh"
`include "events.svh"
module memory_port
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  logic     credit,          // the link takes a packet
    input  logic     code_valid,
    input  logic [30:0] code_line,
    output logic     code_taken,
    input  logic     release_valid,
    output logic     release_taken,
    input  logic     l1_valid,
    input  request_t l1_request,
    output logic     l1_taken,
    output logic     send,
    output request_t request
);
  localparam int HEADER_BYTES = 8;
  localparam int LONG = (HEADER_BYTES + L1_SECTOR_BYTES + INTERCONNECT_PORT_BYTES_PER_CYCLE - 1)
      / INTERCONNECT_PORT_BYTES_PER_CYCLE;
  localparam int SHORT = (HEADER_BYTES + INTERCONNECT_PORT_BYTES_PER_CYCLE - 1) / INTERCONNECT_PORT_BYTES_PER_CYCLE;
  logic [7:0] busy_q;
  logic ready;
  assign ready = busy_q == 0 && credit;
  assign code_taken = code_valid && ready && !(`BUG(158) && l1_valid);
  assign release_taken = release_valid && ready && !code_valid;
  assign l1_taken = l1_valid && ready && (!code_valid || `BUG(158)) && !release_valid;
  assign send = code_taken || release_taken || l1_taken;
  always_comb begin
    request = l1_request;
    if (code_valid && !(`BUG(158) && l1_valid)) begin
      request = '0;
      request.kind = REQUEST_READ;
      request.tag = 32'(code_line);
      request.tag[ICACHE_TAG_BIT] = 1'b1;
      request.code = 1'b1;
      request.line = 32'(code_line) << LINE_SHIFT;
    end else if (release_valid) begin
      request = '0;
      request.kind = REQUEST_RELEASE;
    end
  end
  logic long;
  assign long = (request.kind == REQUEST_WRITE || (request.kind == REQUEST_ATOMIC && !`BUG(227))) && (request.byte_mask != 0 || `BUG(226));
  always_ff @(posedge clk) begin
    if (send) busy_q <= 8'((long && !`BUG(157) ? LONG : SHORT) - 1);
    else if (busy_q != 0) busy_q <= busy_q - 1'b1;
    if (!rst_n) busy_q <= '0;
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert ($onehot0({code_taken, release_taken, l1_taken})) else $error("two packets leave at once");
      assert (!send || credit) else $error("a packet leaves without a credit");
    end
  // What coverage counts.
  `EVENT(port_no_credit, (code_valid || release_valid || l1_valid) && !credit)
  `EVENT(port_held, (code_valid || release_valid || l1_valid) && busy_q != 0)
  `EVENT(port_code_before_release, code_valid && release_valid)
  `EVENT(port_code_before_l1, code_taken && l1_valid)
  `EVENT(port_release_before_l1, release_taken && l1_valid)
  `EVENT(port_three_at_once, code_valid && release_valid && l1_valid)
  `EVENT(port_long, send && long)
  `EVENT(port_atomic, send && request.kind == REQUEST_ATOMIC)
  `EVENT(port_write_of_nothing, send && request.kind == REQUEST_WRITE && request.byte_mask == 0)
endmodule
