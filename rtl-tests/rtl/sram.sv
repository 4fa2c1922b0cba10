// A memory with one read port and one write port, both clocked. Every large memory of the core is an instance of this
// module, and a macro of a foundry replaces it.
//
// The word of a read is at the output from the next cycle on, until the cycle after the next read. A write changes the
// parts of its word that the mask names. Nothing resets the contents, and nothing may depend on what they are at first.
// What a read gives that meets a write of its word is not defined, so that the core must not do that.
module sram #(
    parameter int WORDS = 2,
    parameter int WIDTH = 32,
    parameter int PARTS = 1            // of equal width, each with a bit of the mask
) (
    input  logic                     clk,
    input  logic                     rst_n,       // for the assertions alone
    input  logic                     read,
    input  logic [$clog2(WORDS)-1:0] read_at,
    output logic [WIDTH-1:0]         read_word,   // that of the last read
    input  logic                     write,
    input  logic [$clog2(WORDS)-1:0] write_at,
    input  logic [PARTS-1:0]         write_mask,
    input  logic [WIDTH-1:0]         write_word
);
  localparam int PART = WIDTH / PARTS;
  logic [WIDTH-1:0] words_q[WORDS];
  always_ff @(posedge clk) begin
    if (read) read_word <= words_q[read_at];
    if (write)
      for (int p = 0; p < PARTS; p++) if (write_mask[p]) words_q[write_at][p*PART+:PART] <= write_word[p*PART+:PART];
  end
  // What always holds. Verilator checks it in every clock.
  always_ff @(posedge clk)
    if (rst_n) begin
      assert (!(read && write && read_at == write_at)) else $error("a memory reads the word that it writes");
      assert (!read || int'(read_at) < WORDS) else $error("a memory reads behind its end");
      assert (!write || int'(write_at) < WORDS) else $error("a memory writes behind its end");
    end
endmodule
