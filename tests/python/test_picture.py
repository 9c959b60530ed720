"""Pictures: the same pixels as the tool's files."""
import subprocess

import numpy
import pytest

import exemplar
from exemplar.mesh import Mesh
from exemplar.picture import compare, plot, png_bytes, read_image, render, sheet, write_png

SMALL, SIZE = {"size": (120, 90)}, ["--size", "120x90"]


@pytest.fixture
def drawn(tool, tmp_path):
    """drawn("render", …): the picture that the tool draws."""
    def draw(*words):
        subprocess.run([tool, *words, "-q", "-o", tmp_path / "tool.png"], check=True)
        return read_image(tmp_path / "tool.png")
    return draw


@pytest.mark.parametrize("name, words, pose, options", [
    ("arm", ["elbow=70"], {"elbow": 70}, {}),
    ("arm", ["elbow=70", "--yaw", "40", "--pitch", "20", "--parallel", "--zoom", "1.5", "--wireframe", "--flat",
             "--background",
             "transparent", "--no-ground", "--occlusion", "2"], {"elbow": 70},
     dict(yaw=40, pitch=20, parallel=True, zoom=1.5, wireframe=True, flat=True, background="transparent", ground=False,
          occlusion=2)),
    ("arm", ["elbow=70", "joint:hand=x20", "--show", "displacement", "--range", "0:300"],
     {"elbow": 70, "joint:hand": "x20"},
     dict(show="displacement", range=(0, 300))),
    ("elbow", ["elbow=70", "--show", "skin:forearm", "--look-at", "forearm", "--angle", "40"], {"elbow": 70},
     dict(show="skin:forearm", look_at="forearm", angle=40)),
    ("elbow", ["--show", "example:bent_100", "--fit", "example:bent_100"], None,
     dict(show="example:bent_100", fit="example:bent_100")),
    ("blob", ["bend=1", "--level", "cage", "--mute", "blob", "--backfaces", "--smooth"], {"bend": 1},
     dict(level="cage", muted="blob", backfaces=True, smooth=True)),
    ("face", [], None, {}),
    ("face", ["--plain"], None, dict(plain=True)),
])
def test_render_gives_the_tools_pixels(demo, drawn, name, words, pose, options):
    path = demo(name) / f"{name}.glb"
    picture = render(exemplar.load(path), pose, **SMALL, **options)
    assert picture.shape == (90, 120, 4) and picture.dtype == numpy.uint8
    assert (picture == drawn("render", path, *words, *SIZE)).all()


def test_subjects(demo, drawn):
    """Rigs and forms as files, arrays and meshes."""
    blob, thick, thin = demo("blob") / "blob.glb", demo("blob") / "thick.obj", demo("blob") / "thin.obj"
    rig, mesh = exemplar.load(blob), Mesh.read(thick)
    wanted = drawn("render", blob, "bend=1", *SIZE)
    assert (render(blob, {"bend": 1}, **SMALL) == wanted).all() and (render(rig, rig.pose(bend=1),
                                                                            **SMALL) == wanted).all()
    wanted = drawn("render", thick, "--show", "difference", "--with", thin, *SIZE)
    for ours, other in ((thick, thin), (mesh, Mesh.read(thin)),
                        ((mesh.vertices, mesh.faces), (Mesh.read(thin).vertices, mesh.faces))):
        assert (compare(ours, other, **SMALL) == wanted).all()
    assert (render(mesh, up="z", **SMALL) == drawn("render", thick, "--up", "z", *SIZE)).all()
    assert (render(mesh, **SMALL) != render(mesh, up="z", **SMALL)).any()


def test_texture_and_values(demo, drawn):
    folder = demo("face")
    rig = exemplar.load(folder / "face.glb")
    wanted = drawn("render", folder / "face.glb", "--texture", folder / "ada.png", *SIZE)
    image = read_image(folder / "ada.png")
    assert (render(rig, texture=folder / "ada.png", **SMALL) == wanted).all()
    assert (render(rig, texture=image, **SMALL) == wanted).all()
    assert (render(rig, texture=image[..., :3] / 255, **SMALL) == wanted).all()
    blob = exemplar.load(demo("blob") / "blob.glb")
    rest, bent = (blob.evaluate(pose, level=exemplar.LIMIT)[0] for pose in (None, blob.pose(bend=1)))
    x, y, z = (bent - rest).T
    moved = numpy.sqrt(x * x + y * y + z * z)
    ours = render(blob, {"bend": 1}, values=moved, label="displacement from rest", unit="m", **SMALL)
    assert (ours == drawn("render", demo("blob") / "blob.glb", "bend=1", "--show", "displacement", *SIZE)).all()


