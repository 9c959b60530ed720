"""Weighers from arrays: axes, pseudo-examples, edits, and what is refused."""
import copy
import gc
import pickle
import threading

import numpy
import pytest

import exemplar
from exemplar import Pseudo, SpaceAxis, Weigher
from exemplar._library import runtime

KINDS = ["cardinal", "calm", "gaussian", "shepard", "nearest"]
POINTS = numpy.array([[0.0, 0], [40, 1], [90, 0.2], [140, 0.9]])


@pytest.mark.parametrize("kind", KINDS)
def test_exact_at_examples_after_every_edit(kind):
    weigher = Weigher(POINTS, kind=kind, names=["a", "b", "c", "d"])
    at = numpy.array([60.0, 0.6])
    moved, added, removed = weigher.move("b", at), weigher.add(at, name="e"), weigher.remove(-1)
    for edited, points in ((moved, [POINTS[0], at, POINTS[2], POINTS[3]]), (added, [*POINTS, at]), (removed, POINTS[:3])):
        assert edited is not weigher and numpy.array_equal(edited.points, points)
        numpy.testing.assert_allclose(edited.weights(points), numpy.eye(len(points)), atol=1e-9)
        fresh = Weigher(points, kind=kind, axes=weigher.axes)
        places = numpy.random.default_rng(1).uniform(0, 1, (20, 2)) * [140, 1]
        numpy.testing.assert_allclose(edited.weights(places), fresh.weights(places), atol=1e-9)
    assert numpy.array_equal(weigher.points, POINTS)
    assert (moved.names, added.names, removed.names) == (["a", "b", "c", "d"], ["a", "b", "c", "d", "e"], ["a", "b", "c"])


@pytest.mark.parametrize("kind", KINDS)
def test_pseudo_examples(kind):
    weigher = Weigher(POINTS, kind=kind)
    given = weigher.add_pseudo([20, 0.5], weights=[0.5, 0.5, 0, 0])
    numpy.testing.assert_allclose(given.weights([20, 0.5]), [0.5, 0.5, 0, 0], atol=1e-9)
    source = [70, 0.5]
    both = given.add_pseudo([100, 0.5], source=source)
    numpy.testing.assert_allclose(both.weights([100, 0.5]), weigher.weights(source), atol=1e-9)
    assert [one.weights is None for one in both.pseudos] == [False, True]
    numpy.testing.assert_array_equal(both.pseudos[1].source, source)
    moved = both.move_pseudo(0, [30, 0.4])
    numpy.testing.assert_allclose(moved.weights([30, 0.4]), [0.5, 0.5, 0, 0], atol=1e-9)
    other = moved.move_pseudo(0, [30, 0.4], weights=[0, 1, 0, 0])
    numpy.testing.assert_allclose(other.weights([30, 0.4]), [0, 1, 0, 0], atol=1e-9)
    assert len(both.remove_pseudo(0).pseudos) == 1
    same = Weigher(POINTS, kind=kind, axes=weigher.axes, pseudos=[Pseudo([20, 0.5], weights=[0.5, 0.5, 0, 0]),
                                                                  {"at": [100, 0.5], "from": source}])
    numpy.testing.assert_allclose(same.weights(POINTS + 5), both.weights(POINTS + 5), atol=1e-12)
    again = pickle.loads(pickle.dumps(both))
    assert numpy.array_equal(again.weights(POINTS + 5), both.weights(POINTS + 5)) and copy.deepcopy(both) is both


