// Runs a core in SystemVerilog from a stimulus file and writes what happens to standard output, as records that
// rtl-tests/README.md describes. Plays the memory side as the simulator's scripted memory does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "Vwave_bench.h"
#include "Vwave_bench__Dpi.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#if EVENTS
// events.cpp
extern bool events_count;                       // in the cycles in which this is true
void events_of_cycle();                         // after each cycle
bool events_write(const std::string& path);
#endif

namespace {

constexpr int kLineBytes = 32;
constexpr uint32_t kMagic = 0x4d545357;  // "WSTM"

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  // Completes the waveform.
  Verilated::runExitCallbacks();
  std::exit(2);
}

struct Stimulus {
  std::vector<uint32_t> words;
  size_t at = 0;
  explicit Stimulus(const char* path) {
    FILE* file = std::fopen(path, "rb");
    if (!file) fail(std::string("cannot read ") + path);
    uint32_t word;
    while (std::fread(&word, 4, 1, file) == 1) words.push_back(word);
    std::fclose(file);
  }
  uint32_t next() {
    if (at >= words.size()) fail("the stimulus file is truncated");
    return words[at++];
  }
  // A number of bytes, and these, up to a whole word.
  void bytes(std::vector<uint8_t>& to) {
    uint32_t size = next();
    to.resize((size + 3) / 4 * 4);
    for (size_t i = 0; i < to.size(); i += 4) {
      uint32_t word = next();
      std::memcpy(&to[i], &word, 4);
    }
    to.resize(size);
  }
};

// Output: 32-bit words, flushed in blocks. What the model itself prints, such as an assertion that fails, goes to the
// standard error instead.
FILE* records = nullptr;
std::vector<uint32_t> output;
void flush() {
  if (!output.empty() && std::fwrite(output.data(), 4, output.size(), records) != output.size()) std::exit(3);
  output.clear();
  std::fflush(records);
}
void take_standard_output() {
  records = fdopen(dup(STDOUT_FILENO), "wb");
  if (!records || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) fail("no standard output");
  // Where an assertion ends the run, the cycles before it are told.
  Verilated::addFlushCb([](void*) { flush(); }, nullptr);
}
uint32_t now = 0;
// Set by a core that tells the steps of a cycle, and its fault, in the next one. Packets, answers and the end of the run
// it tells in theirs, so the records of its packets wait here for those of the steps.
uint32_t trails = 0;
std::vector<uint32_t> packets;
bool quiet = false;              // of the records, only the end
bool rehearsal = false;          // no record: another launch follows
constexpr uint32_t kEnds = 8;    // the first kind that ends a run
constexpr uint32_t kPacket = 11;
// The cycle whose steps are told now.
uint32_t told() { return now - trails; }
void emit(uint32_t kind, uint32_t slot, std::initializer_list<uint32_t> fields) {
  if (rehearsal || (quiet && kind < kEnds)) return;
  output.push_back(kind | slot << 8 | static_cast<uint32_t>(fields.size()) << 16);
  output.push_back(told());
  output.insert(output.end(), fields);
}

// The records of packets of the cycles whose steps are told.
constexpr size_t kPacketWords = 2 + 7 + 8;
void tell_packets() {
  size_t due = 0;
  while (due < packets.size() && packets[due + 1] + trails <= now) due += kPacketWords;
  output.insert(output.end(), packets.begin(), packets.begin() + due);
  packets.erase(packets.begin(), packets.begin() + due);
}

// A launch with its code and its memory.
struct Launch {
  uint32_t cycles;  // after which it ends at the latest
  uint32_t base_word, end_word, registers, local_bytes, device_bytes;
  uint32_t workgroup_size[3], grid_size[3];
  uint32_t threads, waves, resident, workgroups;
  uint64_t initial_valid;
  uint32_t initial_value[64];
  uint32_t first;
  std::vector<uint8_t> code, memory;

  explicit Launch(Stimulus& s) {
    cycles = s.next();
    base_word = s.next();
    end_word = s.next();
    registers = s.next();
    local_bytes = s.next();
    device_bytes = s.next();
    for (auto& size : workgroup_size) size = s.next();
    for (auto& size : grid_size) size = s.next();
    threads = s.next();
    waves = s.next();
    resident = s.next();
    workgroups = s.next();
    initial_valid = s.next();
    initial_valid |= uint64_t(s.next()) << 32;
    for (auto& value : initial_value) value = s.next();
    s.bytes(code);
    first = s.next();
    s.bytes(memory);
  }
  void drive(Vwave_bench& top) const {
    top.base_word = base_word;
    top.end_word = end_word;
    top.registers = registers;
    top.local_bytes = local_bytes;
    top.device_bytes = device_bytes;
    for (int i = 0; i < 3; i++) top.workgroup_size[i] = workgroup_size[i];
    for (int i = 0; i < 3; i++) top.grid_size[i] = grid_size[i];
    top.thread_count = threads;
    top.waves = waves;
    top.resident = resident;
    top.workgroups = workgroups;
    top.initial_valid = initial_valid;
    for (int r = 0; r < 64; r++) top.initial_value[r] = initial_value[r];
  }
};

