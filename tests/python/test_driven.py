"""Driven rigs: forms of the driver as input, frame after frame with a player; reports; misuse."""
import threading

import numpy
import pytest

import exemplar


@pytest.fixture(scope="module")
def sleeve(demo):
    return exemplar.load(demo("sleeve") / "sleeve.glb")


@pytest.fixture(scope="module")
def frames(sleeve):
    rest = sleeve.driver_reference
    return numpy.stack([rest + 0.01 * numpy.sin(k / 5 + 7 * rest[:, ::-1]) for k in range(24)]).astype("f4")


def test_forms_of_the_driver(sleeve, frames):
    assert sleeve.driver_reference.shape[1] == 3 and sleeve.driver_triangles.max() < len(sleeve.driver_reference)
    assert sleeve.axes["body"].kind == "driver" and "a driver" in repr(sleeve)
    want = sleeve.evaluate(driver=frames)
    assert want.shape == (24, sleeve.vertex_count(), 3)
    assert not numpy.allclose(want[0], want[8], atol=1e-4)
    assert numpy.array_equal(want, sleeve.evaluate(sleeve.pose(), driver=frames, threads=2))
    assert numpy.array_equal(want[3:4], sleeve.evaluate(driver=frames[3]))
    pose = exemplar.Pose(sleeve, driver=frames)
    assert numpy.array_equal(want, sleeve.evaluate(pose))
    assert numpy.array_equal(want[::-5], sleeve.evaluate(pose[::-5]))
    assert numpy.array_equal(want[[2, 2, 9]], sleeve.evaluate(pose[[2, 2, 9]]))
    assert numpy.array_equal(want[:1], sleeve.evaluate(exemplar.Pose(sleeve, driver=frames)[0]))
    rest = sleeve.evaluate()
    assert numpy.array_equal(rest, sleeve.evaluate(driver=sleeve.driver_reference))
    both = exemplar.Pose.concatenate([pose[4], sleeve.pose()])
    assert numpy.array_equal(sleeve.evaluate(both), [want[4], rest[0]])
    pose[0] = sleeve.pose()
    assert numpy.array_equal(sleeve.evaluate(pose)[0], rest[0])
    pose.driver = None
    assert pose.driver is None and numpy.array_equal(sleeve.evaluate(pose)[7], rest[0])


def test_report(sleeve, frames):
    made = sleeve.evaluate(driver=frames, report=True)
    assert made.report.shape == (24,) and (made.report["hull_distance"] > 0).all()
    assert made.report["pushed"].max() > 0
    free = sleeve.evaluate(driver=frames, report=True, unsettled=True)
    assert (free.report["pushed"] == 0).all() and not numpy.array_equal(free.positions, made.positions)
    one = sleeve.evaluate(driver=frames[5], report=True)
    assert one.report["hull_distance"][0] == made.report["hull_distance"][5]


def test_player(sleeve, frames):
    want, player = sleeve.evaluate(driver=frames), sleeve.player()
    made = player.evaluate(driver=frames, elapsed=1 / 60)
    assert numpy.allclose(made, want, atol=1e-6)
    assert player._state.any()  # it is kept
    player.reset()
    each = numpy.concatenate([player.evaluate(driver=frame, elapsed=1 / 60) for frame in frames])
    assert numpy.array_equal(each, made)
    made = player.evaluate(driver=frames[0], normals=True, weights=True)
    assert made.names == ("positions", "normals", "weights")
    with pytest.raises(TypeError, match="no option 'colour'"):
        player.evaluate(colour=1)
    with pytest.raises(TypeError):
        exemplar.Player(3)


def test_player_of_any_rig(demo):
    arm = exemplar.load(demo("arm") / "arm.glb")
    poses = arm.pose(elbow=[10, 20, 30])
    assert numpy.array_equal(arm.player().evaluate(poses), arm.evaluate(poses))


def test_one_player_and_many_threads(sleeve, frames):
    want, player, wrong = sleeve.evaluate(driver=frames), sleeve.player(), []

    def work():
        for i in range(24):
            if not numpy.allclose(player.evaluate(driver=frames[i], elapsed=0)[0], want[i], atol=1e-6):
                wrong.append(i)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_not_finite(sleeve, frames):
    broken = frames[:3].copy()
    broken[0, 5] = numpy.nan
    broken[1] = numpy.inf
    made = sleeve.evaluate(driver=broken, elapsed=[numpy.nan, numpy.inf, -1])
    assert numpy.isfinite(made).all()


def test_refused(sleeve, frames):
    for wrong in (frames[:, :5], frames[0, 0], 3, "x", frames[..., :2], frames.astype(complex)):
        with pytest.raises((ValueError, TypeError)):
            sleeve.evaluate(driver=wrong)
    with pytest.raises(ValueError, match="different numbers"):
        sleeve.evaluate(driver=frames, elapsed=[1, 2])
    with pytest.raises(ValueError, match="24 forms"):
        sleeve.evaluate(exemplar.Pose(sleeve, 5), driver=frames)
    with pytest.raises(ValueError, match="form of a driver"):
        sleeve.pose(body=3)
    with pytest.raises(ValueError, match="form of a driver"):
        sleeve.pose()["body"]
