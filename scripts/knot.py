#!/usr/bin/env python3
"""Draws a knot whose vertices were transformed and lit on the simulated GPU, by a PICA200 shader and by C.

    scripts/knot.py [--config CONFIG] [--program WAVE_SIM] [--size WIDTH HEIGHT] [--vertices N] FOLDER

Makes the model (a tube around a torus knot, by formula) and the uniforms, runs sim/kernels/examples/knot.v.pica (with
24-bit floats, and with f32) and knot.c on them, draws what comes out, and writes FOLDER/knot-pica200.png and FOLDER/knot-c.png.
Prints the cycles of each, and how far the vertices and the pixels of the two are apart. The exit code is 1 if they differ by
more than rounding explains.
"""

import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from picture import png  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "sim" / "kernels" / "examples"
# Addresses of the buffers.
UNIFORMS, POSITIONS, NORMALS, PLACES, COLOURS = 0x10000, 0x100000, 0x200000, 0x300000, 0x400000
# Around the tube.
SIDES = 16
# Most that a coordinate (in units of its vertex's w) and a colour may differ: 16 bits of fraction, and a few roundings in
# a row.
MOST_APART = 8 * 2.0**-16
# Most pixels of which the two pictures choose another side of an edge, of all.
MOST_EDGES = 0.002


