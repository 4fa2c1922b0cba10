"""Depths of mapped netlists: how many gates lie between registers, and on the way to which register they are most.

Memories are not mapped to gates. A read port without a clock counts as a tree of multiplexers: from its address to its
data are as many gates as the address has bits that are not constant, and at most the logarithm of the words. What a memory
is written with, and the address of a read port with a clock, end at the memory.
"""

import collections
import json
import re
import sys

# Areas of cells of two inputs over that of a NAND, in the NanGate 45 nm open cell library (drive strength 1).
AREA = {"$_NOT_": 0.67, "$_BUF_": 1.0, "$_NAND_": 1.0, "$_NOR_": 1.0, "$_AND_": 1.33, "$_OR_": 1.33, "$_ANDNOT_": 1.33,
        "$_ORNOT_": 1.33, "$_XOR_": 2.0, "$_XNOR_": 2.0, "$_MUX_": 2.33}
FLIP_FLOP_AREA = 5.67


def is_flip_flop(kind):
    return "DFF" in kind


def module_of(file, top):
    """A module of a JSON netlist of yosys."""
    return json.load(open(file))["modules"][top]


def figures(module):
    """Gates, flip-flops, bits of memory, area, and the instances of each other cell."""
    kinds = collections.Counter(cell["type"] for cell in module["cells"].values())
    gates = sum(n for kind, n in kinds.items() if kind in AREA)
    flops = sum(n for kind, n in kinds.items() if is_flip_flop(kind))
    bits = sum(int(c["parameters"]["SIZE"], 2) * int(c["parameters"]["WIDTH"], 2)
               for c in module["cells"].values() if c["type"] == "$mem_v2")
    area = sum(n * (FLIP_FLOP_AREA if is_flip_flop(kind) else AREA.get(kind, 0.0)) for kind, n in kinds.items())
    return gates, flops, bits, area, kinds


class Paths:
    """Paths through a module and the modules in it, as far as `modules` has them. Other cells are black boxes, but for the
    read ports of memories without a clock."""

    def __init__(self, modules, top):
        self.modules = modules
        self.inputs = {}                # of the gate or read port that drives a net
        self.gates = {}                 # that a read port counts for, at the nets of its data; all else is one gate
        self.names = {}
        self.same = {}                  # a net that is another one, as a port is that leads to another port
        self.sinks = []                 # name of a register, memory, black box or output, and its nets
        self.nets = 0
        ports = {name: [self.new() for _ in port["bits"]] for name, port in modules[top]["ports"].items()}
        self.expand(top, "", ports)
        for name, port in modules[top]["ports"].items():
            if port["direction"] == "output":
                self.sinks.append((name, ports[name]))
        self.depth, self.deepest = {}, {}
        self.measure()

    def new(self):
        self.nets += 1
        return self.nets

    def of(self, net):
        while net in self.same:
            net = self.same[net]
        return net

    def expand(self, name, prefix, ports):
        """Adds the cells of an instance. A constant is net 0."""
        module, local = self.modules[name], {"0": 0, "1": 0, "x": 0, "z": 0}
        for wanted in ("input", "output"):
            for port, declared in module["ports"].items():
                if declared["direction"] != wanted:
                    continue
                for bit, net in zip(declared["bits"], ports.get(port, [])):
                    if bit not in local:
                        local[bit] = net
                    elif local[bit] != net:
                        self.same[net] = local[bit]
        def nets(bits):
            for bit in bits:
                if bit not in local:
                    local[bit] = self.new()
            return [local[bit] for bit in bits]
        for net, declared in module["netnames"].items():
            if not declared["hide_name"]:
                for at in nets(declared["bits"]):
                    self.names.setdefault(at, prefix + net)
        for cell_name, cell in module["cells"].items():
            ends = {port: nets(bits) for port, bits in cell["connections"].items()}
            if cell["type"] in self.modules:
                self.expand(cell["type"], f"{prefix}{cell_name}.", ends)
                continue
            if cell["type"] == "$mem_v2":
                self.read_ports(cell["parameters"], ends, prefix + cell_name)
            into = [net for port, at in ends.items() if cell["port_directions"][port] == "input" for net in at]
            out = [net for port, at in ends.items() if cell["port_directions"][port] == "output" for net in at]
            if cell["type"] in AREA:
                self.inputs[out[0]] = into
            elif is_flip_flop(cell["type"]):
                self.sinks.append((next((self.names[net] for net in out if net in self.names), prefix + cell_name), into))
            else:
                self.sinks.append((prefix + cell_name, into))

    def read_ports(self, parameters, ends, name):
        """Takes the read ports without a clock out of the ends of a memory, and puts each between its address and data."""
        width, address_bits, words = (int(parameters[key], 2) for key in ("WIDTH", "ABITS", "SIZE"))
        clocked = parameters["RD_CLK_ENABLE"][::-1]
        addresses = []
        for port in range(int(parameters["RD_PORTS"], 2)):
            address = ends["RD_ADDR"][port * address_bits:(port + 1) * address_bits]
            if clocked[port] == "1":
                addresses += address
                continue
            variable = sorted({self.of(net) for net in address} - {0})
            for net in ends["RD_DATA"][port * width:(port + 1) * width]:
                self.inputs[net] = variable
                self.gates[net] = min(len(variable), (words - 1).bit_length())
                self.names.setdefault(net, name)
        ends["RD_ADDR"] = addresses

    def measure(self):
        """Gates on the longest way to each net, and the input that it comes through."""
        open_nets = set()
        for start in self.inputs:
            stack = [start]
            while stack:
                net = stack[-1]
                if net in self.depth:
                    stack.pop()
                    continue
                into = [at for at in map(self.of, self.inputs[net]) if at in self.inputs]
                missing = [at for at in into if at not in self.depth]
                if missing:
                    if net in open_nets:
                        sys.exit(f"a combinational loop goes through {self.names.get(net, 'a net without a name')}")
                    open_nets.add(net)
                    stack.extend(missing)
                    continue
                open_nets.discard(net)
                self.deepest[net] = max(into, key=self.depth.get, default=None)
                self.depth[net] = self.gates.get(net, 1) + self.depth.get(self.deepest[net], 0)
                stack.pop()

    def longest(self):
        """The longest path to each register, memory, black box and output, longest first: gates, name, and its last net."""
        ends = {}
        for name, into in self.sinks:
            name = re.sub(r"\[\d+\]", "", name)
            for net in map(self.of, into):
                found = self.depth.get(net, 0)
                if found > ends.get(name, (-1, None))[0]:
                    ends[name] = (found, net)
        return sorted(((depth, name, net) for name, (depth, net) in ends.items()), key=lambda end: (-end[0], end[1]))

    def depth_of_all(self):
        """Gates on the longest path of all."""
        return max((depth for depth, _, _ in self.longest()), default=0)

    def path(self, net):
        """Nets with names on the longest way to a net, from its start on, each with its depth."""
        nets = [net]
        while self.deepest.get(nets[-1]) is not None:
            nets.append(self.deepest[nets[-1]])
        nets += [at for at in map(self.of, self.inputs.get(nets[-1], [])) if at in self.names][:1]
        names = {}
        for at in reversed(nets):
            if at in self.names:
                names.setdefault(self.names[at], self.depth.get(at, 0))
        return [f"{name} {depth}" for name, depth in names.items()]
