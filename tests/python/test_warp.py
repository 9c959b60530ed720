"""Warps: the same rigs, forms and reports as the tool's, from files and from meshes in memory."""
import json
import os
import subprocess
import tempfile

import numpy
import pytest

import exemplar
from exemplar import Mesh


def bar(bend, twist=0.0):
    """A bar of quads that bends about z and twists about y; 96 vertices."""
    around = numpy.array([[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]]) * .1
    vertices, faces, rings, sides = [], [], 12, len(around)
    for y in numpy.linspace(0, 1, rings):
        turn, angle = twist * y, bend * y
        x = around[:, 0] * numpy.cos(turn) - around[:, 1] * numpy.sin(turn)
        z = around[:, 0] * numpy.sin(turn) + around[:, 1] * numpy.cos(turn)
        centre = [numpy.sin(angle) / bend, (numpy.cos(angle) - 1) / bend] if bend else [y, 0]
        vertices += [[centre[1] + a * numpy.cos(angle), centre[0] + a * numpy.sin(angle), b] for a, b in zip(x, z)]
    for r in range(rings - 1):
        faces += [[r * sides + s, (r + 1) * sides + s, (r + 1) * sides + (s + 1) % sides, r * sides + (s + 1) % sides]
                  for s in range(sides)]
    return Mesh(vertices, faces)


FORMS = {"straight": bar(0.0), "bent": bar(2.0), "twisted": bar(0.0, 1.5)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("forms")
    for name, mesh in FORMS.items():
        mesh.write(made / f"{name}.obj")
    return made


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path_factory, monkeypatch):
    """Temporary folders go to a folder of their own, which is empty after each test."""
    made = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    yield
    assert os.listdir(made) == []


def paths(folder, *names):
    return [folder / f"{name}.obj" for name in names or FORMS]


