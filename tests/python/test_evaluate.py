"""Evaluation: bytes of the C library, outputs of all kinds, arrays of the caller, levels, layers, threads; misuse."""
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import threading
import tracemalloc
import types

import numpy
import pytest

import exemplar

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def arm(demo):
    return exemplar.load(demo("arm") / "arm.glb")


@pytest.fixture(scope="module")
def face(demo):
    return exemplar.load(demo("face") / "face.glb")


def crowd(rig, count, seed=3):
    rng = numpy.random.default_rng(seed)
    return rig.pose({axis.name: rng.uniform(axis.min, axis.max, count) for axis in rig.axes.values()
                     if axis.kind == "scalar"})


def ply_positions(path):
    """Positions of a binary PLY, as they are."""
    header, body = path.read_bytes().split(b"end_header\n", 1)
    lines = header.decode().split("\n")
    count = int(next(line for line in lines if line.startswith("element vertex")).split()[2])
    begin = next(i for i, line in enumerate(lines) if line.startswith("element vertex")) + 1
    kinds = {"float": "<f4", "double": "<f8", "uchar": "u1"}
    fields = []
    for line in lines[begin:]:
        if not line.startswith("property"):
            break
        fields.append((line.split()[2], kinds[line.split()[1]]))
    rows = numpy.frombuffer(body, dtype=numpy.dtype(fields), count=count)
    return numpy.stack([rows["x"], rows["y"], rows["z"]], 1)


@pytest.mark.parametrize("name, words", [("arm", {"elbow": 70, "gender": 0.2}), ("blob", {"bend": 0.3}),
                                         ("face", {"age": 0.4, "smile": 0.6})])
def test_bytes_of_the_tool(demo, tool, tmp_path, name, words):
    path, out = demo(name) / f"{name}.glb", tmp_path / "posed.ply"
    rig = exemplar.load(path)
    subprocess.run([tool, "pose", path, *(f"{axis}={value}" for axis, value in words.items()), "-q", "-o", out],
                   check=True)
    theirs = ply_positions(out)
    ours = rig.evaluate(rig.pose(**words), level=rig.level)[0]
    assert theirs.dtype == numpy.dtype("f4")
    assert theirs.tobytes() == ours.tobytes()


def test_bytes_of_a_c_program(demo, tmp_path):
    compiler = os.environ.get("CC") or shutil.which("cc")
    source = ROOT / "bench" / "python" / "evaluate.c"
    if not compiler or not source.exists():
        pytest.skip("there is no compiler")
    library = os.environ.get("EXEMPLAR_LIBRARY") or str(pathlib.Path(exemplar.__file__).parent / "libexemplar.so")
    program = tmp_path / "evaluate"
    subprocess.run([compiler, "-std=c17", f"-I{ROOT}", f"-I{ROOT / 'include'}", source, library, "-o", program],
                   check=True)
    own = {**os.environ, "LD_PRELOAD": str(library)}  # its soname is that of the runtime, not its file's name
    for name in ("arm", "elbow"):
        path, count = demo(name) / f"{name}.glb", 150
        subprocess.run([program, path], input=f"write {count} {tmp_path / 'forms'}\n", text=True, check=True,
                       capture_output=True, env=own)
        rig = exemplar.load(path)
        place = numpy.arange(count)[:, None] * 0.618034 + numpy.arange(len(rig.axes))[None] * 0.414214
        place -= numpy.floor(place)
        poses = rig.pose({axis.name: axis.min + (axis.max - axis.min) * place[:, axis.index]
                          for axis in rig.axes.values()
                          if axis.kind == "scalar"})
        assert rig.evaluate(poses).tobytes() == (tmp_path / "forms").read_bytes()
        one = numpy.stack([rig.evaluate(pose)[0] for pose in poses])
        assert one.tobytes() == (tmp_path / "forms").read_bytes()