def test_turntable_and_threads(demo, tool, tmp_path):
    blob = demo("blob") / "blob.glb"
    turn = render(blob, {"bend": 1}, turntable=3, size=(60, 60))
    subprocess.run([tool, "render", blob, "bend=1", "--turntable", "3", "--size", "60x60", "-q", "-o",
                    tmp_path / "t.png"],
                   check=True)
    for i, picture in enumerate(turn):
        assert (picture == read_image(tmp_path / f"t_00{i + 1}.png")).all()
    assert (render(blob, {"bend": 1}, size=(60, 60), threads=3) == render(blob, {"bend": 1}, size=(60, 60))).all()


def test_sheet_and_plot(demo, drawn, tool, tmp_path):
    blob, elbow = demo("blob") / "blob.glb", demo("elbow") / "elbow.glb"
    picture, info = sheet(exemplar.load(blob), ["bend", "thickness"], grid=(3, 3), cell=48, info=True)
    assert (picture == drawn("sheet", blob, "--axes", "bend,thickness", "--grid", "3x3", "--cell", "48")).all()
    assert (info.columns, info.rows, info.example_count, info.pseudo_count, info.outside_count) == (5, 5, 5, 2, 20)
    assert info.outside[:2] == ("blob", "right") and info.outside[3] == (-1.5, 1.25)
    rig = exemplar.load(elbow)
    ours = sheet(rig, "elbow", grid=4, beyond=(0, 0.1), look_at="forearm", cell=48, yaw=10, marks=False, title="arms")
    assert (ours == drawn("sheet", elbow, "--axes", "elbow", "--grid", "4", "--beyond", "0,0.1", "--look-at", "forearm",
                          "--cell",
                          "48", "--yaw", "10", "--no-marks", "--title", "arms")).all()
    assert (plot(rig, compare=["gaussian", "calm"], scale=1, size=(500, 400)) ==
            drawn("plot", elbow, "--compare", "gaussian,calm", "--scale", "1", "--size", "500x400")).all()
    rig = exemplar.load(blob)
    text, facts = plot(rig, {"thickness": 1}, svg=True, info=True)
    subprocess.run([tool, "plot", blob, "thickness=1", "-q", "-o", tmp_path / "p.svg"], check=True)
    assert text == (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert facts.axes == ["bend"] and facts.drawn_count == 5


def test_image_files(tmp_path):
    image = numpy.random.default_rng(1).integers(0, 256, (7, 5, 4)).astype(numpy.uint8)
    write_png(tmp_path / "a.png", image)
    data = (tmp_path / "a.png").read_bytes()
    assert data == png_bytes(image) and data[:8] == b"\x89PNG\r\n\x1a\n"
    for source in (tmp_path / "a.png", str(tmp_path / "a.png"), data, bytearray(data), memoryview(data)):
        assert (read_image(source) == image).all()
    grey = numpy.arange(12, dtype=numpy.int64).reshape(3, 4)
    assert (read_image(png_bytes(grey))[..., 0] == grey).all() and (read_image(png_bytes(grey))[..., 3] == 255).all()
    assert (read_image(png_bytes(image[::-1, ::-1, ::-1])) == image[::-1, ::-1, ::-1]).all()
    big = image.astype(">i4")
    assert png_bytes(big) == data
    for wrong in (image[..., :2], image.astype(int) + 255, image * numpy.nan, "abc", None, image.astype(complex),
                  numpy.zeros((0, 4, 4), dtype=numpy.uint8)):
        with pytest.raises((ValueError, TypeError)):
            png_bytes(wrong)
    with pytest.raises(exemplar.FormatError):
        read_image(data[:40])
    with pytest.raises(exemplar.FormatError):
        read_image(b"")
    with pytest.raises(exemplar.FileError):
        read_image(tmp_path / "missing.png")


def test_wrong_use(demo):
    blob = exemplar.load(demo("blob") / "blob.glb")
    arm = exemplar.load(demo("arm") / "arm.glb")
    mesh = Mesh.read(demo("blob") / "thin.obj")
    for call, kind in (
            (lambda: render(None), TypeError), (lambda: render(numpy.zeros((3, 3))), TypeError),
            (lambda: render((numpy.eye(3), [[0, 1, 3]])), ValueError), (lambda: render(blob, size=(0, 10)), ValueError),
            (lambda: render(blob, size=10), ValueError), (lambda: render(blob, size=(10, 99999)), ValueError),
            (lambda: render(blob, yaw=float("nan")), ValueError), (lambda: render(blob, yaw="left"), TypeError),
            (lambda: render(blob, flat=1), TypeError), (lambda: render(blob, flat=True, smooth=True), ValueError),
            (lambda: render(blob, arm.pose()), ValueError), (lambda: render(blob, blob.pose(bend=[0, 1])), ValueError),
            (lambda: render(blob, {"bent": 1}), KeyError), (lambda: render(blob, {"bend": "x"}), TypeError),
            (lambda: render(blob, 3), TypeError), (lambda: render(mesh, {"bend": 1}), ValueError),
            (lambda: render(blob, level=7), ValueError), (lambda: render(blob, level="cages"), ValueError),
            (lambda: render(blob, muted="nothing"), KeyError), (lambda: render(blob, show="x"), ValueError),
            (lambda: render(blob, show="difference"), ValueError), (lambda: render(blob, with_=mesh), ValueError),
            (lambda: render(mesh, show="displacement"), ValueError), (lambda: render(blob, show="skin:a"), ValueError),
            (lambda: render(arm, show="skin:a"), KeyError), (lambda: render(arm, look_at="a"), KeyError),
            (lambda: render(arm, show="example:a"), KeyError), (lambda: render(mesh, look_at="a"), ValueError),
            (lambda: render(blob, around="nothing"), exemplar.Error), (lambda: render(blob, range=(0, 1)), ValueError),
            (lambda: render(blob, values=[1, 2]), ValueError),
            (lambda: render(blob, texture=numpy.zeros((2, 2, 3))), ValueError),
            (lambda: render(blob, values=numpy.zeros(642), range=(1, 0)), ValueError),
            (lambda: render(blob, samples=3), ValueError), (lambda: render(blob, threads=0), ValueError),
            (lambda: sheet(blob, []), ValueError), (lambda: sheet(blob, ["bend", "bend"]), ValueError),
            (lambda: sheet(blob, "bent"), KeyError), (lambda: sheet(blob, "bend", {"bend": 1}), ValueError),
            (lambda: sheet(blob, "bend", grid=1), ValueError), (lambda: sheet(blob, "bend", beyond=-1), ValueError),
            (lambda: sheet(mesh, "bend"), TypeError), (lambda: plot(blob, layer="a"), KeyError),
            (lambda: plot(blob, compare="direct"), exemplar.Error), (lambda: plot(blob, size=(1, 1)), ValueError),
            (lambda: plot(blob, {"bend": 1, "thickness": 1}), ValueError), (lambda: plot(blob, scale=0), ValueError)):
        with pytest.raises(kind):
            call()


def test_progress_stops_a_render(demo):
    class Stop(Exception):
        pass

    def stop(what, part):
        raise Stop

    with pytest.raises(Stop):
        render(demo("blob") / "blob.glb", size=(400, 400), progress=stop)


def test_a_picture_saves_itself_and_says_what_it_is(tmp_path):
    picture = exemplar.render(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), **SMALL)
    assert repr(picture) == "<exemplar.Picture 120 x 90>" and repr(picture[0, 0]).startswith("array(")
    picture.save(tmp_path / "a.png")
    assert (read_image(tmp_path / "a.png") == picture).all()
    assert not isinstance(picture.max(), numpy.ndarray)
    with pytest.raises(ValueError, match=r"\.png"):
        write_png(tmp_path / "a.jpg", picture)


def test_pictures_with_one_box_share_a_camera():
    faces, small = [[0, 1, 2]], numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    options = dict(box=((0, 0, -.5), (4, 4, .5)), ground=False, background="transparent", yaw=0, pitch=0,
                   size=(400, 300))
    areas = [(exemplar.render((small * size, faces), **options)[..., 3] > 0).sum() for size in (1, 2)]
    assert areas[1] == pytest.approx(4 * areas[0], rel=.1)
    for wrong in (((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 1, 1)), 5, ((0, 0, 0), (1, 1, numpy.nan))):
        with pytest.raises((ValueError, TypeError)):
            exemplar.render((small, faces), box=wrong)
    with pytest.raises(ValueError, match="box"):
        exemplar.render((small, faces), box=((0, 0, 0), (1, 1, 1)), look_at="hand")


def test_unknown_axis(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    with pytest.raises(KeyError, match="did you mean 'elbow'"):
        exemplar.render(rig, {"elbo": 70}, size=(64, 64))
