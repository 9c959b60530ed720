"""Motion: what files hold, and poses of a rig from it, equal to what the tool plays."""
import math
import subprocess

import numpy
import pytest

import exemplar
from exemplar import Motion, RigMotion

BVH = """HIERARCHY
ROOT shoulder
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT forearm
  {
    OFFSET 0.3 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT hand
    {
      OFFSET 0.25 0 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0.1 0 0
      }
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.1
0 0 0 0 0 0 0 0 0 0 0 0
0 0 0 10 0 0 45 0 0 5 0 0
0 0 0 20 0 0 90 0 0 10 0 0
"""


@pytest.fixture
def bvh(tmp_path):
    (tmp_path / "m.bvh").write_text(BVH)
    return tmp_path / "m.bvh"


@pytest.fixture(scope="module")
def arm(demo):
    return exemplar.load(demo("arm") / "arm.glb")


def played(tool, demo, tmp_path, *words):
    """Frames that the tool bakes with these options."""
    subprocess.run([tool, "bake", demo("arm") / "arm.glb", *words, "-q", "-o", tmp_path / "tool.pc2"], check=True)
    with exemplar.Cache(tmp_path / "tool.pc2") as cache:
        return cache[:]


def test_contents(bvh, tmp_path):
    motion = Motion.read(bvh)
    assert motion.names == ["shoulder", "forearm", "hand", "hand_end"] and len(motion) == 3
    assert motion.parents.tolist() == [-1, 0, 1, 2] and motion.ends.tolist() == [False, False, False, True]
    assert numpy.allclose(motion.times, [0, .1, .2]) and numpy.allclose(motion.rest[1, :3], [.3, 0, 0])
    turn = math.radians(45) / 2
    assert numpy.allclose(motion.locals[1, 1, 3:7], [0, 0, math.sin(turn), math.cos(turn)], atol=1e-6)
    motion.write(tmp_path / "again.bvh")
    again = Motion.read(tmp_path / "again.bvh")
    assert again.names == motion.names and numpy.allclose(again.locals, motion.locals, atol=1e-5)
    with pytest.raises(ValueError):
        motion.locals[0] = 0
    assert "3 frames of 4 joints" in repr(motion)


@pytest.mark.parametrize("options, words", [
    ({}, []), ({"fps": 25}, ["--fps", "25"]), ({"fps": 40, "start": .05, "end": .15}, ["--fps", "40", "--start", ".05",
                                                                                    "--end", ".15"]),
    ({"start": .1}, ["--start", ".1"]),
])
def test_poses_as_the_tool_plays_them(tool, demo, arm, bvh, tmp_path, options, words):
    motion = exemplar.poses(arm, bvh, **options)
    assert isinstance(motion, RigMotion) and motion.pose.joints.shape == (len(motion), 3, 10)
    assert motion.matched_count == 3 and motion.last == pytest.approx(.2)
    assert numpy.array_equal(arm.evaluate(motion.pose), played(tool, demo, tmp_path, "--motion", bvh, *words))
    assert numpy.array_equal(Motion.read(bvh).poses(arm, **options).pose.joints, motion.pose.joints)


def test_maps(tool, demo, arm, bvh, tmp_path):
    (tmp_path / "map.json").write_text('{"joints": {"forearm": {"from": "shoulder", "hinge": "z"}}}')
    expected = played(tool, demo, tmp_path, "--motion", bvh, "--map", tmp_path / "map.json")
    for given in (tmp_path / "map.json", {"forearm": {"from": "shoulder", "hinge": "z"}}):
        assert numpy.array_equal(arm.evaluate(exemplar.poses(arm, bvh, map=given).pose), expected)
    assert not numpy.array_equal(arm.evaluate(exemplar.poses(arm, bvh).pose), expected)
    with pytest.raises(exemplar.DataError, match="forarm.*forearm"):
        exemplar.poses(arm, bvh, map={"forarm": "shoulder"})
    with pytest.raises(exemplar.Error, match="map"):
        exemplar.poses(arm, bvh, map={"forearm": 5})


def test_tables(tool, demo, arm, tmp_path):
    (tmp_path / "t.csv").write_text("time,elbow,gender\n0,0,0\n.5,60,1\n1,110,.5\n")
    motion = exemplar.poses(arm, tmp_path / "t.csv", fps=10)
    assert len(motion) == 11 and numpy.allclose(motion.times, numpy.arange(11) / 10)
    expected = played(tool, demo, tmp_path, "--motion", tmp_path / "t.csv", "--fps", "10")
    assert numpy.array_equal(arm.evaluate(motion.pose), expected)
    assert numpy.array_equal(arm.evaluate(motion[3:6].pose), expected[3:6]) and motion[3:6].times[0] == motion.times[3]


