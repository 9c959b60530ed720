#!/usr/bin/python3
"""Principal forms of gathered references, and their merge, checked in numpy.

  gather_oracle.py TOOL   one line per group, then "N passed, M failed"

Takes of a bar and its sleeve are gathered: short ones, whose un-posed forms the file keeps, and long ones, which it
reduces. The files are read here by their description alone (docs/reference/gathered.md). Of a reduced take, the rows
must be orthonormal; mean, coefficients and what is left must give back the forms that a short take of the same frames
keeps; and the rows must leave hardly more than the best rows, by numpy's singular values. Then the error that 'drive
learn' prints for what its forms cannot hold must be that of the best forms for all frames of all takes, by singular
values of the forms in the files. And the frames that are kept for keys must hold those that are farthest from each
other, by distances of all frames.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True  # leaves nothing in the source tree

from drive_oracle import bar, bar_triangles, sleeve, strips, write_obj, write_pc2, SLEEVE_RINGS, SLEEVE_SIDES
from weigh_oracle import Tally

LONG, SHORT, FORMS = 640, 500, 6


class Reader:
    """A gathered file: numbers in their order, padded to eight bytes."""

    def __init__(self, path):
        self.data, self.at = Path(path).read_bytes(), 0

    def take(self, count, kind):
        size = count * np.dtype(kind).itemsize
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += (size + 7) // 8 * 8
        return found

    def int(self):
        return int(self.take(1, "<i8")[0])

    def number(self):
        return float(self.take(1, "<f8")[0])

    def text(self):
        size = self.int()
        return None if size < 0 else bytes(self.take(size, "u1")).decode()

    def array(self, kind, width=1):
        count = self.int()
        return None if count < 0 else self.take(count * width, kind)

    def texts(self):
        return [self.text() for _ in range(self.int())]

    def mesh(self):
        positions = self.array("<f8", 3).reshape(-1, 3)
        self.array("<f4", 3), self.array("<f8", 2), self.array("<f8", 3)
        self.int()
        for _ in range(4):
            self.array("<i4")
        self.texts(), self.array("<i4"), self.texts(), self.array("<i4"), self.text()
        for _ in range(self.int()):
            self.text(), self.array("<i4"), self.array("<f8"), self.texts()
        return positions


def read_gathered(path):
    r = Reader(path)
    made = {"magic": bytes(r.take(8, "u1")), "version": int(r.take(2, "<u4")[0]), "method": r.int()}
    made["paths"] = r.text(), r.text()
    made["sizes"] = r.int(), r.int()
    made["frames"], made["first"], count = r.int(), r.int(), r.int()
    r.number(), r.number(), r.text(), r.number(), r.number()
    driver, driven = r.mesh(), r.mesh()
    r.int(), r.text(), r.int(), r.array("<f4")
    if made["method"] == 0:
        kept = r.int()
        made["kept"], made["spread"] = r.take(kept, "<i4"), r.take(kept, "u1")
        numbers = 3 * (len(driver) + len(driven))
        made["forms"] = r.take(kept * (numbers + numbers % 2), "<f4").reshape(kept, -1)[:, :3 * len(driver)]
    else:
        r.int(), r.number(), r.int()
        if r.int():
            raise ValueError("binds are not read here")
        moving, stride, kept, _, rows = (r.int() for _ in range(5))
        made["times"] = r.take(count, "<f8")
        made["matrices"] = r.take(12 * moving * count, "<f4").reshape(count, moving, 3, 4)
        made["part_sizes"] = r.take(moving * count, "<f4")
        numbers = 3 * len(driven)
        if rows == 0:
            made["forms"] = r.take(kept * numbers, "<f4").reshape(kept, numbers).astype(float)
            made["left"] = np.zeros(kept)
        else:
            made["mean"] = r.take(numbers, "<f4").astype(float)
            made["basis"] = r.take(rows * numbers, "<f4").reshape(rows, numbers).astype(float)
            made["coefficients"] = r.take(kept * rows, "<f8").reshape(kept, rows)
            made["left"] = r.take(kept, "<f8")
            made["forms"] = made["mean"] + made["coefficients"] @ made["basis"]
    made["rest"] = len(r.data) - r.at
    return made


class Scene:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        write_obj(folder / "bar.obj", bar((0.0, 0.0)), bar_triangles())
        write_obj(folder / "sleeve.obj", sleeve((0.0, 0.0)), strips(SLEEVE_RINGS, SLEEVE_SIDES))
        noise = np.random.default_rng(5)
        for name, seed in (("a", 0.0), ("b", 1.3), ("c", 2.9)):
            t = np.arange(LONG) / 24
            bends = 0.9 + 0.6 * np.sin(2.1 * t + seed) + 0.3 * np.sin(0.37 * t * t ** 0.3 + 2 * seed)
            twists = 0.5 * np.sin(1.3 * t + seed) + 0.1 * np.cos(5.3 * t)
            poses = list(zip(bends, twists))
            ripples = 0.006 * np.sin(np.outer(t, 1 + np.arange(9)) + seed)  # more forms than are learned
            forms = [sleeve(p) for p in poses]
            waves = [np.sin((k + 2) * np.arange(len(forms[0])) * 0.11) for k in range(9)]
            for f, form in enumerate(forms):
                form[:, 2] += sum(ripples[f, k] * waves[k] / (1 + k) for k in range(9))
                form += noise.normal(0, 2e-4, form.shape)  # so that something is left
                form[:, 1] += 0.004 * np.cos(3 * seed) * np.cos(0.23 * np.arange(len(form)))  # a mean of each take
            write_pc2(folder / f"bar_{name}.pc2", np.array([bar(p) for p in poses]))
            write_pc2(folder / f"sleeve_{name}.pc2", np.array(forms))

    def run(self, *words):
        done = subprocess.run([self.tool, "drive", *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def gather(self, name, out, *words):
        self.run("gather", "--driver", f"bar_{name}.pc2", "--driven", f"sleeve_{name}.pc2", "--driver-mesh", "bar.obj",
                 "--driven-mesh", "sleeve.obj", "-o", out, "-q", *words)
        return read_gathered(self.folder / out)


def check_reduced(scene, tally):
    words = ["--method", "motion", "--frames", "6", "--forms", str(FORMS), "--fps", "24"]
    whole, part = scene.gather("a", "a.gathered", *words), scene.gather("a", "part.gathered", *words, "--range",
                                                                        f"1:{SHORT}")
    tally.add("all bytes are described", abs(whole["rest"] - 16) + abs(part["rest"] - 16), 0, "some are not")
    b = whole["basis"]
    tally.add("rows are as many as promised", abs(len(b) - (2 * FORMS + 16)), 0, f"{len(b)}")
    tally.add("rows are orthonormal", np.abs(b @ b.T - np.eye(len(b))).max(), 1e-5, "they are not")
    right = part["forms"]
    errors = ((whole["forms"][:SHORT] - right) ** 2).sum(1)
    left = whole["left"][:SHORT]
    tally.add("what is left is what is missing", np.abs(errors - left).max(), 1e-3 * left.max(), "it is not")
    tally.add("moving frames of a part are those of the whole",
              np.abs(whole["matrices"][:SHORT] - part["matrices"]).max(), 0, "they differ")
    tally.add("the mean is that of all frames", np.abs(whole["coefficients"].mean(0)).max(), 1e-5, "it is not")
    # the best rows for the frames that are known exactly
    s = np.linalg.svd(right - right.mean(0), compute_uv=False)
    best = (s[len(b):] ** 2).sum()
    centred = right - right.mean(0)
    ours = (centred ** 2).sum() - ((centred @ b.T) ** 2).sum()
    tally.add("rows leave hardly more than the best", max(0.0, ours - best) / (s ** 2).sum(), 1e-4, "more")
    return words


def check_merged(scene, tally, words):
    for name, ranges in (("three long takes", [None] * 3), ("long and short ones", [None, SHORT, 90]),
                         ("short ones", [SHORT, SHORT, 90])):
        files = []
        for take, last in zip("abc", ranges):
            files.append(scene.gather(take, f"{take}.gathered", *words, *(["--range", f"1:{last}"] if last else [])))
        learned = json.loads(scene.run("learn", "--gathered", "a.gathered", "--gathered", "b.gathered", "--gathered",
                                       "c.gathered", "--forms", str(FORMS), "--up", "y", "-o", "m.glb", "--json"))
        used = np.vstack([f["forms"][2:] for f in files])  # the first two frames have no past
        left = sum(f["left"][2:].sum() for f in files)
        s = np.linalg.svd(used - used.mean(0), compute_uv=False)
        right = np.sqrt(((s[FORMS:] ** 2).sum() + left) / (len(used) * used.shape[1] / 3))
        tally.add(f"{name}: frames learned from", abs(learned["learned"] - len(used)), 0, f"{learned['learned']}")
        tally.add(f"{name}: forms hold as much as the best", abs(learned["form_error"] - right) / right, 2e-3,
                  f"{learned['form_error']} m, not {right} m")


def align(form, mesh, weights):
    """The form in the moving frame of the whole: its best rigid motion to the mesh."""
    a, b = weights @ form, weights @ mesh
    u, _, v = np.linalg.svd(((form - a) * weights[:, None]).T @ (mesh - b))
    turn = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
    return (form - a) @ turn + b


def check_keys(scene, tally):
    mesh, triangles = bar((0.0, 0.0)), bar_triangles()
    areas = np.linalg.norm(np.cross(mesh[triangles[:, 1]] - mesh[triangles[:, 0]],
                                    mesh[triangles[:, 2]] - mesh[triangles[:, 0]]), axis=1)
    weights = np.bincount(triangles.ravel(), np.repeat(areas, 3))
    weights /= weights.sum()
    kept = scene.gather("b", "k.gathered")
    tally.add("keys: all bytes are described", abs(kept["rest"] - 16), 0, "some are not")
    spread = {(2 * i + 1) * LONG // 1024 for i in range(512)}
    tally.add("keys: evenly spread frames", len(spread ^ set(kept["kept"][kept["spread"] == 1].tolist())), 0, "others")
    frames = np.frombuffer((scene.folder / "bar_b.pc2").read_bytes(), "<f4", offset=32).reshape(LONG, -1, 3).astype(float)
    tally.add("keys: forms are those of the cache",
              np.abs(kept["forms"] - frames[kept["kept"]].reshape(len(kept["kept"]), -1)).max(), 0, "they differ")
    homes = np.array([align(form, mesh, weights) for form in frames])
    apart = lambda k: np.sqrt((((homes - k) ** 2).sum(2) * weights).sum(1))
    nearest, missing = apart(mesh), 0
    chosen = int(nearest.argmin())
    for k in range(24):
        here = apart(homes[chosen])
        nearest = here if k == 0 else np.minimum(nearest, here)
        alike = np.abs(nearest[kept["kept"]] - nearest.max()).min()
        missing = max(missing, alike / nearest.max())
        chosen = int(nearest.argmax())
    tally.add("keys: the farthest frames are kept", missing, 1e-4, "some are missing")


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} TOOL")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(str(Path(sys.argv[1]).resolve()), Path(folder))
        words = check_reduced(scene, tally)
        check_merged(scene, tally, words)
        check_keys(scene, tally)
    tally.report()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
