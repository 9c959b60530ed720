"""Point caches: every format, frame by frame, all or nothing."""
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy
import pytest

import exemplar
from exemplar import Cache, Mesh

random = numpy.random.default_rng(1)
FRAMES = random.normal(size=(7, 4, 3)).astype(numpy.float32)
TETRAHEDRON = Mesh(FRAMES[0], [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
FACES = {"pc2": None, "mdd": None, "obj": TETRAHEDRON, "abc": TETRAHEDRON}


def write(folder, kind, frames=FRAMES, **options):
    return Cache.write(folder / f"c.{kind}", frames, mesh=FACES[kind], **options)


@pytest.mark.parametrize("kind", FACES)
def test_round_trip(tmp_path, kind):
    info = write(tmp_path, kind, start=2, rate=20)
    assert info[:3] == (kind, 4, 7) and info.step == pytest.approx(.05)
    with Cache(tmp_path / f"c.{kind}") as cache:
        assert len(cache) == 7 and cache.shape == (7, 4, 3) and cache.info.kind == kind
        assert numpy.array_equal(cache[:], FRAMES) and numpy.array_equal(cache[-2], FRAMES[-2])
        assert numpy.array_equal(cache[5:1:-2], FRAMES[5:1:-2]) and cache[3:3].shape == (0, 4, 3)
        assert numpy.array_equal([frame[2] for frame in cache], FRAMES[:, 2])
        assert numpy.array_equal(numpy.asarray(cache, dtype=float), FRAMES)
        if kind == "obj":
            assert cache.times[1] == pytest.approx(1 / 24) and cache.file(6).endswith("c_0007.obj")
        else:
            assert numpy.allclose(cache.times, 2 + numpy.arange(7) / 20, atol=1e-6) and cache.rate == pytest.approx(20)
        if FACES[kind]:
            assert cache.mesh.same_faces(TETRAHEDRON) and numpy.array_equal(cache.faces, TETRAHEDRON.faces)
        else:
            assert cache.mesh is None and cache.faces is None
        out = numpy.zeros((4, 3), dtype=numpy.float32)
        assert cache.read(numpy.int64(1), out) is out and numpy.array_equal(out, FRAMES[1])
    with pytest.raises(ValueError, match="closed"):
        cache[0]


@pytest.mark.parametrize("kind", ["pc2", "mdd", "abc"])
def test_times_and_generators(tmp_path, kind):
    times = numpy.array([0, .5, 1, 1.25, 2, 3, 4])
    write(tmp_path, kind, times=times)
    whole = (tmp_path / f"c.{kind}").read_bytes()
    with Cache(tmp_path / f"c.{kind}") as cache:
        assert numpy.allclose(cache.times, numpy.arange(7) * 4 / 6 if kind == "pc2" else times, atol=1e-6)
    for options in ({}, {"count": 7}):
        (tmp_path / f"c.{kind}").unlink()
        write(tmp_path, kind, (frame.astype(float) for frame in FRAMES), times=times, **options)
        assert (tmp_path / f"c.{kind}").read_bytes() == whole
    with Cache(tmp_path / f"c.{kind}") as cache:
        Cache.write(tmp_path / "again.mdd", cache, times=cache.times)
    Cache.write(tmp_path / "path.mdd", tmp_path / "again.mdd", times=cache.times)
    assert (tmp_path / "path.mdd").read_bytes() == (tmp_path / "again.mdd").read_bytes()


def test_the_tool_reads_the_same(tool, tmp_path):
    write(tmp_path, "mdd", rate=30)
    told = subprocess.run([tool, "info", "--json", tmp_path / "c.mdd"], capture_output=True, check=True)
    told = json.loads(told.stdout)
    with Cache(tmp_path / "c.mdd") as cache:
        assert (told["vertices"], told["frames"]) == (cache.vertex_count, len(cache))


def failing(after, error):
    for frame in FRAMES[:after]:
        yield frame
    raise error


@pytest.mark.parametrize("kind", FACES)
@pytest.mark.parametrize("options", [{}, {"count": 7}])
@pytest.mark.parametrize("error", [RuntimeError("no more"), KeyboardInterrupt()])
def test_nothing_is_left_after_a_failure(tmp_path, kind, options, error):
    with pytest.raises(type(error)):
        write(tmp_path, kind, failing(5, error), **options)
    assert os.listdir(tmp_path) == []


def test_an_older_cache_survives(tmp_path):
    write(tmp_path, "pc2")
    before = (tmp_path / "c.pc2").read_bytes()
    told = []

    def stop(what, fraction):
        told.append(fraction)
        return fraction < .5

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, "pc2", FRAMES * 2, progress=stop)
    assert told == [(i + 1) / 7 for i in range(4)] and os.listdir(tmp_path) == ["c.pc2"]
    assert (tmp_path / "c.pc2").read_bytes() == before


def test_numbered_files_are_not_overwritten(tmp_path):
    write(tmp_path, "obj")
    before = (tmp_path / "c_0003.obj").read_bytes()
    with pytest.raises(FileExistsError, match="c_0001.obj.*force"):
        write(tmp_path, "obj", FRAMES * 2)
    assert (tmp_path / "c_0003.obj").read_bytes() == before
    write(tmp_path, "obj", FRAMES * 2, force=True)
    assert (tmp_path / "c_0003.obj").read_bytes() != before


def test_larger_than_memory(tmp_path):
    """500 MB pass through a process that may use 256 MB."""
    script = textwrap.dedent("""
        import resource, sys, numpy, exemplar
        resource.setrlimit(resource.RLIMIT_DATA, (1 << 28, 1 << 28))
        form = numpy.zeros((1 << 21, 3), dtype=numpy.float32)
        exemplar.Cache.write(sys.argv[1], (form for i in range(20)), count=20)
        with exemplar.Cache(sys.argv[1]) as cache:
            for frame in cache:
                pass
            print(cache.shape)
        """)
    run = subprocess.run([sys.executable, "-B", "-c", script, tmp_path / "large.pc2"], capture_output=True, text=True)
    assert run.stdout == "(20, 2097152, 3)\n", run.stderr
    os.remove(tmp_path / "large.pc2")


def test_interrupted_by_a_signal(tmp_path):
    script = textwrap.dedent("""
        import itertools, sys, time, numpy, exemplar
        form = numpy.zeros((1000, 3), dtype=numpy.float32)
        def frames():
            for i in itertools.count():
                if i == 100:
                    print("ready", flush=True)
                yield form
        exemplar.Cache.write(sys.argv[1], frames(), count=1 << 20)
        """)
    run = subprocess.Popen([sys.executable, "-B", "-c", script, tmp_path / "c.pc2"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=30)
    assert run.returncode == -signal.SIGINT and errors.rstrip().endswith("KeyboardInterrupt")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("frames, options", [
    (FRAMES[0], {}), (FRAMES[:, :, :2], {}), (FRAMES * numpy.nan, {}), (FRAMES.astype(float) * 1e60, {}), ([], {}),
    (FRAMES[:0], {}), (FRAMES[:, :0], {}), (5, {}), ([FRAMES[0], FRAMES[1][:3]], {}), (FRAMES, {"rate": 0}),
    (FRAMES, {"rate": "24"}), (FRAMES, {"times": [1, 2]}), (FRAMES, {"times": [0] * 7}), (FRAMES, {"count": 6}),
    (iter(FRAMES), {"count": 6}), (iter(FRAMES), {"count": 8}), (FRAMES, {"start": numpy.inf}), (FRAMES, {"force": 1}),
    (FRAMES, {"mesh": (FRAMES[0][:3], [[0, 1, 2]])}), (["a"], {}), ({1: 2}, {}), (FRAMES, {"progress": 3}),
    (FRAMES.astype(complex), {}),
])
def test_wrong_frames(tmp_path, frames, options):
    with pytest.raises((ValueError, TypeError)):
        Cache.write(tmp_path / "c.mdd", frames, **options)
    assert os.listdir(tmp_path) == []


def test_wrong_use(tmp_path):
    with pytest.raises(ValueError, match="kinds of caches"):
        Cache.write(tmp_path / "c.txt", FRAMES)
    with pytest.raises(ValueError, match="give mesh"):
        Cache.write(tmp_path / "c.abc", FRAMES)
    with pytest.raises(exemplar.FileError):
        Cache.write(tmp_path / "none" / "c.pc2", FRAMES)
    with pytest.raises(exemplar.FileError):
        Cache(tmp_path / "c.pc2")
    (tmp_path / "short.pc2").write_bytes(b"POINTCACHE2\0" + bytes(30))
    with pytest.raises(exemplar.Error):
        Cache(tmp_path / "short.pc2")
    write(tmp_path, "pc2")
    cache = Cache(str(tmp_path / "c.pc2"))
    for wrong in (7, -8, 2 ** 40):
        with pytest.raises(IndexError):
            cache[wrong]
    for wrong in (1.5, "a", None, True, [0]):
        with pytest.raises(TypeError):
            cache[wrong]
    for out in (numpy.zeros((4, 3)), numpy.zeros((3, 3), dtype="f4"), numpy.zeros((4, 6), dtype="f4")[:, ::2], 5):
        with pytest.raises(ValueError):
            cache.read(0, out)
    cache.close()
    cache.close()
    with pytest.raises(ValueError):
        with cache:
            pass
    assert "closed" in repr(cache)


def test_threads(tmp_path):
    """Threads read one cache while another closes it: frames or the sentence, nothing else."""
    write(tmp_path, "pc2")
    seen = []
    for _ in range(20):
        cache = Cache(tmp_path / "c.pc2")

        def read():
            try:
                for i in range(200):
                    assert numpy.array_equal(cache[i % 7], FRAMES[i % 7])
                seen.append("all")
            except ValueError as error:
                seen.append(str(error))

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        cache[3]
        cache.close()
        for thread in threads:
            thread.join()
    assert len(seen) == 60 and set(seen) <= {"all", "the cache is closed"}


def test_times_of_a_cache_are_kept(tmp_path):
    forms = numpy.random.default_rng(1).normal(size=(5, 4, 3)).astype("f4")
    Cache.write(tmp_path / "a.pc2", forms, rate=60, start=2)
    with Cache(tmp_path / "a.pc2") as first:
        Cache.write(tmp_path / "b.mdd", first)
        Cache.write(tmp_path / "c.mdd", first, rate=24)
        with Cache(tmp_path / "b.mdd") as again, Cache(tmp_path / "c.mdd") as other:
            assert numpy.allclose(again.times, first.times, atol=1e-6) and numpy.array_equal(again[4], forms[4])
            assert numpy.allclose(other.times, numpy.arange(5) / 24, atol=1e-6)
