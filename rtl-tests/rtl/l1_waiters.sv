// Effects of a reply (docs/memory.md, M13, M16): the accesses that wait for the line are served in order, and atomics
// among them change the line. The reply to a write or to an atomic of the L2 passes unchanged.
`include "bugs.svh"
module l1_waiters
  import wave_core_pkg::*;
  import l1_pkg::*;
(
    input  logic      taken,
    input  reply_t    reply,
    input  line_t     line,                    // that is waited for
    input  logic [MERGE_BITS-1:0] waiting,
    input  waiter_t   waiter[MERGES],
    output data_t     data,                    // the line after them
    output logic      streaming,               // all of them stream
    output logic [MERGES-1:0] brings,
    output response_t brought[MERGES],
    output logic [MERGES-1:0] writes,          // atomics write through
    output request_t  write[MERGES]
);
  bytes_t written;
  always_comb begin
    data = reply.data;
    brings = '0;
    writes = '0;
    written = '0;
    streaming = 1'b1;
    for (int m = 0; m < MERGES; m++) begin
      brought[m] = '0;
      write[m] = '0;
      if (m < int'(waiting) && !(`BUG(239) && m != 0) && waiter[m].hint != HINT_STREAMING) streaming = 1'b0;
    end
    if (taken && reply.kind == REPLY_DATA) begin
      for (int m = 0; m < MERGES; m++)
        if (m < int'(waiting)) begin
          brings[m] = 1'b1;
          brought[m].kind = waiter[m].atomic ? RESPONSE_ATOMIC_OLD : RESPONSE_LOADED;
          brought[m].owner = waiter[m].owner;
          brought[m].line = {line, {LINE_SHIFT{1'b0}}};
          brought[m].data = `BUG(238) ? reply.data : data;
          if (waiter[m].atomic) begin
            written = waiter[m].byte_mask;
            for (int i = 0; i < WORDS; i++)
              if (waiter[m].byte_mask[4*i]) begin
                if (waiter[m].atomic_op == ATOMIC_CAS && data[32*i+:32] != waiter[m].data[32*i+:32])
                  written[4*i+:4] = '0;
                data[32*i+:32] =
                    atomic_result(waiter[m].atomic_op, data[32*i+:32], waiter[m].data[32*i+:32], waiter[m].swap);
              end
            writes[m] = 1'b1;
            write[m].kind = REQUEST_WRITE;
            write[m].tag = 32'(waiter[m].owner);
            write[m].line = brought[m].line;
            write[m].byte_mask = written;
            write[m].data = masked('0, written, data);
          end
        end
    end else if (taken) begin
      brings[0] = 1'b1;
      brought[0].kind = reply.kind == REPLY_WRITE_ACK ? RESPONSE_STORED : RESPONSE_ATOMIC_OLD;
      brought[0].owner = owner_t'(reply.tag);
      brought[0].line = reply.line;
      brought[0].data = reply.data;
    end
  end
endmodule