struct Request {
  uint64_t arrives;
  uint32_t kind, tag, code, line, mask, atomic_op, swap;
  uint32_t data[8];
};
struct Reply {
  uint64_t ready;
  uint32_t kind, tag, code, line;
  bool has_data;
  uint32_t data[8];
};

std::vector<uint8_t> memory, code;
uint32_t first = 0;                     // address of the first byte of memory
std::vector<uint32_t> latencies;
size_t next_latency = 0;
uint32_t link_latency, link_capacity, in_service, port_bytes;
bool overtakes = false;                 // replies to different lines may come out of order
std::deque<Request> arriving;
std::deque<Reply> waiting;              // at the memory side
std::deque<Reply> coming;               // on the link, `ready` is the arrival
std::deque<uint64_t> request_credits;   // on their way back to the core
std::deque<uint64_t> reply_credits;
uint32_t credits, reply_room;
uint64_t reply_port_free = 0;
uint32_t rows[8][8];
bool reply_taken = false, over = false, faulted = false;

uint32_t atomic(uint32_t op, uint32_t old, uint32_t operand, uint32_t swap) {
  switch (op) {
    case 0: return old + operand;
    case 1: return old - operand;
    case 2: return old < operand ? old : operand;
    case 3: return old > operand ? old : operand;
    case 4: return old & operand;
    case 5: return old | operand;
    case 6: return old ^ operand;
    case 7: return operand;
    default: return old == operand ? swap : old;
  }
}

// The memory side serves one request a cycle, in order. Its answer is ready after the next latency of the script, but not
// before those ahead of it, or if answers overtake one another, those ahead of it to its line.
void memory_cycle() {
  if (!arriving.empty() && arriving.front().arrives <= now && waiting.size() < in_service) {
    Request r = arriving.front();
    arriving.pop_front();
    request_credits.push_back(now + link_latency);
    Reply reply{};
    reply.tag = r.tag;
    reply.code = r.code;
    reply.line = r.line;
    std::vector<uint8_t>& space = r.code ? code : memory;
    // Where the line lies in it; past its end if it lies below its first byte.
    const uint64_t place = r.code ? r.line : r.line < first ? UINT32_MAX : r.line - first;
    uint8_t line[kLineBytes] = {};
    for (int i = 0; i < kLineBytes; i++)
      if (place + i < space.size()) line[i] = space[place + i];
    uint8_t sent[kLineBytes];
    std::memcpy(sent, r.data, kLineBytes);
    switch (r.kind) {
      case 0:
        reply.kind = 0;
        reply.has_data = true;
        std::memcpy(reply.data, line, kLineBytes);
        break;
      case 1:
        reply.kind = 1;
        for (int i = 0; i < kLineBytes; i++)
          if (r.mask >> i & 1 && place + i < space.size()) space[place + i] = sent[i];
        break;
      case 2:
        reply.kind = 2;
        reply.has_data = true;
        for (int i = 0; i < kLineBytes; i += 4)
          if (r.mask >> i & 1) {
            uint32_t old, operand;
            std::memcpy(&old, line + i, 4);
            std::memcpy(&operand, sent + i, 4);
            reply.data[i / 4] = old;
            uint32_t result = atomic(r.atomic_op, old, operand, r.swap);
            if (place + i + 4 <= space.size()) std::memcpy(&space[place + i], &result, 4);
          }
        break;
      default: reply.kind = 3; break;
    }
    uint64_t ready = now + latencies[next_latency++ % latencies.size()];
    for (const Reply& ahead : waiting)
      if ((!overtakes || (ahead.code == reply.code && ahead.line == reply.line)) && ahead.ready > ready)
        ready = ahead.ready;
    reply.ready = ready;
    waiting.push_back(reply);
  }
  while (!reply_credits.empty() && reply_credits.front() <= now) {
    reply_credits.pop_front();
    reply_room++;
  }
  auto oldest = waiting.begin();
  while (oldest != waiting.end() && oldest->ready > now) oldest++;
  if (oldest != waiting.end() && reply_port_free <= now && reply_room > 0) {
    Reply reply = *oldest;
    waiting.erase(oldest);
    reply_room--;
    uint32_t bytes = 8 + (reply.has_data ? kLineBytes : 0);
    uint32_t cycles = (bytes + port_bytes - 1) / port_bytes;
    reply_port_free = now + cycles;
    reply.ready = now + cycles - 1 + link_latency;
    coming.push_back(reply);
  }
}

}  // namespace

