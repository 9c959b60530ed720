"""scipy's RBFInterpolator beside exemplar.Weigher: 14 points of a space, 4005 outputs (a mesh of 1335 vertices).

usage: rbf.py [--points 14] [--outputs 4005] [--axes 4] [--queries 10000]

Where both define the same function, values must agree. With a polynomial of degree 1 these are:

    scipy                 exemplar
    linear                Weigher(points, "cardinal", kernel="biharmonic")
    thin_plate_spline     Weigher(points, "cardinal", kernel="thin_plate")
    cubic                 Weigher(points, "cardinal", kernel="triharmonic")
    multiquadric          Weigher(points, "cardinal", kernel="multiquadric"), epsilon = 1/(mean distance of neighbours)
    gaussian, degree -1   Weigher(points, "gaussian"), epsilon = 1/(sqrt(2) mean distance of neighbours)

The other kernels of 'cardinal' are solved after the plane, as the paper has it, and 'calm' keeps weights within a bound:
scipy has neither. scipy solves for the outputs; a weigher solves for the weights of the points, whatever the outputs are,
and a product of weights and outputs gives the rest. Times are the best of several runs.
"""
import argparse
import functools
import sys
import time

import numpy

import exemplar

try:
    from scipy.interpolate import RBFInterpolator
except ImportError:
    sys.exit("rbf.py: this comparison needs scipy")


def best(work, seconds=0.3):
    """The shortest time of a call, in seconds, and its result."""
    result, shortest, begun = None, float("inf"), time.perf_counter()
    while shortest == float("inf") or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def text(seconds):
    return f"{seconds * 1e6:9.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:9.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("points", 14), ("outputs", 4005), ("axes", 4), ("queries", 10000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = parser.parse_args()
    rng = numpy.random.default_rng(1)
    points = rng.uniform(0, 1, (given.points, given.axes))
    values = rng.normal(size=(given.points, given.outputs))
    queries = rng.uniform(0, 1, (given.queries, given.axes))
    ranges = numpy.tile([0.0, 1.0], (given.axes, 1))
    apart = numpy.linalg.norm(points[:, None] - points[None], axis=2) + 1e9 * numpy.eye(given.points)
    near = apart.min(0).mean()
    pairs = [("linear", 1, 1.0, dict(kind="cardinal", kernel="biharmonic")),
             ("thin_plate_spline", 1, 1.0, dict(kind="cardinal", kernel="thin_plate")),
             ("cubic", 1, 1.0, dict(kind="cardinal", kernel="triharmonic")),
             ("multiquadric", 1, 1 / near, dict(kind="cardinal", kernel="multiquadric")),
             ("gaussian", -1, 1 / (numpy.sqrt(2) * near), dict(kind="gaussian"))]
    print(f"{given.points} points on {given.axes} axes, {given.outputs} outputs; scipy | exemplar")
    print(f"{'kernel':18s}{'difference':>12s}{'solve':>28s}{'evaluate 1':>28s}{f'evaluate {given.queries}':>28s}")
    wrong, alone = False, []
    for kernel, degree, epsilon, ours in pairs:
        solve = [best(lambda: RBFInterpolator(points, values, kernel=kernel, degree=degree, epsilon=epsilon)),
                 best(lambda: exemplar.Weigher(points, ranges=ranges, **ours))]
        (_, theirs), (_, weigher) = solve
        one = [best(lambda: theirs(queries[:1])), best(lambda: weigher.weights(queries[:1]) @ values)]
        many = [best(lambda: theirs(queries)), best(lambda: weigher.weights(queries) @ values)]
        alone.append(best(lambda: weigher.weights(queries))[0])
        difference = max(numpy.abs(a[1] - b[1]).max() for a, b in (one, many)) / numpy.abs(many[0][1]).max()
        wrong |= not difference < 1e-9
        times = "".join(f"  {text(pair[0][0])} |{text(pair[1][0])}" for pair in (solve, one, many))
        print(f"{kernel:18s}{difference:12.1e}{times}")
    print(f"The weights of {given.queries} queries alone, without the product: {text(min(alone)).strip()} to "
          f"{text(max(alone)).strip()}.")
    eye, ours = numpy.eye(given.points), pairs[0][3]  # like for like: scipy asked for the weights of the points
    weigher, moved = exemplar.Weigher(points, ranges=ranges, **ours), points[0] + 0.01
    work = [("solve for the weights", lambda: RBFInterpolator(points, eye, kernel="linear", degree=1),
             lambda: exemplar.Weigher(points, ranges=ranges, **ours)),
            ("weights at one place", functools.partial(RBFInterpolator(points, eye, kernel="linear", degree=1), queries[:1]),
             lambda: weigher.weights(queries[:1])),
            ("move a point", None, lambda: weigher.move(0, moved))]
    for name, scipy_way, our_way in work:
        print(f"{name:24s}{text(best(scipy_way)[0]) if scipy_way else '-':>12s} |{text(best(our_way)[0])}")
    if wrong:
        sys.exit("rbf.py: values differ")


if __name__ == "__main__":
    main()
