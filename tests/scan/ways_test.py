#!/usr/bin/python3
"""Sessions with a template person whose scans come from other programs: units, axes, points, floors, many vertices.

  ways_test.py EXEMPLAR ROOT

One person is written in several ways; each must give the body of the scans in metres with y up.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import person_test as person  # noqa: E402
import template  # noqa: E402
from person_test import check, read_obj, read_ply, run  # noqa: E402

METRES = {"m": 1, "cm": 0.01, "mm": 0.001, "in": 0.0254}
# Of the world, with y up, into that of the files.
TURNS = {"y": np.eye(3), "z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
         "-z": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), "x": np.array([[0, 1.0, 0], [-1, 0, 0], [0, 0, 1]])}


def faces_of(path):
    return [[int(c.split("/")[0]) - 1 for c in line.split()[1:]] for line in open(path) if line.startswith("f ")]


class Way:
    """A way to write a session."""

    def __init__(self, unit="m", up="y", yaw=0, keys=None, cloud=False, floor=False, fine=0):
        a = np.radians(yaw)
        around = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        self.unit, self.up, self.keys, self.cloud, self.floor, self.fine = unit, up, keys or {}, cloud, floor, fine
        self.around, self.out = around, TURNS[up] @ around / METRES[unit]

    def place(self, points):
        return points @ self.out.T


def write_mesh(path, points, faces):
    with open(path, "w") as file:
        np.savetxt(file, points, "v %.6g %.6g %.6g")
        for face in faces:
            file.write("f " + " ".join(str(c + 1) for c in face) + "\n")


def refine(points, faces):
    """Every triangle becomes four."""
    faces = np.array([[f[0], f[k - 1], f[k]] for f in faces for k in range(2, len(f))])
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    middle = len(points) + index.reshape(-1, 3)
    made = np.concatenate([points, points[unique].mean(axis=1)])
    return made, np.concatenate([np.stack([faces[:, 0], middle[:, 0], middle[:, 2]], 1),
                                 np.stack([middle[:, 0], faces[:, 1], middle[:, 1]], 1),
                                 np.stack([middle[:, 2], middle[:, 1], faces[:, 2]], 1), middle])


def write_session(folder, way, forms, faces, marks):
    (folder / "landmarks").mkdir(parents=True)
    for name, form in forms.items():
        rows = [mark + ",%.6f,%.6f,%.6f" % tuple(way.place(form[vertex])) for mark, vertex in marks.items()]
        (folder / f"landmarks/{name}.csv").write_text("marker,x,y,z\n" + "\n".join(rows) + "\n")
        points, own = form, faces
        for _ in range(way.fine):
            points, own = refine(points, own)
        if way.floor:
            side = np.linspace(-1.2, 1.2, 81)
            low = points[:, 1].min() - 0.002
            grid = np.array([[x, low, z] for x in side for z in side])
            first = len(points) + np.array([[81 * i + j] for i in range(80) for j in range(80)])
            points, own = np.concatenate([points, grid]), list(own) + (first + [0, 1, 82, 81]).tolist()
        write_mesh(folder / f"{name}.obj", way.place(points), [] if way.cloud else own)
    session = {"exemplar_scan": 1, "skeleton": "full", "reference": "stand", **way.keys,
               "scans": [{"name": name, "files": [f"{name}.obj"]} for name in forms]}
    (folder / "scan.json").write_text(json.dumps(session))


def compare(folder, forms, most):
    """Registered scans are the forms, in metres with y up."""
    for name, form in forms.items():
        vertices, sure = read_ply(folder / f"registered/{name}.ply")
        # About y the session chooses its own axes: the base is where the files have it.
        turn = vertices - vertices.mean(axis=0), form - form.mean(axis=0)
        u, _, v = np.linalg.svd(turn[0].T @ turn[1])
        rotation = (u @ v).T
        check(rotation[1, 1] > 0.9999, f"{folder.name}/{name}: not upright")
        off = np.linalg.norm(turn[0] @ rotation.T - turn[1], axis=1)[sure > 0.5]
        rms = np.sqrt((off ** 2).mean())
        check((sure > 0.5).mean() > 0.7, f"{folder.name}/{name}: only {(sure > 0.5).mean():.2f} is sure")
        check(rms < most, f"{folder.name}/{name}: {1000 * rms:.1f} mm from the truth")


WAYS = {"metres": (Way(), None),
        "cm_z": (Way("cm", "z"), ["in centimetres with z up, as landmarks/stand.csv tells"]),
        "in_minus_z": (Way("in", "-z", 130, floor=True), ["in inches with -z up"]),
        "points": (Way("mm", "x", -60, keys={"unit": "mm", "points": 30000}, cloud=True, fine=1),
                   ["with x up", "1 of 1 scans were thinned, 'stand' from "])}


def main(folder):
    run("pose", person.HUMAN, *person.FIGURE, *person.POSES["stand"], "-o", folder / "stand.obj")
    forms = {"stand": read_obj(folder / "stand.obj")}
    faces = faces_of(folder / "stand.obj")
    run("pose", person.HUMAN, "-o", folder / "rest.obj")
    marks = template.landmarks(read_obj(folder / "rest.obj"))
    heights = {}
    for name, (way, said) in WAYS.items():
        session = folder / name
        write_session(session, way, forms, faces, marks)
        before = (session / "landmarks/stand.csv").read_text()
        out, errors = run("scan", "carry", session)
        for text in said or []:
            check(text in errors, f"{name}: '{text}' is not said:\n{errors}")
        check(said is not None or "are read in" not in errors, f"{name}: {errors}")
        check("left out" not in errors, f"{name}: {errors}")
        check((session / "landmarks/stand.csv").read_text() == before, f"{name}: landmarks changed")
        compare(session, forms, 0.006 if way.cloud else 0.004)
        heights[name] = float(out.split("a person of ")[1].split(" m")[0])
    check(max(heights.values()) - min(heights.values()) < 0.004, f"heights differ: {heights}")

    # A unit that is said wrong, and landmarks of another program.
    session = folder / "cm_z"
    data = json.loads((session / "scan.json").read_text())
    (session / "scan.json").write_text(json.dumps({**data, "unit": "m"}))
    _, errors = run("scan", "carry", session, fails=True)
    check('"unit" in scan.json says' in errors, errors)
    (session / "scan.json").write_text(json.dumps(data))
    (session / "landmarks/stand.csv").write_text((folder / "metres/landmarks/stand.csv").read_text())
    _, errors = run("scan", "carry", session, fails=True)
    check("must have the unit and the axes of the scan's files" in errors, errors)
    print("scans of other programs: fine")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
