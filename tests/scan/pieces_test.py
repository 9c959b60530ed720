#!/usr/bin/python3
"""A session with a template person in pieces: steps of 'scan carry' as processes of their own, in any order, at the same
time, in private folders of links. Joined, the files are those of one process, and so are the notes.

  pieces_test.py EXEMPLAR ROOT
"""
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import template  # noqa: E402

TOOL = Path(sys.argv[1]).resolve()
FIGURE = ["figure_1=0.8", "figure_2=-0.7", "figure_3=0.5"]
# More than the eight scans from which the figure is found.
POSES = {"stand": ["joint:shoulder.L=z-60", "joint:shoulder.R=z60"]}
for number in range(8):
    POSES[f"pose_{number}"] = [f"joint:shoulder.L=z{-60 + 6 * number}", f"joint:shoulder.R=z{60 - 4 * number}",
                               f"joint:elbow.L=y{-10 * number}", f"joint:hip.R=x{-4 * number}",
                               f"joint:knee.R=x{5 * number}", f"joint:waist=x{2 * number}"]
POSES["next"] = [*POSES["pose_7"][:-1], "joint:waist=x19"]
POSES["held"] = ["joint:shoulder.L=z-45", "joint:shoulder.R=z30", "joint:elbow.R=y30", "joint:hip.L=x-20"]
ORDER = ["pose_0", "pose_1", "stand", "held", "box", *[f"pose_{i}" for i in range(2, 8)], "next"]
MADE = ["registered", "carried", "look", "template", "fit.json"]


def run(*words, fails=False):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"exemplar {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return "".join(line for line in done.stderr.splitlines(True) if "% done" not in line)


def check(good, text):
    if not good:
        sys.exit(f"wrong: {text}")


def read_obj(path):
    return np.array([line.split()[1:4] for line in open(path) if line.startswith("v ")], float)


def make_session(folder, made):
    forms = {}
    for name, turns in POSES.items():
        run("pose", template.FILE, *FIGURE, *turns, "-o", made / f"{name}.obj")
        forms[name] = read_obj(made / f"{name}.obj")
    run("pose", template.FILE, "-o", made / "rest.obj")
    marks = template.landmarks(read_obj(made / "rest.obj"))
    # Points that the reference does not show: the first scan that does gives them a place.
    extra = {"mole": 3000, "scar": 5000}
    (folder / "landmarks").mkdir(parents=True)
    for name in ORDER:
        form = forms.get(name, forms["stand"])
        if name == "box":
            corners = "\n".join(f"v {x} {y} {z}" for x in (0, 0.4) for y in (0, 0.4) for z in (0, 0.4))
            (folder / "box.obj").write_text(
                corners + "\nf 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
        else:
            shutil.copy(made / f"{name}.obj", folder)
        if name == "next":
            continue
        shown = dict(marks, **{mark: vertex for mark, vertex in extra.items()
                               if name in ("pose_3", "pose_6") or (name == "pose_5" and mark == "scar")})
        off = np.zeros(3)
        if name == "pose_2":  # clicked in the wrong place: it gives the mole none, though a later scan does
            shown["mole"], off = extra["mole"], np.array([0, 0, 0.1])
        form = {vertex: form[vertex] + (off if mark == "mole" else 0) for mark, vertex in shown.items()}
        rows = [f"{mark},{form[vertex][0]:.5f},{form[vertex][1]:.5f},{form[vertex][2]:.5f}"
                for mark, vertex in shown.items()]
        (folder / f"landmarks/{name}.csv").write_text("marker,x,y,z\n" + "\n".join(rows) + "\n")
    scans = [{"name": name, "files": [f"{name}.obj"]} for name in ORDER]
    scans[ORDER.index("held")]["held"] = True
    scans[ORDER.index("next")]["follows"] = True
    (folder / "scan.json").write_text(json.dumps(
        {"exemplar_scan": 1, "skeleton": "full", "reference": "stand", "scans": scans}))


def files(folder, *left_out):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.relative_to(folder).parts[0] not in left_out}


def private(folder, place):
    """A folder of links, with folders of its own for what is made."""
    for path in folder.iterdir():
        if path.name not in MADE:
            (place / path.name).symlink_to(path)
    for name in ("registered", "carried", "look"):
        (place / name).mkdir()
        for path in (folder / name).iterdir() if (folder / name).is_dir() else ():
            (place / name / path.name).symlink_to(path)


def pieces(folder, scratch, *step):
    """The step for every scan, in a private folder each; what is new comes back, with a wrong time."""
    names = [name for name in ORDER if name != "stand"]
    random.Random(3).shuffle(names)

    def one(name):
        place = Path(tempfile.mkdtemp(dir=scratch))
        private(folder, place)
        told = run("scan", "carry", place, "--scan", name, *step)
        return place, told
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(one, names))
    for place, _ in done:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                to = folder / path.relative_to(place)
                to.parent.mkdir(exist_ok=True)
                if to.exists():
                    check(to.read_bytes() == path.read_bytes(), f"{to.name} differs from what another process made")
                shutil.copy(path, to)
                os.utime(to, (1e9, 1e9))
    return {name: told for name, (_, told) in zip(names, done)}


def main(made):
    whole, folder, scratch = made / "whole", made / "pieces", made / "scratch"
    scratch.mkdir()
    make_session(whole, made)
    shutil.copytree(whole, folder)
    told = run("scan", "carry", whole)
    check("scan 'box' is left out" in told, f"a box is a person:\n{told}")

    run("scan", "carry", folder, "--reference-only")
    said = pieces(folder, scratch, "--screen")
    check("scan 'box' is left out" in said["box"] and said["pose_0"] == "", f"notes: {said}")
    check(len(list((folder / "carried").glob("*.screened.bin"))) == len(ORDER) - 1, "screened scans")
    run("scan", "carry", folder, "--figure-only")
    check((folder / "registered/stand.ply").exists() and not (folder / "registered/pose_0.ply").exists(),
          "the figure alone")
    check((folder / "registered/pose_3.ply").exists(), "the first scan with a mole")
    check(not (folder / "registered/pose_6.ply").exists(), "a later one")
    pieces(folder, scratch)
    check(not (folder / "fit.json").exists(), "a piece wrote the fit")
    before = {path: path.stat().st_mtime_ns for path in (folder / "registered").iterdir()}
    again = run("scan", "carry", folder)
    check(again.replace(str(folder), str(whole)) == told, f"notes:\n{again}\ninstead of\n{told}")
    check({path: path.stat().st_mtime_ns for path in (folder / "registered").iterdir()} == before, "done again")
    one, other = files(folder, "carried"), files(whole)
    check(sorted(one) == sorted(other), f"files {sorted(set(one) ^ set(other))}")
    for name, data in other.items():
        check(one[name] == data, f"{name} differs")

    # A scan does not see the places that later ones gave.
    before = (folder / "registered/pose_2.ply").read_bytes()
    run("scan", "carry", folder, "--scan", "pose_2", "--force")
    check((folder / "registered/pose_2.ply").read_bytes() == before, "pose_2 alone, done again")
    # A record of another scan does not count.
    record = folder / "carried/pose_0.screened.bin"
    kept = record.read_bytes()
    run("scan", "carry", folder, "--scan", "pose_0", "--screen")
    check(record.stat().st_mtime == 1e9 and record.read_bytes() == kept, "screened again")
    shutil.copy(made / "pose_1.obj", folder / "pose_0.obj")
    run("scan", "carry", folder, "--scan", "pose_0", "--screen")
    check(record.read_bytes() != kept, "the record of another scan")
    print("a template person in pieces: fine")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
