"""A bent tube as glTF, bound in any space: an arm of two joints along z, 0.6 m long, with smooth weights at the elbow.
The joints hang below a node with a rotation and a scale, as in files whose skeletons are in centimetres."""
import json
import struct

import numpy as np

RINGS, AROUND = 41, 24
LENGTH, RADIUS = 0.6, 0.04


def rotation_matrix(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def tube():
    """Points in metres [n, 3] along z, triangles, and the forearm's share of each point."""
    z = np.linspace(0, LENGTH, RINGS)
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    points = np.array([[RADIUS * np.cos(a), RADIUS * np.sin(a), h] for h in z for a in angle])
    faces = []
    for r in range(RINGS - 1):
        for a in range(AROUND):
            b, c, d = r * AROUND + a, r * AROUND + (a + 1) % AROUND, (r + 1) * AROUND + a
            e = (r + 1) * AROUND + (a + 1) % AROUND
            faces += [[b, c, e], [b, e, d]]
    s = np.clip((points[:, 2] - 0.22) / 0.16, 0, 1)
    return points, np.array(faces), s * s * (3 - 2 * s)


def write_glb(path, rotation=(0, 0, 0, 1), scale=(1, 1, 1)):
    """The node above the joints has this rotation (x y z w) and scale. Points, joints and binds are below it, in its
    units. Returns the points in metres as they are at rest in the world."""
    points, faces, share = tube()
    scale = np.array(scale, float)
    unit = abs(scale[2])
    linear = rotation_matrix(rotation) * scale
    bound = points / unit
    if np.linalg.det(linear) < 0:
        faces = faces[:, ::-1]
    elbow = LENGTH / 2 / unit
    binds = [np.eye(4), np.eye(4)]
    binds[1][2, 3] = -elbow
    joints = np.zeros((len(points), 4), np.uint8)
    joints[:, 1] = 1
    weights = np.zeros((len(points), 4), np.float32)
    weights[:, 0], weights[:, 1] = 1 - share, share
    arrays = [(bound.astype(np.float32), "VEC3", 5126), (faces.astype(np.uint32).reshape(-1), "SCALAR", 5125),
              (joints, "VEC4", 5121), (weights, "VEC4", 5126),
              (np.array([b.T.reshape(-1) for b in binds], np.float32), "MAT4", 5126)]
    binary, views, accessors = b"", [], []
    for values, kind, component in arrays:
        data = values.tobytes()
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": len(data)})
        accessors.append({"bufferView": len(views) - 1, "componentType": component, "count": len(values), "type": kind})
        binary += data + b"\0" * (-len(data) % 4)
    accessors[0].update({"min": bound.astype(np.float32).min(axis=0).tolist(),
                         "max": bound.astype(np.float32).max(axis=0).tolist()})
    gltf = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 3]}],
            "nodes": [{"name": "armature", "rotation": list(rotation), "scale": scale.tolist(), "children": [1]},
                      {"name": "upper", "children": [2]}, {"name": "fore", "translation": [0, 0, elbow]},
                      {"name": "arm", "mesh": 0, "skin": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1}]}],
            "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
            "buffers": [{"byteLength": len(binary)}], "bufferViews": views, "accessors": accessors}
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary)) +
                     struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") +
                     binary)
    return bound @ linear.T
