"""Reads an animated PNG with zlib alone: its chunks, and its frames as a viewer composes them."""
import struct
import zlib


def chunks(data):
    """(kind, body) of all chunks, with their checksums compared."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, made = 8, []
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), kind
        made.append((kind, body))
        at += 12 + size
    assert made[0][0] == b"IHDR" and made[-1] == (b"IEND", b"")
    return made


def rows_of(packed, width, height, channels):
    """The bytes of the rows, with their filters undone."""
    data, size = zlib.decompress(packed), width * channels
    assert len(data) == height * (size + 1)
    rows, before = [], bytearray(size)
    for y in range(height):
        kind, row = data[y * (size + 1)], bytearray(data[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for x in range(size if kind else 0):
            a = row[x - channels] if x >= channels else 0
            b, c = before[x], before[x - channels] if x >= channels else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[x] = (row[x] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(row)
        before = row
    return rows


class Animation:
    """width, height, loops (0: without end), delays in seconds, rectangles (x, y, width, height), and frames: lists of
    rows of (red, green, blue, alpha)."""

    def __init__(self, data):
        list_of = chunks(data)
        self.width, self.height, depth, self.kind, _, _, interlaced = struct.unpack(">IIBBBBB", list_of[0][1])
        assert depth == 8 and not interlaced and self.kind in (3, 6)
        kinds = [kind for kind, _ in list_of]
        assert kinds.index(b"acTL") < kinds.index(b"IDAT")
        self.count, self.loops = struct.unpack(">II", dict(list_of)[b"acTL"])
        palette, clear = dict(list_of).get(b"PLTE", b""), dict(list_of).get(b"tRNS", b"")
        self.palette = [(*palette[i:i + 3], clear[i // 3] if i // 3 < len(clear) else 255)
                        for i in range(0, len(palette), 3)]
        self.delays, self.rectangles, self.blends, parts, sequence = [], [], [], [], 0
        for kind, body in list_of:
            if kind in (b"fcTL", b"fdAT"):
                assert struct.unpack(">I", body[:4])[0] == sequence, "chunks out of order"
                sequence += 1
            if kind == b"fcTL":
                width, height, x, y, part, whole, dispose, blend = struct.unpack(">IIIIHHBB", body[4:])
                assert dispose == 0 and blend in (0, 1)
                assert width > 0 and height > 0 and x + width <= self.width and y + height <= self.height
                self.delays.append(part / whole)
                self.rectangles.append((x, y, width, height))
                self.blends.append(blend)
                parts.append(b"")
            elif kind == b"IDAT":
                assert len(parts) == 1
                parts[0] += body
            elif kind == b"fdAT":
                assert len(parts) > 1
                parts[-1] += body[4:]
        assert len(parts) == self.count
        self.frames, canvas = [], [[(0, 0, 0, 0)] * self.width for _ in range(self.height)]
        for part, (x, y, width, height), blend in zip(parts, self.rectangles, self.blends):
            canvas = [list(row) for row in canvas]
            for v, row in enumerate(rows_of(part, width, height, 1 if self.kind == 3 else 4)):
                for u in range(width):
                    pixel = self.palette[row[u]] if self.kind == 3 else tuple(row[4 * u:4 * u + 4])
                    assert blend == 0 or pixel[3] in (0, 255), "pixels are there or not"
                    if blend == 0 or pixel[3]:
                        canvas[y + v][x + u] = pixel
            self.frames.append(canvas)
