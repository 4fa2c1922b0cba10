// The load/store unit (rules L1 to L8, W2): a queue of wave instructions that works on its head, a latch for the access
// to the L1 that comes next, pending entries that gather the responses of a load, results, and complete loads in the order
// of their completion.
//
// Results are in memories with clocks. Local memory writes a result with each pass, the L1 with the last response, which
// both can come in one cycle: so each has memories of its own, one for each row. The first row of a load is read in the
// cycle before the load can return, which may be that of its last response: then this row is kept beside the memory.
//
// Order within a cycle: results of local memory and the L1, the access in the latch, then the head of the queue, which
// puts its next access into the latch if that is empty.
`include "bugs.svh"
`include "events.svh"
module lsu
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic    clk,
    input  logic    rst_n,
    input  launch_t launch,
    input  logic    start,                 // a workgroup arrives
    input  group_t  start_group,
    input  group_t  group_of[MAX_WAVES],
    // From a collector: the last stage of the cycle that affects the queue.
    output logic    room,                  // before this cycle's work
    input  logic    take,
    input  slot_t   take_slot,
    input  seq_t    take_seq,
    input  uop_t    take_uop,
    input  lanes_t  take_mask,
    input  row_t    take_operands[SOURCES],
    // L1.
    input  logic    response_valid,
    input  response_t response,
    output logic    acknowledge,
    output logic    acknowledge_epoch,
    output logic    access_valid,
    output access_t access,
    input  logic    access_accepted,
    input  logic    epoch,
    output logic    store,                 // a store or its like sets out
    // Write-back of loads: the next row, and whether a port takes it.
    output logic    return_valid,
    output slot_t   return_slot,
    output reg_t    return_register,
    output lanes_t  return_mask,
    output row_t    return_row,
    input  logic    return_taken,
    output retire_t return_retire,
    output seq_t    return_seq,
    output pc_t     return_pc,
    // Retirement of instructions without a result: in local memory, and with their last access to the L1.
    output retire_t local_retire,
    output seq_t    local_seq,
    output pc_t     local_pc,
    output retire_t device_retire,
    output seq_t    device_seq,
    output pc_t     device_pc,
    output logic    fault,
    output fault_e  fault_kind,
    output slot_t   fault_slot,
    output pc_t     fault_pc,
    // For the trace: the head starts.
    output logic    begins,
    output slot_t   begins_slot,
    output seq_t    begins_seq,
    output row_t    begins_address,
    output row_t    begins_data[4]
);
  localparam int Q = LSU_QUEUE_ENTRIES;
  // Return entries (rule L7): one for each load from its start until its last row is written.
  localparam int RETURNS = LSU_PENDING_ENTRIES + LSU_EXTRA_RETURN_ENTRIES;
  localparam int Q_BITS = $clog2(Q);
  typedef logic [Q_BITS-1:0] place_t;
  typedef logic [Q_BITS:0] count_t;
  typedef logic [ENTRY_BITS-1:0] entry_t;

  // The queue.
  place_t first_q;
  count_t count_q, count_left;
  slot_t  slot_q[Q];
  seq_t   seq_q[Q];
  uop_t   uop_q[Q];
  lanes_t mask_q[Q];
  entry_t entry_q[Q];
  row_t   operands_q[Q][SOURCES];

  // Entries, each used from the collector until retirement.
  logic [LSU_ENTRIES-1:0] used_q;

  // Pending entries (rule L7): what has come of a load, from its first access until its last response. Of an address are
  // enough its place in the line and the last bit of the line's number, since a lane touches at most two lines, one
  // behind the other.
  localparam int P = LSU_PENDING_ENTRIES;
  typedef logic [P-1:0] pending_t;
  typedef logic [LANES-1:0][LINE_SHIFT:0] places_t;
  pending_t   pending_used_q, pending_left;
  entry_t     pending_entry_q[P];
  places_t    pending_places_q[P];
  logic [2:0] pending_log_bytes_q[P];
  row_t       pending_rows_q[P][4];
  logic [5:0] outstanding_q[P];
  pending_t   all_sent_q;

  // Responses.
  entry_t answered;
  logic   for_entry, completes;
  pending_t answers, completing;
  assign answered = response.owner.entry;
  always_comb begin
    case (response.kind)
      RESPONSE_STORED: acknowledge = response_valid;
      RESPONSE_ATOMIC_OLD: acknowledge = response_valid && response.owner.posted && !response.owner.core_scope;
      default: acknowledge = 1'b0;
    endcase
  end
  assign acknowledge_epoch = response.owner.epoch;
  assign for_entry = response_valid && !acknowledge && !response.owner.posted;
  pending_t same_entry;
  always_comb
    for (int i = 0; i < P; i++) begin
      same_entry[i] = pending_used_q[i] && pending_entry_q[i] == answered;
      answers[i] = for_entry && same_entry[i];
      completing[i] = answers[i] && outstanding_q[i] == 1 && all_sent_q[i];
    end
  assign completes = completing != 0;
  assign pending_left = pending_used_q & ~completing;

  // The lanes' bytes of the line. It is the first or the second line that a lane touches.
  row_t merged[4];
  places_t places;
  logic in_first;
  logic [2:0] log_bytes;
  logic [LINE_SHIFT-1:0] offset;
  logic [15:0] all_bytes;
  logic [2*L1_LINE_BYTES-1:0] here;
  logic [2*LINE_BITS-1:0] bytes;
  always_comb begin
    places = '0;
    log_bytes = '0;
    for (int r = 0; r < 4; r++) merged[r] = '0;
    for (int i = 0; i < P; i++)
      if (same_entry[i]) begin
        places = places | pending_places_q[i];
        log_bytes = log_bytes | pending_log_bytes_q[i];
        for (int r = 0; r < 4; r++) merged[r] = merged[r] | pending_rows_q[i][r];
      end
    all_bytes = 16'((17'd1 << (5'd1 << log_bytes)) - 17'd1);
    in_first = 1'b0;
    offset = '0;
    here = '0;
    bytes = '0;
    for (int l = 0; l < LANES; l++) begin
      offset = places[l][LINE_SHIFT-1:0];
      in_first = places[l][LINE_SHIFT] == response.line[LINE_SHIFT];
      here = in_first ? {{L1_LINE_BYTES{1'b0}}, {L1_LINE_BYTES{1'b1}}} : {{L1_LINE_BYTES{1'b1}}, {L1_LINE_BYTES{1'b0}}};
      bytes = in_first ? {{LINE_BITS{1'b0}}, response.data} : {response.data, {LINE_BITS{1'b0}}};
      here = here >> offset;
      bytes = bytes >> {offset, 3'd0};
      for (int i = 0; i < 16; i++)
        if (response.owner.lanes[l] && all_bytes[i] && here[i]) merged[i/4][l][8*(i%4)+:8] = bytes[8*i+:8];
    end
  end

  // Local memory results on their way; the next has index 0.
  logic   local_valid_q[LOCAL_LATENCY_CYCLES];
  entry_t local_entry_q[LOCAL_LATENCY_CYCLES];

  // Complete loads.
  entry_t returns_q[LSU_ENTRIES];
  entry_t returns_first_q;
  logic [ENTRY_BITS:0] returns_count_q;
  logic [1:0] return_row_q;
  // The oldest is read in the cycle before it returns: the next one behind it, else one that becomes complete, when it is
  // over or there is none. Of each load the memory has what it was when it came from its collector.
  typedef struct packed {
    slot_t      slot;
    seq_t       seq;
    pc_t        pc;
    lanes_t     mask;
    reg_t       rd;
    logic [2:0] rows;
    logic [2:0] log_bytes;
    logic       device;
  } returning_t;
  returning_t oldest, taken;
  logic   return_last, reads_oldest, next_waits, next_row;
  entry_t next_entry, oldest_entry_q, free_entry;
  assign next_waits = returns_count_q > 1;
  assign next_entry = next_waits ? returns_q[returns_first_q + 1'b1] : local_valid_q[0] ? local_entry_q[0] : answered;
  assign reads_oldest = (return_last || returns_count_q == 0) && (next_waits || local_valid_q[0] || completes);
  assign taken = '{
      slot: take_slot, seq: take_seq, pc: take_uop.pc, mask: take_mask, rd: take_uop.rd, rows: take_uop.dst_rows,
      log_bytes: take_uop.memory.log_bytes, device: take_uop.memory.device};
  sram #(.WORDS(LSU_ENTRIES), .WIDTH($bits(returning_t))) u_entries (
      .clk, .rst_n, .read(reads_oldest), .read_at(next_entry), .read_word(oldest), .write(take), .write_at(free_entry),
      .write_mask(1'b1), .write_word(taken));
  assign return_valid = returns_count_q != 0;
  assign return_slot = oldest.slot;
  assign return_seq = oldest.seq;
  assign return_pc = oldest.pc;
  assign return_register = oldest.rd + REG_BITS'(return_row_q);
  assign return_mask = oldest.mask;
  assign return_last = return_taken && 3'(return_row_q) + 3'd1 == oldest.rows;
  assign next_row = return_taken && !return_last;
  assign return_retire = '{
      valid: return_last, slot: return_slot, rd: oldest.rd, rows: oldest.rows, pred: 1'b0, access: 1'b1};

  // Results. Those of the L1 are written with the last response: a first row that is read in this cycle is kept.
  logic   local_writes_q, kept_q;
  row_t   kept_row_q, device_row[4], local_row[2], local_rows[2];
  entry_t local_written;
  logic [LANES-1:0][7:0] local_bytes;
  logic   first_kept;
  assign first_kept = !next_waits && !local_valid_q[0];
  for (genvar r = 0; r < 4; r++) begin : gen_device_row
    sram #(.WORDS(LSU_ENTRIES), .WIDTH(32 * LANES)) u_rows (
        .clk, .rst_n, .read(r == 0 ? reads_oldest && !first_kept : next_row && int'(return_row_q) + 1 == r),
        .read_at(r == 0 ? next_entry : oldest_entry_q), .read_word(device_row[r]), .write(completes), .write_at(answered),
        .write_mask(1'b1), .write_word(merged[r]));
  end
  for (genvar r = 0; r < 2; r++) begin : gen_local_row
    logic [LANES-1:0][3:0] row_bytes;
    always_comb for (int l = 0; l < LANES; l++) row_bytes[l] = local_bytes[l][4*r+:4];
    sram #(.WORDS(LSU_ENTRIES), .WIDTH(32 * LANES), .PARTS(4 * LANES)) u_rows (
        .clk, .rst_n, .read(r == 0 ? reads_oldest : next_row && int'(return_row_q) + 1 == r),
        .read_at(r == 0 ? next_entry : oldest_entry_q), .read_word(local_row[r]), .write(local_writes_q),
        .write_at(local_written), .write_mask(row_bytes), .write_word(local_rows[r]));
  end
  // Lanes and bytes that the load does not have are 0.
  row_t whole_row;
  always_comb begin
    whole_row = !oldest.device ? local_row[return_row_q[0]] : kept_q && return_row_q == 0 ? kept_row_q
        : device_row[return_row_q];
    for (int l = 0; l < LANES; l++)
      return_row[l] = {{16{oldest.log_bytes > 1}}, {8{oldest.log_bytes != 0}}, 8'hff} & {32{oldest.mask[l]}} & whole_row[l];
  end

  // The head of the queue.
  uop_t   head;
  lanes_t mask;
  row_t   address;
  row_t   head_data[4];
  logic   stopped_q, busy_q, head_valid, head_starts, head_done, head_waits, returns;
  logic [$clog2(RETURNS+1)-1:0] returning_q, returning_left;
  entry_t head_entry;
  assign head = uop_q[first_q];
  assign mask = mask_q[first_q];
  assign address = operands_q[first_q][0];
  assign head_entry = entry_q[first_q];
  // A load waits for a return entry before it starts. An entry given back in this cycle is free.
  assign returning_left = returning_q - $bits(returning_q)'(return_last);
  assign head_waits = !busy_q && returns && int'(returning_left) == RETURNS - int'(`BUG(170));
  // A fault stops the unit: the run is over.
  assign head_valid = count_q != 0 && !head_waits && !stopped_q;
  assign head_starts = head_valid && !busy_q;
  assign returns = head.dst_rows != 0;
  always_comb for (int r = 0; r < 4; r++) head_data[r] = operands_q[first_q][r+1];

  // Bounds and alignment. Of several lanes that fault the lowest decides.
  logic misaligned, outside, lowest_misaligned;
  logic [32:0] end_of;
  always_comb begin
    misaligned = 1'b0;
    outside = 1'b0;
    lowest_misaligned = 1'b0;
    end_of = '0;
    for (int l = LANES - 1; l >= 0; l--)
      if (mask[l]) begin
        end_of = 33'(address[l]) + (33'd1 << head.memory.log_bytes);
        if (end_of > {1'b0, head.memory.device ? launch.device_bytes : launch.local_bytes}) begin
          outside = 1'b1;
          lowest_misaligned = 1'b0;
        end
        if (head.memory.atomic && address[l][1:0] != 0 && !`BUG(140)) begin
          misaligned = 1'b1;
          lowest_misaligned = 1'b1;
        end
      end
  end

  logic refused;
  assign refused = head_starts && (misaligned || outside);

  // Local memory.
  logic local_pass, local_last, local_done;
  assign local_pass = head_valid && !head.memory.device && !refused;
  assign local_done = local_pass && local_last;
  // Local memory reads and writes in the cycle after a pass. An instruction that has left the queue still has its
  // operands in its place then.
  place_t local_place_q;
  row_t   local_data[2];
  assign local_written = entry_q[local_place_q];
  assign local_data[0] = operands_q[local_place_q][1];
  assign local_data[1] = operands_q[local_place_q][2];
  local_memory u_local (
      .clk, .rst_n, .launch, .start, .start_group, .valid(local_pass), .first(!busy_q), .group(group_of[slot_q[first_q]]),
      .memory(head.memory), .mask, .address, .last(local_last), .then_memory(uop_q[local_place_q].memory),
      .then_address(operands_q[local_place_q][0]), .then_data(local_data), .read_row(local_rows),
      .read_bytes(local_bytes));

  // The next access of the head to the L1.
  logic [LANES-1:0][1:0] left_q, left, served, all_parts;
  logic [LINE_SHIFT:0] line_end, one;
  assign one = 1;
  always_comb begin
    line_end = '0;
    for (int l = 0; l < LANES; l++) begin
      line_end = (LINE_SHIFT+1)'(address[l][LINE_SHIFT-1:0])
          + (one << head.memory.log_bytes) - one;
      all_parts[l][0] = mask[l];
      all_parts[l][1] = mask[l] && line_end[LINE_SHIFT] && !`BUG(137);
    end
  end
  assign left = busy_q ? left_q : all_parts;
  logic device_head, device_done, any_sent_q;
  assign device_head = head_valid && head.memory.device && !refused;
  logic [31:0] line, swap;
  lanes_t line_lanes;
  logic [L1_LINE_BYTES-1:0] byte_mask;
  logic [LINE_BITS-1:0] line_data;
  coalesce u_coalesce (
      .memory(head.memory), .address, .data(head_data), .left, .served, .line,
      .lanes(line_lanes), .byte_mask, .line_data, .swap);
  logic remote;
  assign remote = head.memory.atomic && head.scope inside {SCOPE_DEVICE, SCOPE_SYSTEM};
  access_t next_access;
  always_comb begin
    next_access = '0;
    next_access.load = head.memory.load;
    next_access.store = head.memory.store;
    next_access.atomic = head.memory.atomic;
    next_access.atomic_op = head.memory.atomic_op;
    next_access.remote = remote;
    next_access.hint = head.memory.hint;
    next_access.line = line;
    next_access.byte_mask = byte_mask;
    next_access.data = line_data;
    next_access.swap = swap;
    next_access.owner.entry = head_entry;
    next_access.owner.lanes = line_lanes;
    next_access.owner.posted = !returns;
    next_access.owner.core_scope = head.memory.atomic && !remote;
  end

  // The access latch. The first access of an instruction takes a pending entry, if it returns something.
  logic    latch_full_q, latch_first_q, latch_last_q;
  access_t latch_q;
  slot_t   latch_slot_q;
  seq_t    latch_seq_q;
  pc_t     latch_pc_q;
  places_t latch_places_q;
  logic [2:0] latch_log_bytes_q;
  logic    latch_left, enters, pending_full;
  entry_t  latch_entry;
  pending_t pending_free, pending_taken, latch_pending_q, latch_pending;
  assign latch_entry = latch_q.owner.entry;
  assign pending_free = ~pending_left & (pending_left + 1'b1);
  assign latch_pending = latch_first_q ? pending_free : latch_pending_q;
  assign pending_taken = access_accepted && !latch_q.owner.posted ? latch_pending : '0;
  assign pending_full = latch_first_q && !latch_q.owner.posted
      && (`BUG(136) ? $countones(pending_left) == P - 1 : pending_left == '1);
  assign access_valid = latch_full_q && !pending_full;
  // The epoch that is open when the L1 accepts it.
  always_comb begin
    access = latch_q;
    access.owner.epoch = epoch;
  end
  assign store = access_accepted && (latch_q.owner.posted || latch_q.owner.core_scope);
  assign latch_left = latch_full_q && !access_accepted;
  assign enters = device_head && !latch_left;
  assign device_done = enters && (left & ~served) == 0;

  assign head_done = local_done || device_done;
  assign local_retire = '{
      valid: local_done && !returns, slot: slot_q[first_q], rd: '0, rows: 3'd0, pred: 1'b0, access: 1'b1};
  assign local_seq = seq_q[first_q];
  assign local_pc = head.pc;
  assign device_retire = '{
      valid: access_accepted && latch_last_q && latch_q.owner.posted, slot: latch_slot_q, rd: '0,
      rows: 3'd0, pred: 1'b0, access: 1'b1};
  assign device_seq = latch_seq_q;
  assign device_pc = latch_pc_q;
  assign count_left = count_q - count_t'(head_done);
  assign room = (`BUG(138) ? int'(count_left) : int'(count_q)) < Q;

  logic [LSU_ENTRIES-1:0] free_lowest;
  always_comb begin
    free_lowest = ~used_q & (used_q + 1'b1);
    free_entry = '0;
    for (int e = 0; e < LSU_ENTRIES; e++) if (free_lowest[e]) free_entry = free_entry | entry_t'(e);
  end
  logic exhausted;
  assign exhausted = take && &used_q;

  assign fault = refused || exhausted;
  assign fault_kind = exhausted ? FAULT_LSU_ENTRIES : lowest_misaligned ? FAULT_MISALIGNED : FAULT_BOUNDS;
  assign fault_slot = slot_q[first_q];
  assign fault_pc = head.pc;
  assign begins = head_starts;
  assign begins_slot = slot_q[first_q];
  assign begins_seq = seq_q[first_q];
  assign begins_address = address;
  always_comb for (int r = 0; r < 4; r++) begins_data[r] = head_data[r];

  place_t take_at;
  assign take_at = first_q + place_t'(count_q);
  entry_t returns_last;
  assign returns_last = returns_first_q + entry_t'(returns_count_q);
  always_ff @(posedge clk) begin
    if (head_done) first_q <= first_q + 1'b1;
    count_q <= count_left + count_t'(take);
    busy_q <= head_valid && !head_done;
    stopped_q <= stopped_q || fault;
    returning_q <= returning_left + $bits(returning_q)'(head_starts && returns);
    if (take) begin
      slot_q[take_at] <= take_slot;
      seq_q[take_at] <= take_seq;
      uop_q[take_at] <= take_uop;
      mask_q[take_at] <= take_mask;
      entry_q[take_at] <= free_entry;
      for (int s = 0; s < SOURCES; s++) operands_q[take_at][s] <= take_operands[s];
      used_q[free_entry] <= 1'b1;
    end
    // Local memory: the pass of this cycle brings its bytes in the next one, and the last pass the result.
    local_place_q <= first_q;
    local_writes_q <= rst_n && local_pass && returns;
    for (int i = 0; i < LOCAL_LATENCY_CYCLES - 1; i++) begin
      local_valid_q[i] <= local_valid_q[i+1];
      local_entry_q[i] <= local_entry_q[i+1];
    end
    local_valid_q[LOCAL_LATENCY_CYCLES-1-int'(`BUG(139))] <= local_done && returns;
    local_entry_q[LOCAL_LATENCY_CYCLES-1] <= head_entry;
    // The access latch, and the L1.
    left_q <= enters ? left & ~served : left;
    any_sent_q <= head_valid && !head_done && ((any_sent_q && !head_starts) || enters);
    latch_full_q <= latch_left || device_head;
    if (enters) begin
      latch_q <= next_access;
      latch_first_q <= head_starts || !any_sent_q;
      latch_last_q <= (left & ~served) == 0;
      latch_slot_q <= slot_q[first_q];
      latch_seq_q <= seq_q[first_q];
      latch_pc_q <= head.pc;
      latch_log_bytes_q <= head.memory.log_bytes;
      for (int l = 0; l < LANES; l++) latch_places_q[l] <= address[l][LINE_SHIFT:0];
    end
    pending_used_q <= pending_left | pending_taken;
    if (access_accepted) latch_pending_q <= latch_pending;
    for (int i = 0; i < P; i++) begin
      if (answers[i]) begin
        for (int r = 0; r < 4; r++) pending_rows_q[i][r] <= merged[r];
        outstanding_q[i] <= outstanding_q[i] - 1'b1;
      end
      if (pending_taken[i]) begin
        if (latch_first_q) begin
          pending_entry_q[i] <= latch_entry;
          pending_places_q[i] <= latch_places_q;
          pending_log_bytes_q[i] <= latch_log_bytes_q;
          outstanding_q[i] <= 6'd1;
        end else outstanding_q[i] <= answers[i] ? outstanding_q[i] : outstanding_q[i] + 1'b1;
        all_sent_q[i] <= latch_last_q;
      end
    end
    // Complete loads.
    if (local_valid_q[0]) returns_q[returns_last] <= local_entry_q[0];
    if (completes) returns_q[returns_last+entry_t'(local_valid_q[0])] <= answered;
    returns_count_q <= returns_count_q + (ENTRY_BITS+1)'(local_valid_q[0]) + (ENTRY_BITS+1)'(completes)
        - (ENTRY_BITS+1)'(return_last);
    if (return_last) returns_first_q <= returns_first_q + 1'b1;
    if (return_taken) return_row_q <= return_last ? '0 : return_row_q + 1'b1;
    if (reads_oldest) begin
      oldest_entry_q <= next_entry;
      kept_q <= first_kept;
      kept_row_q <= merged[0];
    end
    if (return_last) used_q[oldest_entry_q] <= 1'b0;
    if (local_retire.valid) used_q[head_entry] <= 1'b0;
    if (device_retire.valid) used_q[latch_entry] <= 1'b0;
    if (!rst_n) begin
      first_q <= '0;
      count_q <= '0;
      busy_q <= 1'b0;
      stopped_q <= 1'b0;
      returning_q <= '0;
      used_q <= '0;
      for (int i = 0; i < LOCAL_LATENCY_CYCLES; i++) local_valid_q[i] <= 1'b0;
      returns_first_q <= '0;
      returns_count_q <= '0;
      return_row_q <= '0;
      pending_used_q <= '0;
      any_sent_q <= 1'b0;
      latch_full_q <= 1'b0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!take || int'(count_left) < Q) else $error("the queue is full");
      assert (!take || !used_q[free_entry]) else $error("an entry is taken that is in use");
      assert (!for_entry || (used_q[answered] && $onehot(answers))) else $error("a response that no entry waits for");
      assert (!return_valid || oldest_entry_q == returns_q[returns_first_q])
      else $error("the load that returns is not the oldest complete one");
      assert (!return_last || used_q[oldest_entry_q]) else $error("an entry is given back that is not in use");
      assert (int'(returning_q) <= RETURNS) else $error("more loads than return entries");
      assert (!access_accepted || latch_q.owner.posted || pending_taken != 0)
      else $error("more loads than pending entries");
      assert (!enters || served != 0) else $error("an access without a lane");
      assert (!access_accepted || latch_full_q) else $error("the L1 accepts an access that is not there");
      assert (!latch_full_q || used_q[latch_entry]) else $error("an access of an instruction that has retired");
    end
  // What coverage counts.
  `EVENT(lsu_queue_full, int'(count_q) == Q)
  `EVENT(lsu_queue_in_and_out, take && head_done)
  `EVENT(lsu_latch_refused, access_valid && !access_accepted)
  `EVENT(lsu_latch_refilled, access_accepted && device_head)
  `EVENT(lsu_pending_full, latch_full_q && pending_full)
  `EVENT(lsu_pending_freed_and_taken, completing != 0 && pending_taken != 0)
  `EVENT(lsu_answer_beside_an_access, (answers & pending_taken) != 0)
  `EVENT(lsu_load_waits_for_a_return_entry, count_q != 0 && head_waits)
  `EVENT(lsu_returns_many, returns_count_q > 3)
  `EVENT(lsu_return_entries_half, int'(returning_q) > RETURNS / 2)
  `EVENT(lsu_completes, completes)
  `EVENT(lsu_completes_with_local, completes && local_valid_q[0])
  `EVENT(lsu_completes_into_nothing, completes && returns_count_q == 0)
  `EVENT(lsu_completes_as_the_last_returns, completes && return_last && returns_count_q == 1)
  `EVENT(lsu_return_waits_for_a_port, return_valid && !return_taken)
  `EVENT(lsu_return_of_several_rows, return_taken && !return_last)
  `EVENT(lsu_return_kept_row, return_taken && kept_q && oldest.device && return_row_q == 0)
  `EVENT(lsu_return_in_a_row, return_last && next_waits)
  `EVENT(lsu_local_in_passes, local_pass && !local_last)
  `EVENT(lsu_local_in_a_row, local_pass && local_writes_q)
  `EVENT(lsu_local_crosses_words, local_pass && local_last && head.memory.log_bytes > 2)
  `EVENT(lsu_device_in_accesses, enters && (left & ~served) != 0)
  `EVENT(lsu_lane_crosses_lines, device_head && (all_parts & {LANES{2'b10}}) != 0)
  `EVENT(lsu_lanes_share_a_line, enters && $countones(line_lanes) > 1)
  `EVENT(lsu_load_hits_two_lines, enters && head.memory.load && (left & ~served) != 0)
  `EVENT(lsu_device_posted_ends, device_retire.valid)
  `EVENT(lsu_both_retire, local_retire.valid && device_retire.valid)
  `EVENT(lsu_atomic, enters && head.memory.atomic)
  `EVENT(lsu_atomic_remote, enters && remote)
  `EVENT(lsu_atomic_blocked, enters && head.memory.atomic && (left & ~served) != 0)
  `EVENT(lsu_compare_and_swap, enters && head.memory.atomic && head.memory.atomic_op == ATOMIC_CAS)
  `EVENT(lsu_store_with_acknowledgement, store && acknowledge)
  `EVENT(lsu_misaligned, head_starts && misaligned)
  `EVENT(lsu_outside, head_starts && outside)
  `EVENT(lsu_lanes_fault_apart, head_starts && outside && misaligned)
  `EVENT(lsu_streaming, enters && head.memory.hint == HINT_STREAMING)
  `EVENT(lsu_uncached, enters && head.memory.hint == HINT_UNCACHED)
  `EVENT(lsu_narrow, enters && head.memory.log_bytes < 2)
  `EVENT(lsu_wide, enters && head.memory.log_bytes == 4)
  `EVENT(lsu_ends_of_line, enters && byte_mask[0] && byte_mask[L1_LINE_BYTES-1])
endmodule
