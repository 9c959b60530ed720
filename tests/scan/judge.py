#!/usr/bin/python3
"""Judges a session of make_session.py after `exemplar scan fit`, or after `exemplar scan run`, against its truth.

  judge.py EXEMPLAR SESSION [--pose markers|truth] [--level N] [--json FILE] [--keep FOLDER] [--strict]

Of the fit (fit.json): every bone's length and its error in mm and percent; joint centres in all scans; joint angles
in degrees, as rotations relative to the parent and the reference, after the best alignment of the two frames. No skin
follows the turn of a collar bone about itself: its direction in the chest is compared, and the upper arm's rotation
is relative to the chest. Bones from the hips start in the middle of the hip joints, because the place of the hips is
a choice. Elbow and wrist make one bone.

Of the body (body.glb): each held-out pose is fitted to that pose's seen markers by the fitted skeleton with rigid
markers (--pose truth takes the true angles, and so does a session without markers). The rig is posed by `exemplar
pose` and moved with the base. Distances go from every true point of skin that can be seen to the nearest point of the
predicted surface. Hands and feet are apart. The baseline skins one scan: the true surface of the reference scan, with
MakeHuman's weights, fitted skeleton and the same pose. A second baseline has the true skeleton and angles.

Sound: no bone is off by more than 25 %, no limb is missing (half of its true skin has surface within 4 cm), and no
edge of the posed rig that is longer than 15 mm is stretched by more than 4. With --strict the exit status is 1 unless
bones are within 15 mm, angles within 3 degrees RMS, the body at most 0.7 of the baseline, and sound.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parent))
import subject  # noqa: E402

BONES = [("waist", "hips"), ("chest", "waist"), ("neck", "chest"), ("head", "neck")]
for _s in "LR":
    BONES += [(f"clavicle.{_s}", "chest"), (f"shoulder.{_s}", f"clavicle.{_s}"), (f"elbow.{_s}", f"shoulder.{_s}"),
              (f"wrist.{_s}", f"elbow.{_s}"), (f"hip.{_s}", "hips"), (f"knee.{_s}", f"hip.{_s}"),
              (f"ankle.{_s}", f"knee.{_s}"), (f"toe.{_s}", f"ankle.{_s}")]
LIMBS = {"head": ["head"], "trunk": ["hips", "waist", "chest"]}
for _s in "LR":
    LIMBS.update({f"upper arm {_s}": [f"shoulder.{_s}"], f"forearm {_s}": [f"elbow.{_s}", f"forearm.{_s}"],
                  f"hand {_s}": [f"wrist.{_s}"], f"thigh {_s}": [f"hip.{_s}"], f"shank {_s}": [f"knee.{_s}"],
                  f"foot {_s}": [f"ankle.{_s}", f"toe.{_s}"]})


# ---- a skeleton of the product ----

class Skeleton:
    """Joints of a skeleton file: in the reference all frames are parallel to the world."""

    def __init__(self, data):
        rows = data["joints"]
        self.names = [row["name"] for row in rows]
        self.kinds = [row["joint"] for row in rows]
        self.parents = [self.names.index(row["parent"]) if row.get("parent") else -1 for row in rows]
        known = {row["name"]: row for row in rows}
        self.moves, self.axes = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
        for j, row in enumerate(rows):
            other = known[row["mirror"]] if "mirror" in row else None
            move = row.get("translation") or (np.array(other["translation"]) * [-1, 1, 1])
            self.moves[j] = move
            if row["joint"] == "hinge":
                self.axes[j] = row.get("axis") or (np.array(other["axis"]) * [1, -1, -1])
        self.sites = [(m["name"], self.names.index(m["joint"]), np.array(m["at"])) for m in data.get("markers", [])
                      if m.get("at") is not None]

    def rest(self):
        return self.stand(np.tile(np.eye(3), (len(self.names), 1, 1)), self.moves[0])

    def stand(self, local, base):
        """World rotations and places of the joints."""
        turns, at = np.zeros((len(self.names), 3, 3)), np.zeros((len(self.names), 3))
        for j, p in enumerate(self.parents):
            turns[j] = local[j] if p < 0 else turns[p] @ local[j]
            at[j] = base if p < 0 else at[p] + turns[p] @ self.moves[j]
        return turns, at

    def read_pose(self, entry):
        local = np.tile(np.eye(3), (len(self.names), 1, 1))
        for name, value in entry.get("pose", {}).items():
            j = self.names.index(name)
            local[j] = (Rotation.from_quat(value) if isinstance(value, list)
                        else Rotation.from_rotvec(np.radians(value) * self.axes[j])).as_matrix()
        return local, np.array(entry["base"], float)

    def angle(self, j, turn):
        """Of a hinge, in degrees."""
        return float(np.degrees(Rotation.from_matrix(turn).as_rotvec() @ self.axes[j]))


def fit_pose(skeleton, places, starts):
    """The pose (local turns, base) whose rigid markers are nearest to places {marker: place}, from the best of several
    starts: Gauss-Newton with Huber's weights, and a pull of a millimetre per 6 degrees towards the start."""
    sites = [(j, at, places[name]) for name, j, at in skeleton.sites if name in places]
    joint, at = np.array([s[0] for s in sites]), np.array([s[1] for s in sites])
    goal = np.array([s[2] for s in sites])
    above = np.zeros((len(skeleton.names), len(skeleton.names)), bool)  # [joint, of its ancestors or itself]
    for j, p in enumerate(skeleton.parents):
        above[j] = above[p] if p >= 0 else False
        above[j, j] = True
    columns = []
    for j, kind in enumerate(skeleton.kinds):
        if kind == "hinge":
            columns.append((j, -1))
        elif kind in ("ball", "base"):
            columns += [(j, c) for c in range(3)]

    def residual(local, base):
        turns, centre = skeleton.stand(local, base)
        return turns, centre, centre[joint] + np.einsum("mab,mb->ma", turns[joint], at) - goal

    best = None
    for local, base in starts:
        # The base first: markers of all bones, rigidly.
        turns, centre, off = residual(local, base)
        now = off + goal
        u, _, v = np.linalg.svd((now - now.mean(axis=0)).T @ (goal - goal.mean(axis=0)))
        spin = (u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v).T
        local = local.copy()
        local[0] = spin @ local[0]
        base = goal.mean(axis=0) + spin @ (base - now.mean(axis=0))
        for _ in range(25):
            turns, centre, off = residual(local, base)
            size = np.linalg.norm(off, axis=1)
            weight = np.sqrt(np.minimum(1, 0.015 / np.maximum(size, 1e-9)))
            jacobian = np.zeros((len(off), 3, len(columns) + 3))
            for k, (j, c) in enumerate(columns):
                frame = turns[skeleton.parents[j]] if skeleton.parents[j] >= 0 else np.eye(3)
                axis = frame @ (skeleton.axes[j] if c < 0 else np.eye(3)[c])
                moved = above[joint, j]
                jacobian[moved, :, k] = np.cross(axis, (off + goal - centre[j])[moved])
            jacobian[:, :, len(columns):] = np.eye(3)
            rows = (jacobian * weight[:, None, None]).reshape(-1, len(columns) + 3)
            damp = np.full(len(columns) + 3, (0.01) ** 2)
            damp[-3:] = 1e-9
            step = np.linalg.solve(rows.T @ rows + np.diag(damp), -rows.T @ (off * weight[:, None]).ravel())
            for k, (j, c) in enumerate(columns):
                if c == 0:
                    local[j] = Rotation.from_rotvec(np.clip(step[k:k + 3], -0.5, 0.5)).as_matrix() @ local[j]
                elif c < 0:
                    local[j] = Rotation.from_rotvec(np.clip(step[k], -0.5, 0.5) * skeleton.axes[j]).as_matrix() @ local[j]
            base = base + step[-3:]
            if np.abs(step).max() < 1e-5:
                break
        off = residual(local, base)[2]
        cost = np.minimum((off ** 2).sum(axis=1), 0.03 ** 2).mean()
        if best is None or cost < best[0]:
            best = (cost, local, base, float(np.sqrt((off ** 2).sum(axis=1).mean())))
    return best[1:]


