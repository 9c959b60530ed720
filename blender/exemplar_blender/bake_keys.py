# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking to shape keys and drivers: the rig as standard Blender, which works where the add-on is missing.

Each example's key gets a driver that gives its weight (bake_drivers.py). While the rig is live these drivers are muted and
the key 'Exemplar' shows the form. Live off, it is the other way round; a file is always saved like that, so that it shows
the baked form when it is opened without the add-on.
"""
import bpy
import numpy
from bpy.app.handlers import persistent

from . import compat, live, places, write
from .bake_drivers import PREFIX, Writer, quoted
from .errors import Action, Refused, length
from .loop import subject

POSES = 200
MEMORY = 400e6  # bytes of forms that are compared


def drivers(mesh):
    """The F-curves of the drivers of a mesh's examples."""
    keys = mesh.shape_keys
    if not keys or not keys.animation_data:
        return []
    paths = {f"key_blocks{quoted(example.name)}.value" for layer in mesh.exemplar.layers for example in layer.examples}
    return [curve for curve in keys.animation_data.drivers if curve.data_path in paths]


def helpers(mesh):
    """(object, F-curve) of the drivers of the numbers in between."""
    start = '["' + PREFIX
    return [(thing, curve) for thing in bpy.data.objects if thing.data == mesh and thing.animation_data
            for curve in thing.animation_data.drivers if curve.data_path.startswith(start)]


def show(mesh, is_live):
    """Shows the live form, or the baked one. Without a bake, nothing changes."""
    key = live.key_of(mesh)
    if not mesh.exemplar.baked or key is None:
        return
    for curve in drivers(mesh):
        curve.mute = is_live
    for _, curve in helpers(mesh):
        curve.mute = is_live
    key.mute = not is_live
    if key.value != float(is_live):
        key.value = float(is_live)
    if is_live:
        for layer in mesh.exemplar.layers:
            for example in layer.examples:
                block = mesh.shape_keys.key_blocks.get(example.name)
                if block:
                    block.value = 0.0
    mesh.shape_keys.update_tag()


def remove(mesh):
    """Takes the drivers of a bake away."""
    show(mesh, True)
    for curve in drivers(mesh):
        mesh.shape_keys.animation_data.drivers.remove(curve)
    for thing, curve in helpers(mesh):
        thing.animation_data.drivers.remove(curve)
    for thing in bpy.data.objects:
        if thing.data == mesh:
            for name in [name for name in thing.keys() if name.startswith(PREFIX)]:
                del thing[name]
    mesh.exemplar.baked = False


def bake(context, thing, armature):
    """Gives the examples of an object their drivers, measures them, and shows the baked form. Returns a sentence."""
    mesh, rig = thing.data, thing.data.exemplar
    driven = [key.name for key in blocks_of(mesh) if has_driver(mesh, key)]
    if driven and not rig.baked:
        raise Refused(f"The shape key '{driven[0]}' of an example has a driver of its own: remove it first")
    live_rig, _ = live.read(thing, armature, context.evaluated_depsgraph_get())
    if live_rig.rig is None:
        raise Refused("Drivers cannot express a stored rig: use Bake Action" if len(rig.stored) else
                      "There are no examples to bake: keep a sculpt first")
    rig.enabled = True
    remove(mesh)
    writer, count = Writer(thing, armature, live_rig.bones.names), 0
    try:
        for layer in live_rig.rig.layers.values():
            if layer.muted:
                continue
            keys = [mesh.shape_keys.key_blocks[name] for name in layer.examples]
            for key in keys:
                key.slider_min, key.slider_max, key.mute = min(key.slider_min, -1.0), max(key.slider_max, 2.0), False
            writer.layer(live_rig.rig, layer, keys)
            count += len(keys)
        rig.baked, rig.baked_revision = True, rig.revision
        worst, mean, tried = measure(context, thing, armature, live_rig)
    except Exception:
        rig.baked = True
        remove(mesh)
        raise
    rig.baked_error, rig.baked_share = worst, worst / max(live_rig.metres, 1e-12)
    rig.enabled = False
    context.view_layer.update()
    said = f"; {', '.join(each.name for each in rig.stored)} stays with the add-on" if len(rig.stored) else ""
    return (f"Baked {count} examples to drivers: the form is within {length(worst)} ({100 * rig.baked_share:.2g} % of the "
            f"size), {length(mean)} on average, at {tried} poses{said}")


def blocks_of(mesh):
    names = [example.name for layer in mesh.exemplar.layers for example in layer.examples]
    return [mesh.shape_keys.key_blocks[name] for name in names if name in mesh.shape_keys.key_blocks]


def has_driver(mesh, key):
    found = mesh.shape_keys.animation_data
    return bool(found) and any(curve.data_path == key.path_from_id("value") for curve in found.drivers)


