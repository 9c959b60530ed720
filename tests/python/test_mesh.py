"""Meshes: arrays in and out, files of every format, and what the tool says about the same files."""
import json
import subprocess

import numpy
import pytest

import exemplar
from exemplar.mesh import Mesh, Tag, as_mesh

CUBE = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = numpy.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def rich():
    """A mesh with everything that an OBJ file holds."""
    return Mesh(CUBE, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5], [0, 5, 1]], [[0, 0], [1, 0], [1, .25]],
                corner_texcoords=[0, 1, 2, 1] * 2 + [-1] * 6, normals=[[0, 0, 1]], corner_normals=[0] * 14,
                colours=CUBE * .5, groups=["lid", "rest"], face_groups=[-1, 0, 1, 1], materials=["steel"],
                face_materials=[-1, -1, 0, 0], material_library="all.mtl",
                tags=[Tag("crease", (0, 1), (2.5,)), Tag("smoothtriangles", (), (), ("smooth",))])


def test_arrays_and_lists():
    mesh = Mesh(CUBE, QUADS)
    assert mesh.faces.shape == (6, 4) and mesh.triangles.shape == (12, 3) and mesh.face_count == 6
    assert numpy.array_equal(mesh.faces, QUADS)
    vertices, triangles = mesh
    assert numpy.array_equal(vertices, CUBE) and triangles.max() == 7
    mixed = Mesh(CUBE, [[0, 1, 3], [0, 1, 3, 2]])
    assert [len(face) for face in mixed.faces] == [3, 4] and len(mixed.triangles) == 3
    assert mesh.size == pytest.approx(3 ** .5)
    assert numpy.allclose(mesh.normals(), (CUBE - .5) * 2 / 3 ** .5)
    assert numpy.allclose(Mesh(CUBE, mesh.triangles).normals("angle"), mesh.normals(), atol=1e-6)
    assert not numpy.allclose(Mesh(CUBE, mesh.triangles).normals(), mesh.normals(), atol=.01)
    assert Mesh(CUBE).faces.shape == (0, 3) and len(Mesh(CUBE).triangles) == 0
    back = Mesh(CUBE.astype(">f8")[::-1][::-1], QUADS.astype(numpy.uint8)[:, ::-1][:, ::-1])
    assert numpy.array_equal(back.vertices, CUBE) and numpy.array_equal(back.faces, QUADS)
    assert "6 quads" in repr(mesh) and "2 groups" in repr(rich())


def test_texcoords_of_vertices_and_corners():
    assert numpy.array_equal(Mesh(CUBE, QUADS, CUBE[:, :2]).corner_texcoords, QUADS.ravel())
    assert numpy.array_equal(Mesh(CUBE, QUADS, numpy.zeros((24, 2))).corner_texcoords, numpy.arange(24))
    with pytest.raises(ValueError, match="neither one for each"):
        Mesh(CUBE, QUADS, numpy.zeros((7, 2)))


def test_every_field_survives_a_file(tmp_path):
    mesh = rich()
    mesh.write(tmp_path / "rich.obj")
    read = Mesh.read(tmp_path / "rich.obj")
    assert mesh.compare(read).same
    assert read.groups == ["lid", "rest"] and read.tags == mesh.tags and read.material_library == "all.mtl"
    assert numpy.array_equal(read.face_groups, [-1, 0, 1, 1]) and numpy.array_equal(read.colours, mesh.colours)
    assert numpy.array_equal(read.corner_texcoords, mesh.corner_texcoords)
    copied = mesh.copy()
    copied.vertices[3] += .5
    difference = mesh.compare(copied, tolerance=.1)
    assert not difference.same and difference.moved_count == 1 and difference.farthest_vertex == 3
    assert difference.farthest == pytest.approx(.75 ** .5) and difference.first_face is None


@pytest.mark.parametrize("ending", ["obj", "ply", "glb", "gltf"])
def test_formats(tmp_path, ending):
    mesh = Mesh(CUBE, QUADS)
    path = tmp_path / f"cube.{ending}"
    mesh.write(path)
    read = Mesh.read(str(path))
    assert numpy.array_equal(read.vertices, CUBE)
    assert read.same_faces(mesh) is (ending in ("obj", "ply"))
    assert len(read.triangles) == 12


