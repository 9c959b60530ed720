"""Rigs from arrays: layers of all kinds, skeletons and skins, levels; opened by the tool, and built again from it."""
import json
import subprocess

import numpy
import pytest

import exemplar

CUBE = numpy.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
WIDE, TALL = CUBE * [2, 1, 1], CUBE * [1, 3, 1]


def size(**more):
    return exemplar.layer("size", {"width": (0, 1), "height": (0, 1)}, [[0, 0], [1, 0], [0, 1]], [CUBE, WIDE, TALL],
                          examples=["square", "wide", "tall"], **more)


def layer(**more):
    return exemplar.layer("one", ["a"], [0, 1], [CUBE, WIDE], **more)


def test_ten_lines(tool, tmp_path):
    rig = exemplar.Rig(CUBE, QUADS, layers=[size()])
    assert numpy.allclose(rig.evaluate({"width": 0.5, "height": 2})[0], CUBE * [1.5, 5, 1], atol=1e-6)
    rig.save(tmp_path / "cube.glb")
    told = json.loads(subprocess.run([tool, "info", "--json", tmp_path / "cube.glb"], check=True,
                                     capture_output=True).stdout)
    assert "tall" in json.dumps(told) and "width" in json.dumps(told)
    subprocess.run([tool, "pose", tmp_path / "cube.glb", "width=1", "-q", "-o", tmp_path / "posed.obj"], check=True)
    rows = [line.split()[1:4] for line in (tmp_path / "posed.obj").read_text().splitlines() if line.startswith("v ")]
    assert numpy.allclose(numpy.array(rows, dtype=float), WIDE, atol=1e-6)
    again = exemplar.load(tmp_path / "cube.glb")
    assert dict(again.layers) == dict(rig.layers) and dict(again.axes) == dict(rig.axes)
    assert again.evaluate({"width": 0.3}).tobytes() == rig.evaluate({"width": 0.3}).tobytes()


def test_differences_and_kinds():
    deltas = [CUBE * 0, WIDE - CUBE, TALL - CUBE]
    rig = exemplar.Rig(CUBE, QUADS, [{"name": "size", "axes": ["width", "height"], "points": [[0, 0], [1, 0], [0, 1]],
                                      "forms": deltas, "differences": True, "kind": "calm", "overshoot": 0.05}])
    assert numpy.allclose(rig.evaluate({"width": 1})[0], WIDE, atol=1e-5)
    assert rig.layers["size"].kind == "calm" and rig.examples[0] == "example 1"
    direct = exemplar.Rig(CUBE, QUADS, [exemplar.layer("direct", ["wide", "tall"], forms=[WIDE, TALL], kind="direct")])
    assert numpy.allclose(direct.evaluate({"wide": 1, "tall": 0.5})[0], CUBE * [2, 2, 1], atol=1e-6)
    assert direct.points("direct") is None
    masked = exemplar.Rig(CUBE, QUADS, [layer(mask=CUBE[:, 1], muted=True)])
    assert numpy.array_equal(masked.evaluate({"a": 1})[0], CUBE)
    assert numpy.allclose(masked.evaluate({"a": 1}, muted=[])[0], CUBE * numpy.where(CUBE[:, 1:2] > 0, [2, 1, 1], 1))
    axis = exemplar.Rig(CUBE, QUADS,
                        [exemplar.layer("one", {"a": dict(min=-1, max=2, rest=0.5, unit="cm", clamp=True)}, [0, 1],
                                                     [CUBE, WIDE])]).axes["a"]
    assert (axis.min, axis.max, axis.rest, axis.unit) == (-1, 2, 0.5, "cm")
    clamped = exemplar.Rig(CUBE, QUADS, [exemplar.layer("one", {"a": dict(min=0, max=1, clamp=True)}, [0, 1],
                                                        [CUBE, WIDE])])
    assert numpy.allclose(clamped.evaluate({"a": 5})[0], WIDE, atol=1e-6)
    pseudo = exemplar.Rig(CUBE, QUADS, [layer(pseudos=[{"at": 0.5, "weights": [0, 1]}])])
    assert numpy.allclose(pseudo.evaluate({"a": 0.5}, weights=True).weights, [[0, 1]], atol=1e-9)


