"""Poses: values by name, indices, slices that share numbers, copies; and numbers that no one can pull away."""
import copy
import gc
import pickle

import numpy
import pytest

import exemplar


@pytest.fixture(scope="module")
def arm(demo):
    return exemplar.load(demo("arm") / "arm.glb")


def test_by_name(arm):
    pose = arm.pose({"elbow": [10, 70, 130]}, gender=0.25)
    assert len(pose) == 3
    assert numpy.allclose(pose["elbow"], [10, 70, 130], atol=1e-4)
    assert numpy.array_equal(pose["gender"], [0.25] * 3)
    assert numpy.array_equal(pose.dials, [[0.25]] * 3)
    pose["elbow"] = 90
    pose["gender"] = [0, 1, 2]
    assert numpy.allclose(pose["elbow"], 90, atol=1e-4) and numpy.array_equal(pose["gender"], [0, 1, 2])
    assert numpy.allclose(arm.pose()["shoulder"], 0, atol=1e-4)
    assert "elbow 90" in repr(pose) and "gender 0 to 2" in repr(pose)


def test_one_number(arm):
    """The short way for one pose does what the long way does."""
    for name in ("elbow", "gender"):
        for value in (0, 33, 0.5, float("nan"), float("inf"), -1e300):
            one, same = arm.pose(), arm.pose(shoulder=[20, 20])
            one["shoulder"] = 20.0
            one[name] = value
            same[name] = [value, value]
            assert numpy.array_equal(one.joints[0], same.joints[1])
            assert numpy.array_equal(one.dials[0], same.dials[1], equal_nan=True)
    with pytest.raises(ValueError, match="too large"):
        arm.pose()["gender"] = 10 ** 400
    part = arm.pose(gender=[0, 0, 0])
    part[1]["gender"] = 7
    assert list(part["gender"]) == [0, 7, 0]


def test_names_of_any_kind():
    square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=float)
    rig = exemplar.Rig(square, [[0, 1, 2]],
                       [exemplar.layer("size", {"left elbow: bent": (0, 1)}, [0, 1], [square, 2 * square])])
    pose = rig.pose({"left elbow: bent": [0, 0.5]})
    assert numpy.allclose(rig.evaluate(pose)[1], 1.5 * square)
    assert numpy.allclose(pose["left elbow: bent"], [0, 0.5])


def test_rotations():
    square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=float)
    turn = [0, 0, numpy.sqrt(0.5), numpy.sqrt(0.5)]
    rig = exemplar.Rig(square, [[0, 1, 2]],
                       [exemplar.layer("turn", {"wrist": {"kind": "rotation"}}, [[0, 0, 0, 1], turn],
                                                            [square, 2 * square])])
    assert rig.axes["wrist"].width == 4 and rig.axes["wrist"].kind == "rotation"
    pose = rig.pose(wrist=[[0, 0, 0, 1], turn])
    assert len(pose) == 2 and pose["wrist"].shape == (2, 4)
    assert numpy.allclose(rig.evaluate(pose), [square, 2 * square], atol=1e-6)
    assert len(rig.pose(wrist=turn)) == 1
    for wrong in (1, [1, 2], numpy.zeros((2, 3)), numpy.zeros((1, 1, 4))):
        with pytest.raises(ValueError):
            rig.pose(wrist=wrong)


def test_indices(arm):
    poses = arm.pose(gender=numpy.arange(10) / 10)
    assert poses[3]["gender"] == 0.3 and poses[-1]["gender"] == 0.9
    assert numpy.allclose(poses[2:8:3]["gender"], [0.2, 0.5]) and numpy.allclose(poses[::-4]["gender"], [0.9, 0.5, 0.1])
    assert numpy.allclose(poses[[1, 1, 7]]["gender"], [0.1, 0.1, 0.7])
    assert len(poses[numpy.arange(10) > 6]) == 3 and len(poses[5:5]) == 0
    assert [float(pose["gender"][0]) for pose in poses[:2]] == [0, 0.1]
    part = poses[::-4]
    part["elbow"] = [10, 20, 30]  # shares the numbers
    assert numpy.allclose(poses["elbow"][[9, 5, 1]], [10, 20, 30], atol=1e-4)
    assert numpy.array_equal(arm.evaluate(part), arm.evaluate(poses)[::-4])
    poses[0] = part[1]
    assert poses[0] == part[1] and poses[0]["gender"] == 0.5
    poses[1:4] = poses[9]
    assert numpy.allclose(poses["gender"][1:4], 0.9)
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            poses[wrong]
    for wrong in (1.5, None, (1, 2), numpy.zeros((2, 2)), object(), b"elbow", [0.5]):
        with pytest.raises(TypeError):
            poses[wrong]
    with pytest.raises(IndexError):
        poses[[11]]
    with pytest.raises(TypeError):
        poses[0] = 3
    with pytest.raises(ValueError, match="do not fit"):
        poses[0:3] = poses[0:2]


def test_copies(arm):
    pose = arm.pose(elbow=[10, 20])
    for other in (pose.copy(), copy.copy(pose), copy.deepcopy(pose)):
        assert other == pose
        other["elbow"] = 50
        assert other != pose and numpy.allclose(pose["elbow"], [10, 20], atol=1e-4)
    again = pickle.loads(pickle.dumps(pose))
    assert numpy.array_equal(again.joints, pose.joints)
    assert numpy.array_equal(again.rig.evaluate(again), arm.evaluate(pose))
    both = exemplar.Pose.concatenate([pose, pose[1]])
    assert numpy.allclose(both["elbow"], [10, 20, 20], atol=1e-4)
    with pytest.raises(TypeError):
        exemplar.Pose.concatenate([pose, 3])
    with pytest.raises(TypeError):
        exemplar.Pose.concatenate([])