@pytest.mark.parametrize("count, options, words", [
    (2, {}, []), (2, {"correctors": 3, "threads": 2}, ["--correctors", "3"]), (3, {}, []),
    (3, {"reference": 1, "correctors": "auto"}, ["--reference", "bent"]),
    (2, {"mode": "paper", "iterations": 3, "terms": ["pose", "gradient"], "weights": {"pose": 2}},
     ["--mode", "paper", "--iterations", "3", "--terms", "pose,gradient", "--weights", "pose=2"]),
    (2, {"mode": "paper", "bases": True, "segment_angle": 30, "root": 0},
     ["--mode", "paper", "--bases", "--segment-angle", "30", "--root", "0"]),
])
def test_the_same_rig_as_the_tool(tool, folder, tmp_path, count, options, words):
    names = list(FORMS)[:count]
    words = [folder / "bent.obj" if word == "bent" else word for word in words]
    subprocess.run([tool, "warp", *paths(folder, *names), *words, "-q", "-o", tmp_path / "tool.glb"], check=True)
    made = exemplar.warp(*paths(folder, *names), **options)
    made.write(tmp_path / "ours.glb")
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    meshes = [FORMS[names[0]], (FORMS[names[1]].vertices, FORMS[names[1]].faces), *(FORMS[name] for name in names[2:])]
    exemplar.warp(*meshes, names=names, **options).write(tmp_path / "memory.glb")
    assert (tmp_path / "memory.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()


def test_segments(tool, folder, tmp_path):
    segments = numpy.full(FORMS["bent"].face_count, -1)
    segments[:8], segments[-8:] = 0, 1
    (tmp_path / "s.txt").write_text("".join(f"{i + 1} {s}\n" for i, s in enumerate(segments) if s >= 0))
    forms = paths(folder, "straight", "bent")
    words = [tool, "warp", *forms, "--mode", "paper", "--bases", "--segments", tmp_path / "s.txt", "-q"]
    subprocess.run([*words, "-o", tmp_path / "tool.glb"], check=True)
    for given in (tmp_path / "s.txt", segments):
        made = exemplar.warp(*forms, mode="paper", bases=True, segments=given)
        made.write(tmp_path / "ours.glb")
        assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    subprocess.run([*words, "--basis", "1", "--at", ".5", "-o", tmp_path / "tool.obj"], check=True)
    made.mesh(made.form(.5, basis=1)).write(tmp_path / "ours.obj", precision="float")
    assert (tmp_path / "ours.obj").read_bytes() == (tmp_path / "tool.obj").read_bytes()
    assert not numpy.allclose(made.form(.5, basis=0), made.form(.5), atol=1e-3)
    with pytest.raises(ValueError, match="basis"):
        made.form(.5, basis=99)


def test_evaluation(folder):
    made = exemplar.warp(*paths(folder, "straight", "bent"))
    times = numpy.linspace(0, 1, 5)
    forms = made(times)
    assert forms.shape == (5, 96, 3) and made(.5).shape == (96, 3) and made([.5]).shape == (1, 96, 3)
    assert numpy.allclose(forms[0], FORMS["straight"].vertices, atol=1e-6)
    assert numpy.allclose(forms[-1], FORMS["bent"].vertices, atol=1e-6)
    assert numpy.array_equal(made(t=times, threads=2), forms)
    assert numpy.allclose(made.form(.25), forms[1], atol=1e-6) and numpy.allclose(made.form(), forms[-1], atol=1e-6)

    def length(form):
        return numpy.linalg.norm(numpy.diff(form[::8], axis=0), axis=1).sum()

    assert abs(length(forms[2]) - (length(forms[0]) + length(forms[4])) / 2) < .02
    assert length((forms[0] + forms[4]) / 2) < length(forms[2]) - .1  # a straight line shrinks it
    assert numpy.abs(made.rigid(.5) - forms[2]).max() < .02


def test_several_forms(folder):
    made = exemplar.warp(*paths(folder))
    assert made.examples == ("bent", "twisted") and made.reference == "straight"
    assert list(made.rig.axes) == ["bent", "twisted"]
    assert numpy.array_equal(made([.2, .3]), made(bent=.2, twisted=.3))
    assert numpy.array_equal(made([[.2, 0], [.4, 0]]), made(bent=[.2, .4]))
    assert numpy.allclose(made(twisted=1), FORMS["twisted"].vertices, atol=1e-5)
    assert made.words([.25, .5]) == "0.25 bent + 0.5 twisted + 0.25 straight"
    assert exemplar.warp(FORMS["straight"], FORMS["bent"], FORMS["twisted"], correctors=0).examples == ("b", "c")
    for call in (lambda: made(.5), lambda: made([.1, .2, .3]), lambda: made(none=1), lambda: made([.1, .2], bent=1),
                 lambda: made([[numpy.nan, 0]]), lambda: made(bent=[1, 2], twisted=[1, 2, 3]), lambda: made("a"),
                 lambda: made.form([[.1, .2], [.3, .4]]), lambda: made.words([1]), lambda: made.rigid(bent="a"),
                 lambda: made.mesh([[1, 2, 3]])):
        with pytest.raises((ValueError, TypeError, KeyError)):
            call()


def compare(ours, theirs):
    assert (ours.kind, ours.reference, ours.ratio, ours.ratio_999, ours.weak) == tuple(
        theirs[key] for key in ("kind", "reference", "ratio", "ratio_999", "weak"))
    for key in ("path", "rigid", "linear"):
        stretch = getattr(ours, key)
        assert (list(stretch.percentiles), stretch.flipped) == (theirs[key]["stretch"], theirs[key]["flipped"])


def test_the_same_report_as_the_tool(tool, folder, tmp_path):
    words = [tool, "warp", *paths(folder), "--report", "--mixtures", "3", "--json", "--picture", tmp_path / "tool.svg",
             "--rigid", tmp_path / "tool.obj"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    made = exemplar.warp(*paths(folder))
    report = made.report(mixtures=3)
    for ours, theirs in zip(report.paths, told["reports"]):
        assert (ours.example, ours.components, ours.bytes, ours.start_crossing, ours.end_crossing) == tuple(
            theirs[key] for key in ("example", "components", "bytes", "start_crossing", "end_crossing"))
        for key in ours.rows.dtype.names:
            assert ours.rows[key].tolist() == [row[key] for row in theirs["rows"]], key
        assert len(ours.of("guided")) == 5
        ours.draw(tmp_path / "ours.svg")
        assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / f"tool-{ours.example}.svg").read_bytes()
    mixtures, theirs = report.mixtures, told["mixtures"]
    assert len(mixtures) == theirs["mixture_count"] and list(mixtures.turned) == theirs["turned"]
    for key in ("candidate_count", "weak_count", "median", "remedy", "turn"):
        assert getattr(mixtures, key) == theirs[key], key
    compare(mixtures.worst, theirs["worst"])
    for one, other in zip(mixtures.rows, theirs["rows"]):
        compare(one, other)
    mixtures.draw(tmp_path / "ours.svg")
    assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / "tool-worst-mixture.svg").read_bytes()
    made.mesh(made.rigid(mixtures.worst.weights)).write(tmp_path / "ours.obj", precision="float")
    assert (tmp_path / "ours.obj").read_bytes() == (tmp_path / "tool.obj").read_bytes()
    assert made.report(mixtures=0).mixtures is None


