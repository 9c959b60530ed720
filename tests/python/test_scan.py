"""Scans: the same files and numbers as the tool's steps, on files and on arrays."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy
import pytest

import exemplar
from exemplar import scan
from exemplar.mesh import Mesh


@pytest.fixture(scope="session")
def body(demo, tool, tmp_path_factory):
    """A session of a person's upper body, with all steps done by the tool."""
    folder = tmp_path_factory.mktemp("scan") / "body"
    subprocess.run([tool, "demo", "body", "--quick", "-q", "-o", folder], check=True)
    return folder


def answer(tool, *words):
    return json.loads(subprocess.run([tool, *words, "--json"], check=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL).stdout)


def near(ours, theirs):
    """The same tree of names; numbers to the last digit but one."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(near(ours[key], theirs[key]) for key in theirs)
    return ours == pytest.approx(theirs, rel=1e-12) if isinstance(theirs, float) else ours == theirs


def test_steps_of_a_session(tool, body, tmp_path):
    folder = tmp_path / "ours"
    shutil.copytree(body, folder)
    for name in ("fit.json", "body.glb", "body.json"):
        (folder / name).unlink()
    for name in ("found", "template", "maps"):
        shutil.rmtree(folder / name)
    session = scan.Session(folder)
    assert session.reference in session.scans and session.person is None and len(session.kinematics.joints) == 13
    with pytest.raises(FileNotFoundError, match="exemplar.scan.fit"):
        scan.build(folder)
    with pytest.raises(FileNotFoundError, match="exemplar.scan.markers"):
        scan.label(folder)
    found = scan.markers(folder)
    assert {one.name: len(one.positions) for one in found} == {
        one["name"]: one["markers"] for one in answer(tool, "scan", "markers", body)["scans"]}
    assert not any(one.kept for one in found) and all(one.kept for one in scan.markers(folder))
    for name in session.scans:
        assert (folder / "found" / f"{name}.csv").read_bytes() == (body / "found" / f"{name}.csv").read_bytes()
    alone = scan.find_markers(session.meshes(session.scans[1]))
    assert (alone.positions == found[1].positions).all() and (alone.colours == found[1].colours).all()

    fitted, said = scan.fit(folder, progress=lambda what, part: None), answer(tool, "scan", "fit", body, "-o",
                                                                              tmp_path / "f.json")
    assert fitted.path.read_bytes() == (tmp_path / "f.json").read_bytes()
    for key in ("unknowns", "iterations", "rms", "outliers", "scale", "undetermined", "markers"):
        assert near(getattr(fitted, key), said[key]), key
    with open(folder / "fit.json", encoding="utf-8") as file:
        assert fitted.names == [one["name"] for one in json.load(file)["scans"]]
    assert fitted.rotations.shape == (11, 13, 4) and fitted.translations.shape == (11, 3)
    assert numpy.linalg.norm(fitted.rotations, axis=2) == pytest.approx(1)

    made = scan.template(folder)
    assert (folder / "template" / "cage.obj").read_bytes() == (body / "template" / "cage.obj").read_bytes()
    assert made.mesh.face_count == 80 and len(made.groups) == 13 and not made.bare
    built, said = scan.build(folder, threads=2), answer(tool, "scan", "build", body)
    assert (folder / "body.glb").read_bytes() == (body / "body.glb").read_bytes()
    assert (built.rig.evaluate() == exemplar.load(body / "body.glb").evaluate()).all() and built.kept == 0
    assert near({"scans": built.scans}["scans"][0],
                said["scans"][0]) and built.refitted == pytest.approx(said["refitted"])
    report, said = scan.report(folder), answer(tool, "scan", "report", body)
    assert near(report.left_out, said["left_out"]) and near(report.truth, said["truth"])
    assert list(scan.run(folder)) == ["report"]


def test_a_stopped_step_leaves_nothing(body, tmp_path):
    folder = tmp_path / "ours"
    shutil.copytree(body, folder, ignore=shutil.ignore_patterns("fit.json", "maps"))
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    with pytest.raises(ZeroDivisionError):
        scan.fit(folder, progress=lambda what, part: 1 // 0)
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
    program = textwrap.dedent("""
        import os, signal, sys, threading
        from exemplar import scan
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            scan.fit(sys.argv[1])
        except KeyboardInterrupt:
            print("stopped")
    """)
    done = subprocess.run([sys.executable, "-B", "-c", program, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    assert (done.stdout, done.stderr) == ("stopped\n", "")
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


def test_register(tool, demo, tmp_path):
    path = demo("blob") / "thin.obj"
    template, target = Mesh.read(path), Mesh.read(path)
    target.vertices = template.vertices * 1.01 + 0.002
    target.write(tmp_path / "scan.obj")
    made = scan.register(template, target)
    said = answer(tool, "scan", "register", path, tmp_path / "scan.obj", "-o", tmp_path / "out.obj")
    for key in ("matched", "unmatched", "rms", "covered", "flipped", "scan_points"):
        assert near(getattr(made, key), said[key]), key
    assert (made.vertices == Mesh.read(tmp_path / "out.obj").vertices).all() and made.landmark_rms is None
    landmarks = {v: tuple(target.vertices[v].tolist()) for v in (0, 50, 100, 200, 300)}
    rows = "".join(f"{v},{x!r},{y!r},{z!r}\n" for v, (x, y, z) in landmarks.items())
    (tmp_path / "marks.csv").write_text("marker,x,y,z\n" + rows, encoding="utf-8")
    said = answer(tool, "scan", "register", path, tmp_path / "scan.obj", "--landmarks", tmp_path / "marks.csv")
    for given in (landmarks, tmp_path / "marks.csv"):
        made = scan.register(path, tmp_path / "scan.obj", landmarks=given)
        assert near(made.rms, said["rms"]) and near(made.landmark_rms, said["landmark_rms"])
    points = scan.cloud(target.vertices, numpy.asarray(target.normals()) if callable(target.normals)
                        else target.normals)
    made = scan.register((template.vertices, template.faces), points)
    assert made.rms < 1e-3 and made.matched == 642
    for call, kind in ((lambda: scan.register(template, scan.cloud(target.vertices)), exemplar.DataError),
                       (lambda: scan.register(template, []), TypeError),
                       (lambda: scan.register(None, target), TypeError),
                       (lambda: scan.register(template, target, reach=0), ValueError),
                       (lambda: scan.register(template, target, landmarks={"nose": (0, 0, 0)}), KeyError),
                       (lambda: scan.register(template, target, landmarks={642: (0, 0, 0)}), ValueError),
                       (lambda: scan.register(template, target, landmarks={1: (0, 0, math.nan)}), ValueError),
                       (lambda: scan.register(template, target, align="rigid"), ValueError),
                       (lambda: scan.register(template, target, start=template.vertices[:-1]), ValueError),
                       (lambda: scan.register(template, target, stiffness=[1]), ValueError)):
        with pytest.raises(kind):
            call()


def test_articulate(tool, demo, tmp_path):
    rig = exemplar.load(demo("elbow") / "elbow.glb")
    forms = rig.evaluate(rig.pose(elbow=numpy.linspace(0, 120, 4)))
    paths = []
    for i, form in enumerate(forms):
        paths.append(tmp_path / f"form_{i + 1}.obj")
        Mesh(form, rig.mesh.faces).write(paths[-1])
    made = scan.articulate(forms, faces=rig.mesh.faces, bones=3, layers=False, output=tmp_path / "ours.glb",
                           poses=tmp_path / "ours.csv")
    said = answer(tool, "scan", "articulate", *paths, "--bones", "3", "--no-layers", "-o", tmp_path / "tool.glb",
                  "--poses",
                  tmp_path / "tool.csv")
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "tool.csv").read_bytes()
    assert near(made.rms, said["rms"]) and near(made.left_out_rms, said["left_out_rms"])
    assert [joint.name for joint in made.kinematics.joints] == [joint["name"] for joint in said["joints"]]
    assert made.rotations == pytest.approx(numpy.array([form["rotations"] for form in said["forms"]]))
    for call, kind in ((lambda: scan.articulate(paths[:1]), ValueError), (lambda: scan.articulate(paths[0]), TypeError),
                       (lambda: scan.articulate(forms), ValueError),
                       (lambda: scan.articulate(paths, unit="km"), ValueError),
                       (lambda: scan.articulate(paths, skeleton="full"), ValueError),
                       (lambda: scan.articulate(paths, bones=0), ValueError)):
        with pytest.raises(kind):
            call()


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_simulate(tool, demo, tmp_path):
    path = demo("elbow") / "elbow.glb"
    (tmp_path / "poses.csv").write_text("name,elbow,part\nstraight,0,arm\nbent,60,arm\nnever,30,held\n",
                                        encoding="utf-8")
    said = answer(tool, "scan", "simulate", path, "--poses", tmp_path / "poses.csv", "-o", tmp_path / "tool", "--part",
                  "arm=forearm:shoulder,forearm", "--views", "2", "--pitch", "0.02,0.01", "--noise", "0.5mm",
                  "--count", "5",
                  "--seed", "3", "--stray", "0.2")
    options = dict(parts={"arm": (["forearm"], ["shoulder", "forearm"])}, views=2, pitch=(0.02, 0.01), noise=0.0005,
                   count=5,
                   seed=3, stray=0.2)
    rig = exemplar.load(path)
    made = scan.simulate(rig, tmp_path / "poses.csv", tmp_path / "ours", **options)
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "tool")
    assert (made.scans, made.held, made.markers, made.reference) == tuple(
        said[key] for key in ("scans", "held", "markers", "reference"))
    poses = {"straight": None, "bent": rig.pose(elbow=60), "never": {"elbow": 30}}
    scan.simulate(rig, poses, tmp_path / "named", part_of={"straight": "arm", "bent": "arm", "never": "held"},
                  **options)
    left = {name: data for name, data in files_of(tmp_path / "ours").items()
            if name.name not in ("poses.csv", "scanner.json")}
    assert left.items() <= files_of(tmp_path / "named").items() and len(left) > 8
    for call, kind in ((lambda: scan.simulate(rig, {"a/b": None}, tmp_path / "x"), ValueError),
                       (lambda: scan.simulate(rig, {}, tmp_path / "x"), TypeError),
                       (lambda: scan.simulate(rig, {"a": None}, tmp_path / "x", part_of={"a": "leg"}), KeyError),
                       (lambda: scan.simulate(rig, {"a": None}, tmp_path / "x", parts={"leg": ["knee"]}),
                        exemplar.Error),
                       (lambda: scan.simulate(rig, {"a": None}, tmp_path / "x", reference="b"), KeyError),
                       (lambda: scan.simulate(rig, {"a": None}, tmp_path / "x", views=0), ValueError),
                       (lambda: scan.simulate(None, {"a": None}, tmp_path / "x"), TypeError)):
        with pytest.raises(kind):
            call()


def walking(frames):
    """Markers of the skeleton 'full' as it stands, carried along and turned: (names, positions)."""
    skeleton = scan.Kinematics.read("full")
    places = {}
    for joint in skeleton.joints:
        places[joint.name] = numpy.add(places[joint.parent],
                                       joint.translation) if joint.parent else numpy.array(joint.translation)
    sites = {name: places[joint] + place for name, (joint, place) in skeleton.sites.items() if place is not None}
    rest = numpy.array(list(sites.values()))
    positions = []
    for i in range(frames):
        turn = 0.1 * i
        rotation = numpy.array([[math.cos(turn), 0, math.sin(turn)], [0, 1, 0], [-math.sin(turn), 0, math.cos(turn)]])
        positions.append(rest @ rotation.T + [0.05 * i, 0, 0])
    return list(sites), numpy.array(positions)


def test_motion_capture(tool, tmp_path):
    names, positions = walking(6)
    header = (f"PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
              f"OrigDataStartFrame\tOrigNumFrames\n100\t100\t6\t{len(names)}\tm\t100\t1\t6\nFrame#\tTime\t" +
              "\t\t\t".join(names) + "\n\t\t" + "\t".join(f"{c}{i + 1}" for i in range(len(names))
                                                          for c in "XYZ") + "\n\n")
    rows = "".join(f"{i + 1}\t{i / 100}\t" + "\t".join(repr(float(numpy.float32(x))) for x in row.ravel()) + "\n"
                   for i, row in enumerate(positions))
    (tmp_path / "walk.trc").write_text(header + rows, encoding="utf-8")
    said = answer(tool, "scan", "fit", tmp_path / "walk.trc", "--up", "+Y", "--bvh", tmp_path / "tool.bvh", "--angles",
                  tmp_path / "tool.mot", "-o", tmp_path / "tool.json")
    markers = scan.Markers.read(tmp_path / "walk.trc", up="+Y")
    assert markers.names == names and markers.positions == pytest.approx(positions, abs=1e-6) and markers.rate == 100
    made = scan.fit(tmp_path / "walk.trc", up="+Y", bvh=tmp_path / "ours.bvh", angles=tmp_path / "ours.mot",
                    output=tmp_path / "ours.json")
    for ending in ("bvh", "mot", "json"):
        assert (tmp_path / f"ours.{ending}").read_bytes() == (tmp_path / f"tool.{ending}").read_bytes()
    for key in ("rms", "scale", "sightings", "markers", "marker_notes", "undetermined", "bones"):
        assert near(getattr(made, key), said[key]), key
    memory = scan.fit(scan.Markers(names, positions, rate=100))
    assert memory.rms == pytest.approx(made.rms, abs=1e-6) and memory.rms < 1e-3
    assert memory.angles.shape == (6, len(memory.angle_names)) and len(memory.translations) == 6
    for call, kind in ((lambda: scan.fit(tmp_path / "walk.trc", even=True), ValueError),
                       (lambda: scan.fit(tmp_path / "walk.trc", up="up"), exemplar.ArgumentError),
                       (lambda: scan.fit(tmp_path / "walk.trc", loss="all"), ValueError),
                       (lambda: scan.fit(tmp_path / "walk.trc", loss=-1), ValueError),
                       (lambda: scan.fit(tmp_path / "walk.trc", frames=0), ValueError),
                       (lambda: scan.fit(tmp_path / "walk.trc", skeleton="no such"), exemplar.Error),
                       (lambda: scan.fit(tmp_path, up="+Y"), ValueError),
                       (lambda: scan.fit(tmp_path), exemplar.Error), (lambda: scan.fit(None), TypeError),
                       (lambda: scan.Markers(names[:-1], positions), ValueError),
                       (lambda: scan.Markers(["a", "a"], positions[:, :2]), ValueError),
                       (lambda: scan.Markers(names, numpy.full_like(positions, math.inf)), ValueError)):
        with pytest.raises(kind):
            call()


def test_real_motion_capture(tool):
    data = os.environ.get("EX_DATA")
    files = sorted((pathlib.Path(data) / "mocap" / "c3d").rglob("*.c3d")) if data else []
    if not files:
        pytest.skip("EX_DATA has no motion capture")
    path = min(files, key=lambda file: file.stat().st_size)
    said = answer(tool, "scan", "fit", path)
    made = scan.fit(path)
    assert near(made.rms, said["rms"]) and made.markers == said["markers"] and made.notes == said["notes"]