# ---- surfaces ----

def fine(points, triangles, longest=0.012, most=5):
    """Splits triangles until edges are short, so that few neighbours suffice to find the nearest."""
    for _ in range(most):
        corners = points[triangles]
        size = np.max([np.linalg.norm(corners[:, k] - corners[:, (k + 1) % 3], axis=1) for k in range(3)], axis=0)
        large = size > longest
        if not large.any() or len(triangles) > 600000:
            break
        a, b, c = (points[triangles[large, k]] for k in range(3))
        start, n = len(points), large.sum()
        points = np.concatenate([points, (a + b) / 2, (b + c) / 2, (c + a) / 2])
        i, j, k = triangles[large].T
        p, q, r = (start + n * m + np.arange(n) for m in range(3))
        split = [np.stack(t, axis=1) for t in ((i, p, r), (p, j, q), (r, q, k), (p, q, r))]
        triangles = np.concatenate([triangles[~large], *split])
    return points, triangles


class Surface:
    """Triangles, ready for questions."""

    def __init__(self, points, triangles):
        self.points, self.triangles = fine(points, triangles)
        self.tree = cKDTree(self.points[self.triangles].mean(axis=1))

    def distances(self, queries, near=8):
        """From each query to the nearest point of the surface, among the triangles with the nearest centres."""
        first, which = self.tree.query(queries, near)
        best = np.full(len(queries), np.inf)
        for k in range(near):
            a, b, c = (self.points[self.triangles[which[:, k], m]] for m in range(3))
            best = np.minimum(best, to_triangles(queries, a, b, c))
        return best


