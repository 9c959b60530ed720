"""Rigs on the GPU, beside the processor. Without a GPU, a stand-in in host memory (host_cuda.c) takes its place."""
import os
import pathlib
import subprocess

import numpy
import pytest

import exemplar
from exemplar import gpu

REAL = gpu.available()
needs_gpu = pytest.mark.skipif(not REAL, reason="no GPU, or no libexemplar_cuda")


def test_without():
    if REAL:
        pytest.skip("there is a GPU")
    with pytest.raises(ImportError, match="no GPU library"):
        gpu.devices()
    assert not gpu.available()


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    if REAL:
        yield
        return
    here = pathlib.Path(__file__).resolve().parent
    library = os.environ.get("EXEMPLAR_LIBRARY") or pathlib.Path(exemplar.__file__).parent / "libexemplar.so"
    made = tmp_path_factory.mktemp("gpu") / "libhost_cuda.so"
    subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-shared", "-fPIC", f"-I{here.parent.parent / 'include'}",
                    here / "host_cuda.c", library, "-o", made], check=True)
    os.environ["EXEMPLAR_CUDA_LIBRARY"] = str(made)
    yield
    del os.environ["EXEMPLAR_CUDA_LIBRARY"]
    gpu._state.clear()


@pytest.fixture(scope="module")
def rig(demo, stand_in):
    return exemplar.load(demo("arm") / "arm.glb")


@pytest.fixture(scope="module")
def poses(rig):
    rng = numpy.random.default_rng(5)
    return rig.pose(elbow=rng.uniform(0, 140, 300), gender=rng.uniform(0, 1, 300))


class Foreign:
    """An array of another package, by __cuda_array_interface__; on the GPU if there is one."""

    def __init__(self, array):
        self.array = array
        if REAL:
            self.held = gpu.Array(array.shape, array.dtype)
            from exemplar._library import checked
            checked(gpu._library().ex_cuda_copy, self.held._handle.pointer, array.ctypes.data, array.nbytes, None)

    @property
    def __cuda_array_interface__(self):
        if REAL:
            return self.held.__cuda_array_interface__
        array = self.array
        return {"shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False), "version": 3,
                "strides": array.strides}


class Packed:
    """An array of another package, by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_as_the_processor(rig, poses):
    character = gpu.Character(rig)
    assert gpu.devices() and "MB" in repr(character)
    positions, normals, weights, boxes = character.evaluate(poses, normals=True, weights=True, box=True)
    wanted, wanted_normals, wanted_weights = rig.evaluate(poses, normals=True, weights=True)[:3]
    assert positions.shape == (300, 1335, 3)
    numpy.testing.assert_allclose(positions.numpy(), wanted, atol=3e-6)
    numpy.testing.assert_allclose(normals.numpy(), wanted_normals, atol=1e-3)
    numpy.testing.assert_allclose(weights.numpy(), wanted_weights, atol=1e-5)
    numpy.testing.assert_allclose(boxes.numpy()[:, 1], wanted.max(1), atol=3e-6)
    rest = character.evaluate().numpy()
    numpy.testing.assert_allclose(rest, rig.evaluate(), atol=3e-6)


def test_arrays_of_others(rig, poses):
    character = gpu.Character(rig)
    wanted = character.evaluate(poses).numpy()
    dials, joints = Foreign(poses.dials.astype("f4")), Foreign(poses.joints)
    numpy.testing.assert_array_equal(character.evaluate(dials, joints).numpy(), wanted)
    room = gpu.Array((300, 1335, 3), "f4")
    assert character.evaluate(dials, joints, out=room) is room
    numpy.testing.assert_array_equal(room.numpy(), wanted)
    held = gpu.Array(poses.joints.shape, "f4")  # in by DLPack, twice, and out again
    from exemplar._library import checked
    checked(gpu._library().ex_cuda_copy, held._handle.pointer, poses.joints.ctypes.data, poses.joints.nbytes, None)
    before = len(gpu._given)
    for _ in range(2):
        numpy.testing.assert_array_equal(character.evaluate(dials, Packed(held)).numpy(), wanted)
    assert len(gpu._given) == before  # tensors were given back
    held.__dlpack__()  # a capsule that nobody takes
    assert len(gpu._given) == before


def test_strides(rig, poses):
    if REAL:
        pytest.skip("needs an array with strides on the GPU: see test_torch")
    wide = numpy.full((300, 1335, 5), 7, dtype=numpy.float32)
    gpu.Character(rig).evaluate(poses, out=Foreign(wide[:, :, 1:4]))
    numpy.testing.assert_array_equal(wide[:, :, 1:4], gpu.Character(rig).evaluate(poses).numpy())
    assert (wide[:, :, [0, 4]] == 7).all()


@needs_gpu
def test_torch(rig, poses):
    torch = pytest.importorskip("torch")
    character = gpu.Character(rig)
    wanted = rig.evaluate(poses)
    dials = torch.as_tensor(poses.dials, dtype=torch.float32, device="cuda")
    joints = torch.as_tensor(poses.joints, device="cuda")
    made = character.evaluate(dials, joints)
    for view in (torch.as_tensor(made, device="cuda"), torch.from_dlpack(made)):
        numpy.testing.assert_allclose(view.cpu().numpy(), wanted, atol=3e-6)
    del made, view
    room = torch.zeros((300, 1335, 5), device="cuda")
    character.evaluate(dials, joints, out=room[:, :, :3])
    numpy.testing.assert_allclose(room[:, :, :3].cpu().numpy(), wanted, atol=3e-6)
    assert (room[:, :, 3:] == 0).all()
    numpy.testing.assert_array_equal(character.evaluate(Packed(dials), Packed(joints)).numpy(),
                                     character.evaluate(dials, joints).numpy())
    half = character.evaluate(poses, number="half")
    assert half.shape == (300, 1335, 4)
    numpy.testing.assert_allclose(half.numpy()[..., :3], wanted, atol=2e-3)


def test_refused(rig, poses):
    character = gpu.Character(rig)
    with pytest.raises(ValueError, match="dials must be"):
        character.evaluate(numpy.zeros((3, 99)))
    with pytest.raises(TypeError, match="on the GPU"):
        character.evaluate(poses, out=numpy.zeros((300, 1335, 3), "f4"))
    with pytest.raises(ValueError, match="float32"):
        character.evaluate(Foreign(poses.dials), poses.joints)
    with pytest.raises(ValueError, match="300"):
        character.evaluate(poses, out=gpu.Array((299, 1335, 3), "f4"))
    with pytest.raises((ValueError, exemplar.Error), match="level"):
        character.evaluate(poses, level=3)
    with pytest.raises(ValueError, match="number is"):
        character.evaluate(poses, number="double")
    with pytest.raises(TypeError, match="numpy"):
        numpy.asarray(character.evaluate())
    with pytest.raises(exemplar.Error, match="no GPU 99"):
        gpu.Character(rig, device=99)
    with pytest.raises(KeyError, match="no layer"):
        character.set_weigher("knee", None)
    with pytest.raises(TypeError, match="this rig"):
        character.evaluate(exemplar.load(rig.to_bytes()).pose())
    assert character.evaluate({"elbow": [10, 20]}).shape == (2, 1335, 3)
    for wrong in (None, 3, "rig"):
        with pytest.raises(TypeError):
            gpu.Character(wrong)