def test_outputs(arm):
    poses = crowd(arm, 70)
    made = arm.evaluate(poses, normals=True, weights=True, box=True)
    assert made.names == ("positions", "normals", "weights", "box")
    positions, normals, weights, box = made
    assert made.positions is positions and made.box is box
    assert numpy.array_equal(positions, arm.evaluate(poses))
    assert numpy.allclose(numpy.linalg.norm(normals, axis=2), 1, atol=1e-5)
    assert weights.shape == (70, 8) and numpy.allclose(weights.sum(1), 1)
    assert numpy.array_equal(box[:, 0], positions.min(1)) and numpy.array_equal(box[:, 1], positions.max(1))
    again = pickle.loads(pickle.dumps(made))
    assert again.names == made.names and numpy.array_equal(again.normals, normals)
    with pytest.raises(AttributeError, match="no tangents"):
        made.tangents
    one = arm.evaluate(poses[3], normals=True, weights=True, box=True)
    for name in made.names:
        assert numpy.array_equal(getattr(one, name)[0], getattr(made, name)[3])


def test_without_positions(arm):
    poses = crowd(arm, 70)
    made = arm.evaluate(poses, positions=False, weights=True)
    assert numpy.array_equal(made, arm.evaluate(poses, weights=True).weights)
    assert arm.evaluate(poses[0], positions=False, box=True, weights=True).names == ("weights", "box")
    for wrong in ({}, {"normals": True}):
        with pytest.raises(ValueError, match="positions"):
            arm.evaluate(poses, positions=False, **wrong)


def test_many_are_each_alone_whatever_the_threads(arm):
    poses = crowd(arm, 300)
    together = arm.evaluate(poses)
    for threads in (1, 2, 3, None):
        assert numpy.array_equal(together, arm.evaluate(poses, threads=threads))
    for i in range(0, 300, 37):
        assert numpy.array_equal(arm.evaluate(poses[i])[0], together[i])


def test_ways_to_say_poses(arm):
    by_name = arm.evaluate(arm.pose(gender=[0.2, 0.8]))
    assert numpy.array_equal(by_name, arm.evaluate({"gender": [0.2, 0.8]}))
    assert numpy.array_equal(by_name, arm.evaluate([[0.2], [0.8]]))
    assert numpy.array_equal(by_name, arm.evaluate(numpy.array([[0.2], [0.8]], dtype=">f4")).round(6).astype("f4")) or \
        numpy.allclose(by_name, arm.evaluate(numpy.array([[0.2], [0.8]], dtype=">f4")), atol=1e-6)
    assert numpy.array_equal(by_name, arm.evaluate([arm.pose(gender=0.2), arm.pose(gender=0.8)]))
    assert arm.evaluate().shape == (1, 1335, 3)
    assert arm.evaluate(numpy.empty((0, 1))).shape == (0, 1335, 3)
    assert arm.evaluate(arm.pose(elbow=[])).shape == (0, 1335, 3)


def test_into_the_callers_arrays(arm):
    poses = crowd(arm, 5)
    want, want_normals = arm.evaluate(poses, normals=True)
    room = numpy.full((5, 1335, 8), 7, dtype=numpy.float32)
    made = arm.evaluate(poses, out={"positions": room[:, :, :3], "normals": room[:, :, 4:7]})
    assert numpy.shares_memory(made.positions, room) and numpy.shares_memory(made.normals, room)
    assert numpy.array_equal(room[:, :, :3], want) and numpy.array_equal(room[:, :, 4:7], want_normals)
    assert (room[:, :, 3] == 7).all() and (room[:, :, 7] == 7).all()
    back = numpy.empty((5, 1335, 3), dtype=numpy.float32)[::-1]
    assert numpy.array_equal(arm.evaluate(poses, out=back), want)
    turned = numpy.empty((1335, 5, 3), dtype=numpy.float32).transpose(1, 0, 2)
    assert arm.evaluate(poses, out=turned) is turned and numpy.array_equal(turned, want)
    again = arm.evaluate(poses[::-1], out=made)
    assert again.positions is made.positions and numpy.array_equal(room[:, :, :3], want[::-1])
    alone = numpy.full((1, 1335, 5), 3, dtype=numpy.float32)
    arm.evaluate(poses[2], out=alone[:, :, 1:4])
    assert numpy.array_equal(alone[0, :, 1:4], want[2]) and (alone[0, :, ::4] == 3).all()
    weights = numpy.zeros((5, 12))
    assert numpy.array_equal(arm.evaluate(poses, out={"weights": weights[:, 2:10]}).weights,
                             arm.evaluate(poses, weights=True).weights)
    assert (weights[:, :2] == 0).all() and (weights[:, 10:] == 0).all()


