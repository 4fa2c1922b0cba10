// Runs operations on the execution units. Reads requests from standard input and writes a response for each to standard
// output, in the order in which they end. All fields are 32-bit words, little-endian as the host is.
//
//   request   op | class | interval | mask | select | imm | a[8] | b[8] | c[8] | e[8]
//   response  number of the request | clocks from valid to out_valid | predicates | row[8]
//
// An operation enters in the first clock in which every operation before it has entered and the last one of its class
// is at least `interval` clocks ago. After each 1024 of them, and at the end, nothing enters until all have left and for
// a while longer: idle units have no results. One that never leaves, or that nothing asked for, ends the run with status 1.
#include "Vunits_bench.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

static constexpr int LANES = 8, OPERANDS = 4, CLASSES = 16, PORTS = 9;
static constexpr uint64_t HANG = 1000;  // clocks without a result
static constexpr uint32_t BATCH = 1024, IDLE = 100;

struct Request {
    uint32_t op, exec_class, interval, mask, select, imm, operands[OPERANDS][LANES];
};
struct Response {
    uint32_t number, clocks, pred, row[LANES];
};
struct Started {
    uint32_t number;
    uint64_t at;
};

// Port of out_valid by class: int, int_mul, int_div, fp32, fp32_div, fp16, fp64, fp64_div, convert, sfu, wave.
static constexpr int PORT[CLASSES] = {0, 1, 6, 4, 7, 5, -1, -1, 2, 8, 3, -1, -1, -1, -1, -1};

int main(int argc, char** argv) {
    const std::unique_ptr<VerilatedContext> context{new VerilatedContext};
    context->commandArgs(argc, argv);
    const std::unique_ptr<Vunits_bench> top{new Vunits_bench{context.get()}};
    uint64_t now = 0, idle = 0;
    auto half = [&](int clk) {
        top->clk = clk;
        top->eval();
    };
    top->rst_n = 0;
    top->valid = 0;
    for (int i = 0; i < 4; i++) half(0), half(1);
    top->rst_n = 1;

    std::deque<Started> pending[PORTS];
    uint64_t entered[CLASSES];
    bool used[CLASSES] = {};
    std::vector<Request> requests(1024);
    size_t have = 0, next = 0, in_flight = 0;
    uint32_t number = 0, quiet = 0;  // clocks with nothing in flight
    bool more = true, pausing = false;
    std::vector<Response> responses;
    while (true) {
        if (next == have && more) {
            have = fread(requests.data(), sizeof(Request), requests.size(), stdin);
            next = 0;
            more = have != 0;
        }
        quiet = in_flight == 0 ? quiet + 1 : 0;
        if (quiet > IDLE) pausing = false;
        if (next == have && quiet > IDLE) break;
        top->valid = 0;
        if (next < have && !pausing) {
            const Request& r = requests[next];
            const uint32_t c = r.exec_class;
            if (c >= CLASSES || PORT[c] < 0) return fprintf(stderr, "no unit for class %u\n", c), 1;
            if (!used[c] || now >= entered[c] + r.interval) {
                used[c] = true;
                entered[c] = now;
                top->valid = 1;
                top->op = r.op;
                top->exec_class = c;
                top->mask = r.mask;
                top->select = r.select;
                top->imm = r.imm;
                memcpy(&top->a, r.operands[0], sizeof r.operands[0]);
                memcpy(&top->b, r.operands[1], sizeof r.operands[1]);
                memcpy(&top->c, r.operands[2], sizeof r.operands[2]);
                memcpy(&top->e, r.operands[3], sizeof r.operands[3]);
                pending[PORT[c]].push_back({number++, now});
                in_flight++;
                next++;
                pausing = number % BATCH == 0;
            }
        }
        half(0);
        // Outputs of this clock, before its edge.
        idle++;
        for (uint32_t valids = top->out_valid; valids != 0; valids &= valids - 1) {
            const int port = __builtin_ctz(valids);
            if (pending[port].empty()) return fprintf(stderr, "a result of port %d that nothing asked for\n", port), 1;
            const Started s = pending[port].front();
            pending[port].pop_front();
            in_flight--;
            idle = 0;
            Response response = {s.number, uint32_t(now - s.at), 0, {}};
            const int bit = port * LANES;
            response.pred = (top->out_pred[bit / 32] >> (bit % 32)) & ((1u << LANES) - 1);
            memcpy(response.row, &top->out_row[port * LANES], sizeof response.row);
            responses.push_back(response);
        }
        half(1);
        now++;
        if (idle > HANG && in_flight != 0) return fprintf(stderr, "no result for %llu clocks\n", (unsigned long long)HANG), 1;
        if (responses.size() >= 1024 || (next == have && !more && in_flight == 0)) {
            fwrite(responses.data(), sizeof(Response), responses.size(), stdout);
            responses.clear();
        }
    }
    fwrite(responses.data(), sizeof(Response), responses.size(), stdout);
    top->final();
    return 0;
}
