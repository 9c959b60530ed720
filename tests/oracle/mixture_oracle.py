#!/usr/bin/python3
"""Measures mixtures of many poses with independent formulas (warp_reference.py): bars bent far, a kicking body, people.

  mixture_oracle.py TOOL DATA [--all] [--steps N]   DATA is a folder with body_kick/ and makehuman/, which may be missing;
                                                    --all: 200 random weights of 3, 5 and 8 poses of all of them, in
                                                    hours; N: plain steps of the rigid forms, 30 by default

Rigs come from `exemplar warp`, their forms from `exemplar pose`; the reference takes nothing from the program. A mixture
passes if the 99th percentile of its stretch is at most twice the rigid form's and a third of linear's. Of all mixtures
of some poses together, no more triangles are flipped than in the rigid forms. Poses are exact, and slopes along lines
through the weights go on beyond corners, and beyond a sum of 1.
"""
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.dont_write_bytecode = True  # leaves nothing in the source tree

import skips
from warp_oracle import NOTHING, Tool, bend, read_obj, tube, write_obj
from warp_reference import Mixtures, moved, rigid_fit
from weigh_oracle import Tally

FRAMES = (0, 24, 36, 42, 48)
PEOPLE = ("stand", "kick", "squat", "reach_up", "twist", "arms_forward", "bend_over", "step_left", "arms_out",
          "elbows_bent", "lean_side", "step_right")
FEW = 3  # mixtures of a body if not all are asked for


# ---- poses ----

def bars(folder):
    """A bar, and bends by 150 to 175 degrees in different directions, wound about themselves."""
    vertices, faces = tube(40, 12, 8, 0.5)
    write_obj(folder / "bar0.obj", vertices, faces)
    for i, (degrees, about, wound) in enumerate(((160, 0, 0), (170, 120, 60), (150, 240, -90), (175, 60, 120)), 1):
        turn = Rotation.from_rotvec([np.radians(about), 0, 0])
        write_obj(folder / f"bar{i}.obj", turn.apply(bend(vertices, 8, degrees, wound)), faces)
    return [folder / f"bar{i}.obj" for i in range(5)]


def people(folder, data):
    script = Path(__file__).resolve().parent.parent / "scan/subject.py"
    subprocess.run([sys.executable, "-B", script, data / "makehuman", folder, "--poses", str(len(PEOPLE))], check=True,
                   capture_output=True)
    for name in PEOPLE:  # cut here, since the program would choose other diagonals of quads than the reference
        vertices, faces = read_obj(folder / f"{name}.obj")
        write_obj(folder / f"{name}.obj", vertices, triangles_of(faces))
    return [folder / f"{name}.obj" for name in PEOPLE]


def creature(folder, program):
    Tool(program, folder).run("demo", "creature", "-o", "creature", "--force")
    return [folder / f"creature/{name}.obj" for name in ("stand", "sit", "curl", "leap", "kick")]


def triangles_of(faces):
    return np.concatenate([faces[:, [0, i, i + 1]] for i in range(1, faces.shape[1] - 1)])


# ---- weights ----

def random_shares(generator, poses, size):
    """Uniform on the simplex of `size` of the poses."""
    shares = np.zeros(poses)
    shares[generator.choice(poses, size, replace=False)] = generator.dirichlet(np.ones(size))
    return shares


def equal_shares(poses, chosen):
    shares = np.zeros(poses)
    shares[list(chosen)] = 1 / len(chosen)
    return shares


# ---- checks ----

class Rig:
    """The tool's rig of some poses; the first is the reference."""

    def __init__(self, tool, files):
        self.tool, self.names = tool, [Path(file).stem for file in files[1:]]
        tool.run("warp", *files, "-o", "rig.glb")

    def forms(self, rows):
        """Forms at rows of weights of the examples."""
        head = ",".join(self.names) if len(self.names) > 1 else "t"
        text = "\n".join(",".join(repr(float(x)) for x in row) for row in rows)
        (self.tool.folder / "weights.csv").write_text(f"{head}\n{text}\n")
        self.tool.run("pose", "rig.glb", "--poses", "weights.csv", "-o", "forms", "--force")
        return [read_obj(self.tool.folder / f"forms/pose_{i:05d}.obj")[0] for i in range(1, len(rows) + 1)]


