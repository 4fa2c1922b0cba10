"""Depths of a mapped netlist: how many gates lie between registers, and on the way to which register they are most."""

import collections
import json
import re

# Areas of cells of two inputs over that of a NAND, in the NanGate 45 nm open cell library (drive strength 1).
AREA = {"$_NOT_": 0.67, "$_BUF_": 1.0, "$_NAND_": 1.0, "$_NOR_": 1.0, "$_AND_": 1.33, "$_OR_": 1.33, "$_ANDNOT_": 1.33,
        "$_ORNOT_": 1.33, "$_XOR_": 2.0, "$_XNOR_": 2.0, "$_MUX_": 2.33}
FLIP_FLOP_AREA = 5.67


def is_gate(kind):
    return kind in AREA


def is_flip_flop(kind):
    return "DFF" in kind


class Netlist:
    """A module of a JSON netlist of yosys: gates, flip-flops, and other cells, which are black boxes."""

    def __init__(self, file, top):
        module = json.load(open(file))["modules"][top]
        self.cells = module["cells"]
        self.names = {}
        for name, net in module["netnames"].items():
            for bit, number in enumerate(net["bits"]):
                # The shortest name that the source gave it.
                if not net["hide_name"] and (number not in self.names or len(name) < len(self.names[number][0])):
                    self.names[number] = (name, bit)
        self.ports = {bit: name for name, port in module["ports"].items() if port["direction"] == "output"
                      for bit in port["bits"]}
        self.inputs = {}
        for cell in self.cells.values():
            if is_gate(cell["type"]):
                ends = cell["port_directions"]
                outs = [bits[0] for port, bits in cell["connections"].items() if ends[port] == "output"]
                ins = [bits[0] for port, bits in cell["connections"].items() if ends[port] == "input"]
                self.inputs[outs[0]] = ins
        self.depth, self.deepest = self._depths()

    def _depths(self):
        """Gates on the longest way to each net, and the input that it comes through."""
        depth, deepest = {}, {}
        for start in self.inputs:
            stack = [start]
            while stack:
                net = stack[-1]
                if net in depth:
                    stack.pop()
                    continue
                ins = [i for i in self.inputs[net] if i in self.inputs]
                missing = [i for i in ins if i not in depth]
                if missing:
                    stack.extend(missing)
                    continue
                deepest[net] = max(ins, key=depth.get, default=None)
                depth[net] = 1 + depth.get(deepest[net], 0)
                stack.pop()
        return depth, deepest

    def area(self):
        """Area of gates and flip-flops over that of a NAND."""
        kinds = collections.Counter(cell["type"] for cell in self.cells.values())
        return sum(n * (FLIP_FLOP_AREA if is_flip_flop(kind) else AREA.get(kind, 0.0)) for kind, n in kinds.items())

    def ends(self):
        """Longest path to each register, memory, black box and output, by name: gates, and the net at its end."""
        ends = {}
        def end(name, net):
            found = self.depth.get(net, 0)
            if found > ends.get(name, (-1, None))[0]:
                ends[name] = (found, net)
        for name, cell in self.cells.items():
            if is_gate(cell["type"]):
                continue
            directions = cell["port_directions"]
            outs = [b for port, bits in cell["connections"].items() if directions[port] == "output" for b in bits]
            named = next((self.names[b][0] for b in outs if b in self.names), name) if is_flip_flop(cell["type"]) else name
            for port, bits in cell["connections"].items():
                if directions[port] == "input":
                    for bit in bits:
                        end(re.sub(r"\[\d+\]", "", named), bit)
        for bit, name in self.ports.items():
            end(name, bit)
        return ends

    def path(self, net):
        """Named nets on the longest way to a net, from its start on."""
        nets = [net]
        while self.deepest.get(nets[-1]) is not None:
            nets.append(self.deepest[nets[-1]])
        nets += [i for i in self.inputs.get(nets[-1], []) if i in self.names][:1]
        names = []
        for n in reversed(nets):
            if n in self.names:
                name = f"{self.names[n][0]}:{self.depth.get(n, 0)}"
                if not names or names[-1].rsplit(":")[0] != self.names[n][0]:
                    names.append(name)
        return names
