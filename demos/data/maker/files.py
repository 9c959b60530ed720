"""Files of the project: OBJ meshes, and a glTF file with the skin, the materials and the clips."""
import json
import struct
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import images


def write_obj(path, person, form, whole=False):
    """All parts as one mesh; with materials and texture coordinates if it is the whole."""
    with open(path, "w") as file:
        np.savetxt(file, form, "v %.6f %.6f %.6f")
        if not whole:
            np.savetxt(file, person.faces + 1, "f %d %d %d %d")
            return
        count = 1
        for part, start in zip(person.parts, person.starts):
            np.savetxt(file, part.texcoords, "vt %.5f %.5f")
            file.write(f"g {part.name}\nusemtl {part.name}\n")
            corners = np.stack([part.faces + start + 1, part.corners + count], axis=2).reshape(len(part.faces), -1)
            np.savetxt(file, corners, "f %d/%d %d/%d %d/%d %d/%d")
            count += len(part.texcoords)


class Glb:
    def __init__(self):
        self.json = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}
        self.bytes = bytearray()

    def view(self, data):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(data)})
        self.bytes += data
        return len(self.json["bufferViews"]) - 1

    def array(self, rows, kind, type):
        data = np.ascontiguousarray(rows, kind)
        accessor = {"bufferView": self.view(data.tobytes()), "count": len(data), "type": type,
                    "componentType": {"<f4": 5126, "u1": 5121, "<u2": 5123}[kind]}
        if kind == "<f4" and type in ("VEC3", "SCALAR"):
            rows = data.reshape(len(data), -1)
            accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def write(self, path):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.json["buffers"] = [{"byteLength": len(self.bytes)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(self.bytes), 0x004E4942)
        Path(path).write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks) + len(self.bytes)) + chunks +
                               self.bytes)


def materials(glb, pictures):
    """One material for each part, in the order of the parts. pictures: {name: JPEG} of skin, shirt and trousers."""
    found = glb.json
    found |= {"images": [], "textures": [], "materials": []}

    def image(name, data):
        found["images"].append({"name": name, "mimeType": "image/jpeg", "bufferView": glb.view(data)})
        found["textures"].append({"source": len(found["images"]) - 1})
        return {"index": len(found["textures"]) - 1}

    def add(name, roughness, colour=(1, 1, 1), texture=None, double=False, **extensions):
        surface = {"metallicFactor": 0, "roughnessFactor": roughness, "baseColorFactor": [*colour, 1]}
        if texture:
            surface["baseColorTexture"] = texture
        made = {"name": name, "pbrMetallicRoughness": surface, "doubleSided": double}
        if extensions:
            made["extensions"] = extensions
            found["extensionsUsed"] = sorted({*found.get("extensionsUsed", ()), *extensions})
        found["materials"].append(made)

    def sheen(*colour):
        return {"sheenColorFactor": colour, "sheenRoughnessFactor": 0.5}
    add("skin", 0.5, texture=image("skin", pictures["skin"]), KHR_materials_diffuse_transmission={
        "diffuseTransmissionFactor": 0.5, "diffuseTransmissionColorFactor": [1, 0.3, 0.2]})
    add("eyes", 0.06, texture=image("eyes", images.jpeg(images.eye())))
    add("lashes", 0.8, (0.02, 0.014, 0.01), double=True)
    add("teeth", 0.25, (0.82, 0.78, 0.7))
    add("tongue", 0.4, (0.5, 0.16, 0.15))
    add("hair", 0.6, texture=image("hair", images.jpeg(images.hair("young"))), double=True)
    for name, roughness, colour in (("shirt", 0.9, (0.25, 0.3, 0.32)), ("trousers", 0.95, (0.12, 0.13, 0.16))):
        add(name, roughness, texture=image(name, pictures[name]), double=True, KHR_materials_sheen=sheen(*colour))
    add("shoes", 0.55, (0.16, 0.1, 0.07), double=True)


def skeleton(glb, person, heads):
    nodes, binds = [], []
    for number, (name, parent) in enumerate(zip(person.source.names, person.source.parents)):
        axes, place = person.frames[number], heads[number]
        turn, move = axes, place
        if parent >= 0:
            turn, move = person.frames[parent].T @ axes, person.frames[parent].T @ (place - heads[parent])
            nodes[parent].setdefault("children", []).append(number)
        nodes.append({"name": name, "translation": np.round(move, 8).tolist(),
                      "rotation": np.round(Rotation.from_matrix(turn).as_quat(), 8).tolist()})
        bind = np.eye(4)
        bind[:3] = np.column_stack([axes.T, -axes.T @ place])
        binds.append(bind.T.ravel())
    glb.json["skins"] = [{"joints": list(range(len(nodes))), "inverseBindMatrices": glb.array(binds, "<f4", "MAT4")}]
    return nodes


def mesh(glb, person, form):
    made = []
    for number, (part, start) in enumerate(zip(person.parts, person.starts)):
        own = slice(start, start + part.count)
        order = np.argsort(-person.weights[own], axis=1, kind="stable")[:, :4]
        shares = np.take_along_axis(person.weights[own], order, axis=1)
        attributes = {"POSITION": glb.array(np.round(form[own], 6), "<f4", "VEC3"),
                      "JOINTS_0": glb.array(np.where(shares > 0, order, 0), "u1", "VEC4"),
                      "WEIGHTS_0": glb.array(shares, "<f4", "VEC4")}
        triangles = glb.array(part.faces[:, [0, 1, 2, 0, 2, 3]].ravel(), "<u2", "SCALAR")
        made.append({"attributes": attributes, "indices": triangles, "material": number})
    return made


def animations(glb, person, clips, rest):
    """clips: {name: (times, frames of {joint: Rotation}, places of the root)}"""
    glb.json["animations"] = []
    for name, (times, frames, places) in clips.items():
        samplers, channels, time = [], [], glb.array(np.array(times, np.float32), "<f4", "SCALAR")

        def add(node, path, rows, type):
            samplers.append({"input": time, "output": glb.array(rows, "<f4", type), "interpolation": "LINEAR"})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
        add(0, "translation", places, "VEC3")
        for number, joint in enumerate(person.source.names):
            turns = [rest[number] * frame[joint] for frame in frames]
            if max(frame[joint].magnitude() for frame in frames) < 1e-4:
                continue
            rows = np.array([turn.as_quat() for turn in turns])
            for k in range(1, len(rows)):
                rows[k] *= np.sign(rows[k] @ rows[k - 1]) or 1
            add(number, "rotation", rows, "VEC4")
        glb.json["animations"].append({"name": name, "samplers": samplers, "channels": channels})


def write_person(path, person, pictures, clips):
    glb = Glb()
    materials(glb, pictures)
    nodes = skeleton(glb, person, person.heads)
    glb.json["meshes"] = [{"name": "human", "primitives": mesh(glb, person, person.rest)}]
    animations(glb, person, clips, [Rotation.from_quat(node["rotation"]) for node in nodes])
    nodes.append({"name": "human", "mesh": 0, "skin": 0})
    glb.json |= {"nodes": nodes, "scenes": [{"nodes": [0, len(nodes) - 1]}], "scene": 0}
    glb.write(path)


def write_joints(path, person, heads):
    glb = Glb()
    glb.json |= {"nodes": skeleton(glb, person, heads), "scenes": [{"nodes": [0]}], "scene": 0}
    glb.write(path)
