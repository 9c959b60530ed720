# SPDX-License-Identifier: GPL-3.0-or-later
"""The Exemplar library: the Python package that comes with the add-on, in its folder 'lib'.

`exemplar` is the package, or None where it cannot be loaded; `problem` then says why, in a sentence for the user. A
package on Python's own path is used if the add-on has none.
"""
import pathlib
import platform
import sys

_place = str(pathlib.Path(__file__).resolve().parent / "lib")
if _place not in sys.path:
    sys.path.insert(0, _place)

exemplar, problem = None, ""
try:
    import exemplar
except ImportError as error:
    problem = (f"The Exemplar library cannot be loaded on this machine ({sys.platform}, {platform.machine()}): {error}. "
               f"Install the add-on's file for this machine")
found = exemplar is not None
