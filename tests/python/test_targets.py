"""The morph targets and the skin of a rig's file with the rig's own weights, as an engine would use them: the section
'Let your engine morph and skin' of docs/guides/embed.md. The file is read here by its JSON alone."""
import json
import struct

import numpy
import pytest

import exemplar

CUBE = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype="f4")
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class File:
    """The file as an importer of glTF sees it."""

    def __init__(self, path):
        data = path.read_bytes()
        size = struct.unpack_from("<I", data, 12)[0]
        self.json, self.bytes = json.loads(data[20:20 + size]), data[28 + size:]
        self.mesh = self.json["meshes"][0]
        self.primitive = self.mesh["primitives"][0]
        self.base = self.accessor(self.primitive["attributes"]["POSITION"])
        self.targets = [self.accessor(target["POSITION"]) for target in self.primitive["targets"]]
        self.names = self.mesh["extras"]["targetNames"]

    def view(self, number, kind, count, width, offset=0):
        at = self.json["bufferViews"][number].get("byteOffset", 0) + offset
        return numpy.frombuffer(self.bytes, kind, count * width, at).reshape(count, width)

    def accessor(self, number):
        found = self.json["accessors"][number]
        kind, count, width = TYPES[found["componentType"]], found["count"], WIDTHS[found["type"]]
        values = (self.view(found["bufferView"], kind, count, width, found.get("byteOffset", 0))
                  if "bufferView" in found else numpy.zeros((count, width), kind)).astype("f8")
        if "sparse" in found:
            sparse = found["sparse"]
            indices, new = sparse["indices"], sparse["values"]
            places = self.view(indices["bufferView"], TYPES[indices["componentType"]], sparse["count"], 1,
                               indices.get("byteOffset", 0))
            values[places[:, 0]] = self.view(new["bufferView"], kind, sparse["count"], width, new.get("byteOffset", 0))
        return values

    def morphed(self, weights):
        return self.base + sum(w * t for w, t in zip(weights, self.targets))

    def skinned(self, form, joints):
        """Linear skinning of a form, by local transforms (J, 10) of the skin's joints."""
        nodes, skin = self.json["nodes"], self.json["skins"][0]
        binds = self.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        parents = {child: node for node, one in enumerate(nodes) for child in one.get("children", [])}
        local = {node: matrix(*numpy.split(joints[i], [3, 7])) for i, node in enumerate(skin["joints"])}

        def world(node):
            up = world(parents[node]) if node in parents else numpy.eye(4)
            return up @ local.get(node, numpy.eye(4))

        moves = numpy.stack([world(node) @ bind for node, bind in zip(skin["joints"], binds)])
        weights, numbers = (self.accessor(self.primitive["attributes"][name]) for name in ("WEIGHTS_0", "JOINTS_0"))
        blended = numpy.einsum("vi,vijk->vjk", weights, moves[numbers.astype(int)])
        return numpy.einsum("vjk,vk->vj", blended, numpy.c_[form, numpy.ones(len(form))])[:, :3]


def matrix(translation, rotation, scale):
    x, y, z, w = rotation
    turn = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    made = numpy.eye(4)
    made[:3, :3], made[:3, 3] = turn * scale, translation
    return made


def numbers_of_targets(rig):
    """The number of the weight of each target, as the guide says: forms first, then offsets."""
    order, first, forms, offsets = [], 0, [], []
    for layer in rig.layers.values():
        here = list(range(first, first + len(layer.examples)))
        forms += here if layer.domain in ("positions", "trajectory") else []
        offsets += here if layer.domain == "offsets" else []
        first += len(here)
    return forms + offsets


def weighed(rig, file, poses):
    """Weights of the targets at poses, found by number, and checked by name."""
    weights, order = rig.evaluate(poses, positions=False, weights=True), numbers_of_targets(rig)
    names = [(layer, example) for layer in rig.layers for example in rig.layers[layer].examples]
    assert len(order) == len(file.targets) == len(file.names)
    assert all(file.names[i] in (names[k][1], "/".join(names[k])) for i, k in enumerate(order))
    return weights[:, order]


def test_elbow(demo):
    path = demo("elbow") / "elbow.glb"
    rig, file = exemplar.load(path), File(path)
    poses = rig.pose(elbow=[0, 35, 60, 100, 140], load=[0, 1, 0.3, 0.8, 0.5])
    weights = weighed(rig, file, poses)
    assert abs(weights).max() > 0.5
    rest, posed = rig.evaluate(poses, unskinned=True, split=True), rig.evaluate(poses, split=True)
    for pose in range(5):
        form = file.morphed(weights[pose])
        numpy.testing.assert_allclose(form, rest[pose], atol=1e-6)
        numpy.testing.assert_allclose(file.skinned(form, poses.joints[pose]), posed[pose], atol=2e-6)
    assert abs(rest[3] - rest[0]).max() > 0.01 and abs(posed[3] - rest[3]).max() > 0.1


def mixed(**more):
    """Offsets, pixels, forms with a pseudo-example and a mask, offsets, forms: in the file, forms come first."""
    rng = numpy.random.default_rng(3)
    images = rng.integers(0, 256, (2, 2, 2, 4), dtype=numpy.uint8)
    offsets = [([i, i + 3], rng.normal(size=(2, 3))) for i in range(3)]
    layers = [exemplar.layer("fix", ["a"], [0, 0.5, 1], offsets=offsets, examples=["low", "mid", "high"]),
              exemplar.layer("paint", ["b"], [0, 1], images=images, examples=["pale", "red"]),
              exemplar.layer("body", ["a", "b"], [[0, 0], [1, 0], [0, 1]], CUBE + rng.normal(size=(3, 8, 3)),
                             examples=["thin", "tall", "wide"], mask=numpy.linspace(0, 1, 8),
                             pseudos=[{"at": [1, 1], "from": [0.4, 0.4]}]),
              exemplar.layer("more", ["b"], [0, 1], offsets=offsets[:2], examples=["low", "high"], **more),
              exemplar.layer("face", ["c"], [0, 1], CUBE + rng.normal(size=(2, 8, 3)), examples=["calm", "angry"])]
    return exemplar.Rig(CUBE, QUADS, layers, texcoords=CUBE[:, :2])


@pytest.mark.parametrize("more", [{}, {"muted": True}])
def test_mixed_layers(tmp_path, more):
    rig = mixed(**more)
    rig.save(tmp_path / "mixed.glb")
    file = File(tmp_path / "mixed.glb")
    assert [name.split("/")[0] for name in file.names] == ["body"] * 3 + ["face"] * 2 + ["fix"] * 3 + ["more"] * 2
    poses = rig.pose(a=[0, 0.2, 1, 0.7], b=[0.9, 0.4, 0, 1], c=[0, 0.3, 1, 1.4])
    weights = weighed(rig, file, poses)
    made = rig.evaluate(poses, unskinned=True, split=True)
    for pose in range(4):
        numpy.testing.assert_allclose(file.morphed(weights[pose]), made[pose], atol=3e-6)
    given = rig.evaluate(poses, positions=False, weights=True)  # in the rig's order they would be wrong
    assert abs(file.morphed(given[1][:10]) - made[1]).max() > 0.1
