"""Bodies of bodies.py in their shirts: how much of them shows through the cloth, for two thicknesses, and the picture of
docs/guides/drive.md."""
import json
import subprocess
from base64 import b64encode
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bodies_files import read_cache, read_mesh

THICKNESSES = ("2mm", "4mm")  # the tool's default, and what the guide recommends if skin shows
EVERY = 3                     # frames
DEPTH = 0.005                 # metres: farther outside, a point of the body belongs to an arm beside the cloth
NEAREST = 12                  # triangles that a point is compared with

# Of each body in the picture: its frame of the second motion, counted from 0, and how it is turned, in degrees.
SHOWN = {"between": (130, 30), "aside": (215, -35), "outside": (250, 20)}
STEP, GAP = 1, 0.15           # metres between the two figures of a body, and more between bodies
SKIN = (0.56, 0.30, 0.20), 0.6  # linear colour, roughness
SHIRTS = ("driven_2mm.pc2", ((0.85, 0.83, 0.79), 1)), ("shirt_second.pc2", ((0.03, 0.12, 0.62), 1))


def showing(body, cloth, triangles):
    """Number of points of the body that lie up to DEPTH outside a triangle of the cloth."""
    corners = cloth[triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.maximum(sizes, 1e-30)
    _, near = cKDTree(corners.mean(axis=1)).query(body, NEAREST, workers=-1)
    corners, normals = corners[near], normals[near]  # [points, NEAREST, …]
    height = ((body[:, None] - corners[:, :, 0]) * normals).sum(axis=2)
    foot = body[:, None] - height[:, :, None] * normals
    inside = np.ones(height.shape, bool)
    for c in range(3):
        edge = corners[:, :, (c + 1) % 3] - corners[:, :, c]
        inside &= (np.cross(edge, foot - corners[:, :, c]) * normals).sum(axis=2) >= 0
    height = np.where(inside, height, np.inf)
    nearest = np.take_along_axis(height, np.abs(height).argmin(axis=1)[:, None], axis=1)
    return int(((nearest > 0) & (nearest < DEPTH)).sum())


def count(experiment, name, thickness, lead):
    """Prints how many points of a body show in an average frame of the second motion."""
    driven = experiment.path(name, "driven", thickness + ".pc2")
    subprocess.run([experiment.tool, "drive", "apply", experiment.path("shirt.glb"), "-q", "-o", driven,
                    "--driver", experiment.path(name, "body", "second.pc2")], check=True)
    _, triangles = read_mesh(experiment.path(name, "shirt.obj"))
    bodies, shirts = read_cache(experiment.path(name, "body", "second.pc2")), read_cache(driven)
    shown = np.mean([showing(bodies[f], shirts[f], triangles) for f in range(lead, len(bodies), EVERY)])
    print(f"  {name:8s} thickness {thickness}: {shown:.2f} points of the body show in a frame", flush=True)


def write_scene(path, parts):
    """A glTF file. parts [(points, faces, linear colour, roughness)]."""
    data, views, accessors, meshes, materials = b"", [], [], [], []
    for number, (points, faces, colour, roughness) in enumerate(parts):
        triangles = np.concatenate([faces[:, [0, c, c + 1]] for c in range(1, faces.shape[1] - 1)])
        for array, kind, component in (points.astype("<f4"), "VEC3", 5126), (triangles.astype("<u4"), "SCALAR", 5125):
            views.append({"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes})
            accessors.append({"bufferView": len(views) - 1, "componentType": component, "type": kind,
                              "count": array.size // (3 if kind == "VEC3" else 1)})
            data += array.tobytes()
        accessors[-2].update(min=points.min(axis=0).tolist(), max=points.max(axis=0).tolist())
        meshes.append({"primitives": [{"attributes": {"POSITION": 2 * number}, "indices": 2 * number + 1,
                                       "material": number}]})
        materials.append({"doubleSided": True, "pbrMetallicRoughness": {
            "baseColorFactor": [*colour, 1], "metallicFactor": 0, "roughnessFactor": roughness}})
    whole = {"asset": {"version": "2.0"}, "bufferViews": views, "accessors": accessors, "meshes": meshes,
             "materials": materials, "nodes": [{"mesh": number} for number in range(len(parts))],
             "scenes": [{"nodes": list(range(len(parts)))}], "scene": 0, "buffers": [{
                 "byteLength": len(data), "uri": "data:application/octet-stream;base64," + b64encode(data).decode()}]}
    Path(path).write_text(json.dumps(whole))


def draw(experiment):
    """Draws six figures side by side: each of SHOWN in its driven shirt and in the simulated one."""
    parts = []
    for number, (name, kind, tint) in enumerate((name, *shirt) for name in SHOWN for shirt in SHIRTS):
        frame, yaw = SHOWN[name]
        turn = Rotation.from_euler("y", -yaw, degrees=True)
        body = read_cache(experiment.path(name, "body", "second.pc2"))[frame]
        ground = np.array([body[:, 0].mean(), body[:, 1].min(), body[:, 2].mean()])
        for part, form, colour in ("body", body, SKIN), ("shirt", read_cache(experiment.path(name, kind))[frame], tint):
            parts.append((turn.apply(form - ground) + [number * STEP + number // 2 * GAP, 0, 0],
                          read_mesh(experiment.path(name, part + ".obj"))[1], *colour))
    scene, picture = experiment.path("bodies.gltf"), experiment.path("drive-bodies.png")
    write_scene(scene, parts)
    subprocess.run([experiment.tool, "render", scene, "-q", "--size", "1400x410", "--yaw", "0", "--pitch", "5",
                    "--angle", "12", "--zoom", "1.04", "--smooth", "-o", picture], check=True)
    print(f"drawn: {picture}")


def show(experiment, learned, lead):
    """Learns with the larger thickness and with the default, whose rig stays; counts, and draws. Takes have `lead` frames
    that are not looked at."""
    print(f"learned on {', '.join(learned)}:")
    for thickness in reversed(THICKNESSES):
        experiment.learn(learned, ["--thickness", thickness])
        for name in SHOWN:
            count(experiment, name, thickness, lead)
    draw(experiment)
