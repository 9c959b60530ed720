# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that shape keys cannot hold: paths between keys, garments, layers of imported rigs.

The file of such a rig is a custom property of the mesh, 'exemplar:' + name, as bytes; `mesh.exemplar.stored` has an entry of
that name. So Blender saves, appends and duplicates it with the mesh.

A Layers or a Garment evaluates one of them: read() takes what it depends on from evaluated objects, as numbers, and change()
is (V, 3) what it adds to the form of the mesh there.
"""
import uuid
from collections import OrderedDict

import bpy
import numpy

from .armature import composed, matrices, relative, transforms
from .data import touch
from .library import exemplar

PREFIX = "exemplar:"
LONGEST = 63 - len(PREFIX)  # letters of a name, since Blender's names have at most 63
KEPT = 16  # rigs at least; twice as many as there are, if that is more
DAMPING = 1e-8  # of squared lengths that a skin makes of 1
UP = numpy.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z up to y up
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
        while len(_loaded) > max(KEPT, 2 * sum(len(each.exemplar.stored) for each in bpy.data.meshes)):
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


def problem(mesh, entry):
    """A sentence about why a stored rig does nothing, or ''."""
    rig = rig_of(mesh, entry)
    if rig is None:
        return f"The file of '{entry.name}' is gone: undo, or make it again"
    count = rig.vertex_count()
    if count != len(mesh.vertices):
        return (f"'{entry.name}' was made for {count} vertices and the mesh has {len(mesh.vertices)}: undo that, or make "
                f"it again")
    if entry.purpose == "GARMENT" and (entry.driver is None or entry.driver.type != "MESH"):
        return f"The mesh that '{entry.name}' follows is gone: choose it again"
    if entry.purpose == "GARMENT" and len(entry.driver.data.vertices) != len(rig.driver_reference):
        return (f"'{entry.driver.name}' had {len(rig.driver_reference)} vertices when '{entry.name}' was learned and has "
                f"{len(entry.driver.data.vertices)}: undo that, or learn it again")
    return ""


def fine(mesh, entry):
    said = problem(mesh, entry)
    if said:
        raise ValueError(said)


def parts(mesh, basis, bones):
    """The stored rigs that are not muted; ValueError with a sentence if one has a problem. bones: Bones of the armature, or
    None."""
    found = [entry for entry in mesh.exemplar.stored if not entry.muted]
    for entry in found:
        fine(mesh, entry)
    return [Garment(mesh, entry, basis) if entry.purpose == "GARMENT" else Layers(mesh, entry, bones) for entry in found]


class Layers:
    """The layers of a stored rig before its skin: over joints, by the names of bones, and custom properties."""

    def __init__(self, mesh, entry, bones):
        self.rig = rig_of(mesh, entry)
        self.space = numpy.array(entry.space).reshape(4, 4)
        self.rest, self.pose = self.rig.mesh.vertices, self.rig.pose()
        self.dials = {name: property_of(entry, name) for name, axis in self.rig.axes.items() if axis.is_dial}
        self.joints = sorted({axis.joint for axis in self.rig.axes.values() if axis.joint is not None}) if bones else []
        self.after = [layer.name for layer in self.rig.layers.values() if layer.stage == "posed" and bones and self.rig.skin]
        if self.after:
            self.joints = list(range(len(self.rig.skeleton)))
            self.skin = self.rig.skin
        if self.joints:
            self._bind(bones)

    def _bind(self, bones):
        """Where the joints are at rest, and the bone that moves each: that of its name, else the one of the joint above."""
        skeleton = self.rig.skeleton
        self.still, self.parents = skeleton.rest, skeleton.parents
        local = composed(self.still)
        self.world, self.bone, done = local.copy(), numpy.full(len(local), -1), set()

        def place(joint):
            if joint in done:
                return
            done.add(joint)
            above = self.parents[joint]
            self.bone[joint] = bones.index.get(skeleton.names[joint], -1)
            if above >= 0:
                place(above)
                self.world[joint] = self.world[above] @ local[joint]
                if self.bone[joint] < 0:
                    self.bone[joint] = self.bone[above]

        for joint in range(len(local)):
            place(joint)
        self.back = numpy.linalg.inv(bones.matrices)

    def _joints(self, thing, armature):
        """(n, 10) of the joints that are read. A bone that moved by D in the armature's space moves its joint by X^-1 D X,
        with X from the rig's space to the armature's."""
        into = numpy.array(armature.matrix_world.inverted_safe() @ thing.matrix_world) @ self.space
        moved = numpy.concatenate([matrices(armature) @ self.back, numpy.eye(4)[None]])[self.bone]
        world = numpy.linalg.inv(into) @ moved @ into @ self.world
        return transforms(relative(world, self.parents, self.joints), self.still[self.joints])

    def read(self, thing, armature, depsgraph):
        if self.joints:
            self.pose.joints[0, self.joints] = self._joints(thing, armature)
        for name, prop in self.dials.items():
            value = thing.get(prop)
            self.pose[name] = self.rig.axes[name].rest if value is None else numpy.array(value)
        return (self.pose.joints[0, self.joints].tobytes() if self.joints else b"") + self.pose.dials.tobytes()

    def change(self):
        if not self.after:
            return (self.rig.evaluate(self.pose, unskinned=True)[0] - self.rest) @ self.space[:3, :3].T
        muted = [*self.after, *(layer.name for layer in self.rig.layers.values() if layer.muted)]
        made = self.rig.evaluate(self.pose, unskinned=True, muted=muted)[0] - self.rest
        return (made + self._before_skin(muted)) @ self.space[:3, :3].T

    def _before_skin(self, muted):
        """(V, 3) of the layers that act after the skin, as differences before it: A^-1 d, with A the blend of the joints'
        matrices. Where a skin is flattened A has no inverse, and they are damped."""
        moved = (self.rig.evaluate(self.pose)[0] - self.rig.evaluate(self.pose, muted=muted)[0]).astype(numpy.float64)
        skeleton, (joints, weights) = self.rig.skeleton, self.skin
        turns = skeleton.worlds(self.pose.joints[0])[:, :, :3] @ skeleton.inverse_binds[:, :, :3]
        some = numpy.flatnonzero(numpy.abs(moved).max(1) > 0)
        blend = numpy.einsum("vk,vkij->vij", weights[some], turns[joints[some]], dtype=numpy.float64)
        back = blend.transpose(0, 2, 1)
        moved[some] = (numpy.linalg.solve(back @ blend + DAMPING * numpy.eye(3), back) @ moved[some, :, None])[:, :, 0]
        return moved


def seen(thing, count, scale):
    """(count, 3) the first vertices of an evaluated object as they are seen: in the world, with y up, in metres. scale:
    metres in a unit of the scene. None if there are fewer."""
    mesh = thing.to_mesh()
    out = numpy.empty((len(mesh.vertices), 3), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", out.ravel())
    thing.to_mesh_clear()
    space = metres(thing, scale)
    return None if len(out) < count else out[:count] @ space[:3, :3].T + space[:3, 3]


def metres(thing, scale):
    """(4, 4) from the space of an object to metres with y up."""
    made = numpy.array(thing.matrix_world)
    made[:3] = scale * UP @ made[:3]
    return made


class Garment:
    """A garment that follows the form of another object, its driver. It knows the frame before, if that was the last one
    that was read."""

    def __init__(self, mesh, entry, basis):
        self.rig, self.name, self.basis = rig_of(mesh, entry), entry.name, basis
        self.count = len(self.rig.driver_reference)
        self.player, self.frame, self.driver, self.elapsed = self.rig.player(), None, None, 0.0

    def read(self, thing, armature, depsgraph):
        scene, mesh = depsgraph.scene, thing.original.data
        entry = mesh.exemplar.stored[self.name]
        fine(mesh, entry)
        scale, frame = scene.unit_settings.scale_length, scene.frame_current + scene.frame_subframe
        driver = entry.driver.evaluated_get(depsgraph)
        points = seen(driver, self.count, scale) if driver.is_evaluated else None
        if points is None:
            return b""
        steps = 0 if self.frame is None else frame - self.frame
        self.elapsed = steps * scene.render.fps_base / scene.render.fps if 0 < steps <= 1 else 0.0
        self.driver, self.frame, self.back = points, frame, numpy.linalg.inv(metres(thing, scale))
        return points.tobytes() + self.back.tobytes() + numpy.float64(frame).tobytes()

    def change(self):
        if self.driver is None:
            return numpy.zeros_like(self.basis)
        if self.elapsed <= 0:
            self.player.reset()
        form = self.player.evaluate(driver=self.driver, elapsed=self.elapsed)[0]
        return form @ self.back[:3, :3].T + self.back[:3, 3] - self.basis
