# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that follow a body: learned from what a cloth simulation, or any other animation, shows frame by frame.

Both meshes are read as they are seen, in the world: the first vertices of the evaluated mesh. Modifiers of the garment that
move it are switched off after learning, and those that refine it are left out while learning: they work on the form that
follows.
"""
import contextlib
import os
import struct
import tempfile
import time

import bpy
import numpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from . import character, live, loop, stored
from .data import BODY, LIVE, rig_of
from .errors import Action, Refused
from .library import exemplar
from .progress import Bar

NAME = "garment"
FEWEST = 10  # frames
MOVED = {"ARMATURE", "CAST", "CLOTH", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH",
         "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY",
         "SURFACE_DEFORM", "VOLUME_DISPLACE", "WARP", "WAVE"}


class EXEMPLAR_OT_garment_learn(Action):
    """Learn how the active mesh follows the other one, from the frames of its simulation. It then follows new actions"""
    bl_idname = "exemplar.garment_learn"
    bl_label = "Learn Garment"
    bl_options = {"UNDO"}

    driver: StringProperty(name="Body", description="The mesh that the garment follows; empty: the other selected mesh")
    begin: IntProperty(name="First Frame", description="Begin where the cloth has fallen into place")
    end: IntProperty(name="Last Frame", description="Not above the first: all frames of the scene")
    method: EnumProperty(name="Method", items=[
        ("keys", "Keys", "Blends a few frames by the pose of the body: a minute of simulation is enough"),
        ("motion", "Motion", "Learns from all frames and from how the body moves, so that cloth swings: needs several "
                             "hundred frames")])
    keys: IntProperty(name="Keys", description="How many frames are blended", default=12, min=1, max=200)
    thickness: FloatProperty(name="Thickness", description="Distance of the garment from the body", default=0.002, min=0,
                             subtype="DISTANCE")

    def invoke(self, context, event):
        meshes = [each for each in context.scene.objects if each.type == "MESH" and each != context.object]
        others = [each for each in meshes if each.select_get()] or [each for each in meshes if character.armature_of(each)] \
            or meshes
        self.driver = others[0].name if len(others) == 1 else ""
        self.begin, self.end = context.scene.frame_start, context.scene.frame_end
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop_search(self, "driver", context.scene, "objects")
        for name in ("begin", "end", "method", *(["keys"] if self.method == "keys" else []), "thickness"):
            layout.prop(self, name)

    def act(self, context):
        scene, thing = context.scene, character.mesh_object(context)
        driver = driver_of(context, thing, self.driver)
        begin, end = (self.begin, self.end) if self.end > self.begin else (scene.frame_start, scene.frame_end)
        count, started = end - begin + 1, time.monotonic()
        check(thing, driver, begin, end)
        options = dict(keys=min(self.keys, count)) if self.method == "keys" else dict(up="y")
        with tempfile.TemporaryDirectory(prefix="exemplar") as folder, Bar(context, 0.0, 0.5) as bar:
            caches, meshes = watch(context, thing, driver, begin, end, folder, bar)
            bar.begin, bar.end = 0.5, 1.0
            take = exemplar.drive.Take(*caches, fps=scene.render.fps / scene.render.fps_base)
            learned = exemplar.drive.learn(*meshes, [take], method=self.method, threads=None, progress=bar,
                                           thickness=self.thickness * scene.unit_settings.scale_length, **options)
        keep(thing, driver, learned.rig)
        context.view_layer.update()
        return (f"'{thing.name}' follows '{driver.name}': learned from {count} frames, mean error on them "
                f"{1000 * learned.error:.3g} mm, in {time.monotonic() - started:.1f} s" +
                "".join(f". {note[0].upper()}{note[1:]}" for note in learned.notes))


def driver_of(context, thing, name):
    """The mesh object that the garment is to follow, or Refused."""
    if name:
        driver = context.scene.objects.get(name)
        if driver is None or driver.type != "MESH":
            raise Refused(f"There is no mesh '{name}' in this scene")
    else:
        others = [each for each in context.selected_objects if each.type == "MESH" and each != thing]
        if len(others) != 1:
            raise Refused("Select the body, then the garment with Shift: two meshes, the garment last")
        driver = others[0]
    if driver == thing or driver.data == thing.data:
        raise Refused("A garment cannot follow itself: choose the body that it is worn on")
    if follows(driver, thing):
        raise Refused(f"'{driver.name}' follows '{thing.name}': forget that garment first")
    return driver


def follows(thing, other):
    """True if an object is a garment of another one, or of a garment of it."""
    found = [entry.driver for entry in thing.data.exemplar.stored if entry.driver]
    return any(driver == other or follows(driver, other) for driver in found)


def entry_of(thing):
    """The entry of the rig that makes an object a garment, or None."""
    return next((entry for entry in thing.data.exemplar.stored if entry.purpose == "GARMENT"), None)


def check(thing, driver, begin, end):
    """Refuses what cannot be learned, before anything is changed."""
    character.check(thing, posed=False)
    mesh = thing.data
    for each in (thing, driver):
        if not len(each.data.polygons):
            raise Refused(f"'{each.name}' has no faces: choose a mesh with faces")
        if each.mode == "EDIT":
            raise Refused(f"'{each.name}' is in Edit Mode: leave it (Tab), then try again")
    if entry_of(thing):
        raise Refused(f"'{thing.name}' is a garment already: press Forget Garment first")
    if len(mesh.exemplar.layers) or len(mesh.exemplar.stored):
        raise Refused(f"'{thing.name}' has sculpts or paths of its own: learn the garment on a mesh without them")
    if end - begin + 1 < FEWEST:
        raise Refused(f"There are {end - begin + 1} frames to learn from: give at least {FEWEST}")
    keys = mesh.shape_keys.key_blocks if mesh.shape_keys else []
    if LIVE in keys and not rig_of(thing):
        raise Refused(f"A shape key of '{thing.name}' is called '{LIVE}', a name that the rig needs: rename it")
    used = [key.name for key in keys if key.name != LIVE and key.value and not key.mute and
            key != mesh.shape_keys.reference_key]
    if used:
        raise Refused(f"Shape keys of '{thing.name}' are in use ({', '.join(used[:3])}): set them to 0, or mute them")
    if thing.parent_type == "ARMATURE" and thing.parent and thing.parent.type == "ARMATURE":
        raise Refused(f"'{thing.name}' is deformed by its parent: add an Armature modifier instead")
    changing = None
    for modifier in thing.modifiers:
        if modifier.show_viewport and modifier.type not in character.MOVING:
            changing = modifier
        elif modifier.show_viewport and modifier.type in MOVED and changing:
            raise Refused(f"The modifier '{changing.name}' changes the number of vertices before '{modifier.name}': apply "
                          f"it, or move it below")
    for cache in caches_of(thing):
        if cache.frame_end < end:
            raise Refused(f"The cloth of '{thing.name}' is simulated up to frame {cache.frame_end} only: set the end of its "
                          f"cache to {end}, or learn fewer frames")


def caches_of(thing):
    """The caches of simulations that move an object."""
    return [modifier.point_cache for modifier in thing.modifiers if modifier.type in ("CLOTH", "SOFT_BODY") and
            modifier.show_viewport]


@contextlib.contextmanager
def bare(thing):
    """An object without the modifiers that stay on later."""
    off = [modifier for modifier in thing.modifiers if modifier.type not in MOVED and modifier.show_viewport]
    for modifier in off:
        modifier.show_viewport = False
    try:
        yield
    finally:
        for modifier in off:
            modifier.show_viewport = True


class Points:
    """A PC2 cache that is written frame by frame."""

    def __init__(self, path, frames, count):
        self.file, self.first, self.moved = open(path, "wb"), None, 0.0
        self.file.write(struct.pack("<12siiffi", b"POINTCACHE2", 1, count, 0.0, 1.0, frames))

    def add(self, points):
        if self.first is None:
            self.first = points
        self.moved = max(self.moved, float(numpy.abs(points - self.first).max()))
        self.file.write(points.astype("<f4").tobytes())


def watch(context, thing, driver, begin, end, folder, bar):
    """Steps through the frames and writes what is seen into two caches. Returns their paths, and the two meshes of the first
    frame. A simulation is stepped from its own beginning."""
    scene, before = context.scene, context.scene.frame_current
    scale, things = scene.unit_settings.scale_length, (driver, thing)
    paths = [os.path.join(folder, name) for name in ("body.pc2", "garment.pc2")]
    made = [Points(path, end - begin + 1, len(each.data.vertices)) for path, each in zip(paths, things)]
    start = min([begin, *(cache.frame_start for cache in caches_of(thing))])
    try:
        with bare(thing):
            for frame in range(start, end + 1):
                scene.frame_set(frame)
                bar("frames", (frame + 1 - start) / (end + 1 - start))
                if frame >= begin:
                    depsgraph = context.evaluated_depsgraph_get()
                    for each, points in zip(things, made):
                        points.add(look(each, depsgraph, scale))
    finally:
        for points in made:
            points.file.close()
        scene.frame_set(before)
    for each, points in zip(things, made):
        if points.moved <= 1e-6 * numpy.abs(points.first).max():
            raise Refused(f"'{each.name}' does not move from frame {begin} to {end}: animate it, or give other frames")
    return paths, [(points.first, character.faces(each.data)) for each, points in zip(things, made)]


def look(thing, depsgraph, scale):
    """(V, 3) of an object as it is seen, or Refused."""
    shown = thing.evaluated_get(depsgraph)
    if not shown.is_evaluated:
        raise Refused(f"'{thing.name}' is hidden: show it while the garment is learned")
    points = stored.seen(shown, len(thing.data.vertices), scale)
    if points is None:
        raise Refused(f"A modifier of '{thing.name}' takes vertices away: switch it off while the garment is learned")
    if not numpy.isfinite(points).all():
        raise Refused(f"'{thing.name}' has vertices at places that are not finite, at frame {depsgraph.scene.frame_current}")
    return points


def keep(thing, driver, rig):
    """Makes an object a garment that follows a driver."""
    mesh = thing.data
    if not rig_of(thing):
        loop.make(thing)
    entry = stored.add(mesh, NAME, "GARMENT", rig.to_bytes())
    for modifier in thing.modifiers:
        places = [place for place in ("show_viewport", "show_render") if getattr(modifier, place)]
        if modifier.type in MOVED and places:
            word = entry.switched.add()
            word.name, word.value = modifier.name, " ".join(places)
            for place in places:
                setattr(modifier, place, False)
    thing.modifiers.new(BODY, "SURFACE_DEFORM")  # never bound: it only makes the garment depend on its body
    entry.driver = driver
    live.forget(mesh)


def forget(thing, entry):
    """Removes what makes an object a garment, and switches its modifiers on again."""
    for word in entry.switched:
        modifier = thing.modifiers.get(word.name)
        for place in word.value.split() if modifier else ():
            setattr(modifier, place, True)
    if BODY in thing.modifiers:
        thing.modifiers.remove(thing.modifiers[BODY])
    stored.remove(thing.data, entry.name)
    live.forget(thing.data)


class EXEMPLAR_OT_garment_forget(Action):
    """Let the garment be moved by its own modifiers again"""
    bl_idname = "exemplar.garment_forget"
    bl_label = "Forget Garment"

    def act(self, context):
        thing = character.mesh_object(context)
        entry = entry_of(thing)
        if entry is None:
            raise Refused(f"'{thing.name}' is no garment that follows another mesh")
        mesh, key = thing.data, live.key_of(thing.data)
        forget(thing, entry)
        if not len(mesh.exemplar.layers) and not len(mesh.exemplar.stored):
            mesh.exemplar.made = False
            if key:
                thing.shape_key_remove(key)
        context.view_layer.update()
register, unregister = bpy.utils.register_classes_factory((EXEMPLAR_OT_garment_learn, EXEMPLAR_OT_garment_forget))
