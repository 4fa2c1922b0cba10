// A shift register: out is in CYCLES clocks ago. With CYCLES <= 0 it is a wire.
module unit_delay #(
    parameter int WIDTH = 1,
    parameter int CYCLES = 1
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
  if (CYCLES <= 0) begin : g_wire
    logic unused;
    assign unused = clk ^ rst_n;
    assign out = in;
  end else begin : g_stages
    logic [CYCLES-1:0][WIDTH-1:0] stages;
    // One assignment, because Verilator 5.006 miscompiles a loop of more than 64 iterations.
    always_ff @(posedge clk)
      if (!rst_n) stages <= '0;
      else stages <= (CYCLES * WIDTH)'({stages, in});
    assign out = stages[CYCLES-1];
  end
endmodule
