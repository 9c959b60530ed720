#!/usr/bin/python3
"""Measures trajectories and in-betweens with independent formulas (warp_reference.py), on bent bars and a kicking body.

  warp_oracle.py TOOL PROBE DATA [--all]   DATA is a folder with body_kick/, which may be missing; --all: every pair of
                                           its frames, else one. One table, one line per group, "N passed, M failed"

In-betweens of the probe are compared with the reference's, which takes only the links between components from the
probe. Trajectories come from the tool's rig, and there the reference takes nothing. They pass if, at every t, the 99th
percentile of stretch is at most twice the rigid in-between's (of 30 plain steps) and a quarter of linear's, the 99.9th
at most three times the rigid one's, no triangle is flipped that is not in the rigid one, and every component's centroid
is within 2 % of the body's size of its place in the rigid in-between.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.dont_write_bytecode = True  # leaves nothing in the source tree

import skips
from warp_reference import Between, moved, rigid_fit
from weigh_oracle import Tally

TIMES = (0.1, 0.3, 0.5, 0.7, 0.9)
PAIRS = [(0, 48)]
NOTHING = 1e-3  # invisible stretch: bars can be bent with almost none
HEAD = """                      linear           rigid            guided           over rigid   linear  flip  centroid
                   t      99    99.9      99    99.9      99    99.9     99  99.9     99         per cent"""
ALL_PAIRS = [(0, 24), (0, 36), (0, 42), (0, 48), (24, 48)]


# ---- forms ----

def read_obj(path):
    vertices, faces = [], []
    for line in Path(path).read_text().split("\n"):
        if line.startswith("v "):
            vertices.append(line.split()[1:4])
        elif line.startswith("f "):
            faces.append([int(word.split("/")[0]) - 1 for word in line.split()[1:]])
    return np.array(vertices, float), np.array(faces)


def write_obj(path, vertices, faces):
    lines = ["v " + " ".join(repr(float(x)) for x in v) for v in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    Path(path).write_text("\n".join(lines) + "\n")


def tube(rings, around, length, radius):
    """A tube along x, closed by a vertex at each end."""
    x = np.repeat(np.linspace(0, length, rings), around)
    angle = np.tile(2 * np.pi * np.arange(around) / around, rings)
    vertices = np.column_stack([x, radius * np.cos(angle), radius * np.sin(angle)])
    vertices = np.concatenate([vertices, [[-radius, 0, 0], [length + radius, 0, 0]]])
    faces = []
    for k in range(around):
        n = (k + 1) % around
        for r in range(rings - 1):
            a, b, c, d = r * around + k, r * around + n, (r + 1) * around + n, (r + 1) * around + k
            faces += [(a, c, b), (a, d, c)]
        faces += [(rings * around, k, n), (rings * around + 1, (rings - 1) * around + n, (rings - 1) * around + k)]
    return vertices, np.array(faces)


def bend(points, length, degrees, twist=0, swell=0):
    """Bends a bar along x to an arc in the plane of x and y, twisted about its own line, thicker towards its end."""
    s = np.clip(points[:, 0] / length, 0, 1)
    over = points[:, 0] - s * length
    angle, turn = np.radians(degrees) * s, np.radians(twist) * s
    y, z = points[:, 1] * (1 + swell * s), points[:, 2] * (1 + swell * s)
    y, z = y * np.cos(turn) - z * np.sin(turn), y * np.sin(turn) + z * np.cos(turn)
    radius = length / np.radians(degrees)
    along, out = np.sin(angle), np.cos(angle)
    return np.column_stack([(radius - y) * along + over * out, radius - (radius - y) * out + over * along, z])


def bars():
    """Name, start, end, triangles: bars bent a little and far, swollen, and turned as a whole; one with two rings
    around it that touch nothing."""
    length = 8
    vertices, faces = tube(40, 12, length, 0.5)
    far = Rotation.from_rotvec([0.4, 1.1, -0.3])
    yield "bar 90", vertices, bend(vertices, length, 90), faces
    yield "bar 160", vertices, far.apply(bend(vertices, length, 160, 50, 0.3)) + [3, -2, 9], faces
    ring, ring_faces = tube(3, 12, 0.3, 0.7)
    parts = [vertices, ring + [1.5, 0, 0], ring + [6.5, 0, 0]]
    vertices = np.concatenate(parts)
    faces = np.concatenate([faces, ring_faces + len(parts[0]), ring_faces + len(parts[0]) + len(ring)])
    yield "bar with rings", vertices, far.apply(bend(vertices, length, 120)) + [0, 5, 0], faces


# ---- in-betweens ----

def ask(probe, method, times, start, end, faces):
    """Links, and for each time (form, percentiles, flipped)."""
    given = np.array([len(start), len(faces)], np.int32).tobytes() + faces.astype(np.int32).tobytes()
    given += start.astype(float).tobytes() + end.astype(float).tobytes()
    run = subprocess.run([probe, method, *(repr(t) for t in times)], input=given, capture_output=True)
    if run.returncode != 0:
        sys.exit(run.stderr.decode().strip())
    count = int(np.frombuffer(run.stdout, np.int32, 1)[0])
    links = np.frombuffer(run.stdout, np.int32, 2 * count, 4).reshape(-1, 2).astype(int)
    rest = np.frombuffer(run.stdout[4 + 8 * count:], float)
    rows = rest[count:].reshape(len(times), -1)
    return (links, rest[:count]), [(row[:-5].reshape(-1, 3), row[-5:-1], int(row[-1])) for row in rows]


def check_between(tally, probe, name, start, end, faces):
    """The program's forms match the reference's after alignment, and so do its measurements."""
    links, linear = ask(probe, "linear", TIMES, start, end, faces)
    reference = Between(start, end, faces, links)
    inverse = Rotation.from_matrix(reference.alignment[0]).inv()
    for t, (form, percentiles, flipped) in zip(TIMES, linear):
        own = reference.linear(t)
        motion = rigid_fit(form, own, reference.weights)
        turn = Rotation.from_matrix(motion[0]).as_rotvec() - t * inverse.as_rotvec()
        tally.add("alignment is a screw", np.abs(turn).max(), 1e-7, f"{name} at {t}")
        compare_forms(tally, "linear", name, t, reference, form, own, 1e-9)
        compare_stretch(tally, "linear", name, t, reference, own, percentiles, flipped)
    half = rigid_fit(ask(probe, "linear", [0.5], start, end, faces)[1][0][0], reference.linear(0.5), reference.weights)
    whole = moved(moved(reference.end, half), half)
    tally.add("half the screw twice is the alignment", np.abs(whole - end).max() / reference.size, 1e-9, name)
    for method, limit in (("poisson", 1e-8), ("rigid", 2e-2)):
        # The program's rigid form takes longer steps than plain ones, and is kept from folding.
        _, answers = ask(probe, method, (0.3, 0.7), start, end, faces)
        for t, (form, percentiles, flipped) in zip((0.3, 0.7), answers):
            own = reference.poisson(t) if method == "poisson" else reference.rigid(t)
            compare_forms(tally, method, name, t, reference, form, own, limit)
            back = moved(form, rigid_fit(own, form, reference.weights))
            if method == "rigid":
                ratio = percentiles[2] / max(reference.percentiles(own, t)[2], NOTHING)
                tally.add("rigid: no more stretched than after plain steps", ratio, 1.05, f"{name} at {t}")
            compare_stretch(tally, method, name, t, reference, back, percentiles, flipped)


def compare_forms(tally, method, name, t, reference, form, own, limit):
    placed = moved(own, rigid_fit(form, own, reference.weights))
    error = np.abs(placed - form).max() / reference.size
    tally.add(f"{method} in-between", error, limit, f"{name} at {t}: {error:.1e} of the size")


def compare_stretch(tally, method, name, t, reference, form, percentiles, flipped):
    error = np.abs(reference.percentiles(form, t) - percentiles).max()
    tally.add(f"{method}: percentiles of stretch", error, 1e-9, f"{name} at {t}")
    tally.add(f"{method}: flipped triangles", abs(int(reference.flipped(form, t).sum()) - flipped), 0, f"{name} at {t}")


# ---- trajectories ----

class Tool:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *words):
        run = subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"exemplar {' '.join(map(str, words[:3]))} ended with {run.returncode}: {run.stderr.strip()}")

    def forms(self, start, end):
        """The forms of a rig between two files at 0, the times, and 1."""
        self.run("warp", start, end, "-o", "rig.glb")
        times = (0, *TIMES, 1)
        (self.folder / "times.csv").write_text("t\n" + "".join(f"{t!r}\n" for t in times))
        self.run("pose", "rig.glb", "--poses", "times.csv", "-o", "forms", "--force")
        return {t: read_obj(self.folder / f"forms/pose_{i:05d}.obj")[0] for i, t in enumerate(times, 1)}


def check_trajectory(tally, tool, name, start_file, end_file):
    start, faces = read_obj(start_file)
    end, _ = read_obj(end_file)
    forms = tool.forms(start_file, end_file)
    reference = Between(start, end, faces)
    for t, form in ((0, start), (1, end)):
        tally.add("trajectories reach their ends", np.abs(forms[t] - form).max() / reference.size, 1e-6, f"{name} {t}")
    for t in TIMES:
        rigid = reference.rigid(t)
        form = moved(forms[t], rigid_fit(rigid, forms[t], reference.weights))
        ours, best, linear = (reference.percentiles(x, t) for x in (form, rigid, reference.linear(t)))
        flipped = int((reference.flipped(form, t) & ~reference.flipped(rigid, t)).sum())
        away = np.linalg.norm(reference.centroids(form) - reference.centroids(rigid), axis=1).max() / reference.size
        print(f"{name:16s} {t:3.1f}  {linear[2]:7.4f} {linear[3]:7.4f}  {best[2]:7.4f} {best[3]:7.4f}  "
              f"{ours[2]:7.4f} {ours[3]:7.4f}  {ours[2] / best[2]:5.2f} {ours[3] / best[3]:5.2f} "
              f"{ours[2] / linear[2]:6.3f}  {flipped:4d}  {100 * away:6.3f}", flush=True)
        where = f"{name} at {t}"
        tally.add("99th percentile over the rigid one's", ours[2] / max(best[2], NOTHING), 2, where)
        tally.add("99th percentile over linear's", ours[2] / linear[2], 0.25, where)
        tally.add("99.9th percentile over the rigid one's", ours[3] / max(best[3], NOTHING), 3, where)
        tally.add("triangles flipped", flipped, 0, where)
        tally.add("centroids, parts of the size", away, 0.02, where)


def main():
    words = [word for word in sys.argv[1:] if word != "--all"]
    if len(words) != 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL PROBE DATA [--all]")
    tool, probe, data = Path(words[0]).resolve(), Path(words[1]).resolve(), skips.data_folder(words[2])
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="exemplar-warp-") as folder:
        folder = Path(folder)
        print(HEAD)
        for name, start, end, faces in bars():
            check_between(tally, probe, name, start, end, faces)
            write_obj(folder / "start.obj", start, faces)
            write_obj(folder / "end.obj", end, faces)
            check_trajectory(tally, Tool(tool, folder), name, folder / "start.obj", folder / "end.obj")
        if skips.has_data(data, "body_kick"):
            for a, b in ALL_PAIRS if "--all" in sys.argv else PAIRS:
                check_trajectory(tally, Tool(tool, folder), f"body {a} to {b}", data / f"body_kick/shell{a}.obj",
                                 data / f"body_kick/shell{b}.obj")
    tally.report()
    skips.finish(tally.failed)


if __name__ == "__main__":
    main()
