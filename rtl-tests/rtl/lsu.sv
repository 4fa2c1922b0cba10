// The load/store unit (rules L1 to L8, W2): a queue of wave instructions that works on its head, a latch for the access
// to the L1 that comes next, entries that hold addresses and results, and complete loads in the order of their
// completion.
//
// Order within a cycle: results of local memory and the L1, the access in the latch, then the head of the queue, which
// puts its next access into the latch if that is empty.
`include "bugs.svh"
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
  slot_t  entry_slot_q[LSU_ENTRIES];
  seq_t   entry_seq_q[LSU_ENTRIES];
  uop_t   entry_uop_q[LSU_ENTRIES];
  lanes_t entry_mask_q[LSU_ENTRIES];
  row_t   entry_address_q[LSU_ENTRIES];
  row_t   entry_rows_q[LSU_ENTRIES][4];
  logic [5:0] outstanding_q[LSU_ENTRIES];
  logic [LSU_ENTRIES-1:0] all_sent_q;

  // Responses.
  entry_t answered;
  logic   for_entry, completes;
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
  assign completes = for_entry && outstanding_q[answered] == 1 && all_sent_q[answered];

  // The lanes' bytes of the line. It is the first or the second line that a lane touches.
  row_t merged[4];
  logic in_first;
  logic [LINE_SHIFT-1:0] offset;
  logic [15:0] all_bytes;
  logic [2*L1_LINE_BYTES-1:0] here;
  logic [2*LINE_BITS-1:0] bytes;
  always_comb begin
    all_bytes = 16'((17'd1 << (5'd1 << entry_uop_q[answered].memory.log_bytes)) - 17'd1);
    in_first = 1'b0;
    offset = '0;
    here = '0;
    bytes = '0;
    for (int r = 0; r < 4; r++) merged[r] = entry_rows_q[answered][r];
    for (int l = 0; l < LANES; l++) begin
      offset = entry_address_q[answered][l][LINE_SHIFT-1:0];
      in_first = entry_address_q[answered][l][31:LINE_SHIFT] == response.line[31:LINE_SHIFT];
      here = in_first ? {{L1_LINE_BYTES{1'b0}}, {L1_LINE_BYTES{1'b1}}} : {{L1_LINE_BYTES{1'b1}}, {L1_LINE_BYTES{1'b0}}};
      bytes = in_first ? {{LINE_BITS{1'b0}}, response.data} : {response.data, {LINE_BITS{1'b0}}};
      here = here >> offset;
      bytes = bytes >> {offset, 3'd0};
      for (int i = 0; i < 16; i++)
        if (for_entry && response.owner.lanes[l] && all_bytes[i] && here[i])
          merged[i/4][l][8*(i%4)+:8] = bytes[8*i+:8];
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
  // The oldest is in registers: the next one behind it, else one that becomes complete, when it is over or there is none.
  typedef struct packed {
    entry_t     entry;
    slot_t      slot;
    seq_t       seq;
    pc_t        pc;
    lanes_t     mask;
    reg_t       rd;
    logic [2:0] rows;
  } returning_t;
  returning_t oldest_q, oldest_next;
  logic   return_last;
  entry_t next_entry;
  assign next_entry = returns_count_q > 1 ? returns_q[returns_first_q + 1'b1]
      : local_valid_q[0] ? local_entry_q[0] : answered;
  assign oldest_next = '{
      entry: next_entry, slot: entry_slot_q[next_entry], seq: entry_seq_q[next_entry], pc: entry_uop_q[next_entry].pc,
      mask: entry_mask_q[next_entry], rd: entry_uop_q[next_entry].rd, rows: entry_uop_q[next_entry].dst_rows};
  assign return_valid = returns_count_q != 0;
  assign return_slot = oldest_q.slot;
  assign return_seq = oldest_q.seq;
  assign return_pc = oldest_q.pc;
  assign return_register = oldest_q.rd + REG_BITS'(return_row_q);
  assign return_mask = oldest_q.mask;
  assign return_row = entry_rows_q[oldest_q.entry][return_row_q];
  assign return_last = return_taken && 3'(return_row_q) + 3'd1 == oldest_q.rows;
  assign return_retire = '{
      valid: return_last, slot: return_slot, rd: oldest_q.rd, rows: oldest_q.rows, pred: 1'b0, access: 1'b1};

  // The head of the queue.
  uop_t   head;
  lanes_t mask;
  row_t   address;
  row_t   head_data[4];
  logic   busy_q, head_valid, head_starts, head_done, head_waits, returns;
  logic [$clog2(RETURNS+1)-1:0] returning_q, returning_left;
  entry_t head_entry;
  assign head = uop_q[first_q];
  assign mask = mask_q[first_q];
  assign address = operands_q[first_q][0];
  assign head_entry = entry_q[first_q];
  // A load waits for a return entry before it starts. An entry given back in this cycle is free.
  assign returning_left = returning_q - $bits(returning_q)'(return_last);
  assign head_waits = !busy_q && returns && int'(returning_left) == RETURNS - int'(`BUG(170));
  assign head_valid = count_q != 0 && !head_waits;
  assign head_starts = head_valid && !busy_q;
  assign returns = head.dst_rows != 0;
  always_comb for (int r = 0; r < 4; r++) head_data[r] = operands_q[first_q][r+1];

  // Bounds and alignment.
  logic misaligned, outside;
  logic [32:0] end_of;
  always_comb begin
    misaligned = 1'b0;
    outside = 1'b0;
    end_of = '0;
    for (int l = 0; l < LANES; l++)
      if (mask[l]) begin
        end_of = 33'(address[l]) + (33'd1 << head.memory.log_bytes);
        if (head.memory.atomic && address[l][1:0] != 0 && !`BUG(140)) misaligned = 1'b1;
        if (end_of > {1'b0, head.memory.device ? launch.device_bytes : launch.local_bytes}) outside = 1'b1;
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
  logic   local_returns_q;
  row_t   local_rows[2], local_data[2];
  logic [LANES-1:0][7:0] local_bytes;
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
  logic    latch_left, enters, pending_full;
  entry_t  latch_entry;
  typedef logic [$clog2(LSU_PENDING_ENTRIES+1)-1:0] pending_t;
  pending_t pending_q, pending;
  assign latch_entry = latch_q.owner.entry;
  assign pending = pending_q - pending_t'(completes);
  assign pending_full = latch_first_q && !latch_q.owner.posted
      && int'(pending) == LSU_PENDING_ENTRIES - int'(`BUG(136));
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
      valid: access_accepted && latch_last_q && latch_q.owner.posted, slot: entry_slot_q[latch_entry], rd: '0,
      rows: 3'd0, pred: 1'b0, access: 1'b1};
  assign device_seq = entry_seq_q[latch_entry];
  assign device_pc = entry_uop_q[latch_entry].pc;
  assign count_left = count_q - count_t'(head_done);
  assign room = (`BUG(138) ? int'(count_left) : int'(count_q)) < Q;

  logic [LSU_ENTRIES-1:0] free_lowest;
  entry_t free_entry;
  always_comb begin
    free_lowest = ~used_q & (used_q + 1'b1);
    free_entry = '0;
    for (int e = 0; e < LSU_ENTRIES; e++) if (free_lowest[e]) free_entry = free_entry | entry_t'(e);
  end
  logic exhausted;
  assign exhausted = take && &used_q;

  assign fault = refused || exhausted;
  assign fault_kind = exhausted ? FAULT_LSU_ENTRIES : misaligned ? FAULT_MISALIGNED : FAULT_BOUNDS;
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
    returning_q <= returning_left + $bits(returning_q)'(head_starts && returns);
    if (take) begin
      slot_q[take_at] <= take_slot;
      seq_q[take_at] <= take_seq;
      uop_q[take_at] <= take_uop;
      mask_q[take_at] <= take_mask;
      entry_q[take_at] <= free_entry;
      for (int s = 0; s < SOURCES; s++) operands_q[take_at][s] <= take_operands[s];
      used_q[free_entry] <= 1'b1;
      entry_slot_q[free_entry] <= take_slot;
      entry_seq_q[free_entry] <= take_seq;
      entry_uop_q[free_entry] <= take_uop;
      entry_mask_q[free_entry] <= take_mask;
      entry_address_q[free_entry] <= take_operands[0];
      for (int r = 0; r < 4; r++) entry_rows_q[free_entry][r] <= '0;
      outstanding_q[free_entry] <= '0;
      all_sent_q[free_entry] <= 1'b0;
    end
    // Local memory: the bytes read by the pass of the cycle before, and the result after the last pass.
    local_place_q <= first_q;
    local_returns_q <= returns;
    if (local_returns_q)
      for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 8; i++)
          if (local_bytes[l][i])
            entry_rows_q[entry_q[local_place_q]][i/4][l][8*(i%4)+:8] <= local_rows[i/4][l][8*(i%4)+:8];
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
    end
    pending_q <= pending;
    if (for_entry) begin
      for (int r = 0; r < 4; r++) entry_rows_q[answered][r] <= merged[r];
      outstanding_q[answered] <= outstanding_q[answered] - 1'b1;
    end
    if (access_accepted && !latch_q.owner.posted) begin
      if (latch_first_q) pending_q <= pending + 1'b1;
      outstanding_q[latch_entry] <= for_entry && answered == latch_entry ? outstanding_q[latch_entry]
                                                                          : outstanding_q[latch_entry] + 1'b1;
      all_sent_q[latch_entry] <= latch_last_q;
    end
    // Complete loads.
    if (local_valid_q[0]) returns_q[returns_last] <= local_entry_q[0];
    if (completes) returns_q[returns_last+entry_t'(local_valid_q[0])] <= answered;
    returns_count_q <= returns_count_q + (ENTRY_BITS+1)'(local_valid_q[0]) + (ENTRY_BITS+1)'(completes)
        - (ENTRY_BITS+1)'(return_last);
    if (return_last) returns_first_q <= returns_first_q + 1'b1;
    if (return_taken) return_row_q <= return_last ? '0 : return_row_q + 1'b1;
    if (return_last || returns_count_q == 0) oldest_q <= oldest_next;
    if (return_last) used_q[oldest_q.entry] <= 1'b0;
    if (local_retire.valid) used_q[head_entry] <= 1'b0;
    if (device_retire.valid) used_q[latch_entry] <= 1'b0;
    if (!rst_n) begin
      first_q <= '0;
      count_q <= '0;
      busy_q <= 1'b0;
      returning_q <= '0;
      used_q <= '0;
      for (int i = 0; i < LOCAL_LATENCY_CYCLES; i++) local_valid_q[i] <= 1'b0;
      returns_first_q <= '0;
      returns_count_q <= '0;
      return_row_q <= '0;
      pending_q <= '0;
      any_sent_q <= 1'b0;
      latch_full_q <= 1'b0;
    end
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!take || int'(count_left) < Q) else $error("the queue is full");
      assert (!take || !used_q[free_entry]) else $error("an entry is taken that is in use");
      assert (!for_entry || (used_q[answered] && outstanding_q[answered] != 0))
      else $error("a response that no entry waits for");
      assert (!return_valid || oldest_q.entry == returns_q[returns_first_q])
      else $error("the load that returns is not the oldest complete one");
      assert (!return_last || used_q[oldest_q.entry]) else $error("an entry is given back that is not in use");
      assert (int'(returning_q) <= RETURNS) else $error("more loads than return entries");
      assert (int'(pending_q) <= LSU_PENDING_ENTRIES) else $error("more loads than pending entries");
      assert (!enters || served != 0) else $error("an access without a lane");
      assert (!access_accepted || latch_full_q) else $error("the L1 accepts an access that is not there");
      assert (!latch_full_q || used_q[latch_entry]) else $error("an access of an instruction that has retired");
    end
endmodule
