// Parameters of the machine that the RTL implements, and the types shared by its blocks. The numbers are those of
// configs/rtl.ron; a test compares them by name with the configuration's keys.

`ifndef WAVE_MAX_WAVES
`define WAVE_MAX_WAVES 32
`endif

/* verilator lint_off UNUSEDPARAM */
package wave_core_pkg;
  import wave_isa_pkg::*;

  // core
  localparam int WAVE_WIDTH = 8;
  localparam int MAX_REGISTERS = 64;
  localparam int REGISTER_FILE_BYTES = 49152;
  localparam int LOCAL_MEMORY_BYTES = 16384;
  localparam int MAX_WORKGROUPS = 4;
  localparam int MAX_WAVES = `WAVE_MAX_WAVES;
  localparam int DIVERGENCE_DEPTH = 32;
  localparam int CALL_DEPTH = 8;
  localparam int BRANCH_LATENCY_CYCLES = 2;
  localparam logic [7:0] LOCAL_POISON = 8'd0;
  // core.fetch
  localparam int FETCH_WORDS = 2;
  localparam int FETCH_BUFFER_ENTRIES = 4;
  localparam int FETCH_ICACHE_BYTES = 2048;
  localparam int FETCH_ICACHE_LINE_BYTES = 32;
  localparam int FETCH_ICACHE_WAYS = 2;
  localparam int FETCH_ICACHE_LATENCY_CYCLES = 1;
  localparam int FETCH_ICACHE_MSHRS = 2;
  // core.registers
  localparam int REGISTERS_BANKS = 4;
  localparam int REGISTERS_COLLECTORS = 2;
  localparam int REGISTERS_WRITE_PORTS = 1;
  // core.units: latency and passes of each class, lanes of each unit
  localparam int UNIT_INT_LANES = 8;
  localparam int UNIT_DIV_LANES = 8;
  localparam int UNIT_FP32_LANES = 8;
  localparam int UNIT_SFU_LANES = 2;
  localparam int INT_LATENCY_CYCLES = 2;
  localparam int INT_PASSES = 1;
  localparam int INT_MUL_LATENCY_CYCLES = 3;
  localparam int INT_MUL_PASSES = 1;
  localparam int CONVERT_LATENCY_CYCLES = 3;
  localparam int CONVERT_PASSES = 1;
  localparam int WAVE_LATENCY_CYCLES = 4;
  localparam int WAVE_PASSES = 1;
  localparam int INT_DIV_LATENCY_CYCLES = 34;
  localparam int INT_DIV_PASSES = 33;
  localparam int FP32_DIV_LATENCY_CYCLES = 30;
  localparam int FP32_DIV_PASSES = 29;
  localparam int FP32_LATENCY_CYCLES = 4;
  localparam int FP32_PASSES = 1;
  localparam int FP16_LATENCY_CYCLES = 5;
  localparam int FP16_PASSES = 1;
  localparam int SFU_LATENCY_CYCLES = 6;
  localparam int SFU_PASSES = 1;
  // core.lsu, core.local
  localparam int LSU_QUEUE_ENTRIES = 2;
  localparam int LSU_PENDING_ENTRIES = 4;
  localparam int LSU_EXTRA_RETURN_ENTRIES = 56;
  localparam int LOCAL_BANKS = 8;
  localparam int LOCAL_LATENCY_CYCLES = 3;
  // core.l1
  localparam int L1_BYTES = 2048;
  localparam int L1_LINE_BYTES = 32;
  localparam int L1_SECTOR_BYTES = 32;
  localparam int L1_WAYS = 2;
  localparam int L1_HIT_LATENCY_CYCLES = 3;
  localparam int L1_MSHRS = 4;
  localparam int L1_MSHR_MERGES = 2;
  // dispatcher, interconnect
  localparam int DISPATCHER_WORKGROUPS_PER_CYCLE = 1;
  localparam int DISPATCHER_LATENCY_CYCLES = 1;
  localparam int INTERCONNECT_PORT_BYTES_PER_CYCLE = 32;
  localparam int INTERCONNECT_QUEUE_ENTRIES = 2;

  // A result is written that many cycles after its instruction enters the unit, and holds the unit's entry that long
  // (rule X2).
  function automatic int interval_of(input int passes, input int lanes);
    return passes * ((WAVE_WIDTH + lanes - 1) / lanes);
  endfunction
  function automatic int result_of(input int latency, input int passes, input int lanes);
    return latency + interval_of(passes, lanes) - 1;
  endfunction
  localparam int INT_RESULT = result_of(INT_LATENCY_CYCLES, INT_PASSES, UNIT_INT_LANES);
  localparam int INT_MUL_RESULT = result_of(INT_MUL_LATENCY_CYCLES, INT_MUL_PASSES, UNIT_INT_LANES);
  localparam int CONVERT_RESULT = result_of(CONVERT_LATENCY_CYCLES, CONVERT_PASSES, UNIT_INT_LANES);
  localparam int WAVE_RESULT = result_of(WAVE_LATENCY_CYCLES, WAVE_PASSES, UNIT_INT_LANES);
  localparam int INT_DIV_RESULT = result_of(INT_DIV_LATENCY_CYCLES, INT_DIV_PASSES, UNIT_DIV_LANES);
  localparam int FP32_DIV_RESULT = result_of(FP32_DIV_LATENCY_CYCLES, FP32_DIV_PASSES, UNIT_DIV_LANES);
  localparam int FP32_RESULT = result_of(FP32_LATENCY_CYCLES, FP32_PASSES, UNIT_FP32_LANES);
  localparam int FP16_RESULT = result_of(FP16_LATENCY_CYCLES, FP16_PASSES, UNIT_FP32_LANES);
  localparam int SFU_RESULT = result_of(SFU_LATENCY_CYCLES, SFU_PASSES, UNIT_SFU_LANES);
  function automatic int later(input int a, input int b);
    return a > b ? a : b;
  endfunction
  // Cycles covered by reservations of write ports: one more than the longest latency.
  localparam int HORIZON = 1 + later(later(later(INT_RESULT, INT_MUL_RESULT), later(CONVERT_RESULT, WAVE_RESULT)),
      later(later(INT_DIV_RESULT, FP32_DIV_RESULT), later(later(FP32_RESULT, FP16_RESULT), SFU_RESULT)));

  // Wave slots to which the numbers above apply. The small core's register file is smaller in the same proportion.
  localparam int FULL_WAVES = 32;
  localparam int LANES = WAVE_WIDTH;
  localparam int LANE_BITS = $clog2(LANES);
  localparam int SLOT_BITS = $clog2(MAX_WAVES);
  localparam int GROUP_BITS = $clog2(MAX_WORKGROUPS);
  localparam int REG_BITS = $clog2(MAX_REGISTERS);
  localparam int BANK_BITS = $clog2(REGISTERS_BANKS);
  // Bits of a word number in the kernel.
  localparam int PC_BITS = 16;
  // Most source rows of an instruction: an address and four rows of a store.
  localparam int SOURCES = 5;
  localparam int LINE_BITS = 8 * L1_LINE_BYTES;
  localparam int LINE_SHIFT = $clog2(L1_LINE_BYTES);

  typedef logic [SLOT_BITS-1:0] slot_t;
  typedef logic [MAX_WAVES-1:0] slots_t;
  typedef logic [GROUP_BITS-1:0] group_t;
  typedef logic [LANES-1:0] lanes_t;
  typedef logic [LANES-1:0][31:0] row_t;
  typedef logic [REG_BITS-1:0] reg_t;
  typedef logic [PC_BITS-1:0] pc_t;
  // Position in the wave's issue order, modulo 2^16.
  typedef logic [15:0] seq_t;

  // How the issue stage treats an instruction.
  typedef enum logic [3:0] {
    KIND_COMPUTE, KIND_MEMORY, KIND_CONTROL, KIND_BARRIER, KIND_FENCE, KIND_WAIT, KIND_NOP, KIND_ILLEGAL, KIND_END
  } kind_e;

  // Operation of a memory instruction.
  typedef struct packed {
    logic       device;      // device memory, else local
    logic       load;
    logic       store;
    logic       atomic;
    logic [3:0] atomic_op;   // modifier of the atomic: add, sub, min, max, and, or, xor, exchange, cas
    logic [2:0] log_bytes;   // bytes of a lane
    logic [1:0] hint;        // cached, uncached, streaming
  } memory_t;

  localparam logic [1:0] HINT_CACHED = 2'd0;
  localparam logic [1:0] HINT_UNCACHED = 2'd1;
  localparam logic [1:0] HINT_STREAMING = 2'd2;
  localparam logic [3:0] ATOMIC_CAS = 4'd8;

  // A decoded instruction.
  typedef struct packed {
    kind_e                    kind;
    op_e                      op;
    class_e                   exec_class;
    pc_t                      pc;          // its first word, from the kernel's first
    logic                     two_words;
    logic [31:0]              word0;
    logic [31:0]              word1;       // also the literal; of a call the target word
    logic                     guarded;
    logic [1:0]               guard_pred;
    logic                     guard_neg;
    logic                     has_ps;      // predicate operand
    logic [1:0]               ps;
    logic                     ps_neg;
    reg_t                     rd;
    logic [2:0]               dst_rows;
    logic                     dst_pred;
    logic [SOURCES-1:0][REG_BITS-1:0] source;
    logic [SOURCES-1:0]       uses;        // source rows that it has
    logic [SOURCES-1:0]       reads;       // of these, those that no earlier one reads
    scope_e                   scope;
    logic                     acquire;
    logic                     release_;
    memory_t                  memory;
  } uop_t;

  // Of a wave's next instruction, what issue decides by.
  typedef struct packed {
    kind_e                    kind;
    logic                     collector;   // goes to a collector
    logic                     guarded;
    logic [1:0]               guard_pred;
    logic                     guard_neg;
    logic                     has_ps;
    logic [1:0]               ps;
    logic                     ps_neg;
    reg_t                     rd;
    logic [2:0]               dst_rows;
    logic                     dst_pred;
    logic                     all;         // waits for every access
    logic                     loads;       // waits for loads
    logic                     releases;
    logic                     system;      // releases at system scope
    logic                     invalidates; // acquire of device or system scope
    logic                     halts;
    logic                     returns;     // from a call, or like a halt
  } next_t;

  // Registers and predicates that a buffered instruction waits for, and what issue decides by.
  typedef logic [MAX_REGISTERS-1:0] registers_t;
  typedef logic [PREDICATES-1:0] preds_t;
  typedef struct packed {
    registers_t registers;
    preds_t     preds;
    next_t      next;
  } needs_t;

  // The registers of an operand.
  function automatic registers_t rows_of(input reg_t first, input logic [2:0] rows);
    registers_t one, set;
    one = registers_t'(1) << first;
    set = '0;
    for (int i = 0; i < 4; i++) if (i < int'(rows)) set = set | (one << i);
    return set;
  endfunction

  // Why a kernel stopped.
  typedef enum logic [3:0] {
    FAULT_ILLEGAL, FAULT_UNDERFLOW, FAULT_OVERFLOW, FAULT_CALL_OVERFLOW, FAULT_RETURN_DEPTH, FAULT_BARRIER,
    FAULT_BOUNDS, FAULT_MISALIGNED, FAULT_LSU_ENTRIES
  } fault_e;

  // Fraction bits of a reciprocal.
  localparam int RECIPROCAL_BITS = 20;

  // State shared by all workgroups of a launch; constant while it runs.
  typedef struct packed {
    logic [31:0]           base_word;       // first word of the kernel in the code section
    pc_t                   end_word;        // words of the kernel
    logic [8:0]            registers;
    logic [31:0]           local_bytes;     // of a workgroup
    logic [31:0]           device_bytes;
    logic [2:0][31:0]      workgroup_size;
    logic [2:0][31:0]      grid_size;
    // Of the workgroup's size in x and y: floor(2^20 / size) + 1. As `resident`, a driver computes it. With it the core
    // divides numbers below 2^10 exactly.
    logic [1:0][RECIPROCAL_BITS:0] reciprocal;
    logic [31:0]           threads;         // of a workgroup
    logic [31:0]           waves;           // of a workgroup
    logic [31:0]           resident;        // workgroups that fit on the core
    logic [31:0]           workgroups;      // of the grid
  } launch_t;

  // An instruction that acts in the cycle after its issue, in stage resolve.
  typedef struct packed {
    slot_t       slot;
    logic        control;     // control instruction
    logic        ends;        // that ends its wave
    logic        end_mark;    // end of the code
    logic        barrier;
    logic        fence;       // squashed or not
    logic        invalidate;  // acquire of device or system scope
    logic        accessing;   // an access of its wave was outstanding at its issue
    op_e         op;
    lanes_t      guard;
    lanes_t      condition;
    pc_t         next;        // the word behind it
    pc_t         target;      // of a call
  } act_t;

  // A retiring instruction, to the scoreboard.
  typedef struct packed {
    logic        valid;
    slot_t       slot;
    reg_t        rd;
    logic [2:0]  rows;
    logic        pred;      // rd[1:0] is a predicate
    logic        access;    // memory instruction
  } retire_t;

  // The classes served by execution units have the lowest numbers.
  localparam int CLASSES = 11;
  // What can retire in a cycle: a result of each class, a load, and what returns nothing of local and of device memory.
  localparam int RETIRE_PORTS = CLASSES + 3;
  localparam int RETIRE_LOAD = CLASSES;
  localparam int RETIRE_LOCAL = CLASSES + 1;
  localparam int RETIRE_DEVICE = CLASSES + 2;
  // What can write predicates in a cycle: results of classes int, wave and fp32.
  localparam int PRED_PORTS = 3;
  localparam int PRED_CLASS[PRED_PORTS] = '{int'(CLASS_INT), int'(CLASS_WAVE), int'(CLASS_FP32)};

  // A result of an execution unit that is due in this cycle.
  typedef struct packed {
    logic        valid;
    slot_t       slot;
    seq_t        seq;
    pc_t         pc;
    lanes_t      mask;
    reg_t        rd;
    logic [2:0]  rows;
    logic        pred;
  } result_t;

  // Kinds of packets, on the memory port.
  typedef enum logic [1:0] { REQUEST_READ, REQUEST_WRITE, REQUEST_ATOMIC, REQUEST_RELEASE } request_e;
  typedef enum logic [1:0] { REPLY_DATA, REPLY_WRITE_ACK, REPLY_ATOMIC_OLD, REPLY_RELEASED } reply_e;
  // Tag bit of the instruction cache's requests.
  localparam int ICACHE_TAG_BIT = 31;

  typedef struct packed {
    request_e               kind;
    logic [31:0]            tag;
    logic                   code;        // code space
    logic [31:0]            line;        // address of the line
    logic [L1_LINE_BYTES-1:0] byte_mask;
    logic [LINE_BITS-1:0]   data;
    logic [3:0]             atomic_op;
    logic [31:0]            swap;
    logic [1:0]             hint;
  } request_t;

  typedef struct packed {
    reply_e                 kind;
    logic [31:0]            tag;
    logic [31:0]            line;
    logic [LINE_BITS-1:0]   data;
  } reply_t;

  // Receiver of an L1 response.
  localparam int LSU_ENTRIES = 64;
  localparam int ENTRY_BITS = $clog2(LSU_ENTRIES);
  typedef struct packed {
    logic                   epoch;       // of a store
    logic                   posted;      // nothing comes back
    logic                   core_scope;  // the L1 performs it
    lanes_t                 lanes;       // lanes of the packet
    logic [ENTRY_BITS-1:0]  entry;
  } owner_t;
  localparam int OWNER_BITS = $bits(owner_t);

  // An access of the load/store unit to the L1: one line.
  typedef struct packed {
    logic                   load;
    logic                   store;
    logic                   atomic;
    logic [3:0]             atomic_op;
    logic                   remote;      // atomic of device or system scope
    logic [1:0]             hint;
    logic [31:0]            line;
    logic [L1_LINE_BYTES-1:0] byte_mask;
    logic [LINE_BITS-1:0]   data;
    logic [31:0]            swap;
    owner_t                 owner;
  } access_t;

  typedef enum logic [1:0] { RESPONSE_LOADED, RESPONSE_STORED, RESPONSE_ATOMIC_OLD } response_e;
  typedef struct packed {
    response_e              kind;
    owner_t                 owner;
    logic [31:0]            line;
    logic [LINE_BITS-1:0]   data;
  } response_t;

  // Report of a cycle.
  typedef struct packed {
    logic  valid;
    slot_t slot;
    seq_t  seq;
    pc_t   pc;
  } step_t;
  typedef struct packed {
    step_t       fetch;
    step_t [FETCH_WORDS-1:0] decode;
    step_t       issue;
    logic        issue_retires;      // done at issue
    logic        issue_faults;       // its fault waits
    logic [31:0] issue_word0;
    logic [31:0] issue_word1;
    logic [1:0]  issue_words;
    lanes_t      issue_active;
    lanes_t      issue_lanes;        // effective
    logic [31:0] issue_wave;
    logic [2:0][31:0] issue_group;
    pc_t         issue_next;         // the word behind it
    // What the instruction that issued in the cycle before does, if it is one of control or the end mark.
    logic        acts;
    pc_t         act_next;           // the word at which its wave goes on
    logic        act_ends;
    logic        act_fault;          // it faults in the cycle of its issue
    fault_e      act_fault_kind;
    logic        act_waits;          // it faults, and its fault waits
    step_t [REGISTERS_COLLECTORS-1:0] operands;
    step_t [REGISTERS_COLLECTORS-1:0] execute;
    step_t       access;             // starts in the load/store unit
    row_t        access_address;
    row_t [3:0]  access_data;
    step_t [RETIRE_PORTS-1:0] retire;
    logic [CLASSES-1:0] retire_pred;
    logic [CLASSES-1:0][7:0] retire_index;
    lanes_t [CLASSES-1:0] retire_value;
    logic        write;              // a row of the register file
    logic [7:0]  write_slot;
    logic [7:0]  write_register;
    row_t        write_row;
    logic        fault;
    fault_e      fault_kind;
    logic [7:0]  fault_slot;
    pc_t         fault_pc;
  } trace_t;

  // The new value of a word after an atomic.
  function automatic logic [31:0] atomic_result(
      input logic [3:0] op, input logic [31:0] memory, input logic [31:0] operand, input logic [31:0] swap);
    case (op)
      4'd0: return memory + operand;
      4'd1: return memory - operand;
      4'd2: return memory < operand ? memory : operand;
      4'd3: return memory > operand ? memory : operand;
      4'd4: return memory & operand;
      4'd5: return memory | operand;
      4'd6: return memory ^ operand;
      4'd7: return operand;
      default: return memory == operand ? swap : memory;
    endcase
  endfunction

  // The lowest of a set of slots.
  function automatic slots_t lowest(input slots_t set);
    slots_t below;
    below = set << 1;
    for (int s = 1; s < MAX_WAVES; s = 2 * s) below = below | (below << s);
    return set & ~below;
  endfunction

  // A number of each wave, and that of the wave in a set of one: a tree of gates.
  typedef logic [MAX_WAVES-1:0][31:0] numbers_t;
  function automatic logic [31:0] number_of(input slots_t one, input numbers_t numbers);
    slots_t column;
    for (int n = 0; n < 32; n++) begin
      for (int w = 0; w < MAX_WAVES; w++) column[w] = one[w] && numbers[w][n];
      number_of[n] = column != 0;
    end
  endfunction
  // The slot of a set of one.
  function automatic slot_t slot_of(input slots_t one);
    slots_t column;
    for (int n = 0; n < SLOT_BITS; n++) begin
      for (int w = 0; w < MAX_WAVES; w++) column[w] = one[w] && w[n];
      slot_of[n] = column != 0;
    end
  endfunction
  // The slots behind the one of a set of one.
  function automatic slots_t slots_behind(input slots_t one);
    slots_t behind;
    behind = one << 1;
    for (int s = 1; s < MAX_WAVES; s = 2 * s) behind = behind | (behind << s);
    return behind;
  endfunction

  // Bank of a register (rule O1).
  function automatic logic [BANK_BITS-1:0] bank_of(input reg_t index, input slot_t slot);
    return BANK_BITS'(int'(index) + int'(slot));
  endfunction
endpackage
/* verilator lint_on UNUSEDPARAM */