extern "C" {
void bench_step(int kind, int slot, int seq, int pc) { emit(kind, slot, {uint32_t(seq), uint32_t(pc)}); }
void bench_issue(int slot, int seq, int pc, int retires, int words, int word0, int word1, int active, int lanes,
                 int wave, int gx, int gy, int gz, int next_pc, int ends) {
  emit(2, slot, {uint32_t(seq), uint32_t(pc), uint32_t(retires), uint32_t(words), uint32_t(word0), uint32_t(word1),
                 uint32_t(active), uint32_t(lanes), uint32_t(wave), uint32_t(gx), uint32_t(gy), uint32_t(gz),
                 uint32_t(next_pc), uint32_t(ends)});
}
void bench_row(int place, int w0, int w1, int w2, int w3, int w4, int w5, int w6, int w7) {
  const int row[8] = {w0, w1, w2, w3, w4, w5, w6, w7};
  std::memcpy(rows[place], row, sizeof row);
}
void bench_access(int slot, int seq) {
  if (quiet || rehearsal) return;
  output.push_back(6 | uint32_t(slot) << 8 | 41u << 16);
  output.push_back(told());
  output.push_back(uint32_t(seq));
  for (int r = 0; r < 5; r++) output.insert(output.end(), rows[r], rows[r] + 8);
}
void bench_retire(int slot, int seq, int pc, int is_pred, int index, int value) {
  emit(5, slot, {uint32_t(seq), uint32_t(pc), uint32_t(is_pred), uint32_t(index), uint32_t(value)});
}
void bench_write(int slot, int reg) {
  if (quiet || rehearsal) return;
  output.push_back(7 | uint32_t(slot) << 8 | 9u << 16);
  output.push_back(told());
  output.push_back(uint32_t(reg));
  output.insert(output.end(), rows[0], rows[0] + 8);
}
void bench_fault(int kind, int slot, int pc) {
  faulted = true;
  tell_packets();
  emit(8, slot, {uint32_t(kind), uint32_t(pc)});
}
void bench_request(int kind, int tag, int code_space, int line, int mask, int atomic_op, int swap, int hint) {
  Request r{};
  bool payload = (kind == 1 || kind == 2) && mask != 0;
  uint32_t cycles = (8 + (payload ? kLineBytes : 0) + port_bytes - 1) / port_bytes;
  r.arrives = uint64_t(now) + cycles - 1 + link_latency;
  r.kind = kind;
  r.tag = tag;
  r.code = code_space;
  r.line = line;
  r.mask = mask;
  r.atomic_op = atomic_op;
  r.swap = swap;
  std::memcpy(r.data, rows[0], sizeof r.data);
  arriving.push_back(r);
  if (credits == 0) fail("a packet was sent without a credit");
  credits--;
  if (quiet || rehearsal) return;
  packets.push_back(kPacket | (kPacketWords - 2) << 16);
  packets.push_back(now);
  for (int field : {kind, code_space, line, mask, atomic_op, swap, hint}) packets.push_back(uint32_t(field));
  packets.insert(packets.end(), r.data, r.data + 8);
  if (trails == 0) tell_packets();
}
void bench_reply_taken() { reply_taken = true; }
void bench_over() { over = true; }
void bench_trails() { trails = 1; }
}

