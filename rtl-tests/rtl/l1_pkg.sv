// Types and constants shared by the parts of the L1.
package l1_pkg;
  import wave_core_pkg::*;

  localparam int WAYS = L1_WAYS;
  localparam int SETS = L1_BYTES / L1_LINE_BYTES / WAYS;
  localparam int SET_BITS = $clog2(SETS);
  localparam int WAY_BITS = $clog2(WAYS);
  localparam int MSHRS = L1_MSHRS;
  localparam int MSHR_BITS = $clog2(MSHRS);
  localparam int MERGES = L1_MSHR_MERGES;
  localparam int MERGE_BITS = $clog2(MERGES + 1);
  localparam int WORDS = L1_LINE_BYTES / 4;
  // Responses that wait: to hits, of which those within the latency are not ready yet, and of replies.
  localparam int HITS = L1_HIT_LATENCY_CYCLES + 4;
  localparam int FILLS = 2 * MERGES;
  // Requests that wait for the port.
  localparam int REQUESTS = INTERCONNECT_QUEUE_ENTRIES > 2 ? INTERCONNECT_QUEUE_ENTRIES : 2;
  typedef logic [$clog2(FILLS+1)-1:0] fill_count_t;
  typedef logic [$clog2(REQUESTS+1)-1:0] request_count_t;
  typedef logic [31-LINE_SHIFT:0] line_t;
  typedef logic [SET_BITS-1:0] set_t;
  typedef logic [WAY_BITS-1:0] way_t;
  typedef logic [WAYS-1:0] ways_t;
  typedef logic [LINE_BITS-1:0] data_t;
  typedef logic [L1_LINE_BYTES-1:0] bytes_t;

  // An access that waits for a line.
  typedef struct packed {
    owner_t      owner;
    logic [1:0]  hint;
    logic        atomic;
    logic [3:0]  atomic_op;
    bytes_t      byte_mask;
    data_t       data;
    logic [31:0] swap;
  } waiter_t;

  function automatic data_t masked(input data_t old, input bytes_t mask, input data_t value);
    data_t d;
    d = old;
    for (int i = 0; i < L1_LINE_BYTES; i++) if (mask[i]) d[8*i+:8] = value[8*i+:8];
    return d;
  endfunction
endpackage