def subtract(a, b):
    return tuple(x - y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def unit(a):
    length = math.sqrt(dot(a, a))
    return tuple(x / length for x in a)


def model(count):
    """Positions and normals of the vertices, and triangles."""

    def curve(t):
        radius = 2 + math.cos(3 * t)
        return (radius * math.cos(2 * t), radius * math.sin(2 * t), 1.4 * math.sin(3 * t))

    rings = count // SIDES
    positions, normals, triangles = [], [], []
    for ring in range(rings):
        t = 2 * math.pi * ring / rings
        centre = curve(t)
        along = unit(subtract(curve(t + 1e-4), curve(t - 1e-4)))
        across = unit(cross(along, centre))
        up = cross(along, across)
        for side in range(SIDES):
            angle = 2 * math.pi * side / SIDES
            normal = tuple(math.cos(angle) * a + math.sin(angle) * b for a, b in zip(across, up))
            positions.append(tuple(c + 0.55 * n for c, n in zip(centre, normal)) + (1.0,))
            normals.append(normal + (0.0,))
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            c, d = (a + SIDES) % (rings * SIDES), (b + SIDES) % (rings * SIDES)
            triangles += [(a, c, b), (b, c, d)]
    return positions, normals, triangles


def uniforms(aspect):
    """Rows of the two matrices, light and colours."""
    tilt, turn = 0.5, 0.4
    rotation = [
        (math.cos(turn), -math.sin(turn), 0.0),
        (math.cos(tilt) * math.sin(turn), math.cos(tilt) * math.cos(turn), -math.sin(tilt)),
        (math.sin(tilt) * math.sin(turn), math.sin(tilt) * math.cos(turn), math.cos(tilt)),
    ]
    distance, zoom, near, far = 9.0, 2.0, 1.0, 20.0
    depth = (far + near) / (far - near)
    x, y, z = rotation
    rows = [
        tuple(zoom / aspect * v for v in x) + (0.0,),
        tuple(zoom * v for v in y) + (0.0,),
        tuple(-depth * v for v in z) + (depth * distance - 2 * far * near / (far - near),),
        tuple(-v for v in z) + (distance,),
    ]
    turned = [row + (0.0,) for row in rotation]
    light = unit((0.4, 0.5, 0.9)) + (0.0,)
    return rows + turned + [light, (0.85, 0.5, 0.15, 0.0), (0.08, 0.09, 0.15, 1.0)]


def floats(vectors):
    return b"".join(struct.pack("<4f", *vector) for vector in vectors)


def run(arguments, kernel, flags, files, count):
    """Runs a kernel; its two outputs as vectors, and its cycles."""
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.program, str(kernel), "--format", "json", "--workgroup", "64", *flags]
        if arguments.config:
            command += ["--config", arguments.config]
        command += ["--grid", str(-(-count // 64))]
        for value in [count, UNIFORMS, POSITIONS, NORMALS, PLACES, COLOURS]:
            command += ["--param", str(value)]
        for address, contents in files:
            path = pathlib.Path(folder, f"{address:x}")
            path.write_bytes(contents)
            command += ["--arg", f"{address:#x}:{path}"]
        saved = [(address, pathlib.Path(folder, f"{address:x}")) for address in (PLACES, COLOURS)]
        for address, path in saved:
            command += ["--save", f"{address:#x}:{16 * count}:{path}"]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"scripts/knot.py: {' '.join(command)}\n{ended.stderr}")
        cycles = sum(launch["statistics"]["kernel.cycles"] for launch in json.loads(ended.stdout)["runs"][0]["launches"])
        return *(list(struct.iter_unpack("<4f", path.read_bytes())) for _, path in saved), cycles


def draw(places, colours, triangles, width, height):
    """The picture: triangles that face us, nearest first, with colours between their corners."""
    picture = [(0.02, 0.02, 0.04)] * (width * height)
    nearest = [math.inf] * (width * height)
    screen = []
    for x, y, z, w in places:
        screen.append(((0.5 + 0.5 * x / w) * width, (0.5 - 0.5 * y / w) * height, z / w))
    for a, b, c in triangles:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = screen[a], screen[b], screen[c]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0:
            continue
        for py in range(max(0, math.ceil(min(ay, by, cy) - 0.5)), min(height, math.ceil(max(ay, by, cy) - 0.5))):
            for px in range(max(0, math.ceil(min(ax, bx, cx) - 0.5)), min(width, math.ceil(max(ax, bx, cx) - 0.5))):
                x, y = px + 0.5, py + 0.5
                v = ((bx - x) * (cy - y) - (cx - x) * (by - y)) / area
                u = ((cx - x) * (ay - y) - (ax - x) * (cy - y)) / area
                t = 1 - v - u
                if v < 0 or u < 0 or t < 0:
                    continue
                z = v * az + u * bz + t * cz
                if z < nearest[py * width + px]:
                    nearest[py * width + px] = z
                    picture[py * width + px] = tuple(
                        v * p + u * q + t * r for p, q, r in zip(colours[a][:3], colours[b][:3], colours[c][:3])
                    )
    levels = bytearray()
    for colour in picture:
        # Levels of the screen are not those of light.
        levels += bytes(round(255 * min(1.0, max(0.0, part)) ** (1 / 2.2)) for part in colour) + b"\xff"
    return bytes(levels)


def apart(one, other):
    """The largest difference of vertices: places in units of w, and colours."""
    (places, colours), (other_places, other_colours) = one, other
    place = max(abs(a - b) / abs(p[3]) for p, q in zip(places, other_places) for a, b in zip(p, q))
    colour = max(abs(a - b) for p, q in zip(colours, other_colours) for a, b in zip(p[:3], q[:3]))
    return place, colour


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--config")
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "wave-sim"))
    parser.add_argument("--size", type=int, nargs=2, default=[320, 240])
    parser.add_argument("--vertices", type=int, default=4096)
    arguments = parser.parse_args()
    width, height = arguments.size
    positions, normals, triangles = model(arguments.vertices)
    count = len(positions)
    if count == 0:
        sys.exit(f"scripts/knot.py: at least {SIDES} vertices")
    files = [
        (UNIFORMS, floats(uniforms(width / height)).ljust(96 * 16 + 4 * 16 + 4, b"\0")),
        (POSITIONS, floats(positions)),
        (NORMALS, floats(normals)),
    ]
    shader, c = EXAMPLES / "knot.v.pica", EXAMPLES / "knot.c"
    ran = {
        "PICA200, f24": run(arguments, shader, ["--pica-float", "f24"], files, count),
        "PICA200, f32": run(arguments, shader, ["--pica-float", "f32"], files, count),
        "C": run(arguments, c, [], files, count),
    }
    pictures = {name: draw(places, colours, triangles, width, height) for name, (places, colours, _) in ran.items()}
    print(f"{count} vertices, {len(triangles)} triangles, {width} x {height} pixels\n")
    print(f"{'kernel':14} {'cycles':>8} {'place':>10} {'colour':>10} {'levels':>7} {'pixels':>7}   apart from C")
    wrong = False
    *vertices_of_c, _ = ran["C"]
    for name, (*vertices, cycles) in ran.items():
        place, colour = apart(vertices, vertices_of_c)
        levels = [max(a) for a in zip(*[[abs(p - q) for p, q in zip(pictures[name], pictures["C"])][i::4] for i in range(3)])]
        # Where another triangle is in front, or none, the difference is not one of rounding colours.
        edges = sum(level > 2 for level in levels)
        rounded = max((level for level in levels if level <= 2), default=0)
        print(f"{name:14} {cycles:8} {place:10.2e} {colour:10.2e} {rounded:7} {edges:7}")
        wrong |= place > MOST_APART or colour > MOST_APART or edges > MOST_EDGES * width * height
    for name, file in [("PICA200, f24", "knot-pica200.png"), ("C", "knot-c.png")]:
        (arguments.folder / file).write_bytes(png(pictures[name], width))
    if wrong:
        sys.exit("scripts/knot.py: the results differ by more than rounding explains")


main()
