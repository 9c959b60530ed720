"""Characters such as people download, made of random triangles: several skins, parts on joints, odd transforms."""
import json
import os
import struct

import numpy as np

PNG = (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0"
       b"\3\1\1\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82")
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0" + bytes(range(40)) + b"\xff\xd9"


def rotation(chance):
    q = chance.normal(size=4)
    return q / np.linalg.norm(q)


def matrix(translation=(0, 0, 0), rotation=(0, 0, 0, 1), scale=(1, 1, 1)):
    x, y, z, w = rotation
    turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    out = np.eye(4)
    out[:3, :3] = turn * np.array(scale)
    out[:3, 3] = translation
    return out


class Character:
    """A glTF file with one buffer beside it."""

    def __init__(self, seed):
        self.chance = np.random.default_rng(seed)
        self.bytes = b""
        self.json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [],
                     "skins": [], "accessors": [], "bufferViews": [], "buffers": [], "animations": [], "materials": [],
                     "images": [], "textures": []}

    def view(self, data):
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data + b"\0" * (-len(data) % 4)
        return len(self.json["bufferViews"]) - 1

    def array(self, rows, kind="<f4"):
        rows = np.atleast_2d(np.asarray(rows, kind))
        component = {"<f4": 5126, "u1": 5121, "<u4": 5125}[kind]
        accessor = {"bufferView": self.view(rows.tobytes()), "componentType": component, "count": len(rows),
                    "type": {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[rows.shape[1]]}
        if rows.shape[1] in (1, 3) and kind == "<f4":
            accessor.update(min=rows.min(axis=0).tolist(), max=rows.max(axis=0).tolist())
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def node(self, parent=None, **keys):
        self.json["nodes"].append({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in keys.items()})
        n = len(self.json["nodes"]) - 1
        if parent is None:
            self.json["scenes"][0]["nodes"].append(n)
        else:
            self.json["nodes"][parent].setdefault("children", []).append(n)
        return n

    def world(self, n):
        node = self.json["nodes"][n]
        own = matrix(*(node.get(k, d) for k, d in
                       (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1]), ("scale", [1, 1, 1]))))
        above = [p for p, other in enumerate(self.json["nodes"]) if n in other.get("children", [])]
        return self.world(above[0]) @ own if above else own

    def image(self, data, kind, name=None):
        self.json["images"].append({"bufferView": self.view(data), "mimeType": kind, **({"name": name} if name else {})})
        self.json["textures"].append({"source": len(self.json["images"]) - 1})
        return len(self.json["textures"]) - 1

    def material(self, name, texture=None):
        look = {"name": name, "pbrMetallicRoughness": {"metallicFactor": 0.25}}
        if texture is not None:
            look["pbrMetallicRoughness"]["baseColorTexture"] = {"index": texture}
        self.json["materials"].append(look)
        return len(self.json["materials"]) - 1

    def mesh(self, positions, joints=0, targets=0, names=None, materials=(None,), loose=0):
        """One primitive per material, of random triangles over the positions. No joint holds the first `loose`."""
        n, chance, primitives = len(positions), self.chance, []
        for material in materials:
            attributes = {"POSITION": self.array(positions), "TEXCOORD_0": self.array(chance.uniform(size=(n, 2)))}
            if joints:
                shares = chance.uniform(size=(n, 4)) + 0.01
                attributes["JOINTS_0"] = self.array(chance.integers(0, joints, (n, 4)), "u1")
                shares /= shares.sum(axis=1, keepdims=True)
                shares[:loose] = 0
                attributes["WEIGHTS_0"] = self.array(shares)
            triangles = np.array([chance.permutation(n)[:3] for _ in range(2 * n)])
            primitive = {"attributes": attributes, "indices": self.array(triangles.reshape(-1, 1), "<u4")}
            if material is not None:
                primitive["material"] = material
            if targets:
                size = np.ptp(positions)
                primitive["targets"] = [{"POSITION": self.array(chance.normal(size=(n, 3)) * 0.05 * size)}
                                        for _ in range(targets)]
            primitives.append(primitive)
        mesh = {"primitives": primitives}
        if names:
            mesh["extras"] = {"targetNames": names}
        self.json["meshes"].append(mesh)
        return len(self.json["meshes"]) - 1

    def skin(self, joints, binds):
        skin = {"joints": joints}
        if binds is not None:
            skin["inverseBindMatrices"] = self.array([b.T.reshape(-1) for b in binds])
        self.json["skins"].append(skin)
        return len(self.json["skins"]) - 1

    def clip(self, name, channels):
        """channels: (node, path, values [keys, width]), keys evenly over a second."""
        made = {"samplers": [], "channels": [], **({"name": name} if name else {})}
        for node, path, values in channels:
            times = np.linspace(0, 1, len(values)).reshape(-1, 1)
            flat = np.asarray(values)
            made["samplers"].append({"input": self.array(times),
                                     "output": self.array(flat if path != "weights" else flat.reshape(-1, 1))})
            made["channels"].append({"sampler": len(made["samplers"]) - 1, "target": {"node": node, "path": path}})
        self.json["animations"].append(made)

    def turns(self, joints):
        return [(j, "rotation", [rotation(self.chance) for _ in range(4)]) for j in joints]

    def write(self, folder, name):
        path = os.path.join(folder, name + ".gltf")
        open(os.path.join(folder, name + ".bin"), "wb").write(self.bytes)
        self.json["buffers"] = [{"byteLength": len(self.bytes), "uri": name + ".bin"}]
        json.dump({k: v for k, v in self.json.items() if v}, open(path, "w", encoding="utf-8"))
        return path


