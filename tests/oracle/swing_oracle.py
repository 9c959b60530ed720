#!/usr/bin/python3
"""Learning from motion, beside a regression of its own in numpy: a tube that bends and the cloth on it, which lags.

  swing_oracle.py TOOL   one line per group, then "N passed, M failed"

The cloth bulges by the pose of the tube and by how fast it bends, by formula. The tool learns from some takes and is
applied to another. Here, moving frames are fitted to groups of the tube's vertices by singular value decomposition; the
cloth's offsets in the frame nearest to each vertex are predicted from rotations, positions and their differences from
the frame before by kernel ridge regression, whose settings are chosen by leaving out takes. On the take that neither has
seen, the tool's error must be within 1.2 times that of this regression, clearly below that of the tool's own keys, and
below that of a regression that sees the pose alone. Applied at other rates, the cloth at the same times must be nearly
the same; and the tool must come to the same when the world is turned around the vertical and moved.
"""
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

RINGS, SIDES, CLOTH_RINGS, CLOTH_SIDES = 20, 10, 15, 10
RATE, FRAMES, TAKES, GROUPS = 25, 70, 4, 5
UNSEEN = TAKES


# ---- the tube and its cloth ----

def poses(take, rate, count):
    """Angles (radians) of bend and twist, their speeds, heading and position along x, [count] each."""
    t = np.arange(count) / rate
    shift, slow, quick = 0.9 * take, 2.2 + 0.23 * take, 4.7
    bend = 0.8 - 0.5 * np.cos(slow * t + shift) - 0.2 * np.cos(quick * t + 2 * shift)
    speed = 0.5 * slow * np.sin(slow * t + shift) + 0.2 * quick * np.sin(quick * t + 2 * shift)
    twist, whirl = 0.4 * np.sin(1.9 * t + 2 * shift), 0.4 * 1.9 * np.cos(1.9 * t + 2 * shift)
    return np.stack([bend, twist, speed, whirl, 0.5 * t, 0.3 * t], -1)


def place(pose, s, angle, distance):
    bend, twist, _, _, heading, along = pose
    bend = bend if abs(bend) > 1e-9 else 1e-9
    a, turned = bend * s, angle + s * twist
    y, z = distance * np.cos(turned), distance * np.sin(turned)
    p = np.stack([np.sin(a) / bend - y * np.sin(a), (1 - np.cos(a)) / bend + y * np.cos(a), z], -1)
    c, n = np.cos(heading), np.sin(heading)
    return p @ np.array([[c, 0, n], [0, 1, 0], [-n, 0, c]]).T + np.array([along, 0, 0.2 * along])


def grid(rings, sides, low, high):
    return np.meshgrid(np.linspace(low, high, rings), 2 * np.pi * np.arange(sides) / sides, indexing="ij")


def tube(pose):
    s, angle = grid(RINGS, SIDES, 0, 1)
    ends = [place(pose, np.array(end), np.array(0.0), 0.0) for end in (0.0, 1.0)]
    return np.vstack([place(pose, s, angle, 0.1).reshape(-1, 3), ends])


def cloth(pose):
    s, angle = grid(CLOTH_RINGS, CLOTH_SIDES, 0.1, 0.9)
    bend, twist, speed, whirl = pose[:4]
    fold = 0.03 * np.sin(bend / 2) ** 2 * (1 + np.cos(angle)) * (1 + np.cos(12 * s)) / 2
    lag = 0.012 * speed * s * np.sin(angle) + 0.006 * whirl * np.cos(2 * angle + 5 * s)
    return place(pose, s, angle + 0.05 * speed * s, 0.13 + fold + lag).reshape(-1, 3)


REST = np.zeros(6)


def strips(rings, sides):
    a = np.add.outer(np.arange(rings - 1) * sides, np.arange(sides)).ravel()
    b = np.add.outer(np.arange(rings - 1) * sides, (np.arange(sides) + 1) % sides).ravel()
    return np.vstack([np.stack([a, b, b + sides], -1), np.stack([a, b + sides, a + sides], -1)])


def tube_triangles():
    k, last = np.arange(SIDES), (RINGS - 1) * SIDES
    n = (k + 1) % SIDES
    caps = [np.stack([np.full(SIDES, RINGS * SIDES), n, k], -1),
            np.stack([np.full(SIDES, RINGS * SIDES + 1), last + k, last + n], -1)]
    return np.vstack([strips(RINGS, SIDES), *caps])


# ---- files ----