def test_refused_arrays(arm):
    fixed = numpy.empty((1, 1335, 3), "f4")
    fixed.flags.writeable = False
    wide = numpy.zeros((2, 1335, 3), "f4")
    for wrong in (numpy.empty((1, 1335, 3)), numpy.empty((1, 1334, 3), "f4"), numpy.empty((1, 1335, 3), ">f4"),
                  numpy.empty((3, 1335, 1), "f4").T, numpy.empty((1, 1335, 3), "f4")[:, ::-1], fixed, [1], 3, "out",
                  numpy.ndarray, numpy.broadcast_to(numpy.zeros((1, 1, 3), "f4"), (1, 1335, 3)),
                  numpy.lib.stride_tricks.as_strided(wide, (1, 1335, 3), (12, 6, 4)),
                  numpy.zeros(1335 * 12 + 2, "u1")[2:].view("f4").reshape(1, 1335, 3)
                  if numpy.zeros(4, "u1").ctypes.data % 4 else numpy.zeros((1, 1335), "f4")):
        with pytest.raises((ValueError, TypeError)):
            arm.evaluate(out=wrong)
    same = numpy.lib.stride_tricks.as_strided(wide, (2, 1335, 3), (12, 12, 4))
    with pytest.raises(ValueError, match="overlap"):
        arm.evaluate(arm.pose(elbow=[1, 2]), out=same)
    with pytest.raises(KeyError, match="'places'"):
        arm.evaluate(out={"places": fixed})
    with pytest.raises(ValueError, match="normals must be"):
        arm.evaluate(out={"normals": numpy.empty((1, 5, 3), "f4")})


def test_levels(face, arm):
    assert face.level_count == 1
    fine = face.evaluate(level=1)
    assert fine.shape == (1, face.vertex_count(1), 3)
    assert numpy.array_equal(face.mesh_at(1).vertices, face.evaluate({"age": 1}, level=1, muted=list(face.layers))[0])
    assert numpy.array_equal(face.mesh_at(0).vertices, face.mesh.vertices)
    assert face.mesh_at(1).triangles.max() == face.vertex_count(1) - 1
    for pose in (None, {"age": 0.3}):
        assert numpy.array_equal(face.evaluate(pose, level="cage", normals=True).normals, face.evaluate(pose, normals=True).normals)
    assert face.vertex_count("cage") == face.vertex_count(0) != face.vertex_count(1)
    assert numpy.array_equal(face.split("cage").triangles, face.split(0).triangles)
    for level, match in ((2, "no level 2"), ("fine", "no level 'fine'"), (-7, "no level -7")):
        with pytest.raises(ValueError, match=match):
            face.evaluate(level=level)
    with pytest.raises(ValueError, match="no level 'limit'"):
        arm.evaluate(level="limit")
    for wrong in (1.5, None, [1], True):
        with pytest.raises((TypeError, ValueError)):
            face.evaluate(level=wrong)


def test_split_vertices(face):
    display = face.split()
    assert len(display) == face.vertex_count(split=True) > face.vertex_count()
    pose = crowd(face, 3)
    whole, split = face.evaluate(pose), face.evaluate(pose, split=True)
    assert numpy.array_equal(whole[:, display.source], split)
    tangents = face.evaluate(pose, split=True, tangents=True).tangents
    assert tangents.shape == (3, len(display), 4)
    assert numpy.allclose(numpy.linalg.norm(tangents[..., :3], axis=2), 1, atol=1e-4)


def test_textures(face):
    texture = face.textures["base_color"]
    poses = crowd(face, 3)
    made = face.evaluate(poses, textures=True)
    image = made.textures["base_color"]
    assert image.shape == (3, texture.height, texture.width, 4) and image.dtype == numpy.uint8
    layer = next(layer for layer in face.layers.values() if layer.domain == "pixels")
    at = {name: value for name, value in zip(layer.axes, face.points(layer)[0])}
    again = face.evaluate(at, textures=["base_color"]).textures["base_color"][0]
    assert abs(again.astype(int) - face.image(layer, 0).astype(int)).max() <= 1
    own = numpy.zeros((3, texture.height, texture.width, 4), dtype=numpy.uint8)
    face.evaluate(poses, out={"textures": {"base_color": own}})
    assert numpy.array_equal(own, image)
    with pytest.raises(KeyError, match="no texture 'normal'"):
        face.evaluate(textures="normal")
    with pytest.raises(TypeError):
        face.evaluate(textures=3)
    assert face.evaluate(textures=[]).textures == {}