def test_skeleton(tool, tmp_path):
    skeleton = exemplar.Skeleton(["root", "arm"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    above = (CUBE[:, 1] > 0.5).astype(float)
    dense = numpy.stack([1 - above, above], 1)
    bend = exemplar.layer("bend", {"angle": dict(min=0, max=90, unit="deg", joint="arm", about=(0, 0, 1))}, [0, 90],
                          [CUBE, CUBE + [0, 0, 0.25]])
    rig = exemplar.Rig(CUBE, QUADS, [bend], skeleton=skeleton, skin=dense)
    want = CUBE.copy()
    top = CUBE[:, 1] > 0.5
    want[top] = numpy.stack([-(CUBE[top, 1] - 0.5), CUBE[top, 0] + 0.5, CUBE[top, 2]], 1)
    want[:, 2] += 0.25
    assert numpy.allclose(rig.evaluate({"angle": 90})[0], want, atol=1e-6)
    axis = rig.axes["angle"]
    assert axis.reading == "angle" and axis.about == (0, 0, 1) and rig.clips == ()
    assert rig.axes["angle"].joint == 1 and not rig.axes["angle"].is_dial and rig.skeleton.names == ("root", "arm")
    sparse = exemplar.Rig(CUBE, QUADS, [bend], skeleton=skeleton, skin=(above[:, None].astype(int), numpy.ones((8, 1))))
    assert sparse.to_bytes() == rig.to_bytes()
    rig.save(tmp_path / "arm.glb")
    subprocess.run([tool, "pose", tmp_path / "arm.glb", "angle=90", "-q", "-o", tmp_path / "posed.obj"], check=True)
    rows = [line.split()[1:4] for line in (tmp_path / "posed.obj").read_text().splitlines() if line.startswith("v ")]
    assert numpy.allclose(numpy.array(rows, dtype=float), want, atol=1e-5)
    for wrong in (dense[:, :1], dense[:5], -dense, dense * 0, dense * numpy.nan, "x", (dense.astype(int) + 5, dense),
                  (numpy.zeros((8, 0), int), numpy.zeros((8, 0)))):
        with pytest.raises((ValueError, TypeError)):
            exemplar.Rig(CUBE, QUADS, [bend], skeleton=skeleton, skin=wrong)
    with pytest.raises(ValueError, match="needs a skeleton"):
        exemplar.Rig(CUBE, QUADS, [layer()], skin=dense)
    with pytest.raises(ValueError, match="no skeleton"):
        exemplar.Rig(CUBE, QUADS, [bend])
    moved = exemplar.Rig(CUBE, QUADS, [exemplar.layer("grow", ["a"], [0, 1], [CUBE, TALL], shifts=[
        numpy.zeros((2, 3)), [[0, 0, 0], [0, 1, 0]]]), bend], skeleton=skeleton, skin=dense)
    assert numpy.isfinite(moved.evaluate({"a": 1, "angle": 45})).all()


def test_offsets():
    corner = [([], numpy.zeros((0, 3))), ([7, 3], [[0, 0, 1], [0, 0, 2]])]
    rig = exemplar.Rig(CUBE, QUADS, [exemplar.layer("fix", ["a"], [0, 1], offsets=corner)])
    want = CUBE.copy()
    want[7, 2] += 0.5
    want[3, 2] += 1
    assert numpy.allclose(rig.evaluate({"a": 0.5})[0], want) and rig.layers["fix"].domain == "offsets"
    form = CUBE.copy()
    form[7, 2] += 1
    form[3, 2] += 2
    same = exemplar.Rig(CUBE, QUADS, [exemplar.layer("fix", ["a"], [0, 1], [CUBE, form], domain="offsets")])
    assert same.to_bytes() == rig.to_bytes()
    for wrong in ([([8], [[0, 0, 1]]), ([], [])], [([1, 1], numpy.ones((2, 3))), ([0], [[0, 0, 0]])], [3, 4],
                  [([0], [[numpy.nan, 0, 0]]), ([0], [[0, 0, 0]])], [([0], [[0, 0]]), ([0], [[0, 0, 0]])],
                  [([-1], [[0, 0, 0]]), ([0], [[0, 0, 0]])]):
        with pytest.raises((ValueError, TypeError)):
            exemplar.Rig(CUBE, QUADS, [exemplar.layer("fix", ["a"], [0, 1], offsets=wrong)])


def test_pixels_and_seams():
    images = numpy.random.default_rng(1).integers(0, 256, (2, 4, 6, 4), dtype=numpy.uint8)
    texcoords = numpy.random.default_rng(2).uniform(size=(24, 2))
    rig = exemplar.Rig(CUBE, QUADS, [exemplar.layer("paint", ["age"], [0, 1], images=images)], texcoords=texcoords)
    assert (rig.textures["base_color"].width, rig.textures["base_color"].height) == (6, 4)
    made = rig.evaluate({"age": [0, 1]}, textures=True).textures["base_color"]
    assert abs(made.astype(int) - images.astype(int)).max() <= 1
    assert rig.vertex_count(split=True) == 24 and numpy.array_equal(rig.image("paint", 1), images[1])
    found = {tuple(row) for row in numpy.round(rig.split().texcoords, 5)}
    assert found == {tuple(row)
                     for row in numpy.round(numpy.stack([texcoords[:, 0], 1 - texcoords[:, 1]], 1).astype("f4"), 5)}
    each = exemplar.Rig(CUBE, QUADS, [layer()], texcoords=CUBE[:, :2])
    assert each.vertex_count(split=True) == 8
    assert numpy.allclose(each.split().texcoords, numpy.stack([CUBE[:, 0], 1 - CUBE[:, 1]], 1))
    loose = exemplar.Rig(numpy.concatenate([CUBE, [[5, 5, 5]]]), QUADS, [], texcoords=texcoords)
    assert loose.vertex_count(split=True) == 25 and loose.evaluate(split=True).shape == (1, 25, 3)
    with pytest.raises(ValueError, match="24 corners"):
        exemplar.Rig(CUBE, QUADS, [layer()], texcoords=texcoords[:7])


def test_trajectories():
    turned = CUBE @ numpy.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]]).T
    rig = exemplar.Rig(CUBE, QUADS, [exemplar.layer("path", ["curl"], [0, 1], [CUBE, turned], domain="trajectory")])
    half = rig.evaluate({"curl": 0.5})[0].astype(float)
    assert numpy.allclose(rig.evaluate({"curl": 1})[0], turned, atol=1e-5)
    edges = numpy.linalg.norm(half[[1, 2, 4]] - half[0], axis=1)
    assert numpy.allclose(edges, 1, atol=1e-4)  # a straight path would shrink them
    said = []
    exemplar.Rig(CUBE, QUADS, [exemplar.layer("path", ["curl"], [0, 1], [CUBE, turned], domain="trajectory", threads=2,
                                              progress=lambda what, fraction: said.append(what))])

    def stop(what, fraction):
        raise RuntimeError("enough")

    forms = [CUBE, turned, WIDE @ numpy.array([[1, 0, 0], [0, 0, 1], [0, -1, 0.0]]).T]
    if said:
        with pytest.raises(RuntimeError, match="enough"):
            exemplar.Rig(CUBE, QUADS,
                         [exemplar.layer("path", ["curl"], [0, 1, 2], forms, domain="trajectory", progress=stop)])


