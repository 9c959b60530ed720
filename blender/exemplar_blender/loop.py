# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of an artist: make a rig, pose, sculpt, keep."""
import bpy
import numpy
from bpy.props import StringProperty

from . import character, compat, live, places
from .data import ANGLES, LIVE, rig_of, touch, unique
from .errors import Action, Refused, length
from .library import exemplar

SAME_ANGLE, SAME_SLIDER = 0.5, 1e-3  # places that are closer on an axis, in degrees or in a slider's unit, are one


def subject(context, posed=True):
    """The active object, its rig and its armature, or Refused. posed: it must have an armature."""
    thing = character.mesh_object(context)
    rig = rig_of(thing)
    if rig is None:
        raise Refused(f"'{thing.name}' has no Exemplar rig: press Make Exemplar Rig first")
    armature = character.armature_of(thing)
    if armature is None and posed:
        raise Refused(f"'{thing.name}' has lost its armature: add an Armature modifier")
    if live.key_of(thing.data) is None:
        raise Refused(f"The shape key '{LIVE}' of '{thing.name}' is gone: undo, or press Make Exemplar Rig")
    if thing.data.library:
        raise Refused(f"'{thing.name}' is linked from another file: change it there")
    return thing, rig, armature


class Hands:
    """Leaves Sculpt or Edit Mode, so that the mesh has what was sculpted, and goes back at the end. done: True to stay in
    Object Mode if all went well."""

    def __init__(self, thing, done=False):
        self.thing, self.mode, self.done = thing, thing.mode, done

    def _set(self, mode):
        objects = bpy.context.view_layer.objects
        before, objects.active = objects.active, self.thing
        bpy.ops.object.mode_set(mode=mode)
        objects.active = before

    def __enter__(self):
        if self.mode not in ("OBJECT", "POSE"):
            self._set("OBJECT")

    def __exit__(self, error, *_):
        if self.thing.mode != self.mode and (error or not self.done):
            self._set(self.mode)


class EXEMPLAR_OT_make(Action):
    """Make an Exemplar rig of the selected mesh, which then keeps sculpts at poses of its armature"""
    bl_idname = "exemplar.make"
    bl_label = "Make Exemplar Rig"

    def act(self, context):
        thing = character.mesh_object(context)
        character.check(thing)
        mesh = thing.data
        if rig_of(thing) and live.key_of(mesh):
            raise Refused(f"'{thing.name}' has an Exemplar rig already")
        if not mesh.exemplar.made and mesh.shape_keys and LIVE in mesh.shape_keys.key_blocks:
            raise Refused(f"A shape key of '{thing.name}' is called '{LIVE}', a name that the rig needs: rename it")
        with Hands(thing):
            make(thing)
        said = correctives_of(thing) + character.cannot(thing)
        context.view_layer.update()
        return f"'{thing.name}' has an Exemplar rig" + (f". {said[0][0].upper()}{said[0][1:]}" if said else "") + \
            "".join(f"; {each}" for each in said[1:])


def correctives_of(thing):
    """Makes examples of shape keys that drivers move with a bone. Returns a list of what to say about them."""
    from . import correctives
    said = correctives.told(*correctives.read(thing, character.armature_of(thing)))
    return [said] if said else []


def make(thing):
    """Gives an object a rig without examples."""
    mesh = thing.data
    if not mesh.shape_keys:
        thing.shape_key_add(name="Basis", from_mix=False)
    key = live.renamed(mesh) or thing.shape_key_add(name=LIVE, from_mix=False)
    key.name, key.value = LIVE, 1.0
    thing.active_shape_key_index = mesh.shape_keys.key_blocks.find(LIVE)
    thing.show_only_shape_key = False
    mesh.exemplar.made = True
    settle(mesh.exemplar)
    live.forget(mesh)
    touch(mesh)