def write_obj(path, points, triangles):
    lines = ["v %.9g %.9g %.9g" % tuple(p) for p in points] + ["f %d %d %d" % tuple(t + 1) for t in triangles]
    path.write_text("\n".join(lines) + "\n")


def write_pc2(path, frames, rate=RATE):
    frames = np.asarray(frames, "<f4")
    path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], 0, 1 / rate, len(frames)) +
                     frames.tobytes())


# ---- a regression ----

def fit(reference, form):
    """The rotation and the middles that bring the reference nearest to the form."""
    p, q = reference.mean(0), form.mean(0)
    u, _, v = np.linalg.svd((form - q).T @ (reference - p))
    return u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v, q


def frames_of(form):
    """Rotations [GROUPS + 1][3][3] and middles [GROUPS + 1][3] of rings of the tube, the last of all."""
    rest, ring = tube(REST), RINGS // GROUPS * SIDES
    groups = [slice(g * ring, (g + 1) * ring) for g in range(GROUPS)] + [slice(None)]
    found = [fit(rest[g], form[g]) for g in groups]
    return np.array([r for r, _ in found]), np.array([q for _, q in found])


def pose_numbers(rotations, middles):
    whole = rotations[-1]
    return np.concatenate([np.einsum("ji,gjk->gik", whole, rotations[:-1]).ravel(),
                           ((middles[:-1] - middles[-1]) @ whole).ravel()])


def features(forms, motion):
    """Numbers of each frame from the third on: poses, and how frames moved and turned since the frame before, all in
    the frame of the whole."""
    placed = [frames_of(form) for form in forms]
    rows = []
    for f in range(2, len(forms)):
        (r, q), (r1, q1) = placed[f], placed[f - 1]
        row = [pose_numbers(r, q)]
        if motion:
            row += [RATE * ((q - q1) @ r[-1]).ravel(), RATE * np.einsum("ji,gjk->gik", r[-1], r - r1).ravel()]
        rows.append(np.concatenate(row))
    return np.array(rows)


def homes(forms, clothes):
    """Cloth in the moving frame of the nearest ring's group."""
    rest, at = cloth(REST), np.repeat(np.linspace(0.1, 0.9, CLOTH_RINGS), CLOTH_SIDES)
    group = np.minimum((at * GROUPS).astype(int), GROUPS - 1)
    out, back = [], []
    for form, wear in zip(forms, clothes):
        r, q = frames_of(form)
        out.append(np.einsum("vji,vj->vi", r[group], wear - q[group]))
        back.append((r[group], q[group]))
    return np.array(out), back


def kernel(a, b, width):
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * a @ b.T
    return np.exp(-np.maximum(squares, 0) / (2 * width * width)) if width else a @ b.T + 1


def regress(train, targets, test, width, ridge):
    mean = targets.mean(0)
    k = kernel(train, train, width)
    return kernel(test, train, width) @ np.linalg.solve(k + ridge * np.eye(len(k)), targets - mean) + mean


def predict(takes, unseen, motion):
    """Cloth of the unseen take from its third frame on, by settings chosen by leaving out takes."""
    x = [features(bars, motion) for bars, _ in takes + [unseen]]
    y = [homes(bars[2:], clothes[2:])[0].reshape(len(bars) - 2, -1) for bars, clothes in takes]
    everything = np.vstack(x[:-1])
    poses_end = GROUPS * 12
    spread = np.ones(everything.shape[1])
    for part in (slice(0, poses_end), slice(poses_end, None)):
        spread[part] = np.sqrt(everything[:, part].var(0).sum()) if everything[:, part].size else 1
    x = [(rows - everything.mean(0)) / spread for rows in x]
    best, chosen = np.inf, None
    for width in (1, 2, 4, 8, 0):
        for ridge in (1e-1, 1e-2, 1e-3, 1e-4):
            error = 0
            for out in range(len(takes)):
                rest = [i for i in range(len(takes)) if i != out]
                made = regress(np.vstack([x[i] for i in rest]), np.vstack([y[i] for i in rest]), x[out], width, ridge)
                error += ((made - y[out]) ** 2).sum()
            if error < best:
                best, chosen = error, (width, ridge)
    made = regress(np.vstack(x[:-1]), np.vstack(y), x[-1], *chosen).reshape(-1, CLOTH_RINGS * CLOTH_SIDES, 3)
    _, back = homes(unseen[0][2:], unseen[1][2:])
    return np.array([np.einsum("vij,vj->vi", r, form) + q for form, (r, q) in zip(made, back)])


def error_of(made, right):
    """Root mean square over frames and vertices, from the third frame on."""
    return np.sqrt(((made - right) ** 2).sum(-1).mean())


