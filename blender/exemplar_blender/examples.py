# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does with examples and layers that are there: go to them, move, mute, rename and copy them."""
import math

import bpy
import numpy
from bpy.props import StringProperty

from . import compat, live, places
from .axes import relative_turn
from .data import ANGLES, LIVE, rename_example, rename_layer, touch
from .errors import Action, Refused
from .loop import Hands, at_place, label, subject, work_on

HELD = 0.5  # degrees: a bone that is turned otherwise by more is held


class OnLayer(Action):
    """An action on a layer, by name, or on the active one."""
    layer: StringProperty(name="Layer", description="Its name; empty: the active one", options={"SKIP_SAVE"})

    def pick_layer(self, rig):
        found = rig.layers.get(self.layer) if self.layer else rig.layer
        if found is None:
            raise Refused(f"There is no layer '{self.layer}'" if self.layer else
                          "There is no layer yet: pose, sculpt, and press Keep")
        return found


class OnExample(OnLayer):
    """An action on an example, by name, or on the active one of its layer."""
    example: StringProperty(name="Example", description="Its name; empty: the active one", options={"SKIP_SAVE"})

    def pick(self, rig):
        """The layer and the example."""
        if self.example and not self.layer:
            layer = next((each for each in rig.layers if self.example in each.examples), None)
        else:
            layer = self.pick_layer(rig)
        found = layer.examples.get(self.example) if layer and self.example else \
            layer.examples[layer.active] if layer and layer.active < len(layer.examples) else None
        if found is None:
            raise Refused(f"There is no example '{self.example}'" if self.example else "There is no example yet: pose, "
                          "sculpt, and press Keep")
        return layer, found


def unkept(thing, rig, armature):
    """Refuses while a sculpt is not kept: the form would stay, at another pose."""
    live.notice(thing, armature)
    if rig.pending:
        raise Refused("The sculpt is not kept: press Keep or Discard first")


def posed_only(layer):
    """Refuses a layer of sliders."""
    if layer.kind == "direct":
        raise Refused(f"The examples of '{layer.name}' have sliders, and no poses")


def present(depsgraph, thing, armature, layer):
    """The place of the present pose in a layer's space."""
    rig, _ = live.read(thing, armature, depsgraph)
    for axis in layer.axes:
        if axis.reading != "DIAL" and axis.bone not in rig.bones.index:
            raise Refused(f"The bone '{axis.bone}' of layer '{layer.name}' is gone: choose another one in the panel")
    return places.here(layer, rig, rig.bones.pose(armature.evaluated_get(depsgraph)), thing)


def free(layer, place, but=None):
    """Refuses a place where an example is already."""
    taken = at_place(layer, place)
    if taken and taken != but:
        raise Refused(f"'{taken.name}' is at this pose already: pose the armature elsewhere first")


class EXEMPLAR_OT_go(OnExample):
    """Pose the armature as it was when this example was sculpted"""
    bl_idname = "exemplar.go"
    bl_label = "Go to Pose"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        with Hands(thing):
            unkept(thing, rig, armature)
            held = go(context, thing, armature, layer, place_of(layer, example))
        activate(rig, layer, example)
        return held


def place_of(layer, example):
    """The place of an example. In a layer of sliders it is where its own is 1, and the others are at rest."""
    if layer.kind != "direct":
        return example.numbers
    number = list(layer.examples).index(example)
    return [1.0 if i == number else axis.rest for i, axis in enumerate(layer.axes)]


def go(context, thing, armature, layer, place):
    """Poses the armature at a place. Returns a sentence about a bone that does not get there, or None."""
    places.go(thing, armature, layer, place)
    armature.update_tag()
    context.view_layer.update()
    held = [axis.bone for axis in layer.axes if axis.bone in armature.pose.bones and
            is_held(armature.pose.bones[axis.bone], axis.reading)]
    return f"'{held[0]}' is held by a constraint or its parent: pose it by hand" if held else None


def is_held(bone, reading):
    """True if what is read of a bone is not what its own channels say."""
    w, x, y, z = bone.matrix_basis.to_quaternion()
    found, wanted = numpy.array(relative_turn(bone)), numpy.array([x, y, z, w])
    if reading in ANGLES:
        apart = places.numbers(reading, found)[0] - places.numbers(reading, wanted)[0]
        return abs((apart + 180) % 360 - 180) > HELD
    return 2 * math.degrees(math.acos(min(1.0, abs(found @ wanted)))) > HELD


def activate(rig, layer, example):
    rig.active = list(rig.layers).index(layer)
    layer.active = list(layer.examples).index(example)


