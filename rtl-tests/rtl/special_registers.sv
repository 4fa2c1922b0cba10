// The row of a special register, as the result of mov_sr.
module special_registers
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  launch_t launch,
    input  logic    valid,
    input  logic [7:0] code,
    input  logic [SLOT_BITS-1:0] wave_id,
    input  logic [2:0][31:0] group_id,
    output row_t    row
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
      SR_NUM_WAVES: uniform_value = launch.waves;
      // No matrix instructions, so mma_supported, m, n and k are 0.
      default: uniform_value = '0;
    endcase
  end

  function automatic small_t divided(input small_t number, input logic [RECIPROCAL_BITS:0] reciprocal);
    localparam int PRODUCT_BITS = $bits(small_t) + RECIPROCAL_BITS + 1;
    return small_t'((PRODUCT_BITS'(number) * PRODUCT_BITS'(reciprocal)) >> RECIPROCAL_BITS);
  endfunction

  small_t thread, line, x, y, z;
  always_comb begin
    {thread, line, x, y, z} = '0;
    row = {LANES{uniform_value}};
    if (valid && code inside {SR_THREAD_ID_X, SR_THREAD_ID_Y, SR_THREAD_ID_Z, SR_LANE_ID}) begin
      for (int l = 0; l < LANES; l++) begin
        thread = small_t'(int'(wave_id) * LANES + l);
        line = divided(thread, launch.reciprocal[0]);
        x = thread - line * size_x;
        z = divided(line, launch.reciprocal[1]);
        y = line - z * size_y;
        case (code)
          SR_THREAD_ID_X: row[l] = 32'(x);
          SR_THREAD_ID_Y: row[l] = 32'(y);
          SR_THREAD_ID_Z: row[l] = 32'(z);
          default: row[l] = unsigned'(l);
        endcase
      end
    end
  end
endmodule
