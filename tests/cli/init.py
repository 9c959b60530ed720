"""Projects from glTF: contents, notes, refusals. (tests/oracle/init_oracle.py compares the numbers.)"""
import base64
import json
import math
import os
import re
import struct

import harness
from scenes import TRIANGLE, Scene

HELD = [([0, 0, 0, 0], [1, 0, 0, 0])] * 3


def shifted(x, y, z):
    return [[x, y, z]] * 3


class Init(harness.Case):
    def init(self, scene, *words):
        scene.write(self.folder / "it.gltf")
        return self.run_tool("init", "it.gltf", *words)

    def project(self):
        return json.loads((self.folder / "it/it.json").read_text())

    def posed(self, *words):
        self.succeed("build", "it/it.json", "-q")
        self.succeed("pose", "it/it.glb", *words, "-o", "out.obj")
        return harness.positions_of((self.folder / "out.obj").read_text())

    def test_targets(self):
        scene = Scene()
        mesh = scene.mesh("m", targets=[shifted(1, 0, 0), shifted(0, 2, 0)], names=["wide", "tall"], weights=[0, 0.5])
        scene.node(mesh=mesh, name="shown", scale=[2, 2, 2])
        outcome = self.init(scene)
        self.assertEqual((outcome.code, outcome.err, outcome.out),
                         (0, "", "it/it.json: 2 morph targets, no skeleton; 'exemplar build it/it.json' makes the rig\n"))
        layer, = self.project()["layers"]
        self.assertEqual(layer["name"], "targets")
        self.assertEqual(layer["weigh"], {"kind": "direct"})
        self.assertEqual(layer["space"], [{"name": "wide", "min": 0, "max": 1, "rest": 0},
                                          {"name": "tall", "min": 0, "max": 1, "rest": 0.5}])
        self.assertEqual([e["name"] for e in layer["examples"]], ["wide", "tall"])
        # The file's own pose: half tall, and twice as large because of its node.
        self.assertEqual(self.posed(), [[0, 2, 0], [2, 2, 0], [0, 4, 0]])
        self.assertEqual(self.posed("tall=0", "wide=0.5"), [[1, 0, 0], [3, 0, 0], [1, 2, 0]])
        self.assertEqual(self.succeed("check", "it/it.json", "-q").out, "")
        answer = self.succeed("init", "it.gltf", "-o", "again", "--json").json()
        self.assertEqual(answer, {"project": "again/it.json", "targets": 2, "skeleton": False, "notes": []})

    def test_names_that_need_care(self):
        scene = Scene()
        names = ["a=b", "time", "joint:x", "same", "same", ""]
        mesh = scene.mesh("m", targets=[shifted(i + 1, 0, 0) for i in range(6)], names=names)
        scene.node(mesh=mesh)
        outcome = self.init(scene)
        self.assertEqual(outcome.code, 0)
        axes = [axis["name"] for axis in self.project()["layers"][0]["space"]]
        self.assertEqual(axes, ["a_b", "target time", "target joint:x", "same", "same 2", "target5"])
        self.assertIn("morph target 'a=b' is called 'a_b' in the project", outcome.err)
        self.assertEqual(outcome.err.count("\n"), 4)
        self.assertEqual(self.posed("same 2=1")[0], [5, 0, 0])

    def test_joints_with_names_that_no_project_has(self):
        scene = Scene()
        joints = [scene.node(name=name) for name in ["up\tper", "up\nper", "x" * 300]]
        scene.node(mesh=scene.mesh("m", influences=HELD), skin=scene.skin(joints))
        outcome = self.init(scene)
        self.assertEqual(outcome.code, 0)
        self.assertIn("is called 'up_per' in the project, because names are short and have no control", outcome.err)
        answer = self.succeed("info", "it/skeleton.glb", "--json").json()
        self.assertEqual(answer["skins"][0]["joints"], ["up_per", "up_per 2", "x" * 255])
        self.posed("joint:up_per=x20")

    def test_a_file_called_skeleton(self):
        """The rig is skeleton.glb then, so the skeleton's file is not."""
        scene = Scene()
        scene.node(mesh=scene.mesh("m", influences=HELD), skin=scene.skin([scene.node(name="hip")]))
        scene.write(self.folder / "Skeleton.gltf")
        self.succeed("init", "Skeleton.gltf")
        self.succeed("build", "Skeleton/Skeleton.json")
        self.assertEqual(sorted(os.listdir(self.folder / "Skeleton")),
                         ["Skeleton.glb", "Skeleton.json", "joints.glb", "mesh.obj"])
        os.rename(self.folder / "Skeleton/Skeleton.glb", self.folder / "skeleton.glb")
        self.succeed("unpack", "skeleton.glb", "-o", "again")
        self.succeed("build", "again/skeleton.json")

    def test_one_name_in_two_meshes_is_one_axis(self):
        scene = Scene()
        first = scene.mesh("face", targets=[shifted(0, 0, 1)], names=["smile"])
        second = scene.mesh("teeth", positions=[[5, 0, 0], [6, 0, 0], [5, 1, 0]],
                            targets=[shifted(0, 0, 2), shifted(0, 0, 4)], names=["smile", "grin"])
        scene.node(mesh=first)
        scene.node(mesh=second)
        self.assertEqual(self.init(scene).err, "")
        self.assertEqual([axis["name"] for axis in self.project()["layers"][0]["space"]], ["smile", "grin"])
        self.assertEqual([p[2] for p in self.posed("smile=1")], [1, 1, 1, 2, 2, 2])
        self.assertEqual([p[2] for p in self.posed("grin=1")], [0, 0, 0, 4, 4, 4])

    def test_one_name_at_two_weights_is_two_axes(self):
        """The file rests at both, so one slider cannot stand for them."""
        scene = Scene()
        scene.node(mesh=scene.mesh("face", targets=[shifted(0, 0, 1)], names=["smile"]))
        scene.node(mesh=scene.mesh("teeth", positions=[[5, 0, 0], [6, 0, 0], [5, 1, 0]], targets=[shifted(0, 0, 2)],
                                   names=["smile"], weights=[0.5]))
        self.assertIn("morph target 'smile' is called 'smile 2' in the project", self.init(scene).err)
        self.assertEqual([p[2] for p in self.posed()], [0, 0, 0, 1, 1, 1])
        self.assertEqual([p[2] for p in self.posed("smile=1", "smile 2=0")], [1, 1, 1, 0, 0, 0])

    def test_skin(self):
        scene = Scene()
        root = scene.node(name="bone", children=[1])
        tip = scene.node(shown=False, name="bone", translation=[1, 0, 0])
        skin = scene.skin([root, tip])
        influences = [([0, 1, 0, 0], [1, 0, 0, 0]), ([0, 1, 0, 0], [0, 1, 0, 0]), ([0, 1, 0, 0], [0.5, 0.5, 0, 0])]
        scene.node(mesh=scene.mesh("m", influences=influences), skin=skin, translation=[9, 9, 9])
        outcome = self.init(scene)
        self.assertEqual(outcome.code, 0)
        self.assertEqual(outcome.err, "exemplar: it.gltf: joint 'bone' is called 'bone 2' in the project, because "
                                      "names must be unique\n")
        self.assertEqual(self.project(), {"exemplar": 1, "mesh": "mesh.obj", "skeleton": "skeleton.glb", "layers": []})
        self.assertEqual(self.posed(), [[0, 0, 0], [2, 0, 0], [0.5, 1, 0]])
        for got, expected in zip(self.posed("joint:bone=z90"), [[0, 0, 0], [0, 2, 0], [-1, 0.5, 0]], strict=True):
            for a, b in zip(got, expected, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-6)

    def test_seams_close(self):
        """Two triangles side by side; the file has their common edge twice."""
        scene = Scene()
        positions = TRIANGLE + [TRIANGLE[2], TRIANGLE[1], [1, 1, 0]]
        targets = [shifted(0, 0, 1) + [[0, 0, 1], [0, 0, 1], [0, 0, 3]]]
        scene.node(mesh=scene.mesh("m", positions=positions, targets=targets, names=["a"]))
        outcome = self.init(scene)
        self.assertEqual(outcome.err, "exemplar: it.gltf: 2 of 6 vertices, split at seams of normals or texture "
                                      "coordinates, are merged with others\n")
        self.assertEqual(self.posed("a=1"), [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 3]])
        self.assertEqual(self.init(scene, "--force", "--keep-seams").err, "")
        self.assertEqual(self.posed("a=1")[3:], [[0, 1, 1], [1, 0, 1], [1, 1, 3]])

    def test_triangles_without_area(self):
        scene = Scene()
        mesh = scene.mesh("m", positions=[*TRIANGLE, [5, 0, 0], [6, 0, 0]])
        corners = [[0], [1], [2], [3], [4], [3], [4], [4], [4]]
        scene.json["meshes"][mesh]["primitives"][0]["indices"] = scene.array(corners, "B", 5121)
        scene.node(mesh=mesh)
        self.assertEqual(self.init(scene).err,
                         "exemplar: it.gltf: 2 triangles are left out, with the same vertex at two corners\n")
        faces = [line for line in (self.folder / "it/mesh.obj").read_text().splitlines() if line.startswith("f ")]
        self.assertEqual(len(faces), 1)

    def test_many_joints_of_one_name(self):
        """Each gets the next number that no other joint's name has."""
        scene = Scene()
        joints = [scene.node(name=name) for name in ["bone", "bone", "bone 3", "bone", "bone", "hip", "hip"]]
        scene.node(mesh=scene.mesh("m", influences=HELD), skin=scene.skin(joints))
        self.assertEqual(self.init(scene).code, 0)
        answer = self.succeed("info", "it/skeleton.glb", "--json").json()
        self.assertEqual(answer["skins"][0]["joints"], ["bone", "bone 2", "bone 3", "bone 4", "bone 5", "hip", "hip 2"])

    def test_vertices_that_move_apart_stay_apart(self):
        scene = Scene()
        joints = [scene.node(name="a"), scene.node(name="b")]
        both = ([0, 1, 0, 0], [0.5, 0.5, 0, 0])
        scene.node(mesh=scene.mesh("m", positions=TRIANGLE + [TRIANGLE[2], TRIANGLE[1], [1, 1, 0]],
                                   influences=HELD + [both, HELD[0], HELD[0]]), skin=scene.skin(joints))
        self.assertEqual(self.init(scene).err, "")
        self.assertEqual(len(self.posed()), 6)

    def test_meshes_with_more_and_fewer_influences(self):
        """Six joints, moved since they were bound, share one vertex; the others have one joint each."""
        scene = Scene()
        joints = [scene.node(name=f"j{i}", translation=[i, 0, 0]) for i in range(6)]
        skin = scene.skin(joints)
        spread = [0, 1, 2, 3, 4, 5, 0, 0], [0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0, 0]
        held = [5] + [0] * 7, [1] + [0] * 7
        scene.node(mesh=scene.mesh("few", influences=[([1, 0, 0, 0], [1, 0, 0, 0])] * 3), skin=skin)
        scene.node(mesh=scene.mesh("many", influences=[spread, held, held]), skin=skin)
        self.assertEqual(self.init(scene).code, 0)
        self.assertEqual(self.posed(), [[1, 0, 0], [2, 0, 0], [1, 1, 0], [2, 0, 0], [6, 0, 0], [5, 1, 0]])

    def test_all_parts_arrive(self):
        """Two skins of one skeleton, and a hat that hangs on nothing; what is not shown is left out, and that is said."""
        scene = Scene()
        root = scene.node(name="root")
        first, second = scene.skin([root]), scene.skin([root])
        more = TRIANGLE + [[1, 1, 0]] * 3
        scene.node(name="small", mesh=scene.mesh("a", influences=HELD), skin=first)
        scene.node(name="large", mesh=scene.mesh("b", positions=more, influences=HELD * 2), skin=second)
        scene.node(name="large too", mesh=scene.mesh("c", influences=HELD), skin=second)
        scene.node(name="hat", mesh=scene.mesh("d"))
        scene.node(name="elsewhere", mesh=scene.mesh("e"), shown=False)
        time, turn = scene.array([[0], [1]]), scene.array([[0, 0, 0, 1], [0, 0, 1, 0]])
        scene.json["accessors"][time].update({"min": [0], "max": [1]})
        scene.json["animations"] = [{"name": "spin", "samplers": [{"input": time, "output": turn}],
                                     "channels": [{"sampler": 0, "target": {"node": root, "path": "rotation"}}]}]
        outcome = self.init(scene)
        self.assertEqual(outcome.code, 0)
        said = ("node 5 ('elsewhere') is left out, with 3 vertices: it is not in the scene that the file shows",
                "node 'hat' is a joint of the project, because it hangs on no other")
        for sentence in said:
            self.assertIn(f"exemplar: it.gltf: {sentence}\n", outcome.err)
        self.assertEqual(outcome.err.count("\n"), len(said))
        self.assertEqual(len(self.posed()), 15)
        self.assertEqual(self.project()["clips"], "clips.glb")
        self.assertEqual(outcome.out, "it/it.json: 0 morph targets, a skeleton, 1 clip; 'exemplar build it/it.json' "
                                      "makes the rig\n")
        self.assertEqual(self.succeed("init", "it.gltf", "-o", "b", "-q").out, "")
        answer = self.succeed("init", "it.gltf", "-o", "c", "--json").json()
        self.assertEqual(len(answer["notes"]), len(said))

    def test_a_mirrored_character(self):
        """A node that mirrors turns the front of its faces round, with a skin too."""
        for mirrored in (False, True):
            with self.subTest(mirrored=mirrored):
                scene = Scene()
                joint = scene.node(name="joint", shown=False)
                body = scene.node(name="body", shown=not mirrored, mesh=scene.mesh("m", influences=HELD),
                                  skin=scene.skin([joint]))
                scene.node(name="root", scale=[-1, 1, 1], children=[joint, body] if mirrored else [joint])
                self.assertEqual(self.init(scene, "-q", "--force").code, 0)
                places = self.posed()
                self.assertEqual(places, [[0, 0, 0], [-1, 0, 0], [0, 1, 0]])
                face, = [line.split()[1:] for line in (self.folder / "out.obj").read_text().splitlines()
                         if line.startswith("f ")]
                corners = [int(word.split("/")[0]) for word in face]
                first = corners.index(1)
                self.assertEqual(corners[first:] + corners[:first], [1, 3, 2] if mirrored else [1, 2, 3])

    def test_points_and_lines(self):
        """They have no faces, so nothing of them is seen."""
        scene = Scene()
        mesh = scene.mesh("hair")
        scene.json["meshes"][mesh]["primitives"].append({**scene.json["meshes"][mesh]["primitives"][0], "mode": 1})
        scene.node(name="head", mesh=mesh)
        outcome = self.init(scene)
        self.assertEqual((outcome.code, outcome.err), (0, "exemplar: it.gltf: mesh 0 ('hair') has points or lines, with "
                                                          "3 vertices, which are not drawn\n"))

    def test_many_parts_that_hang_on_nothing(self):
        """One note for all of them, and one for lights alone."""
        scene = Scene()
        root = scene.node(name="root", extensions={"KHR_lights_punctual": {"light": 0}})
        scene.node(name="body", mesh=scene.mesh("a", influences=HELD), skin=scene.skin([root]))
        for i in range(12):
            scene.node(name=f"tile {i}", mesh=scene.mesh("b"), translation=[i, 0, 0])
        outcome = self.init(scene)
        self.assertEqual(outcome.code, 0)
        self.assertEqual(outcome.err, "exemplar: it.gltf: 1 light is ignored\nexemplar: it.gltf: 12 nodes, such as 'tile "
                                      "11', are joints of the project, because they hang on no other\n")

    def test_a_stretched_node_above_a_joint(self):
        """Its scale and the joint's turn shear, so the node becomes a joint too."""
        scene = Scene()
        turn = [0, 0, 0.3826834, 0.9238795]
        joint = scene.node(shown=False, name="hip", rotation=turn)
        scene.node(name="stretched", scale=[1, 3, 1], children=[joint])
        scene.node(mesh=scene.mesh("m", influences=HELD), skin=scene.skin([joint]))
        self.assertIn("node 'stretched' is a joint of the project", self.init(scene).err)
        found = self.posed()
        for p, x in zip(found, TRIANGLE):
            c = math.sqrt(0.5)
            for got, expected in zip(p, [c * x[0] - c * x[1], 3 * (c * x[0] + c * x[1]), x[2]]):
                self.assertAlmostEqual(got, expected, 5)

    def test_no_inverse_binds(self):
        """The specification makes them identities."""
        scene = Scene()
        joint = scene.node(name="hip", translation=[0, 1, 0])
        scene.node(mesh=scene.mesh("m", influences=HELD), skin=scene.skin([joint], binds=False))
        self.assertEqual(self.init(scene).code, 0)
        self.assertEqual(self.posed(), [[x, y + 1, z] for x, y, z in TRIANGLE])

    def test_a_file_that_is_cut_short(self):
        """Nothing says any more whether it was a rig."""
        text = json.dumps({"asset": {"version": "2.0"}, "meshes": []}).ljust(200).encode()
        whole = b"glTF" + struct.pack("<III", 2, 220, 200) + b"JSON" + text
        (self.folder / "cut.glb").write_bytes(whole[:100])
        self.sentence(self.run_tool("init", "cut.glb"), 1, "cut.glb", "cut short")

    def test_plain_mesh(self):
        scene = Scene()
        scene.node(mesh=scene.mesh("m"), translation=[0, 0, 3])
        self.assertEqual(self.init(scene).out, "it/it.json: 0 morph targets, no skeleton; 'exemplar build it/it.json' makes the rig\n")
        self.assertEqual(self.posed(), [[0, 0, 3], [1, 0, 3], [0, 1, 3]])
        outcome = self.run_tool("weights", "it/it.glb")
        self.assertEqual((outcome.out, outcome.err), ("", "exemplar: it/it.glb has no layers, and so no weights\n"))
        outcome = self.succeed("weights", "it/it.glb", "--json", "-q")
        self.assertEqual((outcome.json(), outcome.err), ({"layers": []}, ""))

    def refused(self, scene, *fragments):
        scene.write(self.folder / "it.gltf")
        before = self.listing()
        self.sentence(self.run_tool("init", "it.gltf"), 1, "it.gltf", *fragments)
        self.assertEqual(self.listing(), before)

    def test_refused(self):
        scene = Scene()
        skin = scene.skin([scene.node(name="hip")])
        scene.node(mesh=scene.mesh("m"), skin=skin)
        self.refused(scene, "meshes[0].primitives[0] has no joints and weights")

        scene = Scene()
        scene.node(name="lonely")
        self.refused(scene, "there is no mesh in the scene\n")
        time, turn = scene.array([[0], [1]]), scene.array([[0, 0, 0, 1], [0, 0, 1, 0]])
        scene.json["accessors"][time].update({"min": [0], "max": [1]})
        scene.json["animations"] = [{"samplers": [{"input": time, "output": turn}],
                                     "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}]}]
        self.refused(scene, "only motion: 'exemplar bake RIG.glb --motion FILE' plays it on a rig")

    def test_what_cannot_be_built_is_refused(self):
        """Scenes that can be read, and would give files that can be read, but no rig."""
        for words in ({"scale": [3e38] * 3}, {"translation": [0, 1e300, 0]}, {"scale": [1e308, 1, 1]},
                      {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1e39, 0, 1]}):
            with self.subTest(**words):
                scene = Scene()
                far = [[2, 2, 2], [3, 2, 2], [2, 3, 2]]
                scene.node(mesh=scene.mesh("m", positions=far), **words)
                self.refused(scene, "it.gltf: vertex", "too far away")
        scene = Scene()
        scene.node(mesh=scene.mesh("m", targets=[shifted(1, 0, 0), shifted(3e38, 0, 0)], names=["near", "far"]),
                   scale=[2, 2, 2])
        self.refused(scene, "it.gltf: ", "'far': vertex", "too far away")

    def test_files_outside_the_folder_are_not_read(self):
        """A downloaded file must not reach what lies elsewhere."""
        (self.folder / "secret.bin").write_bytes(bytes(36))
        (self.folder / "down").mkdir()
        for uri in ("../secret.bin", "%2e%2E/secret.bin", "a/../../secret.bin", "..%2Fsecret.bin",
                    str(self.folder / "secret.bin"), "file://" + str(self.folder / "secret.bin")):
            scene = Scene()
            scene.node(mesh=scene.mesh("m"))
            scene.write(self.folder / "down/it.gltf")
            text = json.loads((self.folder / "down/it.gltf").read_text())
            text["buffers"][0]["uri"] = uri
            (self.folder / "down/it.gltf").write_text(json.dumps(text))
            self.sentence(self.run_tool("init", "down/it.gltf"), 1, "down/it.gltf: buffers[0]", "file beside this one")
            self.assertFalse((self.folder / "it").exists())

    def test_overwriting(self):
        scene = Scene()
        scene.node(mesh=scene.mesh("m", targets=[shifted(1, 0, 0)], names=["a"]))
        self.assertEqual(self.init(scene).code, 0)
        before = self.listing()
        self.sentence(self.init(scene), 1, "'it/it.json' exists already", "--force")
        os.remove(self.folder / "it/it.json")
        before.pop("it/it.json")
        self.sentence(self.init(scene), 1, "it/mesh.obj exists already: give --force")
        self.assertEqual(self.listing(), before)
        self.assertEqual(self.init(scene, "--force").code, 0)

    def test_other_kinds(self):
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        self.sentence(self.run_tool("init", "band.glb"), 1, "'band.glb' is a rig, not plain glTF",
                      "exemplar unpack band.glb")
        self.sentence(self.run_tool("init", "bent.obj"), 1, "'bent.obj' is one form", "exemplar init bent.obj SMILE.obj")
        self.sentence(self.run_tool("init", "band.json"), 1, "'band.json' is a project, not a glTF file")
        self.sentence(self.run_tool("init", "none.glb"), 1, "none.glb", "No such file")
        scene = Scene()
        scene.node(mesh=scene.mesh("m"))
        scene.write(self.folder / "it.gltf")
        self.sentence(self.run_tool("pose", "it.gltf", "-o", "a.obj"), 1, "'it.gltf' is a glTF file, not a rig",
                      "exemplar init it.gltf")
        self.sentence(self.run_tool("build", "it.gltf"), 1, "'it.gltf' is a glTF file, not a project")

    def test_full_disk_leaves_nothing(self):
        scene = Scene()
        many = [[i % 97, i % 89, i] for i in range(3000)]
        scene.node(mesh=scene.mesh("m", positions=many, targets=[many], names=["a"]))
        scene.write(self.folder / "it.gltf")
        before = self.listing()
        if harness.THREAD_SANITIZED:
            self.skipTest("the thread sanitizer crashes where the size of files is limited")
        outcome = self.run_tool("init", "it.gltf", file_size=20000)
        self.sentence(outcome, 1, "mesh.obj")
        self.assertEqual(self.listing(), before)


class Info(harness.Case):
    def test_gltf(self):
        scene = Scene()
        root = scene.node(name="root")
        skin = scene.skin([root])
        mesh = scene.mesh("body", targets=[shifted(1, 0, 0)] * 14, influences=HELD)
        scene.node(mesh=mesh, skin=skin)
        scene.json["materials"] = [{"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}]
        scene.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
        scene.write(self.folder / "it.gltf")
        outcome = self.run_tool("info", "it.gltf")
        for fragment in ("it.gltf: a glTF file", "2 nodes", "mesh 0       body: 1 primitive, 3 vertices, 1 triangle, in 1 "
                         "node", "14 morph targets: target0, ", "target11 and 2 more", "skin 0       (no name): 1 joint\n",
                         "material 0   red: base colour 1 0 0 1\n"):
            self.assertIn(fragment, outcome.out)
        answer = self.run_tool("info", "it.gltf", "--json").json()
        self.assertEqual(answer["kind"], "glTF")
        self.assertEqual(answer["meshes"][0]["targets"], [f"target{i}" for i in range(14)])
        self.assertEqual(answer["skins"], [{"name": None, "inverse_binds": True, "joints": ["root"]}])
        self.assertEqual(len(answer["notes"]), outcome.err.count("\n"))

    def test_ply_and_png(self):
        (self.folder / "a.ply").write_text("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                                           "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
                                           "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
        self.assertIn("faces     1: 1 triangle", self.succeed("info", "a.ply").out)
        os.rename(self.folder / "a.ply", self.folder / "a.dat")
        self.assertEqual(self.succeed("info", "a.dat", "--json").json()["vertices"], 3)
        pixel = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
                                 "rkJggg==")
        (self.folder / "a.png").write_bytes(pixel)
        self.assertIn("a.png: an image", self.succeed("info", "a.png").out)
        answer = self.succeed("info", "a.png", "--json").json()
        self.assertEqual((answer["kind"], answer["width"], answer["height"]), ("image", 1, 1))
        (self.folder / "a.png").write_bytes(pixel[:40])
        self.sentence(self.run_tool("info", "a.png"), 1, "a.png")

    def test_rig_with_all_its_parts(self):
        self.succeed("demo", "arm", "-o", "arm", "-q")
        answer = self.succeed("info", "arm/arm.glb", "--json").json()
        self.assertEqual([joint["name"] for joint in answer["skeleton"]["joints"]], ["shoulder", "forearm", "hand"])
        self.assertEqual(answer["skeleton"]["joints"][1]["parent"], "shoulder")
        self.assertAlmostEqual(answer["skeleton"]["joints"][2]["at"][0], 0.56, 6)
        self.assertEqual(answer["skinning"], "linear")
        elbow, = [axis for axis in answer["inputs"] if axis["name"] == "elbow"]
        self.assertEqual((elbow["joint"], elbow["angle"]), ("forearm", [0, 0, 1]))
        project = self.succeed("info", "arm/arm.json", "--json").json()
        self.assertEqual(project["layers"][0]["space"], answer["layers"][0]["space"])
        text = self.succeed("info", "arm/arm.glb").out
        self.assertIn("skeleton  3 joints, linear skinning, at most", text)
        tree = "      0 shoulder  at 0 0 0\n      1   forearm  at 0.3 0 0\n      2     hand  at 0.56 0 0\n"
        self.assertIn(tree, text)
        self.assertIn(re.sub("  at .*", "", tree), self.succeed("info", "arm/skeleton.glb").out)
        self.assertIn("angle of joint 'forearm' about 0 0 1", text)

    def test_joints_stand_below_their_parents(self):
        nodes = [{"name": "hip", "children": [1, 2]}, {"name": "left", "children": [5]}, {"name": "right", "children": [4]},
                 {"name": "tail"}, {"name": "right toe"}, {"children": [6]}, {"name": "left toe"}]
        scene = {"asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0, 3]}], "scene": 0,
                 "skins": [{"joints": [0, 1, 2, 3, 4, 6]}]}
        (self.folder / "it.gltf").write_text(json.dumps(scene))
        self.assertIn(": 6 joints, no inverse bind matrices\n      0 hip\n      1   left\n      5     left toe\n"
                      "      2   right\n      4     right toe\n      3 tail\n", self.succeed("info", "it.gltf", "-q").out)

    def test_a_long_chain_stays_on_the_page(self):
        nodes = [{"name": f"j{i}", "children": [i + 1]} for i in range(99)] + [{"name": "j99"}]
        scene = {"asset": {"version": "2.0"}, "nodes": nodes, "scenes": [{"nodes": [0]}], "scene": 0,
                 "skins": [{"joints": list(range(100))}]}
        (self.folder / "it.gltf").write_text(json.dumps(scene))
        text = self.succeed("info", "it.gltf", "-q").out
        for depth in (0, 1, 29, 30, 31, 99):
            self.assertIn(f"\n    {depth:3d} {'  ' * min(depth, 30)}j{depth}\n", text)

    def test_levels(self):
        description = {**harness.project(), "subdivide": {"scheme": "catmull_clark", "levels": 2, "limit": True}}
        harness.write_project(self.folder, description)
        self.succeed("build", "band.json", "-q")
        text = self.succeed("info", "band.glb").out
        self.assertIn("level 1   21 vertices\nlevel 2   65 vertices\nlimit     65 vertices, shown\n", text)
        answer = self.succeed("info", "band.glb", "--json").json()
        self.assertEqual(answer["subdivide"],
                         {"levels": 2, "limit": True, "vertices": [21, 65], "shown": "limit"})
        self.assertIn("subdivide catmull_clark, 2 levels and the limit\n", self.succeed("info", "band.json").out)
        self.assertEqual(self.succeed("info", "band.json", "--json").json()["subdivide"],
                         {"scheme": "catmull_clark", "levels": 2, "limit": True})


if __name__ == "__main__":
    harness.main()
