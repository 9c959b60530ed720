#!/usr/bin/python3
"""DrivenShape on a bar that bends and its sleeve, computed in numpy and compared with the tool.

  drive_oracle.py TOOL   one line per group, then "N passed, M failed"

The paper's method as printed, with vertices weighed by area. Forms are aligned to the mesh by their best rigid motion
(2.7). Keys are chosen farthest first (2.1). The quadratic program of the weights (equations 1 to 6) tries every set of
keys that may have a weight. Driven forms are blended (2.2), and the residual goes through the frame of the closest
triangle (2.3, 2.4), all by brute force. Keys must be the same, weights within 1e-5, the blend within 1e-5 of the size.
The tool carries the residual by frames shared between triangles, which is smoother: its result must match the printed
method within a part of the residual.

Then properties that always hold, for rigs with one moving frame and with many: a key's driven form comes back at its
driver; weights are not negative and sum to 1; a rigid motion of the driver moves the result alike (within 1e-4 for a
vertex pushed out from next to the surface, which depends on the last bits); and after pushing out, no vertex is nearer
to the driver than the thickness, by distances to all triangles and the sign of the winding number.
"""
import itertools
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True  # leaves nothing in the source tree

from point_cache import read_pc2
from weigh_oracle import Tally

RINGS, SIDES, SLEEVE_RINGS, SLEEVE_SIDES = 10, 7, 8, 9
FRAMES, KEYS = 24, 5
THICKNESS = 0.014


# ---- a bar and its sleeve ----

def place(pose, s, angle, distance):
    bend, twist = pose
    bend = bend if abs(bend) > 1e-9 else 1e-9
    a, turned = bend * s, angle + s * twist
    y, z = distance * np.cos(turned), distance * np.sin(turned)
    return np.stack([np.sin(a) / bend - y * np.sin(a), (1 - np.cos(a)) / bend + y * np.cos(a), z], -1)


def bar(pose):
    s, angle = np.meshgrid(np.linspace(0, 1, RINGS), 2 * np.pi * np.arange(SIDES) / SIDES, indexing="ij")
    ends = [place(pose, np.array(end), np.array(0.0), 0.0) for end in (0.0, 1.0)]
    return np.vstack([place(pose, s, angle, 0.1).reshape(-1, 3), ends])


def sleeve(pose):
    s, angle = np.meshgrid(np.linspace(0.15, 0.85, SLEEVE_RINGS),
                           2 * np.pi * (np.arange(SLEEVE_SIDES) + 0.3) / SLEEVE_SIDES, indexing="ij")
    fold = 0.02 * np.sin(pose[0] / 2) ** 2 * (1 + np.cos(angle)) * (1 + np.cos(12 * s)) / 2
    return place(pose, s, angle, 0.115 + fold).reshape(-1, 3)


def strips(rings, sides):
    a = np.add.outer(np.arange(rings - 1) * sides, np.arange(sides)).ravel()
    b = np.add.outer(np.arange(rings - 1) * sides, (np.arange(sides) + 1) % sides).ravel()
    return np.vstack([np.stack([a, b, b + sides], -1), np.stack([a, b + sides, a + sides], -1)])


def bar_triangles():
    k, last = np.arange(SIDES), (RINGS - 1) * SIDES
    n = (k + 1) % SIDES
    caps = [np.stack([np.full(SIDES, RINGS * SIDES), n, k], -1),
            np.stack([np.full(SIDES, RINGS * SIDES + 1), last + k, last + n], -1)]
    return np.vstack([strips(RINGS, SIDES), *caps])


def motion(shift, most=1.8):
    t = np.arange(FRAMES) / FRAMES
    return list(zip(most / 2 * (1 - np.cos(2 * np.pi * t + shift)), 0.6 * np.sin(4 * np.pi * t + 2 * shift)))


def rigid(t):
    """Position and rotation of the bar at a time from 0 to 1."""
    c, s = np.cos(2 * t), np.sin(2 * t)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([t, 0.2 * t, -t])


# ---- files ----

def write_obj(path, points, triangles):
    lines = ["v %.9g %.9g %.9g" % tuple(p) for p in points] + ["f %d %d %d" % tuple(t + 1) for t in triangles]
    path.write_text("\n".join(lines) + "\n")


def write_pc2(path, frames):
    frames = np.asarray(frames, "<f4")
    path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], 0, 0.04, len(frames)) +
                     frames.tobytes())


# ---- the paper ----

def areas(points, triangles):
    a, b, c = (points[triangles[:, i]] for i in range(3))
    each = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(each, 3), len(points))


def fit(reference, form, weights):
    """The rigid motion (R, t) that brings the reference nearest to the form."""
    w = weights / weights.sum()
    p, q = w @ reference, w @ form
    u, _, v = np.linalg.svd((form - q).T @ ((reference - p) * w[:, None]))
    r = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    return r, q - r @ p


