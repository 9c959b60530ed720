"""Files as people have them: JPEG pictures in a pixel layer, folders of many sculpts, glTF files that are compressed, or
lack pictures or inverse bind matrices, and extensions that are not understood."""
import base64
import json
import math
import struct

import harness
from harness import obj_text

FACES = [(1, 2, 3, 4), (4, 3, 5), (5, 3, 6), (6, 3, 7)]
REST = [[0, 0, 0], [1, 0, 0], [1.2, 1, 0.1], [0, 1, 0], [0.3, 2.2, 0], [1.5, 2, 0.3], [2.4, 1.1, 0]]


def shape(k):
    return [[x + 0.1 * math.sin(k + i), y, z + 0.05 * math.cos(k * i)] for i, (x, y, z) in enumerate(REST)]


def skinned():
    """Two joints, the second at y = 1; one vertex on either, one on both. No inverse bind matrices."""
    data = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 2, 0) + bytes([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    data += struct.pack("<12f", 1, 0, 0, 0, 1, 0, 0, 0, 0.25, 0.75, 0, 0)
    views, at = [], 0
    for size in (36, 12, 48):
        views.append({"buffer": 0, "byteOffset": at, "byteLength": size})
        at += size
    return {"asset": {"version": "2.0"},
            "nodes": [{"mesh": 0, "skin": 0}, {"name": "low", "children": [2]}, {"name": "high", "translation": [0, 1, 0]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}],
            "skins": [{"joints": [1, 2]}],
            "accessors": [{"bufferView": i, "componentType": c, "count": 3, "type": t}
                          for i, (c, t) in enumerate(((5126, "VEC3"), (5121, "VEC4"), (5126, "VEC4")))],
            "bufferViews": views,
            "buffers": [{"byteLength": len(data),
                         "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]}


class Files(harness.Case):
    def write_json(self, name, tree):
        (self.folder / name).write_text(json.dumps(tree))

    def posed(self, rig, *words):
        self.succeed("pose", rig, *words, "-q", "-o", "out.obj")
        return harness.positions_of((self.folder / "out.obj").read_text())

    def near(self, one, other):
        self.assertEqual(len(one), len(other))
        self.assertLess(max(abs(a - b) for p, q in zip(one, other) for a, b in zip(p, q)), 1e-5)

    def notes(self, *words):
        """Runs a command that succeeds, and returns what it noted."""
        outcome = self.run_tool(*words)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome.err

    # ---- sculpts ----

    def test_a_face_of_52_shapes_in_three_commands(self):
        faces = self.folder / "faces"
        faces.mkdir()
        (faces / "00_Neutral_head.obj").write_text(obj_text(REST, FACES))
        for k in range(52):
            (faces / f"shape_{k + 1}.OBJ").write_text(obj_text(shape(k), FACES))
        for clutter in ("notes.txt", ".DS_Store", "._shape_1.OBJ", "shape_1.mtl", "photo.jpg"):
            (faces / clutter).write_text("clutter")
        err = self.notes("init", "faces")
        self.assertIn("the mesh at rest is 'faces/00_Neutral_head.obj'", err)
        self.notes("build", "faces_project/faces.json")
        project = json.loads((self.folder / "faces_project/faces.json").read_text())
        self.assertEqual([axis["name"] for axis in project["layers"][0]["space"]], [f"shape_{k + 1}" for k in range(52)])
        self.near(self.posed("faces_project/faces.glb"), REST)
        for k in (0, 9, 51):
            self.near(self.posed("faces_project/faces.glb", f"shape_{k + 1}=1"), shape(k))
        outcome = self.run_tool("edit", "--export", "face.html", "faces_project/faces.glb")
        if outcome.code != 0 and "left out" not in outcome.err:
            self.fail(outcome.err)

    def test_the_mesh_at_rest_of_a_folder(self):
        for names, rest in ((("a", "rest"), "rest"), (("Base", "neutral_2", "z"), "Base"), (("base_of_nose", "my-neutral"), "my-neutral"),
                            (("forest", "everest", "bases"), None)):
            faces = self.folder / "-".join(names)
            faces.mkdir()
            for k, name in enumerate(names):
                (faces / f"{name}.obj").write_text(obj_text(shape(k), FACES))
            err = self.notes("init", faces.name, "-o", faces.name + "_out")
            if rest:
                self.assertIn(f"the mesh at rest is '{faces.name}/{rest}.obj'", err)
            else:
                self.assertIn(f"no file is called rest or neutral, so the first one, '{faces.name}/bases.obj'", err)

    def test_the_mesh_named_twice(self):
        (self.folder / "rest.obj").write_text(obj_text(REST, FACES))
        (self.folder / "wide.obj").write_text(obj_text(shape(1), FACES))
        self.succeed("init", "rest.obj", "./rest.obj", "wide.obj", "-o", "p")
        project = json.loads((self.folder / "p/rest.json").read_text())
        self.assertEqual([axis["name"] for axis in project["layers"][0]["space"]], ["wide"])
        self.sentence(self.run_tool("init", "rest.obj", "./rest.obj", "-o", "q"), 1, "give shapes of it too")

    def test_a_folder_of_another_program(self):
        faces = self.folder / "faces"
        faces.mkdir()
        (faces / "readme.txt").write_text("hello")
        self.sentence(self.run_tool("init", "faces"), 1, "has no .obj, .ply, .off or .abc files")
        (faces / "smile.fbx").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(60))
        (faces / "wink.fbx").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(60))
        self.sentence(self.run_tool("init", "faces"), 1, "faces/smile.fbx: this is an FBX file", "Wavefront (.obj)")

    # ---- glTF ----

    def test_no_inverse_bind_matrices(self):
        """Identities, as the specification says: the mesh at rest is where its joints take it."""
        self.write_json("skin.gltf", skinned())
        self.notes("init", "skin.gltf", "-o", "p")
        self.notes("build", "p/skin.json")
        self.near(self.posed("p/skin.glb"), [[0, 0, 0], [1, 1, 0], [0, 2.75, 0]])

    def test_missing_pictures(self):
        for uri, why in (("../skin.png", "is not beside this file"), ("skin.jpg", "cannot be found")):
            tree = skinned()
            tree["images"] = [{"uri": uri}]
            tree["textures"] = [{"source": 0}]
            tree["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
            tree["meshes"][0]["primitives"][0]["material"] = 0
            self.write_json("skin.gltf", tree)
            self.assertIn(f"images[0]: the picture '{uri}' {why}, and is left out", self.notes("info", "skin.gltf"))

    def test_extensions_that_are_not_understood(self):
        tree = skinned()
        tree["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]
        self.write_json("skin.gltf", tree)
        self.notes("info", "skin.gltf")
        tree["extensionsRequired"] = ["EXT_mesh_gpu_instancing"]
        self.write_json("skin.gltf", tree)
        self.sentence(self.run_tool("info", "skin.gltf"), 1, "needs the extension EXT_mesh_gpu_instancing", "export without it")
        tree["extensionsRequired"] = ["KHR_materials_unlit", "KHR_texture_transform", "KHR_mesh_quantization"]
        self.write_json("skin.gltf", tree)
        self.notes("info", "skin.gltf")

    def test_compressed_glTF(self):
        """A file by gltfpack: two joints, two targets, an animation."""
        packed = harness.REPOSITORY / "fuzz/seeds/gltf/meshopt.glb"
        scene = self.run_tool("info", packed, "--json").json()
        self.assertEqual(scene["meshes"][0]["targets"], ["smile", "blink"])
        self.notes("init", packed, "-o", "p")
        self.notes("build", "p/meshopt.json")
        rest, smile = self.posed("p/meshopt.glb"), self.posed("p/meshopt.glb", "smile=1")
        self.assertEqual(len(rest), 7)
        self.assertGreater(max(abs(a - b) for p, q in zip(rest, smile) for a, b in zip(p, q)), 0.05)

    # ---- pictures ----

    def test_jpeg_images_of_a_layer(self):
        description = {"exemplar": 1, "mesh": "mesh.obj", "layers": [
            {"name": "skin", "space": [{"name": "t", "min": 0, "max": 1, "rest": 0}], "weigh": {"kind": "cardinal"},
             "shape": "pixels", "texture": "base_color",
             "examples": [{"name": "a", "image": "a.jpg", "at": {"t": 0}}, {"name": "b", "image": "b.png", "at": {"t": 1}}]}]}
        (self.folder / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3\n")
        picture = (harness.REPOSITORY / "fuzz/seeds/jpeg/colour.jpg").read_bytes()
        (self.folder / "a.jpg").write_bytes(picture)
        (self.folder / "b.png").write_bytes(harness.png(19, 11))
        self.write_json("p.json", description)
        self.notes("check", "p.json")
        self.notes("build", "p.json")
        self.assertEqual(self.run_tool("info", "a.jpg", "--json").json()["width"], 19)
        (self.folder / "a.jpg").write_bytes(picture[:300])
        self.sentence(self.run_tool("build", "p.json"), 1, "a.jpg: is a damaged JPEG file", "export the picture as JPEG again")
        (self.folder / "a.jpg").write_bytes(b"RIFF\x24\x00\x00\x00WEBPVP8 ")
        self.sentence(self.run_tool("build", "p.json"), 1, "this is a WebP image", "Save it as PNG or JPEG")


harness.main()