def chain(c, top, count, length):
    """Joints below `top`, each turned at random."""
    out = []
    for i in range(count):
        out.append(c.node(out[-1] if out else top, name=f"mixamorig:Bone {i}", translation=[0, length, 0],
                          rotation=rotation(c.chance)))
    return out


def centimetres(folder):
    """Two skins in centimetres below a node that turns by -90 degrees and scales by 0.01, two materials of one name."""
    c = Character(1)
    armature = c.node(name="Armature", rotation=[-0.7071067811865476, 0, 0, 0.7071067811865476], scale=[0.01] * 3)
    joints = chain(c, armature, 5, 30.0)
    binds = [np.linalg.inv(c.world(j)) @ c.world(armature) for j in joints]
    looks = [c.material("skin", c.image(JPEG, "image/jpeg", "body colour")), c.material("skin", c.image(PNG, "image/png"))]
    body = c.mesh(c.chance.normal(size=(60, 3)) * 50, 5, 2, ["smile", "frown"], looks)
    eyes = c.mesh(c.chance.normal(size=(20, 3)) * 5, 2, 1, ["smile"], [looks[1]])
    c.node(armature, name="Body", mesh=body, skin=c.skin(joints, binds))
    c.node(armature, name="Eyes", mesh=eyes, skin=c.skin([joints[4], joints[2]], [binds[4], binds[2]]))
    c.clip("walk", c.turns(joints) + [(joints[0], "translation", c.chance.normal(size=(4, 3)) * 20)])
    c.clip(None, c.turns(joints[:2]))
    return c.write(folder, "centimetres")


def carried(folder):
    """Every skin has a bind space of its own; that of the second is mirrored, and scaled by 100."""
    c = Character(2)
    joints = chain(c, c.node(name="root"), 6, 0.3)
    for i, space in enumerate([np.eye(4), matrix([1, 2, 3], rotation(c.chance), [-100, 100, 100]),
                               matrix([0, -1, 0], rotation(c.chance), [0.5, 0.5, 0.5])]):
        used = list(c.chance.permutation(6)[:4]) if i else list(range(6))
        binds = [np.linalg.inv(c.world(joints[j])) @ space for j in used]
        places = (np.linalg.inv(space) @ np.hstack([c.chance.normal(size=(30 + i, 3)), np.ones((30 + i, 1))]).T).T[:, :3]
        c.node(name=f"part {i}", mesh=c.mesh(places, len(used)), skin=c.skin([joints[j] for j in used], binds))
    c.clip("turn", c.turns(joints))
    return c.write(folder, "carried")