def farthest_first(homes, reference, weights, count):
    def squares(a, b):
        return weights @ ((a - b) ** 2).sum(-1)

    keys = [int(np.argmin([squares(home, reference) for home in homes]))]
    while len(keys) < count:
        keys.append(int(np.argmax([min(squares(home, homes[k]) for k in keys) for home in homes])))
    return keys


def convex(gram, products):
    """Minimises w G w - 2 p w over weights that are not negative and sum to 1, by trying every support."""
    n, best, found = len(gram), np.inf, None
    for size in range(1, n + 1):
        for support in itertools.combinations(range(n), size):
            s = list(support)
            system = np.block([[gram[np.ix_(s, s)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            w = np.linalg.lstsq(system, np.append(products[s], 1), rcond=None)[0][:size]
            value = w @ gram[np.ix_(s, s)] @ w - 2 * products[s] @ w
            if w.min() >= -1e-12 and value < best - 1e-15:
                best, found = value, (s, w)
    weights = np.zeros(n)
    weights[found[0]] = found[1]
    return weights


def closest(point, points, triangles):
    """The closest point of every triangle: barycentric coordinates [triangles][3] and squares [triangles]."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    ab, ac, ap = b - a, c - a, point - a
    d00, d01, d11 = (ab * ab).sum(1), (ab * ac).sum(1), (ac * ac).sum(1)
    d20, d21 = (ap * ab).sum(1), (ap * ac).sum(1)
    area = d00 * d11 - d01 * d01
    v, w = (d11 * d20 - d01 * d21) / area, (d00 * d21 - d01 * d20) / area
    inside = (v >= 0) & (w >= 0) & (v + w <= 1)
    best = np.stack([1 - v - w, v, w], 1)
    least = np.where(inside, ((best[:, :1] * a + best[:, 1:2] * b + best[:, 2:] * c - point) ** 2).sum(1), np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        p, q = points[triangles[:, i]], points[triangles[:, j]]
        t = np.clip(((point - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0, 1)
        square = ((p + t[:, None] * (q - p) - point) ** 2).sum(1)
        nearer = square < least
        edge = np.zeros_like(best)
        edge[:, i], edge[:, j] = 1 - t, t
        best[nearer], least[nearer] = edge[nearer], square[nearer]
    return best, least


def frame(points, triangle):
    a, b, c = points[triangle]
    x = (b - a) / np.linalg.norm(b - a)
    y = np.cross(b - a, c - a)
    y /= np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], 1)


def transfer(driven, blended, true, triangles):
    out = np.empty_like(driven)
    for i, point in enumerate(driven):
        shares, squares = closest(point, blended, triangles)
        k = int(np.argmin(squares))
        corners = triangles[k]
        local = frame(blended, corners).T @ (point - shares[k] @ blended[corners])
        out[i] = shares[k] @ true[corners] + frame(true, corners) @ local
    return out


def winding(point, points, triangles):
    """The winding number of the surface around the point: 1 inside, 0 outside."""
    a, b, c = (points[triangles[:, i]] - point for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = (a * np.cross(b, c)).sum(1)
    rest = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return np.arctan2(top, rest).sum() / (2 * np.pi)


# ---- the tool ----

class Scene:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.mesh, self.triangles = bar((0, 0)), bar_triangles()
        self.size = np.linalg.norm(np.ptp(self.mesh, axis=0))
        write_obj(folder / "bar.obj", self.mesh, self.triangles)
        write_obj(folder / "sleeve.obj", sleeve((0, 0)), strips(SLEEVE_RINGS, SLEEVE_SIDES))
        for name, poses in (("train", motion(0.4)), ("test", motion(1.3)), ("more", motion(0.9, 2.4))):
            for kind, form in (("bar", bar), ("sleeve", sleeve)):
                frames = []
                for f, pose in enumerate(poses):
                    r, t = rigid(f / FRAMES)
                    frames.append(form(pose) @ r.T + t)
                write_pc2(folder / f"{kind}_{name}.pc2", frames)

    def run(self, *words):
        done = subprocess.run([self.tool, "drive", *words], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        return done.stdout

    def learn(self, rig, *words):
        return json.loads(self.run("learn", "--driver", "bar_train.pc2", "--driver-mesh", "bar.obj", "--driven",
                                   "sleeve_train.pc2", "--driven-mesh", "sleeve.obj", "--keys", str(KEYS), "-o", rig,
                                   "--json", *words))

    def apply(self, rig, driver, *words):
        self.run("apply", rig, "--driver", driver, "-o", "out.pc2", "-q", *words)
        return self.frames("out.pc2")

    def frames(self, name):
        return read_pc2(self.folder / name).frames.astype(float)

    def weights(self, rig, driver):
        report = json.loads(self.run("report", rig, "--driver", driver, "--json"))
        return np.array([frame["weights"] for frame in report["frames"]])


def check_paper(scene, tally):
    told = scene.learn("paper.glb", "--paper", "--no-push")
    weights = areas(scene.mesh, scene.triangles)
    weights /= weights.sum()
    train, cloth = scene.frames("bar_train.pc2"), scene.frames("sleeve_train.pc2")
    places = [fit(scene.mesh, form, weights) for form in train]
    homes = [(form - t) @ r for form, (r, t) in zip(train, places)]
    keys = farthest_first(homes, scene.mesh, weights, KEYS)
    tally.add("keys farthest first", sum(key["frame"] != k + 1 for key, k in zip(told["keys"], keys)), 0, f"not {keys}")
    drivers = np.array([homes[k] for k in keys])
    driven = np.array([(cloth[k] - places[k][1]) @ places[k][0] for k in keys])
    test = scene.frames("bar_test.pc2")
    made, blend = scene.apply("paper.glb", "bar_test.pc2"), scene.apply("paper.glb", "bar_test.pc2", "--no-settle")
    found = scene.weights("paper.glb", "bar_test.pc2")
    apart, moved = [], []
    flat = drivers.reshape(KEYS, -1) * np.sqrt(np.repeat(weights, 3))
    for f, form in enumerate(test):
        r, t = fit(scene.mesh, form, weights)
        home = (form - t) @ r
        w = convex(flat @ flat.T, flat @ (home.ravel() * np.sqrt(np.repeat(weights, 3))))
        tally.add("weights of the quadratic program", np.abs(w - found[f]).max(), 1e-5, f"frame {f}")
        between = np.tensordot(w, driven, 1)
        error = np.abs(between @ r.T + t - blend[f]).max() / scene.size
        tally.add("blend of the driven forms", error, 1e-5, f"frame {f}")
        if f % 4 == 0:
            right = transfer(between, np.tensordot(w, drivers, 1), home, scene.triangles) @ r.T + t
            apart.append(np.linalg.norm(right - made[f], axis=1).mean())
            moved.append(np.linalg.norm(right - blend[f], axis=1).mean())
    tally.add("residual by the closest triangle, in parts", np.mean(apart) / np.mean(moved), 0.05,
              "of %.1f mm" % (1000 * np.mean(moved)))


def check_invariants(scene, tally, name, *words):
    told = scene.learn("free.glb", "--no-push", *words)
    cloth = scene.frames("sleeve_train.pc2")
    made = scene.apply("free.glb", "bar_train.pc2")
    for key in told["keys"]:
        off = np.abs(made[key["frame"] - 1] - cloth[key["frame"] - 1]).max()
        tally.add(f"{name}: keys come back", off / scene.size, 1e-5, key["name"])

    scene.learn("push.glb", "--thickness", str(THICKNESS), *words)
    found = scene.weights("push.glb", "bar_more.pc2")
    tally.add(f"{name}: no weight is negative", max(0.0, -found.min()), 0, "some are")
    tally.add(f"{name}: weights sum to 1", np.abs(found.sum(1) - 1).max(), 1e-9, "they do not")

    driver = scene.frames("bar_more.pc2")
    r, t = rigid(1.7)
    write_pc2(scene.folder / "moved.pc2", driver @ r.T + t)
    free, made = scene.apply("free.glb", "bar_more.pc2"), scene.apply("push.glb", "bar_more.pc2")
    for rig, forms, limit in (("free", free, 1e-5), ("push", made, 1e-4)):
        off = np.abs(scene.apply(f"{rig}.glb", "moved.pc2") - (forms @ r.T + t)).max()
        tally.add(f"{name}: a rigid motion, {rig}", off / scene.size, limit, "the result moves otherwise")

    def nearest(forms):
        return min(np.sqrt(closest(point, driver[f], scene.triangles)[1].min())
                   for f in range(0, FRAMES, 3) for point in forms[f])

    least = nearest(made)
    inside = sum(winding(point, driver[f], scene.triangles) > 0.5 for f in range(0, FRAMES, 3) for point in made[f])
    if "none" in words:  # otherwise the residual keeps the distance already
        tally.add(f"{name}: nearer before pushing out", nearest(free), THICKNESS - 1e-3, "there was nothing to push")
    tally.add(f"{name}: none inside", inside, 0, f"{inside} are")
    tally.add(f"{name}: nearer than the thickness", max(0.0, THICKNESS - least), 1e-4, f"{least} m from the driver")


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(str(Path(sys.argv[1]).resolve()), Path(folder))
        check_paper(scene, tally)
        check_invariants(scene, tally, "one frame", "--frames", "1", "--residual", "none")
        check_invariants(scene, tally, "one frame, closest", "--paper")
        check_invariants(scene, tally, "eight frames", "--frames", "8", "--residual", "none")
        check_invariants(scene, tally, "eight frames, keys", "--frames", "8", "--residual", "keys")
    tally.report()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
