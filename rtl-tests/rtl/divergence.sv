// Structured control flow (rules B2, B3; isa section 5): active mask, divergence stack and call stack of each wave. A
// control instruction acts here in stage resolve, the cycle after its issue; its shadow lasts longer.
// Without an active lane, a wave walks on and counts nested constructs until the else, endif or endloop that belongs to
// the construct in which the lanes went out.
`include "bugs.svh"
`include "events.svh"
module divergence
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic   clk,
    input  logic   rst_n,
    input  slots_t started,
    input  lanes_t started_lanes[MAX_WAVES],
    // Of each wave, before what acts in this cycle.
    output lanes_t active_lanes[MAX_WAVES],
    output lanes_t live_lanes[MAX_WAVES],
    output slots_t in_call,
    // What acts in this cycle: a control instruction, or the end of the code, which halts every lane.
    input  act_t   acts,
    output logic   jump,          // on to `jump_target`
    output pc_t    jump_target,
    output logic   fault,
    output fault_e fault_kind
);
  localparam int DEPTH_BITS = $clog2(DIVERGENCE_DEPTH + 1);
  localparam int CALL_BITS = $clog2(CALL_DEPTH + 1);
  localparam int FRAME_BITS = $clog2(DIVERGENCE_DEPTH);
  localparam int CALL_INDEX_BITS = $clog2(CALL_DEPTH);
  typedef logic [DEPTH_BITS-1:0] depth_t;
  typedef logic [CALL_BITS-1:0] call_depth_t;

  // An open construct. For an if: lanes of the else side, and lanes that have finished the then side. For a loop: lanes
  // that left, lanes that wait for the next iteration, and the depth of the enclosing loop (0 if there is none).
  typedef struct packed {
    logic   is_loop;
    lanes_t otherwise_broken;
    lanes_t joined_continued;
    pc_t    head;
    depth_t outer_loop;
  } frame_t;

  lanes_t      active_q[MAX_WAVES];
  lanes_t      live_q[MAX_WAVES];
  depth_t      depth_q[MAX_WAVES];
  depth_t      loop_q[MAX_WAVES];      // depth of the innermost loop, 0 if there is none
  logic [15:0] skipped_q[MAX_WAVES];
  frame_t      frame_q[MAX_WAVES][DIVERGENCE_DEPTH];
  call_depth_t calls_q[MAX_WAVES];
  pc_t         return_q[MAX_WAVES][CALL_DEPTH];
  depth_t      return_depth_q[MAX_WAVES][CALL_DEPTH];

  always_comb for (int w = 0; w < MAX_WAVES; w++) in_call[w] = calls_q[w] != 0;
  assign active_lanes = active_q;
  assign live_lanes = live_q;

  slot_t  slot;
  op_e    op;
  logic   step, end_wave;
  pc_t    next;
  lanes_t active, live, guard, condition;
  assign slot = acts.slot;
  assign op = acts.op;
  assign step = acts.control;
  assign end_wave = acts.end_mark;
  assign next = acts.next;
  assign guard = acts.guard;
  assign condition = acts.condition;
  assign active = active_q[slot];
  assign live = live_q[slot];

  depth_t depth, innermost;
  call_depth_t calls;
  frame_t top, loop_frame;
  assign depth = depth_q[slot];
  assign innermost = loop_q[slot];
  assign calls = calls_q[slot];
  assign top = frame_q[slot][FRAME_BITS'(depth - 1'b1)];
  assign loop_frame = frame_q[slot][FRAME_BITS'(innermost - 1'b1)];
  pc_t    return_pc;
  depth_t return_depth;
  assign return_pc = return_q[slot][CALL_INDEX_BITS'(calls - 1'b1)];
  assign return_depth = return_depth_q[slot][CALL_INDEX_BITS'(calls - 1'b1)];

  lanes_t      active_d, live_d, taken, halting;
  depth_t      depth_d, loop_d;
  call_depth_t calls_d;
  logic [15:0] skipped, skipped_d;
  logic        write_frame;
  depth_t      write_depth;
  frame_t      frame_d;
  logic        skips;
  assign skipped = skipped_q[slot];

  always_comb begin
    // Constructs opened and closed while no lane is active.
    skips = 1'b0;
    skipped_d = skipped;
    if (active == 0) begin
      case (op)
        OP_IF, OP_LOOP: begin
          skips = 1'b1;
          if (!(`BUG(216) && op == OP_LOOP)) skipped_d = skipped + 1'b1;
        end
        OP_ENDIF, OP_ENDLOOP: begin
          skips = skipped != 0;
          if (skips && !`BUG(123)) skipped_d = skipped - 1'b1;
        end
        OP_ELSE: skips = skipped != 0 && !`BUG(217);
        default: skips = 1'b1;
      endcase
    end
  end

  always_comb begin
    active_d = active;
    live_d = live;
    depth_d = depth;
    loop_d = innermost;
    calls_d = calls;
    write_frame = 1'b0;
    write_depth = depth;
    frame_d = top;
    jump = 1'b0;
    jump_target = next;
    fault = 1'b0;
    fault_kind = FAULT_UNDERFLOW;
    taken = '0;
    halting = '0;
    if (step && !skips) begin
      case (op)
        OP_IF, OP_LOOP: begin
          fault = depth == depth_t'(DIVERGENCE_DEPTH - int'(`BUG(220)));
          fault_kind = FAULT_OVERFLOW;
          write_frame = !fault;
          write_depth = depth + 1'b1;
          depth_d = depth + 1'b1;
          frame_d = '0;
          if (`BUG(218) && depth != 0) frame_d.joined_continued = top.joined_continued;
          frame_d.is_loop = op == OP_LOOP;
          frame_d.head = next;
          frame_d.outer_loop = innermost;
          if (op == OP_IF) begin
            taken = active & condition;
            frame_d.otherwise_broken = active & ~taken;
            active_d = taken;
          end else loop_d = depth + 1'b1;
        end
        OP_ELSE: begin
          fault = depth == 0 || top.is_loop;
          write_frame = !fault;
          frame_d.joined_continued = `BUG(119) ? active & ~active : top.joined_continued | active;
          frame_d.otherwise_broken = '0;
          active_d = top.otherwise_broken;
        end
        OP_ENDIF: begin
          fault = depth == 0 || top.is_loop;
          depth_d = depth - 1'b1;
          active_d = `BUG(120) ? active | top.joined_continued : active | top.joined_continued | top.otherwise_broken;
        end
        OP_BREAK, OP_CONTINUE: begin
          taken = active & guard & condition;
          // Squashed even where there is no loop to leave.
          if ((active & guard) != 0) begin
            fault = innermost == 0;
            write_frame = !fault;
            write_depth = innermost;
            frame_d = loop_frame;
            if (op == OP_BREAK || `BUG(121)) frame_d.otherwise_broken = loop_frame.otherwise_broken | taken;
            else frame_d.joined_continued = loop_frame.joined_continued | taken;
            active_d = active & ~taken;
          end
        end
        OP_ENDLOOP: begin
          fault = depth == 0 || !top.is_loop;
          active_d = active | (`BUG(215) && active != 0 ? '0 : top.joined_continued);
          if (active_d != 0) begin
            write_frame = !fault;
            if (!`BUG(122)) frame_d.joined_continued = '0;
            jump = 1'b1;
            jump_target = top.head;
          end else begin
            active_d = top.otherwise_broken;
            depth_d = depth - 1'b1;
            if (!`BUG(124)) loop_d = top.outer_loop;
          end
        end
        OP_CALL: begin
          fault = calls == call_depth_t'(CALL_DEPTH - int'(`BUG(221)));
          fault_kind = FAULT_CALL_OVERFLOW;
          calls_d = calls + 1'b1;
          jump = 1'b1;
          jump_target = acts.target;
        end
        OP_RETURN:
          if (calls == 0) halting = active;
          else begin
            fault = return_depth != depth && !`BUG(125);
            fault_kind = FAULT_RETURN_DEPTH;
            calls_d = calls - 1'b1;
            jump = 1'b1;
            jump_target = return_pc;
          end
        default: halting = active & guard; // halt
      endcase
      active_d = active_d & ~halting;
      live_d = live & ~halting;
    end
    if (end_wave) begin
      active_d = '0;
      live_d = '0;
    end
    if (fault) jump = 1'b0;
  end

  always_ff @(posedge clk) begin
    if ((step && !fault) || end_wave) begin
      active_q[slot] <= active_d;
      live_q[slot] <= live_d;
      depth_q[slot] <= depth_d;
      loop_q[slot] <= loop_d;
      calls_q[slot] <= calls_d;
      if (step) skipped_q[slot] <= skipped_d;
      if (write_frame) frame_q[slot][FRAME_BITS'(write_depth - 1'b1)] <= frame_d;
      if (step && !skips && op == OP_CALL) begin
        return_q[slot][CALL_INDEX_BITS'(calls)] <= next - pc_t'(`BUG(219));
        return_depth_q[slot][CALL_INDEX_BITS'(calls)] <= depth;
      end
    end
    for (int w = 0; w < MAX_WAVES; w++)
      if (started[w]) begin
        active_q[w] <= started_lanes[w];
        live_q[w] <= started_lanes[w];
        depth_q[w] <= '0;
        loop_q[w] <= '0;
        calls_q[w] <= '0;
        skipped_q[w] <= '0;
      end
  end

  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n && step) begin
      assert (acts.ends == (!skips && !fault && halting != 0 && live_d == 0))
      else $error("an instruction does not end its wave, or does, as issue said");
      assert ((active & ~live) == 0) else $error("a lane is active that is not alive");
      assert (int'(depth) <= DIVERGENCE_DEPTH && innermost <= depth)
      else $error("more constructs are open than there can be");
      assert (int'(calls) <= CALL_DEPTH) else $error("more calls are open than there can be");
      assert (active == 0 || skipped == 0) else $error("lanes are active in a construct that is walked over");
    end
  // What coverage counts.
  `EVENT(construct_opens, step && write_frame && op inside {OP_IF, OP_LOOP})
  `EVENT(construct_deepest, step && !skips && op inside {OP_IF, OP_LOOP} && int'(depth) == DIVERGENCE_DEPTH - 1)
  `EVENT(construct_too_many, step && fault && fault_kind == FAULT_OVERFLOW)
  `EVENT(if_takes_none, step && !skips && op == OP_IF && taken == 0)
  `EVENT(if_parts_lanes, step && !skips && op == OP_IF && taken != 0 && taken != active)
  `EVENT(else_turns, step && !skips && op == OP_ELSE && active_d != 0)
  `EVENT(else_turns_to_none, step && !skips && op == OP_ELSE && active_d == 0)
  `EVENT(endif_joins, step && !skips && op == OP_ENDIF && active_d != active)
  `EVENT(endif_of_none, step && !skips && op == OP_ENDIF && active_d == 0)
  `EVENT(break_leaves_some, step && !skips && op == OP_BREAK && taken != 0 && active_d != 0)
  `EVENT(break_leaves_none_active, step && !skips && op == OP_BREAK && taken != 0 && active_d == 0)
  `EVENT(break_inside_an_if, step && !skips && op == OP_BREAK && innermost != depth)
  `EVENT(continue_leaves_some, step && !skips && op == OP_CONTINUE && taken != 0)
  `EVENT(loop_goes_back, step && op == OP_ENDLOOP && jump)
  `EVENT(loop_goes_back_with_others, step && op == OP_ENDLOOP && jump && active_d != active)
  `EVENT(loop_ends, step && !skips && op == OP_ENDLOOP && !jump)
  `EVENT(loop_inside_a_loop_ends, step && !skips && op == OP_ENDLOOP && !jump && top.outer_loop != 0)
  `EVENT(walk_opens, step && skips && op inside {OP_IF, OP_LOOP})
  `EVENT(walk_closes, step && skips && op inside {OP_ENDIF, OP_ENDLOOP})
  `EVENT(walk_nested, step && skipped > 1)
  `EVENT(call_made, step && !skips && op == OP_CALL && !fault)
  `EVENT(call_deepest, step && !skips && op == OP_CALL && int'(calls) == CALL_DEPTH - 1)
  `EVENT(call_too_many, step && fault && fault_kind == FAULT_CALL_OVERFLOW)
  `EVENT(call_in_a_construct, step && !skips && op == OP_CALL && depth != 0)
  `EVENT(return_from_a_call, step && !skips && op == OP_RETURN && calls != 0)
  `EVENT(return_out_of_an_if, step && fault && fault_kind == FAULT_RETURN_DEPTH)
  `EVENT(lanes_halt_others_stay, step && halting != 0 && live_d != 0)
  `EVENT(construct_closes_nothing, step && fault && fault_kind == FAULT_UNDERFLOW)
endmodule
