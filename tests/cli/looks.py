"""Materials, images and clips on their way from a glTF file through init, build, bake and unpack."""
import json
import struct

import harness
from scenes import Scene

# A picture of one pixel, and bytes that only look like a JPEG: nobody decodes what nobody blends.
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(100)) + b"\xff\xd9"

MATERIALS = [
    {"name": "all of it",
     "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 1, 0.75], "metallicFactor": 0.125, "roughnessFactor": 0.5,
                              "baseColorTexture": {"index": 0, "extensions": {
                                  "KHR_texture_transform": {"offset": [0.5, 0], "scale": [2, 2]}}},
                              "metallicRoughnessTexture": {"index": 1}},
     "normalTexture": {"index": 1, "scale": 0.5}, "occlusionTexture": {"index": 0, "strength": 0.25},
     "emissiveTexture": {"index": 0}, "emissiveFactor": [1, 0.5, 0], "alphaMode": "MASK", "alphaCutoff": 0.25,
     "doubleSided": True, "extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": 0.5}},
     "extras": {"shader": "toon"}},
    {"name": "glass", "pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0.5]}, "alphaMode": "BLEND"},
]


def tree(path):
    data = path.read_bytes()
    if data[:4] != b"glTF":
        beside = path.with_suffix(".bin")
        return json.loads(data), beside.read_bytes() if beside.exists() else None
    size, = struct.unpack_from("<I", data, 12)
    return json.loads(data[20:20 + size]), data[28 + size:]


