// Data of the L1's frames: a memory with one read port and one write port, both clocked.
//
// The access of a cycle reads its frame, and has the line in the next cycle, in which it may write it. It writes the whole
// line, so that what it writes can be handed on: an access does not read a frame that is being written, but gets the line
// that goes there.
//
// The line of a reply waits in a place of its own until a cycle in which no access writes. The accesses find it there.
// An access that begins a miss writes nothing. So while other lines are asked for, those that wait are written, and
// there are never more than misses.
`include "events.svh"
module l1_frames
  import l1_pkg::*;
(
    input  logic  clk,
    input  logic  rst_n,
    // The access: its set, and the way with its line, if there is one.
    input  logic  valid,
    input  set_t  set,
    input  ways_t hit_ways,
    input  way_t  way,
    output data_t then_line,           // in the next cycle
    input  logic  then_writes,         // and what it writes then
    input  data_t then_written,
    // A reply.
    input  logic  install,
    input  set_t  reply_set,
    input  way_t  victim,
    input  data_t reply_data
);
  typedef logic [SET_BITS+WAY_BITS-1:0] frame_t;   // set and way
  typedef logic [MSHRS-1:0] waiting_t;
  waiting_t waiting_q, first_waiting, free, written, outdated;
  frame_t   frame_q[MSHRS], then_q, reply_frame, waiting_frame, write_frame;
  data_t    line_q[MSHRS], waiting_line, memory_line, kept_line_q;
  assign reply_frame = {reply_set, victim};

  // A write: that of an access comes first.
  always_comb begin
    first_waiting = waiting_q & (~waiting_q + 1'b1);
    free = ~waiting_q & (waiting_q + 1'b1);
    written = then_writes ? '0 : first_waiting;
    waiting_frame = '0;
    waiting_line = '0;
    for (int i = 0; i < MSHRS; i++) begin
      outdated[i] = (then_writes && frame_q[i] == then_q) || (install && frame_q[i] == reply_frame);
      if (first_waiting[i]) begin
        waiting_frame = waiting_frame | frame_q[i];
        waiting_line = waiting_line | line_q[i];
      end
    end
    write_frame = then_writes ? then_q : waiting_frame;
  end

  // Where the line of the access is: it comes with the reply, is being written, waits, or is in the memory.
  ways_t    arrives_way, written_way, waits_way[MSHRS];
  waiting_t waits;
  logic     arrives, hands_on, kept, kept_q;
  data_t    kept_line;
  always_comb begin
    for (int w = 0; w < WAYS; w++) begin
      arrives_way[w] = install && reply_set == set && victim == way_t'(w);
      written_way[w] = then_writes && then_q == {set, way_t'(w)};
    end
    arrives = (arrives_way & hit_ways) != 0;
    hands_on = (written_way & hit_ways) != 0 && !arrives;
    kept_line = (arrives ? reply_data : '0) | (hands_on ? then_written : '0);
    for (int i = 0; i < MSHRS; i++) begin
      for (int w = 0; w < WAYS; w++) waits_way[i][w] = waiting_q[i] && frame_q[i] == {set, way_t'(w)};
      waits[i] = (waits_way[i] & hit_ways & ~(arrives_way | written_way)) != 0;
      if (waits[i]) kept_line = kept_line | line_q[i];
    end
    kept = arrives || hands_on || waits != 0;
  end
  assign then_line = kept_q ? kept_line_q : memory_line;
  sram #(.WORDS(SETS << WAY_BITS), .WIDTH($bits(data_t))) u_lines (
      .clk, .rst_n, .read(valid && hit_ways != 0 && !kept), .read_at({set, way}), .read_word(memory_line),
      .write(then_writes || waiting_q != 0), .write_at(write_frame), .write_mask(1'b1),
      .write_word(then_writes ? then_written : waiting_line));

  always_ff @(posedge clk) begin
    then_q <= {set, way};
    kept_q <= kept;
    kept_line_q <= kept_line;
    waiting_q <= (waiting_q & ~(written | outdated)) | (install ? free : '0);
    for (int i = 0; i < MSHRS; i++)
      if (install && free[i]) begin
        frame_q[i] <= reply_frame;
        line_q[i] <= reply_data;
      end
    if (!rst_n) waiting_q <= '0;
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!install || free != 0) else $error("more lines wait to be written than there are misses");
      for (int i = 0; i < MSHRS; i++)
        for (int j = 0; j < i; j++)
          assert (!(waiting_q[i] && waiting_q[j] && frame_q[i] == frame_q[j])) else $error("two lines wait for one frame");
    end
  // What coverage counts.
  `EVENT(frame_arrives_and_is_read, arrives)
  `EVENT(frame_handed_on, hands_on)
  `EVENT(frame_waits_and_is_read, waits != 0)
  `EVENT(frames_wait, $countones(waiting_q) > 1)
  `EVENT(frame_outdated, (waiting_q & outdated) != 0)
endmodule
