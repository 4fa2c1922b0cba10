// The row of a special register, as the result of mov_sr: two cycles, each with one division of the thread's number.
`include "bugs.svh"
module special_registers
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  launch_t launch,
    input  logic [7:0] code,
    input  logic [SLOT_BITS-1:0] wave_id,
    input  logic [2:0][31:0] group_id,
    output row_t    row                // two clocks later
);
  // Sizes of a workgroup are small: ten bits hold them.
  typedef logic [9:0] small_t;
  small_t size_x, size_y;
  assign size_x = small_t'(launch.workgroup_size[0]);
  assign size_y = small_t'(launch.workgroup_size[1]);

  logic [31:0] uniform_value;
  always_comb begin
    case (code)
      SR_WAVE_ID: uniform_value = 32'(wave_id);
      SR_WORKGROUP_ID_X: uniform_value = group_id[0];
      SR_WORKGROUP_ID_Y: uniform_value = group_id[1];
      SR_WORKGROUP_ID_Z: uniform_value = group_id[2];
      SR_WORKGROUP_SIZE_X: uniform_value = launch.workgroup_size[0];
      SR_WORKGROUP_SIZE_Y: uniform_value = launch.workgroup_size[1];
      SR_WORKGROUP_SIZE_Z: uniform_value = launch.workgroup_size[2];
      SR_GRID_SIZE_X: uniform_value = launch.grid_size[0];
      SR_GRID_SIZE_Y: uniform_value = launch.grid_size[1];
      SR_GRID_SIZE_Z: uniform_value = launch.grid_size[2];
      SR_WAVE_WIDTH: uniform_value = unsigned'(LANES);
      SR_NUM_WAVES: uniform_value = `BUG(231) ? launch.resident : launch.waves;
      // No matrix instructions, so mma_supported, m, n and k are 0.
      default: uniform_value = '0;
    endcase
  end

  function automatic small_t divided(input small_t number, input logic [RECIPROCAL_BITS:0] reciprocal);
    localparam int PRODUCT_BITS = $bits(small_t) + RECIPROCAL_BITS + 1;
    return small_t'((PRODUCT_BITS'(number) * PRODUCT_BITS'(reciprocal)) >> RECIPROCAL_BITS);
  endfunction

  // The first cycle: what all lanes share, and each thread's line of the workgroup.
  small_t [LANES-1:0] thread, line, thread_q, line_q;
  logic [31:0] uniform_q;
  logic [7:0] code_q;
  always_comb
    for (int l = 0; l < LANES; l++) begin
      thread[l] = small_t'({wave_id, LANE_BITS'(unsigned'(l))});
      line[l] = divided(thread[l], launch.reciprocal[0]);
    end
  always_ff @(posedge clk) begin
    uniform_q <= uniform_value;
    code_q <= code;
    thread_q <= thread;
    line_q <= line;
  end

  // The second cycle: the thread's place in its line, and the line's.
  small_t x, y, z;
  row_t row_d;
  always_comb begin
    {x, y, z} = '0;
    for (int l = 0; l < LANES; l++) begin
      x = thread_q[l] - line_q[l] * size_x;
      z = divided(line_q[l], launch.reciprocal[1]);
      y = `BUG(230) ? line_q[l] : line_q[l] - z * size_y;
      case (code_q)
        SR_THREAD_ID_X: row_d[l] = 32'(x);
        SR_THREAD_ID_Y: row_d[l] = 32'(y);
        SR_THREAD_ID_Z: row_d[l] = 32'(z);
        SR_LANE_ID: row_d[l] = unsigned'(l);
        default: row_d[l] = uniform_q;
      endcase
    end
  end
  always_ff @(posedge clk) row <= row_d;
endmodule
