"""glTF files for tests of the tool, built piece by piece."""
import base64
import json
import struct

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


class Scene:
    """A glTF file with one buffer, inside it; write it when it is complete."""

    def __init__(self):
        self.bytes = b""
        self.json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [],
                     "accessors": [], "bufferViews": [], "buffers": []}

    def view(self, data):
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data + b"\0" * (-len(data) % 4)
        return len(self.json["bufferViews"]) - 1

    def array(self, rows, kind="f", component=5126):
        flat = [x for row in rows for x in row]
        widths = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
        accessor = {"bufferView": self.view(struct.pack(f"<{len(flat)}{kind}", *flat)), "componentType": component,
                    "count": len(rows), "type": widths[len(rows[0])]}
        if len(rows[0]) == 3:
            accessor["min"] = [min(row[i] for row in rows) for i in range(3)]
            accessor["max"] = [max(row[i] for row in rows) for i in range(3)]
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def mesh(self, name, positions=TRIANGLE, targets=(), names=None, weights=None, influences=None):
        attributes = {"POSITION": self.array(positions)}
        for at in range(0, len(influences[0][0]) if influences else 0, 4):
            attributes[f"JOINTS_{at // 4}"] = self.array([joints[at:at + 4] for joints, _ in influences], "B", 5121)
            attributes[f"WEIGHTS_{at // 4}"] = self.array([shares[at:at + 4] for _, shares in influences])
        primitive = {"attributes": attributes}
        mesh = {"name": name, "primitives": [primitive]}
        if targets:
            primitive["targets"] = [{"POSITION": self.array(target)} for target in targets]
        if names:
            mesh["extras"] = {"targetNames": names}
        if weights:
            mesh["weights"] = weights
        self.json["meshes"].append(mesh)
        return len(self.json["meshes"]) - 1

    def node(self, shown=True, **keys):
        self.json["nodes"].append(keys)
        if shown:
            self.json["scenes"][0]["nodes"].append(len(self.json["nodes"]) - 1)
        return len(self.json["nodes"]) - 1

    def skin(self, joints, binds=True):
        skin = {"joints": joints}
        if binds:
            one = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
            skin["inverseBindMatrices"] = self.array([one] * len(joints))
        self.json.setdefault("skins", []).append(skin)
        return len(self.json["skins"]) - 1

    def write(self, path):
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.bytes).decode()
        self.json["buffers"] = [{"byteLength": len(self.bytes), "uri": uri}]
        path.write_text(json.dumps(self.json))
