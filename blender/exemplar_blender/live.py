# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation as bones move: after each update of the dependency graph, and each change of frame, in the viewport and while
rendering, the form at the present pose is written to the shape key 'Exemplar', which has value 1.

Blender evaluates what a handler changed once more before it draws or renders. A garment follows the evaluated form of
another object, which is therefore written first, and evaluated again. A mesh in Sculpt or Edit Mode is left alone, and so is
a form that was changed by hand and not kept yet (`pending`): sums of the form that was written, and of the basis then, are a
property of the shape keys, so that undo, a file and a copy have them beside the form itself.
"""
import threading
import traceback
import zlib
from collections import OrderedDict

import bpy
import numpy
from bpy.app.handlers import persistent

from . import character, compat, data
from .data import LIVE, rig_of, touch
from .errors import sentence
from .library import exemplar, found
from .rigs import Live, sum_of_examples

KEPT = 16  # rigs at least, with those of earlier revisions, for undo; twice as many as there are, if that is more
SUMS = "exemplar written"
BROKEN = (exemplar.Error, ValueError, KeyError, numpy.linalg.LinAlgError) if found else ()
_rigs = OrderedDict()  # (mesh, revision) -> Live
_written = {}  # mesh -> what its key was set to: (revision, numbers)
problems = {}  # mesh -> why it does not follow
_weighed = {}  # mesh -> its weights: ((revision, numbers), {layer: {example: weight}})
_lock, _inside = threading.RLock(), False


def name_of(mesh):
    return (mesh.name, mesh.library.filepath if mesh.library else "")


def live_of(mesh, armature):
    """The rig of a mesh, built if its revision is new."""
    place = (*name_of(mesh), mesh.exemplar.revision)
    live = _rigs.get(place)
    if live is None or not live.fits(mesh, armature):
        live = _rigs[place] = Live(mesh, armature)
        while len(_rigs) > max(KEPT, 2 * sum(each.exemplar.made for each in bpy.data.meshes)):
            _rigs.popitem(last=False)
    _rigs.move_to_end(place)
    return live


def again(mesh=None):
    """Writes at the next update, even if the pose is the same; not over a sculpt. mesh: None for all."""
    if mesh is None:
        _written.clear()
    else:
        _written.pop(name_of(mesh), None)


def forget(mesh=None):
    """The same, and what the key of a mesh holds now is no sculpt."""
    again(mesh)
    if mesh and mesh.shape_keys and not mesh.library:
        mesh.shape_keys.pop(SUMS, None)


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


def renamed(mesh):
    """The key that was written last, if it has another name now, or None."""
    keys, own = mesh.shape_keys, {example.name for layer in mesh.exemplar.layers for example in layer.examples}
    before = keys.get(SUMS, "").rpartition(" ")[2]
    return next((key for key in keys.key_blocks if key.value == 1 and key != keys.reference_key and key.name not in own and
                 str(zlib.crc32(compat.read_key(key, len(mesh.vertices)))) == before), None)


def update(thing, armature, depsgraph):
    """Writes the form of an object at its pose, if that is new. True if it was written."""
    mesh, key = thing.data, key_of(thing.data)
    if key is None or not mesh.exemplar.enabled or mesh.exemplar.pending or at_work(thing):
        return False
    if name_of(mesh) not in _written and look(thing, armature, depsgraph):
        return False
    try:
        live, numbers = read(thing, armature, depsgraph)
        place = (mesh.exemplar.revision, numbers)
        form = None if _written.get(name_of(mesh)) == place else live.form()
    except BROKEN as error:  # a bone or a key was renamed, two examples meet …
        problems[name_of(mesh)] = said(error)
        return False
    problems.pop(name_of(mesh), None)
    if form is None:
        return False
    form = numpy.ascontiguousarray(form, dtype=numpy.float32)
    compat.write_key(key, form)
    _written[name_of(mesh)] = place
    if not mesh.library:
        mesh.shape_keys[SUMS] = sums(len(form), live.sum, form)
    mesh.shape_keys.update_tag()  # faster than the mesh's own, which copies the mesh too
    return True


def said(error):
    """Why a rig cannot be evaluated, as a sentence."""
    return "The object is scaled to 0: give it a size" if isinstance(error, numpy.linalg.LinAlgError) else sentence(error)


def sums(count, basis, form):
    """What is kept of a form that was written: the number of vertices, the sum of the basis, and that of the form."""
    return f"{count} {basis} {zlib.crc32(form)}"


def aim(thing):
    """Lets strokes of Sculpt Mode go to the key that Keep looks at, if they would go to the basis."""
    mesh = thing.data
    if thing.mode == "SCULPT" and thing.active_shape_key == mesh.shape_keys.reference_key and mesh.exemplar.enabled:
        thing.active_shape_key_index = list(mesh.shape_keys.key_blocks.keys()).index(LIVE)


def weights(thing, armature, depsgraph):
    """The live rig at the present pose, and {layer: {example: weight}} there, also for the panel (data.weights). None and {}
    if it cannot be built."""
    name = name_of(thing.data)
    try:
        live, numbers = read(thing, armature, depsgraph)
        place = (thing.data.exemplar.revision, numbers)
        if _weighed.get(name, (None,))[0] != place:
            _weighed[name] = (place, live.weights())
            data.weights.update({(thing.data.name, layer, example): weight for layer, row in _weighed[name][1].items()
                                 for example, weight in row.items()})
    except BROKEN as error:
        problems[name] = said(error)
        return None, {}
    return live, _weighed[name][1]


def redraw():
    """Draws the views anew, with their sidebars: weights have changed."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def notice(thing, armature, depsgraph=None):
    """Finds out whether the user changed the form by hand since it was written. True if so. An example or a basis that was
    changed gives a new rig. A linked mesh is changed in its own file."""
    mesh, key = thing.data, key_of(thing.data)
    if key is None or mesh.library or at_work(thing):
        return False
    live = _rigs.get((*name_of(mesh), mesh.exemplar.revision))
    if live and live.sum_of_examples != sum_of_examples(mesh):
        touch(mesh)
    before = mesh.shape_keys.get(SUMS)
    if before is None or mesh.exemplar.pending or not mesh.exemplar.enabled:
        return False
    count = len(mesh.vertices)
    form = compat.read_key(key, count)
    now = sums(count, zlib.crc32(character.vertices(mesh)), form)
    if now == before:
        return False
    (*base, _), (*base_before, _) = now.split(), before.split()
    if base != base_before:  # the mesh itself was edited or scaled, and Blender took the keys along
        touch(mesh)
        forget(mesh)
        if base[0] == base_before[0] or not differs(thing, armature, depsgraph, form):
            return False
    mesh.exemplar.pending = True
    return True


