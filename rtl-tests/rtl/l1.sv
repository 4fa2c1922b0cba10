// The L1 data cache (docs/memory.md, M10 to M19): write-through, no allocation on a write, one sector per line. This
// module holds the frames, the misses and the access; the rest is in the files whose names begin with l1_.
//
// Order within a cycle: an invalidation, a reply is accepted, a response is taken, the load/store unit makes its access,
// and then the oldest request leaves.
`include "bugs.svh"
module l1
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input  logic      clk,
    input  logic      rst_n,
    // Replies of the memory side.
    input  logic      reply_valid,
    input  reply_t    reply,
    output logic      reply_taken,
    // Responses to the load/store unit, which always takes them.
    output logic      response_valid,
    output response_t response,
    // The access of this cycle.
    input  logic      access_valid,
    input  access_t   access,
    output logic      accepted,
    input  logic      invalidate,      // an acquire, in stage resolve
    // Requests to the port.
    output logic      request_valid,
    output request_t  request,
    input  logic      request_taken
);
  // Frames. A frame whose sector was dropped has a tag but no valid data.
  ways_t named_q[SETS], valid_q[SETS];
  line_t tag_q[SETS][WAYS];
  data_t data_q[SETS][WAYS];

  // Outstanding lines. `found`: accesses join it, or stay behind its atomics.
  logic [MSHRS-1:0] mshr_used_q, mshr_current_q, mshr_found_q;
  line_t mshr_line_q[MSHRS];
  logic [MERGE_BITS-1:0] mshr_waiting_q[MSHRS];
  logic [MERGES-1:0] mshr_atomic_q[MSHRS];
  waiter_t waiter_q[MSHRS][MERGES];

  // ---- An invalidation. It leaves no name of a frame and no current miss; what keeps behind an atomic still does.
  logic [MSHRS-1:0] kept_current, kept_found;
  ways_t kept;
  assign kept = {WAYS{!invalidate}};
  assign kept_current = invalidate ? '0 : mshr_current_q;
  always_comb
    for (int i = 0; i < MSHRS; i++) kept_found[i] = mshr_found_q[i] && (!invalidate || mshr_atomic_q[i] != 0);

  // ---- A reply.
  logic [MSHR_BITS-1:0] reply_mshr;
  logic  reply_is_data, install, streaming;
  set_t  reply_set;
  line_t reply_line;
  ways_t reply_named, reply_matches;
  way_t  victim;
  data_t reply_data;
  fill_count_t replies, fill_room;
  response_t brought[MERGES];
  request_t brought_write[MERGES];
  logic [MERGES-1:0] brings, brings_write;
  assign reply_mshr = MSHR_BITS'(reply.tag);
  assign reply_is_data = reply.kind == REPLY_DATA;
  assign reply_line = reply_is_data ? mshr_line_q[reply_mshr] : '0;
  assign reply_set = set_t'(reply_line);
  assign replies = reply_is_data ? fill_count_t'(mshr_waiting_q[reply_mshr]) : fill_count_t'(1);
  assign reply_taken = reply_valid && replies <= fill_room;
  assign install = reply_taken && reply_is_data && kept_current[reply_mshr];
  assign reply_named = named_q[reply_set] & kept;
  always_comb
    for (int w = 0; w < WAYS; w++)
      reply_matches[w] = reply_named[w] && tag_q[reply_set][w] == reply_line;
  l1_waiters u_waiters (
      .taken(reply_taken), .reply, .line(reply_line), .waiting(mshr_waiting_q[reply_mshr]),
      .waiter(waiter_q[reply_mshr]), .data(reply_data), .streaming, .brings, .brought, .writes(brings_write),
      .write(brought_write));

  // Outstanding lines after the reply.
  logic [MSHRS-1:0] used, current, found;
  logic [MERGE_BITS-1:0] waiting[MSHRS];
  logic [MERGES-1:0] atomics[MSHRS];
  always_comb begin
    used = mshr_used_q;
    current = kept_current;
    found = kept_found;
    for (int i = 0; i < MSHRS; i++) begin
      waiting[i] = mshr_waiting_q[i];
      atomics[i] = mshr_atomic_q[i];
    end
    if (reply_taken && reply_is_data) begin
      used[reply_mshr] = 1'b0;
      current[reply_mshr] = 1'b0;
      found[reply_mshr] = 1'b0;
      waiting[reply_mshr] = '0;
      atomics[reply_mshr] = '0;
    end
  end

  // ---- The access.
  line_t line;
  set_t  set;
  logic  same_set;
  ways_t named, valid;
  logic  present, tag_hit;
  way_t  way;
  data_t frame_data;
  assign line = access.line[31:LINE_SHIFT];
  assign set = set_t'(line);
  assign same_set = install && reply_set == set;
  always_comb begin
    named = named_q[set] & kept;
    valid = valid_q[set] & kept;
    if (same_set) begin
      named[victim] = 1'b1;
      valid[victim] = 1'b1;
    end
    tag_hit = 1'b0;
    way = '0;
    for (int w = 0; w < WAYS; w++)
      if (named[w] && (same_set && way_t'(w) == victim ? reply_line : tag_q[set][w]) == line) begin
        tag_hit = 1'b1;
        way = way_t'(w);
      end
    present = tag_hit && valid[way];
    frame_data = same_set && way == victim ? reply_data : data_q[set][way];
  end

  logic  mshr_hit, mshr_free_exists;
  logic [MSHR_BITS-1:0] mshr, mshr_free;
  logic  hit_room;
  // Requests: places for them, and those that have their place already. An atomic that waits for its line has one.
  request_count_t free_requests;
  localparam int MOST_REQUESTS = MSHRS * MERGES + MERGES;
  typedef logic [$clog2(MOST_REQUESTS+3)-1:0] outgoing_t;
  outgoing_t outgoing;
  always_comb begin
    mshr_hit = 1'b0;
    mshr = '0;
    mshr_free_exists = 1'b0;
    mshr_free = '0;
    outgoing = outgoing_t'($countones(brings_write));
    for (int i = MSHRS - 1; i >= 0; i--) begin
      if (found[i] && mshr_line_q[i] == line) begin
        mshr_hit = 1'b1;
        mshr = MSHR_BITS'(i);
      end
      if (!used[i]) begin
        mshr_free_exists = 1'b1;
        mshr_free = MSHR_BITS'(i);
      end
      outgoing = outgoing + outgoing_t'($countones(atomics[i]));
    end
  end

  // Room for one request, and for two.
  logic outgoing_room, outgoing_room_for_two;
  assign outgoing_room = outgoing + 1'b1 <= outgoing_t'(free_requests);
  assign outgoing_room_for_two = outgoing + outgoing_t'(2) <= outgoing_t'(free_requests);

  logic behind_atomic, uncached, plain_load, local_atomic;
  logic answers, waits, asks, allocates, sends, retires, drops, writes_frame, touches;
  bytes_t atomic_written;
  data_t atomic_data;
  assign behind_atomic = mshr_hit && atomics[mshr] != 0 && !`BUG(151);
  assign uncached = access.hint == HINT_UNCACHED && !access.atomic;
  assign plain_load = access.load && !uncached;
  assign local_atomic = access.atomic && !access.remote;
  always_comb begin
    answers = 1'b0;      // a hit's response
    waits = 1'b0;        // joins or begins a miss
    asks = 1'b0;         // a read sets out
    allocates = 1'b0;
    sends = 1'b0;        // a write or an atomic sets out
    retires = 1'b0;      // the current miss installs nothing any more
    drops = 1'b0;
    writes_frame = 1'b0;
    touches = 1'b0;
    accepted = 1'b0;
    if (access_valid) begin
      if (access.load && uncached) begin
        accepted = !behind_atomic && mshr_free_exists && outgoing_room;
        {waits, asks, allocates, retires, drops} = {5{accepted}};
      end else if ((plain_load || local_atomic) && present && !behind_atomic) begin
        accepted = hit_room && (plain_load || outgoing_room);
        answers = accepted;
        touches = accepted && !`BUG(147) && !(plain_load && access.hint == HINT_STREAMING);
        if (local_atomic) {sends, retires, writes_frame} = {3{accepted}};
      end else if (plain_load || local_atomic) begin
        allocates = !mshr_hit;
        asks = !mshr_hit;
        accepted = (mshr_hit ? current[mshr] && int'(waiting[mshr]) != MERGES - int'(`BUG(154)) : mshr_free_exists)
            && (local_atomic && asks ? outgoing_room_for_two : outgoing_room || !(local_atomic || asks));
        waits = accepted;
        allocates = allocates && accepted;
        asks = asks && accepted;
      end else begin
        // A store, or an atomic that the L2 performs.
        accepted = !behind_atomic && outgoing_room;
        {sends, retires} = {2{accepted}};
        drops = accepted && ((access.atomic && !`BUG(149)) || uncached);
        writes_frame = accepted && !drops && tag_hit;
        touches = writes_frame && access.hint == HINT_CACHED;
      end
    end
    if (!mshr_hit || (`BUG(146) && access.store)) retires = 1'b0;
  end

  always_comb begin
    atomic_written = access.byte_mask;
    atomic_data = frame_data;
    for (int i = 0; i < WORDS; i++)
      if (local_atomic && access.byte_mask[4*i]) begin
        if (!`BUG(153) && access.atomic_op == ATOMIC_CAS && frame_data[32*i+:32] != access.data[32*i+:32])
          atomic_written[4*i+:4] = '0;
        atomic_data[32*i+:32] =
            atomic_result(access.atomic_op, frame_data[32*i+:32], access.data[32*i+:32], access.swap);
      end
  end

  request_t access_request;
  always_comb begin
    access_request = '0;
    access_request.kind = asks ? REQUEST_READ : access.remote ? REQUEST_ATOMIC : REQUEST_WRITE;
    access_request.tag = asks ? 32'(mshr_free) : 32'(access.owner);
    access_request.line = {line, {LINE_SHIFT{1'b0}}};
    access_request.hint = access.atomic ? HINT_CACHED : access.hint;
    if (!asks) begin
      access_request.byte_mask = local_atomic ? atomic_written : access.byte_mask;
      access_request.data = local_atomic ? masked('0, atomic_written, atomic_data) : access.data;
      access_request.atomic_op = access.remote ? access.atomic_op : '0;
      access_request.swap = access.remote ? access.swap : '0;
    end
  end

  response_t answer;
  assign answer = '{
      kind: access.atomic ? RESPONSE_ATOMIC_OLD : RESPONSE_LOADED, owner: access.owner, line: access_request.line,
      data: frame_data};
  l1_responses u_responses (
      .clk, .rst_n, .brings, .brought, .fill_room, .answers, .answer, .hit_room, .response_valid, .response);
  l1_requests u_requests (
      .clk, .rst_n, .writes(brings_write), .write(brought_write), .sends(asks || sends), .sent(access_request),
      .room(free_requests), .request_valid, .request, .request_taken);
  l1_replacement u_replacement (
      .clk, .rst_n, .reply_set, .reply_named, .reply_matches, .victim, .install, .streaming, .set,
      .way, .touches);

  waiter_t joining;
  always_comb begin
    joining = '0;
    joining.owner = access.owner;
    joining.hint = access.hint;
    joining.atomic = access.atomic;
    joining.atomic_op = access.atomic_op;
    if (access.atomic) begin
      joining.byte_mask = access.byte_mask;
      joining.data = access.data;
      joining.swap = access.swap;
    end
  end
  logic [MSHR_BITS-1:0] waits_at;
  logic [$clog2(MERGES)-1:0] join_at;
  assign join_at = allocates ? '0 : ($clog2(MERGES))'(waiting[waits_at]);
  assign waits_at = allocates ? mshr_free : mshr;

  always_ff @(posedge clk) begin
    if (invalidate)
      for (int s = 0; s < SETS; s++) begin
        named_q[s] <= '0;
        valid_q[s] <= '0;
      end
    // The reply.
    if (install) begin
      named_q[reply_set][victim] <= 1'b1;
      valid_q[reply_set][victim] <= 1'b1;
      tag_q[reply_set][victim] <= reply_line;
      data_q[reply_set][victim] <= reply_data;
    end
    // The access.
    if (writes_frame)
      data_q[set][way] <= masked(frame_data, local_atomic ? atomic_written : access.byte_mask,
                                 local_atomic ? atomic_data : access.data);
    if (drops && tag_hit) valid_q[set][way] <= 1'b0;
    mshr_used_q <= used;
    mshr_current_q <= current;
    mshr_found_q <= found;
    for (int i = 0; i < MSHRS; i++) begin
      mshr_waiting_q[i] <= waiting[i];
      mshr_atomic_q[i] <= atomics[i];
    end
    if (retires) begin
      mshr_current_q[mshr] <= 1'b0;
      mshr_found_q[mshr] <= atomics[mshr] != 0;
    end
    if (waits) begin
      waiter_q[waits_at][join_at] <= joining;
      if (allocates) begin
        mshr_used_q[mshr_free] <= 1'b1;
        mshr_current_q[mshr_free] <= !uncached;
        mshr_found_q[mshr_free] <= !uncached;
        mshr_line_q[mshr_free] <= line;
      end
      mshr_waiting_q[waits_at] <= (allocates ? '0 : waiting[waits_at]) + 1'b1;
      if (access.atomic) mshr_atomic_q[waits_at][join_at] <= 1'b1;
    end
    if (!rst_n) begin
      mshr_used_q <= '0;
      mshr_current_q <= '0;
      mshr_found_q <= '0;
      for (int i = 0; i < MSHRS; i++) begin
        mshr_waiting_q[i] <= '0;
        mshr_atomic_q[i] <= '0;
      end
      for (int s = 0; s < SETS; s++) begin
        named_q[s] <= '0;
        valid_q[s] <= '0;
      end
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!reply_taken || !reply_is_data || (mshr_used_q[reply_mshr] && mshr_waiting_q[reply_mshr] != 0))
      else $error("a line comes that no miss waits for");
      assert (!allocates || !used[mshr_free]) else $error("a miss takes an entry that is in use");
      assert (!waits || allocates || int'(waiting[mshr]) < MERGES)
      else $error("more accesses wait for a line than it has room for");
      assert ((mshr_current_q & ~mshr_used_q) == 0) else $error("a free entry has a line");
      for (int i = 0; i < MSHRS; i++)
        for (int j = 0; j < i; j++)
          assert (!(mshr_current_q[i] && mshr_current_q[j] && mshr_line_q[i] == mshr_line_q[j]))
          else $error("two misses of one line");
    end
endmodule
