#!/usr/bin/python3
"""Makes a project from MakeHuman's body with correctives at both elbows and both shoulders, sculpted by formula.

  psd_body.py DATA FOLDER   DATA is a folder with 3dobjs, rigs and targets; FOLDER gets body.json, map.json, the body
                            at rest, its skeleton with all skin weights, and one posed OBJ file per sculpt

A sculpt is the body bent at one joint, skinned here in numpy, with a bulge around the joint along the bent form's
normals. The bulge ends smoothly at a distance from the joint, measured at rest. So no two layers overlap, and every
sculpt comes back. Elbows are angles. Shoulders swing, whatever the turn about the arm. map.json maps motion of the
CMU's skeletons onto the body.
"""
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import makehuman
from body_reference import homogeneous, linear

MOTION = "mocap/bvh/02_01.bvh"
TOLERANCE = 2e-6  # metres: smaller moves do not count
ELBOW_FALLOFF, SHOULDER_FALLOFF = 40.0, 45.0  # degrees
ELBOWS = -40, 50, 100  # degrees from rest, where the elbow is bent by 47: nearly straight, and as far as an elbow goes
SIDES = {"L": "Left", "R": "Right"}
# Trunks turn without alignment, since their joints are at different places in the two skeletons. Limbs are aligned: in
# a T pose there, hanging here.
TRUNK = {"root": "Hips", "spine05": "LowerBack", "spine03": "Spine", "spine01": "Spine1", "neck01": "Neck",
         "neck03": "Neck1", "head": "Head", "clavicle.L": "LeftShoulder", "clavicle.R": "RightShoulder"}
LIMBS = {"upperarm01": "Arm", "lowerarm01": "ForeArm", "wrist": "Hand", "upperleg01": "UpLeg", "lowerleg01": "Leg",
         "foot": "Foot", **{f"toe{number}-1": "ToeBase" for number in range(1, 6)}}


@dataclass
class Sculpt:
    name: str
    turn: tuple    # axis and degrees, of the layer's joint about its own axes
    height: float  # of the bulge, metres


@dataclass
class Layer:
    name: str   # also of its axis
    joint: str
    reading: dict  # the axis in the project file
    falloff: float
    radius: float  # of the bulge
    sculpts: list


def layers():
    found = []
    for side in SIDES:
        found.append(Layer(f"elbow.{side}", f"lowerarm01.{side}", {"angle": "x", "min": -60, "max": 110}, ELBOW_FALLOFF,
                           0.09, [Sculpt(f"elbow_{angle}_{side}", ("x", angle), 0.00015 * abs(angle))
                                  for angle in ELBOWS]))
        out = 1 if side == "L" else -1
        found.append(Layer(f"shoulder.{side}", f"upperarm01.{side}", {"rotation": "swing", "about": "y"},
                           SHOULDER_FALLOFF, 0.12,
                           [Sculpt(f"shoulder_{name}_{side}", (axis, angle), 0.012)
                            for name, axis, angle in (("fore", "x", 50), ("back", "x", -40), ("side", "z", 45 * out))]))
    return found


def turn_of(layer, sculpt):
    return {layer.joint: Rotation.from_euler(*sculpt.turn, degrees=True)}


def binds(source):
    return [homogeneous(axes, head) for axes, head in zip(source.frames, source.base.heads)]


def matrices(source, turns):
    """The matrix of each bone for its vertices [bones, 4, 4]. turns: {joint: Rotation about its own axes at rest}."""
    rests, worlds = binds(source), {}

    def world(j):
        if j not in worlds:
            parent = source.parents[j]
            local = rests[j] if parent < 0 else np.linalg.solve(rests[parent], rests[j])
            turned = local @ homogeneous(turns.get(source.names[j], Rotation.identity()).as_matrix(), 0)
            worlds[j] = turned if parent < 0 else world(parent) @ turned
        return worlds[j]

    return np.array([world(j) @ np.linalg.inv(bind) for j, bind in enumerate(rests)])


def normals(source, form):
    """Vertex normals, with faces weighed by area: the diagonals of a quad span twice its area."""
    corners = form[source.faces]
    areas = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    total = np.zeros_like(form)
    for k in range(4):
        np.add.at(total, source.faces[:, k], areas)
    return total / np.maximum(np.linalg.norm(total, axis=1), 1e-30)[:, None]


def sculpted(source, layer, sculpt):
    """The posed form, as in its file."""
    base = source.base.form.astype(float)
    bent = linear(matrices(source, turn_of(layer, sculpt)), source.weights, base)
    head = source.base.heads[source.names.index(layer.joint)]
    inside = np.maximum(1 - np.sum((base - head) ** 2, axis=1) / layer.radius ** 2, 0)
    bulge = sculpt.height * inside ** 3
    return (bent + bulge[:, None] * normals(source, bent)).astype(np.float32)


def project():
    listed = []
    for layer in layers():
        scalar = "angle" in layer.reading
        examples = [{"name": s.name, "mesh": f"{s.name}.obj",
                     "at": {layer.name: s.turn[1] if scalar else {s.turn[0]: s.turn[1]}}} for s in layer.sculpts]
        listed.append({"name": layer.name, "space": [{"name": layer.name, "joint": layer.joint, **layer.reading}],
                       "shape": "offsets", "frame": "rest", "participation": "layer", "tolerance": TOLERANCE,
                       "weigh": {"kind": "gaussian", "falloff": {layer.name: layer.falloff}}, "examples": examples})
    return {"exemplar": 1, "mesh": "rest.obj", "skeleton": "rest.glb", "skinning": "linear", "layers": listed}


def convert(source, folder):
    """Writes the project and all its files; returns {name of a sculpt: (layer, sculpt, posed form)}."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    makehuman.write_obj(folder / "rest.obj", source, source.base.form)
    makehuman.write_skeleton(folder / "rest.glb", source, source.base.heads, source.base.form)
    found = {}
    for layer in layers():
        for sculpt in layer.sculpts:
            found[sculpt.name] = layer, sculpt, sculpted(source, layer, sculpt)
            makehuman.write_obj(folder / f"{sculpt.name}.obj", source, found[sculpt.name][2])
    joints = {bone: {"from": part, "align": False} for bone, part in TRUNK.items()}
    for side, word in SIDES.items():
        joints.update({f"{bone}.{side}": word + part for bone, part in LIMBS.items()})
    (folder / "map.json").write_text(json.dumps({"joints": joints}, indent=1) + "\n")
    (folder / "body.json").write_text(json.dumps(project(), indent=1) + "\n")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DATA FOLDER")
    for name, (_, _, form) in convert(makehuman.Source(sys.argv[1]), sys.argv[2]).items():
        print(f"{name:20s} {np.ptp(form[:, 1]):.3f} m")
