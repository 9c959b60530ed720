"""MakeHuman's own files (CC0): the base mesh with its helpers, targets, the skeleton with skin weights, clothes.

Everything is in decimetres, y up, as in the files. `whole` is always an array of all vertices of the base mesh.
"""
import json
from pathlib import Path

import numpy as np

BODY = 13380  # vertices of the body; helpers follow
METRES = 0.1  # per unit
STEMS = ("root pelvis spine05 spine04 spine03 spine02 spine01 neck01 neck02 neck03 head jaw eye clavicle shoulder01 "
         "upperarm01 upperarm02 lowerarm01 lowerarm02 wrist upperleg01 upperleg02 lowerleg01 lowerleg02 foot "
         "toe1-1").split()


def stem(name):
    return name[:-2] if name[-2:] in (".L", ".R") else name


def read_obj(path):
    """Points, texture coordinates, and {group: faces}, a face being a list of pairs (point, texture coordinate)."""
    points, texcoords, groups, group = [], [], {}, "all"
    for line in Path(path).read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            points.append([float(word) for word in words[1:4]])
        elif words[0] == "vt":
            texcoords.append([float(word) for word in words[1:3]])
        elif words[0] == "g":
            group = words[1]
        elif words[0] == "f":
            corners = [[int(number) - 1 for number in word.split("/")[:2]] for word in words[1:]]
            groups.setdefault(group, []).append(corners)
    return np.array(points), np.array(texcoords), groups


class Source:
    def __init__(self, data):
        self.data = Path(data)
        self.points, self.texcoords, self.groups = read_obj(self.data / "makehuman/3dobjs/base.obj")
        skeleton = json.loads((self.data / "makehuman/rigs/default.mhskel").read_text())
        self.bones, self.spots, self.planes = skeleton["bones"], skeleton["joints"], skeleton["planes"]
        self.choose_joints()
        self.read_weights()

    def choose_joints(self):
        """Bones of the face and of single toes are left out: expressions are forms, and shoes hide the toes."""
        self.names = []

        def visit(name):
            if name in self.names:
                return
            if self.bones[name]["parent"]:
                visit(self.joint_of(self.bones[name]["parent"]))
            self.names.append(name)
        for name in self.bones:
            if self.is_kept(name):
                visit(name)
        self.index = {name: number for number, name in enumerate(self.names)}
        parents = [self.bones[name]["parent"] for name in self.names]
        self.parents = [self.index[self.joint_of(parent)] if parent else -1 for parent in parents]

    @staticmethod
    def is_kept(name):
        return stem(name) in STEMS or name.startswith(("metacarpal", "finger"))

    def joint_of(self, bone):
        """The joint that stands for a bone: itself, or the nearest one above it."""
        if bone.startswith("toe"):
            return "toe1-1" + bone[-2:]
        while not self.is_kept(bone):
            bone = self.bones[bone]["parent"]
        return bone

    def read_weights(self):
        """[points, joints], rows normalised, which the file's are not."""
        self.weights = np.zeros((len(self.points), len(self.names)))
        listed = json.loads((self.data / "makehuman/rigs/default_weights.mhw").read_text())["weights"]
        for bone, pairs in listed.items():
            column = self.index[self.joint_of(bone)]
            for vertex, weight in pairs:
                self.weights[vertex, column] += weight
        self.weights /= self.weights.sum(axis=1, keepdims=True)

    def target(self, name):
        """Displacements of all points, for a file of the folder targets, such as macrodetails/caucasian-male-old."""
        moved = np.zeros_like(self.points)
        lines = (self.data / f"makehuman/targets/{name}.target").read_text().splitlines()
        rows = [line.split() for line in lines if line.strip() and line[0] != "#"]
        if rows:
            rows = np.array(rows, float)
            moved[rows[:, 0].astype(int)] = rows[:, 1:]
        return moved

    def heads(self, whole):
        return np.array([whole[self.spots[self.bones[name]["head"]]].mean(axis=0) for name in self.names])

    def frames(self, whole):
        """Axes of the joints as columns: y along the bone, x across the plane in which it bends."""
        found = []
        for name in self.names:
            bone = self.bones[name]
            head, tail = (whole[self.spots[bone[end]]].mean(axis=0) for end in ("head", "tail"))
            plane = [whole[self.spots[spot]].mean(axis=0) for spot in self.planes[bone["rotation_plane"]]]
            y = (tail - head) / np.linalg.norm(tail - head)
            x = np.cross(plane[2] - plane[1], plane[1] - plane[0])
            x -= y * (x @ y)
            if np.linalg.norm(x) < 1e-9:
                x = np.cross(y, np.eye(3)[np.argmin(np.abs(y))])
            x /= np.linalg.norm(x)
            found.append(np.stack([x, y, np.cross(x, y)], axis=1))
        return np.array(found)


class Clothes:
    """A garment bound to the base mesh: each of its vertices lies at three points, plus an offset that scales."""

    def __init__(self, source, name):
        folder = source.data / "makehuman_assets/clothes" / name
        self.points, self.texcoords, groups = read_obj(folder / f"{name}.obj")
        self.faces = [face for faces in groups.values() for face in faces]
        self.scales, rows, hidden, part = [None] * 3, [], [], None
        for line in (folder / f"{name}.mhclo").read_text().splitlines():
            words = line.split()
            if not words or words[0][0] == "#":
                continue
            if words[0] in ("x_scale", "y_scale", "z_scale"):
                self.scales["xyz".index(words[0][0])] = int(words[1]), int(words[2]), float(words[3])
            elif words[0] in ("verts", "delete_verts"):
                part = words[0]
            elif part == "verts":
                rows.append([int(words[0])] * 3 + [1, 0, 0, 0, 0, 0] if len(words) == 1 else
                            [float(word) for word in words])
            elif part == "delete_verts":
                hidden += words
        rows = np.array(rows)
        self.corners, self.shares, self.offsets = rows[:, :3].astype(int), rows[:, 3:6, None], rows[:, 6:9]
        self.hides = np.zeros(len(source.points), bool)  # points of the body that the garment covers
        while hidden:
            last = 2 if len(hidden) > 2 and hidden[1] == "-" else 0
            self.hides[int(hidden[0]):int(hidden[last]) + 1] = True
            hidden = hidden[last + 1:]
        self.weights = (source.weights[self.corners] * self.shares).sum(axis=1)

    def fit(self, whole):
        scale = [abs(whole[a, axis] - whole[b, axis]) / length for axis, (a, b, length) in enumerate(self.scales)]
        return (whole[self.corners] * self.shares).sum(axis=1) + self.offsets * scale

    def components(self):
        """Numbers of connected pieces, the one with most vertices first."""
        piece = np.arange(len(self.points))
        faces = np.array([[corner[0] for corner in face] for face in self.faces])
        for _ in range(len(piece)):
            lowest = np.repeat(piece[faces].min(axis=1), faces.shape[1])
            before = piece.copy()
            np.minimum.at(piece, faces.ravel(), lowest)
            piece = piece[piece]
            if np.array_equal(before, piece):
                break
        _, number, counts = np.unique(piece, return_inverse=True, return_counts=True)
        return np.argsort(np.argsort(-counts, kind="stable"))[number]
