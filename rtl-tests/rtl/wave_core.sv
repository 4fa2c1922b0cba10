// One core with one scheduler. The blocks have the names of the simulator's files. The stages of a cycle work in the
// order of rule P1, consumers first: what a stage sees of another in the same cycle is combinational. Stage resolve is
// spread over the blocks whose state it changes: what issued in the cycle before acts in `divergence`, `workgroup`,
// `wave`, `decode`, `fetch` and the L1.
module wave_core
  import wave_isa_pkg::*;
  import wave_core_pkg::*;
(
    input  logic     clk,
    input  logic     rst_n,
    input  launch_t  launch,
    input  logic [MAX_REGISTERS-1:0] initial_valid,
    input  logic [MAX_REGISTERS-1:0][31:0] initial_value,
    // Dispatcher.
    input  logic     start_valid,
    input  logic [2:0][31:0] start_id,
    output logic [SLOT_BITS:0] done,
    output logic     idle,             // no wave and no store on its way after this cycle
    // Memory side.
    input  logic     credit,
    output logic     send,
    output request_t request,
    input  logic     reply_valid,
    input  reply_t   reply,
    output logic     reply_taken,
    output trace_t   trace
);
  // Arrival.
  slots_t started, resident, ended, at_barrier, drained, passes, in_shadow, shadow, in_call;
  lanes_t started_lanes[MAX_WAVES];
  group_t started_group, group_of[MAX_WAVES];
  logic [SLOT_BITS-1:0] wave_id[MAX_WAVES];
  logic [2:0][31:0] group_id[MAX_WORKGROUPS];
  slots_t barrier;
  logic   empty;

  // Resolve.
  act_t   acts;
  logic   jump, control_fault, redirect, end_wave, drop;
  fault_e control_fault_kind;
  pc_t    jump_target;
  slots_t ending;
  assign redirect = acts.control && jump;
  assign end_wave = acts.end_mark || acts.ends;
  assign drop = redirect || end_wave;
  always_comb begin
    ending = '0;
    ending[acts.slot] = end_wave;
  end

  // Issue.
  logic   issue_valid, issue_fault, fault_waits;
  slot_t  issue_fault_slot;
  pc_t    issue_fault_pc;
  slots_t pick, collects;
  next_t  next[MAX_WAVES];
  slot_t  slot;
  uop_t   uop;
  lanes_t active_lanes[MAX_WAVES], live_lanes[MAX_WAVES], active, condition, lanes;
  pc_t    next_pc;
  fault_e issue_fault_kind;
  seq_t   seq;
  slots_t buffered, hazard_free, drains, is_release, is_system, performed, has_room;
  slots_t release_passes, collecting;
  logic   collector_free;

  workgroup u_workgroup (
      .clk, .rst_n, .launch, .start_valid, .start_id, .started, .started_lanes, .started_group, .resident, .ended,
      .at_barrier, .drained, .reaches(acts.barrier), .end_wave, .slot(acts.slot), .passes, .barrier, .done, .empty, .group_of, .wave_id, .group_id);

  // A reply is a line of code, the end of a release, or a reply for the L1.
  logic code_reply, released, l1_reply_taken;
  assign code_reply = reply_valid && reply.tag[ICACHE_TAG_BIT];
  assign released = reply_valid && !code_reply && reply.kind == REPLY_RELEASED;
  assign reply_taken = code_reply || released || l1_reply_taken;

  // Write-back, results, load/store unit.
  result_t result[CLASSES], soon[CLASSES];
  row_t    result_row[CLASSES];
  lanes_t  result_pred[CLASSES];
  logic [REGISTERS_BANKS-1:0] reserved;
  retire_t retire[RETIRE_PORTS];
  logic    return_valid, return_taken, row_write;
  slot_t   return_slot, row_slot;
  reg_t    return_register, row_register;
  lanes_t  return_mask, row_mask;
  row_t    return_row, row_value;
  retire_t return_retire, local_retire, device_retire;
  seq_t    return_seq, local_seq, device_seq;
  pc_t     return_pc, local_pc, device_pc;
  logic    pred_write[PRED_PORTS];
  slot_t   pred_slot[PRED_PORTS];
  logic [1:0] pred_index[PRED_PORTS];
  lanes_t  pred_mask[PRED_PORTS], pred_value[PRED_PORTS];
  writeback u_writeback (
      .result, .result_row, .reserved, .return_valid, .return_slot, .return_register, .return_mask, .return_row,
      .return_taken, .write(row_write), .write_slot(row_slot), .write_register(row_register), .write_mask(row_mask),
      .write_row(row_value));
  always_comb begin
    for (int c = 0; c < CLASSES; c++) begin
      retire[c] = '{
          valid: result[c].valid, slot: result[c].slot, rd: result[c].rd, rows: result[c].rows, pred: result[c].pred,
          access: 1'b0};
    end
    for (int p = 0; p < PRED_PORTS; p++) begin
      pred_write[p] = result[PRED_CLASS[p]].valid && result[PRED_CLASS[p]].pred;
      pred_slot[p] = result[PRED_CLASS[p]].slot;
      pred_index[p] = result[PRED_CLASS[p]].rd[1:0];
      pred_mask[p] = result[PRED_CLASS[p]].mask;
      pred_value[p] = result_pred[PRED_CLASS[p]];
    end
    retire[RETIRE_LOAD] = return_retire;
    retire[RETIRE_LOCAL] = local_retire;
    retire[RETIRE_DEVICE] = device_retire;
  end

  logic   response_valid, access_valid, accepted, acknowledge, acknowledge_epoch, epoch, store;
  response_t response;
  access_t access;
  logic   lsu_room, lsu_take, lsu_fault;
  logic [$clog2(REGISTERS_COLLECTORS+1)-1:0] lsu_place;
  fault_e lsu_fault_kind;
  slot_t  lsu_fault_slot, begins_slot;
  pc_t    lsu_fault_pc;
  logic   begins;
  seq_t   begins_seq;
  row_t   begins_address, begins_data[4];

  logic   collector_complete[REGISTERS_COLLECTORS];
  slot_t  collector_slot[REGISTERS_COLLECTORS];
  seq_t   collector_seq[REGISTERS_COLLECTORS];
  uop_t   collector_uop[REGISTERS_COLLECTORS];
  lanes_t collector_mask[REGISTERS_COLLECTORS], collector_condition[REGISTERS_COLLECTORS];
  row_t   collector_operands[REGISTERS_COLLECTORS][SOURCES];
  logic [REGISTERS_COLLECTORS-1:0] leaves, finishes;

  localparam int PLACE_BITS = $clog2(REGISTERS_COLLECTORS);
  logic [PLACE_BITS-1:0] place;
  assign place = PLACE_BITS'(lsu_place);
  lsu u_lsu (
      .clk, .rst_n, .launch, .start(start_valid), .start_group(started_group), .group_of, .room(lsu_room),
      .take(lsu_take), .take_slot(collector_slot[place]), .take_seq(collector_seq[place]),
      .take_uop(collector_uop[place]), .take_mask(collector_mask[place]), .take_operands(collector_operands[place]),
      .response_valid, .response, .acknowledge, .acknowledge_epoch, .access_valid, .access,
      .access_accepted(accepted), .epoch, .store, .return_valid, .return_slot, .return_register, .return_mask,
      .return_row, .return_taken, .return_retire, .return_seq, .return_pc, .local_retire, .local_seq, .local_pc,
      .device_retire, .device_seq, .device_pc, .fault(lsu_fault), .fault_kind(lsu_fault_kind), .fault_slot(lsu_fault_slot), .fault_pc(lsu_fault_pc), .begins,
      .begins_slot, .begins_seq, .begins_address, .begins_data);

  logic l1_request_valid, l1_request_taken;
  request_t l1_request;
  l1 u_l1 (
      .clk, .rst_n, .reply_valid(reply_valid && !code_reply && !released), .reply, .reply_taken(l1_reply_taken),
      .response_valid, .response, .access_valid, .access, .accepted, .invalidate(acts.invalidate), .request_valid(l1_request_valid),
      .request(l1_request), .request_taken(l1_request_taken));

  // Releases: fences that are reached (rule B6). A wave that ends now is in a shadow, or has an empty buffer, and one that
  // leaves the barrier now is at it.
  slots_t reached;
  logic   ask, ask_taken, stores;
  assign reached = buffered & is_release & performed & ~(at_barrier | in_shadow);
  releases u_releases (
      .clk, .rst_n, .reached, .system(is_system), .issued(acts.fence), .issued_slot(acts.slot), .answer(released),
      .acknowledge, .acknowledge_epoch, .store, .open(epoch), .passes(release_passes), .ask, .ask_taken, .stores);
  assign idle = empty && !stores;

  // Dispatch, operand read.
  execute u_execute (
      .clk, .rst_n, .launch, .complete(collector_complete), .slot(collector_slot), .seq(collector_seq),
      .uop(collector_uop), .mask(collector_mask), .condition(collector_condition), .operands(collector_operands),
      .leaves, .lsu_room, .lsu_take, .lsu_place, .group_of, .wave_id, .group_id, .result, .result_row, .result_pred,
      .soon, .reserved);

  logic  read[REGISTERS_BANKS];
  slot_t read_slot[REGISTERS_BANKS];
  reg_t  read_register[REGISTERS_BANKS];
  row_t  read_row[REGISTERS_BANKS];
  collector u_collector (
      .clk, .rst_n, .complete(collector_complete), .slot(collector_slot), .seq(collector_seq), .uop(collector_uop),
      .mask(collector_mask), .condition(collector_condition), .operands(collector_operands), .leaves, .read,
      .read_slot, .read_register, .read_row, .finishes, .collecting, .free(collector_free), .take(collects != 0),
      .take_slot(slot), .take_seq(seq), .take_uop(uop), .take_mask(lanes), .take_condition(condition));
  register_file u_registers (
      .clk, .rst_n, .started, .registers(launch.registers), .initial_valid, .initial_value, .read, .read_slot,
      .read_register, .read_row, .write(row_write), .write_slot(row_slot), .write_register(row_register),
      .write_mask(row_mask), .write_row(row_value));

  // Issue.
  issue u_issue (
      .clk, .rst_n, .launch, .started, .at_barrier, .next, .buffered, .hazard_free, .drains, .release_passes,
      .collecting, .collector_free, .performed, .passes, .ending, .pred_write, .pred_slot, .pred_index, .pred_mask, .pred_value,
      .active(active_lanes), .live(live_lanes), .in_call, .control_fault, .control_fault_kind, .valid(issue_valid), .pick, .slot, .uop, .issue_active(active),
      .condition, .lanes, .collects, .reaches(barrier), .behind(next_pc), .acts, .in_shadow, .shadow, .fault(issue_fault),
      .fault_kind(issue_fault_kind), .fault_slot(issue_fault_slot), .fault_pc(issue_fault_pc), .fault_waits, .seq);
  divergence u_divergence (
      .clk, .rst_n, .started, .started_lanes, .active_lanes, .live_lanes, .in_call, .acts, .jump, .jump_target,
      .fault(control_fault), .fault_kind(control_fault_kind));

  // Decode, fetch.
  logic   arrives, group_valid, requested;
  slot_t  group_slot, requested_slot;
  pc_t    group_first, requested_first;
  logic [1:0] group_words, group_brings, push_valid;
  logic [FETCH_WORDS-1:0][31:0] group_word;
  uop_t   push_uop[FETCH_WORDS];
  needs_t push_needs[FETCH_WORDS];
  wave u_wave (
      .clk, .rst_n, .drop, .drop_slot(acts.slot), .soon, .retire, .pop(pick), .slot, .collects, .arrives,
      .brings(group_brings), .push_valid, .push_slot(group_slot), .push_uop, .push_needs, .head(uop), .next, .buffered,
      .hazard_free, .drains, .releases(is_release), .releases_system(is_system), .performed, .drained, .has_room);
  decode u_decode (
      .clk, .launch, .started, .redirect, .redirect_slot(acts.slot), .group_valid, .group_slot, .group_first,
      .group_words, .group_word, .pushes(group_brings), .push_valid, .push_uop, .push_needs);

  logic  code_valid, code_taken;
  logic [30:0] code_line;
  fetch u_fetch (
      .clk, .rst_n, .launch, .started, .reply_valid(code_reply), .reply_line(reply.tag[30:0]), .reply_data(reply.data),
      .drop, .redirect, .drop_slot(acts.slot), .redirect_target(jump_target),
      .willing(resident & has_room & ~(shadow | ended)), .arrives, .group_valid, .group_slot, .group_first,
      .group_words, .group_word, .miss_valid(code_valid), .miss_line(code_line), .miss_taken(code_taken), .requested,
      .requested_slot, .requested_first);
  memory_port u_port (
      .clk, .rst_n, .credit, .code_valid, .code_line, .code_taken, .release_valid(ask), .release_taken(ask_taken),
      .l1_valid(l1_request_valid), .l1_request, .l1_taken(l1_request_taken), .send, .request);

  // The report to the trace: every step of every instruction.
  always_comb begin
    trace = '0;
    trace.fetch = '{valid: requested, slot: requested_slot, seq: '0, pc: requested_first};
    for (int i = 0; i < FETCH_WORDS; i++)
      trace.decode[i] = '{valid: push_valid[i], slot: group_slot, seq: '0, pc: push_uop[i].pc};
    trace.issue = '{valid: issue_valid, slot: slot, seq: seq, pc: uop.pc};
    trace.issue_retires = issue_valid && collects == 0;
    trace.issue_faults = fault_waits;
    trace.issue_word0 = uop.word0;
    trace.issue_word1 = uop.word1;
    trace.issue_words = uop.kind == KIND_END ? 2'd0 : uop.two_words ? 2'd2 : 2'd1;
    trace.issue_active = active;
    trace.issue_lanes = lanes;
    trace.issue_wave = 32'(wave_id[slot]);
    trace.issue_group = group_id[group_of[slot]];
    trace.issue_next = next_pc;
    trace.acts = acts.control || acts.end_mark;
    trace.act_next = jump ? jump_target : acts.next;
    trace.act_ends = end_wave;
    trace.act_fault = control_fault && !acts.accessing;
    trace.act_waits = control_fault && acts.accessing;
    trace.act_fault_kind = control_fault_kind;
    for (int k = 0; k < REGISTERS_COLLECTORS; k++) begin
      trace.operands[k] = '{
          valid: finishes[k], slot: collector_slot[k], seq: collector_seq[k], pc: collector_uop[k].pc};
      trace.execute[k] = '{valid: leaves[k], slot: collector_slot[k], seq: collector_seq[k], pc: collector_uop[k].pc};
    end
    trace.access = '{valid: begins, slot: begins_slot, seq: begins_seq, pc: '0};
    trace.access_address = begins_address;
    for (int r = 0; r < 4; r++) trace.access_data[r] = begins_data[r];
    for (int c = 0; c < CLASSES; c++) begin
      trace.retire[c] = '{valid: result[c].valid, slot: result[c].slot, seq: result[c].seq, pc: result[c].pc};
      trace.retire_pred[c] = result[c].valid && result[c].pred;
      trace.retire_index[c] = 8'(result[c].rd);
      trace.retire_value[c] = result_pred[c];
    end
    trace.retire[RETIRE_LOAD] = '{valid: return_retire.valid, slot: return_slot, seq: return_seq, pc: return_pc};
    trace.retire[RETIRE_LOCAL] = '{
        valid: local_retire.valid, slot: local_retire.slot, seq: local_seq, pc: local_pc};
    trace.retire[RETIRE_DEVICE] = '{
        valid: device_retire.valid, slot: device_retire.slot, seq: device_seq, pc: device_pc};
    trace.write = row_write;
    trace.write_slot = 8'(row_slot);
    trace.write_register = 8'(row_register);
    trace.write_row = row_value;
    trace.fault = issue_fault || lsu_fault;
    trace.fault_kind = lsu_fault ? lsu_fault_kind : issue_fault_kind;
    trace.fault_slot = lsu_fault ? 8'(lsu_fault_slot) : 8'(issue_fault_slot);
    trace.fault_pc = lsu_fault ? lsu_fault_pc : issue_fault_pc;
  end

  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) assert (!issue_valid || (resident[slot] && !ended[slot])) else $error("a wave issues that is not there");
endmodule