def to_triangles(p, a, b, c):
    """Distance of p to the triangle abc, row by row: inside of it to the plane, outside to the nearest edge."""
    ab, ac, ap = b - a, c - a, p - a
    d = [(x * y).sum(axis=1) for x, y in ((ab, ab), (ab, ac), (ac, ac), (ap, ab), (ap, ac))]
    area = np.maximum(d[0] * d[2] - d[1] ** 2, 1e-24)
    v, w = (d[2] * d[3] - d[1] * d[4]) / area, (d[0] * d[4] - d[1] * d[3]) / area
    inside = (v >= 0) & (w >= 0) & (v + w <= 1)
    plane = np.linalg.norm(ap - v[:, None] * ab - w[:, None] * ac, axis=1)
    edge = np.min([_to_edge(p, a, b), _to_edge(p, b, c), _to_edge(p, c, a)], axis=0)
    return np.where(inside, np.minimum(plane, edge), edge)


def _to_edge(p, a, b):
    along = b - a
    t = np.clip(((p - a) * along).sum(axis=1) / np.maximum((along ** 2).sum(axis=1), 1e-24), 0, 1)
    return np.linalg.norm(p - a - t[:, None] * along, axis=1)


def read_obj(path):
    points, faces = [], []
    for line in open(path):
        if line.startswith("v "):
            points.append(line.split()[1:4])
        elif line.startswith("f "):
            corners = [int(word.split("/")[0]) - 1 for word in line.split()[1:]]
            faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return np.array(points, float), np.array(faces, int)


