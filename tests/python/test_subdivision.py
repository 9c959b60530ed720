"""Subdivision: forms worked out by hand, tables for many forms, creases, limits; misuse."""
import numpy
import pytest

import exemplar

CUBE = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TETRAHEDRON = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
TRIANGLES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def test_by_hand():
    vertices, faces = exemplar.subdivide(CUBE, QUADS, levels=1)
    assert vertices.shape == (26, 3) and faces.shape == (24, 4)
    # a corner with n = 3: (n - 2)/n v + sum of the ends of edges / n^2 + sum of face points / n^2
    ends, middles = CUBE[[1, 2, 4]].sum(0), numpy.array([[0, .5, .5], [.5, 0, .5], [.5, .5, 0]]).sum(0)
    assert numpy.allclose(vertices[0], CUBE[0] / 3 + ends / 9 + middles / 9, atol=1e-6)
    assert numpy.allclose(exemplar.subdivide(CUBE, QUADS, 1, "bilinear").vertices[:8], CUBE)
    fine, triangles = exemplar.subdivide(TETRAHEDRON, TRIANGLES, 2, "loop")
    assert triangles.shape == (64, 3) and len(fine) == 34
    same = exemplar.subdivide(CUBE, QUADS, 0)
    assert numpy.array_equal(same.vertices, CUBE) and numpy.array_equal(same.faces, QUADS)


def test_creases():
    rim = {(0, 1): 10, (1, 3): 10, (3, 2): 10, (2, 0): 10}
    assert exemplar.subdivide(CUBE, QUADS, 2, creases=rim).vertices[:, 0].min() == 0
    rows = [[a, b, value] for (a, b), value in rim.items()]
    assert numpy.array_equal(exemplar.subdivide(CUBE, QUADS, 2, creases=rows).vertices,
                             exemplar.subdivide(CUBE, QUADS, 2, creases=rim).vertices)
    assert exemplar.subdivide(CUBE, QUADS, 2).vertices[:, 0].min() > 0.05
    corner = exemplar.subdivide(CUBE, QUADS, 2, corners={5: 10}).vertices
    assert numpy.allclose(corner[5], CUBE[5])


def test_tables():
    tables = exemplar.Subdivision(CUBE, QUADS, 3, limit=True)
    forms = numpy.random.default_rng(1).normal(size=(4, 8, 3)).astype("f4")
    for level in (1, 2, 3, "limit"):
        offsets, indices, weights = tables.stencils(level)
        want = numpy.add.reduceat(weights[:, None] * forms[:, indices].astype(float), offsets[:-1], axis=1)
        for threads in (1, 2):
            assert numpy.allclose(tables.apply(forms, level, threads=threads), want, atol=1e-5)
        assert numpy.array_equal(tables.apply(forms[2], level), tables.apply(forms, level)[2])
        assert len(tables.faces(level)) == 6 * 4 ** (3 if level == "limit" else level)
    assert numpy.array_equal(tables.apply(forms, 0), forms)
    positions, normals = tables.apply(CUBE, "limit", normals=True)
    assert numpy.allclose(numpy.linalg.norm(normals, axis=1), 1, atol=1e-5)
    assert ((positions - 0.5) * normals).sum(1).min() > 0
    odd = numpy.zeros(8 * 12 + 1, "u1")[1:].view("f4").reshape(8, 3)
    odd[:] = forms[1]
    assert numpy.array_equal(tables.apply(odd), tables.apply(forms[1]))
    room = numpy.full((4, tables.vertex_count(), 4), 9, dtype="f4")
    assert numpy.array_equal(tables.apply(forms, out=room[..., :3]), tables.apply(forms)) and (room[..., 3] == 9).all()
    assert "8, 26, 98, 386 vertices" in repr(tables)
    assert list(numpy.bincount(tables.face_sources(1))) == [4] * 6


def test_seams():
    texcoords, numbers = numpy.random.default_rng(1).uniform(size=(24, 2)), numpy.arange(24)
    tables = exemplar.Subdivision(CUBE, QUADS, 1, texcoords=texcoords, corner_texcoords=numbers)
    fine, corners = tables.texcoords(1)
    assert len(corners) == 96
    assert numpy.allclose(fine[corners].reshape(6, 16, 2).mean(1), texcoords.reshape(6, 4, 2).mean(1))
    assert exemplar.Subdivision(CUBE, QUADS, 1).texcoords(1) is None


def test_refused():
    for wrong in (dict(levels=11), dict(levels=-1), dict(levels=1.5), dict(scheme="smooth"), dict(scheme=3),
                  dict(creases={(0, 7): 1}), dict(creases={(0, 99): 1}), dict(creases={(0, 1): -1}),
                  dict(creases=[[1, 2]]),
                  dict(creases={(0, 1): numpy.nan}), dict(limit="some"), dict(boundary="round"), dict(corners={9: 1}),
                  dict(corners=[1]), dict(creases=3), dict(creases={0: 1})):
        with pytest.raises((ValueError, TypeError)):
            exemplar.subdivide(CUBE, QUADS, **wrong)
    for wrong in ((CUBE, [[0, 1]]), (CUBE, [[0, 1, 9]]), (CUBE[:0], []), ([[0, 0, numpy.nan]], []), ("x", QUADS)):
        with pytest.raises((ValueError, TypeError)):
            exemplar.subdivide(*wrong)
    tables = exemplar.Subdivision(CUBE, QUADS, 1)
    for wrong in ((CUBE, 2), (CUBE, "limit"), (CUBE, -2), (CUBE[:5], 1), (3, 1), (CUBE, [1])):
        with pytest.raises((ValueError, TypeError)):
            tables.apply(*wrong)
    with pytest.raises(ValueError, match="normals"):
        tables.apply(CUBE, normals=True)
    with pytest.raises(ValueError):
        tables.apply(CUBE, out=numpy.zeros((3, 3), "f4"))
    with pytest.raises(exemplar.LimitError):
        exemplar.subdivide(numpy.tile(CUBE, (4000, 1)), (numpy.array(QUADS) + 8 * numpy.arange(4000)[:, None, None])
                           .reshape(-1, 4), 10)


def test_of_a_mesh():
    places = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    plain = exemplar.subdivide(places, quads)
    mesh = exemplar.Mesh(places, quads)
    for given in (mesh, (places, quads)):
        assert numpy.array_equal(exemplar.subdivide(given, levels=2).vertices, plain.vertices)
    assert len(exemplar.subdivide(*mesh).vertices) > len(plain.vertices)  # its triangles
    sharp = exemplar.Mesh(places, quads, tags=[exemplar.Tag("crease", (0, 1), (10.0,)), exemplar.Tag("corner", (7,), (10.0,))])
    wanted = exemplar.subdivide(places, quads, creases={(0, 1): 10}, corners={7: 10})
    assert numpy.array_equal(exemplar.subdivide(sharp).vertices, wanted.vertices)
    assert numpy.array_equal(exemplar.Subdivision(sharp).apply(places), wanted.vertices)
    assert not numpy.array_equal(wanted.vertices, plain.vertices)