def test_levels(tool, tmp_path):
    creases = {(0, 1): 10, (1, 3): 2.5}
    rig = exemplar.Rig(CUBE, QUADS, [size()], subdivide=2, creases=creases)
    assert rig.level_count == 2 and rig.level == 2
    want = exemplar.subdivide(CUBE, QUADS, 2, creases=creases)
    assert numpy.allclose(rig.evaluate(level=2)[0], want.vertices, atol=1e-6)
    assert numpy.array_equal(numpy.array(rig.mesh_at(2).faces), want.faces)
    rig.save(tmp_path / "cube.glb")
    subprocess.run([tool, "unpack", tmp_path / "cube.glb", "-q", "-o", tmp_path / "folder"], check=True)
    assert "t crease 2/1/0 1 3 2.5" in (tmp_path / "folder" / "mesh.obj").read_text()
    subprocess.run([tool, "build", tmp_path / "folder" / "cube.json", "-q", "-o", tmp_path / "again.glb"], check=True)
    again = exemplar.load(tmp_path / "again.glb")
    assert again.evaluate({"width": 0.4}, level=2).tobytes() == rig.evaluate({"width": 0.4}, level=2).tobytes()
    limit = exemplar.Rig(CUBE, QUADS, [size()], subdivide=1, limit=True)
    assert limit.level == exemplar.LIMIT
    assert numpy.allclose(limit.evaluate(level="limit")[0], exemplar.subdivide(CUBE, QUADS, 1, limit=True).vertices,
                          atol=1e-6)
    texcoords = numpy.random.default_rng(2).uniform(size=(24, 2))
    seamed = exemplar.Rig(CUBE, QUADS, [size()], subdivide=2, texcoords=texcoords)
    made = seamed.evaluate(level=2, split=True, tangents=True)
    assert made.positions.shape[1] == seamed.vertex_count(2, split=True) > seamed.vertex_count(2)
    loop = exemplar.Rig(CUBE, QUADS, [size()], subdivide=1, scheme="loop")
    assert numpy.allclose(loop.evaluate(level=1)[0], exemplar.subdivide(CUBE, QUADS, 1, "loop").vertices, atol=1e-6)


