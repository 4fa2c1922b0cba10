// Generated from the opcode table of the simulator (sim/isa/src/rows.rs); do not edit.
// `UPDATE=1 cargo test --test generated` writes it anew.

/* verilator lint_off UNUSEDPARAM */
package wave_isa_pkg;

  localparam int WORD_BYTES = 4;
  localparam int PREDICATES = 4;

  // An operation: one for each legal (opcode, modifier).
  typedef enum logic [7:0] {
    OP_IADD = 8'd0,
    OP_ISUB = 8'd1,
    OP_IMUL = 8'd2,
    OP_IMUL_HI = 8'd3,
    OP_IMAD = 8'd4,
    OP_IDIV = 8'd5,
    OP_IMOD = 8'd6,
    OP_INEG = 8'd7,
    OP_IABS = 8'd8,
    OP_IMIN = 8'd9,
    OP_IMAX = 8'd10,
    OP_ICLAMP = 8'd11,
    OP_UMIN = 8'd12,
    OP_UMAX = 8'd13,
    OP_FADD = 8'd14,
    OP_FSUB = 8'd15,
    OP_FMUL = 8'd16,
    OP_FMA = 8'd17,
    OP_FDIV = 8'd18,
    OP_FNEG = 8'd19,
    OP_FABS = 8'd20,
    OP_FMIN = 8'd21,
    OP_FMAX = 8'd22,
    OP_FCLAMP = 8'd23,
    OP_FSQRT = 8'd24,
    OP_FRSQRT = 8'd25,
    OP_FRCP = 8'd26,
    OP_FFLOOR = 8'd27,
    OP_FCEIL = 8'd28,
    OP_FROUND = 8'd29,
    OP_FTRUNC = 8'd30,
    OP_FFRACT = 8'd31,
    OP_FSAT = 8'd32,
    OP_FSIN = 8'd33,
    OP_FCOS = 8'd34,
    OP_FEXP2 = 8'd35,
    OP_FLOG2 = 8'd36,
    OP_HADD = 8'd37,
    OP_HSUB = 8'd38,
    OP_HMUL = 8'd39,
    OP_HMA = 8'd40,
    OP_HADD2 = 8'd41,
    OP_HMUL2 = 8'd42,
    OP_HMA2 = 8'd43,
    OP_DADD = 8'd44,
    OP_DSUB = 8'd45,
    OP_DMUL = 8'd46,
    OP_DMA = 8'd47,
    OP_DDIV = 8'd48,
    OP_DSQRT = 8'd49,
    OP_AND = 8'd50,
    OP_OR = 8'd51,
    OP_XOR = 8'd52,
    OP_NOT = 8'd53,
    OP_SHL = 8'd54,
    OP_SHR = 8'd55,
    OP_SAR = 8'd56,
    OP_BITCOUNT = 8'd57,
    OP_BITFIND = 8'd58,
    OP_BITREV = 8'd59,
    OP_BFE = 8'd60,
    OP_BFI = 8'd61,
    OP_ICMP_EQ = 8'd62,
    OP_ICMP_NE = 8'd63,
    OP_ICMP_LT = 8'd64,
    OP_ICMP_LE = 8'd65,
    OP_ICMP_GT = 8'd66,
    OP_ICMP_GE = 8'd67,
    OP_UCMP_EQ = 8'd68,
    OP_UCMP_NE = 8'd69,
    OP_UCMP_LT = 8'd70,
    OP_UCMP_LE = 8'd71,
    OP_UCMP_GT = 8'd72,
    OP_UCMP_GE = 8'd73,
    OP_FCMP_EQ = 8'd74,
    OP_FCMP_NE = 8'd75,
    OP_FCMP_LT = 8'd76,
    OP_FCMP_LE = 8'd77,
    OP_FCMP_GT = 8'd78,
    OP_FCMP_GE = 8'd79,
    OP_FCMP_ORD = 8'd80,
    OP_FCMP_UNORD = 8'd81,
    OP_SELECT = 8'd82,
    OP_CVT_F32_I32 = 8'd83,
    OP_CVT_F32_U32 = 8'd84,
    OP_CVT_I32_F32 = 8'd85,
    OP_CVT_U32_F32 = 8'd86,
    OP_CVT_F32_F16 = 8'd87,
    OP_CVT_F16_F32 = 8'd88,
    OP_CVT_F32_F64 = 8'd89,
    OP_CVT_F64_F32 = 8'd90,
    OP_CVT_F32_BF16 = 8'd91,
    OP_CVT_BF16_F32 = 8'd92,
    OP_BADD = 8'd93,
    OP_BSUB = 8'd94,
    OP_BMUL = 8'd95,
    OP_BMA = 8'd96,
    OP_BADD2 = 8'd97,
    OP_BMUL2 = 8'd98,
    OP_BMA2 = 8'd99,
    OP_LOCAL_LOAD_U8 = 8'd100,
    OP_LOCAL_LOAD_U16 = 8'd101,
    OP_LOCAL_LOAD_U32 = 8'd102,
    OP_LOCAL_LOAD_U64 = 8'd103,
    OP_LOCAL_STORE_U8 = 8'd104,
    OP_LOCAL_STORE_U16 = 8'd105,
    OP_LOCAL_STORE_U32 = 8'd106,
    OP_LOCAL_STORE_U64 = 8'd107,
    OP_DEVICE_LOAD_U8 = 8'd108,
    OP_DEVICE_LOAD_U16 = 8'd109,
    OP_DEVICE_LOAD_U32 = 8'd110,
    OP_DEVICE_LOAD_U64 = 8'd111,
    OP_DEVICE_LOAD_U128 = 8'd112,
    OP_DEVICE_LOAD_U8_UNCACHED = 8'd113,
    OP_DEVICE_LOAD_U16_UNCACHED = 8'd114,
    OP_DEVICE_LOAD_U32_UNCACHED = 8'd115,
    OP_DEVICE_LOAD_U64_UNCACHED = 8'd116,
    OP_DEVICE_LOAD_U128_UNCACHED = 8'd117,
    OP_DEVICE_LOAD_U8_STREAMING = 8'd118,
    OP_DEVICE_LOAD_U16_STREAMING = 8'd119,
    OP_DEVICE_LOAD_U32_STREAMING = 8'd120,
    OP_DEVICE_LOAD_U64_STREAMING = 8'd121,
    OP_DEVICE_LOAD_U128_STREAMING = 8'd122,
    OP_DEVICE_STORE_U8 = 8'd123,
    OP_DEVICE_STORE_U16 = 8'd124,
    OP_DEVICE_STORE_U32 = 8'd125,
    OP_DEVICE_STORE_U64 = 8'd126,
    OP_DEVICE_STORE_U128 = 8'd127,
    OP_DEVICE_STORE_U8_UNCACHED = 8'd128,
    OP_DEVICE_STORE_U16_UNCACHED = 8'd129,
    OP_DEVICE_STORE_U32_UNCACHED = 8'd130,
    OP_DEVICE_STORE_U64_UNCACHED = 8'd131,
    OP_DEVICE_STORE_U128_UNCACHED = 8'd132,
    OP_DEVICE_STORE_U8_STREAMING = 8'd133,
    OP_DEVICE_STORE_U16_STREAMING = 8'd134,
    OP_DEVICE_STORE_U32_STREAMING = 8'd135,
    OP_DEVICE_STORE_U64_STREAMING = 8'd136,
    OP_DEVICE_STORE_U128_STREAMING = 8'd137,
    OP_LOCAL_ATOMIC_ADD = 8'd138,
    OP_LOCAL_ATOMIC_SUB = 8'd139,
    OP_LOCAL_ATOMIC_MIN = 8'd140,
    OP_LOCAL_ATOMIC_MAX = 8'd141,
    OP_LOCAL_ATOMIC_AND = 8'd142,
    OP_LOCAL_ATOMIC_OR = 8'd143,
    OP_LOCAL_ATOMIC_XOR = 8'd144,
    OP_LOCAL_ATOMIC_EXCHANGE = 8'd145,
    OP_LOCAL_ATOMIC_CAS = 8'd146,
    OP_ATOMIC_ADD = 8'd147,
    OP_ATOMIC_SUB = 8'd148,
    OP_ATOMIC_MIN = 8'd149,
    OP_ATOMIC_MAX = 8'd150,
    OP_ATOMIC_AND = 8'd151,
    OP_ATOMIC_OR = 8'd152,
    OP_ATOMIC_XOR = 8'd153,
    OP_ATOMIC_EXCHANGE = 8'd154,
    OP_ATOMIC_CAS = 8'd155,
    OP_WAVE_SHUFFLE = 8'd156,
    OP_WAVE_SHUFFLE_UP = 8'd157,
    OP_WAVE_SHUFFLE_DOWN = 8'd158,
    OP_WAVE_SHUFFLE_XOR = 8'd159,
    OP_WAVE_BROADCAST = 8'd160,
    OP_WAVE_BALLOT = 8'd161,
    OP_WAVE_ANY = 8'd162,
    OP_WAVE_ALL = 8'd163,
    OP_WAVE_PREFIX_SUM = 8'd164,
    OP_WAVE_REDUCE_ADD = 8'd165,
    OP_WAVE_REDUCE_MIN = 8'd166,
    OP_WAVE_REDUCE_MAX = 8'd167,
    OP_WAVE_REDUCE_AND = 8'd168,
    OP_WAVE_REDUCE_OR = 8'd169,
    OP_WAVE_REDUCE_XOR = 8'd170,
    OP_IF = 8'd171,
    OP_ELSE = 8'd172,
    OP_ENDIF = 8'd173,
    OP_LOOP = 8'd174,
    OP_BREAK = 8'd175,
    OP_CONTINUE = 8'd176,
    OP_ENDLOOP = 8'd177,
    OP_CALL = 8'd178,
    OP_RETURN = 8'd179,
    OP_HALT = 8'd180,
    OP_BARRIER = 8'd181,
    OP_FENCE_ACQUIRE = 8'd182,
    OP_FENCE_RELEASE = 8'd183,
    OP_FENCE_ACQ_REL = 8'd184,
    OP_WAIT = 8'd185,
    OP_NOP = 8'd186,
    OP_MMA_LOAD_A = 8'd187,
    OP_MMA_LOAD_B = 8'd188,
    OP_MMA_STORE_C = 8'd189,
    OP_MMA_COMPUTE = 8'd190,
    OP_MOV = 8'd191,
    OP_MOV_IMM = 8'd192,
    OP_MOV_SR = 8'd193,
    OP_ILLEGAL = 8'd255
  } op_e;

  // The kind of execution resource that an operation needs.
  typedef enum logic [3:0] {
    CLASS_INT = 4'd0,
    CLASS_INT_MUL = 4'd1,
    CLASS_INT_DIV = 4'd2,
    CLASS_FP32 = 4'd3,
    CLASS_FP32_DIV = 4'd4,
    CLASS_FP16 = 4'd5,
    CLASS_FP64 = 4'd6,
    CLASS_FP64_DIV = 4'd7,
    CLASS_CONVERT = 4'd8,
    CLASS_SFU = 4'd9,
    CLASS_WAVE = 4'd10,
    CLASS_MMA = 4'd11,
    CLASS_LOCAL_MEMORY = 4'd12,
    CLASS_DEVICE_MEMORY = 4'd13,
    CLASS_CONTROL = 4'd14,
    CLASS_SYNC = 4'd15
  } class_e;

  // How far a fence or an atomic reaches.
  typedef enum logic [1:0] {
    SCOPE_WAVE = 2'd0,
    SCOPE_WORKGROUP = 2'd1,
    SCOPE_DEVICE = 2'd2,
    SCOPE_SYSTEM = 2'd3
  } scope_e;

  // Special registers, by the rs1 field of mov_sr.
  localparam logic [7:0] SR_THREAD_ID_X = 8'd0;
  localparam logic [7:0] SR_THREAD_ID_Y = 8'd1;
  localparam logic [7:0] SR_THREAD_ID_Z = 8'd2;
  localparam logic [7:0] SR_WAVE_ID = 8'd3;
  localparam logic [7:0] SR_LANE_ID = 8'd4;
  localparam logic [7:0] SR_WORKGROUP_ID_X = 8'd5;
  localparam logic [7:0] SR_WORKGROUP_ID_Y = 8'd6;
  localparam logic [7:0] SR_WORKGROUP_ID_Z = 8'd7;
  localparam logic [7:0] SR_WORKGROUP_SIZE_X = 8'd8;
  localparam logic [7:0] SR_WORKGROUP_SIZE_Y = 8'd9;
  localparam logic [7:0] SR_WORKGROUP_SIZE_Z = 8'd10;
  localparam logic [7:0] SR_GRID_SIZE_X = 8'd11;
  localparam logic [7:0] SR_GRID_SIZE_Y = 8'd12;
  localparam logic [7:0] SR_GRID_SIZE_Z = 8'd13;
  localparam logic [7:0] SR_WAVE_WIDTH = 8'd14;
  localparam logic [7:0] SR_NUM_WAVES = 8'd15;
  localparam logic [7:0] SR_MMA_SUPPORTED = 8'd16;
  localparam logic [7:0] SR_MMA_M = 8'd17;
  localparam logic [7:0] SR_MMA_N = 8'd18;
  localparam logic [7:0] SR_MMA_K = 8'd19;
  localparam logic [7:0] SPECIAL_REGISTERS = 8'd20;

  // A row of the opcode table. Rows of registers are consecutive; 0 means that the field is not a register.
  typedef struct packed {
    op_e        op;
    class_e     exec_class;
    logic       two_words;    // word1 follows
    logic       has_imm;      // word1 is a literal or a label
    logic       has_scope;    // word1[1:0] is a scope
    logic       no_guard;     // a guard makes it illegal
    logic       needs_f64;
    logic       needs_mma;
    logic [2:0] dst_rows;     // rd: registers written
    logic       dst_optional; // rd = 0: nothing is written
    logic       dst_pred;     // rd: predicate written
    logic [2:0] a_rows;       // rs1: registers read
    logic [2:0] b_rows;       // rs2
    logic [2:0] c_rows;       // rs3
    logic [2:0] e_rows;       // rs4
    logic       src_pred;     // rs1: predicate read
    logic       src_pred_neg; // rs1[2] negates it
    logic       src_special;  // rs1: special register
  } op_info_t;

  localparam op_info_t NO_OP_INFO = '{op: OP_ILLEGAL, exec_class: CLASS_CONTROL, default: '0};

  function automatic op_info_t op_info(input logic [7:0] opcode, input logic [3:0] modifier);
    op_info_t i;
    i = NO_OP_INFO;
    case ({opcode, modifier})
      {8'h00, 4'd0}: begin i.op = OP_IADD; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h01, 4'd0}: begin i.op = OP_ISUB; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h02, 4'd0}: begin i.op = OP_IMUL; i.exec_class = CLASS_INT_MUL; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h03, 4'd0}: begin i.op = OP_IMUL_HI; i.exec_class = CLASS_INT_MUL; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h04, 4'd0}: begin i.op = OP_IMAD; i.exec_class = CLASS_INT_MUL; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h05, 4'd0}: begin i.op = OP_IDIV; i.exec_class = CLASS_INT_DIV; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h06, 4'd0}: begin i.op = OP_IMOD; i.exec_class = CLASS_INT_DIV; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h07, 4'd0}: begin i.op = OP_INEG; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h08, 4'd0}: begin i.op = OP_IABS; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h09, 4'd0}: begin i.op = OP_IMIN; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h0A, 4'd0}: begin i.op = OP_IMAX; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h0B, 4'd0}: begin i.op = OP_ICLAMP; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h0C, 4'd0}: begin i.op = OP_UMIN; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h0D, 4'd0}: begin i.op = OP_UMAX; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h10, 4'd0}: begin i.op = OP_FADD; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h11, 4'd0}: begin i.op = OP_FSUB; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h12, 4'd0}: begin i.op = OP_FMUL; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h13, 4'd0}: begin i.op = OP_FMA; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h14, 4'd0}: begin i.op = OP_FDIV; i.exec_class = CLASS_FP32_DIV; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h15, 4'd0}: begin i.op = OP_FNEG; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h16, 4'd0}: begin i.op = OP_FABS; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h17, 4'd0}: begin i.op = OP_FMIN; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h18, 4'd0}: begin i.op = OP_FMAX; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h19, 4'd0}: begin i.op = OP_FCLAMP; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h1A, 4'd0}: begin i.op = OP_FSQRT; i.exec_class = CLASS_FP32_DIV; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd0}: begin i.op = OP_FRSQRT; i.exec_class = CLASS_FP32_DIV; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd1}: begin i.op = OP_FRCP; i.exec_class = CLASS_FP32_DIV; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd2}: begin i.op = OP_FFLOOR; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd3}: begin i.op = OP_FCEIL; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd4}: begin i.op = OP_FROUND; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd5}: begin i.op = OP_FTRUNC; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd6}: begin i.op = OP_FFRACT; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd7}: begin i.op = OP_FSAT; i.exec_class = CLASS_FP32; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd8}: begin i.op = OP_FSIN; i.exec_class = CLASS_SFU; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd9}: begin i.op = OP_FCOS; i.exec_class = CLASS_SFU; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd10}: begin i.op = OP_FEXP2; i.exec_class = CLASS_SFU; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1B, 4'd11}: begin i.op = OP_FLOG2; i.exec_class = CLASS_SFU; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h1C, 4'd0}: begin i.op = OP_HADD; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h1C, 4'd1}: begin i.op = OP_HSUB; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h1C, 4'd2}: begin i.op = OP_HMUL; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h1C, 4'd3}: begin i.op = OP_HMA; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h1D, 4'd0}: begin i.op = OP_HADD2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h1D, 4'd1}: begin i.op = OP_HMUL2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h1D, 4'd2}: begin i.op = OP_HMA2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h1E, 4'd0}: begin i.op = OP_DADD; i.exec_class = CLASS_FP64; i.two_words = 1'b1; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; i.b_rows = 3'd2; end
      {8'h1E, 4'd1}: begin i.op = OP_DSUB; i.exec_class = CLASS_FP64; i.two_words = 1'b1; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; i.b_rows = 3'd2; end
      {8'h1E, 4'd2}: begin i.op = OP_DMUL; i.exec_class = CLASS_FP64; i.two_words = 1'b1; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; i.b_rows = 3'd2; end
      {8'h1E, 4'd3}: begin i.op = OP_DMA; i.exec_class = CLASS_FP64; i.two_words = 1'b1; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; i.b_rows = 3'd2; i.c_rows = 3'd2; end
      {8'h1F, 4'd0}: begin i.op = OP_DDIV; i.exec_class = CLASS_FP64_DIV; i.two_words = 1'b1; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; i.b_rows = 3'd2; end
      {8'h1F, 4'd1}: begin i.op = OP_DSQRT; i.exec_class = CLASS_FP64_DIV; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd2; end
      {8'h20, 4'd0}: begin i.op = OP_AND; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h21, 4'd0}: begin i.op = OP_OR; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h22, 4'd0}: begin i.op = OP_XOR; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h23, 4'd0}: begin i.op = OP_NOT; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h24, 4'd0}: begin i.op = OP_SHL; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h25, 4'd0}: begin i.op = OP_SHR; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h26, 4'd0}: begin i.op = OP_SAR; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h27, 4'd0}: begin i.op = OP_BITCOUNT; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h27, 4'd1}: begin i.op = OP_BITFIND; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h27, 4'd2}: begin i.op = OP_BITREV; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h27, 4'd3}: begin i.op = OP_BFE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h27, 4'd4}: begin i.op = OP_BFI; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; i.e_rows = 3'd1; end
      {8'h28, 4'd0}: begin i.op = OP_ICMP_EQ; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h28, 4'd1}: begin i.op = OP_ICMP_NE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h28, 4'd2}: begin i.op = OP_ICMP_LT; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h28, 4'd3}: begin i.op = OP_ICMP_LE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h28, 4'd4}: begin i.op = OP_ICMP_GT; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h28, 4'd5}: begin i.op = OP_ICMP_GE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd0}: begin i.op = OP_UCMP_EQ; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd1}: begin i.op = OP_UCMP_NE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd2}: begin i.op = OP_UCMP_LT; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd3}: begin i.op = OP_UCMP_LE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd4}: begin i.op = OP_UCMP_GT; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h29, 4'd5}: begin i.op = OP_UCMP_GE; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd0}: begin i.op = OP_FCMP_EQ; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd1}: begin i.op = OP_FCMP_NE; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd2}: begin i.op = OP_FCMP_LT; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd3}: begin i.op = OP_FCMP_LE; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd4}: begin i.op = OP_FCMP_GT; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd5}: begin i.op = OP_FCMP_GE; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd6}: begin i.op = OP_FCMP_ORD; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2A, 4'd7}: begin i.op = OP_FCMP_UNORD; i.exec_class = CLASS_FP32; i.two_words = 1'b1; i.dst_pred = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2B, 4'd0}: begin i.op = OP_SELECT; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.dst_rows = 3'd1; i.src_pred = 1'b1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h2C, 4'd0}: begin i.op = OP_CVT_F32_I32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd1}: begin i.op = OP_CVT_F32_U32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd2}: begin i.op = OP_CVT_I32_F32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd3}: begin i.op = OP_CVT_U32_F32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd4}: begin i.op = OP_CVT_F32_F16; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd5}: begin i.op = OP_CVT_F16_F32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd6}: begin i.op = OP_CVT_F32_F64; i.exec_class = CLASS_FP64; i.needs_f64 = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd2; end
      {8'h2C, 4'd7}: begin i.op = OP_CVT_F64_F32; i.exec_class = CLASS_FP64; i.needs_f64 = 1'b1; i.dst_rows = 3'd2; i.a_rows = 3'd1; end
      {8'h2C, 4'd8}: begin i.op = OP_CVT_F32_BF16; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2C, 4'd9}: begin i.op = OP_CVT_BF16_F32; i.exec_class = CLASS_CONVERT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h2D, 4'd0}: begin i.op = OP_BADD; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2D, 4'd1}: begin i.op = OP_BSUB; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2D, 4'd2}: begin i.op = OP_BMUL; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2D, 4'd3}: begin i.op = OP_BMA; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h2E, 4'd0}: begin i.op = OP_BADD2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2E, 4'd1}: begin i.op = OP_BMUL2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h2E, 4'd2}: begin i.op = OP_BMA2; i.exec_class = CLASS_FP16; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h30, 4'd0}: begin i.op = OP_LOCAL_LOAD_U8; i.exec_class = CLASS_LOCAL_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h30, 4'd1}: begin i.op = OP_LOCAL_LOAD_U16; i.exec_class = CLASS_LOCAL_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h30, 4'd2}: begin i.op = OP_LOCAL_LOAD_U32; i.exec_class = CLASS_LOCAL_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h30, 4'd3}: begin i.op = OP_LOCAL_LOAD_U64; i.exec_class = CLASS_LOCAL_MEMORY; i.dst_rows = 3'd2; i.a_rows = 3'd1; end
      {8'h31, 4'd0}: begin i.op = OP_LOCAL_STORE_U8; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h31, 4'd1}: begin i.op = OP_LOCAL_STORE_U16; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h31, 4'd2}: begin i.op = OP_LOCAL_STORE_U32; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h31, 4'd3}: begin i.op = OP_LOCAL_STORE_U64; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd2; end
      {8'h38, 4'd0}: begin i.op = OP_DEVICE_LOAD_U8; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd1}: begin i.op = OP_DEVICE_LOAD_U16; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd2}: begin i.op = OP_DEVICE_LOAD_U32; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd3}: begin i.op = OP_DEVICE_LOAD_U64; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd2; i.a_rows = 3'd1; end
      {8'h38, 4'd4}: begin i.op = OP_DEVICE_LOAD_U128; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd4; i.a_rows = 3'd1; end
      {8'h38, 4'd5}: begin i.op = OP_DEVICE_LOAD_U8_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd6}: begin i.op = OP_DEVICE_LOAD_U16_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd7}: begin i.op = OP_DEVICE_LOAD_U32_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd8}: begin i.op = OP_DEVICE_LOAD_U64_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd2; i.a_rows = 3'd1; end
      {8'h38, 4'd9}: begin i.op = OP_DEVICE_LOAD_U128_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd4; i.a_rows = 3'd1; end
      {8'h38, 4'd10}: begin i.op = OP_DEVICE_LOAD_U8_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd11}: begin i.op = OP_DEVICE_LOAD_U16_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd12}: begin i.op = OP_DEVICE_LOAD_U32_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h38, 4'd13}: begin i.op = OP_DEVICE_LOAD_U64_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd2; i.a_rows = 3'd1; end
      {8'h38, 4'd14}: begin i.op = OP_DEVICE_LOAD_U128_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.dst_rows = 3'd4; i.a_rows = 3'd1; end
      {8'h39, 4'd0}: begin i.op = OP_DEVICE_STORE_U8; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd1}: begin i.op = OP_DEVICE_STORE_U16; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd2}: begin i.op = OP_DEVICE_STORE_U32; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd3}: begin i.op = OP_DEVICE_STORE_U64; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd2; end
      {8'h39, 4'd4}: begin i.op = OP_DEVICE_STORE_U128; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd4; end
      {8'h39, 4'd5}: begin i.op = OP_DEVICE_STORE_U8_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd6}: begin i.op = OP_DEVICE_STORE_U16_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd7}: begin i.op = OP_DEVICE_STORE_U32_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd8}: begin i.op = OP_DEVICE_STORE_U64_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd2; end
      {8'h39, 4'd9}: begin i.op = OP_DEVICE_STORE_U128_UNCACHED; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd4; end
      {8'h39, 4'd10}: begin i.op = OP_DEVICE_STORE_U8_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd11}: begin i.op = OP_DEVICE_STORE_U16_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd12}: begin i.op = OP_DEVICE_STORE_U32_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h39, 4'd13}: begin i.op = OP_DEVICE_STORE_U64_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd2; end
      {8'h39, 4'd14}: begin i.op = OP_DEVICE_STORE_U128_STREAMING; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd4; end
      {8'h3C, 4'd0}: begin i.op = OP_LOCAL_ATOMIC_ADD; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd1}: begin i.op = OP_LOCAL_ATOMIC_SUB; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd2}: begin i.op = OP_LOCAL_ATOMIC_MIN; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd3}: begin i.op = OP_LOCAL_ATOMIC_MAX; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd4}: begin i.op = OP_LOCAL_ATOMIC_AND; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd5}: begin i.op = OP_LOCAL_ATOMIC_OR; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd6}: begin i.op = OP_LOCAL_ATOMIC_XOR; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd7}: begin i.op = OP_LOCAL_ATOMIC_EXCHANGE; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3C, 4'd8}: begin i.op = OP_LOCAL_ATOMIC_CAS; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; end
      {8'h3D, 4'd0}: begin i.op = OP_ATOMIC_ADD; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd1}: begin i.op = OP_ATOMIC_SUB; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd2}: begin i.op = OP_ATOMIC_MIN; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd3}: begin i.op = OP_ATOMIC_MAX; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd4}: begin i.op = OP_ATOMIC_AND; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd5}: begin i.op = OP_ATOMIC_OR; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd6}: begin i.op = OP_ATOMIC_XOR; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd7}: begin i.op = OP_ATOMIC_EXCHANGE; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3D, 4'd8}: begin i.op = OP_ATOMIC_CAS; i.exec_class = CLASS_DEVICE_MEMORY; i.two_words = 1'b1; i.dst_rows = 3'd1; i.dst_optional = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; i.c_rows = 3'd1; i.has_scope = 1'b1; end
      {8'h3E, 4'd0}: begin i.op = OP_WAVE_SHUFFLE; i.exec_class = CLASS_WAVE; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3E, 4'd1}: begin i.op = OP_WAVE_SHUFFLE_UP; i.exec_class = CLASS_WAVE; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3E, 4'd2}: begin i.op = OP_WAVE_SHUFFLE_DOWN; i.exec_class = CLASS_WAVE; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3E, 4'd3}: begin i.op = OP_WAVE_SHUFFLE_XOR; i.exec_class = CLASS_WAVE; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3E, 4'd4}: begin i.op = OP_WAVE_BROADCAST; i.exec_class = CLASS_WAVE; i.two_words = 1'b1; i.dst_rows = 3'd1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h3E, 4'd5}: begin i.op = OP_WAVE_BALLOT; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.src_pred = 1'b1; end
      {8'h3E, 4'd6}: begin i.op = OP_WAVE_ANY; i.exec_class = CLASS_WAVE; i.dst_pred = 1'b1; i.src_pred = 1'b1; end
      {8'h3E, 4'd7}: begin i.op = OP_WAVE_ALL; i.exec_class = CLASS_WAVE; i.dst_pred = 1'b1; i.src_pred = 1'b1; end
      {8'h3E, 4'd8}: begin i.op = OP_WAVE_PREFIX_SUM; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd9}: begin i.op = OP_WAVE_REDUCE_ADD; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd10}: begin i.op = OP_WAVE_REDUCE_MIN; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd11}: begin i.op = OP_WAVE_REDUCE_MAX; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd12}: begin i.op = OP_WAVE_REDUCE_AND; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd13}: begin i.op = OP_WAVE_REDUCE_OR; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3E, 4'd14}: begin i.op = OP_WAVE_REDUCE_XOR; i.exec_class = CLASS_WAVE; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h3F, 4'd0}: begin i.op = OP_IF; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; i.src_pred = 1'b1; i.src_pred_neg = 1'b1; end
      {8'h3F, 4'd1}: begin i.op = OP_ELSE; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; end
      {8'h3F, 4'd2}: begin i.op = OP_ENDIF; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; end
      {8'h3F, 4'd3}: begin i.op = OP_LOOP; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; end
      {8'h3F, 4'd4}: begin i.op = OP_BREAK; i.exec_class = CLASS_CONTROL; i.src_pred = 1'b1; i.src_pred_neg = 1'b1; end
      {8'h3F, 4'd5}: begin i.op = OP_CONTINUE; i.exec_class = CLASS_CONTROL; i.src_pred = 1'b1; i.src_pred_neg = 1'b1; end
      {8'h3F, 4'd6}: begin i.op = OP_ENDLOOP; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; end
      {8'h3F, 4'd7}: begin i.op = OP_CALL; i.exec_class = CLASS_CONTROL; i.two_words = 1'b1; i.has_imm = 1'b1; i.no_guard = 1'b1; end
      {8'h3F, 4'd8}: begin i.op = OP_RETURN; i.exec_class = CLASS_CONTROL; i.no_guard = 1'b1; end
      {8'h3F, 4'd9}: begin i.op = OP_HALT; i.exec_class = CLASS_CONTROL; end
      {8'h3F, 4'd10}: begin i.op = OP_BARRIER; i.exec_class = CLASS_SYNC; end
      {8'h3F, 4'd11}: begin i.op = OP_FENCE_ACQUIRE; i.exec_class = CLASS_SYNC; i.two_words = 1'b1; i.has_scope = 1'b1; end
      {8'h3F, 4'd12}: begin i.op = OP_FENCE_RELEASE; i.exec_class = CLASS_SYNC; i.two_words = 1'b1; i.has_scope = 1'b1; end
      {8'h3F, 4'd13}: begin i.op = OP_FENCE_ACQ_REL; i.exec_class = CLASS_SYNC; i.two_words = 1'b1; i.has_scope = 1'b1; end
      {8'h3F, 4'd14}: begin i.op = OP_WAIT; i.exec_class = CLASS_SYNC; end
      {8'h3F, 4'd15}: begin i.op = OP_NOP; i.exec_class = CLASS_INT; end
      {8'h40, 4'd0}: begin i.op = OP_MMA_LOAD_A; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.needs_mma = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h40, 4'd1}: begin i.op = OP_MMA_LOAD_B; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.needs_mma = 1'b1; i.a_rows = 3'd1; i.b_rows = 3'd1; end
      {8'h40, 4'd2}: begin i.op = OP_MMA_STORE_C; i.exec_class = CLASS_LOCAL_MEMORY; i.two_words = 1'b1; i.needs_mma = 1'b1; i.a_rows = 3'd1; end
      {8'h40, 4'd3}: begin i.op = OP_MMA_COMPUTE; i.exec_class = CLASS_MMA; i.two_words = 1'b1; i.needs_mma = 1'b1; end
      {8'h41, 4'd0}: begin i.op = OP_MOV; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.a_rows = 3'd1; end
      {8'h41, 4'd1}: begin i.op = OP_MOV_IMM; i.exec_class = CLASS_INT; i.two_words = 1'b1; i.has_imm = 1'b1; i.dst_rows = 3'd1; end
      {8'h41, 4'd2}: begin i.op = OP_MOV_SR; i.exec_class = CLASS_INT; i.dst_rows = 3'd1; i.src_special = 1'b1; end
      default: ;
    endcase
    return i;
  endfunction

endpackage
/* verilator lint_on UNUSEDPARAM */
