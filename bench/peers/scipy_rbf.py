"""scipy's RBFInterpolator in a space of 14 points and 4 axes.

Questions on standard input, one a line: "run weights" (set up an interpolator of the weights of the points, as a weigher
is), "run outputs" (set one up for 4005 outputs) and "run evaluate" (these outputs at one place); the answer is the
nanoseconds of a run.
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one core, as ours

import numpy
from scipy.interpolate import RBFInterpolator

SAMPLE_NS = 2e6

random = numpy.random.default_rng(1)
points = random.random((14, 4))
weights = numpy.eye(14)  # 1 at the point itself, 0 at the others
values = random.random((14, 4005))
place = random.random((1, 4))
interpolator = RBFInterpolator(points, values)
works = {
    "run weights": lambda: RBFInterpolator(points, weights),
    "run outputs": lambda: RBFInterpolator(points, values),
    "run evaluate": lambda: interpolator(place),
}


def time_runs(work, runs):
    work()
    start = time.perf_counter_ns()
    for _ in range(runs):
        work()
    return (time.perf_counter_ns() - start) / runs


def main():
    runs = {}
    for line in sys.stdin:
        work = works.get(line.strip())
        if not work:
            print("no such question", flush=True)
            continue
        if line not in runs:
            runs[line] = max(1, int(SAMPLE_NS / time_runs(work, 3)))
        print(time_runs(work, runs[line]), flush=True)


main()