def test_groups(tool, tmp_path):
    rig = exemplar.Rig(CUBE, QUADS, [size()], groups={"ends of it": [0, 1], "side": [4]}, materials={"skin": range(6)},
                       subdivide=1, creases={(0, 1): 1})
    assert {name: list(faces) for name, faces in rig.groups.items()} == {"ends of it": [0, 1], "side": [4]}
    assert list(rig.materials["skin"]) == [0, 1, 2, 3, 4, 5]
    rig.save(tmp_path / "cube.glb")
    subprocess.run([tool, "pose", tmp_path / "cube.glb", "--level", "0", "-q", "-o", tmp_path / "posed.obj"],
                   check=True)
    text = (tmp_path / "posed.obj").read_text()
    assert "g ends of it" in text and "g side" in text and "usemtl skin" in text and "t crease" in text
    for wrong in ({"a": [6]}, {"a": [-1]}, {"a": [0], "b": [0]}, {"": [0]}, ["a"], {"a": "x"}, {3: [0]}, {"a": [0.5]}):
        for name in ("groups", "materials"):
            with pytest.raises((ValueError, TypeError)):
                exemplar.Rig(CUBE, QUADS, [size()], **{name: wrong})


def test_displacements():
    count = exemplar.Subdivision(CUBE, QUADS, 2).vertex_count()
    bumps = exemplar.layer("bumps", ["a"], [0, 1], displacements=[numpy.zeros(count), numpy.full(count, 0.1)])
    rig = exemplar.Rig(CUBE, QUADS, [bumps], subdivide=2, limit="all")
    flat, out = rig.evaluate({"a": [0, 1]}, level=2)
    assert numpy.allclose(numpy.linalg.norm(out - flat, axis=1), 0.1, atol=1e-5)
    with pytest.raises((ValueError, exemplar.Error)):
        exemplar.Rig(CUBE, QUADS, [bumps])


def test_without_faces_or_layers():
    points = exemplar.Rig(CUBE, [], [size()])
    assert numpy.allclose(points.evaluate({"width": 1})[0], WIDE)
    with pytest.raises(ValueError, match="normals need faces"):
        points.evaluate(normals=True)
    bare = exemplar.Rig(CUBE, QUADS)
    assert numpy.array_equal(bare.evaluate()[0], CUBE) and bare.evaluate(weights=True).weights.shape == (1, 0)
    assert exemplar.load(bare.to_bytes()).evaluate(normals=True).normals.shape == (1, 8, 3)
    assert numpy.array_equal(exemplar.Rig(CUBE, QUADS, [layer()], storage="short").evaluate()[0], CUBE)


