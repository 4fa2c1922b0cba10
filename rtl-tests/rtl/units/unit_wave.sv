// Class wave: operations across the lanes. Four stages, one operation per clock.
`include "bugs.svh"
module unit_wave
  import wave_isa_pkg::*;
#(
    parameter int LANES = 8,   // at most 32: a ballot is one row
    parameter int LATENCY = 4
) (
    input  logic                   clk,
    input  logic                   rst_n,
    input  logic                   valid,
    input  op_e                    op,
    input  logic [LANES-1:0][31:0] a,
    input  logic [LANES-1:0][31:0] b,
    input  logic [LANES-1:0]       mask,    // lanes that take part
    input  logic [LANES-1:0]       select,  // source predicate
    output logic                   out_valid,
    output logic [LANES-1:0][31:0] out_row,
    output logic [LANES-1:0]       out_pred
);
  localparam int BITS = $clog2(LANES);
  if (LATENCY < 4 || LANES > 32 || LANES != 1 << BITS) begin : g_check
    $error("unit_wave has 4 stages and a power of two up to 32 lanes");
  end

  // Stage 1: the value that each lane contributes, and the lane from which it reads.
  logic [LANES-1:0][31:0] source, broadcast;
  logic [LANES-1:0][31:0] source_1, a_1, values_1;
  op_e op_1, op_2, op_3;
  logic [LANES-1:0] votes_1, votes_2, votes_3;
  logic all_1, all_2, all_3;
  logic [31:0] leader, identity;
  always_comb begin
    leader = '0;
    for (int i = LANES - 1; i >= 0; i--) if (mask[i] || `BUG(24)) leader = b[i];
    broadcast = {LANES{leader}};
    for (int i = 0; i < LANES; i++)
      case (op)
        OP_WAVE_SHUFFLE_UP: source[i] = $unsigned(i) - b[i];
        OP_WAVE_SHUFFLE_DOWN: source[i] = $unsigned(i) + b[i];
        OP_WAVE_SHUFFLE_XOR: source[i] = $unsigned(i) ^ b[i];
        OP_WAVE_BROADCAST: source[i] = broadcast[i];
        default: source[i] = b[i];
      endcase
    identity = op inside {OP_WAVE_REDUCE_MIN, OP_WAVE_REDUCE_AND} ? '1 : '0;
  end
  always_ff @(posedge clk) begin
    op_1 <= op;
    a_1 <= a;
    source_1 <= source;
    votes_1 <= select & mask;
    all_1 <= (~select & mask) == 0;
    for (int i = 0; i < LANES; i++) values_1[i] <= mask[i] ? a[i] : identity;
  end

  function automatic logic [31:0] combine(input op_e o, input logic [31:0] x, input logic [31:0] y);
    case (o)
      OP_WAVE_REDUCE_MIN: return x < y ? x : y;
      OP_WAVE_REDUCE_MAX: return x > y ? x : y;
      OP_WAVE_REDUCE_AND: return x & y;
      OP_WAVE_REDUCE_OR: return x | y;
      OP_WAVE_REDUCE_XOR: return x ^ y;
      default: return x + y;
    endcase
  endfunction

  // Stages 2 and 3: inclusive prefixes by doubling, half of the steps each. The last lane's prefix is the reduction.
  // Stage 2 also reads the other lane.
  function automatic logic [LANES-1:0][31:0] scan(
      input op_e o, input logic [LANES-1:0][31:0] v, input int first, input int last);
    logic [LANES-1:0][31:0] sums, previous;
    sums = v;
    for (int step = first; step < last; step++) begin
      previous = sums;
      for (int i = 0; i < LANES; i++)
        if (i >= 1 << step) sums[i] = combine(o, previous[i], previous[i-(1<<step)]);
    end
    return sums;
  endfunction

  localparam int HALF = BITS / 2;
  logic [LANES-1:0][31:0] shuffled, shuffled_2, shuffled_3, sums_2, sums_3;
  always_comb
    for (int i = 0; i < LANES; i++)
      shuffled[i] = source_1[i] < $unsigned(LANES) || `BUG(25) ? a_1[source_1[i][BITS-1:0]] : '0;
  always_ff @(posedge clk) begin
    op_2 <= op_1;
    shuffled_2 <= shuffled;
    sums_2 <= scan(op_1, values_1, 0, HALF);
    votes_2 <= votes_1;
    all_2 <= all_1;
    op_3 <= op_2;
    shuffled_3 <= shuffled_2;
    sums_3 <= scan(op_2, sums_2, HALF, BITS);
    votes_3 <= votes_2;
    all_3 <= all_2;
  end

  // Stage 4: the result.
  logic [LANES-1:0][31:0] row;
  logic [LANES-1:0] pred;
  always_ff @(posedge clk) begin
    for (int i = 0; i < LANES; i++)
      case (op_3)
        OP_WAVE_BALLOT: row[i] <= 32'(votes_3);
        OP_WAVE_PREFIX_SUM: row[i] <= i == 0 && !`BUG(27) ? '0 : sums_3[i == 0 ? 0 : i-1];
        OP_WAVE_REDUCE_ADD, OP_WAVE_REDUCE_MIN, OP_WAVE_REDUCE_MAX, OP_WAVE_REDUCE_AND, OP_WAVE_REDUCE_OR,
        OP_WAVE_REDUCE_XOR:
        row[i] <= sums_3[LANES-1];
        default: row[i] <= shuffled_3[i];
      endcase
    pred <= {LANES{(`BUG(26) ? op_2 : op_3) == OP_WAVE_ALL ? all_3 : votes_3 != 0}};
  end
  unit_delay #(.WIDTH(1), .CYCLES(LATENCY)) valid_delay (.clk, .rst_n, .in(valid), .out(out_valid));
  unit_delay #(.WIDTH(33 * LANES), .CYCLES(LATENCY - 4)) rest (.clk, .rst_n, .in({row, pred}), .out({out_row, out_pred}));
endmodule
