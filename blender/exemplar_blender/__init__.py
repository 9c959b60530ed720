# SPDX-License-Identifier: GPL-3.0-or-later
"""Exemplar in Blender: keep sculpts at poses, and see the rest follow.

Select a mesh with an armature, press *Make Exemplar rig*, pose, sculpt, press *Keep*. Each sculpt is a shape key of the
mesh, with a place in a space that bones or sliders span; one more key, 'Exemplar', holds the mixture at the present pose,
which the library evaluates whenever a bone moves (live.py). So everything is in the .blend file: Blender's undo, saving,
appending and duplicating know it, and nothing is lost where the add-on is missing.
"""
bl_info = {
    "name": "Exemplar",
    "author": "The Exemplar authors",
    "version": (0, 2, 0),
    "blender": (3, 4, 0),
    "location": "3D Viewport > Sidebar > Exemplar",
    "description": "Keep sculpts at poses, and see the rest follow",
    "category": "Rigging",
}

import importlib

from . import library, live

# Each has register() and unregister(). Without the library, there is only what a file needs to keep its rigs, and a panel
# that says so.
_needed = ["data", "panel"]
_names = [
    "action",
    "axes",
    "bake_keys",
    "bring",
    "browser",
    "correctives",
    "data",
    "examples",
    "findings",
    "garment",
    "loop",
    "map",
    "mirror",
    "panel",
    "pseudos",
    "removal",
    "tube",
    "warp",
    "write",
]
_parts = [importlib.import_module("." + name, __name__) for name in (_names if library.found else _needed)]


def register():
    for part in _parts:
        part.register()
    live.register()


def unregister():
    live.unregister()
    for part in reversed(_parts):
        part.unregister()
