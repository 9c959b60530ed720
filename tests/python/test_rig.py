"""Rigs: loading, looking inside, saving, pickling; and what is refused."""
import copy
import json
import pathlib
import pickle
import subprocess

import numpy
import pytest

import exemplar


@pytest.fixture(scope="module")
def arm(demo):
    return exemplar.load(demo("arm") / "arm.glb")


def test_what_it_is(arm):
    assert list(arm.axes) == ["shoulder", "elbow", "wrist", "gender"]
    elbow = arm.axes["elbow"]
    assert (elbow.min, elbow.max, elbow.rest, elbow.width, elbow.is_dial) == (0, 140, 0, 1, False)
    assert arm.skeleton.names[elbow.joint] and arm.axes["gender"].is_dial and arm.axes["gender"].joint is None
    assert arm.mesh.vertices.shape == (1335, 3) and arm.mesh.triangles.max() == 1334
    assert len(arm.examples) == 8 and len(arm.skeleton) == 3
    layer = next(iter(arm.layers.values()))
    assert (layer.domain, layer.stage, len(layer.examples), layer.first) == ("positions", "rest", 8, 0)
    assert arm.points(layer).shape == (8, len(layer.axes))
    assert "1335 vertices" in repr(arm) and "0 to 140" in repr(elbow) and "8 examples" in repr(layer)
    assert arm.storage == "float" and arm.level == 0 and arm.skinning in ("linear", "dual_quaternion")
    joints, weights = arm.skin
    assert joints.shape == weights.shape and len(joints) == 1335 and numpy.allclose(weights.sum(1), 1, atol=1e-5)
    with pytest.raises(TypeError):
        arm.axes["elbow"] = 3
    with pytest.raises(AttributeError):
        elbow.width = 9


def test_equality(arm, demo):
    other = exemplar.load(demo("arm") / "arm.glb")
    assert arm.axes["elbow"] == other.axes["elbow"] and arm.axes["elbow"] != arm.axes["wrist"]
    assert arm.skeleton == other.skeleton and hash(arm.skeleton) == hash(other.skeleton)
    assert dict(arm.layers) == dict(other.layers) and dict(arm.textures) == {}


def test_examples_come_back(demo):
    rig = exemplar.load(demo("blob") / "blob.glb")
    layer = next(iter(rig.layers.values()))
    for k, name in enumerate(layer.examples):
        at = dict(zip(layer.axes, rig.points(layer)[k]))
        form = rig.evaluate(rig.pose(at))[0]
        assert numpy.allclose(form, rig.mesh.vertices + rig.delta(layer, name), atol=1e-5)
    with pytest.raises(KeyError, match="no example"):
        rig.delta(layer, "nose")
    for wrong in (99, -1, 1.5):
        with pytest.raises((ValueError, TypeError)):
            rig.delta(layer, wrong)
        with pytest.raises((ValueError, TypeError)):
            rig.points(wrong)
    with pytest.raises(ValueError, match="no images"):
        rig.image(layer, 0)


def test_saved_and_loaded(arm, demo, tmp_path):
    path = demo("arm") / "arm.glb"
    poses = arm.pose(elbow=[0, 50, 100], gender=0.3)
    want = arm.evaluate(poses)
    data = arm.to_bytes()
    arm.save(tmp_path / "again.glb")
    assert (tmp_path / "again.glb").read_bytes() == data == path.read_bytes()
    for source in (data, bytearray(data), memoryview(data), str(path), pathlib.Path(path)):
        rig = exemplar.load(source)
        assert numpy.array_equal(rig.evaluate(rig.pose(elbow=[0, 50, 100], gender=0.3)), want)
    again = pickle.loads(pickle.dumps(arm))
    assert numpy.array_equal(again.evaluate(again.pose(elbow=[0, 50, 100], gender=0.3)), want)
    assert copy.copy(arm) is arm and copy.deepcopy(arm) is arm


def test_units_stay(tool, demo, tmp_path):
    """A file records the unit and the up axis of its project; saving keeps them."""
    project = json.loads((demo("blob") / "blob.json").read_text())
    project.update(unit="cm", up="z")
    (demo("blob") / "units.json").write_text(json.dumps(project))
    subprocess.run([tool, "build", demo("blob") / "units.json", "-q", "-o", tmp_path / "units.glb"], check=True)
    data = (tmp_path / "units.glb").read_bytes()
    assert data != (demo("blob") / "blob.glb").read_bytes()
    for rig in (exemplar.load(tmp_path / "units.glb"), exemplar.load(data),
                pickle.loads(pickle.dumps(exemplar.load(data)))):
        assert rig.to_bytes() == data