class Looks(harness.Case):
    def scene(self, materials=MATERIALS):
        scene = Scene()
        png = harness.png(2, 2)
        (self.folder / "skin one.png").write_bytes(png)
        (self.folder / "rough.jpg").write_bytes(JPEG)
        scene.json["materials"] = materials
        scene.json["samplers"] = [{"wrapS": 33071, "magFilter": 9728}]
        scene.json["textures"] = [{"source": 0, "sampler": 0}, {"source": 1}]
        scene.json["images"] = [{"uri": "skin%20one.png"}, {"uri": "rough.jpg", "name": "rough"}]
        scene.json["extensionsUsed"] = ["KHR_texture_transform", "KHR_materials_clearcoat"]
        places = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
        for i in range(len(materials)):
            mesh = scene.mesh(f"m{i}", positions=[[x + 2 * i, y, z] for x, y, z in places])
            primitive = scene.json["meshes"][mesh]["primitives"][0]
            primitive["material"] = i
            primitive["attributes"]["TEXCOORD_0"] = self.texcoords(scene)
            scene.node(mesh=mesh, name=f"n{i}")
        return scene, png

    def texcoords(self, scene):
        number = scene.array([[0, 0, 0], [1, 0, 0]])  # six numbers, read as three pairs
        scene.json["accessors"][number] = {**scene.json["accessors"][number], "type": "VEC2", "count": 3}
        return number

    def check(self, path, png):
        found, data = tree(path)
        self.assertEqual([m["name"] for m in found["materials"]], [m["name"] for m in MATERIALS])
        self.assertEqual(found["materials"], MATERIALS)
        self.assertEqual([t["source"] for t in found["textures"]], [0, 1])
        self.assertEqual(found["samplers"], [{"wrapS": 33071, "magFilter": 9728}])
        for image, expected in zip(found["images"], [png, JPEG], strict=True):
            if "uri" in image:
                self.assertEqual((path.parent / image["uri"]).read_bytes(), expected)
                continue
            view = found["bufferViews"][image["bufferView"]]
            start = view.get("byteOffset", 0)
            self.assertEqual(data[start:start + view["byteLength"]], expected)
        self.assertTrue({"KHR_texture_transform", "KHR_materials_clearcoat"} <= set(found["extensionsUsed"]))
        return found

    def test_all_the_way(self):
        scene, png = self.scene()
        scene.write(self.folder / "it.gltf")
        self.assertEqual(self.succeed("init", "it.gltf").err, "")
        self.check(self.folder / "it/materials.gltf", png)
        self.succeed("build", "it/it.json", "-q")
        rig = self.check(self.folder / "it/it.glb", png)
        self.assertEqual([p["material"] for p in rig["meshes"][0]["primitives"]], [0, 1])
        (self.folder / "still.csv").write_text("time\n0\n1\n")
        self.succeed("bake", "it/it.glb", "--motion", "still.csv", "-o", "baked.glb", "-q")
        baked = self.check(self.folder / "baked.glb", png)
        self.assertEqual([p["material"] for p in baked["meshes"][0]["primitives"]], [0, 1])
        self.succeed("unpack", "it/it.glb", "-o", "again", "-q")
        self.check(self.folder / "again/materials.gltf", png)
        self.succeed("build", "again/it.json", "-q")
        self.assertEqual(self.run_tool("diff", "it/it.glb", "again/it.glb").code, 0)
        info = self.succeed("info", "it/it.glb", "--json").json()
        self.assertEqual([m["name"] for m in info["materials"]], ["all of it", "glass"])
        self.assertEqual([i["type"] for i in info["images"]], ["image/png", "image/jpeg"])

    def test_posed_forms(self):
        """Forms that 'pose' writes as glTF have the rig's materials and images, at every level."""
        scene, png = self.scene()
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-q")
        self.succeed("build", "it/it.json", "-q")
        for name in ("form.glb", "form.gltf"):
            self.succeed("pose", "it/it.glb", "-o", name, "-q")
            found = self.check(self.folder / name, png)
            self.assertEqual([p["material"] for p in found["meshes"][0]["primitives"]], [0, 1])
            self.assertTrue(all("TEXCOORD_0" in p["attributes"] for p in found["meshes"][0]["primitives"]))
        (self.folder / "poses.csv").write_text("time\n0\n1\n")
        self.succeed("pose", "it/it.glb", "--poses", "poses.csv", "--kind", "glb", "-o", "forms", "-q")
        self.check(self.folder / "forms/pose_00002.glb", png)
        project = json.loads((self.folder / "it/it.json").read_text())
        project["subdivide"] = {"scheme": "loop", "levels": 1}
        (self.folder / "it/it.json").write_text(json.dumps(project))
        self.succeed("build", "it/it.json", "-q")
        self.succeed("pose", "it/it.glb", "-o", "fine.glb", "-q")
        found = self.check(self.folder / "fine.glb", png)
        self.assertEqual([p["material"] for p in found["meshes"][0]["primitives"]], [0, 1])

    def test_posed_pixels(self):
        """Textures of pixel layers are in the file as they are at the pose."""
        scene, png = self.scene([{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
                                 {"name": "cloth", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-q")
        project = json.loads((self.folder / "it/it.json").read_text())
        for name, colour in (("pale", (200, 180, 160)), ("tan", (90, 60, 30))):
            (self.folder / f"it/{name}.png").write_bytes(harness.png(2, 2, colour))
        for kind in ("base_color", "normal"):
            project["layers"].append({
                "name": f"sun on {kind}", "shape": "pixels", "texture": kind, "material": "cloth",
                "space": [{"name": "sun", "min": 0, "max": 1}],
                "examples": [{"name": f"{at} {kind}", "image": f"{at}.png", "at": {"sun": i}}
                             for i, at in enumerate(("pale", "tan"))]})
        (self.folder / "it/it.json").write_text(json.dumps(project))
        self.succeed("build", "it/it.json", "-q")
        self.succeed("pose", "it/it.glb", "sun=1", "-o", "form.glb", "-q")
        self.assertEqual([path.name for path in self.folder.glob("form*")], ["form.glb"])
        found, data = tree(self.folder / "form.glb")
        shown = [found["textures"][m["pbrMetallicRoughness"]["baseColorTexture"]["index"]]["source"]
                 for m in found["materials"]]
        images = []
        for number in shown:
            view = found["bufferViews"][found["images"][number]["bufferView"]]
            images.append(data[view.get("byteOffset", 0):][:view["byteLength"]])
        self.assertEqual(images[0], png)
        self.succeed("pose", "it/it.glb", "sun=1", "-o", "form.obj", "--textures", "-q")
        self.assertEqual(images[1], (self.folder / "form.cloth.base_color.png").read_bytes())
        self.succeed("pose", "it/it.glb", "sun=1", "-o", "both.glb", "--textures", "-q")
        self.assertEqual([path.name for path in self.folder.glob("both*")], ["both.glb"])
        self.assertEqual([("normalTexture" in m) for m in tree(self.folder / "both.glb")[0]["materials"]], [False, True])

    def test_faces_in_any_order(self):
        """Viewers get one primitive per material; the mesh keeps the order of its faces."""
        harness.write_project(self.folder)
        (self.folder / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nusemtl b\nf 1 2 3\nusemtl a\nf 2 4 3\n"
                                           "usemtl b\nf 3 4 1\n")
        (self.folder / "looks.gltf").write_text(json.dumps({
            "asset": {"version": "2.0"}, "materials": [{"name": "a"}, {"name": "b", "doubleSided": True}]}))
        (self.folder / "p.json").write_text(json.dumps(
            {"exemplar": 1, "mesh": "m.obj", "materials": "looks.gltf", "layers": []}))
        self.succeed("build", "p.json", "-q")
        found, data = tree(self.folder / "p.glb")
        lists = []
        for p in found["meshes"][0]["primitives"]:
            accessor = found["accessors"][p["indices"]]
            start = found["bufferViews"][accessor["bufferView"]]["byteOffset"]
            lists.append((p["material"], struct.unpack_from(f"<{accessor['count']}I", data, start)))
        self.assertEqual(lists, [(1, (0, 1, 2, 2, 3, 0)), (0, (1, 3, 2))])

    def test_one_name_twice(self):
        scene, _ = self.scene([{"name": "skin"}, {"name": "skin", "doubleSided": True}, {}])
        scene.write(self.folder / "it.gltf")
        self.assertIn("material 'skin' is called 'skin 2' in the project", self.run_tool("init", "it.gltf").err)
        self.succeed("build", "it/it.json", "-q")
        found, _ = tree(self.folder / "it/it.glb")
        self.assertEqual([m["name"] for m in found["materials"]], ["skin", "skin 2", "material.2"])
        self.assertEqual([p["material"] for p in found["meshes"][0]["primitives"]], [0, 1, 2])

    def test_one_name_many_times(self):
        """The file and its rig are drawn alike, each face in its own colour; notes are not as long as the file."""
        scene, _ = self.scene([{"name": "skin", "extensions": {"KHR_materials_unlit": {}},
                                "pbrMetallicRoughness": {"baseColorFactor": [i / 13, 1 - i / 13, i % 2, 1]}}
                               for i in range(14)])
        scene.json["extensionsUsed"].append("KHR_materials_unlit")
        scene.write(self.folder / "it.gltf")
        notes = self.run_tool("init", "it.gltf").err
        self.assertEqual(notes.count("is called"), 10)
        self.assertIn("3 more materials have other names in the project", notes)
        self.succeed("build", "it/it.json", "-q")
        pictures = []
        for file in ("it.gltf", "it/it.glb"):
            self.succeed("render", file, "-o", "it.png", "--size", "300x30", "--yaw", "0", "--no-ground", "-q")
            pictures.append((self.folder / "it.png").read_bytes())
        self.assertEqual(pictures[0], pictures[1])

    def test_pixels_of_a_material(self):
        """A layer of pixels may name its material; the others keep their images."""
        scene, png = self.scene([{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
                                 {"name": "cloth", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-q")
        (self.folder / "it/tan.png").write_bytes(harness.png(2, 2))
        project = json.loads((self.folder / "it/it.json").read_text())
        project["layers"].append({"name": "tan", "shape": "pixels", "texture": "base_color", "material": "cloth",
                                  "space": [{"name": "sun", "min": 0, "max": 1, "rest": 0}],
                                  "weigh": {"kind": "direct"}, "examples": [{"name": "sun", "image": "tan.png"}]})
        (self.folder / "it/it.json").write_text(json.dumps(project))
        self.succeed("build", "it/it.json", "-q")
        found, _ = tree(self.folder / "it/it.glb")
        textures = [m["pbrMetallicRoughness"]["baseColorTexture"]["index"] for m in found["materials"]]
        self.assertEqual(textures, [0, 2])
        self.succeed("unpack", "it/it.glb", "-o", "again", "-q")
        layer = json.loads((self.folder / "again/it.json").read_text())["layers"][-1]
        self.assertEqual((layer["texture"], layer["material"]), ("base_color", "cloth"))
        project["layers"][-1]["material"] = "leather"
        (self.folder / "it/it.json").write_text(json.dumps(project))
        self.sentence(self.run_tool("build", "it/it.json"), 1, "'leather'", "skin")

    def test_what_cannot_come_along(self):
        scene, _ = self.scene([{"name": "skin", "occlusionTexture": {"index": 1, "texCoord": 1},
                                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
        scene.json["images"][1]["uri"] = "gone.jpg"
        scene.write(self.folder / "it.gltf")
        said = self.run_tool("init", "it.gltf").err
        self.assertIn("material 'skin': 1 texture is left out, because it uses a second set of texture coordinates", said)
        self.assertIn("the picture 'gone.jpg' cannot be found, and is left out", said)
        self.succeed("build", "it/it.json", "-q")

    def test_a_second_set_that_is_a_copy(self):
        """Some viewers wanted a second set for occlusion; if it is the first again, nothing is left out."""
        for same in (True, False):
            with self.subTest(same=same):
                scene, _ = self.scene([{"name": "skin", "occlusionTexture": {"index": 1, "texCoord": 1, "strength": 0.5},
                                        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
                attributes = scene.json["meshes"][0]["primitives"][0]["attributes"]
                attributes["TEXCOORD_1"] = attributes["TEXCOORD_0"]
                if not same:
                    number = scene.array([[0, 0, 0], [1, 0, 0.5]])
                    scene.json["accessors"][number] = {**scene.json["accessors"][number], "type": "VEC2", "count": 3}
                    del scene.json["accessors"][number]["min"], scene.json["accessors"][number]["max"]
                    attributes["TEXCOORD_1"] = number
                scene.write(self.folder / "it.gltf")
                said = self.run_tool("init", "it.gltf", "--force").err
                self.assertEqual("second set of texture coordinates" in said, not same)
                material, = tree(self.folder / "it/materials.gltf")[0]["materials"]
                self.assertEqual(material.get("occlusionTexture"), {"index": 1, "strength": 0.5} if same else None)

    def test_transforms_are_drawn_once(self):
        """Quantised files scale their texture coordinates in the material; the file and its rig look the same."""
        pictures = []
        for scale in (1, 64):  # coordinates divided by the scale that the material multiplies them with
            scene, _ = self.scene([{"name": "skin", "extensions": {"KHR_materials_unlit": {}}, "pbrMetallicRoughness": {
                "baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [scale, scale]}}}}}])
            scene.json["extensionsUsed"].append("KHR_materials_unlit")
            (self.folder / "skin one.png").write_bytes(harness.png(8, 8, pixels=bytes(range(0, 240, 10))))
            corners = scene.array([[0, 0, 1 / scale], [0, 0, 1 / scale]])
            scene.json["accessors"][corners] = {**scene.json["accessors"][corners], "type": "VEC2", "count": 3}
            scene.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = corners
            scene.write(self.folder / "it.gltf")
            self.succeed("init", "it.gltf", "-q", "--force")
            self.succeed("build", "it/it.json", "-q")
            for file in ("it.gltf", "it/it.glb"):
                self.succeed("render", file, "-o", "it.png", "--size", "40x40", "--yaw", "0", "-q")
                pictures.append((self.folder / "it.png").read_bytes())
        for picture in pictures[1:]:
            self.assertEqual(picture, pictures[0])

    def test_skinned_files_stand(self):
        """'render' draws a character's file as its rig stands: the mesh is bound lying down, 100 times as large."""
        half = 0.5 ** 0.5
        for mirror in (1, -1):
            scene = Scene()
            joint = scene.node(name="joint", shown=False, rotation=[half, 0, 0, half])
            mesh = scene.mesh("m", positions=[[0, 0, 0], [100, 0, 0], [0, 0, -200]],
                              influences=[([0, 0, 0, 0], [1, 0, 0, 0])] * 3)
            body = scene.node(name="body", shown=False, mesh=mesh, skin=scene.skin([joint]))
            scene.node(name="root", scale=[0.01 * mirror, 0.01, 0.01], children=[joint, body])
            scene.write(self.folder / "it.gltf")
            self.succeed("init", "it.gltf", "-q", "--force")
            self.succeed("build", "it/it.json", "-q")
            pictures = []
            for file in ("it.gltf", "it/it.glb"):
                self.succeed("render", file, "-o", "it.png", "--size", "60x60", "--backfaces", "-q", "--no-ground")
                pictures.append((self.folder / "it.png").read_bytes())
            self.assertEqual(pictures[0], pictures[1])

    def test_specular_glossiness(self):
        """Materials of older programs get a base colour; what they have stays."""
        old = {"KHR_materials_pbrSpecularGlossiness": {"diffuseFactor": [1, 0.5, 0.25, 1], "glossinessFactor": 0.75,
                                                       "diffuseTexture": {"index": 0}}}
        fallback = {"pbrMetallicRoughness": {"metallicFactor": 0.125}}
        scene, _ = self.scene([{"name": "old", "extensions": old}, {"name": "both", "extensions": old, **fallback}])
        scene.json["extensionsUsed"] = ["KHR_materials_pbrSpecularGlossiness"]
        scene.write(self.folder / "it.gltf")
        outcome = self.run_tool("init", "it.gltf")
        self.assertEqual((outcome.code, outcome.err), (0, "exemplar: it.gltf: materials[0]: its diffuse colour and "
                                                          "glossiness (KHR_materials_pbrSpecularGlossiness) are taken "
                                                          "as base colour and roughness\n"))
        self.succeed("build", "it/it.json", "-q")
        first, second = tree(self.folder / "it/it.glb")[0]["materials"]
        self.assertEqual(first, {"name": "old", "extensions": old,
                                 "pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0.25, 1], "metallicFactor": 0,
                                                          "roughnessFactor": 0.25, "baseColorTexture": {"index": 0}}})
        self.assertEqual((second["extensions"], second["pbrMetallicRoughness"]), (old, fallback["pbrMetallicRoughness"]))

    def test_images_of_other_kinds(self):
        """Pictures inside the file: what is none is left out, and what only browsers read is kept, with a note."""
        scene, png = self.scene([{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
                                  "normalTexture": {"index": 1}, "emissiveTexture": {"index": 2}}])
        webp = b"RIFF\x10\0\0\0WEBPVP8 " + bytes(12)
        scene.json["images"] = [{"bufferView": scene.view(b"BM" + bytes(60)), "mimeType": "image/png"},
                                {"bufferView": scene.view(png), "mimeType": "image/jpeg", "name": "bumps"},
                                {"bufferView": scene.view(webp), "mimeType": "image/webp", "name": "glow"}]
        scene.json["textures"] = [{"source": 0}, {"source": 1},
                                  {"extensions": {"EXT_texture_webp": {"source": 2}}, "name": "glowing"}]
        scene.json["extensionsUsed"] = scene.json["extensionsRequired"] = ["EXT_texture_webp"]
        scene.write(self.folder / "it.gltf")
        said = self.run_tool("init", "it.gltf").err
        self.assertIn("image 0 is left out: it is not a PNG or JPEG picture\n", said)
        self.assertIn("image 'glow' is WebP: pages in a browser show it, but pictures by 'exemplar render' do not; "
                      "export PNG or JPEG for those\n", said)
        self.succeed("build", "it/it.json", "-q")
        found, data = tree(self.folder / "it/it.glb")
        self.assertEqual([t.get("source") for t in found["textures"]], [None, 0, None])
        self.assertEqual(found["textures"][2]["extensions"], {"EXT_texture_webp": {"source": 1}})
        self.assertEqual([i["mimeType"] for i in found["images"]], ["image/png", "image/webp"])
        for image, expected in zip(found["images"], [png, webp], strict=True):
            view = found["bufferViews"][image["bufferView"]]
            self.assertEqual(data[view["byteOffset"]:view["byteOffset"] + view["byteLength"]], expected)
        drawn = self.run_tool("render", "it/it.glb", "-o", "it.png", "--size", "20x20")
        self.assertEqual(drawn.code, 0)
        self.assertIn("the image glow: this is a WebP image", drawn.err)

    def test_a_missing_file_of_materials(self):
        scene, _ = self.scene()
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-q")
        (self.folder / "it/materials.gltf").unlink()
        self.sentence(self.run_tool("build", "it/it.json"), 1, "materials", "materials.gltf")

    def test_a_clip_that_is_missing(self):
        """The error names the file, and lists the clips."""
        scene = Scene()
        names = ["walk", "run", *(f"a long name for a dance, number {i}" for i in range(20))]
        node = scene.node(mesh=scene.mesh("m"), name="n")
        sampler = {"input": scene.array([[0], [1]]), "output": scene.array([[0, 0, 0], [1, 0, 0]])}
        scene.json["accessors"][sampler["input"]].update(min=[0], max=[1])
        scene.json["animations"] = [{"name": name, "samplers": [sampler], "channels": [
            {"sampler": 0, "target": {"node": node, "path": "translation"}}]} for name in names]
        scene.write(self.folder / "it.gltf")
        self.succeed("init", "it.gltf", "-q")
        self.succeed("build", "it/it.json", "-q")
        bake = ["bake", "it/it.glb", "-o", "baked.glb", "--clip"]
        self.sentence(self.run_tool(*bake, "jump"), 1, "it/it.glb: there is no clip 'jump': the clips are 'walk', 'run',",
                      " more")
        self.sentence(self.run_tool(*bake, "wlak"), 1, "it/it.glb: there is no clip 'wlak'; did you mean 'walk'? The clips are",
                      "'walk', 'run',")
        self.sentence(self.run_tool(*bake, "jump", "--motion", "it.gltf"), 1, "it.gltf: there is no clip 'jump'", "'run'")
        del scene.json["animations"]
        scene.write(self.folder / "still.gltf")
        self.succeed("init", "still.gltf", "-q")
        self.succeed("build", "still/still.json", "-q")
        self.sentence(self.run_tool("bake", "still/still.glb", "-o", "baked.glb", "--clip", "run"), 1,
                      "still/still.glb: it has no clips")

    def test_vertex_colours(self):
        scene = Scene()
        mesh = scene.mesh("m")
        colours = scene.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0.5]])
        scene.json["meshes"][mesh]["primitives"][0]["attributes"]["COLOR_0"] = colours
        scene.node(mesh=mesh)
        scene.write(self.folder / "it.gltf")
        self.assertIn("vertex colours lose their alpha", self.run_tool("init", "it.gltf").err)
        self.succeed("build", "it/it.json", "-q")
        found, data = tree(self.folder / "it/it.glb")
        accessor = found["accessors"][found["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"]]
        start = found["bufferViews"][accessor["bufferView"]]["byteOffset"]
        self.assertEqual(struct.unpack_from("<9f", data, start), (1, 0, 0, 0, 1, 0, 0, 0, 1))
        self.posed_colours()

    def posed_colours(self):
        """Colours of posed forms: of the cage, and refined."""
        project = json.loads((self.folder / "it/it.json").read_text())
        project["subdivide"] = {"scheme": "loop", "levels": 1}
        (self.folder / "it/it.json").write_text(json.dumps(project))
        self.succeed("build", "it/it.json", "-q")
        for level, count in (("cage", 3), ("1", 6)):
            self.succeed("pose", "it/it.glb", "--level", level, "-o", "form.glb", "-q")
            found, data = tree(self.folder / "form.glb")
            accessor = found["accessors"][found["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"]]
            width = {"VEC3": 3, "VEC4": 4}[accessor["type"]]
            start = found["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
            self.assertEqual((accessor["componentType"], accessor["count"]), (5126, count))
            rows = [struct.unpack_from("<3f", data, start + 4 * width * i) for i in range(count)]
            if level == "cage":
                self.assertEqual(rows, [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
            else:  # the midpoints of a triangle's boundary
                for row in ((0.5, 0.5, 0), (0, 0.5, 0.5), (0.5, 0, 0.5)):
                    self.assertIn(row, rows)


if __name__ == "__main__":
    harness.main()
