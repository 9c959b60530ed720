"""Reads PNG pictures with zlib alone."""
import struct
import zlib


def read_png(data):
    """Width, height, channels and rows of an 8-bit PNG without interlacing."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, interlaced) == (8, 0)
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    return width, height, {2: 3, 6: 4}[colour], zlib.decompress(packed)


def unfiltered(path):
    """The same with the filters of the rows undone."""
    width, height, channels, data = read_png(path.read_bytes())
    rows, before = [], bytearray(width * channels)
    for y in range(height):
        kind, row = data[y * (1 + width * channels)], bytearray(data[y * (1 + width * channels) + 1:][:width * channels])
        for x in range(len(row)):
            a = row[x - channels] if x >= channels else 0
            b, c = before[x], before[x - channels] if x >= channels else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[x] = (row[x] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(row)
        before = row
    return width, height, channels, rows
