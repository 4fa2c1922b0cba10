#!/usr/bin/env python3
"""Makes a PNG of a picture that a kernel wrote: a word a pixel, red in its lowest byte, then green, blue and opacity.

    wave-sim c/raytrace --save 1024:196608:picture.bin
    scripts/picture.py picture.bin 256 picture.png
"""

import struct
import sys
import zlib


def png(pixels: bytes, width: int) -> bytes:
    """The file of a picture with `width` pixels a row, 4 bytes each."""
    rows = [pixels[i : i + 4 * width] for i in range(0, len(pixels), 4 * width)]

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, len(rows), 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def main() -> None:
    if len(sys.argv) != 4 or not sys.argv[2].isdigit() or int(sys.argv[2]) == 0:
        sys.exit("usage: picture.py PIXELS WIDTH PICTURE.png")
    source, width, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    try:
        with open(source, "rb") as file:
            pixels = file.read()
        if not pixels or len(pixels) % (4 * width):
            sys.exit(f"picture.py: {source} has {len(pixels)} bytes, which are no rows of {width} pixels")
        with open(target, "wb") as file:
            file.write(png(pixels, width))
    except OSError as error:
        sys.exit(f"picture.py: {error}")


if __name__ == "__main__":
    main()
