"""Closest points and rays of a surface, all in one call of a Tree, beside a loop of single calls of the library.

usage: search.py RIG.glb [--count N] [--runs N]
"""
import argparse
import ctypes
import os
import statistics
import time

import numpy

import exemplar
from exemplar import _abi
from exemplar._library import runtime


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(name, count, runs, *works):
    """Median nanoseconds of a query, for each way; they take turns."""
    times = [[] for _ in works]
    for _ in range(runs):
        for work, found in zip(works, times):
            found.append(seconds(work))
    print(f"{name:30}" + "".join(f"{1e9 * statistics.median(found) / count:12.0f}" for found in times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rig")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    mesh, count, threads = exemplar.load(options.rig).mesh, options.count, os.cpu_count() or 1
    tree, rng = exemplar.Tree(*mesh), numpy.random.default_rng(1)
    size = numpy.ptp(mesh.vertices, axis=0).max()
    on = mesh.vertices[rng.integers(0, len(mesh.vertices), count)]
    near = (on + rng.normal(0, 0.01 * size, (count, 3))).astype("f4")
    far = (on + rng.normal(0, size, (count, 3))).astype("f4")
    fit = tree._bounds[0]

    def closest(points):
        def loop():
            found, at = _abi.ex_closest(), points.ctypes.data
            for i in range(count):
                runtime.ex_bounds_closest(fit, at + 12 * i, numpy.inf, found)
        return loop

    def rays(origins, directions):
        def loop():
            found, ray = _abi.ex_hit(), _abi.ex_ray(t_max=numpy.inf)
            at = ctypes.addressof(ray)
            first, second = origins.ctypes.data, directions.ctypes.data
            for i in range(count):
                ctypes.memmove(at, first + 12 * i, 12)
                ctypes.memmove(at + 12, second + 12 * i, 12)
                runtime.ex_bounds_ray(fit, ray, found)
        return loop

    print(f"{f'{len(tree)} triangles, ns a query':30}{'loop':>12}{'one call':>12}{f'{threads} threads':>12}")
    for name, points in (("closest, 1 % of the size away", near), ("closest, far away", far)):
        row(name, count, options.runs, closest(points), lambda: tree.closest(points),
            lambda: tree.closest(points, threads=threads))
    aim = (on - far).astype("f4")
    row("rays", count, options.runs, rays(far, aim), lambda: tree.rays(far, aim),
        lambda: tree.rays(far, aim, threads=threads))
    row("blocked", count, options.runs, rays(far, aim), lambda: tree.blocked(far, aim),
        lambda: tree.blocked(far, aim, threads=threads))


main()
