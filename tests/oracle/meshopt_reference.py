"""Decodes views compressed with meshopt, written from the extension's text: EXT_meshopt_compression, appendices A and B.

One element at a time: slow, and unlike the library that the reader uses.
"""
import math
import struct

import numpy as np


class Stream:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def zigzag(value):
    return -(value + 1 >> 1) if value & 1 else value >> 1


# ---- attributes ----


def group(stream, bits):
    """Sixteen deltas of one byte of an element."""
    if bits == 0:
        return [0] * 16
    if bits == 3:
        return [stream.byte() for _ in range(16)]
    width = 2 * bits
    small = []
    for _ in range(16 * width // 8):
        byte = stream.byte()
        small += [byte >> shift & (1 << width) - 1 for shift in range(8 - width, -1, -width)]
    return [stream.byte() if value == (1 << width) - 1 else value for value in small]


def attributes(data, count, stride):
    assert data[0] == 0xA0, "codec"
    last = list(data[len(data) - stride:])
    most = min(8192 // stride & ~15, 256)
    stream = Stream(data, 1)
    out = np.zeros((count, stride), np.uint8)
    for start in range(0, count, most):
        size = min(most, count - start)
        groups = (size + 15) // 16
        for k in range(stride):
            head = [stream.byte() for _ in range((groups + 3) // 4)]
            deltas = []
            for i in range(groups):
                deltas += group(stream, head[i // 4] >> 2 * (i % 4) & 3)
            for i in range(size):
                last[k] = (last[k] + zigzag(deltas[i])) & 255
                out[start + i, k] = last[k]
    return out


# ---- indices ----


def triangles(data, count):
    assert data[0] & 0xF0 == 0xE0, "codec"
    most = 13 if data[0] & 15 >= 1 else 15
    table, stream = data[-16:], Stream(data, 1 + count // 3)
    edges, vertices, out = [(-1, -1)] * 16, [-1] * 16, []
    fresh = last = 0

    def push(a, b, c):
        out.extend((a, b, c))

    def explicit():
        nonlocal last
        last += zigzag(stream.varint())
        return last

    for code in data[1:1 + count // 3]:
        if code < 0xF0:
            a, b = edges[-1 - (code >> 4)]
            which = code & 15
            if which < most:
                c = fresh if which == 0 else vertices[-1 - which]
                fresh += which == 0
                keep = which == 0
            else:
                if which == 15:
                    c = explicit()
                else:
                    c = last = last + (1 if which == 14 else -1)
                keep = True
            push(a, b, c)
            vertices += [c] if keep else []
            edges += [(c, b), (a, c)]
        else:
            if code < 0xFE:
                aux, first = table[code & 15], 0
            else:
                aux, first = stream.byte(), 0 if code == 0xFE else 15
                if aux == 0:
                    fresh = 0
            codes = (first, aux >> 4, aux & 15)
            corners = []
            for which in codes:
                if which == 0:
                    corners.append(fresh)
                    fresh += 1
                else:
                    corners.append(None if which == 15 and code >= 0xFE else vertices[-which])
            corners = [explicit() if corner is None else corner for corner in corners]
            push(*corners)
            for which, corner in zip(codes, corners):
                if which == 0 or (which == 15 and code >= 0xFE):
                    vertices.append(corner)
            a, b, c = corners
            edges += [(b, a), (c, b), (a, c)]
    return out


def sequence(data, count):
    assert data[0] & 0xF0 == 0xD0, "codec"
    stream, last, out = Stream(data, 1), [0, 0], []
    for _ in range(count):
        value = stream.varint()
        last[value & 1] += zigzag(value >> 1)
        out.append(last[value & 1])
    return out


# ---- filters ----


def half_away(value):
    return int(math.floor(abs(value) + 0.5)) * (1 if value >= 0 else -1)


def octahedral(rows, stride):
    kind, most = ("i1", 127) if stride == 4 else ("<i2", 32767)
    values = rows.view(kind)
    for v in values:
        x, y, one = float(v[0]), float(v[1]), float(v[2])
        z = one - abs(x) - abs(y)
        t = min(z, 0.0)
        x += t if x >= 0 else -t
        y += t if y >= 0 else -t
        length = math.sqrt(x * x + y * y + z * z)
        v[:3] = [half_away(c * most / length) for c in (x, y, z)]


def quaternion(rows):
    for v in rows.view("<i2"):
        largest, scale = int(v[3]) & 3, 1 / (math.sqrt(2) * (int(v[3]) | 3))
        rest = [int(c) * scale for c in v[:3]]
        w = math.sqrt(max(0.0, 1 - sum(c * c for c in rest)))
        for i, c in enumerate([w] + rest):
            v[(largest + i) & 3] = half_away(c * 32767)


def exponential(rows):
    bits, floats = rows.view("<i4"), rows.view("<f4")
    for i in np.ndindex(bits.shape):
        value = int(bits[i])
        mantissa = (value & 0xFFFFFF) - ((value & 0x800000) << 1)
        floats[i] = math.ldexp(mantissa, value >> 24)


# ---- views ----


def unpack(data, extension):
    """The bytes of a view, from those of the extension's buffer."""
    start = extension.get("byteOffset", 0)
    data = data[start:start + extension["byteLength"]]
    count, stride = extension["count"], extension["byteStride"]
    if extension["mode"] != "ATTRIBUTES":
        read = triangles if extension["mode"] == "TRIANGLES" else sequence
        return struct.pack("<%d%s" % (count, "H" if stride == 2 else "I"), *read(data, count))
    rows = attributes(data, count, stride)
    name = extension.get("filter", "NONE")
    if name == "OCTAHEDRAL":
        octahedral(rows, stride)
    elif name == "QUATERNION":
        quaternion(rows)
    elif name == "EXPONENTIAL":
        exponential(rows)
    return rows.tobytes()
