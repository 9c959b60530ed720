"""Displacement maps: one number for each vertex of a refined level, along its limit normal."""
from __future__ import annotations

import ctypes

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._library import Handle, author, checked, path_bytes

STATES = ("outside", "hit", "faired", "lent", "filled")
"""States of vertices: not covered; measured; measured, smoothed beside a hole; from other scans; a filled hole."""


class DisplacementMap:
    """displacements (V,) floats in metres; states (V,) numbers into STATES, all 'hit' by default."""

    def __init__(self, displacements, states=None) -> None:
        self.displacements = numpy.array(take(displacements, "f4", (None,), "displacements"))
        count = len(self.displacements)
        self.states = numpy.full(count, STATES.index("hit"), dtype=numpy.uint8)
        if states is not None:
            self.states = numpy.array(take(states, "u1", (count,), "states"))
        self._check()

    def _check(self):
        displacements = take(self.displacements, "f4", (None,), "displacements")
        states = take(self.states, "u1", displacements.shape, "states")
        if not displacements.size:
            raise ValueError("a displacement map has at least one vertex")
        if not numpy.isfinite(displacements).all():
            raise ValueError("displacements must be finite")
        if (states >= len(STATES)).any():
            raise ValueError(f"states must be 0 to {len(STATES) - 1}")
        return displacements, states

    @classmethod
    def read(cls, path) -> DisplacementMap:
        """Reads a .ply file with the vertex properties displacement and state."""
        made = ctypes.POINTER(_abi.ex_displacement_map)()
        checked(author.ex_displacement_map_read, path_bytes(path), ctypes.byref(made))
        handle = Handle(made, author.ex_displacement_map_destroy)
        found = handle.pointer.contents
        return cls(copied(found.displacements, "f4", (found.vertex_count,)),
                   copied(found.states, "u1", (found.vertex_count,)))

    def write(self, path) -> None:
        """Writes a .ply file, completely or not at all."""
        name = path_bytes(path)
        if not name.lower().endswith(b".ply"):
            raise ValueError("a displacement map is written as .ply")
        displacements, states = self._check()
        given = _abi.ex_displacement_map(vertex_count=len(displacements), displacements=address(displacements),
                                         states=address(states))
        checked(author.ex_displacement_map_write, name, ctypes.byref(given))

    def __len__(self) -> int:
        return len(self.displacements)

    def __repr__(self) -> str:
        return f"<exemplar.DisplacementMap, {len(self)} vertices>"