class Kept:
    """The pose of an armature and the sliders of an object, put back at the end."""

    def __init__(self, thing, armature):
        self.thing, self.armature = thing, armature

    def __enter__(self):
        self.bones = [(bone, bone.rotation_quaternion.copy(), bone.rotation_euler.copy(), tuple(bone.rotation_axis_angle))
                      for bone in self.armature.pose.bones]
        self.values = {axis.name: self.thing.get(axis.name) for layer in self.thing.data.exemplar.layers
                       for axis in layer.axes if axis.reading == "DIAL"}

    def __exit__(self, *_):
        for bone, quaternion, euler, turn in self.bones:
            bone.rotation_quaternion, bone.rotation_euler, bone.rotation_axis_angle = quaternion, euler, turn
        for name, value in self.values.items():
            if value is None:
                self.thing.pop(name, None)
            else:
                self.thing[name] = value
        self.armature.update_tag()
        bpy.context.view_layer.update()


def poses(rig, random, count):
    """[{layer: place}] inside the range of the examples and slightly beyond: of axes that several layers have, the last
    one counts."""
    out = []
    for _ in range(count):
        made = {}
        for layer in rig.layers:
            known = numpy.array([layer.rest] + [each.numbers for each in layer.examples if len(each.at)])
            if layer.kind == "direct":
                made[layer.name] = [random.uniform(axis.low, axis.high) for axis in layer.axes]
                continue
            place, begin = [], 0
            for axis in layer.axes:
                part = known[:, begin:begin + axis.width]
                begin += axis.width
                if axis.width == 1:
                    span = float(numpy.ptp(part)) or 1.0
                    place.append(random.uniform(part.min() - 0.05 * span, part.max() + 0.05 * span))
                else:
                    a, b = part[random.integers(len(part), size=2)]
                    share = random.uniform(-0.05, 1.05)
                    q = (1 - share) * a + share * (b if a @ b >= 0 else -b) + random.normal(0, 0.03, 4)
                    place += (q / numpy.linalg.norm(q)).tolist()
            made[layer.name] = place
        out.append(made)
    return out


def seen(thing, context):
    """(V, 3) of an object as it is seen, in the world."""
    shown = thing.evaluated_get(context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    out = numpy.empty((len(mesh.vertices), 3), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", out.ravel())
    shown.to_mesh_clear()
    return out @ numpy.array(thing.matrix_world)[:3, :3].T.astype(numpy.float32)


def measure(context, thing, armature, live_rig):
    """(largest, mean) distance in metres between the live and the baked form, at random poses; and how many those are."""
    rig = thing.data.exemplar
    unit = context.scene.unit_settings.scale_length
    live_rig.metres = float(numpy.linalg.norm(numpy.ptp(seen(thing, context), axis=0))) * unit
    count = int(max(10, min(POSES, MEMORY / (12 * max(1, len(thing.data.vertices))))))
    chosen, forms = poses(rig, numpy.random.default_rng(2), count), []
    shown = [(modifier, modifier.show_viewport) for modifier in thing.modifiers if modifier.type != "ARMATURE"]
    worst, total = 0.0, 0.0
    with Kept(thing, armature):
        try:
            for modifier, _ in shown:
                modifier.show_viewport = False
            for is_live in (True, False):
                show(thing.data, is_live)
                for i, made in enumerate(chosen):
                    for layer in rig.layers:
                        places.go(thing, armature, layer, made[layer.name])
                    armature.update_tag()
                    context.view_layer.update()
                    if is_live:
                        forms.append(seen(thing, context))
                    else:
                        apart = numpy.linalg.norm(seen(thing, context) - forms[i], axis=1)
                        worst, total = max(worst, float(apart.max())), total + float(apart.mean())
        finally:
            for modifier, value in shown:
                modifier.show_viewport = value
            show(thing.data, True)
    return worst * unit, total / count * unit, count


class EXEMPLAR_OT_bake_keys(Action):
    """Give each example's shape key a driver, so that the rig works without the add-on. Live goes back"""
    bl_idname = "exemplar.bake_keys"
    bl_label = "Bake to Shape Keys and Drivers"

    def act(self, context):
        return bake(context, *write.ready(context))


class EXEMPLAR_OT_unbake(Action):
    """Remove the drivers of a bake, and follow live again"""
    bl_idname = "exemplar.unbake"
    bl_label = "Remove Baked Drivers"

    def act(self, context):
        thing, rig, armature = subject(context)
        if not rig.baked:
            raise Refused(f"'{thing.name}' is not baked")
        remove(thing.data)
        rig.enabled = True
        context.view_layer.update()
        return f"'{thing.name}' follows live again"


def _all(is_live):
    for mesh in bpy.data.meshes:
        if mesh.exemplar.made and mesh.exemplar.baked and mesh.exemplar.enabled and not mesh.library:
            show(mesh, is_live)


@persistent
def on_save(*_):
    _all(False)


@persistent
def on_saved(*_):
    _all(True)
    live.forget()


def _handlers():
    at = bpy.app.handlers
    return [(at.save_pre, on_save), (at.load_post, on_saved), *((place, on_saved) for place in compat.after_saving())]


_classes = (EXEMPLAR_OT_bake_keys, EXEMPLAR_OT_unbake)


def register():
    for each in _classes:
        bpy.utils.register_class(each)
    for place, handler in _handlers():
        place.append(handler)


def unregister():
    for place, handler in _handlers():
        if handler in place:
            place.remove(handler)
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