def test_off(tmp_path):
    (tmp_path / "t.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    assert numpy.array_equal(as_mesh(tmp_path / "t.off").triangles, [[0, 1, 2]])


def test_same_bytes_as_the_tool(tool, demo, tmp_path):
    rig = exemplar.load(demo("arm") / "arm.glb")
    subprocess.run([tool, "pose", demo("arm") / "arm.glb", "elbow=40", "--level", "cage", "--no-normals", "-q", "-o",
                    tmp_path / "tool.obj"], check=True)
    Mesh._of_rig(rig, 0, rig.evaluate(rig.pose(elbow=40))[0]).write(tmp_path / "ours.obj", precision="float")
    assert (tmp_path / "ours.obj").read_bytes() == (tmp_path / "tool.obj").read_bytes()
    asked = subprocess.run([tool, "info", "--json", tmp_path / "tool.obj"], check=True, capture_output=True)
    told = json.loads(asked.stdout)
    mesh = Mesh.read(tmp_path / "tool.obj")
    assert told["vertices"] == mesh.vertex_count
    assert Mesh._of_rig(rig).same_faces(mesh)


def test_texture(tmp_path):
    pixels = numpy.zeros((2, 3, 4), dtype=numpy.uint8)
    Mesh(CUBE, QUADS, CUBE[:, :2]).write(tmp_path / "t.glb", texture=pixels)
    assert b"image/png" in (tmp_path / "t.glb").read_bytes()
    with pytest.raises(ValueError, match="only a .glb"):
        Mesh(CUBE, QUADS).write(tmp_path / "t.obj", texture=pixels)
    assert not (tmp_path / "t.obj").exists()


def test_crossings_and_masks():
    two = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [.2, .2, -1], [.2, .2, 1], [.3, .2, 1]])
    mesh = Mesh(two, [[0, 1, 2], [3, 4, 5]], groups=["a", "b"], face_groups=[0, 1])
    assert mesh.crossings() == 1
    assert mesh.crossings(two + numpy.repeat([[0, 0, 0], [5, 0, 0]], 3, 0)) == 0
    assert numpy.array_equal(mesh.mask("b"), [0, 0, 0, 1, 1, 1])
    with pytest.raises(exemplar.DataError, match="a group 'c'"):
        mesh.mask("c")
    with pytest.raises(exemplar.DataError, match="face"):
        Mesh(CUBE, QUADS).check_faces((CUBE, QUADS[::-1]))
    assert not Mesh(CUBE, QUADS).same_faces((CUBE, QUADS[::-1]))


@pytest.mark.parametrize("vertices, faces, options", [
    (CUBE[:, :2], QUADS, {}), (CUBE.astype(complex), QUADS, {}), ("cube", QUADS, {}), (None, None, {}),
    (CUBE, [[0, 1]], {}), (CUBE, [[0, 1, 8]], {}), (CUBE, [[0, 1, -1]], {}), (CUBE, [[0, 1, .5]], {}), (CUBE, 5, {}),
    (CUBE, [[0, 1, 2], 3], {}), (CUBE, [["a", "b", "c"]], {}), (CUBE, QUADS, {"colours": CUBE * 2}),
    (CUBE * numpy.nan, QUADS, {}), (CUBE, QUADS, {"groups": ["a\0b"]}), (CUBE, QUADS, {"groups": "abc"}),
    (CUBE, QUADS, {"groups": ["a"], "face_groups": [0, 0, 0, 0, 0, 1]}), (CUBE, QUADS, {"face_groups": [0] * 6}),
    (CUBE, QUADS, {"normals": CUBE, "corner_normals": [99] * 24}), (CUBE, QUADS, {"tags": [("crease", [.5])]}),
    (CUBE, QUADS, {"tags": [5]}), (CUBE, QUADS, {"corner_texcoords": [0] * 24}), (CUBE, QUADS, {"material_library": 3}),
])
def test_wrong_meshes(vertices, faces, options):
    with pytest.raises((ValueError, TypeError)):
        Mesh(vertices, faces, **options)


def test_wrong_use(tmp_path):
    with pytest.raises(exemplar.FileError):
        Mesh.read(tmp_path / "none.obj")
    with pytest.raises(exemplar.Error, match="meshes are written as"):
        Mesh(CUBE, QUADS).write(tmp_path / "a.off")
    with pytest.raises(TypeError):
        as_mesh(5)
    with pytest.raises(TypeError):
        as_mesh(CUBE.tolist())
    mesh = Mesh(CUBE, QUADS)
    mesh.vertices[2, 1] = numpy.inf
    with pytest.raises(ValueError, match="vertex 2"):
        mesh.write(tmp_path / "a.obj")
    with pytest.raises(ValueError):
        mesh.vertices = CUBE * numpy.nan
    with pytest.raises(ValueError):
        mesh.vertices = CUBE[1:]


def test_displacement_maps(tmp_path):
    made = exemplar.DisplacementMap([.1, -.2, 0, 3e-9], states=[0, 1, 4, 3])
    made.write(tmp_path / "d.ply")
    read = exemplar.DisplacementMap.read(tmp_path / "d.ply")
    assert numpy.array_equal(read.displacements, made.displacements) and read.states.tolist() == [0, 1, 4, 3]
    assert exemplar.DisplacementMap([1]).states.tolist() == [1]
    for wrong in (([],), ([numpy.nan],), ([1], [5]), ([1], [0, 0]), (["a"],), ([[1]],), (None,)):
        with pytest.raises((ValueError, TypeError)):
            exemplar.DisplacementMap(*wrong)
    made.states = numpy.zeros(3)
    with pytest.raises(ValueError):
        made.write(tmp_path / "e.ply")
    with pytest.raises(exemplar.Error):
        exemplar.DisplacementMap.read(tmp_path / "none.ply")
    Mesh(CUBE, QUADS).write(tmp_path / "cube.ply")
    with pytest.raises(exemplar.Error):
        exemplar.DisplacementMap.read(tmp_path / "cube.ply")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cube.ply", "d.ply"]


def test_another_shape_of_the_vertices_is_not_the_mesh_s():
    mesh = exemplar.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], groups=["g"], face_groups=[0])
    mesh.vertices.shape = (1, -1)
    assert mesh.vertices.shape == (3, 3) and mesh.mask("g").tolist() == [1, 1, 1]
    mesh.vertices[0] = 5
    assert mesh.vertices[0].tolist() == [5, 5, 5]
