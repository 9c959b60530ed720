"""Alembic files (Ogawa) from their description alone, to check what Exemplar writes and to make what it reads.

read(path) gives every object with its properties, and objects to every rule that a reader may rely on: nothing outside
the file, no overlap of parts, names and sizes that agree. write(...) makes a file as other programs do.
"""
import struct

STREAM = 1 << 63
ACYCLIC = 1.7976931348623157e308 / 32
TYPES = {0: "B", 1: "B", 6: "i", 10: "f", 11: "d"}


class Reader:
    def __init__(self, data):
        self.data, self.parts = data, {}
        assert data[:8] == b"Ogawa\xff\x00\x01"
        root = self.group(struct.unpack_from("<Q", data, 8)[0])
        assert len(root) == 6
        assert self.stream(root[0]) == bytes(4)
        assert struct.unpack("<i", self.stream(root[1]))[0] >= 9999
        self.metadata = self.stream(root[3]).decode()
        self.strings = [""] + self.read_strings(self.stream(root[5]))
        self.samplings = self.read_samplings(self.stream(root[4]))
        self.objects, self.hashes = {}, {}
        self.walk(root[2], "", "")
        self.check_parts()

    def take(self, at, size):
        assert 16 <= at and at + size <= len(self.data), "outside the file"
        self.parts[at] = max(self.parts.get(at, 0), size)
        return self.data[at:at + size]

    def group(self, reference):
        assert not reference & STREAM
        if reference == 0:
            return []
        count = struct.unpack("<Q", self.take(reference, 8))[0]
        assert count > 0
        return list(struct.unpack("<%dQ" % count, self.take(reference, 8 + 8 * count)[8:]))

    def stream(self, reference):
        assert reference & STREAM
        at = reference ^ STREAM
        if at == 0:
            return b""
        size = struct.unpack("<Q", self.take(at, 8))[0]
        return self.take(at, 8 + size)[8:]

    def check_parts(self):
        """The parts fill the file without gaps and without overlaps."""
        end = 16
        for at, size in sorted(self.parts.items()):
            assert at == end, "a gap or an overlap at %d" % end
            end = at + size
        assert end == len(self.data)

    def read_strings(self, data):
        strings = []
        while data:
            strings.append(data[1:1 + data[0]].decode())
            assert len(strings[-1]) == data[0]
            data = data[1 + data[0]:]
        return strings

    def read_samplings(self, data):
        samplings = []
        while data:
            most, period, count = struct.unpack_from("<IdI", data)
            samplings.append((most, period, struct.unpack_from("<%dd" % count, data, 16)))
            data = data[16 + 8 * count:]
        assert samplings[0][1:] == (1, (0,))
        return samplings

    def walk(self, reference, path, metadata):
        parts = self.group(reference)
        properties = self.compound(parts[0]) if parts else {}
        self.objects[path or "/"] = (dict(pair.split("=") for pair in metadata.split(";") if pair), properties)
        headers = self.stream(parts[-1]) if parts else b""
        self.hashes[path or "/"], headers = headers[-32:], headers[:-32]
        for child in parts[1:-1]:
            size = struct.unpack_from("<I", headers)[0]
            name, number = headers[4:4 + size].decode(), headers[4 + size]
            assert name and "/" not in name and number < 255
            headers = headers[5 + size:]
            self.walk(child, path + "/" + name, self.strings[number])
        assert not headers

    def compound(self, reference):
        parts = self.group(reference)
        if not parts:
            return {}
        headers, found = self.stream(parts[-1]), {}
        for part in parts[:-1]:
            info = struct.unpack_from("<I", headers)[0]
            headers = headers[4:]
            wide = "BHI"[info >> 2 & 3]

            def number():
                nonlocal headers
                value = struct.unpack_from("<" + wide, headers)[0]
                headers = headers[struct.calcsize("<" + wide):]
                return value
            kind = ["compound", "scalar", "array", "array"][info & 3]
            count = number() if kind != "compound" else 0
            assert not info & 0x200
            sampling = number() if info & 0x100 else 0
            size = number()
            name, headers = headers[:size].decode(), headers[size:]
            metadata = self.strings[info >> 20 & 255]
            if kind == "compound":
                found[name] = {"metadata": metadata, "properties": self.compound(part)}
                continue
            stored = 1 if info & 0x800 else count
            streams = self.group(part)
            if kind == "array":
                assert all(self.stream(s) == b"" for s in streams[1::2])
                streams = streams[::2]
            assert len(streams) == stored and sampling < len(self.samplings)
            samples = [self.stream(s) for s in streams]
            keys = {s[:16]: s[16:] for s in samples}
            assert all(keys[s[:16]] == s[16:] for s in samples), "one digest for different samples"
            form = TYPES[info >> 4 & 15]
            values = [struct.unpack("<%d%s" % ((len(s) - 16) // struct.calcsize("<" + form), form), s[16:]) for s in samples]
            extent = info >> 12 & 255
            assert all(len(v) % extent == 0 and (kind == "array" or len(v) == extent) for v in values)
            assert (info & 3 == 3) == (kind == "array" and all(len(v) == extent for v in values))
            found[name] = {"metadata": metadata, "kind": kind, "type": form, "extent": extent, "count": count,
                           "sampling": sampling, "samples": values}
        assert not headers
        return found


def read(path):
    return Reader(path.read_bytes())


class Writer:
    def __init__(self):
        self.data = bytearray(b"Ogawa\xff\x00\x01" + bytes(8))

    def stream(self, data):
        at = len(self.data)
        self.data += struct.pack("<Q", len(data)) + data
        return at | STREAM

    def group(self, parts):
        at = len(self.data)
        self.data += struct.pack("<%dQ" % (1 + len(parts)), len(parts), *parts)
        return at if parts else 0

    def samples(self, form, rows, array):
        parts = []
        for i, row in enumerate(rows):
            parts.append(self.stream(struct.pack("<QQ", i + 1, len(row)) + struct.pack("<%d%s" % (len(row), form), *row)))
            parts += [STREAM] if array else []
        return self.group(parts)

    def compound(self, items):
        """items: name, None, compound; or name, (kind, type, extent, sampling), rows."""
        headers, parts = b"", []
        for name, what, value in items:
            if what is None:
                headers += struct.pack("<IB", 0, len(name)) + name.encode()
                parts.append(value)
                continue
            kind, kind_of_number, extent, sampling = what
            info = kind | 1 << 2 | kind_of_number << 4 | 0x500 | extent << 12 | (0x800 if len(value) == 1 else 0)
            headers += struct.pack("<IHHH", info, len(value), sampling, len(name)) + name.encode()
            parts.append(self.samples(TYPES[kind_of_number], value, kind == 2))
        return self.group(parts + [self.stream(headers)])

    def object(self, properties, children):
        headers = b"".join(struct.pack("<I", len(name)) + name.encode() + b"\xff" + struct.pack("<I", len(schema) + 7) +
                           b"schema=" + schema.encode() for name, schema, _ in children)
        return self.group([properties] + [child for _, _, child in children] + [self.stream(headers + bytes(32))])

    def mesh(self, frames, faces):
        """frames: positions of all vertices; faces: counter-clockwise."""
        flat = [[number for point in frame for number in point] for frame in frames]
        geometry = self.compound([
            (".selfBnds", (1, 11, 6, 1), [[0.0] * 6]),
            ("P", (2, 10, 3, 1), flat),
            (".faceIndices", (2, 6, 1, 1), [[i for face in faces for i in reversed(face)]]),
            (".faceCounts", (2, 6, 1, 1), [[len(face) for face in faces]])])
        return self.object(self.compound([(".geom", None, geometry)]), [])

    def xform(self, operations, values, children):
        own = self.compound([(".inherits", (1, 0, 1, 0), [[1]]), (".ops", (1, 1, len(operations), 0), [operations]),
                             (".vals", (1, 11, len(values[0]), 1), values)])
        return self.object(self.compound([(".xform", None, own)]), children)

    def finish(self, children, start, step):
        samplings = struct.pack("<IdId", 1, 1, 1, 0) + struct.pack("<IdId", 1, step, 1, start)
        root = self.group([self.stream(bytes(4)), self.stream(struct.pack("<i", 10709)), self.object(0, children),
                           self.stream(b""), self.stream(samplings), self.stream(b"")])
        self.data[8:16] = struct.pack("<Q", root)
        return bytes(self.data)