int main(int argc, char** argv) {
  take_standard_output();
  Verilated::commandArgs(argc, argv);
  if (argc < 2) fail("usage: wave_bench STIMULUS [+quiet] [+fst+FROM+TO+FILE] [+coverage+FILE] [+events+FILE]");
  Stimulus s(argv[1]);
  if (s.next() != kMagic || s.next() != 4) fail("not a stimulus file of version 4");
  // What reset does not set is random. The model takes its initial values when it is made.
  Verilated::randSeed(static_cast<int>(s.next()));
  Verilated::randReset(2);
  auto top = std::make_unique<Vwave_bench>();
  link_latency = s.next();
  link_capacity = s.next();
  in_service = s.next();
  port_bytes = s.next();
  overtakes = s.next() != 0;
  latencies.resize(s.next());
  for (auto& latency : latencies) latency = s.next();
  if (latencies.empty()) fail("no latencies");
  // The last one is compared.
  std::vector<Launch> launches;
  for (uint32_t left = s.next(); left > 0; left--) launches.emplace_back(s);
  if (launches.empty()) fail("no launch");

  std::string coverage_path, events_path;
#if VM_TRACE_FST
  VerilatedFstC fst;
  uint32_t fst_from = 0, fst_to = 0;
#endif
  for (int i = 2; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument == "+quiet") quiet = true;
    if (argument.rfind("+coverage+", 0) == 0) coverage_path = argument.substr(std::strlen("+coverage+"));
    if (argument.rfind("+events+", 0) == 0) events_path = argument.substr(std::strlen("+events+"));
#if VM_TRACE_FST
    int path = 0;
    if (std::sscanf(argv[i], "+fst+%u+%u+%n", &fst_from, &fst_to, &path) == 2 && path > 0) {
      Verilated::traceEverOn(true);
      top->trace(&fst, 99);
      fst.open(argv[i] + path);
    }
#endif
  }

  // What is left to do when the run is over.
  auto finish = [&](int code) {
#if VM_TRACE_FST
    // Before the last record: who has read that one may end this process.
    if (fst.isOpen()) fst.close();
#endif
    flush();
#if VM_COVERAGE
    if (!coverage_path.empty()) Verilated::threadContextp()->coveragep()->write(coverage_path.c_str());
#endif
#if EVENTS
    if (!events_path.empty() && !events_write(events_path)) fail("cannot write " + events_path);
#endif
    return code;
  };
  uint32_t max_cycles = 0;
  auto reset = [&] {
    top->rst_n = 0;
    for (int i = 0; i < 4; i++) {
      top->clk = 0;
      top->eval();
      top->clk = 1;
      top->eval();
    }
    top->rst_n = 1;
    // And the memory side.
    arriving.clear();
    waiting.clear();
    coming.clear();
    request_credits.clear();
    reply_credits.clear();
    credits = reply_room = link_capacity;
    reply_port_free = 0;
    next_latency = 0;
    over = faulted = false;
    now = 0;
  };
  auto clock = [&] {
    reply_taken = false;
    top->clk = 0;
    top->eval();
    top->clk = 1;
    top->eval();
    tell_packets();
#if EVENTS
    events_of_cycle();
#endif
#if VM_TRACE_FST
    if (fst.isOpen() && !rehearsal && now >= fst_from && now <= fst_to) fst.dump(now);
    if (fst.isOpen() && !rehearsal && now >= fst_to) fst.close();
#endif
  };
  // A cycle of the core and of the memory side. False if it is the last.
  auto cycle = [&] {
    while (!request_credits.empty() && request_credits.front() <= now) {
      request_credits.pop_front();
      credits++;
    }
    top->credit = credits > 0;
    bool arrived = !coming.empty() && coming.front().ready <= now;
    top->reply_valid = arrived;
    if (arrived) {
      const Reply& reply = coming.front();
      top->reply_kind = reply.kind;
      top->reply_tag = reply.tag;
      top->reply_line = reply.line;
      for (int i = 0; i < 8; i++) top->reply_data[i] = reply.data[i];
    }
    clock();
    if (reply_taken) {
      coming.pop_front();
      reply_credits.push_back(now + link_latency);
    }
    memory_cycle();
    return !over && !faulted && now < max_cycles;
  };
  // Launches before the one that is compared leave what they have left, but for what a reset sets.
  for (const Launch& launch : launches) {
    rehearsal = &launch != &launches.back();
    launch.drive(*top);
    code = launch.code;
    memory = launch.memory;
    first = launch.first;
    max_cycles = launch.cycles;
    reset();
#if EVENTS
    events_of_cycle();
    events_count = !rehearsal;
#endif
    for (; rehearsal && cycle(); now++) {}
  }
  for (; cycle(); now++)
    if (output.size() > 8192) flush();
  const bool ended = over;
  if (trails != 0 && !faulted) {
    // The steps of the last cycle.
    now++;
    top->credit = 0;
    top->reply_valid = 0;
    clock();
  }
  if (!ended && !faulted) {
    emit(10, 0, {});
    return finish(4);
  }
  // The end, and memory as it is then.
  if (ended) {
    output.push_back(9 | 1u << 16);
    output.push_back(told());
    output.push_back(uint32_t(memory.size()));
  }
  const int status = finish(0);
  if (ended) std::fwrite(memory.data(), 1, memory.size(), records);
  return status;
}