def test_layers_left_out_and_exchanged(face, arm):
    pose = face.pose(smile=1, age=0.5)
    plain, without = face.evaluate(pose)[0], face.evaluate(pose, muted=["expression"] if "expression" in face.layers
                                                           else [face.layers["smile"] if "smile" in face.layers
                                                                 else next(reversed(list(face.layers)))])[0]
    all_out = face.evaluate(pose, muted=list(face.layers))[0]
    assert numpy.array_equal(all_out, face.mesh.vertices)
    assert numpy.isfinite(without).all() and not numpy.array_equal(all_out, plain)
    layer = next(iter(arm.layers.values()))
    ends = [(arm.axes[name].min, arm.axes[name].max) for name in layer.axes]
    nearest = exemplar.Weigher(arm.points(layer), kind="nearest", ranges=ends, k=1)
    poses = crowd(arm, 4)
    weights = arm.evaluate(poses, weights=True, weighers={layer.name: nearest}).weights
    assert ((weights == 0) | (weights == 1)).all()
    assert not ((arm.evaluate(poses, weights=True).weights == 0)).all(1).any()
    for threads in (1, 2):
        with pytest.raises(ValueError, match="another number of examples"):
            arm.evaluate(crowd(arm, 100), weighers={layer.name: exemplar.Weigher([[0], [1]])}, threads=threads)
    with pytest.raises(TypeError, match="exemplar.Weigher"):
        arm.evaluate(weighers={layer.name: 3})
    for wrong in ({"weighers": {"nose": nearest}}, {"muted": ["nose"]}, {"muted": [99]}):
        with pytest.raises((KeyError, ValueError)):
            arm.evaluate(**wrong)
    for wrong in ({"weighers": [nearest]}, {"muted": layer.name}, {"muted": 3}):
        with pytest.raises(TypeError):
            arm.evaluate(**wrong)


def test_weigher_of_a_layer(arm, monkeypatch):
    if not hasattr(exemplar.Weigher, "_of"):
        def borrow(cls, pointer, owner, *_names):
            weigher = cls.__new__(cls)
            weigher._handle = types.SimpleNamespace(pointer=pointer, owner=owner)
            return weigher
        monkeypatch.setattr(exemplar.Weigher, "_of", classmethod(borrow), raising=False)
    layer = next(iter(arm.layers))
    weigher = arm.weigher(layer)
    poses = crowd(arm, 5)
    assert numpy.array_equal(arm.evaluate(poses, weighers={layer: weigher}), arm.evaluate(poses))


def test_stages(arm):
    pose = arm.pose(elbow=90)
    assert numpy.allclose(arm.evaluate(pose, unskinned=True, muted=list(arm.layers))[0], arm.mesh.vertices)
    assert not numpy.allclose(arm.evaluate(pose, muted=list(arm.layers))[0], arm.mesh.vertices)


def test_a_rig_without_normals(demo):
    bare = exemplar.load(demo("arm") / "arm.glb", normals=False)
    for threads in (1, 2):
        with pytest.raises(ValueError, match="normals need"):
            bare.evaluate(bare.pose(elbow=numpy.zeros(100)), normals=True, threads=threads)
    with pytest.raises(ValueError, match="tangents need"):
        exemplar.load(demo("arm") / "arm.glb", tangents=False).evaluate(tangents=True)
    assert bare.evaluate().shape == (1, 1335, 3)
    coarse = exemplar.load(demo("face") / "face.glb", levels=False)
    assert coarse.level_count == 0
    with pytest.raises(ValueError, match="cannot be written"):
        coarse.to_bytes()


def test_refused(arm, demo):
    with pytest.raises(TypeError, match="of this rig"):
        exemplar.load(demo("arm") / "arm.glb").evaluate(arm.pose())
    for wrong in ("pose", 3, object(), [arm.pose(), 3], numpy.zeros((2, 5)), numpy.zeros((2, 1), complex), [["a"]],
                  {3: 4}):
        with pytest.raises((TypeError, ValueError, KeyError)):
            arm.evaluate(wrong)
    for option in ({"threads": 0}, {"threads": "two"}, {"threads": 1.5}, {"normals": "yes"},
                   {"weights": numpy.zeros(3)},
                   {"report": True}, {"driver": numpy.zeros((1, 3, 3))}):
        with pytest.raises((TypeError, ValueError)):
            arm.evaluate(**option)
    with pytest.raises(TypeError):
        arm.evaluate(colour=True)


