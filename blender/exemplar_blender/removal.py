# SPDX-License-Identifier: GPL-3.0-or-later
"""Removing examples, layers, and the whole rig of a mesh, with all that was made for them."""
import bpy
from bpy.props import BoolProperty

from . import bake_keys, garment, live, stored, warp
from .data import LIVE, touch
from .errors import Action
from .examples import OnExample, OnLayer, unkept
from .loop import Hands, settle, subject


class EXEMPLAR_OT_remove_example(OnExample):
    """Remove this example and its shape key. A layer without examples goes too"""
    bl_idname = "exemplar.remove_example"
    bl_label = "Remove Example"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        name = example.name
        with Hands(thing):
            unkept(thing, rig, armature)
            remove(thing, layer, example)
            if not len(layer.examples):
                rig.layers.remove(list(rig.layers).index(layer))
                rig.active = max(0, min(rig.active, len(rig.layers) - 1))
            refresh(context, thing)
        return f"Removed '{name}'"


def remove(thing, layer, example):
    """Removes an example and its key from a layer."""
    key = thing.data.shape_keys.key_blocks.get(example.name)
    if key:
        remove_key(thing, key)
    if layer.solo == example.name:
        layer.solo = ""
    layer.examples.remove(list(layer.examples).index(example))
    layer.active = max(0, min(layer.active, len(layer.examples) - 1))


def remove_key(thing, key):
    """Removes the shape key of an example, and the driver that a bake gave it."""
    if thing.data.exemplar.baked:
        key.driver_remove("value")
    thing.shape_key_remove(key)


def refresh(context, thing):
    """After keys were added or removed: the live key is active again, and written anew. A bake of nothing goes too."""
    rig = thing.data.exemplar
    if rig.baked and not len(rig.layers):
        bake_keys.remove(thing.data)
        rig.enabled = True
    thing.active_shape_key_index = list(thing.data.shape_keys.key_blocks.keys()).index(LIVE)
    touch(thing.data)
    live.forget(thing.data)
    context.view_layer.update()


class EXEMPLAR_OT_remove_layer(OnLayer):
    """Remove this layer, with its examples and their shape keys"""
    bl_idname = "exemplar.remove_layer"
    bl_label = "Remove Layer"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer = self.pick_layer(rig)
        name = layer.name
        with Hands(thing):
            unkept(thing, rig, armature)
            while len(layer.examples):
                remove(thing, layer, layer.examples[0])
            rig.layers.remove(list(rig.layers).index(layer))
            rig.active = max(0, min(rig.active, len(rig.layers) - 1))
            refresh(context, thing)
        return f"Removed the layer '{name}'"


class EXEMPLAR_OT_remove_rig(Action):
    """Remove the rig from this mesh, with all of its examples and their shape keys"""
    bl_idname = "exemplar.remove_rig"
    bl_label = "Remove Exemplar Rig"

    keep_keys: BoolProperty(name="Keep Shape Keys", description="Leave the examples as ordinary shape keys")

    def act(self, context):
        thing, rig, armature = subject(context, posed=False)
        with Hands(thing):
            if rig.baked:
                bake_keys.remove(thing.data)
            for name in [entry.name for entry in rig.stored]:
                remove_stored(thing, rig.stored[name])
            for layer in rig.layers:
                for axis in layer.axes:
                    if axis.reading == "DIAL":
                        thing.pop(axis.name, None)
                while not self.keep_keys and len(layer.examples):
                    remove(thing, layer, layer.examples[0])
            thing.shape_key_remove(live.key_of(thing.data))
            rig.layers.clear()
            settle(rig)
            rig.enabled, rig.made, rig.project = True, False, ""
            thing.data.update_tag()
            context.view_layer.update()
        return f"'{thing.name}' has no Exemplar rig any more"

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)


def remove_stored(thing, entry):
    """Removes a stored rig, with its sliders."""
    if entry.purpose == "GARMENT":
        garment.forget(thing, entry)
    elif entry.purpose == "WARP":
        warp.remove(thing, entry)
    else:
        rig = stored.rig_of(thing.data, entry)
        for name, axis in rig.axes.items() if rig else ():
            if axis.is_dial:
                thing.pop(stored.property_of(entry, name), None)
        stored.remove(thing.data, entry.name)


_classes = (EXEMPLAR_OT_remove_example, EXEMPLAR_OT_remove_layer, EXEMPLAR_OT_remove_rig)
register, unregister = bpy.utils.register_classes_factory(_classes)