class Rig:
    def __init__(self, tool, path, level=None):
        self.tool, self.path, self.level = tool, path, level
        info = json.loads(self.run("info", path, "--json"))
        self.axes = dict(_names_of_axes(info))

    def run(self, *words):
        done = subprocess.run([str(self.tool), *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"exemplar {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def pose(self, skeleton, local, folder, name):
        words = []
        for j, joint in enumerate(skeleton.names):
            if skeleton.parents[j] < 0:
                continue
            q = "q:" + ",".join(f"{v:.9g}" for v in Rotation.from_matrix(local[j]).as_quat())
            if joint in self.axes and skeleton.kinds[j] == "hinge" and not self.axes[joint]:
                words.append(f"{joint}={skeleton.angle(j, local[j]):.9g}")
            elif joint in self.axes:
                words.append(f"{joint}={q}")
            else:
                words.append(f"joint:{joint}={q}")
        path = Path(folder) / f"{name}.obj"
        level = [] if self.level is None else ["--level", self.level]
        self.run("pose", self.path, *words, "-o", path, "--no-normals", "-q", *level)
        return read_obj(path)


def _names_of_axes(info):
    """[(name, True for a rotation)]"""
    found = []
    if isinstance(info, dict):
        for key, value in info.items():
            if key in ("space", "axes") and isinstance(value, list):
                found += [(v["name"], v.get("kind") == "rotation") for v in value if isinstance(v, dict) and "name" in v]
            else:
                found += _names_of_axes(value)
    elif isinstance(info, list):
        for value in info:
            found += _names_of_axes(value)
    return found


# ---- the judge ----

def _relative(turns, places):
    """(joint, turn or direction of every joint), see angles_between."""
    for name, turn in turns.items():
        kind, _, side = name.partition(".")
        parent = subject.JOINTS[name][0] if name in subject.JOINTS else None
        if name not in subject.JOINTS:
            continue
        if kind == "clavicle":
            way = places[f"shoulder.{side}"] - places[name]
            yield name, turns["chest"].T @ (way / np.linalg.norm(way))
        else:
            yield name, turns["chest" if kind == "shoulder" else parent].T @ turn if parent else turn


def angles_between(fitted, true):
    """Degrees, over poses, between rotations [poses, 3, 3] or directions [poses, 3], after the best alignment of frames:
    constant turns A and B with A fitted B near true. Both are relative to the reference, whose fit may be off as any."""
    def turn_of(sums):
        u, _, v = np.linalg.svd(sums)
        return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v

    if fitted.ndim == 2:
        fitted = fitted @ turn_of(true.T @ fitted).T
        return np.degrees(np.arccos(np.clip((fitted * true).sum(axis=1), -1, 1)))
    before, after = np.eye(3), np.eye(3)
    for _ in range(60):
        after = turn_of(np.einsum("kji,kjl->il", before @ fitted, true))
        before = turn_of(np.einsum("kij,klj->il", true, fitted @ after))
    return np.degrees(Rotation.from_matrix((before @ fitted @ after).transpose(0, 2, 1) @ true).magnitude())


def rms(values):
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else float("nan")


class Judge:
    def __init__(self, tool, session, options):
        self.session, self.options = Path(session), options
        self.truth = dict(np.load(self.session / "truth.npz"))
        fit = json.loads((self.session / "fit.json").read_text())
        self.skeleton = Skeleton(fit["skeleton"])
        self.scans = {s["name"]: self.skeleton.read_pose(s) for s in fit["scans"]}
        self.names = [str(n) for n in self.truth["names"]]
        self.joint_names = [str(n) for n in self.truth["joint_names"]]
        self.common = [(j, self.joint_names.index(n)) for j, n in enumerate(self.skeleton.names) if n in self.joint_names]
        self.result = {"scans": len(self.scans), "left_out": [n for n, h in zip(self.names, self.truth["held"])
                                                               if not h and n not in self.scans]}
        self.tool = tool
        self.reference = self.names[0]

    def bones(self):
        turns, at = self.skeleton.stand(*self.scans[self.reference])
        fitted = {n: at[j] for j, n in enumerate(self.skeleton.names)}
        true = {n: self.truth["joints"][0, j] for j, n in enumerate(self.joint_names)}
        for places in (fitted, true):
            places["hips"] = (places["hip.L"] + places["hip.R"]) / 2
        rows = {}
        for joint, parent in BONES:
            if joint in fitted and parent in fitted:
                length, right = (float(np.linalg.norm(p[joint] - p[parent])) for p in (fitted, true))
                rows[joint] = {"fitted": length, "true": right, "off": length - right, "percent": 100 * (length / right - 1)}
        self.result["bones"] = rows
        self.result["bone_worst_mm"] = 1000 * max(abs(r["off"]) for r in rows.values())
        self.result["bone_worst_percent"] = max(abs(r["percent"]) for r in rows.values())

    def joints(self):
        off, fitted, true = {}, {}, {}
        first = self.skeleton.stand(*self.scans[self.reference])[0]
        for k, name in enumerate(self.names):
            if name not in self.scans:
                continue
            turns, at = self.skeleton.stand(*self.scans[name])
            turns = turns @ first.transpose(0, 2, 1)
            known = self.truth["turns"][k] @ self.truth["turns"][0].transpose(0, 2, 1)
            for j, t in self.common:
                joint = self.skeleton.names[j]
                if joint.split(".")[0] not in ("hips", "forearm"):
                    off.setdefault(joint, []).append(np.linalg.norm(at[j] - self.truth["joints"][k, t]))
            for joint, turn in _relative(dict(zip(self.skeleton.names, turns)), dict(zip(self.skeleton.names, at))):
                fitted.setdefault(joint, []).append(turn)
            for joint, turn in _relative(dict(zip(self.joint_names, known)),
                                         dict(zip(self.joint_names, self.truth["joints"][k]))):
                true.setdefault(joint, []).append(turn)
        turned = {n: angles_between(np.array(fitted[n]), np.array(true[n])) for n in fitted if n in true}
        self.result["centres_mm"] = {n: 1000 * rms(v) for n, v in off.items()}
        self.result["centre_rms_mm"] = 1000 * rms(np.concatenate(list(off.values())))
        self.result["angles"] = {n: rms(v) for n, v in turned.items()}
        self.result["angle_rms"] = rms(np.concatenate(list(turned.values())))
        self.result["angle_worst"] = float(max(max(v) for v in turned.values()))

    def true_pose(self, k):
        """The true angles on the fitted skeleton; its joints are laid on the true ones."""
        true = self.truth["turns"][k] @ self.truth["turns"][0].transpose(0, 2, 1)
        local, base = (v.copy() for v in self.scans[self.reference])
        world = self.skeleton.stand(local, base)[0]
        for j, t in self.common:
            q = self.truth["parents"][t]
            turn = true[q].T @ true[t] if q >= 0 else true[t]
            p = self.skeleton.parents[j]
            local[j] = (world[p].T @ turn @ world[p] if p >= 0 else turn) @ local[j]
            if self.skeleton.kinds[j] == "hinge":
                turn = Rotation.from_matrix(local[j]).as_rotvec() @ self.skeleton.axes[j]
                local[j] = Rotation.from_rotvec(turn * self.skeleton.axes[j]).as_matrix()
        at = self.skeleton.stand(local, base)[1]
        rows = [(j, t) for j, t in self.common if self.skeleton.names[j] in ("waist", "chest", "hip.L", "hip.R")]
        base = base + np.mean([self.truth["joints"][k, t] - at[j] for j, t in rows], axis=0)
        return local, base

    def held_pose(self, k):
        if self.options.pose == "truth" or not self.skeleton.sites or not len(self.truth["marker_names"]):
            return (*self.true_pose(k), float("nan"))
        seen = self.truth["seen"][k]
        names, places = self.truth["marker_names"], self.truth["markers"][k]
        known = {str(n): p for n, p, s in zip(names, places, seen) if s}
        return fit_pose(self.skeleton, known, list(self.scans.values()))

    def skinned(self, local, base):
        """The reference's true surface, by linear blend skinning on the fitted skeleton."""
        first, start = self.skeleton.stand(*self.scans[self.reference])
        turns, at = self.skeleton.stand(local, base)
        whole, moves = np.zeros((len(self.joint_names), 3, 3)), np.zeros((len(self.joint_names), 3))
        for j, t in self.common:
            whole[t] = turns[j] @ first[j].T
            moves[t] = at[j] - whole[t] @ start[j]
        return subject.blend_linear(self.truth["surfaces"][0].astype(float), self.truth["weights"].astype(float), whole,
                                    moves)

    def skinned_truly(self, k):
        whole = self.truth["turns"][k] @ self.truth["turns"][0].transpose(0, 2, 1)
        moves = self.truth["joints"][k] - np.einsum("jab,jb->ja", whole, self.truth["joints"][0])
        return subject.blend_linear(self.truth["surfaces"][0].astype(float), self.truth["weights"].astype(float), whole,
                                    moves)

    def weight_of(self, joints):
        return self.truth["weights"][:, [self.joint_names.index(n) for n in joints]].sum(axis=1)

    def held(self):
        ends = self.weight_of([f"{n}.{s}" for n in ("wrist", "ankle", "toe") for s in "LR"]) > 0.5
        outer = self.truth["outer"]
        kinds = ["one_scan", "one_scan_true_pose"]
        rig = None
        if (self.session / "body.glb").exists():
            rig = Rig(self.tool, self.session / "body.glb", self.options.level)
            kinds = ["body", *kinds]
        all_off = {kind: [] for kind in kinds}
        rows, stretched, missing = {}, 0.0, {}
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(self.options.keep or scratch)
            folder.mkdir(parents=True, exist_ok=True)
            at_rest = rig.pose(self.skeleton, self.scans[self.reference][0], folder, "reference") if rig else None
            for k in np.flatnonzero(self.truth["held"]):
                local, base, fit_rms = self.held_pose(k)
                true = self.truth["surfaces"][k].astype(float)
                row = {"markers_mm": 1000 * fit_rms}
                for kind in kinds:
                    faces = self.truth["triangles"]
                    if kind == "body":
                        points, faces = rig.pose(self.skeleton, local, folder, self.names[k])
                        points = base + (points - self.skeleton.moves[0]) @ local[0].T
                        stretched = max(stretched, stretch(at_rest[0], points, faces))
                    elif kind == "one_scan":
                        points = self.skinned(local, base)
                    else:
                        points = self.skinned_truly(k)
                    if self.options.keep:
                        subject.write_obj(folder / f"{self.names[k]}_{kind}.obj", points, faces)
                    off = np.zeros(len(true))
                    off[outer] = Surface(points, faces).distances(true[outer])
                    if kind == "body":
                        for limb, joints in LIMBS.items():
                            skin = (self.weight_of(joints) > 0.6) & outer
                            missing[limb] = min(missing.get(limb, 1.0), float((off[skin] < 0.04).mean()))
                    all_off[kind].append(off)
                    row[kind] = 1000 * rms(off[outer & ~ends])
                    row[f"{kind}_ends"] = 1000 * rms(off[outer & ends])
                rows[self.names[k]] = row
        self.result["held"] = rows
        for kind in kinds:
            off = np.array(all_off[kind])
            self.result[kind] = {"rms_mm": 1000 * rms(off[:, outer & ~ends].ravel()),
                                 "p95_mm": 1000 * float(np.percentile(off[:, outer & ~ends], 95)),
                                 "hands_feet_mm": 1000 * rms(off[:, outer & ends].ravel())}
        if rig:
            self.result["ratio"] = self.result["body"]["rms_mm"] / self.result["one_scan"]["rms_mm"]
            self.result["ratio_true_pose"] = self.result["body"]["rms_mm"] / self.result["one_scan_true_pose"]["rms_mm"]
            self.result["stretch"] = stretched
            self.result["missing"] = {n: round(v, 2) for n, v in missing.items() if v < 0.5}

    def verdict(self):
        r, wrong, short = self.result, [], []
        bad = [f"{n} {b['percent']:+.0f} %" for n, b in r["bones"].items() if abs(b["percent"]) > 25]
        if bad:
            wrong.append("bones off by more than 25 %: " + ", ".join(bad))
        if "stretch" in r and r["stretch"] > 4:
            wrong.append(f"an edge is stretched {r['stretch']:.1f} times")
        if r.get("missing"):
            wrong.append("missing: " + ", ".join(f"{n} ({100 * v:.0f} % there)" for n, v in r["missing"].items()))
        if "body" not in r:
            wrong.append("there is no body.glb")
        if r["bone_worst_mm"] > 15:
            short.append(f"bones: {r['bone_worst_mm']:.0f} mm, at most 15 wanted")
        if r["angle_rms"] > 3:
            short.append(f"angles: {r['angle_rms']:.1f} degrees RMS, at most 3 wanted")
        if r.get("ratio", 0) > 0.7:
            short.append(f"held-out poses: {r['ratio']:.2f} of skinning one scan, at most 0.7 wanted")
        r["unsound"], r["short"] = wrong, short

    def run(self):
        self.bones()
        self.joints()
        self.held()
        self.verdict()
        return self.result


def stretch(before, after, triangles):
    """The largest growth of an edge, of those that are longer than 15 mm afterwards."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    a, b = (np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in (before, after))
    return float((b / np.maximum(a, 0.001))[b > 0.015].max(initial=1.0))


def show(result):
    print("bone          fitted    true      off")
    for name, row in result["bones"].items():
        print(f"  {name:11s} {1000 * row['fitted']:6.1f}  {1000 * row['true']:6.1f}  {1000 * row['off']:+6.1f} mm "
              f"{row['percent']:+6.1f} %")
    print("joint       centre (RMS)   angle (RMS)")
    for name, angle in result["angles"].items():
        centre = result["centres_mm"].get(name)
        print(f"  {name:11s} {'' if centre is None else f'{centre:6.1f} mm':>9s}   {angle:6.2f} degrees")
    print(f"bones: worst {result['bone_worst_mm']:.1f} mm, {result['bone_worst_percent']:.0f} %; centres "
          f"{result['centre_rms_mm']:.1f} mm RMS; angles {result['angle_rms']:.2f} degrees RMS, worst "
          f"{result['angle_worst']:.1f}")
    if result["left_out"]:
        print("left out of the fit: " + ", ".join(result["left_out"]))
    kinds = [k for k in ("body", "one_scan", "one_scan_true_pose") if k in result]
    print("held-out pose      markers  " + "  ".join(f"{k:>18s}" for k in kinds) + "   (RMS in mm; hands and feet apart)")
    for name, row in result["held"].items():
        print(f"  {name:17s} {row['markers_mm']:6.1f}  "
              + "  ".join(f"{row[k]:9.2f} ({row[k + '_ends']:6.2f})" for k in kinds))
    for kind in kinds:
        row = result[kind]
        print(f"{kind:20s} {row['rms_mm']:.2f} mm RMS, {row['p95_mm']:.2f} at 95 %, hands and feet {row['hands_feet_mm']:.2f}")
    if "ratio" in result:
        print(f"the body has {result['ratio']:.2f} of skinning one scan, {result['ratio_true_pose']:.2f} with the true "
              f"pose; edges are stretched at most {result['stretch']:.2f} times")
    for line in result["unsound"]:
        print("UNSOUND: " + line)
    for line in result["short"]:
        print("short: " + line)
    if not result["unsound"] and not result["short"]:
        print("good")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exemplar")
    parser.add_argument("session")
    parser.add_argument("--pose", choices=["markers", "truth"], default="markers")
    parser.add_argument("--level", help="of subdivision (default: the one that the rig shows)")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--keep", help="write predicted surfaces to this folder")
    parser.add_argument("--strict", action="store_true", help="exit with 1 unless everything is as wanted")
    options = parser.parse_args()
    for name in ("truth.npz", "fit.json"):
        if not (Path(options.session) / name).exists():
            sys.exit(f"{options.session} has no {name}: make it with make_session.py, then run 'exemplar scan run'")
    result = Judge(options.exemplar, options.session, options).run()
    show(result)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(1 if options.strict and (result["unsound"] or result["short"]) else 0)


if __name__ == "__main__":
    main()