def twice(folder):
    """Two skins bind one joint in two ways that no one matrix carries over; no joint holds some vertices."""
    c = Character(3)
    joints = chain(c, None, 3, 0.4)
    binds = [np.linalg.inv(c.world(j)) for j in joints]
    other = [binds[0], matrix([0.1, 0, 0], rotation(c.chance)) @ binds[1], binds[2]]
    c.node(name="coat", mesh=c.mesh(c.chance.normal(size=(40, 3)), 3), skin=c.skin(joints, binds))
    c.node(name="lining", mesh=c.mesh(c.chance.normal(size=(30, 3)), 3, loose=4),
           skin=c.skin(joints, other))
    c.clip("turn", c.turns(joints))
    return c.write(folder, "twice")


def parts(folder):
    """Parts without a skin: mirrored, repeated, on joints, on nodes that move, with expressions, and scaled to nothing."""
    c = Character(4)
    root = c.node(name="rig", translation=[0.3, 0, 0])
    joints = chain(c, root, 4, 0.5)
    binds = [np.linalg.inv(c.world(j)) for j in joints]
    c.node(name="body", mesh=c.mesh(c.chance.normal(size=(40, 3)), 4), skin=c.skin(joints, binds))
    head = c.node(joints[3], name="head", rotation=rotation(c.chance), scale=[2, 1, 0.5],
                  mesh=c.mesh(c.chance.normal(size=(25, 3)) * 0.2, 0, 2, ["angry", "glad"]))
    hand = c.mesh(c.chance.normal(size=(10, 3)) * 0.1)
    c.node(joints[1], name="hand", translation=[0.2, 0, 0], mesh=hand)
    c.node(joints[1], name="hand", translation=[-0.2, 0, 0], scale=[-1, 1, 1], mesh=hand)
    swing = c.node(joints[2], name="swing", translation=[0, 0.1, 0])
    c.node(swing, name="bell", rotation=rotation(c.chance), mesh=c.mesh(c.chance.normal(size=(12, 3)) * 0.1))
    ghost = c.node(joints[0], name="ghost", scale=[0, 0, 0], mesh=c.mesh(c.chance.normal(size=(8, 3)) * 0.1))
    c.node(name="stage", translation=[0, -1, 0], mesh=c.mesh(c.chance.normal(size=(6, 3))))
    c.clip("ring", c.turns(joints) + c.turns([swing]) + [(ghost, "scale", [[0, 0, 0], [1, 2, 3]]),
                                                         (root, "translation", c.chance.normal(size=(3, 3))),
                                                         (head, "weights", c.chance.uniform(size=(4, 2)))])
    return c.write(folder, "parts")


def bare(folder):
    """No skin at all: nodes that move, one above the other, and two faces whose smiles differ."""
    c = Character(5)
    body = c.node(name="body", rotation=rotation(c.chance), mesh=c.mesh(c.chance.normal(size=(30, 3))))
    arm = c.node(body, name="arm", translation=[1, 0, 0], scale=[1, 2, 1], mesh=c.mesh(c.chance.normal(size=(20, 3)) * 0.3))
    left = c.node(arm, name="left", mesh=c.mesh(c.chance.normal(size=(9, 3)) * 0.1, 0, 1, ["smile"]))
    right = c.node(arm, name="right", mesh=c.mesh(c.chance.normal(size=(9, 3)) * 0.1, 0, 1, ["smile"]))
    c.clip("move", c.turns([body, arm]) + [(left, "weights", [[0], [1]]), (right, "weights", [[1], [0]])])
    return c.write(folder, "bare")


def unbound(folder):
    """No inverse bind matrices, and a stretched node between two joints."""
    c = Character(6)
    hip = c.node(name="hip", translation=[0, 1, 0], rotation=rotation(c.chance))
    between = c.node(hip, name="between", scale=[1, 3, 1])
    knee = c.node(between, name="knee", rotation=rotation(c.chance), translation=[0, 0.5, 0])
    c.node(name="leg", mesh=c.mesh(c.chance.normal(size=(25, 3)) * 0.3, 2), skin=c.skin([hip, knee], None))
    c.clip("bend", c.turns([hip, knee]))
    return c.write(folder, "unbound")


ALL = [centimetres, carried, twice, parts, bare, unbound]
