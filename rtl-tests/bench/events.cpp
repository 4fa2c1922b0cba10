// What a run meets, for the guided random programs: events of the RTL (rtl/events.svh), pairs of them in one cycle, and
// classes of operands. `+events+FILE` writes how often each was met, a line for each that was:
//
//     event NAME COUNT             cycles in which it holds
//     pair NAME NAME COUNT         cycles in which both hold
//     operands OP A B COUNT        lanes in which the first two operands are of these classes
//     relation OP WHICH COUNT      lanes in which the first two operands are so to each other
//     third OP C COUNT             lanes in which the third operand is of this class
//
// OP is the number of an operation in the order of wave_isa_pkg.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "svdpi.h"

bool events_count = false;

namespace {

std::map<std::string, int> numbers;
std::vector<std::string> names;
std::vector<uint64_t> counts;
std::vector<int> met;                                // in this cycle
std::vector<bool> is_met;
std::unordered_map<uint32_t, uint64_t> pairs, values;

// What an operand may be that matters: to integers, to shifts, to binary32.
int word_class(uint32_t w) {
  const uint32_t magnitude = w & 0x7fffffff;
  if (w == 0) return 0;
  if (w == 0x80000000) return 1;
  if (w == 0xffffffff) return 2;
  if (w == 0x7fffffff) return 3;
  if (w < 32) return 4;
  if (w == 32) return 5;
  if (w < 64) return 6;
  if (magnitude < 0x800000) return w >> 31 ? 8 : 7;  // subnormal
  if (magnitude == 0x7f800000) return w >> 31 ? 10 : 9;
  if (magnitude > 0x7f800000) return w >> 22 & 1 ? 11 : 12;
  if (magnitude < 0x01000000) return 13;             // the least normal exponent
  if (magnitude >= 0x7f000000) return 14;            // the greatest
  if (magnitude == 0x3f800000) return 15;
  return w >> 31 ? 17 : 16;
}

// The same of the low half of a word, to binary16 and bfloat16.
int half_class(uint32_t w) {
  const uint32_t h = w & 0xffff, magnitude = h & 0x7fff;
  if (magnitude == 0) return h >> 15;
  if (magnitude < 0x80) return 2;
  if (magnitude < 0x400) return 3;
  if (magnitude == 0x7c00 || magnitude == 0x7f80) return 4 + (h >> 15);
  if (magnitude > 0x7f80) return 6;
  if (magnitude > 0x7c00) return 7;
  return 8 + (h >> 15);
}

// Of two operands: equal, of opposite sign and equal else, exponents at most one apart, far apart, or neither.
int relation_of(uint32_t a, uint32_t b) {
  if (a == b) return 0;
  if ((a ^ b) == 0x80000000) return 1;
  const int apart = int(a >> 23 & 0xff) - int(b >> 23 & 0xff);
  if (apart >= -1 && apart <= 1) return (a ^ b) >> 31 ? 2 : 3;
  if (apart > 22 && apart < 27) return 4;
  if (apart < -22 && apart > -27) return 5;
  return 6;
}

constexpr uint32_t kOperands = 0, kRelation = 1, kThird = 2;
void value(uint32_t kind, uint32_t op, uint32_t a, uint32_t b) { values[kind << 24 | op << 16 | a << 8 | b]++; }

}  // namespace

extern "C" {
int bench_event_number(const char* name) {
  const auto [place, is_new] = numbers.emplace(name, int(names.size()));
  if (is_new) {
    names.push_back(name);
    counts.push_back(0);
    is_met.push_back(false);
  }
  return place->second;
}
void bench_event(int number) {
  if (is_met[number]) return;
  is_met[number] = true;
  met.push_back(number);
}
void bench_operands(int op, int halves, int lanes, const svBitVecVal* a, const svBitVecVal* b, const svBitVecVal* c) {
  if (!events_count) return;
  for (int lane = 0; lane < 8; lane++) {
    if (!(lanes >> lane & 1)) continue;
    const auto of = halves ? half_class : word_class;
    value(kOperands, op, of(a[lane]), of(b[lane]));
    value(kRelation, op, halves ? 0 : relation_of(a[lane], b[lane]), 0);
    value(kThird, op, of(c[lane]), 0);
  }
}
}

void events_of_cycle() {
  for (size_t i = 0; i < met.size(); i++) {
    is_met[met[i]] = false;
    if (!events_count) continue;
    counts[met[i]]++;
    for (size_t j = 0; j < i; j++) {
      const auto low = std::min(met[i], met[j]), high = std::max(met[i], met[j]);
      pairs[uint32_t(low) << 16 | uint32_t(high)]++;
    }
  }
  met.clear();
}

bool events_write(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  for (size_t i = 0; i < names.size(); i++) std::fprintf(file, "event %s %llu\n", names[i].c_str(), (unsigned long long)counts[i]);
  for (const auto& [pair, count] : pairs)
    std::fprintf(file, "pair %s %s %llu\n", names[pair >> 16].c_str(), names[pair & 0xffff].c_str(), (unsigned long long)count);
  for (const auto& [bin, count] : values) {
    const uint32_t kind = bin >> 24, op = bin >> 16 & 0xff, a = bin >> 8 & 0xff, b = bin & 0xff;
    if (kind == kOperands) std::fprintf(file, "operands %u %u %u %llu\n", op, a, b, (unsigned long long)count);
    if (kind == kRelation) std::fprintf(file, "relation %u %u %llu\n", op, a, (unsigned long long)count);
    if (kind == kThird) std::fprintf(file, "third %u %u %llu\n", op, a, (unsigned long long)count);
  }
  return std::fclose(file) == 0;
}