def test_axes_of_every_kind():
    half = numpy.sqrt(0.5)
    turns = [[0, 0, 0, 1], [half, 0, 0, half], [0, half, 0, half]]
    whole = Weigher(turns, kind="gaussian", axes=[SpaceAxis("turn", "rotation")])
    numpy.testing.assert_allclose(whole.weights(turns), numpy.eye(3), atol=1e-9)
    numpy.testing.assert_allclose(whole.weights(-3 * numpy.array(turns)), numpy.eye(3), atol=1e-9)
    swing = Weigher(turns[:2], axes=[dict(kind="swing", about=(0, 1, 0))])
    spun = [0, numpy.sin(0.4), 0, numpy.cos(0.4)]  # a turn about y does not swing y
    numpy.testing.assert_allclose(swing.weights(spun), [1, 0], atol=1e-9)
    twist = Weigher([turns[0], turns[2]], axes=[dict(kind="twist", about=(0, 1, 0))])
    numpy.testing.assert_allclose(twist.weights(turns[1]), [1, 0], atol=1e-9)
    axis = SpaceAxis("dial", range=(-1, 3), rest=1, scale=2, clamp=True, limit="hold")
    found = Weigher([0, 1, 2], axes=[axis]).axes[0]
    assert (found.name, found.min, found.max, found.rest, found.scale, found.clamp, found.limit) == ("dial", -1, 3, 1, 2, True, "hold")
    held = Weigher([0, 1, 2], axes=[dict(limit="hold", range=(0, 2))])
    numpy.testing.assert_allclose(held.weights([[5], [2]]), [[0, 0, 1], [0, 0, 1]], atol=1e-9)
    assert numpy.abs(held.gradient([5.0])).max() == 0
    direct = Weigher(None, kind="direct", axes=[{}, {"clamp": True}])
    numpy.testing.assert_array_equal(direct.weights([0.3, 7]), [0.3, 1])
    numpy.testing.assert_array_equal(direct.gradient([0.3, 7]), [[1, 0], [0, 0]])
    forms = numpy.random.default_rng(0).normal(size=(4, 9))
    convex = Weigher(forms @ forms.T, kind="convex")
    numpy.testing.assert_allclose(convex.weights(forms @ forms[2]), [0, 0, 1, 0], atol=1e-9)
    new = forms[1] + 0.5
    assert convex.add(numpy.append(forms @ new, new @ new)).example_count == 5
    falloffs = Weigher(POINTS, kind="gaussian", falloffs=numpy.full((4, 2), 0.4))
    assert falloffs.falloffs[0, 0] == 0.4 and falloffs.set_falloff(0, [0.2, 0.3]).falloffs[0, 1] == 0.3


def test_arrays_of_any_layout():
    weigher = Weigher(POINTS)
    places = numpy.random.default_rng(3).uniform(0, 1, (50, 2)) * [140, 1]
    expected = weigher.weights(places)
    for other in (places.astype(">f8"), numpy.asfortranarray(places), numpy.hstack([places, places])[:, :2], places.tolist()):
        assert numpy.array_equal(weigher.weights(other), expected)
    assert numpy.array_equal(weigher.weights(places[::-1]), expected[::-1])
    assert weigher.weights(numpy.empty((0, 2))).shape == (0, 4) and weigher.gradient(numpy.empty((0, 2))).shape == (0, 4, 2)
    numpy.testing.assert_allclose(weigher.weights(places.astype("f4")), expected, atol=1e-5)
    line = Weigher([0, 1])
    assert line.weights(0.25).shape == (2,) and line.weights([0.25]).shape == (1, 2)  # places of one axis
    assert numpy.array_equal(line.weights([0.25, 0.5]), line.weights([[0.25], [0.5]]))
    assert line.gradient([0.25, 0.5]).shape == (2, 2, 1)
    assert numpy.isfinite(weigher.weights([numpy.nan, numpy.inf])).all()


def test_of_a_rig(demo):
    """A rig's own weigher keeps the rig alive."""
    rig = exemplar.load(demo("arm") / "arm.glb")
    weigher = Weigher._of(runtime.ex_rig_weigher(rig._handle.pointer, 0), rig, names=rig.layers["arm"].examples)
    expected = weigher.weights(weigher.points)
    del rig
    gc.collect()
    assert numpy.array_equal(weigher.weights(weigher.points), expected)
    assert weigher.move(0, weigher.points[0] + 1).names == weigher.names


def test_from_threads():
    weigher, wrong = Weigher(POINTS, kind="calm"), []
    places = numpy.random.default_rng(3).uniform(0, 1, (5000, 2)) * [140, 1]
    expected = weigher.weights(places)

    def work():
        for _ in range(5):
            if not numpy.array_equal(weigher.weights(places), expected):
                wrong.append(True)
            weigher.move(0, [1, 0.5]).gradient(places[:50])

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


