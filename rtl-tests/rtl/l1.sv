// The L1 data cache (docs/memory.md, M10 to M19): write-through, no allocation on a write, one sector per line. This
// module holds the frames, the misses and the access; the rest is in the files whose names begin with l1_.
//
// Order within a cycle: an invalidation, a reply is accepted, a response is taken, the load/store unit makes its access,
// and then the oldest request leaves.
//
// The cycle of an access decides about it by tags and misses alone, and reads its frame. The line comes in the cycle
// after, in which it is written. A hit's data and what an atomic writes through are needed then at the earliest.
`include "bugs.svh"
`include "events.svh"
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

  // Outstanding lines after the reply. Which one is over is known late.
  logic [MSHRS-1:0] over, used, current, found, has_atomic, joinable;
  logic [MERGE_BITS-1:0] waiting[MSHRS];
  logic [MERGES-1:0] atomics[MSHRS];
  always_comb
    for (int i = 0; i < MSHRS; i++) begin
      over[i] = reply_taken && reply_is_data && reply_mshr == MSHR_BITS'(unsigned'(i));
      used[i] = mshr_used_q[i] && !over[i];
      current[i] = kept_current[i] && !over[i];
      found[i] = kept_found[i] && !over[i];
      waiting[i] = over[i] ? '0 : mshr_waiting_q[i];
      atomics[i] = over[i] ? '0 : mshr_atomic_q[i];
      has_atomic[i] = mshr_atomic_q[i] != 0;
      joinable[i] = kept_current[i] && int'(mshr_waiting_q[i]) != MERGES - int'(`BUG(154));
    end

  // ---- The access. The frames of its set, with the one that the reply brings.
  line_t line;
  set_t  set;
  logic  tag_hit, present;
  ways_t brings_way, same_tag, hit_ways, valid;
  way_t  way;
  assign line = access.line[31:LINE_SHIFT];
  assign set = set_t'(line);
  always_comb begin
    way = '0;
    for (int w = 0; w < WAYS; w++) begin
      brings_way[w] = install && reply_set == set && victim == way_t'(w);
      same_tag[w] = named_q[set][w] && kept[w] && tag_q[set][w] == line;
      hit_ways[w] = brings_way[w] ? reply_line == line : same_tag[w];
      valid[w] = brings_way[w] || (valid_q[set][w] && kept[w]);
      if (hit_ways[w]) way = way | way_t'(w);
    end
    tag_hit = hit_ways != 0;
    present = (hit_ways & valid) != 0;
  end

  logic  mshr_hit, mshr_free_exists;
  logic [MSHRS-1:0] same_line, hit_mshrs, free_mshrs, free_first;
  logic [MSHR_BITS-1:0] mshr, mshr_free;
  logic  hit_room;
  always_comb begin
    mshr = '0;
    mshr_free = '0;
    for (int i = 0; i < MSHRS; i++) same_line[i] = mshr_line_q[i] == line;
    hit_mshrs = same_line & found;
    free_mshrs = ~used;
    free_first = free_mshrs & (~free_mshrs + 1'b1);
    for (int i = 0; i < MSHRS; i++) begin
      if (hit_mshrs[i]) mshr = mshr | MSHR_BITS'(unsigned'(i));
      if (free_first[i]) mshr_free = mshr_free | MSHR_BITS'(unsigned'(i));
    end
    mshr_hit = hit_mshrs != 0;
    mshr_free_exists = free_mshrs != 0;
  end

  // Room for one request, and for two. An atomic that waits for its line has its place already, and takes it when the
  // line comes. So the places that are taken are those of all atomics that waited before the reply.
  request_count_t free_requests;
  localparam int MOST_REQUESTS = MSHRS * MERGES + MERGES;
  typedef logic [$clog2(MOST_REQUESTS+3)-1:0] outgoing_t;
  logic [MSHRS*MERGES-1:0] waiting_atomics;
  outgoing_t outgoing;
  logic outgoing_room, outgoing_room_for_two;
  always_comb for (int i = 0; i < MSHRS; i++) waiting_atomics[MERGES*i+:MERGES] = mshr_atomic_q[i];
  assign outgoing = outgoing_t'($countones(waiting_atomics));
  assign outgoing_room = outgoing + 1'b1 <= outgoing_t'(free_requests);
  assign outgoing_room_for_two = outgoing + outgoing_t'(2) <= outgoing_t'(free_requests);

  logic behind_atomic, uncached, plain_load, local_atomic;
  logic answers, waits, asks, allocates, sends, retires, drops, writes_frame, touches;
  assign behind_atomic = (hit_mshrs & has_atomic) != 0 && !`BUG(151);
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
        accepted = (mshr_hit ? (hit_mshrs & joinable) != 0 : mshr_free_exists)
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

  request_t access_request;
  always_comb begin
    access_request = '0;
    access_request.kind = asks ? REQUEST_READ : access.remote ? REQUEST_ATOMIC : REQUEST_WRITE;
    access_request.tag = asks ? 32'(mshr_free) : 32'(access.owner);
    access_request.line = {line, {LINE_SHIFT{1'b0}}};
    access_request.hint = access.atomic ? HINT_CACHED : access.hint;
    if (!asks) begin
      access_request.byte_mask = access.byte_mask;
      access_request.data = access.data;
      access_request.atomic_op = access.remote ? access.atomic_op : '0;
      access_request.swap = access.remote ? access.swap : '0;
    end
  end

  // ---- The access of the cycle before: its frame, and what an atomic writes there and through.
  logic   then_writes_q, then_atomic_q;
  logic [3:0] then_op_q;
  bytes_t then_mask_q, then_written;
  data_t  then_data_q, frame_data, then_data;
  logic [31:0] then_swap_q;
  always_ff @(posedge clk) begin
    then_writes_q <= rst_n && writes_frame;
    then_atomic_q <= rst_n && sends && local_atomic;
    then_op_q <= access.atomic_op;
    then_mask_q <= access.byte_mask;
    then_data_q <= access.data;
    then_swap_q <= access.swap;
  end
  // The access of the cycle before comes before the reply of this one.
  l1_frames u_frames (
      .clk, .rst_n, .valid(access_valid), .set, .hit_ways, .way, .then_line(frame_data), .then_writes(then_writes_q),
      .then_written(masked(frame_data, then_written, then_data)), .install, .reply_set, .victim, .reply_data);
  always_comb begin
    then_written = then_mask_q;
    then_data = then_data_q;
    for (int i = 0; i < WORDS; i++)
      if (then_atomic_q) begin
        if (!`BUG(153) && then_op_q == ATOMIC_CAS && frame_data[32*i+:32] != then_data_q[32*i+:32])
          then_written[4*i+:4] = '0;
        then_data[32*i+:32] = atomic_result(then_op_q, frame_data[32*i+:32], then_data_q[32*i+:32], then_swap_q);
      end
  end

  response_t answer;
  assign answer = '{
      kind: access.atomic ? RESPONSE_ATOMIC_OLD : RESPONSE_LOADED, owner: access.owner, line: access_request.line,
      data: '0};
  l1_responses u_responses (
      .clk, .rst_n, .brings, .brought, .fill_room, .answers, .answer, .then_data(frame_data), .hit_room,
      .response_valid, .response);
  l1_requests u_requests (
      .clk, .rst_n, .writes(brings_write), .write(brought_write), .sends(asks || sends), .sent(access_request),
      .then_changes(then_atomic_q), .then_mask(then_written), .then_data(masked('0, then_written, then_data)),
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
    if (install) tag_q[reply_set][victim] <= reply_line;
    for (int s = 0; s < SETS; s++)
      for (int w = 0; w < WAYS; w++) begin
        if (invalidate) {named_q[s][w], valid_q[s][w]} <= '0;
        if (install && reply_set == set_t'(s) && victim == way_t'(w)) {named_q[s][w], valid_q[s][w]} <= '1;
        if (drops && set == set_t'(s) && hit_ways[w]) valid_q[s][w] <= 1'b0;
      end
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
      assert (!reply_taken || brings_write == (reply_is_data ? mshr_atomic_q[reply_mshr] : '0))
      else $error("other requests set out with a line than have their places");
      assert ($onehot0(hit_ways) && $onehot0(hit_mshrs)) else $error("an access finds two frames, or two misses");
      assert ((mshr_current_q & ~mshr_used_q) == 0) else $error("a free entry has a line");
      for (int i = 0; i < MSHRS; i++)
        for (int j = 0; j < i; j++)
          assert (!(mshr_current_q[i] && mshr_current_q[j] && mshr_line_q[i] == mshr_line_q[j]))
          else $error("two misses of one line");
    end
  // What coverage counts.
  `EVENT(l1_hit, answers)
  `EVENT(l1_hit_on_the_arriving_line, answers && (brings_way & hit_ways) != 0)
  `EVENT(l1_miss, allocates && asks)
  `EVENT(l1_miss_joins, waits && !allocates)
  `EVENT(l1_miss_full, access_valid && mshr_hit && !accepted && (hit_mshrs & joinable) == 0)
  `EVENT(l1_misses_full, access_valid && !accepted && !mshr_free_exists)
  `EVENT(l1_misses_all_used, mshr_used_q == '1)
  `EVENT(l1_behind_an_atomic, access_valid && behind_atomic)
  `EVENT(l1_no_request_room, access_valid && !accepted && !outgoing_room)
  `EVENT(l1_no_hit_room, access_valid && !accepted && !hit_room)
  `EVENT(l1_frees_and_takes, over != 0 && allocates)
  `EVENT(l1_reply_waits, reply_valid && !reply_taken)
  `EVENT(l1_installs, install)
  `EVENT(l1_reply_not_installed, reply_taken && reply_is_data && !install)
  `EVENT(l1_reply_of_an_atomic, brings_write != 0)
  `EVENT(l1_reply_of_two_atomics, brings_write == '1)
  `EVENT(l1_reply_for_two, brings == '1)
  `EVENT(l1_reply_in_the_set_of_the_access, install && access_valid && reply_set == set)
  `EVENT(l1_acquire, invalidate)
  `EVENT(l1_acquire_beside_a_reply, invalidate && reply_taken)
  `EVENT(l1_acquire_beside_an_access, invalidate && accepted)
  `EVENT(l1_acquire_under_misses, invalidate && mshr_current_q != 0)
  `EVENT(l1_store_hits, sends && access.store && tag_hit)
  `EVENT(l1_store_under_a_miss, sends && access.store && mshr_hit)
  `EVENT(l1_store_drops, drops && tag_hit)
  `EVENT(l1_atomic_hits, answers && local_atomic)
  `EVENT(l1_atomic_misses, waits && local_atomic)
  `EVENT(l1_atomic_remote_drops, sends && access.remote && tag_hit)
  `EVENT(l1_uncached_load_of_a_line, waits && uncached && tag_hit)
  `EVENT(l1_streaming_hit, answers && access.hint == HINT_STREAMING)
  `EVENT(l1_frame_without_data, access_valid && tag_hit && !present)
  `EVENT(l1_last_line, access_valid && line == '1)
  `EVENT(l1_first_line, access_valid && line == '0)
endmodule
