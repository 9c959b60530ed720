#!/usr/bin/python3
"""A session with a template person, from scans of people made from that template: from landmarks to a rig.

  person_test.py EXEMPLAR ROOT

Checks the registered scans and the rig against the forms that were scanned, scans that do not fit, and messages.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import template  # noqa: E402

TOOL, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
HUMAN = template.FILE
FIGURE = ["figure_1=0.8", "figure_2=-0.7", "figure_3=0.5"]
POSES = {"stand": ["joint:shoulder.L=z-60", "joint:shoulder.R=z60"],
         "step": ["joint:shoulder.L=z-50", "joint:shoulder.R=z40", "joint:hip.L=x-35", "joint:knee.L=x30",
                  "joint:hip.R=x15", "joint:chest=y12"],
         "bent": ["joint:shoulder.L=z-20", "joint:elbow.L=y-80", "joint:shoulder.R=z70", "joint:elbow.R=y30",
                  "joint:waist=x20", "joint:head=y20"],
         "seen_never": ["joint:shoulder.L=z-40", "joint:elbow.L=y-40", "joint:shoulder.R=z55", "joint:hip.L=x-18",
                        "joint:knee.L=x15", "joint:waist=x10"]}


def run(*words, fails=False):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"exemplar {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def read_obj(path):
    return np.array([line.split()[1:4] for line in open(path) if line.startswith("v ")], float)


def read_ply(path):
    """Positions, and the red of the colours as a share."""
    data = Path(path).read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    kinds, count, element = [], 0, None
    sizes = {"float": "<f4", "double": "<f8", "uchar": "u1"}
    for line in data[:start].decode().splitlines():
        words = line.split()
        if words[0] == "element":
            element, count = words[1], int(words[2]) if words[1] == "vertex" else count
        elif words[0] == "property" and element == "vertex":
            kinds.append((words[2], sizes[words[1]]))
    rows = np.frombuffer(data, np.dtype(kinds), count, start)
    red = rows["red"].astype(float)
    return np.stack([rows[c].astype(float) for c in "xyz"], axis=1), red / (255 if rows["red"].dtype == np.uint8 else 1)


def check(good, text):
    if not good:
        sys.exit(f"wrong: {text}")


def rms(a, b):
    return float(np.sqrt(((a - b) ** 2).sum(axis=1).mean()))


def write_session(folder, forms, marks, scans, reference="stand"):
    (folder / "landmarks").mkdir(parents=True)
    for name in scans:
        rows = [f"{mark},{forms[name][vertex][0]:.5f},{forms[name][vertex][1]:.5f},{forms[name][vertex][2]:.5f}"
                for mark, vertex in marks.items()]
        (folder / f"landmarks/{name}.csv").write_text("marker,x,y,z\n" + "\n".join(rows) + "\n")
    session = {"exemplar_scan": 1, "skeleton": "full", "reference": reference,
               "scans": [{"name": name, "files": [f"{name}.obj"]} for name in scans]}
    (folder / "scan.json").write_text(json.dumps(session))


def main(folder):
    forms = {}
    for name, turns in POSES.items():
        run("pose", HUMAN, *FIGURE, *turns, "-o", folder / f"{name}.obj")
        forms[name] = read_obj(folder / f"{name}.obj")
    run("pose", HUMAN, "-o", folder / "rest.obj")
    marks = template.landmarks(read_obj(folder / "rest.obj"))
    check(len(marks) >= 18, f"{len(marks)} landmarks")
    scans = ["stand", "step", "bent"]
    session = folder / "anna"
    write_session(session, forms, marks, scans)
    for name in scans:
        (session / f"{name}.obj").write_bytes((folder / f"{name}.obj").read_bytes())

    out, _ = run("scan", "run", session)
    check("predicted: from the other scans" in out, f"no report:\n{out}")
    for name in scans:
        vertices, sure = read_ply(session / f"registered/{name}.ply")
        off = np.linalg.norm(vertices - forms[name], axis=1)[sure > 0.5]
        check((sure > 0.5).mean() > 0.7, f"{name}: only {(sure > 0.5).mean():.2f} is sure")
        check(np.sqrt((off ** 2).mean()) < 0.004, f"{name}: {1000 * np.sqrt((off ** 2).mean()):.1f} mm from the truth")
    out, _ = run("info", session / "body.glb")
    check("shoulder.L" in out and "toe.R" in out, "joints are missing")

    # A pose that was not scanned; the body stands where its base is at rest.
    run("pose", session / "body.glb", *POSES["seen_never"], "-o", folder / "guess.obj")
    guess, truth = read_obj(folder / "guess.obj"), forms["seen_never"]
    guess = guess - guess.mean(axis=0) + truth.mean(axis=0)
    check(rms(guess, truth) < 0.02, f"{1000 * rms(guess, truth):.1f} mm off at a new pose")
    fit = json.loads((session / "fit.json").read_text())
    bones = {joint["name"]: np.linalg.norm(joint["translation"]) for joint in fit["skeleton"]["joints"]}
    check(abs(bones["knee.L"] - bones["knee.R"]) < 0.01 and 0.3 < bones["knee.L"] < 0.55, f"thighs {bones}")

    # Nothing is done twice.
    _, errors = run("scan", "run", session)
    check("carry a template" not in errors and "measure how good" in errors, f"steps again:\n{errors}")

    messages(folder, session, forms, marks)
    print("a template person: fine")


def messages(folder, session, forms, marks):
    # A scan of something else is left out, and named.
    other = folder / "other"
    write_session(other, forms, marks, ["stand", "step", "bent"])
    for name in ("stand", "step"):
        (other / f"{name}.obj").write_bytes((folder / f"{name}.obj").read_bytes())
    box = "\n".join(f"v {x} {y} {z}" for x in (0, 0.4) for y in (0, 0.4) for z in (0, 0.4))
    (other / "bent.obj").write_text(box + "\nf 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
    (other / "landmarks/step.csv").rename(other / "step.csv")
    out, errors = run("scan", "carry", other)
    check("scan 'step' is left out: it has neither" in errors and "in 1 scan," in out, f"{out}{errors}")
    (other / "step.csv").rename(other / "landmarks/step.csv")
    out, errors = run("scan", "carry", other)
    check("scan 'bent' is left out" in errors, f"a box is a person:\n{errors}")
    check(not (other / "registered/bent.ply").exists() and (other / "registered/step.ply").exists(), "files of scans")
    # No landmarks on the reference; too few of them; a cage instead.
    (other / "landmarks/stand.csv").rename(other / "kept.csv")
    _, errors = run("scan", "carry", other, fails=True)
    check("neither landmarks" in errors, errors)
    (other / "landmarks/stand.csv").write_text("\n".join((other / "kept.csv").read_text().splitlines()[:4]) + "\n")
    _, errors = run("scan", "carry", other, fails=True)
    check("at least 6" in errors, errors)
    # Another unit; a scan without landmarks.
    (other / "landmarks/stand.csv").write_text("\n".join(
        line if not number else ",".join([line.split(",")[0], *(str(100 * float(x)) for x in line.split(",")[1:])])
        for number, line in enumerate((other / "kept.csv").read_text().splitlines())) + "\n")
    _, errors = run("scan", "carry", other, fails=True)
    check("must have the unit and the axes" in errors, errors)
    # Left and right exchanged; landmarks of nobody.
    rows = (other / "kept.csv").read_text()
    swapped = rows.replace(".L,", ".X,").replace(".R,", ".L,").replace(".X,", ".R,")
    (other / "landmarks/stand.csv").write_text(swapped)
    _, errors = run("scan", "carry", other, fails=True)
    check("the reference scan 'stand'" in errors, errors)
    lines = rows.splitlines()
    names, places = [line.split(",", 1)[0] for line in lines[1:]], [line.split(",", 1)[1] for line in lines[1:]]
    mixed = [f"{name},{place}" for name, place in zip(names, places[7:] + places[:7])]
    (other / "landmarks/stand.csv").write_text("\n".join([lines[0], *mixed]) + "\n")
    _, errors = run("scan", "carry", other, fails=True)
    check("the reference scan 'stand'" in errors, errors)
    data = json.loads((other / "scan.json").read_text())
    data["template"] = "cage"
    data["parts"] = [{"name": "body", "joints": ["waist"], "covers": ["hips"]}]
    (other / "scan.json").write_text(json.dumps(data))
    _, errors = run("scan", "carry", other, fails=True)
    check("has a cage" in errors, errors)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
