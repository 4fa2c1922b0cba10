// A shift register: out is in CYCLES clocks ago; 0 and less is a wire.
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
    always_ff @(posedge clk) begin
      for (int i = 0; i < CYCLES; i++)
        if (!rst_n) stages[i] <= '0;
        else stages[i] <= i == 0 ? in : stages[i == 0 ? 0 : i-1];
    end
    assign out = stages[CYCLES-1];
  end
endmodule