def check_stretch(tally, name, rig, reference, rows, steps):
    ratios, folds, rigid_folds = [], 0, 0
    for shares, form in zip(rows, rig.forms([row[1:] for row in rows])):
        reference.set(shares[1:])
        rigid = reference.rigid(1, steps)
        form = moved(form, rigid_fit(rigid, form, reference.weights))
        ours, best, linear = (reference.percentiles(x, 1)[2] for x in (form, rigid, reference.linear(1)))
        words = f"{name} at {' '.join(f'{x:.2f}' for x in shares)}: {ours:.4f}, rigid {best:.4f}, linear {linear:.4f}"
        ratios.append(max(ours, NOTHING) / max(best, NOTHING))
        folds += int(reference.flipped(form, 1).sum())
        rigid_folds += int(reference.flipped(rigid, 1).sum())
        tally.add("99th percentile over the rigid one's", ratios[-1], 2, words)
        tally.add("99th percentile over linear's", max(ours, NOTHING) / max(linear, NOTHING), 1 / 3, words)
    print(f"{name:24s} {len(rows):4d} mixtures: median {np.median(ratios):.2f}, worst {max(ratios):.2f}; "
          f"{folds} folds, rigid {rigid_folds}", flush=True)
    tally.add("folds beyond the rigid one's", folds - rigid_folds, 0, name)


def check_smooth(tally, name, rig, poses, size, generator):
    """Slopes on both sides of corners, and of a sum of 1, differ by as much as the step is long."""
    count = len(poses) - 1
    away = np.concatenate([np.zeros((1, count)), np.eye(count)])
    for place in (*away[:3], np.full(count, 1 / count)):
        line = generator.normal(size=count)
        line /= np.abs(line).sum()
        kinks = []
        for step in (0.04, 0.004):
            before, here, after = rig.forms([place + step * k * line for k in (-1, 0, 1)])
            kinks.append(np.abs(after - 2 * here + before).max() / step / size)
        tally.add("kinks", kinks[1], 0.3 * kinks[0] + 2e-3, f"{name} at {place}: {kinks[0]:.4f}, then {kinks[1]:.4f}")


def check_poses(tally, name, tool, files, rows, steps, generator):
    start, faces = read_obj(files[0])
    ends = [read_obj(file)[0] for file in files[1:]]
    rig = Rig(tool, files)
    reference = Mixtures(start, ends, triangles_of(faces))
    corners = np.concatenate([np.zeros((1, len(ends))), np.eye(len(ends))])
    for pose, form in zip([start, *ends], rig.forms(corners)):
        tally.add("poses are exact", np.abs(form - pose).max() / reference.size, 1e-6, name)
    check_stretch(tally, name, rig, reference, rows, steps)
    check_smooth(tally, name, rig, [start, *ends], reference.size, generator)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    everything = "--all" in sys.argv
    steps = int(words.pop()) if "--steps" in sys.argv else 30
    if len(words) != 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL DATA [--all] [--steps N]")
    program, data = Path(words[0]).resolve(), skips.data_folder(words[1])
    tally, generator = Tally(), np.random.default_rng(25)
    with tempfile.TemporaryDirectory(prefix="exemplar-mixture-") as folder:
        folder = Path(folder)
        sets = [("bars", bars(folder), (3, 5))]
        if skips.has_data(data, "body_kick"):
            sets.append(("body_kick", [data / f"body_kick/shell{k}.obj" for k in FRAMES], (3, 5)))
        if everything:
            sets.append(("creature", creature(folder, program), (3, 5)))
        if everything and skips.has_data(data, "makehuman"):
            files = people(folder / "people", data)
            sets += [("people", files[:5], (3, 5)), ("eight people", files[:8], (3, 5, 8)),
                     ("twelve people", files, (3, 5, 8))]
        for name, files, sizes in sets:
            few = 12 if name == "bars" else FEW
            rows = [equal_shares(len(files), range(len(files)))]
            rows += [equal_shares(len(files), three) for three in itertools.islice(
                itertools.combinations(range(len(files)), 3), 220 if everything else few // 3)]
            for size in sizes:
                rows += [random_shares(generator, len(files), size) for _ in range(200 if everything else few // 3)]
            check_poses(tally, name, Tool(program, folder), files, rows, steps, generator)
    tally.report()
    skips.finish(tally.failed)


if __name__ == "__main__":
    main()
