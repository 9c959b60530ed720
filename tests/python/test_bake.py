"""Baking: the same bytes as the tool for the same options, and the same report."""
import json
import os
import subprocess

import numpy
import pytest

import exemplar

KEYS = ["frames", "targets", "unused", "influences", "influences_of_rig", "exact", "height", "keys", "bytes",
        "keys_of_all_frames", "morphed_attributes", "layers_of_pixels_left_out"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("motion") / "bend.csv"
    path.write_text("time,elbow,shoulder\n0,0,0\n.25,60,10\n.5,110,30\n")
    return path


@pytest.fixture(scope="module")
def arm(demo):
    return exemplar.load(demo("arm") / "arm.glb")


def tell(tool, *words):
    """The report of the tool; its files have the names of ours, in folder tool, since a .glb holds its name."""
    words = list(words)
    os.mkdir(words[-1].parent)
    run = subprocess.run([tool, "bake", *words[:-1], "-o", words[-1], "--json"], check=True, capture_output=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize("options, words", [
    ({}, []), ({"targets": 4, "thin": "0.01%"}, ["--targets", "4", "--thin", "0.01%"]),
    ({"thin": 1e-4, "influences": 1}, ["--thin", "1e-4", "--influences", "1"]),
    ({"frames": slice(2, 7), "error": "5%"}, ["--frames", "3:7", "--error", "5%"]),
    ({"muted": "arm"}, ["--mute", "arm"]), ({"threads": 2, "frames": (3, None)}, ["--frames", "4:"]),
])
def test_glb_equals_the_tools(tool, demo, arm, table, tmp_path, options, words):
    told = tell(tool, demo("arm") / "arm.glb", "--motion", table, "--fps", "24", *words, tmp_path / "tool" / "a.glb")
    report = exemplar.bake(arm, table, tmp_path / "a.glb", fps=24, **options)
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "tool" / "a.glb").read_bytes()
    for key in KEYS:
        assert getattr(report, key) == told[key], key
    for ours, its in ((report.error, told["error"]), (report.loss_by_influences, told["loss_by_influences"])):
        assert (ours.largest, ours.rms, ours.frame + 1, ours.vertex) == tuple(its.values())


@pytest.mark.parametrize("ending", ["pc2", "mdd", "abc"])
def test_caches_equal_the_tools(tool, demo, arm, table, tmp_path, ending):
    told = tell(tool, demo("arm") / "arm.glb", "--motion", table, "--fps", "24", tmp_path / "tool" / f"a.{ending}")
    report = exemplar.bake(demo("arm") / "arm.glb", table, tmp_path / f"a.{ending}", fps=24)
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / "tool" / f"a.{ending}").read_bytes()
    assert (report.frames, report.seconds, report.vertices) == (told["frames"], told["seconds"], told["vertices"])
    assert report.exact and report.error is None


def test_numbered_files(tool, demo, arm, table, tmp_path):
    tell(tool, demo("arm") / "arm.glb", "--motion", table, tmp_path / "tool" / "a.obj")
    exemplar.bake(arm, table, tmp_path / "a.obj")
    for number in (1, 2, 3):
        assert (tmp_path / f"a_000{number}.obj").read_bytes() == (tmp_path / "tool" / f"a_000{number}.obj").read_bytes()
    with pytest.raises(FileExistsError, match="force"):
        exemplar.bake(arm, table, tmp_path / "a.obj")
    exemplar.bake(arm, table, tmp_path / "a.obj", force=True)


def test_poses_and_motions(arm, table, tmp_path):
    pose = arm.pose(elbow=numpy.linspace(0, 90, 7), gender=1)
    exemplar.bake(arm, pose, tmp_path / "a.pc2", fps=30)
    with exemplar.Cache(tmp_path / "a.pc2") as cache:
        assert numpy.array_equal(cache[:], arm.evaluate(pose)) and cache.rate == pytest.approx(30)
    exemplar.bake(arm, exemplar.poses(arm, table, fps=24), tmp_path / "b.pc2")
    exemplar.bake(arm, table, tmp_path / "c.pc2", fps=24)
    assert (tmp_path / "b.pc2").read_bytes() == (tmp_path / "c.pc2").read_bytes()