def test_clips_of_gltf(tool, demo, arm, tmp_path):
    (tmp_path / "t.csv").write_text("time,elbow,gender\n0,0,0\n.5,60,1\n1,110,.5\n")
    exemplar.bake(arm, tmp_path / "t.csv", tmp_path / "clip.glb", fps=10)
    motion = Motion.read(tmp_path / "clip.glb")
    assert motion.clips == ["motion"] and motion.times[-1] == pytest.approx(1) and "forearm" in motion.names
    expected = played(tool, demo, tmp_path, "--motion", tmp_path / "clip.glb", "--clip", "motion", "--fps", "10")
    for clip in ("motion", 1, "1", None):
        motion = exemplar.poses(arm, tmp_path / "clip.glb", clip=clip, fps=10)
        assert numpy.array_equal(arm.evaluate(motion.pose), expected)
    motion = Motion.read(tmp_path / "clip.glb")
    assert numpy.array_equal(arm.evaluate(motion.poses(arm, fps=10).pose), expected)
    with pytest.raises(exemplar.DataError, match="no clip 'motoin'"):
        exemplar.poses(arm, tmp_path / "clip.glb", clip="motoin")
    with pytest.raises(KeyError, match="no clip"):
        Motion.read(tmp_path / "clip.glb", clip=2)


def test_motion_from_arrays(arm):
    skeleton = arm.skeleton
    locals_ = numpy.repeat(skeleton.rest[None], 4, axis=0)
    locals_[:, 1, 3:7] = [[0, 0, math.sin(a / 2), math.cos(a / 2)] for a in (0, .3, .6, .9)]
    motion = Motion(skeleton.names, skeleton.parents, skeleton.rest, [0, 1, 2, 4], locals_)
    assert numpy.allclose(motion.poses(arm).pose.joints, locals_, atol=1e-6)
    assert numpy.array_equal(motion.poses(arm).times, [0, 1, 2, 4])
    with pytest.raises(exemplar.Error, match="evenly spaced"):
        motion.write("/tmp/never.bvh")
    with pytest.raises(ValueError, match="go with a motion from a file"):
        motion.poses(arm, fps=5)
    motion.parents[2] = 7
    with pytest.raises(ValueError, match="parents"):
        motion.poses(arm)


@pytest.mark.parametrize("arguments, options", [
    ((5,), {}), ((None,), {}), (("none.txt",), {}), (("none.bvh",), {}), (("none.bvh",), {"clip": "a"}),
    ((None,), {"clip": "a", "map": {}}), (("none.csv",), {"map": {}}), (("none.bvh",), {"fps": 0}),
    (("none.bvh",), {"fps": "a"}), (("none.bvh",), {"end": 0}), (("none.bvh",), {"start": -1}), ((None,), {"clip": 0}),
    (("none.bvh",), {"map": 5}), (("a\0b.bvh",), {}), ((None,), {"clip": "walk"}), (("none.glb",), {"clip": []}),
])
def test_wrong_motions(arm, arguments, options):
    with pytest.raises((ValueError, TypeError, exemplar.Error)):
        exemplar.poses(arm, *arguments, **options)


def test_wrong_arrays(arm, demo):
    names, parents, rest = ["a", "b"], [-1, 0], numpy.tile([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], (2, 1))
    good = [names, parents, rest, [0, 1], numpy.stack([rest, rest])]
    Motion(*good)
    for index, wrong in ((0, "ab"), (0, [1, 2]), (1, [0, 1]), (1, [-2, 0]), (2, rest[:1]), (3, []), (3, [1, 0]),
                         (4, rest), (4, numpy.stack([rest, rest]) * numpy.nan)):
        with pytest.raises((ValueError, TypeError)):
            Motion(*[wrong if i == index else value for i, value in enumerate(good)])
    with pytest.raises((ValueError, TypeError)):
        Motion(*good, dials={"a": [1]})
    other = exemplar.load(demo("arm") / "arm.glb")
    with pytest.raises(TypeError, match="of this rig"):
        exemplar.poses(arm, other.pose(elbow=5))
    with pytest.raises(ValueError, match="ascending"):
        RigMotion(arm.pose(elbow=[1, 2]), [1, 1])


def test_motions_as_poses(arm):
    motion = exemplar.RigMotion(arm.pose(elbow=[0, 30, 60, 90]), [0, 1, 2, 3])
    wanted = arm.evaluate(motion.pose)
    assert numpy.array_equal(arm.evaluate(motion), wanted)
    assert numpy.array_equal(numpy.concatenate([part.copy() for _, part in arm.iterate(motion, chunk=3)]), wanted)
    assert isinstance(motion[3], exemplar.Pose) and motion[-1] == motion.pose[3] and len(list(motion)) == 4
    assert isinstance(motion[1:3], exemplar.RigMotion) and motion[1:3].pose == motion.pose[1:3]
    assert numpy.array_equal(exemplar.render(arm, motion[1:2], size=(32, 32)),
                             exemplar.render(arm, motion[1], size=(32, 32)))
    with pytest.raises(IndexError):
        motion[4]