def test_stopped(folder):
    def stop(what, fraction):
        raise ZeroDivisionError

    made = exemplar.warp(*paths(folder, "straight", "bent"))
    for call in (lambda: exemplar.warp(*paths(folder), progress=stop), lambda: made.report(progress=stop),
                 lambda: exemplar.warp(*FORMS.values(), mode="paper", progress=stop)):
        with pytest.raises(ZeroDivisionError):
            call()
    with pytest.raises(KeyboardInterrupt):
        made.report(progress=lambda what, fraction: fraction < .9)


@pytest.mark.parametrize("options", [
    {"mode": "magic"}, {"correctors": 65}, {"correctors": "some"}, {"mode": "paper", "correctors": 1},
    {"iterations": 0},
    {"terms": ["pose"]}, {"mode": "paper", "terms": ["pose", "pose"]}, {"mode": "paper", "terms": ["poise"]},
    {"mode": "paper", "terms": "pose"}, {"mode": "paper", "weights": {"pose": 0}}, {"mode": "paper", "weights": [1]},
    {"mode": "paper", "terms": ["pose"], "weights": {"rotation": 1}}, {"bases": True}, {"mode": "paper", "root": 1},
    {"mode": "paper", "bases": True, "segment_angle": 181}, {"mode": "paper", "bases": True, "root": -1},
    {"mode": "paper", "bases": True, "segments": "none.txt"}, {"mode": "paper", "bases": True, "segments": [[1]]},
    {"reference": 2}, {"reference": -1}, {"names": ["a"]}, {"names": ["a", ""]}, {"names": ["a", "b/c"]},
    {"names": "ab"}, {"threads": 0}, {"progress": 1}, {"mode": "paper", "bases": 1},
    {"mode": "paper", "bases": True, "segments": [5] * 999},
])
def test_wrong_options(options):
    with pytest.raises((ValueError, TypeError, exemplar.Error)):
        exemplar.warp(FORMS["straight"], FORMS["bent"], **options)


def test_wrong_forms(folder, tmp_path):
    other = Mesh(FORMS["bent"].vertices, FORMS["bent"].faces[::-1])
    for forms in ((FORMS["bent"], other), (FORMS["bent"], 5), ("none.obj", FORMS["bent"]),
                  (FORMS["bent"], Mesh(FORMS["bent"].vertices)),
                  (FORMS["bent"], (FORMS["bent"].vertices, [[0, 1, 999]]))):
        with pytest.raises((ValueError, TypeError, exemplar.Error)):
            exemplar.warp(*forms)
    with pytest.raises(TypeError):
        exemplar.warp(FORMS["bent"])
    made = exemplar.warp(*paths(folder, "straight", "bent"))
    with pytest.raises(ValueError, match=".glb"):
        made.write(tmp_path / "a.obj")
    with pytest.raises(ValueError, match=".png or .svg"):
        made.report(mixtures=0).paths[0].draw(tmp_path / "a.gif")
    assert os.listdir(tmp_path) == []