class EXEMPLAR_OT_sculpt(Action):
    """Go to Sculpt Mode, on the form that is seen at this pose. Keep then makes it an example"""
    bl_idname = "exemplar.sculpt"
    bl_label = "Sculpt Here"

    def act(self, context):
        thing, rig, armature = subject(context)
        thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index(LIVE)
        work_on(context, thing, "SCULPT")


class EXEMPLAR_OT_pose(Action):
    """Go to Pose Mode, on the armature of this mesh"""
    bl_idname = "exemplar.pose"
    bl_label = "Pose"

    def act(self, context):
        thing, rig, armature = subject(context)
        work_on(context, armature, "POSE")
        thing.select_set(True)


def work_on(context, thing, mode):
    """Makes an object the active one, in a mode."""
    if thing.name not in context.view_layer.objects or not thing.visible_get():
        raise Refused(f"'{thing.name}' is hidden: show it in the Outliner first")
    if context.object and context.object != thing and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    thing.select_set(True)
    context.view_layer.objects.active = thing
    if thing.mode != mode:
        bpy.ops.object.mode_set(mode=mode)


class EXEMPLAR_OT_discard(Action):
    """Forget what was sculpted and not kept"""
    bl_idname = "exemplar.discard"
    bl_label = "Discard Sculpt"

    def act(self, context):
        thing, rig, armature = subject(context, posed=False)
        with Hands(thing):
            settle(rig)
            live.forget(thing.data)
            thing.data.update_tag()
            context.view_layer.update()


class EXEMPLAR_OT_keep(Action):
    """Make what was sculpted an example at this pose. It is reproduced there, and fades in on the way"""
    bl_idname = "exemplar.keep"
    bl_label = "Keep"

    name: StringProperty(name="Name", description="Of the example; empty: its bone and angle")
    axes: StringProperty(name="Axes", description="What the sculpt depends on, 'BONE:READING' with ';' between them, "
                                                  "READING one of X Y Z SWING TWIST ROTATION; empty: found from the pose")

    def act(self, context):
        thing, rig, armature = subject(context)
        axes, sculpting = spoken(self.axes), thing.mode == "SCULPT"
        with Hands(thing, done=True):
            if sculpting:
                bpy.ops.ed.undo_push(message="Sculpt")  # undo of strokes does not know what Keep changes
            return keep(context, thing, armature, self.name or rig.next_name, axes)


def ticked(rig):
    """[(bone, reading)] that the user chose, or nothing if what is proposed was left as it is."""
    if not rig.chosen:
        return []
    axes = [(each.bone, each.reading) for each in rig.proposed if each.used]
    if not axes:
        raise Refused("No bone is ticked: tick those that the sculpt depends on, or press Find Axes")
    return axes


def settle(rig):
    """Forgets what is proposed: there is no sculpt to keep any more."""
    rig.pending = rig.chosen = False
    rig.next_name = ""
    rig.proposed.clear()


def spoken(text):
    """[(bone, reading)] of the words of an operator."""
    out = []
    for word in filter(None, (part.strip() for part in text.split(";"))):
        bone, _, reading = word.rpartition(":")
        if not bone or reading.upper() not in (*ANGLES, "SWING", "TWIST", "ROTATION"):
            raise Refused(f"'{word}' is no axis: give BONE:X, BONE:Y, BONE:Z, BONE:SWING, BONE:TWIST or BONE:ROTATION")
        out.append((bone, reading.upper()))
    return out


def sculpted(thing, live_rig, expected):
    """(V, 3) the form that the user made at this pose, before the armature moves it. A sculpt on the basis counts too."""
    mesh = thing.data
    count, tolerance = len(expected), 1e-6 * live_rig.size
    if len(mesh.vertices) != count:
        raise Refused(f"The number of vertices changed from {count} to {len(mesh.vertices)}: undo that, since a sculpt only "
                      f"moves vertices")
    form = compat.read_key(live.key_of(mesh), count)
    form += character.vertices(mesh) - live_rig.basis
    if not numpy.isfinite(form).all():
        raise Refused("The sculpt has vertices at places that are not finite: undo it")
    if numpy.abs(form - expected).max() <= tolerance:
        raise Refused("Nothing was sculpted: the form is what the rig gives at this pose. Sculpt in Sculpt Mode, then "
                      "press Keep")
    return form


