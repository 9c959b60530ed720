# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs of the library from what a mesh knows (data.py): its basis, its shape keys and their places.

The rig that follows live has neither faces nor a skin: Blender's Armature modifier does the skinning, and the rig gives the
form before it. Export adds them (export.py).
"""
import json
import zlib

import numpy

from . import character, compat, stored
from .armature import Bones, matrices, relative, transforms
from .data import ANGLES
from .library import exemplar

ABOUT = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}


def axis(given, ends):
    """The library's axis. ends: least and most of the places on it, in all layers."""
    return {**_axis(given, ends), **(json.loads(given.exact) if given.exact else {})}


def _axis(given, ends):
    if given.reading == "DIAL":
        return {"min": given.low, "max": given.high, "rest": given.rest}
    if given.reading in ANGLES:
        low, high = min(given.rest, *ends), max(given.rest, *ends)
        if high - low < 1:
            high = low + 1
        return {"joint": given.bone, "about": ABOUT[given.reading], "min": low, "max": high, "rest": given.rest,
                "unit": "deg"}
    return {"joint": given.bone, "kind": given.reading.lower(), "about": tuple(given.about)}


def ranges(layers):
    """{name: (least, most)} of the places on the axes with one number, over all layers: an axis has one range."""
    ends = {}
    for layer in layers:
        for each, column in zip(layer.axes, columns(layer)):
            if each.width == 1:
                values = [place.at[column].value for place in [*layer.examples, *layer.pseudos] if len(place.at) > column]
                ends.setdefault(each.name, []).extend(values)
    return {name: (min(values, default=0), max(values, default=0)) for name, values in ends.items()}


def columns(layer):
    """The first number of each axis in a place."""
    begin, out = 0, []
    for each in layer.axes:
        out.append(begin)
        begin += each.width
    return out


def layer_of(layer, differences, ends):
    """exemplar.layer of a layer. differences: those of its counted examples, (E, V, 3). ends: `ranges` of all layers."""
    examples = layer.counted()
    names, places = [example.name for example in examples], [example.numbers for example in examples]
    axes = {each.name: axis(each, ends.get(each.name)) for each in layer.axes}
    given = dict(examples=names, differences=True, domain="offsets", kind=layer.kind, muted=layer.muted)
    if layer.parameters:
        given.update(json.loads(layer.parameters))
    if layer.kind == "direct":
        return exemplar.layer(layer.name, axes, None, differences, **given)
    pseudos = [pseudo_of(each, layer, names) for each in layer.pseudos]
    rest = layer.rest
    if layer.still and not any(numpy.allclose(place, rest, atol=1e-4) for place in
                               places + [[n.value for n in each.at] for each in layer.pseudos]):
        pseudos.append({"at": rest, "weights": [0.0] * len(names)})
    return exemplar.layer(layer.name, axes, places, differences, pseudos=pseudos, **given)


def pseudo_of(pseudo, layer, names):
    made = {"at": [number.value for number in pseudo.at]}
    if len(pseudo.source):
        made["from"] = [number.value for number in pseudo.source]
    else:
        weights = {example.name: number.value for example, number in zip(layer.examples, pseudo.weights)}
        made["weights"] = [weights.get(name, 0.0) for name in names]
    return made


def differences(mesh, examples, basis):
    """(E, V, 3) of the keys of examples from the basis."""
    blocks = mesh.shape_keys.key_blocks
    out = numpy.empty((len(examples), *basis.shape), dtype=numpy.float32)
    for row, example in zip(out, examples):
        numpy.subtract(compat.read_key(blocks[example.name], len(basis)), basis, out=row)
    return out


