"""Faults of a body, one sentence each: from `build` on stderr, from `check` among its findings, with exit code 1 from
both. The body is a strip of two bones. Its files are made here, so that they can have faults that no exporter makes."""
import json
import struct

import harness

VERTICES = [[x, y, 0.0] for x in range(3) for y in range(2)]
FACES = [[1, 3, 4, 2], [3, 5, 6, 4]]


def form(shrink=1.0):
    lines = [f"v {x * shrink!r} {y * shrink!r} {z!r}" for x, y, z in VERTICES]
    lines += ["vt 0 0"] + ["f " + " ".join(f"{corner}/1" for corner in face) for face in FACES]
    return "\n".join(lines) + "\n"


def skeleton(circle=False, empty=None, joints=("upper", "fore")):
    """A .glb of the strip: two joints at x = 0 and 1, three columns of vertices moved by the first, both, the
    second."""
    weights = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    positions = b"".join(struct.pack("<3f", *vertex) for vertex in VERTICES)
    places = bytes([0, 1, 0, 0]) * len(VERTICES)
    rows = [[*weights[v // 2], 0.0, 0.0] for v in range(len(VERTICES))]
    if empty is not None:
        rows[empty] = [0.0] * 4
    moved = b"".join(struct.pack("<4f", *row) for row in rows)
    matrices = b"".join(struct.pack("<16f", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, 0, 0, 1) for x in (0, 1))
    triangles = struct.pack("<12H", 0, 2, 3, 0, 3, 1, 2, 4, 5, 2, 5, 3)
    parts = [positions, places, moved, matrices, triangles]
    views, offset = [], 0
    for part in parts:
        views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(part)})
        offset += len(part)
    accessor = [(5126, len(VERTICES), "VEC3"), (5121, len(VERTICES), "VEC4"), (5126, len(VERTICES), "VEC4"),
                (5126, 2, "MAT4"), (5123, 12, "SCALAR")]
    scene = {
        "asset": {"version": "2.0"},
        "nodes": [{"name": joints[0], "children": [1]}, {"name": joints[1], "translation": [1, 0, 0]},
                  {"name": "strip", "mesh": 0, "skin": 0}],
        "scenes": [{"nodes": [0, 2]}], "scene": 0,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "indices": 4}]}],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 3}],
        "accessors": [{"bufferView": i, "componentType": kind, "count": count, "type": name}
                      for i, (kind, count, name) in enumerate(accessor)],
        "bufferViews": views, "buffers": [{"byteLength": offset}]}
    scene["accessors"][0].update(min=[0, 0, 0], max=[2, 1, 0])
    if circle:
        scene["nodes"][1]["children"] = [0]
        scene["scenes"][0]["nodes"] = [2]
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(parts)
    data += b"\0" * (-len(data) % 4)
    return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)) + struct.pack("<I4s", len(text), b"JSON") + text +
            struct.pack("<I4s", len(data), b"BIN\0") + data)


def project():
    return {"exemplar": 1, "mesh": "rest.obj", "skeleton": "strip.glb", "layers": [
        {"name": "strip", "shape": "unposed",
         "space": [{"name": "elbow", "joint": "fore", "angle": "z", "min": 0, "max": 90},
                   {"name": "age", "min": 0, "max": 1}],
         "examples": [{"name": "grown", "mesh": "rest.obj", "at": {}},
                      {"name": "child", "mesh": "child.obj", "at": {"age": 1}, "skeleton": "child.glb"}]},
        {"name": "tan", "shape": "pixels", "texture": "base_color", "space": [{"name": "tan", "min": 0, "max": 1}],
         "examples": [{"name": "pale", "image": "pale.png", "at": {}},
                      {"name": "brown", "image": "brown.png", "at": {"tan": 1}}]}]}


FILES = {"rest.obj": form().encode(), "child.obj": form(0.5).encode(), "strip.glb": skeleton(), "child.glb": skeleton(),
         "pale.png": harness.png(8, 4), "brown.png": harness.png(8, 4), "strip.json": json.dumps(project()).encode()}

# name, the replaced file, the place and kind of check's finding, and fragments of the sentence
TABLE = [
    ("a cyclic skeleton", {"strip.glb": skeleton(circle=True)}, "skeleton", "unreadable",
     ["strip.glb", "is its own ancestor"]),
    ("weights that sum to 0", {"strip.glb": skeleton(empty=3)}, "skeleton", "zero_weights",
     ["strip.glb", "the joint weights of", "3 (counting from 0)", "sum to 0", "paint weights there and export again"]),
    ("a texture of another size", {"brown.png": harness.png(4, 4)}, "layers[1].examples[1]", "image_size",
     ["brown.png is 4 x 4 pixels, but pale.png is 8 x 4", "the images of a texture must have the same size"]),
    ("an example without its skeleton", {"child.glb": None}, "layers[0].examples[1].skeleton", "skeleton",
     ["child.glb", "No such file"]),
    ("an example whose skeleton lacks a joint", {"child.glb": skeleton(joints=("upper", "shin"))},
     "layers[0].examples[1].skeleton", "skeleton",
     ["child.glb", "it lacks joint 'fore', which the project's skeleton has"]),
]


class Sentences(harness.Case):
    def write(self, changes):
        for name, content in {**FILES, **changes}.items():
            if content is not None:
                (self.folder / name).write_bytes(content)
            else:
                (self.folder / name).unlink(missing_ok=True)

    def test_the_good_body(self):
        self.write({})
        self.succeed("build", "strip.json", "-o", "built.glb")
        answer = self.succeed("check", "strip.json", "--json").json()
        self.assertEqual([answer["errors"], answer["warnings"]], [0, 0], answer)

    def test_each_has_its_sentence(self):
        for name, changes, where, kind, fragments in TABLE:
            with self.subTest(name):
                self.write(changes)
                built = self.run_tool("build", "strip.json", "-o", "built.glb")
                self.sentence(built, 1, *fragments)
                self.assertEqual(built.out, "")
                print(f"{name}:\n  {built.err.strip()}")
                checked = self.run_tool("check", "strip.json", "--json")
                self.assertEqual([checked.code, checked.err], [1, ""])
                errors = [f for f in checked.json()["findings"] if f["severity"] == "error"]
                self.assertEqual([(f["where"], f["kind"]) for f in errors], [(where, kind)], errors)
                print(f"  check: {errors[0]['text']}")
                for fragment in fragments:
                    self.assertIn(fragment, errors[0]["text"])
                text = self.run_tool("check", "strip.json")
                self.assertEqual(text.code, 1)
                layer = "" if "layers[" not in where else " (tan)" if "layers[1]" in where else " (strip)"
                self.assertIn(f"errors:\n  {where}{layer}: {errors[0]['text']}  [{kind}]\n", text.out)

    def test_all_at_once(self):
        changes = {}
        for _, change, _, _, _ in TABLE[1:4]:
            changes.update(change)
        self.write(changes)
        answer = self.run_tool("check", "strip.json", "--json").json()
        kinds = sorted(f["kind"] for f in answer["findings"] if f["severity"] == "error")
        self.assertEqual(kinds, ["image_size", "skeleton", "zero_weights"])


if __name__ == "__main__":
    harness.main()
