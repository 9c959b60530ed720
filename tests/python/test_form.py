"""Forms of a rig: files with the bytes that the tool writes."""
import json
import os
import shutil
import subprocess

import numpy
import pytest

import exemplar


def told(tool, rig, folder, name, *words):
    os.makedirs(folder / "tool", exist_ok=True)
    subprocess.run([tool, "pose", rig, *words, "-q", "-o", folder / "tool" / name], check=True)


def compare(folder, names):
    for name in names:
        assert (folder / name).read_bytes() == (folder / "tool" / name).read_bytes(), name


@pytest.mark.parametrize("name", ["a.obj", "a.ply", "a.glb", "a.gltf"])
@pytest.mark.parametrize("options, words", [
    ({}, []), ({"normals": False, "level": "cage"}, ["--no-normals", "--level", "cage"]),
    ({"muted": "arm"}, ["--mute", "arm"]),
])
def test_arm(tool, demo, tmp_path, name, options, words):
    path = demo("arm") / "arm.glb"
    told(tool, path, tmp_path, name, "elbow=40", "gender=1", *words)
    rig = exemplar.load(path)
    exemplar.write_form(rig, tmp_path / name, rig.pose(elbow=40, gender=1), **options)
    compare(tmp_path, [name] + ["a.bin"] * name.endswith("gltf"))


def test_textures_and_levels(tool, demo, tmp_path):
    path = demo("face") / "face.glb"
    rig = exemplar.load(path)
    axis = next(iter(rig.axes))
    pose = rig.pose(**{axis: rig.axes[axis].max})
    cases = ("a.obj", {"textures": True, "level": 1}, ["--textures", "--level", "1"]), ("b.glb", {}, [])
    for name, options, words in cases:
        told(tool, path, tmp_path, name, f"{axis}={rig.axes[axis].max!r}", *words)
        exemplar.write_form(rig, tmp_path / name, pose, **options)
        compare(tmp_path, [name] + ["a.base_color.png"] * (name == "a.obj"))
    assert not (tmp_path / "b.base_color.png").exists()


def test_units_of_the_project(tool, demo, tmp_path):
    shutil.copytree(demo("blob"), tmp_path / "blob")
    project = json.loads((tmp_path / "blob" / "blob.json").read_text())
    project.update(unit=.01, up="z")
    (tmp_path / "blob" / "blob.json").write_text(json.dumps(project))
    subprocess.run([tool, "build", tmp_path / "blob" / "blob.json", "-q"], check=True)
    path = tmp_path / "blob" / "blob.glb"
    told(tool, path, tmp_path, "a.obj", "--level", "cage")
    exemplar.write_form(path, tmp_path / "a.obj", level="cage")
    compare(tmp_path, ["a.obj"])
    exemplar.write_form(exemplar.load(path), tmp_path / "a.obj", level="cage", unit=.01, up="z")
    compare(tmp_path, ["a.obj"])
    exemplar.write_form(exemplar.load(path), tmp_path / "a.obj", level="cage")
    compare(tmp_path, ["a.obj"])
    exemplar.write_form(exemplar.load(path), tmp_path / "a.obj", level="cage", unit=1, up="y")
    assert (tmp_path / "a.obj").read_bytes() != (tmp_path / "tool" / "a.obj").read_bytes()


def test_meshes(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    pose = rig.pose(elbow=40)
    mesh = exemplar.form(rig, pose, level=0)
    positions, normals = rig.evaluate(pose, normals=True)
    assert numpy.array_equal(mesh.vertices, positions[0]) and numpy.array_equal(mesh.stored_normals, normals[0])
    assert exemplar.form(demo("arm") / "arm.glb", level="cage", normals=False).stored_normals is None


@pytest.mark.parametrize("path, options", [
    ("a.off", {}), ("a.obj", {"level": 9}), ("a.obj", {"muted": "none"}),
    ("a.obj", {"unit": 0}), ("a.obj", {"up": "x"}),
    ("a.obj", {"normals": 1}), ("a.obj", {"textures": None}), ("a.obj", {"threads": 0}), ("none/a.obj", {}),
    ("a.obj", {"pose": 5}), ("a.obj", {"pose": "many"}),
])
def test_wrong_use(demo, tmp_path, path, options):
    rig = exemplar.load(demo("arm") / "arm.glb")
    if options.get("pose") == "many":
        options = {"pose": rig.pose(elbow=[1, 2])}
    with pytest.raises((ValueError, TypeError, KeyError, exemplar.Error)):
        exemplar.write_form(rig, tmp_path / path, **options)
    assert os.listdir(tmp_path) == []


def test_a_pose_by_names(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    assert (exemplar.form(rig, {"elbow": 70}).vertices == exemplar.form(rig, rig.pose(elbow=70)).vertices).all()
    with pytest.raises(KeyError):
        exemplar.form(rig, {"elbo": 70})