def differs(thing, armature, depsgraph, form):
    """True if a form is not what the rig gives at the present pose."""
    try:
        live, _ = read(thing, armature, depsgraph or bpy.context.evaluated_depsgraph_get())
        return numpy.abs(form - live.form()).max() > 1e-5 * live.size
    except BROKEN:
        return False


def look(thing, armature, depsgraph):
    """Notices a sculpt, and proposes its axes. True if there is a new one."""
    if not notice(thing, armature, depsgraph):
        return False
    redraw()
    if armature and not thing.data.exemplar.chosen:
        from .axes import propose
        try:
            propose(thing, armature, depsgraph)
        except BROKEN as error:
            problems[name_of(thing.data)] = said(error)
    return True


def _follow_one(thing, armature, depsgraph, changed):
    """True if the form of an object was written."""
    mesh = thing.data
    if mesh in changed or mesh.shape_keys in changed:
        look(thing, armature, depsgraph)
    if thing.mode == "SCULPT" and key_of(mesh):
        aim(thing)
    if not update(thing, armature, depsgraph):
        return False
    redraw()
    return True


def _follow_all(scene, depsgraph, changed):
    reached, written = 0, False
    for number, thing, armature in sorted(((rank(thing), thing, armature) for thing, armature in subjects(scene)),
                                          key=lambda row: row[0]):
        if number > reached:
            if written:
                depsgraph.update()  # so that it follows the forms that were just written
            reached, written = number, False
        try:
            written = _follow_one(thing, armature, depsgraph, changed) or written
        except Exception as error:  # the other rigs go on
            problems[name_of(thing.data)] = said(error)
            traceback.print_exc()


def _follow(scene, depsgraph, changed=()):
    """changed: meshes and shape keys that something else than a pose changed. A render has a thread of its own, and waits.
    A call from within, by an update there, has nothing to do."""
    global _inside
    with _lock:
        if _inside:
            return
        _inside = True
        try:
            _follow_all(scene, depsgraph, changed)
        finally:
            _inside = False


@persistent
def on_update(scene, depsgraph=None):
    depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
    _follow(scene, depsgraph, {each.id.original for each in depsgraph.updates if each.is_updated_geometry})


@persistent
def on_frame(scene, depsgraph=None):
    _follow(scene, depsgraph or bpy.context.evaluated_depsgraph_get())


@persistent
def on_other(*_):
    """After undo or redo: what the keys hold is not what was written here."""
    again()


@persistent
def on_load(*_):
    again()
    problems.clear()
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
