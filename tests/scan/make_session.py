#!/usr/bin/python3
"""Writes a session for `exemplar scan`: a person of subject.py in natural poses, scanned by scanner.py, with the truth.

  make_session.py FOLDER [--person adult] [--poses 12] [--views 6] [--data DATA] …     --help lists every option

FOLDER gets scan.json, markers.csv, scans/, labels/ (true names of the markers that are seen, as if given by hand) and
landmarks/ (marker,x,y,z of 22 places on every scan, as if clicked). truth.npz has what judge.py needs, and held/ the labels and
landmarks of ten poses that the session does not have. With --registered, registered/ has one OBJ per pose, all with
the same faces.

In truth.npz, [poses] counts the session's scans and then the held-out ones:
  names, held [poses]; joint_names, parents [23]; joints [poses, 23, 3]; turns [poses, 23, 3, 3], of the world, from the pose
  of MakeHuman's files; axes [23, 3] of hinges in the reference, 0 for others; surfaces [poses, vertices, 3]; slides
  [poses, vertices], how far skin slid over the bone; triangles, quads; weights [vertices, 23], the standard ones summed
  by joint; outer [vertices], skin that can be seen; marker_names, marker_joints, marker_triangles; markers [poses, n, 3];
  seen [poses, n]; landmark_names, landmarks [n]; height
"""
import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scanner  # noqa: E402
import subject  # noqa: E402
import template  # noqa: E402

CLICK = 0.004  # metres: how far from a landmark people click
BODY = [name for name in subject.NAMES if name != "hips"]


def parts_of(kind):
    """One part for everything, or arms, legs and trunk apart. A scan belongs to the first part."""
    if kind == "one":
        return [{"name": "body", "joints": BODY, "covers": subject.NAMES}]
    trunk = ["waist", "chest", "neck", "head"]
    parts = [{"name": "trunk", "joints": trunk, "solve": BODY, "covers": ["hips", *trunk]}]
    for s in "LR":
        arm = [f"{n}.{s}" for n in ("clavicle", "shoulder", "elbow", "forearm", "wrist")]
        leg = [f"{n}.{s}" for n in ("hip", "knee", "ankle", "toe")]
        parts.append({"name": f"arm_{s}", "joints": arm, "solve": BODY, "covers": ["chest", *arm]})
        parts.append({"name": f"leg_{s}", "joints": leg, "solve": BODY, "covers": ["hips", *leg]})
    return parts


def write_labels(path, header, names, places):
    with open(path, "w") as file:
        file.write(header + "\n")
        for name, place in zip(names, places):
            file.write(f"{name},{place[0]:.6f},{place[1]:.6f},{place[2]:.6f}\n")


def options_of(arguments):
    here = Path(__file__).resolve().parents[2]
    data = os.environ.get("EX_DATA") or here.parent / "shared/data"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--tool", help="exemplar, which has the template's landmarks; default: build/release/bin")
    parser.add_argument("--data", default=str(Path(data) / "makehuman"), help="MakeHuman's files (default: in EX_DATA)")
    parser.add_argument("--poses", type=int, default=12, help="1 to 40 (default: 12)")
    parser.add_argument("--only", metavar="NAMES", help="these poses, with commas between; the first is the reference")
    parser.add_argument("--yaw", type=float, default=0.0, help="degrees that the reference is turned (default: 0)")
    subject.person_options(parser)
    parser.add_argument("--views", type=int, default=6, help="cameras around the body (default: 6)")
    parser.add_argument("--pitch", type=float, default=0.003, help="metres between samples (default: 0.003)")
    parser.add_argument("--noise", type=float, default=0.0005, help="metres, of the scanner (default: 0.0005)")
    parser.add_argument("--merged", action="store_true", help="one mesh per scan, instead of one per view")
    parser.add_argument("--thin", type=float, default=0, help="metres: decimate to one vertex in such a cube")
    parser.add_argument("--floor", action="store_true", help="floor and a stand are in view")
    parser.add_argument("--plain", action="store_true", help="meshes without colours")
    parser.add_argument("--cloud", action="store_true", help="points with normals, without faces")
    parser.add_argument("--markers", type=int, default=12, help="spots per bone, 0 for none (default: 12)")
    parser.add_argument("--spot", type=float, default=0.012, help="metres, width of spots (default: 0.012)")
    parser.add_argument("--labels", choices=["all", "reference", "none"], default="all", help="(default: all)")
    parser.add_argument("--label-noise", type=float, default=0.0, help="metres (default: 0)")
    parser.add_argument("--missing", type=float, default=0.0, help="share of markers that rubbed off (default: 0)")
    parser.add_argument("--swap", metavar="SCAN", help="a scan whose labels have left and right exchanged")
    parser.add_argument("--stranger", metavar="SCAN", help="a scan of another person")
    parser.add_argument("--unit", choices=["m", "cm", "mm"], default="m")
    parser.add_argument("--up", choices=["y", "z"], default="y")
    parser.add_argument("--parts", choices=["one", "split"], default="one", help="parts in scan.json (default: one)")
    parser.add_argument("--skeleton", choices=["full", "true"], default="full",
                        help="the shipped one, or the person's own with everything locked (default: full)")
    parser.add_argument("--cage", action="store_true", help="give the true reference surface as the cage, too")
    parser.add_argument("--levels", type=int, help="levels in scan.json")
    parser.add_argument("--registered", action="store_true", help="also write registered/NAME.obj")
    parser.add_argument("--surfaces", action="store_true", help="also write true surfaces, as truth/NAME.obj")
    parser.add_argument("--held-scans", action="store_true", help="also scan the held-out poses, into held/scans")
    parser.add_argument("--no-scans", action="store_true", help="labels and truth alone, no meshes: for a fit")
    return parser.parse_args(arguments)