def test_arrays(arm):
    pose = exemplar.Pose(arm, dials=[[0.1], [0.2]], joints=arm.skeleton.rest)
    assert len(pose) == 2 and numpy.array_equal(pose.joints[1], arm.skeleton.rest)
    pose.dials = [[0.5]]
    assert numpy.array_equal(pose["gender"], [0.5, 0.5])
    pose.joints = numpy.stack([arm.pose(elbow=30).joints[0]] * 2)
    assert numpy.allclose(pose["elbow"], 30, atol=1e-4)
    assert len(exemplar.Pose(arm, 7)) == 7 and len(exemplar.Pose(arm, 0)) == 0
    for wrong in (dict(dials=[[1, 2]]), dict(dials=[[1], [2]], count=3), dict(joints=numpy.zeros((2, 3))),
                  dict(count=-1),
                  dict(count=2.5), dict(driver=numpy.zeros((1, 3, 3))), dict(dials="x"), dict(count="two")):
        with pytest.raises((ValueError, TypeError)):
            exemplar.Pose(arm, **wrong)
    with pytest.raises(TypeError):
        exemplar.Pose("arm")
    for name, wrong in (("dials", [[1], [2], [3]]), ("joints", numpy.zeros((2, 2, 10))),
                        ("driver", numpy.zeros((2, 3, 3)))):
        with pytest.raises(ValueError):
            setattr(pose, name, wrong)


def test_numbers_stay(arm):
    """Nothing that a caller does with the arrays takes their memory away."""
    pose = arm.pose(gender=numpy.linspace(0, 1, 50))
    want = arm.evaluate(pose)
    with pytest.raises(ValueError):
        pose.dials.resize((100000,), refcheck=False)
    memory = pose.dials.base
    gc.collect()
    with pytest.raises(BufferError):
        memory.clear()
    assert numpy.array_equal(arm.evaluate(pose), want)


def test_refused(arm):
    with pytest.raises(KeyError, match="no axis 'knee'"):
        arm.pose(knee=3)
    with pytest.raises(ValueError, match="different numbers of poses"):
        arm.pose(elbow=[1, 2], gender=[1, 2, 3])
    with pytest.raises(ValueError, match="3 values do not fit 2 poses"):
        arm.pose(elbow=[1, 2]).set(gender=[1, 2, 3])
    for wrong in ("x", None, 1j, [[1, 2], [3, 4]], object(), {}):
        with pytest.raises((TypeError, ValueError)):
            arm.pose(elbow=wrong)
    for wrong in (3, "x", [("elbow", 3)]):
        with pytest.raises((TypeError, ValueError)):
            arm.pose().set(wrong)


def test_numbers_of_all_axes(arm):
    names = arm.jacobian_columns()
    given = {"elbow": [30, 60], "gender": [0.2, 0.4]}
    rows = numpy.array([given.get(name, [0, 0]) for name in names]).T
    pose = arm.pose(rows)
    assert len(pose) == 2 and all(numpy.allclose(pose[name], rows[:, i], atol=1e-4) for i, name in enumerate(names))
    assert numpy.allclose(pose.values, rows, atol=1e-4)
    assert numpy.allclose(arm.pose(rows[1]).values, rows[1:], atol=1e-4)
    assert numpy.array_equal(arm.evaluate(rows), arm.evaluate(pose))
    assert numpy.allclose(arm.pose(rows[0], gender=[0, 1]).values[:, names.index("gender")], [0, 1])
    pose.values = rows[0]
    assert numpy.allclose(pose.values, rows[[0, 0]], atol=1e-4)
    assert numpy.array_equal(arm.pose([[0.3], [0.6]])["gender"], [0.3, 0.6])  # the dials alone
    with pytest.raises(ValueError, match="the numbers of all axes"):
        arm.pose(numpy.zeros((2, 77)))
    with pytest.raises(TypeError, match="pose.values"):
        numpy.asarray(pose)
    square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=float)
    rig = exemplar.Rig(square, [[0, 1, 2]], [exemplar.layer("size", {"a": (0, 1)}, [0, 1], [square, 2 * square])])
    assert numpy.allclose(rig.evaluate([0, 0.5, 1])[:, 1, 0], [1, 1.5, 2])  # N poses of one axis


def test_parts_write_through(arm):
    poses = arm.pose(gender=[0, 0.5, 1])
    with pytest.raises(ValueError, match="set it on all poses first"):
        poses[0].elapsed = 0.1
    poses.elapsed = 0.5
    poses[0].elapsed = 0.1
    assert list(poses.elapsed) == [0.1, 0.5, 0.5]
    part = poses[1:]
    poses.elapsed = [1, 2, 3]
    assert list(part.elapsed) == [2, 3]
    with pytest.raises(IndexError):
        poses[1000] = poses[0]
    poses[[0, 1]] = poses[2]
    assert list(poses["gender"]) == [1, 1, 1] and list(poses.elapsed) == [3, 3, 3]


def test_names_that_are_not_there(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    with pytest.raises(KeyError, match="did you mean 'elbow'"):
        rig.pose(elbo=70)
    with pytest.raises(KeyError, match="there are shoulder, elbow"):
        rig.pose(knee=70)
    joint = next(name for name in rig.skeleton.names if name not in rig.axes)
    with pytest.raises(KeyError, match="is a joint"):
        rig.pose({joint: 70})
    with pytest.raises(TypeError, match="elbow is '70', a text"):
        rig.pose(elbow="70")