def seen_here(context, thing, armature, rig):
    """Refuses if the form that is seen may not be that of this pose."""
    if not rig.enabled:
        raise Refused("Live is off, so the form may belong to another pose: switch Live on first")
    other = next((each for each in context.scene.objects
                  if each.data == thing.data and each != thing and character.armature_of(each) != armature), None)
    if other:
        raise Refused(f"'{thing.name}' and '{other.name}' share a mesh, and so a form: use Object > Relations > Make Single "
                      f"User > Object & Data")


def countable(layer, example):
    """Refuses a layer, or an example at this pose, that is left out at present: the sculpt would not be seen."""
    if layer.muted:
        raise Refused(f"The layer '{layer.name}' is muted: unmute it first, so that the sculpt is seen")
    if layer.solo and (example is None or layer.solo != example.name):
        raise Refused(f"'{layer.solo}' is solo in layer '{layer.name}': end that first, so that the sculpt is seen")
    if example and example.muted:
        raise Refused(f"'{example.name}' is at this pose and muted: unmute or remove it first")


def keep(context, thing, armature, name="", axes=None):
    """Makes the sculpt an example at the present pose. Returns a sentence about it."""
    mesh, rig = thing.data, thing.data.exemplar
    seen_here(context, thing, armature, rig)
    depsgraph = context.evaluated_depsgraph_get()
    live_rig, _ = live.read(thing, armature, depsgraph)
    expected = live_rig.form()
    form = sculpted(thing, live_rig, expected)
    locals_ = live_rig.bones.pose(armature.evaluated_get(depsgraph))
    moved = numpy.linalg.norm(form - expected, axis=1)
    moved[moved <= 1e-6 * live_rig.size] = 0
    axes = axes or ticked(rig) or places.propose(thing, armature, live_rig.bones, locals_, moved, live_rig.basis)
    if not axes:
        raise Refused("All bones are at rest: pose the armature first. To change the form at rest, switch Live off and sculpt "
                      "the shape key Basis")
    for bone, _ in axes:
        if bone not in live_rig.bones.index:
            raise Refused(f"The armature '{armature.name}' has no bone '{bone}'")
    layer = layer_for(rig, axes)
    if layer:
        countable(layer, at_place(layer, places.here(layer, live_rig, locals_, thing)))
    new = layer is None
    layer = layer or add_layer(rig, axes)
    place = places.here(layer, live_rig, locals_, thing)
    known = live_rig.rig is not None and layer.name in live_rig.rig.layers
    difference = form - (live_rig.form(muted=[layer.name]) if known else expected)
    difference[numpy.abs(difference).max(axis=1) <= 1e-6 * live_rig.size] = 0
    example, replaced = place_example(thing, layer, place, clean(name) or label(layer, place))
    key = mesh.shape_keys.key_blocks[example.name]
    before = compat.read_key(key, len(form))
    compat.write_key(key, numpy.ascontiguousarray(live_rig.basis + difference, dtype=numpy.float32))
    touch(mesh)
    try:
        live.live_of(mesh, armature)
    except (exemplar.Error, ValueError) as error:
        compat.write_key(key, before)
        if not replaced:
            layer.examples.remove(len(layer.examples) - 1)
            thing.shape_key_remove(key)
        if new:
            rig.layers.remove(len(rig.layers) - 1)
        touch(mesh)
        if not isinstance(error, exemplar.SingularError):
            raise
        raise Refused(f"On {' and '.join(places.axis_name(*axis) for axis in axes)} this pose is the same as the rest pose, "
                      f"or as another example: choose other axes") from None
    if numpy.abs(character.vertices(mesh) - live_rig.basis).max() > 0:
        compat.write_key(mesh.shape_keys.reference_key, live_rig.basis)
    layer.active = list(layer.examples).index(example)
    rig.active = list(rig.layers).index(layer)
    thing.active_shape_key_index = list(mesh.shape_keys.key_blocks.keys()).index(LIVE)
    settle(rig)
    live.forget(mesh)
    context.view_layer.update()
    back = numpy.abs(compat.read_key(live.key_of(mesh), len(form)) - form).max()
    unit = abs(thing.matrix_world.median_scale) * context.scene.unit_settings.scale_length
    return (f"{'Replaced' if replaced else 'Kept'} '{example.name}' in layer '{layer.name}': {int((moved > 0).sum())} of "
            f"{len(form)} vertices moved, by up to {length(moved.max() * unit)}; reproduced "
            f"{'exactly' if back <= 1e-5 * live_rig.size else f'within {length(back * unit)}'}")