class EXEMPLAR_OT_go_rest(Action):
    """Put all bones of the armature to rest"""
    bl_idname = "exemplar.go_rest"
    bl_label = "Go to Rest"

    def act(self, context):
        thing, rig, armature = subject(context)
        with Hands(thing):
            unkept(thing, rig, armature)
            places.rest(armature)
            for layer in rig.layers:
                for axis in layer.axes:
                    if axis.reading == "DIAL":
                        thing[axis.name] = axis.rest
            thing.update_tag()
            armature.update_tag()
            context.view_layer.update()


class EXEMPLAR_OT_resculpt(OnExample):
    """Go to the pose of this example, and to Sculpt Mode. Keep then replaces it"""
    bl_idname = "exemplar.resculpt"
    bl_label = "Sculpt Example"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        posed_only(layer)
        with Hands(thing):
            unkept(thing, rig, armature)
            held = go(context, thing, armature, layer, example.numbers)
        activate(rig, layer, example)
        thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index(LIVE)
        work_on(context, thing, "SCULPT")
        return held


class EXEMPLAR_OT_solo(OnExample):
    """Let only this example of its layer count, for a while. Press again for all of them"""
    bl_idname = "exemplar.solo"
    bl_label = "Solo Example"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        with Hands(thing):
            unkept(thing, rig, armature)
        layer.solo = "" if layer.solo == example.name else example.name
        context.view_layer.update()


class EXEMPLAR_OT_solo_layer(OnLayer):
    """Mute all other layers. Press again to bring all of them back"""
    bl_idname = "exemplar.solo_layer"
    bl_label = "Solo Layer"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer = self.pick_layer(rig)
        with Hands(thing):
            unkept(thing, rig, armature)
        alone = not layer.muted and all(each.muted for each in rig.layers if each != layer)
        for each in rig.layers:
            each.muted = not alone and each != layer
        context.view_layer.update()


class EXEMPLAR_OT_move_here(OnExample):
    """Move this example to the present pose: its form stays, and is reproduced here"""
    bl_idname = "exemplar.move_here"
    bl_label = "Move to This Pose"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        posed_only(layer)
        with Hands(thing):
            unkept(thing, rig, armature)
        place = present(context.evaluated_depsgraph_get(), thing, armature, layer)
        free(layer, place, example)
        example.place(place)
        touch(thing.data)
        context.view_layer.update()
        return f"'{example.name}' is at this pose now"


class EXEMPLAR_OT_duplicate(OnExample):
    """Copy this example to the present pose, with a form of its own that you can sculpt on"""
    bl_idname = "exemplar.duplicate"
    bl_label = "Duplicate to This Pose"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        posed_only(layer)
        name = example.name
        with Hands(thing):
            unkept(thing, rig, armature)
        place = present(context.evaluated_depsgraph_get(), thing, armature, layer)
        free(layer, place)
        form = compat.read_key(key_of(thing, name), len(thing.data.vertices))
        made = add_example(thing, layer, label(layer, place), place, form)
        activate(rig, layer, made)
        touch(thing.data)
        context.view_layer.update()
        return f"'{made.name}' has the form of '{name}'"


def key_of(thing, name):
    key = thing.data.shape_keys.key_blocks.get(name)
    if key is None:
        raise Refused(f"The shape key '{name}' is gone: undo, or remove the example")
    return key


def write_form(key, form):
    """Makes a form that of an example's shape key."""
    key.value, key.slider_min, key.slider_max = 0.0, -1.0, 2.0
    compat.write_key(key, numpy.ascontiguousarray(form, dtype=numpy.float32))


def add_example(thing, layer, name, place, form):
    """A new example with its shape key."""
    key = thing.shape_key_add(name=name, from_mix=False)
    write_form(key, form)
    example = layer.examples.add()
    example.name = key.name
    example.place(place)
    return example


class EXEMPLAR_OT_rename_example(OnExample):
    """Rename this example and its shape key"""
    bl_idname = "exemplar.rename_example"
    bl_label = "Rename Example"

    name: StringProperty(name="Name")

    def act(self, context):
        rename_example(self.pick(subject(context)[1])[1], self.name)


class EXEMPLAR_OT_rename_layer(OnLayer):
    """Rename this layer"""
    bl_idname = "exemplar.rename_layer"
    bl_label = "Rename Layer"

    name: StringProperty(name="Name")

    def act(self, context):
        rename_layer(self.pick_layer(subject(context)[1]), self.name)


_classes = (EXEMPLAR_OT_go, EXEMPLAR_OT_go_rest, EXEMPLAR_OT_resculpt, EXEMPLAR_OT_solo, EXEMPLAR_OT_solo_layer,
            EXEMPLAR_OT_move_here, EXEMPLAR_OT_duplicate, EXEMPLAR_OT_rename_example, EXEMPLAR_OT_rename_layer)
register, unregister = bpy.utils.register_classes_factory(_classes)
