// The L1 data cache (docs/memory.md, M10 to M19): write-through, no allocation on a write, one sector a line.
//
// Order within a cycle: a reply is accepted, a response is taken, the load/store unit's access, an invalidation, then
// the oldest request leaves.
`include "bugs.svh"
module l1
  import wave_core_pkg::*;
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
    input  logic      invalidate,
    // Requests to the port.
    output logic      request_valid,
    output request_t  request,
    input  logic      request_taken
);
  localparam int WAYS = L1_WAYS;
  localparam int SETS = L1_BYTES / L1_LINE_BYTES / WAYS;
  localparam int SET_BITS = $clog2(SETS);
  localparam int WAY_BITS = $clog2(WAYS);
  localparam int MSHRS = L1_MSHRS;
  localparam int MSHR_BITS = $clog2(MSHRS);
  localparam int MERGES = L1_MSHR_MERGES;
  localparam int HITS = L1_HIT_LATENCY_CYCLES + 4;
  localparam int HIT_BITS = $clog2(HITS);
  localparam int FILLS = 2 * MERGES;
  localparam int FILL_BITS = $clog2(FILLS);
  localparam int OUTGOING = INTERCONNECT_QUEUE_ENTRIES > 2 ? INTERCONNECT_QUEUE_ENTRIES : 2;
  localparam int OUTGOING_BITS = $clog2(OUTGOING);
  localparam int WORDS = L1_LINE_BYTES / 4;
  typedef logic [31-LINE_SHIFT:0] line_t;
  typedef logic [SET_BITS-1:0] set_t;
  typedef logic [WAY_BITS-1:0] way_t;
  typedef logic [LINE_BITS-1:0] data_t;
  typedef logic [L1_LINE_BYTES-1:0] bytes_t;

  logic [31:0] now_q;

  // Frames. A frame may have a tag without valid data: its sector was dropped.
  logic  [WAYS-1:0] named_q[SETS];
  logic  [WAYS-1:0] valid_q[SETS];
  line_t tag_q[SETS][WAYS];
  data_t data_q[SETS][WAYS];
  // Least recent use: older[i][j] if way i was used before way j; `unused` ways come before every use.
  logic  [WAYS-1:0][WAYS-1:0] older_q[SETS];
  logic  [WAYS-1:0] unused_q[SETS];

  typedef struct packed {
    owner_t     owner;
    logic [1:0] hint;
    logic       atomic;
    logic [3:0] atomic_op;
    bytes_t     byte_mask;
    data_t      data;
    logic [31:0] swap;
  } waiter_t;

  // Outstanding lines. `found`: accesses join, or keep behind its atomics.
  logic [MSHRS-1:0] mshr_used_q, mshr_current_q, mshr_found_q;
  line_t mshr_line_q[MSHRS];
  logic [$clog2(MERGES+1)-1:0] mshr_waiting_q[MSHRS];
  logic [MERGES-1:0] mshr_atomic_q[MSHRS];
  waiter_t waiter_q[MSHRS][MERGES];

  // Requests that wait for the port.
  request_t outgoing_q[OUTGOING];
  logic [OUTGOING_BITS-1:0] outgoing_first_q;
  logic [OUTGOING_BITS:0] outgoing_count_q;

  // Responses: of hits, in the order of the accesses; of replies, in the order of arrival.
  response_t hit_q[HITS];
  logic [31:0] hit_ready_q[HITS];
  logic [HIT_BITS-1:0] hit_first_q;
  logic [HIT_BITS:0] hit_count_q;
  response_t fill_q[FILLS];
  logic [31:0] fill_ready_q[FILLS];
  logic [FILL_BITS-1:0] fill_first_q;
  logic [FILL_BITS:0] fill_count_q;

  function automatic data_t masked(input data_t old, input bytes_t mask, input data_t value);
    data_t d;
    d = old;
    for (int i = 0; i < L1_LINE_BYTES; i++) if (mask[i]) d[8*i+:8] = value[8*i+:8];
    return d;
  endfunction

  // ---- A reply.
  logic [MSHR_BITS-1:0] reply_mshr;
  logic reply_is_data, fits;
  set_t  reply_set;
  line_t reply_line;
  assign reply_mshr = MSHR_BITS'(reply.tag);
  assign reply_is_data = reply.kind == REPLY_DATA;
  assign reply_line = reply_is_data ? mshr_line_q[reply_mshr] : '0;
  assign reply_set = set_t'(reply_line);
  assign fits = int'(fill_count_q) + (reply_is_data ? int'(mshr_waiting_q[reply_mshr]) : 1) <= FILLS;
  assign reply_taken = reply_valid && fits;

  // Where the line goes: its frame, an empty one, or the least recently used.
  way_t victim;
  logic install, found_frame, found_empty, found_oldest, all_streaming;
  always_comb begin
    victim = '0;
    found_frame = 1'b0;
    found_empty = 1'b0;
    found_oldest = 1'b0;
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && named_q[reply_set][w] && tag_q[reply_set][w] == reply_line) begin
        found_frame = 1'b1;
        victim = way_t'(w);
      end
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && !found_empty && !named_q[reply_set][w]) begin
        found_empty = 1'b1;
        victim = way_t'(w);
      end
    for (int w = 0; w < WAYS; w++)
      if (!found_frame && !found_empty && !found_oldest) begin
        // No way was used before it.
        found_oldest = 1'b1;
        for (int o = 0; o < WAYS; o++) if (older_q[reply_set][o][w]) found_oldest = 1'b0;
        if (found_oldest) victim = way_t'(w);
      end
    all_streaming = 1'b1;
    for (int m = 0; m < MERGES; m++)
      if (m < int'(mshr_waiting_q[reply_mshr]) && waiter_q[reply_mshr][m].hint != HINT_STREAMING) all_streaming = 1'b0;
  end
  assign install = reply_taken && reply_is_data && mshr_current_q[reply_mshr];

  // The waiters act in order; atomics change the line.
  data_t reply_data;
  bytes_t written;
  response_t brought[MERGES];
  request_t brought_write[MERGES];
  logic [MERGES-1:0] brings, brings_write;
  waiter_t waiter;
  always_comb begin
    reply_data = reply.data;
    brings = '0;
    brings_write = '0;
    written = '0;
    waiter = '0;
    for (int m = 0; m < MERGES; m++) begin
      brought[m] = '0;
      brought_write[m] = '0;
    end
    if (reply_taken) begin
      if (reply_is_data) begin
        for (int m = 0; m < MERGES; m++)
          if (m < int'(mshr_waiting_q[reply_mshr])) begin
            waiter = waiter_q[reply_mshr][m];
            brings[m] = 1'b1;
            brought[m].kind = waiter.atomic ? RESPONSE_ATOMIC_OLD : RESPONSE_LOADED;
            brought[m].owner = waiter.owner;
            brought[m].line = {mshr_line_q[reply_mshr], {LINE_SHIFT{1'b0}}};
            brought[m].data = reply_data;
            if (waiter.atomic) begin
              written = waiter.byte_mask;
              for (int i = 0; i < WORDS; i++)
                if (waiter.byte_mask[4*i]) begin
                  if (waiter.atomic_op == ATOMIC_CAS && reply_data[32*i+:32] != waiter.data[32*i+:32])
                    written[4*i+:4] = '0;
                  reply_data[32*i+:32] =
                      atomic_result(waiter.atomic_op, reply_data[32*i+:32], waiter.data[32*i+:32], waiter.swap);
                end
              brings_write[m] = 1'b1;
              brought_write[m].kind = REQUEST_WRITE;
              brought_write[m].tag = 32'(waiter.owner);
              brought_write[m].line = brought[m].line;
              brought_write[m].byte_mask = written;
              brought_write[m].data = masked('0, written, reply_data);
            end
          end
      end else begin
        brings[0] = 1'b1;
        brought[0].kind = reply.kind == REPLY_WRITE_ACK ? RESPONSE_STORED : RESPONSE_ATOMIC_OLD;
        brought[0].owner = owner_t'(reply.tag);
        brought[0].line = reply.line;
        brought[0].data = reply.data;
      end
    end
  end

  // Outstanding lines after the reply.
  logic [MSHRS-1:0] used, current, found;
  logic [$clog2(MERGES+1)-1:0] waiting[MSHRS];
  logic [MERGES-1:0] atomics[MSHRS];
  always_comb begin
    used = mshr_used_q;
    current = mshr_current_q;
    found = mshr_found_q;
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

  // ---- The response of this cycle: what has been ready for longest, a reply's before a hit's.
  logic hit_due, fill_due, takes_hit;
  assign hit_due = hit_count_q != 0 && hit_ready_q[hit_first_q] <= now_q;
  assign fill_due = fill_count_q != 0 && fill_ready_q[fill_first_q] <= now_q;
  assign takes_hit = hit_due && (!fill_due || hit_ready_q[hit_first_q] < fill_ready_q[fill_first_q] + 32'(`BUG(150)));
  assign response_valid = hit_due || fill_due;
  assign response = takes_hit ? hit_q[hit_first_q] : fill_q[fill_first_q];

  // ---- The access.
  line_t line;
  set_t  set;
  logic  same_set;
  logic  [WAYS-1:0] named, valid;
  logic  present, tag_hit;
  way_t  way;
  data_t frame_data;
  assign line = access.line[31:LINE_SHIFT];
  assign set = set_t'(line);
  assign same_set = install && reply_set == set;
  always_comb begin
    named = named_q[set];
    valid = valid_q[set];
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
  int    pending_atomics, outgoing_room, hit_room;
  always_comb begin
    mshr_hit = 1'b0;
    mshr = '0;
    mshr_free_exists = 1'b0;
    mshr_free = '0;
    pending_atomics = 0;
    for (int i = MSHRS - 1; i >= 0; i--) begin
      if (found[i] && mshr_line_q[i] == line) begin
        mshr_hit = 1'b1;
        mshr = MSHR_BITS'(i);
      end
      if (!used[i]) begin
        mshr_free_exists = 1'b1;
        mshr_free = MSHR_BITS'(i);
      end
      pending_atomics = pending_atomics + $countones(atomics[i]);
    end
    outgoing_room = OUTGOING - int'(outgoing_count_q) - $countones(brings_write) - pending_atomics;
    hit_room = HITS - int'(hit_count_q) + (response_valid && takes_hit ? 1 : 0);
  end

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
        accepted = !behind_atomic && mshr_free_exists && outgoing_room >= 1;
        {waits, asks, allocates, retires, drops} = {5{accepted}};
      end else if ((plain_load || local_atomic) && present && !behind_atomic) begin
        accepted = hit_room >= 1 && (plain_load || outgoing_room >= 1);
        answers = accepted;
        touches = accepted && !`BUG(147) && !(plain_load && access.hint == HINT_STREAMING);
        if (local_atomic) {sends, retires, writes_frame} = {3{accepted}};
      end else if (plain_load || local_atomic) begin
        allocates = !mshr_hit;
        asks = !mshr_hit;
        accepted = (mshr_hit ? current[mshr] && int'(waiting[mshr]) < MERGES - int'(`BUG(154)) : mshr_free_exists)
            && outgoing_room >= int'(local_atomic) + int'(asks);
        waits = accepted;
        allocates = allocates && accepted;
        asks = asks && accepted;
      end else begin
        // A store, or an atomic that the L2 performs.
        accepted = !behind_atomic && outgoing_room >= 1;
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

  assign request_valid = outgoing_count_q != 0;
  assign request = outgoing_q[outgoing_first_q];

  function automatic logic [OUTGOING_BITS-1:0] outgoing_at(input int offset);
    return OUTGOING_BITS'((int'(outgoing_first_q) + int'(outgoing_count_q) + offset) % OUTGOING);
  endfunction
  function automatic logic [HIT_BITS-1:0] hit_at(input int offset);
    return HIT_BITS'((int'(hit_first_q) + offset) % HITS);
  endfunction
  function automatic logic [FILL_BITS-1:0] fill_at(input int offset);
    return FILL_BITS'((int'(fill_first_q) + offset) % FILLS);
  endfunction

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

  // The order of use after a use of way w, or after it became the first to leave.
  function automatic logic [WAYS-1:0][WAYS-1:0] used_last(input logic [WAYS-1:0][WAYS-1:0] older, input way_t w);
    logic [WAYS-1:0][WAYS-1:0] o;
    o = older;
    o[w] = '0;
    for (int i = 0; i < WAYS; i++) if (way_t'(i) != w) o[i][w] = 1'b1;
    return o;
  endfunction
  function automatic logic [WAYS-1:0][WAYS-1:0] used_never(
      input logic [WAYS-1:0][WAYS-1:0] older, input logic [WAYS-1:0] unused, input way_t w);
    logic [WAYS-1:0][WAYS-1:0] o;
    o = older;
    for (int i = 0; i < WAYS; i++) begin
      o[w][i] = !unused[i] && way_t'(i) != w;
      o[i][w] = 1'b0;
    end
    return o;
  endfunction

  // Use of the set of the reply, and of that of the access behind it.
  logic [WAYS-1:0][WAYS-1:0] reply_older, older;
  logic [WAYS-1:0] reply_unused, unused;
  always_comb begin
    reply_older = older_q[reply_set];
    reply_unused = unused_q[reply_set];
    if (install && !found_frame) begin
      if (all_streaming && !`BUG(148)) begin
        reply_older = used_never(older_q[reply_set], unused_q[reply_set], victim);
        reply_unused[victim] = 1'b1;
      end else begin
        reply_older = used_last(older_q[reply_set], victim);
        reply_unused[victim] = 1'b0;
      end
    end
    older = reply_set == set ? reply_older : older_q[set];
    unused = reply_set == set ? reply_unused : unused_q[set];
    if (touches) begin
      older = used_last(older, way);
      unused[way] = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    now_q <= now_q + 1;
    // The reply.
    if (install) begin
      named_q[reply_set][victim] <= 1'b1;
      valid_q[reply_set][victim] <= 1'b1;
      tag_q[reply_set][victim] <= reply_line;
      data_q[reply_set][victim] <= reply_data;
      older_q[reply_set] <= reply_older;
      unused_q[reply_set] <= reply_unused;
    end
    for (int m = 0; m < MERGES; m++)
      if (brings[m]) begin
        fill_q[fill_at(int'(fill_count_q) + m)] <= brought[m];
        fill_ready_q[fill_at(int'(fill_count_q) + m)] <= now_q + 1;
      end
    fill_count_q <= (FILL_BITS + 1)'(int'(fill_count_q) + $countones(brings)
        - (response_valid && !takes_hit ? 1 : 0));
    if (response_valid && !takes_hit) fill_first_q <= fill_at(1);
    if (response_valid && takes_hit) hit_first_q <= hit_at(1);
    hit_count_q <= (HIT_BITS + 1)'(int'(hit_count_q) + (answers ? 1 : 0) - (response_valid && takes_hit ? 1 : 0));
    // The access.
    if (answers) begin
      hit_q[hit_at(int'(hit_count_q))] <= '{
          kind: access.atomic ? RESPONSE_ATOMIC_OLD : RESPONSE_LOADED, owner: access.owner,
          line: access_request.line, data: frame_data};
      hit_ready_q[hit_at(int'(hit_count_q))] <= now_q + L1_HIT_LATENCY_CYCLES - 32'(`BUG(152));
    end
    if (touches) begin
      older_q[set] <= older;
      unused_q[set] <= unused;
    end
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
    if (invalidate) begin
      for (int s = 0; s < SETS; s++) begin
        named_q[s] <= '0;
        valid_q[s] <= '0;
      end
      mshr_current_q <= '0;
      for (int i = 0; i < MSHRS; i++)
        mshr_found_q[i] <= (found[i] && atomics[i] != 0) || (waits && waits_at == MSHR_BITS'(i) && access.atomic);
    end
    // Requests: what the reply brought, then the access's.
    for (int m = 0; m < MERGES; m++)
      if (brings_write[m])
        outgoing_q[outgoing_at(m == 0 || !brings_write[0] ? 0 : 1)] <= brought_write[m];
    if (asks || sends) outgoing_q[outgoing_at($countones(brings_write))] <= access_request;
    outgoing_count_q <= (OUTGOING_BITS + 1)'(int'(outgoing_count_q) + $countones(brings_write)
        + (asks || sends ? 1 : 0) - (request_taken ? 1 : 0));
    if (request_taken) outgoing_first_q <= OUTGOING_BITS'((int'(outgoing_first_q) + 1) % OUTGOING);
    if (!rst_n) begin
      now_q <= '0;
      mshr_used_q <= '0;
      mshr_current_q <= '0;
      mshr_found_q <= '0;
      for (int i = 0; i < MSHRS; i++) begin
        mshr_waiting_q[i] <= '0;
        mshr_atomic_q[i] <= '0;
      end
      outgoing_first_q <= '0;
      outgoing_count_q <= '0;
      hit_first_q <= '0;
      hit_count_q <= '0;
      fill_first_q <= '0;
      fill_count_q <= '0;
      for (int s = 0; s < SETS; s++) begin
        named_q[s] <= '0;
        valid_q[s] <= '0;
        older_q[s] <= '0;
        unused_q[s] <= '1;
      end
    end
  end
endmodule