class Writer:
    """Writes files of one session, with its unit and upward axis."""

    def __init__(self, options, folder):
        self.options, self.folder = options, Path(folder)
        scale = {"m": 1.0, "cm": 100.0, "mm": 1000.0}[options.unit]
        turn = np.eye(3) if options.up == "y" else np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
        self.out = scale * turn  # of the world into that of the files

    def place(self, points):
        return np.asarray(points) @ self.out.T

    def mesh(self, path, view):
        path.parent.mkdir(parents=True, exist_ok=True)
        points = self.place(view.points)
        colours = None if self.options.plain else view.colours
        if self.options.cloud:
            normals = subject.vertex_normals(points, view.triangles)
            scanner.write_ply(path, points, None, colours, normals)
        else:
            scanner.write_ply(path, points, view.triangles, colours)


def scan(person, posed, spots, options, random):
    """[View] of a pose: what every camera saw."""
    height = max(1.2, np.ptp(posed.surface[:, 1]))
    middle = posed.surface.mean(axis=0)
    stage = scanner.stage_mesh() if options.floor else None
    return [scanner.scan_view(camera, posed.surface, person.triangles, person.points, spots, random, options.noise,
                              spot_size=options.spot, stage=stage)
            for camera in scanner.ring(options.views, middle, height, options.pitch)]


def is_seen(views, places, reach):
    """[places]: some view has a sample this near to it, and at a fair angle."""
    points = np.concatenate([v.points[v.square > 0.35] for v in views])
    off, _ = cKDTree(points).query(places, distance_upper_bound=reach)
    return np.isfinite(off)