def place_example(thing, layer, place, name):
    """The example at a place and True, or a new one and False; it has a shape key."""
    example = at_place(layer, place)
    replaced = example is not None
    key = thing.data.shape_keys.key_blocks.get(example.name) if replaced else None
    if key is None:
        key = thing.shape_key_add(name=example.name if replaced else name, from_mix=False)
        key.value, key.slider_min, key.slider_max = 0.0, -1.0, 2.0
    if not replaced:
        example = layer.examples.add()
        example.place(place)
    example.name = key.name
    return example, replaced


def layer_for(rig, axes):
    """The layer whose axes are these, or None."""
    wanted = sorted(axes)
    for layer in rig.layers:
        if sorted((axis.bone, axis.reading) for axis in layer.axes) == wanted and layer.kind != "direct":
            return layer
    return None


def add_layer(rig, axes):
    """A new layer over axes [(bone, reading)], named after them. Axes that read the same share a name; no others do."""
    known = {(axis.bone, axis.reading): axis.name for layer in rig.layers for axis in layer.axes}
    names = []
    for axis in axes:
        names.append(known.get(axis) or unique(places.axis_name(*axis), {*known.values(), *names}))
    layer = rig.layers.add()
    layer.name = unique(clean(" ".join(names)), {each.name for each in rig.layers if each != layer})
    for name, (bone, reading) in zip(names, axes):
        axis = layer.axes.add()
        axis.name, axis.bone, axis.reading = name, bone, reading
        axis.low, axis.high = (-180, 180) if reading in ANGLES else (0, 1)
    return layer


def clean(name):
    """A name without signs that cannot be seen, as long as Blender's names may be: 63 bytes, of which some are for a number."""
    shown = "".join(letter for letter in name if letter.isprintable()).strip()
    return shown.encode()[:56].decode(errors="ignore").strip()


def label(layer, place):
    """A name for an example: 'forearm.x 90'."""
    words, begin = [], 0
    for axis in layer.axes:
        values = place[begin:begin + axis.width]
        begin += axis.width
        angle = values[0] if axis.width == 1 else 2 * numpy.degrees(numpy.arccos(min(1.0, abs(values[3]))))
        words.append(f"{axis.name} {angle:.0f}" if axis.reading != "DIAL" else f"{axis.name} {values[0]:.2g}")
    return clean(" ".join(words))


def same(layer, a, b):
    """True if two places are one."""
    begin = 0
    for axis in layer.axes:
        end = begin + axis.width
        if axis.width == 4:
            apart = 2 * numpy.degrees(numpy.arccos(min(1.0, abs(numpy.dot(a[begin:end], b[begin:end])))))
        else:
            apart = abs(a[begin] - b[begin])
        if apart >= (SAME_SLIDER if axis.reading == "DIAL" else SAME_ANGLE):
            return False
        begin = end
    return True


def at_place(layer, place):
    """The example at a place, or None."""
    return next((example for example in layer.examples if same(layer, example.numbers, place)), None)


_classes = (EXEMPLAR_OT_make, EXEMPLAR_OT_pose, EXEMPLAR_OT_sculpt, EXEMPLAR_OT_keep,
            EXEMPLAR_OT_discard)
register, unregister = bpy.utils.register_classes_factory(_classes)
