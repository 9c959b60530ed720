"""Evaluation from Python beside a C program on the same library: the time of one call, and of 10 000 poses.

usage: evaluate.py ARM.glb [--runs N]

The two take turns, so that what else the machine does meets both; the table has medians. The compiler is cc, or $CC;
the library is the package's own, or $EXEMPLAR_LIBRARY.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import exemplar

LIBRARY = os.environ.get("EXEMPLAR_LIBRARY") or str(pathlib.Path(exemplar.__file__).parent / "libexemplar.so")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
POSES = 10000


def build(folder):
    """The C program, linked with the library that Python uses."""
    program = pathlib.Path(folder) / "evaluate"
    subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-O2", f"-I{ROOT}", f"-I{ROOT / 'include'}",
                    ROOT / "bench" / "python" / "evaluate.c", LIBRARY, "-o", program], check=True)
    return program


class Program:
    """The C program with a rig."""

    def __init__(self, program, rig):
        self.process = subprocess.Popen([program, rig], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "LD_PRELOAD": LIBRARY})

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def crowd(rig, count):
    """The poses of the C program."""
    place = numpy.arange(count)[:, None] * 0.618034 + numpy.arange(len(rig.axes))[None] * 0.414214
    place -= numpy.floor(place)
    return rig.pose({axis.name: axis.min + (axis.max - axis.min) * place[:, axis.index] for axis in rig.axes.values()
                     if axis.kind == "scalar"})


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def medians(runs, *works):
    """Median seconds of each function, taking turns."""
    times = [[] for _ in works]
    for _ in range(runs):
        for work, found in zip(works, times):
            found.append(work())
    return [statistics.median(found) for found in times]


def small_rig():
    square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    layers = [exemplar.layer("size", {"width": (0, 1)}, [0, 1], [square, square * [2, 1, 1]])]
    return exemplar.Rig(square, [[0, 1, 2, 3]], layers)


def one_call(program, runs, folder):
    rig = small_rig()
    rig.save(folder / "small.glb")
    other, pose, calls = Program(program, folder / "small.glb"), crowd(rig, 1), 20000
    out = rig.evaluate(pose)

    def loop():
        for _ in range(calls):
            rig.evaluate(pose)

    def into():
        for _ in range(calls):
            rig.evaluate(pose, out=out)

    c, ours, written = medians(runs, lambda: other.ask("one", calls), lambda: seconds(loop) / calls,
                               lambda: seconds(into) / calls)
    other.close()
    print(f"{'one call, 4 vertices':34} {'C':>10} {'Python':>10} {'more':>10}")
    for name, value in (("rig.evaluate(pose)", ours), ("rig.evaluate(pose, out=…)", written)):
        print(f"{name:34} {1e6 * c:7.2f} us {1e6 * value:7.2f} us {1e6 * (value - c):7.2f} us")


def many_poses(program, path, runs, folder):
    rig = exemplar.load(path)
    other, poses = Program(program, path), crowd(rig, POSES)
    vertices = rig.vertex_count()
    other.ask("write", POSES, folder / "forms")
    same = rig.evaluate(poses).tobytes() == (folder / "forms").read_bytes()
    (folder / "forms").unlink()
    out = numpy.empty((POSES, vertices, 3), dtype=numpy.float32)
    out[:] = 0
    print(f"\n{f'{POSES} poses, {vertices} vertices':34} {'C':>10} {'Python':>10} {'speed':>10}")
    for threads in (1, os.cpu_count() or 1):
        for fresh in (0, 1):
            c, ours = medians(runs, lambda: other.ask("many", POSES, threads, fresh),
                              lambda: seconds(lambda: rig.evaluate(poses, threads=threads, out=None if fresh else out)))
            name = f"{'new memory' if fresh else 'out=…'}, threads={threads}"
            print(f"{name:34} {1e3 * c:7.1f} ms {1e3 * ours:7.1f} ms {c / ours:10.2f}")
        if (os.cpu_count() or 1) == 1:
            break
    other.close()
    print(f"positions are {'the same bytes' if same else 'DIFFERENT'}")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rig", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder)
        one_call(program, options.runs, folder)
        if not many_poses(program, options.rig, options.runs, folder):
            sys.exit(1)


main()