@pytest.mark.parametrize("call, error, words", [
    (lambda w: w.move(4, [0, 0]), IndexError, "no example 4; there are 4"),
    (lambda w: w.move("x", [0, 0]), KeyError, "no example 'x'"),
    (lambda w: w.move(1.5, [0, 0]), TypeError, "whole"),
    (lambda w: w.move(0, [0]), ValueError, "at must be"),
    (lambda w: w.move(0, None), TypeError, "missing"),
    (lambda w: w.move(0, [0, numpy.nan]), ValueError, "not finite"),
    (lambda w: w.move(0, POINTS[1]), exemplar.SingularError, "same place"),
    (lambda w: w.add([0, 0, 0]), ValueError, "at must be"),
    (lambda w: w.add([1, 1], name=3), TypeError, "text"),
    (lambda w: w.add([1, 1], falloff=[1, 1]), TypeError, "no falloffs"),
    (lambda w: w.remove(-5), IndexError, "no example -5"),
    (lambda w: w.remove_pseudo(0), IndexError, "no pseudo-example 0"),
    (lambda w: w.add_pseudo([1, 1]), ValueError, "either"),
    (lambda w: w.add_pseudo([1, 1], weights=[1]), ValueError, "weights must be"),
    (lambda w: w.set_falloff(0, [1, 1]), TypeError, "no falloffs"),
    (lambda w: w.weights([1, 2, 3]), ValueError, "places must be"),
    (lambda w: w.weights("ab"), ValueError, "places must be"),
    (lambda w: w.weights([["a", "b"]]), TypeError, "numbers"),
    (lambda w: w.gradient([[1j, 2]]), TypeError, "numbers"),
    (lambda w: w.distance([1, 2], [1]), ValueError, "b must be"),
    (lambda w: Weigher([[0], [1]]).remove(0).remove(0), exemplar.Error, "example"),
    (lambda w: Weigher(None), ValueError, "needs points"),
    (lambda w: Weigher(numpy.zeros((2, 2, 2))), ValueError, r"\(examples, numbers\); this is \(2, 2, 2\)"),
    (lambda w: Weigher([[0]], kind=3), ValueError, "no weigher 3"),
    (lambda w: Weigher([[0]], kind="direct"), ValueError, "no points"),
    (lambda w: Weigher(None, kind="direct"), ValueError, "needs axes"),
    (lambda w: Weigher([[0], [1]], axes=[{}], ranges=[[0, 1]]), TypeError, "not both"),
    (lambda w: Weigher([[0], [1]], axes=[{"kind": "knob"}]), ValueError, "'knob'"),
    (lambda w: Weigher([[0], [1]], axes=[{"kind": "rotation"}]), ValueError, r"\(examples, 4\)"),
    (lambda w: Weigher([[0], [1]], axes=[3]), TypeError, "an axis must be"),
    (lambda w: Weigher([[0], [1]], axes=[{"range": (1, 0)}]), exemplar.ArgumentError, "greater"),
    (lambda w: Weigher([[0], [1]], axes=[{"limit": "stop"}]), ValueError, "'stop'"),
    (lambda w: Weigher([[0], [1]], names=["a"]), ValueError, "2 words"),
    (lambda w: Weigher([[0], [1]], names=["a", "b\0"]), ValueError, "NUL"),
    (lambda w: Weigher([[0], [1]], pseudos=[{"to": 1}]), ValueError, "must have 'at'"),
    (lambda w: Weigher([[0], [1]], pseudos=[3]), TypeError, "a Pseudo"),
    (lambda w: Weigher([[0], [1]], falloffs=[[1], [1]]), TypeError, "no falloffs"),
    (lambda w: Weigher([[0], [1]], radius=numpy.nan), ValueError, "radius"),
    (lambda w: Weigher([[0], [1]], radius=-1), exemplar.ArgumentError, "radius must be above 0"),
    (lambda w: Weigher([[0], [1]], radius=10**400), ValueError, "too large"),
    (lambda w: Weigher([[0], [1]], kernel="cubic"), ValueError, "none of bspline"),
    (lambda w: Weigher([[0], [0]], names=["bent", "straight"]), exemplar.SingularError, "'bent' and example 'straight'"),
    (lambda w: Weigher(numpy.zeros((2, 300))), ValueError, "at most 256"),
    (lambda w: Weigher(None, kind="direct", axes=[{}, {}]).move(0, [0, 0]), exemplar.Error, "direct"),
])
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(Weigher(POINTS))


def test_axes_of_a_rig():
    square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=float)
    half = float(numpy.sqrt(0.5))
    turns = [[0, 0, 0, 1], [half, 0, 0, half], [-half, 0, 0, half]]
    points = [[*turns[0], 0], [*turns[1], 1], [*turns[2], 0.5]]
    rig = exemplar.Rig(square, [[0, 1, 2]], [exemplar.layer("turn", {
        "wrist": {"kind": "twist", "about": [1, 0, 0], "rest": turns[1], "scale": 2},
        "size": {"min": 0, "max": 1, "clamp": True, "limit": "hold"}}, points, [square, 2 * square, 3 * square])])
    layer, own = rig.layers["turn"], rig.weigher("turn")
    made = Weigher(rig.points(layer), layer.kind, axes=[rig.axes[name] for name in layer.axes])
    places = numpy.random.default_rng(4).normal(size=(20, 5))
    places[0, :4] = numpy.nan  # reads as rest
    assert numpy.array_equal(made.weights(places), own.weights(places))
    assert SpaceAxis("a", range=(-1, 1)).rest == 0 and SpaceAxis("a", range=(2, 3)).rest == 2