@pytest.mark.parametrize("change", [
    dict(points=None), dict(points=[0]), dict(points=[[0, 1], [1, 2]]), dict(points=[0, 0]),
    dict(points=[0, numpy.nan]),
    dict(points="ab"), dict(forms=None), dict(forms=[CUBE]), dict(forms=[CUBE, WIDE[:5]]),
    dict(forms=[CUBE, WIDE * numpy.nan]),
    dict(forms=3), dict(axes=None), dict(axes=[]), dict(axes="a"), dict(axes=[3]), dict(axes={"a": 3}),
    dict(axes={"a": (1, 0)}),
    dict(axes={"a": (0, 1, 2, 3)}), dict(axes={"a": {"colour": 1}}), dict(axes={"a": {"kind": "odd"}}),
    dict(axes={"": (0, 1)}),
    dict(axes={"a": {"joint": "arm"}}), dict(axes={"a": {"limit": "never"}}), dict(axes={"a": (0, numpy.inf)}),
    dict(axes=["a", "a"]), dict(kind="magic"), dict(kind="convex"), dict(kind=3), dict(domain="sound"),
    dict(mask=[1, 2]),
    dict(mask=[2] * 8), dict(mask=[numpy.nan] * 8), dict(examples=["x"]), dict(examples=["x", "x"]),
    dict(examples="xy"),
    dict(examples=["x", "a\0"]), dict(name=""), dict(name=3), dict(radius=-1), dict(radius="x"), dict(softness=1),
    dict(kernel="odd"), dict(images=3), dict(images=numpy.zeros((2, 0, 0, 4))), dict(displacements=numpy.zeros((2, 9))),
    dict(shifts=numpy.zeros((2, 1, 3))), dict(pseudos=[{"at": 0}]), dict(pseudos=3),
    dict(pseudos=[{"at": [1, 2], "source": 0}]),
    dict(pseudos=[{"at": 0.5, "weights": [1]}]), dict(frame="odd", domain="offsets"), dict(moved=True, domain="offsets"),
    dict(texture="", images=numpy.zeros((2, 2, 2, 4))), dict(axes={"a": {"about": (0, 0, 0), "kind": "twist"}})])
def test_refused_layers(change):
    with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
        exemplar.Rig(CUBE, QUADS, [{**layer(), **change}])


@pytest.mark.parametrize("change", [
    dict(vertices=CUBE[:, :2]), dict(vertices=CUBE * numpy.nan), dict(vertices=CUBE * 1e300), dict(vertices=[]),
    dict(vertices="x"), dict(faces=[[0, 1]]), dict(faces=[[0, 1, 8]]), dict(faces=3), dict(layers=3), dict(layers=[3]),
    dict(layers="x"), dict(layers=[layer(), layer()]), dict(layers={"a": 1}), dict(skeleton=3), dict(skinning="odd"),
    dict(subdivide=-1), dict(subdivide=11), dict(subdivide="x"), dict(scheme="odd"), dict(creases={(0, 1): 1}),
    dict(subdivide=1, creases={(0, 7): 1}), dict(limit="odd"), dict(level=3), dict(level=[1]), dict(storage="tiny"),
    dict(texcoords=CUBE), dict(corner_texcoords=[0] * 24), dict(texcoords=CUBE[:, :2] * numpy.nan),
    dict(texcoords=CUBE[:, :2], corner_texcoords=[9] * 24), dict(limit="all"), dict(skinning=[1])])
def test_refused_rigs(change):
    with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
        exemplar.Rig(**{**dict(vertices=CUBE, faces=QUADS, layers=[layer()]), **change})


def test_from_a_mesh(tmp_path):
    mesh = exemplar.Mesh(CUBE, QUADS, texcoords=numpy.random.default_rng(2).uniform(size=(24, 2)), groups=["top", "rest"],
                         face_groups=[0, 1, 1, 1, 1, 1])
    bend = exemplar.layer("size", {"size": (0, 1)}, [[0], [1]], [CUBE, 2 * numpy.array(CUBE)])
    rig = exemplar.Rig(mesh, layers=[bend])
    assert rig.mesh.faces.shape == (6, 4) and rig.vertex_count(split=True) == 24
    assert {name: len(faces) for name, faces in rig.groups.items()} == {"top": 1, "rest": 5}
    with pytest.raises(TypeError, match="its own faces"):
        exemplar.Rig(mesh, QUADS)
    assert exemplar.Mesh((CUBE, QUADS)).face_count == 6
    with pytest.raises(TypeError, match="already"):
        exemplar.Mesh(mesh)
