# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that shape keys cannot hold: paths between keys, garments, layers of imported rigs.

The file of such a rig is a custom property of the mesh, 'exemplar:' + name, as bytes; `mesh.exemplar.stored` has an entry of
that name. So Blender saves, appends and duplicates it with the mesh.
"""
import uuid
from collections import OrderedDict

from .data import touch
from .library import exemplar

PREFIX = "exemplar:"
LONGEST = 63 - len(PREFIX)  # letters of a name, since Blender's names have at most 63
KEPT = 16
_loaded = OrderedDict()  # revision of a file -> Rig


def add(mesh, name, purpose, data, space=None, sliders=None):
    """Keeps the bytes of a rig file under a name, in place of an earlier one of that name. Returns its entry.

    purpose: 'RIG', 'WARP' or 'GARMENT'. space: a matrix (4, 4) that takes points of the rig to points of the mesh. sliders:
    {axis: custom property of the object}, where the names differ."""
    name = name.encode()[:LONGEST].decode(errors="ignore")
    if name in mesh.exemplar.stored:
        remove(mesh, name)
    entry = mesh.exemplar.stored.add()
    entry.name, entry.purpose, entry.revision = name, purpose, uuid.uuid4().hex
    if space is not None:
        entry.space = [float(number) for row in space for number in row]
    for axis, prop in (sliders or {}).items():
        word = entry.sliders.add()
        word.name, word.value = axis, prop
    mesh[PREFIX + name] = bytes(data)
    touch(mesh)
    return entry


def remove(mesh, name):
    """Forgets a stored rig."""
    mesh.exemplar.stored.remove(mesh.exemplar.stored.find(name))
    mesh.pop(PREFIX + name, None)
    touch(mesh)


def rig_of(mesh, entry):
    """The Rig of an entry, loaded once; None if its bytes are gone."""
    rig = _loaded.get(entry.revision)
    if rig is None:
        data = mesh.get(PREFIX + entry.name)
        if not isinstance(data, bytes):
            return None
        rig = _loaded[entry.revision] = exemplar.load(data)
        while len(_loaded) > KEPT:
            _loaded.popitem(last=False)
    _loaded.move_to_end(entry.revision)
    return rig


def rigs(mesh):
    """{name: Rig} of the stored rigs of a mesh, muted or not."""
    found = {entry.name: rig_of(mesh, entry) for entry in mesh.exemplar.stored}
    return {name: rig for name, rig in found.items() if rig is not None}


def property_of(entry, axis):
    """The custom property of the object that an axis reads."""
    return entry.sliders[axis].value if axis in entry.sliders else axis
