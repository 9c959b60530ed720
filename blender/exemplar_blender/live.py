# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation as bones move: after each update of the dependency graph, and each change of frame, in the viewport and while
rendering, the form at the present pose is written to the shape key 'Exemplar', which has value 1.

Blender evaluates what a handler changed once more before it draws or renders. A garment follows the evaluated form of
another object, which is therefore written first, and evaluated again. A mesh in Sculpt or Edit Mode is left alone, and so is
a form that was changed by hand and not kept yet (`pending`).
"""
from collections import OrderedDict

import bpy
import numpy
from bpy.app.handlers import persistent

from . import character, compat, data
from .data import LIVE, rig_of, touch
from .errors import sentence
from .library import exemplar, found
from .rigs import Live

KEPT = 16  # rigs of earlier revisions, for undo
_rigs = OrderedDict()  # (mesh, revision) -> Live
_written = {}  # mesh -> what its key was set to: (revision, numbers, form)
problems = {}  # mesh -> why it does not follow
_weighed = {}  # mesh -> its weights: ((revision, numbers), {layer: {example: weight}})
_busy = False


def name_of(mesh):
    return (mesh.name, mesh.library.filepath if mesh.library else "")


def live_of(mesh, armature):
    """The rig of a mesh, built if its revision is new."""
    place = (*name_of(mesh), mesh.exemplar.revision)
    live = _rigs.get(place)
    if live is None or not live.fits(mesh, armature):
        live = _rigs[place] = Live(mesh, armature)
        while len(_rigs) > KEPT:
            _rigs.popitem(last=False)
    _rigs.move_to_end(place)
    return live


def forget(mesh=None):
    """Writes anew at the next update, even if the pose is the same."""
    if mesh is None:
        _written.clear()
    else:
        _written.pop(name_of(mesh), None)


def subjects(scene):
    """The objects of a scene that have a rig, each mesh once, with their armatures, or None."""
    seen = set()
    for thing in scene.objects:
        if thing.type == "MESH" and thing.data.exemplar.made and thing.data not in seen:
            seen.add(thing.data)
            yield thing, character.armature_of(thing)


def rank(thing, most=8):
    """0 for an object that follows no other, else one more than the highest of those that it follows."""
    rig = rig_of(thing)
    drivers = [entry.driver for entry in rig.stored if entry.driver] if rig else []
    return 1 + max(rank(driver, most - 1) for driver in drivers) if drivers and most else 0


def at_work(thing):
    """True while the user changes the form by hand."""
    return thing.mode in ("SCULPT", "EDIT")


def read(thing, armature, depsgraph):
    """The live rig of an object, at the pose that a dependency graph has, and the numbers of that pose."""
    live = live_of(thing.data, armature)
    posed = armature.evaluated_get(depsgraph) if armature else None
    return live, live.read(thing.evaluated_get(depsgraph), posed, depsgraph)


def key_of(mesh):
    """The key that is written, or None."""
    return mesh.shape_keys.key_blocks.get(LIVE) if mesh.shape_keys else None


def update(thing, armature, depsgraph):
    """Writes the form of an object at its pose, if that is new. True if it was written."""
    mesh, key = thing.data, key_of(thing.data)
    if key is None or not mesh.exemplar.enabled or mesh.exemplar.pending or at_work(thing):
        return False
    try:
        live, numbers = read(thing, armature, depsgraph)
    except (exemplar.Error, ValueError, KeyError) as error:  # a bone or a key was renamed, two examples meet …
        problems[name_of(mesh)] = sentence(error)
        return False
    problems.pop(name_of(mesh), None)
    before = _written.get(name_of(mesh))
    if before and before[0] == mesh.exemplar.revision and before[1] == numbers:
        return False
    form = numpy.ascontiguousarray(live.form(), dtype=numpy.float32)
    compat.write_key(key, form)
    _written[name_of(mesh)] = (mesh.exemplar.revision, numbers, form)
    mesh.shape_keys.update_tag()  # faster than the mesh's own, which copies the mesh too
    return True


def aim(thing):
    """Lets strokes of Sculpt Mode go to the key that Keep looks at, if they would go to the basis."""
    mesh = thing.data
    if thing.mode == "SCULPT" and thing.active_shape_key == mesh.shape_keys.reference_key and mesh.exemplar.enabled:
        thing.active_shape_key_index = list(mesh.shape_keys.key_blocks.keys()).index(LIVE)


def weights(thing, armature, depsgraph):
    """The live rig at the present pose, and {layer: {example: weight}} there, also for the panel (data.weights). None and {}
    if it cannot be built."""
    try:
        live, numbers = read(thing, armature, depsgraph)
    except (exemplar.Error, ValueError, KeyError) as error:
        problems[name_of(thing.data)] = sentence(error)
        return None, {}
    place = (thing.data.exemplar.revision, numbers)
    if _weighed.get(name_of(thing.data), (None,))[0] != place:
        found = live.weights()
        _weighed[name_of(thing.data)] = (place, found)
        data.weights.update({(thing.data.name, layer, example): weight for layer, row in found.items()
                             for example, weight in row.items()})
    return live, _weighed[name_of(thing.data)][1]


def redraw():
    """Draws the views anew, with their sidebars: weights have changed."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def notice(thing, armature):
    """Finds out whether the user changed the form by hand since it was written. True if so."""
    mesh, key = thing.data, key_of(thing.data)
    before = _written.get(name_of(mesh))
    if key is None or before is None or mesh.exemplar.pending or at_work(thing):
        return False
    count = len(mesh.vertices)
    live = _rigs.get((*name_of(mesh), mesh.exemplar.revision))
    if count != len(before[2]) or live and not numpy.array_equal(character.vertices(mesh), live.basis):
        touch(mesh)  # the mesh itself was edited or scaled, and Blender took the keys along
    elif not numpy.array_equal(compat.read_key(key, count), before[2]):
        mesh.exemplar.pending = True
        return True
    return False