def layers_of(mesh, basis, bones, scale=None):
    """The layers of a mesh for exemplar.Rig. bones: Bones of its armature, or None; ValueError if a layer reads one that is
    not there. scale: a matrix (3, 3) for the differences."""
    made, blocks = [], mesh.shape_keys.key_blocks if mesh.shape_keys else {}
    ends = ranges(mesh.exemplar.layers)
    for layer in mesh.exemplar.layers:
        lost = [each.bone for each in layer.axes if each.reading != "DIAL" and not (bones and each.bone in bones.index)]
        if lost and not layer.muted:
            raise ValueError(f"Layer '{layer.name}' reads the bone '{lost[0]}', which is not there: rename it back, or remove "
                             f"the layer" if bones else f"Layer '{layer.name}' reads bones, and there is no armature: add an "
                             f"Armature modifier")
        if lost:
            continue
        examples = [example for example in layer.counted() if example.name in blocks]
        if len(examples) == len(layer.counted()) and examples and len(layer.axes):
            rows = differences(mesh, examples, basis)
            made.append(layer_of(layer, rows if scale is None else rows @ scale.T, ends))
    return made


def sum_of_examples(mesh):
    """A number that differs when the form of an example does."""
    made, blocks = 0, mesh.shape_keys.key_blocks if mesh.shape_keys else {}
    for layer in mesh.exemplar.layers:
        for example in layer.examples:
            if example.name in blocks:
                made = zlib.crc32(compat.read_key(blocks[example.name], len(mesh.vertices)), made)
    return made


class Live:
    """The rig of a mesh as it follows live: `rig` is None while there are no examples; `parts` are its stored rigs, and
    `bones` None without an armature."""

    def __init__(self, mesh, armature):
        self.basis = character.vertices(mesh)
        self.bones = Bones(armature) if armature else None
        self.parts = stored.parts(mesh, self.basis, self.bones)
        layers = layers_of(mesh, self.basis, self.bones)
        skeleton = self.bones.skeleton() if armature else None
        self.rig = exemplar.Rig(self.basis, (), layers, skeleton=skeleton) if layers else None
        self.pose, self.joints, self.dials = None, [], []
        if self.rig:
            self.pose = self.rig.pose()
            self.joints = sorted({each.joint for each in self.rig.axes.values() if each.joint is not None})
            self.dials = [name for name, each in self.rig.axes.items() if each.is_dial]
        self.sum = zlib.crc32(self.basis)
        self.sum_of_examples = sum_of_examples(mesh)
        self.size = float(numpy.linalg.norm(numpy.ptp(self.basis, axis=0))) or 1.0

    def fits(self, mesh, armature):
        """True if the mesh has as many vertices, and the armature the same bones, as when it was made."""
        return len(mesh.vertices) == len(self.basis) and (self.bones.are(armature) if self.bones and armature else
                                                          not self.bones and not armature)

    def read(self, thing, armature, depsgraph):
        """Sets the pose to that of the evaluated object and armature. Returns the numbers that were read, as bytes."""
        numbers = [part.read(thing, armature, depsgraph) for part in self.parts]
        if self.joints:
            local = relative(matrices(armature), self.bones.parents, self.joints)
            self.pose.joints[0, self.joints] = transforms(local, self.bones.rest[self.joints])
            numbers.append(self.pose.joints[0, self.joints].tobytes())
        if self.dials:
            for name in self.dials:
                self.pose[name] = float(thing.get(name, self.rig.axes[name].rest))
            numbers.append(self.pose.dials.tobytes())
        return b"".join(numbers)

    def form(self, muted=None):
        """(V, 3) the form before the armature moves it, at the pose that was read. muted: names of layers to leave out,
        besides those that are muted."""
        form = self.basis.copy()
        if self.rig:
            if muted is not None:
                muted = [*muted, *(layer.name for layer in self.rig.layers.values() if layer.muted)]
            form = self.rig.evaluate(self.pose, muted=muted)[0]
        for part in self.parts:
            form += part.change()
        return form

    def weights(self):
        """{layer: {example: weight}} at the pose that was read."""
        if not self.rig:
            return {}
        row = self.rig.evaluate(self.pose, positions=False, weights=True)[0]
        out, begin = {}, 0
        for layer in self.rig.layers.values():
            count = len(layer.examples)
            out[layer.name] = dict(zip(layer.examples, row[begin:begin + count].tolist()))
            begin += count
        return out
