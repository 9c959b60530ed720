"""Trees: closest points and rays beside every triangle in double; strides, threads, refits, misuse."""
import numpy
import pytest

import exemplar

CUBE = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


@pytest.fixture(scope="module")
def tree():
    return exemplar.Tree(CUBE, QUADS)


def points(count, seed=1):
    return numpy.random.default_rng(seed).uniform(-1, 2, (count, 3)).astype("f4")


def box_distance(rows):
    rows = rows.astype(float)
    outside = numpy.linalg.norm(numpy.maximum(0, abs(rows - 0.5) - 0.5), axis=1)
    inside = (0.5 - abs(rows - 0.5)).min(1)
    return numpy.where(outside > 0, outside, numpy.maximum(inside, 0))


def test_closest(tree):
    rows = points(500)
    found = tree.closest(rows)
    assert numpy.allclose(found.distance, box_distance(rows), atol=1e-6)
    assert numpy.allclose(numpy.linalg.norm(found.point - rows, axis=1), found.distance, atol=1e-6)
    a, b, c = (CUBE[tree.triangles[found.triangle][:, i]] for i in range(3))
    u, v = found.u[:, None], found.v[:, None]
    assert numpy.allclose((1 - u - v) * a + u * b + v * c, found.point, atol=1e-6)
    assert len(tree) == 12 and tree.faces.max() == 5
    near = tree.closest(rows, reach=0.25)
    assert numpy.array_equal(near.triangle >= 0, found.distance <= 0.25)
    none = near.triangle < 0
    assert numpy.isinf(near.distance[none]).all() and numpy.isnan(near.point[none]).all()
    one = tree.closest(rows[7])
    assert one.triangle == found.triangle[7] and one.point.shape == (3,)


def test_rays(tree):
    rows = points(500, 2)
    found = tree.rays(rows, 0.5 - rows)  # to the middle
    assert (found.triangle >= 0).all()
    hits = rows + found.t[:, None] * (0.5 - rows)
    assert numpy.allclose(abs(hits - 0.5).max(1), 0.5, atol=1e-5)
    away = tree.rays(rows, rows - 0.5)
    inside = (abs(rows - 0.5) < 0.5).all(1)
    assert numpy.array_equal(away.triangle >= 0, inside) and numpy.isinf(away.t[~inside]).all()
    assert numpy.array_equal(tree.blocked(rows, rows - 0.5), inside)
    assert tree.rays([0.25, 0.5, -1], [0, 0, 1]).t == 1 and tree.blocked([0.25, 0.5, -1], [0, 0, 1]) is True
    assert tree.rays([0.25, 0.5, -1], [0, 0, 1], t_min=1.5).t == 2
    assert tree.blocked([0.25, 0.5, -1], [0, 0, 1], t_max=0.5) is False
    ranges = tree.rays([[0.25, 0.5, -1]] * 3, [0, 0, 1], t_min=[0, 1.5, 3])
    assert list(ranges.t[:2]) == [1, 2] and ranges.triangle[2] == -1


def test_strides_and_threads(tree):
    rows = points(3000)
    want, hits = tree.closest(rows), tree.rays(rows, 0.5 - rows)
    wide = numpy.zeros((3000, 5), "f4")
    wide[:, 1:4] = rows
    odd = numpy.zeros(3000 * 12 + 1, "u1")[1:].view("f4").reshape(3000, 3)
    odd[:] = rows
    assert not odd.flags.aligned
    for given in (odd, wide[:, 1:4], rows[::-1][::-1], rows.astype(float), rows.astype(">f4"),
                  numpy.asfortranarray(rows),
                  rows.tolist()):
        for threads in (1, 3):
            assert all(numpy.array_equal(a, b) for a, b in zip(tree.closest(given, threads=threads), want))
    for threads in (1, 3):
        assert all(numpy.array_equal(a, b) for a, b in zip(tree.rays(wide[:, 1:4], 0.5 - rows, threads=threads), hits))
    assert numpy.array_equal(tree.closest(rows[::-1]).triangle, want.triangle[::-1])
    assert len(tree.closest(numpy.zeros((0, 3))).triangle) == 0
    assert len(tree.blocked(numpy.zeros((0, 3)), [0, 0, 1])) == 0


def test_refit():
    tree = exemplar.Tree(CUBE, QUADS)
    assert tree.closest([3, 0.5, 0.5]).distance == 2
    assert tree.refit(CUBE + [2, 0, 0]) is tree and tree.closest([3.5, 0.5, 0.5]).distance == 0.5
    fresh = exemplar.Tree(CUBE * 3, QUADS)
    rows = points(200)
    assert all(numpy.array_equal(a, b) for a, b in zip(tree.refit(CUBE * 3, threads=2).closest(rows),
                                                       fresh.closest(rows)))
    with pytest.raises(ValueError):
        tree.refit(CUBE[:7])


def test_not_finite(tree):
    rows = numpy.array([[numpy.nan, 0, 0], [numpy.inf, 0, 0], [0, 0, 0]])
    assert list(tree.closest(rows).triangle < 0) == [True, True, False]
    assert list(tree.rays(rows, [[0, 0, 1]] * 3).triangle < 0)[:2] == [True, True]
    assert tree.rays([0, 0, -1], [0, 0, 0]).triangle == -1
    broken = CUBE.copy()
    broken[7] = numpy.nan
    assert exemplar.Tree(broken, QUADS).closest([1, 1, 1]).distance > 0
    assert exemplar.Tree(CUBE, []).closest([0, 0, 0]).triangle == -1


def test_refused(tree):
    for wrong in ((CUBE, [[0, 1]]), (CUBE, [[0, 1, 8]]), (CUBE, [[0, 1, -1]]), (CUBE[:, :2], QUADS),
                  (CUBE, [[0, 1, 0.5]]),
                  (CUBE, "x"), (CUBE, 3), (3, QUADS), (CUBE, [["a"]]), (CUBE.astype(complex), QUADS)):
        with pytest.raises((ValueError, TypeError)):
            exemplar.Tree(*wrong)
    for wrong in ((CUBE[:, :2],), (3,), ("x",), ([[1, 2, 3]], -1), ([[1, 2, 3]], "far"), ([[1, 2, 3]], numpy.nan),
                  (None,)):
        with pytest.raises((ValueError, TypeError)):
            tree.closest(*wrong)
    for wrong in ((CUBE, CUBE[:3]), (CUBE, 3), (CUBE, CUBE, [1, 2]), (CUBE, CUBE, "x"), (CUBE, CUBE, 0, [[1]])):
        for call in (tree.rays, tree.blocked):
            with pytest.raises((ValueError, TypeError)):
                call(*wrong)
    for wrong in (0, -1, "x", 1.5):
        with pytest.raises((ValueError, TypeError)):
            tree.closest(CUBE, threads=wrong)


def test_of_a_mesh():
    places = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    mesh = exemplar.Mesh(places, [[0, 1, 2, 3]])
    for given in ((mesh,), ((places, [[0, 1, 2, 3]]),), (places, [[0, 1, 2, 3]])):
        tree = exemplar.Tree(*given)
        assert len(tree) == 2 and list(tree.faces) == [0, 0] and tree.closest([0.2, 0.3, 1]).distance == 1
    with pytest.raises(TypeError, match="faces are missing"):
        exemplar.Tree(places)
    with pytest.raises(FileNotFoundError, match=": '/nonexistent.glb'"):
        exemplar.load("/nonexistent.glb")