def test_clips_of_the_rig(tool, arm, demo, table, tmp_path):
    with pytest.raises(exemplar.DataError, match="no clips"):
        exemplar.bake(arm, None, tmp_path / "a.glb", clip="walk")
    assert os.listdir(tmp_path) == [] and arm.clips == ()
    project = exemplar.Project.unpack(arm, tmp_path / "arm")
    exemplar.bake(arm, table, tmp_path / "arm" / "clips.glb")
    with project.edit() as data:
        data["clips"] = "clips.glb"
    rig = project.build()
    assert len(rig.clips) == 1 and len(exemplar.poses(rig, clip=rig.clips[0])) > 1


def test_a_function_in_place_of_the_runtime(arm, table, tmp_path):
    calls = []

    def evaluate(pose):
        calls.append(len(pose))
        return arm.evaluate(pose)

    exemplar.bake(arm, table, tmp_path / "a.pc2", fps=200, evaluate=evaluate)
    exemplar.bake(arm, table, tmp_path / "b.pc2", fps=200)
    assert sum(calls) == 101 and max(calls) <= 64
    assert (tmp_path / "a.pc2").read_bytes() == (tmp_path / "b.pc2").read_bytes()
    with pytest.raises(ZeroDivisionError):
        exemplar.bake(arm, table, tmp_path / "c.pc2", evaluate=lambda pose: 1 / 0)
    with pytest.raises(ValueError, match="must be"):
        exemplar.bake(arm, table, tmp_path / "c.pc2", evaluate=lambda pose: numpy.zeros((1, 2, 3)))
    assert sorted(os.listdir(tmp_path)) == ["a.pc2", "b.pc2"]


def test_paths_that_turn(tool, demo, tmp_path):
    """A rig with trajectories: the distance halfway between frames is that of the tool."""
    blob = demo("blob")
    subprocess.run([tool, "warp", blob / "left.obj", blob / "right.obj", "-q", "-o", tmp_path / "warp.glb"], check=True)
    (tmp_path / "t.csv").write_text("time,t\n0,0\n1,.4\n2,1\n")
    told = tell(tool, tmp_path / "warp.glb", "--motion", tmp_path / "t.csv", tmp_path / "tool" / "a.glb")
    report = exemplar.bake(tmp_path / "warp.glb", tmp_path / "t.csv", tmp_path / "a.glb")
    assert report.between_frames == told["between_frames"]["largest"] > 0
    assert report.why_not_exact == told["why_not_exact"]
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "tool" / "a.glb").read_bytes()


@pytest.mark.parametrize("ending", ["glb", "pc2", "obj"])
def test_interrupted(arm, table, tmp_path, ending):
    for stop in (lambda what, fraction: 1 / 0, lambda what, fraction: False):
        with pytest.raises((ZeroDivisionError, KeyboardInterrupt)):
            exemplar.bake(arm, table, tmp_path / f"a.{ending}", fps=200, progress=stop)
        assert os.listdir(tmp_path) == []
    told = []
    exemplar.bake(arm, table, tmp_path / f"a.{ending}", fps=48, progress=lambda what, fraction: told.append(fraction))
    assert told and 0 <= min(told) <= max(told) <= 1


@pytest.mark.parametrize("path, options", [
    ("a.txt", {}), (None, {}), ("a.pc2", {"targets": 3}), ("a.pc2", {"thin": 1}), ("a.glb", {"targets": 0}),
    ("a.glb", {"thin": "x%"}), ("a.glb", {"thin": -1}), ("a.glb", {"influences": 1.5}), ("a.glb", {"level": "far"}),
    ("a.glb", {"level": 3}), ("a.glb", {"level": -7}), ("a.glb", {"frames": (5, 2)}), ("a.glb", {"frames": (0, 99)}),
    ("a.glb", {"frames": 5}), ("a.glb", {"frames": slice(0, 5, 2)}), ("a.glb", {"muted": 5}),
    ("a.glb", {"muted": ["no"]}),
    ("a.glb", {"evaluate": print}), ("a.pc2", {"evaluate": 5}), ("a.glb", {"threads": 0}), ("a.glb", {"progress": 5}),
    ("a.glb", {"force": None}), ("a.glb", {"error": 1e-9, "targets": 1}), ("none/a.glb", {}),
])
def test_wrong_use(arm, table, tmp_path, path, options):
    with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
        exemplar.bake(arm, table, path and tmp_path / path, fps=24, **options)
    assert os.listdir(tmp_path) == []


def test_the_input_stays(arm, table, tmp_path):
    path = tmp_path / "m.glb"
    exemplar.bake(arm, table, path)
    with pytest.raises(ValueError, match="also an input"):
        exemplar.bake(arm, path, path)
