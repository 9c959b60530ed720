#!/usr/bin/env python3
"""Compares two outputs of tests/portable/results.c: the same lines, and numbers within 1e-6, for driven forms 1e-4.

A line is 'name value…', one result. Its numbers are compared relative to the largest of that line, since a weight that
is nearly zero next to larger ones has no relative accuracy. Names, words, the number of values and non-finite values
must be the same. The line 'simd', which describes the build, is left out.

usage: compare.py EXPECTED ACTUAL
"""
import math
import sys

TOLERANCE = 1e-6
# Convex weights depend on products summed in float. Keys along a smooth motion lie nearly in a plane, which makes
# rounding errors about 100 times larger.
DRIVEN = 1e-4


def read(path):
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file]
    return [line for line in lines if line[0] != "simd"]


def number(word):
    try:
        return float(word)
    except ValueError:
        return None


def worst_difference(expected, actual):
    """The largest difference over the line's scale; infinite if something cannot be compared."""
    if len(expected) != len(actual) or expected[0] != actual[0]:
        return math.inf
    pairs = [(number(a), number(b), a == b) for a, b in zip(expected[1:], actual[1:])]
    if any((a is None or b is None or not math.isfinite(a) or not math.isfinite(b)) and not same for a, b, same in pairs):
        return math.inf
    pairs = [(a, b) for a, b, _ in pairs if a is not None and math.isfinite(a)]
    scale = max((max(abs(a), abs(b)) for a, b in pairs), default=0.0)
    return max((abs(a - b) for a, b in pairs), default=0.0) / scale if scale else 0.0


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    expected, actual = (read(path) for path in arguments)
    if not expected or len(expected) != len(actual):
        sys.exit(f"{len(expected)} lines expected, {len(actual)} found")
    worst = 0.0
    failures = 0
    for a, b in zip(expected, actual):
        difference = worst_difference(a, b)
        worst = max(worst, difference)
        if not difference <= (DRIVEN if a[0].startswith("driven.") else TOLERANCE):
            failures += 1
            if failures <= 10:
                print(f"differ by {difference:.3g}:\n  {' '.join(a)[:400]}\n  {' '.join(b)[:400]}")
    print(f"{len(expected)} lines, {failures} differ, largest difference {worst:.3g}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