def _follow(scene, depsgraph, by_hand):
    global _busy
    if _busy:
        return
    _busy = True
    try:
        reached, written = 0, False
        for number, thing, armature in sorted(((rank(thing), thing, armature) for thing, armature in subjects(scene)),
                                              key=lambda row: row[0]):
            if number > reached:
                if written:
                    depsgraph.update()  # so that it follows the forms that were just written
                reached, written = number, False
            if by_hand and notice(thing, armature):
                redraw()
                if armature and not thing.data.exemplar.chosen and name_of(thing.data) not in problems:
                    from .axes import propose
                    propose(thing, armature, depsgraph)
            if thing.mode == "SCULPT" and key_of(thing.data):
                aim(thing)
            if update(thing, armature, depsgraph):
                written = True
                redraw()
    finally:
        _busy = False


@persistent
def on_update(scene, depsgraph=None):
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    _follow(scene, depsgraph, any(each.is_updated_geometry for each in depsgraph.updates))


@persistent
def on_frame(scene, depsgraph=None):
    _follow(scene, depsgraph or bpy.context.evaluated_depsgraph_get(), False)


@persistent
def on_other(*_):
    """After undo, redo or loading a file: what the keys hold is not what was written here."""
    forget()


@persistent
def on_load(*_):
    forget()
    _rigs.clear()
    _weighed.clear()
    data.weights.clear()


def handlers():
    at = bpy.app.handlers
    return [(at.depsgraph_update_post, on_update), (at.frame_change_post, on_frame), (at.undo_post, on_other),
            (at.redo_post, on_other), (at.load_post, on_load)]


def register():
    if found:
        for place, handler in handlers():
            place.append(handler)


def unregister():
    for place, handler in handlers():
        if handler in place:
            place.remove(handler)
    on_load()
