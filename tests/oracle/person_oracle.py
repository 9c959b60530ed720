"""The fit of a whole body to markers on skin that slides, against the truth of person.py.

Child, adult and giant, standing and sitting in the reference; a scan of another person; sides exchanged; bones exchanged
in the table of markers; the rotations of the reference. Usage: person_oracle.py EXEMPLAR
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.spatial.transform import Rotation

import person

TOOL = sys.argv[1]


def fit(folder, *options):
    return subprocess.run([TOOL, "scan", "fit", folder, *options], capture_output=True, text=True)


def check_bones(root):
    """Bones within 40 mm and 25 %, their RMS within 10 mm of an adult, angles within 4.5 degrees RMS."""
    for number, (seed, scale, skin, count, sitting) in enumerate([(1, 1.0, 0.025, 10, False), (6, 0.6, 0.01, 10, True),
                                                                  (8, 1.15, 0.018, 12, False)]):
        one = person.Person(seed, scale=scale, skin=skin)
        poses = [one.sitting() if sitting else one.reference()] + [one.random_pose() for _ in range(count - 1)]
        folder = os.path.join(root, f"bones{number}")
        person.write_session(folder, one, poses)
        run = fit(folder)
        assert run.returncode == 0, run.stderr
        errors = person.compare(folder, one, poses)
        lengths = np.array(list(errors["lengths"].values()))
        true = 1000 * np.linalg.norm(one.bones[1:], axis=1)
        rms = np.sqrt(np.mean(lengths ** 2))
        print(f"size {scale}: bones {rms:.1f} mm RMS, at most {np.abs(lengths).max():.1f} mm; angles "
              f"{errors['angles']:.2f} degrees RMS")
        assert rms < 10 * scale and errors["angles"] < 4.5
        assert (np.abs(lengths) < np.maximum(0.25 * true, 15)).all() and np.abs(lengths).max() < 40
        check_neutral(one, poses, errors["fit"])
        assert "left out" not in run.stderr


def check_neutral(one, poses, fitted):
    """The rotations of the reference from the neutral pose: those of upper arms and thighs within 15 degrees."""
    frames, _ = one.frames(poses[0])
    found = {}
    for j, name in enumerate(person.NAMES):
        turn = Rotation.from_quat(fitted["neutral"].get(name, [0, 0, 0, 1]))
        found[name] = found[person.NAMES[person.PARENTS[j]]] * turn if j > 0 else turn
    for name in ("hips", "chest", "shoulder.L", "shoulder.R", "hip.L", "hip.R"):
        off = np.degrees((found[name].inv() * frames[person.NAMES.index(name)]).magnitude())
        assert off < 15, (name, off)


def check_stranger(root):
    """One scan shows someone else: it is left out and named, and the others are as good as without it."""
    one, other = person.Person(2), person.Person(9, scale=0.9)
    poses = [one.reference()] + [one.random_pose() for _ in range(9)]
    folder = os.path.join(root, "stranger")

    def exchange(rows):
        seen = other.see(poses[6])
        return [(i, s, seen[s] if i == 6 else at) for i, s, at in rows]

    person.write_session(folder, one, poses, also=exchange)
    run = fit(folder)
    assert run.returncode == 0 and "scan scan_06 is left out" in run.stderr, run.stderr
    with open(os.path.join(folder, "fit.json")) as file:
        written = json.load(file)
    assert [scan["name"] for scan in written["left_out"]] == ["scan_06"]
    assert len(written["scans"]) == 9
    errors = person.compare(folder, one, poses)
    assert errors["angles"] < 4.5, errors["angles"]


def check_refused(root):
    """Sides exchanged everywhere; the head's markers on a foot."""
    one = person.Person(3)
    poses = [one.reference()] + [one.random_pose() for _ in range(7)]
    folder = os.path.join(root, "sides")
    person.write_session(folder, one, poses, swap=True)
    run = fit(folder)
    assert run.returncode == 1 and "left and right seem to be exchanged" in run.stderr, run.stderr
    assert not os.path.exists(os.path.join(folder, "fit.json"))
    folder = os.path.join(root, "head")
    person.write_session(folder, one, poses)
    table = os.path.join(folder, "markers.csv")
    with open(table) as file:
        text = file.read()
    with open(table, "w") as file:
        file.write(text.replace(",head\n", ",was\n").replace(",ankle.L\n", ",head\n").replace(",was\n", ",ankle.L\n"))
    for option in ([], ["--free-bones"]):
        run = fit(folder, *option)
        assert run.returncode == 1 and ("not a person" in run.stderr or "one person" in run.stderr), run.stderr
        assert not os.path.exists(os.path.join(folder, "fit.json"))
    folder = os.path.join(root, "units")
    person.write_session(folder, one, poses, also=lambda rows: [(i, s, 100 * at) for i, s, at in rows])
    run = fit(folder)
    assert run.returncode == 0 and "in centimetres" in run.stderr, run.stderr


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        check_bones(made)
        check_stranger(made)
        check_refused(made)