# ---- the tool ----

class Scene:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        write_obj(folder / "tube.obj", tube(REST), tube_triangles())
        write_obj(folder / "cloth.obj", cloth(REST), strips(CLOTH_RINGS, CLOTH_SIDES))
        self.takes = []
        for take in range(TAKES + 1):
            bars, clothes = ([form(p) for p in poses(take, RATE, FRAMES)] for form in (tube, cloth))
            self.takes.append((np.array(bars), np.array(clothes)))
            write_pc2(folder / f"tube_{take}.pc2", bars)
            write_pc2(folder / f"cloth_{take}.pc2", clothes)

    def run(self, *words):
        done = subprocess.run([self.tool, "drive", *words], cwd=self.folder, stdout=subprocess.PIPE, check=True)
        return done.stdout

    def learn(self, rig, *words):
        pairs = [w for t in range(TAKES) for w in ("--driver", f"tube_{t}.pc2", "--driven", f"cloth_{t}.pc2")]
        return json.loads(self.run("learn", *pairs, "--driver-mesh", "tube.obj", "--driven-mesh", "cloth.obj", "-o",
                                   rig, "--json", "--no-push", *words))

    def apply(self, rig, driver):
        self.run("apply", rig, "--driver", driver, "-o", "out.pc2", "-q")
        return read_pc2(self.folder / "out.pc2").frames.astype(float)


def check(scene, tally):
    unseen = scene.takes[UNSEEN]
    right = unseen[1][2:]
    scene.learn("swing.glb", "--method", "motion", "--forms", "20", "--frames", str(GROUPS))
    scene.learn("keys.glb", "--method", "keys", "--keys", "40", "--frames", str(GROUPS))
    forms = scene.apply("swing.glb", f"tube_{UNSEEN}.pc2")
    ours = error_of(forms[2:], right)
    keys = error_of(scene.apply("keys.glb", f"tube_{UNSEEN}.pc2")[2:], right)
    theirs = error_of(predict(scene.takes[:TAKES], unseen, True), right)
    posed = error_of(predict(scene.takes[:TAKES], unseen, False), right)
    print(f"error on an unseen take: motion {1e3 * ours:.2f} mm, here {1e3 * theirs:.2f} mm, pose alone "
          f"{1e3 * posed:.2f} mm, 40 keys {1e3 * keys:.2f} mm")
    tally.add("motion beside this regression", ours / theirs, 1.2, f"{ours} m, here {theirs} m")
    tally.add("motion beside 40 keys", ours / keys, 0.5, f"{ours} m, keys {keys} m")
    tally.add("motion beside the pose alone", ours / posed, 0.5, f"{ours} m, pose {posed} m")

    # A linear regression uses landmarks only to tell what is familiar, so a few do as well.
    told = scene.learn("few.glb", "--method", "motion", "--forms", "20", "--frames", str(GROUPS), "--landmarks", "5")
    few = error_of(scene.apply("few.glb", f"tube_{UNSEEN}.pc2")[2:], right)
    tally.add("the regression is linear", told["width"], 0, f"its width is {told['width']}")
    tally.add("five landmarks, over the error", few / ours, 1.01, f"{few} m")

    # Every fifth frame at 25 frames a second, every twelfth at 60.
    for rate in (50, 60, 120):
        count = (FRAMES - 1) * rate // RATE + 1
        write_pc2(scene.folder / "quick.pc2", [tube(p) for p in poses(UNSEEN, rate, count)], rate)
        apart = error_of(scene.apply("swing.glb", "quick.pc2")[rate // 5::rate // 5], forms[5::5])
        tally.add("other rates beside 40 keys' error", apart / keys, 0.05, f"{apart} m at {rate} frames a second")

    c, s = np.cos(2.0), np.sin(2.0)
    turn, by = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), np.array([3.0, -1.0, 2.0])
    write_pc2(scene.folder / "moved.pc2", unseen[0] @ turn.T + by)
    moved = scene.apply("swing.glb", "moved.pc2")
    tally.add("a world turned and moved, metres", np.abs(moved - (forms @ turn.T + by)).max(), 1e-4, "the cloth differs")

    first = (scene.folder / "swing.glb").read_bytes()
    scene.learn("again.glb", "--method", "motion", "--forms", "20", "--frames", str(GROUPS), "--threads", "1")
    tally.add("learned twice", float(first != (scene.folder / "again.glb").read_bytes()), 0, "the files differ")


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        check(Scene(str(Path(sys.argv[1]).resolve()), Path(folder)), tally)
    tally.report()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