def test_short(arm, demo):
    short = exemplar.load(demo("arm") / "arm.glb", storage="short")
    assert short.storage == "short"
    error = abs(short.evaluate(short.pose(elbow=60)) - arm.evaluate(arm.pose(elbow=60))).max()
    assert 0 < error < 1e-4
    for write in (short.to_bytes, lambda: pickle.dumps(short), lambda: short.save("/tmp/never.glb")):
        with pytest.raises(ValueError, match="cannot be written"):
            write()


def test_groups(demo):
    rig = exemplar.load(demo("face") / "face.glb")
    faces = len(rig.mesh.faces)
    for part in (rig.groups, rig.materials):
        for name, numbers in part.items():
            assert name and len(numbers) and 0 <= numbers.min() and numbers.max() < faces


def test_refused(arm, tmp_path):
    for wrong in (b"", b"glTF", b"\0" * 1000, arm.to_bytes()[:-5], arm.to_bytes()[:100]):
        with pytest.raises(exemplar.Error):
            exemplar.load(wrong)
    data = bytearray(arm.to_bytes())
    data[len(data) // 2] ^= 255
    with pytest.raises(exemplar.FormatError):
        exemplar.load(bytes(data))
    with pytest.raises(FileNotFoundError):
        exemplar.load(tmp_path / "none.glb")
    with pytest.raises(ValueError, match="NUL"):
        exemplar.load("a\0b")
    with pytest.raises(ValueError, match="storage"):
        exemplar.load(arm.to_bytes(), storage="tiny")
    with pytest.raises(exemplar.FileError):
        arm.save(tmp_path / "no folder" / "rig.glb")
    for wrong in (3, None, 1.5, [1]):
        with pytest.raises(TypeError):
            exemplar.load(wrong)
        with pytest.raises(TypeError):
            arm.save(wrong)


def test_skeletons():
    made = exemplar.Skeleton.from_positions(["hip", "knee", "foot"], [-1, 0, 1], [[0, 2, 0], [0, 1, 0], [0, 0, 1]])
    assert numpy.allclose(made.rest[:, :3], [[0, 2, 0], [0, -1, 0], [0, -1, 1]])
    assert numpy.allclose(made.worlds()[:, :, 3], [[0, 2, 0], [0, 1, 0], [0, 0, 1]])
    assert made.index("foot") == 2 and pickle.loads(pickle.dumps(made)) == made
    bare = exemplar.Skeleton(["hip", ""], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    assert pickle.loads(pickle.dumps(bare)) == bare != made and bare.names == ("hip", "")
    with pytest.raises(KeyError, match="no joint 'toe'"):
        made.index("toe")
    with pytest.raises(AttributeError):
        made.names = []
    with pytest.raises(ValueError):
        made.rest[0] = 1
    for wrong in ((["a"], [0], [[0, 0, 0]]), (["a", "b"], [1, 0], [[0, 0, 0]] * 2), (["a"], [-2], [[0, 0, 0]]),
                  (["a"], [5], [[0, 0, 0]]), ([], [], numpy.zeros((0, 3))), (["a"], [-1], [[0, 0, numpy.nan]]),
                  (["a"], [-1], [[0, 0]]), (["a\0"], [-1], [[0, 0, 0]])):
        with pytest.raises(ValueError):
            exemplar.Skeleton(*wrong)
    for wrong in (("ab", [-1, 0], [[0, 0, 0]] * 2), ([3], [-1], [[0, 0, 0]])):
        with pytest.raises(TypeError):
            exemplar.Skeleton(*wrong)
    with pytest.raises((ValueError, exemplar.Error)):
        exemplar.Skeleton(["a"], [-1], [[0, 0, 0]], inverse_binds=numpy.zeros((1, 3, 4)))


def test_a_rig_is_saved_as_glb_only(demo, tmp_path):
    with pytest.raises(ValueError, match=r"\.glb"):
        exemplar.load(demo("blob") / "blob.glb").save(tmp_path / "x.gltf")
