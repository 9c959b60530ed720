"""Rigs on the GPU, beside the CPU; skipped without one. What is refused without a GPU is tested everywhere."""
import numpy
import pytest

import exemplar
from exemplar import gpu

needs_gpu = pytest.mark.skipif(not gpu.available(), reason="no GPU, or no libexemplar_cuda")


@pytest.fixture(scope="module")
def rig(demo):
    return exemplar.load(demo("arm") / "arm.glb")


@pytest.fixture(scope="module")
def poses(rig):
    rng = numpy.random.default_rng(5)
    return rig.pose(elbow=rng.uniform(0, 140, 300), gender=rng.uniform(0, 1, 300))


@pytest.mark.skipif(gpu.available(), reason="there is a GPU")
def test_without(rig):
    with pytest.raises((ImportError, exemplar.Error), match="GPU"):
        gpu.Character(rig)
    if not gpu.available():
        with pytest.raises((ImportError, exemplar.Error), match="GPU"):
            gpu.Array((3,), "f4")


@needs_gpu
def test_as_the_processor(rig, poses):
    character = gpu.Character(rig)
    positions, normals, weights, boxes = character.evaluate(poses, normals=True, weights=True, boxes=True)
    wanted, wanted_normals, wanted_weights = rig.evaluate(poses, normals=True, weights=True)[:3]
    numpy.testing.assert_allclose(positions.numpy(), wanted, atol=3e-6)
    numpy.testing.assert_allclose(normals.numpy(), wanted_normals, atol=1e-3)
    numpy.testing.assert_allclose(weights.numpy(), wanted_weights, atol=1e-5)
    numpy.testing.assert_allclose(boxes.numpy()[:, 1], wanted.max(1), atol=3e-6)
    half = character.evaluate(poses, number="half")
    assert half.shape == (300, 1335, 4)
    numpy.testing.assert_allclose(half.numpy()[..., :3], wanted, atol=2e-3)


@needs_gpu
def test_with_torch(rig, poses):
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

    class Packed:  # only DLPack
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **words):
            return self.tensor.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    numpy.testing.assert_array_equal(character.evaluate(Packed(dials), Packed(joints)).numpy(),
                                     character.evaluate(dials, joints).numpy())


@needs_gpu
def test_refused(rig, poses):
    character = gpu.Character(rig)
    with pytest.raises(ValueError, match="dials must be"):
        character.evaluate(numpy.zeros((3, 99)))
    with pytest.raises(TypeError, match="on the GPU"):
        character.evaluate(poses, out=numpy.zeros((300, 1335, 3), "f4"))
    with pytest.raises(exemplar.Error):
        character.evaluate(poses, level=3)
    with pytest.raises(ValueError, match="number is"):
        character.evaluate(poses, number="double")
    with pytest.raises(TypeError, match="numpy"):
        numpy.asarray(character.evaluate())
    with pytest.raises(exemplar.Error, match="no GPU 99"):
        gpu.Character(rig, device=99)