def test_not_finite(arm):
    poses = arm.pose(elbow=[float("nan"), float("inf")], gender=[float("-inf"), 1e300])
    poses.joints[0, 1] = numpy.nan
    assert numpy.isfinite(arm.evaluate(poses)).all()


def test_chunks(arm):
    poses = crowd(arm, 150)
    want = arm.evaluate(poses)
    seen = 0
    for begin, part in arm.iterate(poses, chunk=64):
        assert numpy.array_equal(part, want[begin:begin + 64])
        seen += len(part)
    assert seen == 150
    for options in ({"positions": False, "weights": True}, {"normals": True}):
        whole = arm.evaluate(poses, **options)
        for begin, part in arm.iterate(poses, chunk=64, **options):
            for a, b in zip(part, whole) if "normals" in options else [(part, whole)]:
                assert numpy.array_equal(a, b[begin:begin + 64])
    with pytest.raises(ValueError):
        arm.iterate(poses, chunk=0)
    with pytest.raises(TypeError):
        arm.iterate(poses, out=want)


def test_many_threads_at_once(arm):
    poses, results, wrong = crowd(arm, 200), [], []
    want = arm.evaluate(poses, normals=True)

    def work():
        try:
            for i in range(20):
                assert numpy.array_equal(arm.evaluate(poses[i])[0], want.positions[i])
                assert numpy.array_equal(arm.evaluate(poses, normals=True, threads=2).normals, want.normals)
            results.append(True)
        except BaseException as error:  # shown by the test
            wrong.append(error)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong and len(results) == 4


def test_rigs_that_are_gone(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    pose = rig.pose(elbow=numpy.linspace(0, 120, 70))
    want = rig.evaluate(pose)
    del rig
    assert numpy.array_equal(pose.rig.evaluate(pose), want)


def test_after_a_fork(arm):
    poses = crowd(arm, 200)
    want = arm.evaluate(poses, threads=2)
    child = os.fork()
    if not child:
        same = numpy.array_equal(arm.evaluate(poses, threads=2), want)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture(scope="module")
def square():
    form = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    return exemplar.Rig(form, [[0, 1, 2, 3]], [exemplar.layer("size", {"width": (0, 1)}, [0, 1], [form, 2 * form])])


def test_memory_of_many_poses(square):
    """Beside the caller's arrays, many poses take no more memory than a few."""
    dials = numpy.linspace(0, 1, 400000)[:, None]
    poses, out = square.pose(dials), numpy.empty((400000, 4, 3), dtype=numpy.float32)
    square.evaluate(poses[:10000], out=out[:10000])
    for threads in (1, 2):
        tracemalloc.start()
        square.evaluate(poses, out=out, threads=threads)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 4e6
    assert numpy.allclose(out[:, 2, 0], 1 + dials[:, 0], atol=1e-6)


def test_interrupted(square):
    """Ctrl-C stops between batches."""
    poses, out = square.pose(numpy.zeros((1000000, 1))), numpy.full((1000000, 4, 3), 7, dtype=numpy.float32)

    def stop(_number, _frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(KeyboardInterrupt):
            while True:
                square.evaluate(poses, out=out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (out[-1] == 7).all()
    assert numpy.array_equal(square.evaluate(poses[:100])[99], square.mesh.vertices)


def test_earlier_results_stay(arm):
    """An evaluation without positions leaves those of the one before alone, whose memory may be another's by now."""
    for words in (dict(weights=True), dict(box=True), dict(weights=True, level=0, unskinned=True)):
        first = arm.evaluate(arm.pose())
        kept = first.copy()
        arm.evaluate(arm.pose(elbow=70), positions=False, **words)
        assert numpy.array_equal(first, kept)
        every = arm.evaluate(arm.pose(), normals=True)
        kept = [one.copy() for one in every]
        arm.evaluate(arm.pose(elbow=70), positions=False, **words)
        arm.evaluate(arm.pose(elbow=70))
        assert all(numpy.array_equal(one, other) for one, other in zip(every, kept))
