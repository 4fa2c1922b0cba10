"""Some of the random shaders, stored, so that they can be run where no driver is."""

from ..cases import Case
from ..generate_statements import buffers, generate

COUNT = 24


def cases() -> list[Case]:
    found = []
    for seed in range(COUNT):
        program = generate(seed, small=True)
        held = buffers(program)
        for buffer in held[2:]:
            # The driver's results replace the placeholder when the cases are built.
            buffer.output = buffer.input
        name = f"random shader {seed}"
        found.append(Case(name, "random shader", [], program.text(), held, grid=(program.groups, 1, 1), basis="driver"))
    return found