def write_session(options, say=print):
    """Writes everything; returns (person, truth)."""
    began = time.time()
    folder = Path(options.folder)
    for name in ("scans", "labels", "landmarks", "held", "registered", "truth"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("labels", "landmarks", "held/labels", "held/landmarks"):
        (folder / name).mkdir(parents=True)
    person = subject.person_of(options)
    only = options.only.split(",") if options.only else None
    poses = subject.library(options.poses, options.seed, options.vary, options.symmetric, names=only)
    reference = next(iter(poses))
    poses[reference] = {**poses[reference], "hips": np.add(poses[reference].get("hips", (0, 0, 0)), (0, 0, options.yaw))}
    posed = subject.all_poses(person, poses, options.seed)
    chosen = person.markers(options.markers, options.seed) if options.markers else []
    triangles = np.array([c[2] for c in chosen], int)
    spots = (person.points[person.triangles[triangles]].mean(axis=1), [c[3] for c in chosen]) if chosen else None
    landmarks = template.landmarks(template.rest(options.tool))
    other = None
    if options.stranger:
        other = subject.Person(options.data, **subject.PEOPLE["heavy_woman" if options.person != "heavy_woman" else "giant"])
    writer, random = Writer(options, folder), np.random.default_rng([161803, options.seed])
    names = [c[0] for c in chosen]
    count, entries, marks, seen = len(only) if only else options.poses, [], [], []
    for number, pose in enumerate(posed):
        held, body = number >= count, person
        if options.stranger == pose.name:
            body = other
            pose = other.pose(poses[pose.name], seed=number, name=pose.name)
        places = pose.surface[person.triangles[triangles]].mean(axis=1) if chosen else np.zeros((0, 3))
        views = []
        if not options.no_scans and (not held or options.held_scans):
            # Spots are painted at the same triangles of a stranger, too.
            own = (body.points[body.triangles[triangles]].mean(axis=1), spots[1]) if chosen else None
            views = scan(body, pose, own, options, random)
            files = write_scan(writer, pose.name, views, held)
            if not held:
                entries.append({"name": pose.name, "part": [part["name"] for part in parts_of(options.parts)], "files": files})
        elif not held:
            entries.append({"name": pose.name, "part": [part["name"] for part in parts_of(options.parts)],
                            "files": [f"scans/{pose.name}.ply"]})
        visible = is_seen(views, places, 1.2 * options.pitch) if views and len(places) else sight(body, pose, places)
        if number and options.missing:
            visible &= random.uniform(size=len(visible)) >= options.missing
        marks.append(posed[number].surface[person.triangles[triangles]].mean(axis=1) if chosen else places)
        seen.append(visible)
        write_points(writer, options, pose, number, held, names, places, visible, landmarks, random)
        if options.registered and not held:
            (folder / "registered").mkdir(exist_ok=True)
            subject.write_obj(folder / f"registered/{pose.name}.obj", writer.place(pose.surface), person.quads)
        if options.surfaces:
            (folder / "truth").mkdir(exist_ok=True)
            subject.write_obj(folder / f"truth/{pose.name}.obj", pose.surface, person.quads)
    truth = truth_of(person, posed, count, chosen, triangles, marks, seen, landmarks, writer.out)
    np.savez_compressed(folder / "truth.npz", **truth)
    write_tables(folder, options, chosen, entries, truth)
    say(f"{folder}: {options.person}, {person.height:.2f} m, {count} scans and {len(posed) - count} held out, "
        f"{len(chosen)} markers, {np.mean([s.mean() for s in seen]) * 100 if chosen else 0:.0f} % of them seen, "
        f"{time.time() - began:.0f} s")
    return person, truth


def sight(person, pose, places):
    """[places]: a camera of six sees it, without a scan."""
    if not len(places):
        return np.zeros(0, bool)
    normals = subject.vertex_normals(pose.surface, person.triangles)
    tree = cKDTree(pose.surface)
    best = np.zeros(len(pose.surface))
    for camera in scanner.ring(6, pose.surface.mean(axis=0), max(1.2, np.ptp(pose.surface[:, 1])), 0.006):
        best = np.maximum(best, scanner.seen(camera, pose.surface, person.triangles, normals, 0.006))
    return best[tree.query(places)[1]] > 0.35


def write_scan(writer, name, views, held):
    options = writer.options
    if options.thin:
        views = [scanner.thin(v, options.thin) for v in views]
    if options.merged:
        views = [scanner.merge(views, 1.4 * options.pitch)]
    where = "held/scans" if held else "scans"
    files = [f"{where}/{name}.ply"] if len(views) == 1 else [f"{where}/{name}_{n + 1}.ply" for n in range(len(views))]
    for file, view in zip(files, views):
        writer.mesh(writer.folder / file, view)
    return files


def write_points(writer, options, pose, number, held, names, places, visible, landmarks, random):
    folder = writer.folder / ("held" if held else ".")
    given = options.labels == "all" or held or (options.labels == "reference" and number == 0)
    if given and len(names):
        written = list(names)
        if options.swap == pose.name:
            other = {"L": "R", "R": "L"}
            written = [n if n[-5:-3] not in (".L", ".R") else n[:-4] + other[n[-4]] + n[-3:] for n in names]
        rows = np.flatnonzero(visible)
        noisy = places[rows] + options.label_noise * random.normal(size=(len(rows), 3))
        write_labels(folder / f"labels/{pose.name}.csv", "marker,x,y,z", [written[r] for r in rows], writer.place(noisy))
    clicked = pose.surface[list(landmarks.values())] + CLICK * random.normal(size=(len(landmarks), 3))
    write_labels(folder / f"landmarks/{pose.name}.csv", "marker,x,y,z", list(landmarks), writer.place(clicked))


RANGES = {"elbow": [-10, 150], "forearm": [-100, 180], "wrist": [-90, 90], "knee": [-10, 150], "toe": [-60, 40]}


def write_skeleton(path, truth):
    """The person's own skeleton in the reference pose, locked."""
    rows = []
    for j, name in enumerate(subject.NAMES):
        kind, parent = subject.JOINTS[name][1], subject.PARENTS[j]
        place = truth["joints"][0, j] - (truth["joints"][0, parent] if parent >= 0 else 0)
        row = {"name": name, "joint": kind, "translation": place.tolist()}
        if parent >= 0:
            row.update(parent=subject.NAMES[parent], lock=["translation"])
        if kind == "hinge":
            row.update(axis=truth["axes"][j].tolist(), lock=["translation", "axis"], range=RANGES[name.split(".")[0]])
        rows.append(row)
    path.write_text(json.dumps({"exemplar_skeleton": 1, "name": "true", "joints": rows}, indent=1) + "\n")


def write_cage(path, truth):
    """The true surface of the reference, with faces in groups of the joints that lead them most."""
    weights = truth["weights"][truth["quads"]].mean(axis=1)
    leader = np.argmax(weights, axis=1)
    with open(path, "w") as file:
        np.savetxt(file, truth["surfaces"][0], "v %.6f %.6f %.6f")
        for j, name in enumerate(subject.NAMES):
            file.write(f"g {name}\n")
            np.savetxt(file, truth["quads"][leader == j] + 1, "f %d %d %d %d")


def write_tables(folder, options, chosen, entries, truth):
    if options.skeleton == "true":
        write_skeleton(folder / "skeleton.json", truth)
    if options.cage:
        write_cage(folder / "cage_given.obj", truth)
    with open(folder / "markers.csv", "w") as file:
        file.write("marker,joint,r,g,b\n")
        for name, joint, _, colour in chosen:
            file.write(f"{name},{joint},{','.join(str(v) for v in scanner.COLOURS[colour])}\n")
    session = {"exemplar_scan": 1, "skeleton": "full" if options.skeleton == "full" else "skeleton.json",
               "markers": "markers.csv", "reference": entries[0]["name"],
               "noise": max(options.noise, 1e-6), "parts": parts_of(options.parts), "scans": entries}
    if not chosen:
        del session["markers"]
    if options.cage:
        session["cage"] = "cage_given.obj"
    if options.levels:
        session["levels"] = options.levels
    (folder / "scan.json").write_text(json.dumps(session, indent=1) + "\n")


def truth_of(person, posed, count, chosen, triangles, marks, seen, landmarks, out):
    reference = posed[0].turns
    axes = np.array([reference[subject.PARENTS[j]] @ person.axes[n] if n in person.axes else np.zeros(3)
                     for j, n in enumerate(subject.NAMES)])
    return dict(names=np.array([p.name for p in posed]), held=np.arange(len(posed)) >= count,
                joint_names=np.array(subject.NAMES), parents=np.array(subject.PARENTS),
                joints=np.array([p.joints for p in posed]), turns=np.array([p.turns for p in posed]), axes=axes,
                surfaces=np.array([p.surface for p in posed], np.float32),
                slides=np.array([p.slide for p in posed], np.float32), triangles=person.triangles, quads=person.quads,
                weights=person.weights.astype(np.float32), outer=person.outer(),
                marker_names=np.array([c[0] for c in chosen]), marker_joints=np.array([c[1] for c in chosen]),
                marker_triangles=triangles, markers=np.array(marks), seen=np.array(seen),
                landmark_names=np.array(list(landmarks)), landmarks=np.array(list(landmarks.values())),
                height=person.height, out=out)


def main():
    options = options_of(sys.argv[1:])
    if not Path(options.data, "3dobjs/base.obj").exists():
        sys.exit(f"there is no MakeHuman data at {options.data}: set EX_DATA, or give --data")
    write_session(options)


if __name__ == "__main__":
    main()
