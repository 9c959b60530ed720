"""Small functions that paint and model: smooth steps, bumps and noise in space."""
import numpy as np


def step(low, high, x):
    """0 below low, 1 above high (or the other way round), smooth between."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def bump(points, centre, widths):
    return np.exp(-(((points - np.array(centre)) / np.array(widths)) ** 2).sum(axis=1))


def noise(points, frequency, seed, size=64):
    """Value noise within -0.5 to 0.5."""
    lattice = np.random.default_rng(seed).random((size, size, size))
    at = points * frequency
    cell = np.floor(at).astype(int)
    part = at - cell
    part = part * part * (3 - 2 * part)
    total = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        share = np.prod(np.where(np.array(corner) == 1, part, 1 - part), axis=1)
        total += share * lattice[tuple(((cell + corner) % size).T)]
    return total - 0.5
