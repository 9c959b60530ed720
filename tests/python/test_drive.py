"""Clothes that follow a body: the same rigs, frames and figures as the tool's, from files and from memory."""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap

import numpy
import pytest

import exemplar
from exemplar import Cache, Mesh, drive
from exemplar._driven import write_rig
from exemplar.drive import Take


def tube(radius, low, high, rings, sides=12):
    """An upright tube of quads."""
    around = numpy.arange(sides) * 2 * math.pi / sides
    vertices = [[radius * math.cos(a), y, radius * math.sin(a)]
                for y in numpy.linspace(low, high, rings) for a in around]
    faces = [[r * sides + s, (r + 1) * sides + s, (r + 1) * sides + (s + 1) % sides, r * sides + (s + 1) % sides]
             for r in range(rings - 1) for s in range(sides)]
    upper = [int(f[0] >= len(vertices) // 2) for f in faces]
    return Mesh(vertices, faces, groups=["lower", "upper"], face_groups=upper)


BODY, SLEEVE = tube(.05, -.4, .4, 17), tube(.056, -.3, .25, 15)


def bent(mesh, angles, lag=0):
    """Frames of a mesh that bends at y = 0 about z, with cloth that is late by a part of the motion."""
    frames = []
    for i, angle in enumerate(angles):
        angle = angle + lag * (angles[max(0, i - 2)] - angle)
        form = mesh.vertices.copy()
        part = numpy.clip((form[:, 1] + .1) / .2, 0, 1) * angle
        x, y = form[:, 0].copy(), numpy.maximum(form[:, 1], 0)
        form[:, 0] = x * numpy.cos(part) - y * numpy.sin(part)
        form[:, 1] = numpy.minimum(form[:, 1], 0) + x * numpy.sin(part) + y * numpy.cos(part)
        frames.append(form)
    return numpy.array(frames, dtype=numpy.float32)


TRAIN = .6 + .6 * numpy.sin(numpy.arange(30) * .35)
UNSEEN = .7 + .7 * numpy.sin(numpy.arange(12) * .5 + 1)


class Data:
    def __init__(self, folder):
        self.folder = folder
        self.body, self.sleeve = folder / "body.obj", folder / "sleeve.obj"
        BODY.write(self.body)
        SLEEVE.write(self.sleeve)
        for name, angles in (("train", TRAIN), ("unseen", UNSEEN)):
            for part, mesh, lag in (("body", BODY, 0), ("sleeve", SLEEVE, .2)):
                frames = bent(mesh, angles, lag)
                setattr(self, f"{name}_{part}", frames)
                setattr(self, f"{name}_{part}_path", folder / f"{name}_{part}.pc2")
                Cache.write(folder / f"{name}_{part}.pc2", frames)
        self.takes = [(self.train_body_path, self.train_sleeve_path)]
        self.words = ["--driver", self.train_body_path, "--driven", self.train_sleeve_path, "--driver-mesh", self.body,
                      "--driven-mesh", self.sleeve]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("drive"))


@pytest.fixture(scope="module")
def learned(data):
    return drive.learn(data.body, data.sleeve, data.takes, keys=4, frames=1)


@pytest.fixture(scope="module")
def rig(learned, data):
    learned.write(data.folder / "rig.glb")
    return data.folder / "rig.glb"


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path_factory, monkeypatch):
    """Temporary folders go to a folder of their own, which is empty after each test."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert os.listdir(folder) == []


def tell(tool, *words):
    return json.loads(subprocess.run([tool, "drive", *words, "--json"], check=True, capture_output=True).stdout)


@pytest.mark.parametrize("options, words", [
    ({"keys": 4, "frames": 1}, ["--keys", "4", "--frames", "1"]),
    ({"keys": 3}, ["--keys", "3"]),
    ({"keys": 3, "paper": True, "threads": 2}, ["--keys", "3", "--paper"]),
    ({"keys": 9, "until": "1mm", "choose": "worst", "frames": 8, "residual": "none"},
     ["--keys", "9", "--until", "1mm", "--choose", "worst", "--frames", "8", "--residual", "none"]),
    ({"at": [3, 17], "frame": "group:lower", "frames": 1, "weights": "group:upper", "thickness": "4mm", "push": False,
      "name": "arm"}, ["--at", "4,18", "--frame", "group:lower", "--frames", "1", "--weights", "group:upper",
                       "--thickness", "4mm", "--no-push", "--name", "arm"]),
    ({"keys": 3, "frame": "none", "paths": True, "driver_scale": 2, "driven_scale": 2},
     ["--keys", "3", "--frame", "none", "--paths", "--driver-scale", "2", "--driven-scale", "2"]),
    ({"method": "motion", "forms": 6, "landmarks": 20, "up": "y"},
     ["--method", "motion", "--forms", "6", "--landmarks", "20", "--up", "y"]),
])
def test_learned_as_by_the_tool(tool, data, tmp_path, options, words):
    told = tell(tool, "learn", *data.words, *words, "-o", tmp_path / "tool.glb")
    learned = drive.learn(data.body, data.sleeve, data.takes, **options)
    learned.write(tmp_path / "ours.glb")
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    assert learned.error == told["error"]
    if learned.method == "keys":
        assert [f + 1 for f in learned.key_frames] == [key["frame"] for key in told["keys"]]
        assert [None if math.isnan(e) else e for e in learned.key_errors] == [key["error"] for key in told["keys"]]
        for key in ("frames", "residual", "nearest"):
            assert getattr(learned, key) == told[key]
        assert list(learned.keys) == [key["name"] for key in told["keys"]]
    else:
        assert learned.left_out == told["left_out"] and learned.up.tolist() == [0, 1, 0] and learned.nearest is None


def test_arrays_ranges_and_databases(tool, data, tmp_path):
    """Frames in memory give the bytes that files give, whatever the range, the rate and the database."""
    words = [*data.words, "--range", "3:20", "--fps", "24", "--database", "stiffness=1", "--driver",
             data.unseen_body_path, "--driven", data.unseen_sleeve_path, "--range", "2-", "--fps", "30", "--database",
             "stiffness=5", "--keys", "2", "--frames", "1"]
    tell(tool, "learn", *words, "-o", tmp_path / "tool.glb")
    learned = drive.learn(
        (BODY.vertices, BODY.faces), Mesh.read(data.sleeve),
        [Take(data.train_body, iter(data.train_sleeve), range=slice(2, 20), database=1),
         Take(Cache(data.unseen_body_path), data.unseen_sleeve.astype(float), range=(1, None), fps=30, database=5)],
        database="stiffness", keys=2, frames=1)
    learned.write(tmp_path / "ours.glb")
    with_groups = drive.learn(data.body, data.sleeve, [
        Take(data.train_body, data.train_sleeve, range=slice(2, 20), database=1),
        Take(data.unseen_body, data.unseen_sleeve, range=(1, None), fps=30, database=5)],
        database="stiffness", keys=2, frames=1)
    with_groups.write(tmp_path / "groups.glb")
    assert (tmp_path / "groups.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    assert numpy.array_equal(learned.key_frames, with_groups.key_frames) and len(learned.keys) == 4
    soft, hard = (drive.apply(learned, data.unseen_body, database=value) for value in (1, {"stiffness": 5}))
    assert not numpy.array_equal(soft, hard)
    tell(tool, "apply", tmp_path / "tool.glb", "--driver", data.unseen_body_path, "--database", "stiffness=5", "-o",
         tmp_path / "hard.pc2")
    assert numpy.array_equal(hard, Cache(tmp_path / "hard.pc2")[:])


def test_bind_and_meshes_of_caches(tool, data, tmp_path):
    binds = {"binds": [{"driven": "upper", "driver": "upper"}]}
    (tmp_path / "bind.json").write_text(json.dumps(binds))
    for name, mesh, frames in (("body", BODY, data.train_body), ("sleeve", SLEEVE, data.train_sleeve)):
        Cache.write(tmp_path / f"{name}.obj", frames[:8], mesh=mesh)
    tell(tool, "learn", "--driver", tmp_path / "body.obj", "--driven", tmp_path / "sleeve.obj", "--keys", "2",
         "--frames", "1", "--bind", tmp_path / "bind.json", "-o", tmp_path / "tool.glb")
    for bind in (tmp_path / "bind.json", binds):
        takes = [(tmp_path / "body.obj", tmp_path / "sleeve.obj")]
        learned = drive.learn(None, None, takes, keys=2, frames=1, bind=bind)
        learned.write(tmp_path / "ours.glb")
        assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()


@pytest.mark.parametrize("options, words", [
    ({}, []), ({"settle": False, "frames": (2, 9)}, ["--no-settle", "--frames", "3:9"]),
    ({"untangle": True, "group": "upper", "fps": 12}, ["--untangle", "--group", "upper", "--fps", "12"]),
    ({"driven_scale": .01, "threads": 2}, ["--driven-scale", ".01"]),
])
@pytest.mark.parametrize("ending", ["pc2", "mdd"])
def test_applied_as_by_the_tool(tool, data, rig, learned, tmp_path, options, words, ending):
    told = tell(tool, "apply", rig, "--driver", data.unseen_body_path, *words, "-o", tmp_path / f"tool.{ending}")
    applied = drive.apply(rig, data.unseen_body_path, tmp_path / f"ours.{ending}", **options)
    assert (tmp_path / f"ours.{ending}").read_bytes() == (tmp_path / f"tool.{ending}").read_bytes()
    assert (applied.frames, applied.vertices, applied.far, applied.left) == tuple(
        told[key] for key in ("frames", "vertices", "far", "left"))
    frames = drive.apply(learned, data.unseen_body, **options)
    assert numpy.array_equal(frames, Cache(tmp_path / f"tool.{ending}")[:])
    streamed = drive.apply(learned.rig, iter(data.unseen_body), **options)
    assert not isinstance(streamed, numpy.ndarray) and numpy.array_equal(list(streamed), frames)


def test_untangled(tool, data, rig, tmp_path):
    far = bent(BODY, numpy.linspace(1.6, 2.9, 6))
    Cache.write(tmp_path / "far.pc2", far)
    tell(tool, "apply", rig, "--driver", tmp_path / "far.pc2", "--untangle", "-o", tmp_path / "tool.pc2")
    untangled = drive.apply(rig, far, untangle=True)
    assert numpy.array_equal(untangled, Cache(tmp_path / "tool.pc2")[:])
    assert not numpy.array_equal(untangled, drive.apply(rig, far))
    report = drive.report(rig, far, untangle=True)
    assert report.frames["crossings"].sum() < report.frames["crossings_before"].sum()


def test_over_other_garments(tool, data, rig, tmp_path):
    shirt = tube(.058, -.3, .25, 15)
    shirt.write(tmp_path / "shirt.obj")
    Cache.write(tmp_path / "shirt.pc2", bent(shirt, UNSEEN))
    tell(tool, "apply", rig, "--driver", data.unseen_body_path, "--over", tmp_path / "shirt.pc2", "--over-mesh",
         tmp_path / "shirt.obj", "-o", tmp_path / "tool.pc2")
    for over in ((tmp_path / "shirt.pc2", tmp_path / "shirt.obj"), (bent(shirt, UNSEEN), shirt)):
        assert numpy.array_equal(drive.apply(rig, data.unseen_body, over=[over]), Cache(tmp_path / "tool.pc2")[:])


def test_numbered_files(tool, data, rig, tmp_path):
    drive.apply(rig, data.unseen_body_path, tmp_path / "a.obj", frames=(0, 3))
    before = (tmp_path / "a_0002.obj").read_bytes()
    with pytest.raises(FileExistsError, match="a_0001.obj.*force"):
        drive.apply(rig, data.unseen_body_path, tmp_path / "a.obj", frames=(4, 7))
    assert (tmp_path / "a_0002.obj").read_bytes() == before
    drive.apply(rig, data.unseen_body_path, tmp_path / "a.obj", frames=(4, 7), force=True)
    assert (tmp_path / "a_0002.obj").read_bytes() != before
    Cache.write(tmp_path / "body.obj", data.unseen_body[:2], mesh=BODY)
    with pytest.raises(ValueError, match="frame of the driver"):
        drive.apply(rig, tmp_path / "body.obj", tmp_path / "body.obj", force=True)
    with pytest.raises(ValueError, match="also an input"):
        drive.apply(rig, data.unseen_body_path, data.unseen_body_path)


def test_report_as_by_the_tool(tool, data, rig, tmp_path):
    words = ["--driver", data.unseen_body_path, "--truth", data.unseen_sleeve_path, "--frames", "2:10"]
    told = tell(tool, "report", rig, *words, "--csv", tmp_path / "tool.csv", "--picture", tmp_path / "tool.svg")
    report = drive.report(rig, data.unseen_body, data.unseen_sleeve, frames=(1, 10))
    for key in ("mean", "p95", "nearest_mean", "nearest_p95", "blend_mean", "blend_p95", "key_spread", "far"):
        assert getattr(report, key) == told[key], key
    assert len(report) == 9 and list(report.keys) == told["keys"]
    assert numpy.array_equal(report.numbers + 1, [frame["frame"] for frame in told["frames"]])
    for key in report.frames.dtype.names:
        theirs = [-1 if frame[key] is None else frame[key] for frame in told["frames"]]
        assert numpy.allclose(report.frames[key], theirs, rtol=1e-7, atol=1e-6 if key == "time" else 0), key
    assert numpy.array_equal(report.weights, [frame["weights"] for frame in told["frames"]])
    assert numpy.array_equal(report.vertex_errors, told["vertex_errors"])
    from_file = drive.report(rig, data.unseen_body_path, data.unseen_sleeve_path, frames=(1, 10))
    from_file.write_table(tmp_path / "ours.csv")
    from_file.draw(tmp_path / "ours.svg")
    for ending in ("csv", "svg"):
        assert (tmp_path / f"ours.{ending}").read_bytes() == (tmp_path / f"tool.{ending}").read_bytes()
    worst = report.worst(3)
    assert 1 <= len(worst) <= 3 and report.frames["mean"][worst[0]] == report.frames["mean"].max()
    assert drive.report(rig, data.unseen_body).mean is None


def test_suggestions(tool, data, rig):
    far = bent(BODY, numpy.linspace(0, 2.6, 20))
    found = drive.suggest(rig, far, count=3)
    path = data.folder / "far.pc2"
    Cache.write(path, far)
    told = tell(tool, "suggest", rig, "--driver", path, "--count", "3")
    assert len(found) and [f + 1 for f in found.frames] == [frame["frame"] for frame in told["frames"]]
    assert found.distances.tolist() == [frame["distance"] for frame in told["frames"]]
    assert (found.left, found.enough) == (told["left"], told["enough"]) and not found.by_motion


def test_keys(tool, data, rig, learned, tmp_path):
    told = tell(tool, "keys", rig)
    keys = drive.keys(rig)
    assert [key.name for key in keys] == list(learned.keys)
    for ours, theirs in zip(keys, told["keys"]):
        for key in ("from_mesh", "nearest", "distance"):
            assert getattr(ours, key) == theirs[key]
    assert numpy.allclose(keys[0].driver, data.train_body[learned.key_frames[0]], atol=1e-6)
    tell(tool, "add", rig, "--driver", data.unseen_body_path, "--driven", data.unseen_sleeve_path, "--at", "5", "-o",
         tmp_path / "tool.glb")
    more = drive.add(rig, data.unseen_body_path, data.unseen_sleeve, at=4)
    write_rig(more, tmp_path / "ours.glb")
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    by_form = drive.add(rig, data.unseen_body[4], (data.unseen_sleeve[4], SLEEVE.faces), name="frame_005")
    assert [key.name for key in drive.keys(by_form)] == [*learned.keys, "frame_005"]
    tell(tool, "remove", rig, learned.keys[1], "-o", tmp_path / "tool.glb")
    write_rig(drive.remove(rig, learned.keys[1]), tmp_path / "ours.glb")
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    for call in (lambda: drive.add(rig, data.unseen_body, data.unseen_sleeve, at=99), lambda: drive.remove(rig, "none"),
                 lambda: drive.remove(rig, list(learned.keys)), lambda: drive.remove(rig, 5),
                 lambda: drive.add(rig, data.unseen_body[4], data.unseen_sleeve[4]),
                 lambda: drive.add(rig, data.unseen_body[4] * 100, data.unseen_sleeve[4], name="far"),
                 lambda: drive.add(rig, data.unseen_body_path, data.unseen_sleeve_path, name="a"),
                 lambda: drive.add(rig, data.unseen_body[4], data.unseen_sleeve[4], name=learned.keys[0])):
        with pytest.raises((ValueError, TypeError, KeyError, IndexError, exemplar.Error)):
            call()


def test_stopped_by_a_function(data, rig, tmp_path):
    def stop(what, fraction):
        raise ZeroDivisionError

    calls = [lambda: drive.learn(data.body, data.sleeve, [(data.train_body, data.train_sleeve)], keys=4, progress=stop),
             lambda: drive.learn(BODY, SLEEVE, [(data.train_body, data.train_sleeve)], method="motion", progress=stop),
             lambda: drive.apply(rig, data.unseen_body, tmp_path / "out.pc2", progress=stop),
             lambda: drive.apply(rig, data.unseen_body, progress=stop),
             lambda: list(drive.apply(rig, iter(data.unseen_body), progress=stop)),
             lambda: drive.report(rig, data.unseen_body, data.unseen_sleeve, progress=stop),
             lambda: drive.suggest(rig, data.unseen_body, progress=stop)]
    for call in calls:
        with pytest.raises(ZeroDivisionError):
            call()
    assert os.listdir(tmp_path) == []


def test_interrupted_by_a_signal(data, tmp_path):
    """Ctrl-C in the middle of learning: the exception, its exit status, and nothing left behind."""
    script = textwrap.dedent("""
        import sys, numpy, exemplar
        folder = sys.argv[1]
        body, sleeve = exemplar.Cache(folder + "/train_body.pc2")[:], exemplar.Cache(folder + "/train_sleeve.pc2")[:]
        seen = []
        def told(what, fraction):
            if fraction > .02 and not seen:
                seen.append(print("ready", flush=True))
        many = [(body, sleeve)] * 20
        learned = exemplar.drive.learn(folder + "/body.obj", folder + "/sleeve.obj", many, keys=40, progress=told)
        learned.write(sys.argv[2] + "/rig.glb")
        """)
    (tmp_path / "temporary").mkdir()
    run = subprocess.Popen([sys.executable, "-B", "-c", script, data.folder, tmp_path], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")})
    assert run.stdout.readline() == "ready\n"
    assert len(os.listdir(tmp_path / "temporary")) == 1
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=30)
    assert run.returncode == -signal.SIGINT, errors
    assert errors.rstrip().endswith("KeyboardInterrupt") and "ignored" not in errors
    assert os.listdir(tmp_path) == ["temporary"] and os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize("options", [
    {"keys": 0}, {"keys": 2.5}, {"keys": 2, "method": "magic"}, {"keys": 2, "forms": 3}, {"keys": 2, "up": "y"},
    {"method": "motion", "keys": 2}, {"method": "motion", "up": "w"}, {"keys": 2, "residual": "some"}, {"at": [-1]},
    {"at": [999]}, {"keys": 2, "choose": "best"}, {"keys": 2, "until": "5km"}, {"keys": 2, "thickness": -1},
    {"keys": 2, "frames": 0}, {"keys": 2, "frames": "many"}, {"keys": 2, "frame": "group:"}, {"keys": 2, "frame": 5},
    {"keys": 2, "frame": "group:none"}, {"keys": 2, "paper": True, "frames": 1}, {"keys": 2, "database": "a"},
    {"keys": 2, "weights": [1]}, {"keys": 2, "weights": numpy.full(BODY.vertex_count, -1)}, {"keys": 2, "bind": 5},
    {"keys": 2, "bind": {"binds": 5}}, {"keys": 2, "driver_scale": 0}, {"keys": 2, "push": 1}, {"keys": 2, "name": ""},
    {"keys": 2, "name": "a\0"}, {"keys": 2, "threads": -1}, {"keys": 2, "progress": 1},
    {"keys": 2, "driven_scale": 100},
    {"keys": 2, "paths": None}, {"keys": 2, "weights": "none.txt"}, {"keys": 2, "bind": {"binds": {1, 2}}},
])
def test_wrong_options(data, options):
    with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
        drive.learn(BODY, SLEEVE, data.takes, **options)


def test_wrong_takes(data, rig, demo):
    body, sleeve = data.train_body, data.train_sleeve
    for takes in ([], "ab", 5, [body], [(body, sleeve, None)], [(body[0], sleeve)], [(body, 5)], [(body, "none.pc2")],
                  [(body[:5], sleeve)], [(body[:, :9], sleeve)], [(body * numpy.nan, sleeve)], [(sleeve, body)],
                  [Take(body, sleeve, range=(40, None))], [Take(body, sleeve, range=(4, 4))],
                  [Take(body, sleeve, fps=0)],
                  [Take(body, sleeve, database=3)], [(iter([]), sleeve)], [(body.astype(complex), sleeve)]):
        with pytest.raises((ValueError, TypeError, exemplar.Error)):
            drive.learn(BODY, SLEEVE, takes, keys=2, frames=1)
    with pytest.raises(ValueError, match="name their mesh with driver"):
        drive.learn(None, SLEEVE, data.takes, keys=2)
    arm = demo("arm") / "arm.glb"
    for call in (lambda: drive.apply(arm, body), lambda: drive.apply(5, body), lambda: drive.apply(rig, sleeve),
                 lambda: drive.apply(rig, body, "out.txt"), lambda: drive.apply(rig, body, group="none"),
                 lambda: drive.apply(rig, body, database=5), lambda: drive.apply(rig, body, database={"a": 1}),
                 lambda: drive.apply(rig, body, over=[5]), lambda: drive.apply(rig, body, over=[(body, BODY, 1)]),
                 lambda: drive.apply(rig, body, over=[(body[:2], BODY)]),
                 lambda: drive.apply(rig, body, frames=(99, None)),
                 lambda: drive.apply(rig, None), lambda: drive.report(rig, body, sleeve[:3]),
                 lambda: drive.report(rig, body, settle=0), lambda: drive.suggest(rig, body, count=0),
                 lambda: drive.suggest(arm, body), lambda: drive.keys(arm),
                 lambda: drive.report(rig, body).draw("a.gif")):
        with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
            call()
    assert not pathlib.Path("out.txt").exists()


def test_twelve_keys_are_chosen_if_nothing_is_said(data):
    learned = drive.learn(BODY, SLEEVE, data.takes)
    wanted = drive.learn(BODY, SLEEVE, data.takes, keys=12)
    assert learned.keys == wanted.keys and learned.notes == wanted.notes
    assert (len(learned.keys) == 12) != any("not 12" in note for note in learned.notes)


def test_a_report_is_drawn_with_its_own_keys(data, tmp_path):
    learned = drive.learn(BODY, SLEEVE, data.takes, keys=2)
    report = drive.report(learned, data.takes[0][0])
    report.keys = ()
    report.draw(tmp_path / "a.svg")
    assert all(key in (tmp_path / "a.svg").read_text() for key in learned.keys)


def test_messages_name_arguments_not_temporary_files(data):
    (driver, driven), = data.takes[:1]
    wrong = numpy.zeros((4, 5, 3))
    for call, word in ((lambda: drive.learn(BODY, SLEEVE, [(wrong, wrong)]), "takes[0].driver"),
                       (lambda: drive.apply(drive.learn(BODY, SLEEVE, data.takes, keys=2), wrong), "driver")):
        with pytest.raises(exemplar.Error) as raised:
            call()
        assert word in str(raised.value) and "exemplar-" not in str(raised.value)
