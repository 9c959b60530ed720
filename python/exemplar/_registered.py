"""Templates moved onto scans, and rigs of one mesh in many poses."""
from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Mapping
from typing import Any, Callable, Optional, Sequence

import numpy

from . import _abi, _given
from ._arrays import address, copied, take
from ._capture import Kinematics, poses_of
from ._forms import mesh_of
from ._given import Report
from ._library import Handle, author, checked, runtime, text_of
from ._work import Progress, tasks
from .mesh import Mesh
from .rig import Rig

Tell = Optional[Callable[[str, float], Any]]
UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}


class Registered(Report):
    """A registered template: vertices (V, 3) in metres, confidences (V,) from 0 (the scan does not show the vertex) to
    1, rms of the matched vertices and landmark_rms (None without landmarks) in metres, covered (share of the scan's
    area within reach), matched, unmatched, flipped (triangles), scan_points, seconds. mesh: the template with these
    vertices."""


class Articulated(Report):
    """A rig of one mesh in many poses: rig, kinematics, names, translations (N, 3), rotations (N, J, 4), form_rms and
    form_high (N,), rms in metres, open (joints whose centres are guesses), layers [{name, space, falloff, ridge,
    gain}], rounds, unit, seconds, and left_out: None, or [{rms, high, skinned_rms, skinned_high, one_rms, one_high}]
    with left_out_rms and ratio over all."""


def cloud(points, normals=None) -> Mesh:
    """A Mesh of points (N, 3) without faces, with normals (N, 3): a scan for `register`, which needs the normals."""
    return Mesh(points, (), normals=normals)


def _held(source, name):
    """(pointer to an ex_mesh, what it needs to stay valid)."""
    if _given.is_path(source):
        made = ctypes.POINTER(_abi.ex_mesh)()
        checked(author.ex_mesh_read, _given.file(source, name), ctypes.byref(made))
        return made, Handle(made, author.ex_mesh_destroy)
    held = mesh_of(source, name)._to_c()
    return held.pointer, held


def held_meshes(sources, name):
    """An array of pointers to meshes, of one or of several, and what they need to stay valid."""
    one = _given.is_path(sources) or isinstance(sources, Mesh) or isinstance(sources, tuple)
    list_of = [sources] if one else list(sources) if isinstance(sources, Sequence) else None
    if not list_of:
        raise TypeError(f"{name} must be a mesh, a path, or a list of them")
    held = [_held(source, name) for source in list_of]
    pointers = (ctypes.POINTER(_abi.ex_mesh) * len(held))(*(pointer for pointer, _kept in held))
    return pointers, held


def landmarks_of(path) -> dict:
    """A table marker,x,y,z as {marker: (x, y, z)}."""
    count, made = ctypes.c_int(), ctypes.POINTER(_abi.ex_labelled)()
    checked(author.ex_labels_read, _given.file(path), ctypes.byref(made), ctypes.byref(count))
    try:
        return {text_of(made[i].name): tuple(made[i].position[:]) for i in range(count.value)}
    finally:
        author.ex_labels_free(made, count.value)


def _places(given, name):
    table = landmarks_of(given) if _given.is_path(given) else given
    if not isinstance(table, Mapping):
        raise TypeError(f"{name} must be a path, or {{name: (x, y, z)}}")
    places = {}
    for key, place in table.items():
        places[key] = take(place, "f8", (3,), f"{name}[{key!r}]")
        if not numpy.isfinite(places[key]).all():
            raise ValueError(f"{name}[{key!r}] is not finite")
    return places


def _anchors(mesh, landmarks, points):
    """Landmarks as anchors: keys are names in points, or vertices."""
    if landmarks is None:
        if points is not None:
            raise ValueError("points goes with landmarks")
        return None
    places, known = _places(landmarks, "landmarks"), {} if points is None else _places(points, "points")
    anchors = (_abi.ex_register_anchor * max(len(places), 1))()
    count = mesh.contents.vertex_count
    for anchor, (key, target) in zip(anchors, places.items()):
        if key in known:
            checked(author.ex_register_anchor_find, mesh, address(known[key]), address(target), ctypes.byref(anchor))
            continue
        text = str(key) if isinstance(key, str) else None
        if text is not None and not text.lstrip("-").isdigit():
            raise KeyError(f"landmark '{key}' is neither a vertex of the template nor a name in points")
        vertex = _given.whole(int(text) if text is not None else key, f"landmark {key}", 0, count - 1)
        anchor.vertices[:], anchor.shares[:], anchor.target[:] = (vertex,) * 3, (1, 0, 0), target.tolist()
    return anchors if places else None


def _begin(mesh, start, anchors, align):
    """(V, 3) where the template begins."""
    count = mesh.contents.vertex_count
    rest = copied(mesh.contents.positions, "f8", (count, 3))
    begin = rest
    if start is not None:
        if _given.is_path(start) or isinstance(start, (Mesh, tuple)):
            pointer, _kept = _held(start, "start")
            checked(author.ex_mesh_compare_connectivity, mesh, pointer)
            begin = copied(pointer.contents.positions, "f8", (count, 3))
        else:
            begin = take(start, "f8", (count, 3), "start").copy()
    number = len(anchors) if anchors is not None else 0
    how = align if align is not None else "similarity" if number >= 3 and start is None else "none"
    if how != "none":
        own, targets = numpy.zeros((number, 3)), numpy.zeros((number, 3))
        for i in range(number):
            own[i] = numpy.asarray(anchors[i].shares[:]) @ begin[list(anchors[i].vertices[:])]
            targets[i] = anchors[i].target[:]
        found = _abi.ex_similarity()
        checked(author.ex_register_align, number, address(own), address(targets), None, how == "similarity",
                ctypes.byref(found))
        author.ex_similarity_apply(ctypes.byref(found), count, address(begin))
    return begin


def register(template, scans, *, start=None, landmarks=None, points=None, align: Optional[str] = None,
             reach: float = 0.03,
             start_reach: Optional[float] = None, noise: float = 0.001, stiffness=None, matching=None,
             progress: Tell = None, threads: Optional[int] = 1) -> Registered:
    """Moves a template mesh onto a scan. Everything is in metres, with the same axis up.

    template: a Mesh, (vertices, faces) or a path. scans: one or several views, likewise, or `cloud(points, normals)`.
    start: the template in a rough pose, or registered to the frame before: vertices (V, 3), a Mesh or a path.
    landmarks: {vertex or name: (x, y, z) on the scan}, or the path of a table; points: {name: (x, y, z) on the
    template}. align: first moves the template by the landmarks: 'similarity', 'rigid' or 'none' (default: 'similarity',
    or 'none' with start). reach, start_reach: the greatest distance between template and scan at the end, and at the
    beginning (default: a fourteenth of the template's size). noise: of the scan. stiffness, matching: (V,) numbers for
    each vertex.
    """
    definition = author.ex_register_def_default()
    definition.reach = _given.number(reach, "reach", above=0)
    definition.start_reach = 0 if start_reach is None else _given.number(start_reach, "start_reach", above=0)
    definition.noise = _given.number(noise, "noise", above=0)
    if align is not None:
        _given.word(align, "align", ("similarity", "rigid", "none"))
        if landmarks is None and align != "none":
            raise ValueError("align goes with landmarks")
    mesh, kept = _held(template, "template")
    views, views_kept = held_meshes(scans, "scans")
    anchors = _anchors(mesh, landmarks, points)
    begin = _begin(mesh, start, anchors, align)
    count = mesh.contents.vertex_count
    weights = {name: None if values is None else take(values, "f4", (count,), name)
               for name, values in (("stiffness", stiffness), ("matching", matching))}
    definition.mesh, definition.start = mesh, address(begin)
    definition.scans, definition.scan_count = ctypes.addressof(views), len(views)
    if anchors is not None:
        definition.anchors, definition.anchor_count = anchors, len(anchors)
    for name, values in weights.items():
        if values is not None:
            setattr(definition, name, address(values))
    with tasks(threads) as hooks, Progress(progress) as work:
        definition.progress, definition.tasks = work.pointer, hooks
        made = ctypes.POINTER(_abi.ex_registered)()
        checked(author.ex_register, ctypes.byref(definition), ctypes.byref(made))
        held = Handle(made, author.ex_registered_destroy)
    del views_kept
    inside = held.pointer.contents
    form = Mesh._of(mesh)
    del kept
    form.vertices = copied(inside.vertices, "f8", (count, 3))
    form._normals = form._corner_normals = None  # they belong to the rest form
    return Registered(vertices=form.vertices.copy(), confidences=copied(inside.confidences, "f4", (count,)), mesh=form,
                      rms=inside.rms, landmark_rms=inside.anchor_rms if anchors is not None else None,
                      covered=inside.covered, matched=inside.matched_count, unmatched=inside.unmatched_count,
                      flipped=inside.flipped_count, scan_points=inside.sample_count, seconds=inside.seconds)


# ---- one mesh in many poses ----

def articulate(meshes, *, faces=None, output=None, weights=None, skeleton=None, bones: Optional[int] = None, poses=None,
               unit: Optional[str] = None, up: str = "y", layers: bool = True, report: bool = True,
               progress: Tell = None,
               threads: Optional[int] = 1) -> Articulated:
    """Makes a rig of one mesh in many poses: finds the rest form, joints, skin weights and the pose of every mesh.

    meshes: paths or Meshes of the same vertices and faces; or positions (N, V, 3) with faces. output: a .glb file to
    write the rig to. weights: a glTF file with the same vertices, whose skeleton, rest form and weights are the start
    (default: bones are found); skeleton: keeps only its joints, 'full', 'upper' or a file. bones: at most this many are
    found. poses: a .csv file to write the poses to. unit: 'm', 'dm', 'cm', 'mm', 'in' or 'ft' (default: cm or mm if the
    meshes are as large as a person then, else m). up: 'y' or 'z'. layers: of what skinning leaves. report: leaves every
    mesh out once.
    """
    target = None if output is None else _given.file(output, "output")
    if target is not None and not target.lower().endswith(b".glb"):
        raise ValueError(f"'{os.fsdecode(target)}' does not end in .glb, the kind that can be written here")
    table = None if poses is None else _given.file(poses, "poses")
    start = None if weights is None else _given.file(weights, "weights")
    joints = None if skeleton is None else _given.file(skeleton, "skeleton")
    most = 0 if bones is None else _given.whole(bones, "bones", 1, _abi.EX_ARTICULATE_BONES)
    _given.word(up, "up", ("y", "z")), _given.flag(layers, "layers"), _given.flag(report, "report")
    if unit is not None:
        _given.word(unit, "unit", tuple(UNITS))
    if joints is not None and start is None:
        raise ValueError("skeleton goes with weights")
    if bones is not None and start is not None:
        raise ValueError("bones are found without weights: leave one of the two out")
    with tempfile.TemporaryDirectory(prefix="exemplar-") as folder:
        paths = _written(meshes, faces, folder)
        names = (ctypes.c_char_p * len(paths))(*paths)
        made = ctypes.POINTER(_abi.ex_registered_set)()
        checked(author.ex_registered_set_read, ctypes.addressof(names), len(paths), start, joints, ctypes.byref(made))
    held = Handle(made, author.ex_registered_set_destroy)
    inside = held.pointer.contents
    metres = UNITS[unit] if unit is not None else _guess_unit(author.ex_mesh_size(inside.mesh))
    _to_metres(inside, metres, up == "z")
    definition = author.ex_registered_set_def(held.pointer)
    definition.bone_count = most
    with tasks(threads) as hooks, Progress(progress) as work:
        definition.progress, definition.tasks = work.pointer, hooks
        return _articulated(inside, definition, layers, report, target, table, metres)


def _written(meshes, faces, folder):
    """Paths of the meshes; those that are no files are written."""
    if isinstance(meshes, numpy.ndarray) or faces is not None:
        forms = take(meshes, "f8", (None, None, 3), "meshes")
        if faces is None:
            raise ValueError("meshes as an array need faces")
        first = Mesh(forms[0], faces) if len(forms) else None
        meshes = []
        for form in forms:
            mesh = first.copy()
            mesh.vertices = form
            meshes.append(mesh)
    elif _given.is_path(meshes) or not isinstance(meshes, Sequence):
        raise TypeError("meshes must be a list of paths or Meshes, or positions (N, V, 3) with faces")
    if len(meshes) < 2:
        raise ValueError("one mesh in one pose is no motion: give two meshes or more")
    paths = []
    for i, mesh in enumerate(meshes):
        if _given.is_path(mesh):
            paths.append(_given.file(mesh, "meshes"))
            continue
        held = mesh_of(mesh, "meshes")._to_c()
        paths.append(os.path.join(os.fsencode(folder), b"form_%d.obj" % (i + 1)))
        checked(author.ex_obj_write, paths[-1], held.pointer)
    return paths


def _guess_unit(size):
    """A person's diagonal is 1 to 4 metres."""
    return 0.01 if 100 <= size < 400 else 0.001 if 1000 <= size < 4000 else 1.0


def _to_metres(inside, metres, z_up):
    count = inside.mesh.contents.vertex_count
    for at in (ctypes.c_void_p * inside.form_count).from_address(inside.forms):
        form = numpy.frombuffer((ctypes.c_double * (3 * count)).from_address(at), dtype="f8").reshape(-1, 3)
        if z_up:
            y = form[:, 1].copy()
            form[:, 1] = form[:, 2]
            form[:, 2] = -y
        form *= metres


def _articulated(inside, definition, layers, report, target, table, metres):
    made = ctypes.POINTER(_abi.ex_articulated)()
    checked(author.ex_articulate, ctypes.byref(definition), ctypes.byref(made))
    body, found, left = Handle(made, author.ex_articulated_destroy), None, None
    if layers:
        list_of = ctypes.POINTER(_abi.ex_articulated_layers)()
        checked(author.ex_articulated_find_layers, ctypes.byref(definition), body.pointer, ctypes.byref(list_of))
        found = Handle(list_of, author.ex_articulated_layers_destroy)
    with _given.owned(runtime.ex_rig_destroy) as rig:
        checked(author.ex_articulated_rig, ctypes.byref(definition), body.pointer, found.pointer if found else None,
                ctypes.byref(rig))
        if report and body.pointer.contents.form_count > 2:
            outs = ctypes.POINTER(_abi.ex_left_outs)()
            checked(author.ex_articulate_leave_out, ctypes.byref(definition), body.pointer, ctypes.byref(outs))
            left = Handle(outs, author.ex_left_outs_destroy)
        if target is not None:
            checked(author.ex_rig_write, target, rig)
        whole = Rig._own(rig)
    result = _describe(inside, body.pointer.contents, found.pointer.contents if found else None,
                       left.pointer.contents if left else None, metres)
    result.rig = whole
    if table is not None:
        _write_poses(table, result)
    return result


def _describe(inside, body, layers, left, metres):
    kinematics, count = Kinematics._of(body.kinematics), body.form_count
    joints = [joint.name for joint in kinematics.joints]
    translations, rotations = poses_of(body.poses, count, len(joints))
    rows = []
    for i in range(layers.count if layers else 0):
        one = layers.layers[i]
        axes = copied(one.axes, "i4", (one.axis_count,)).tolist()
        rows.append({"name": joints[one.joint], "space": [joints[axis] for axis in axes], "falloff": one.falloff,
                     "ridge": one.ridge, "gain": 1 - one.after / one.before})
    fields = ("rms", "high", "skinned_rms", "skinned_high", "one_rms", "one_high")
    result = Articulated(rig=None, kinematics=kinematics, names=_given.texts(inside.names, inside.form_count),
                         translations=translations, rotations=rotations, form_rms=copied(body.rms, "f8", (count,)),
                         form_high=copied(body.high, "f8", (count,)), rms=body.all_rms,
                         open=[name for name, is_open in zip(joints, copied(body.open, "?", (len(joints),)))
                               if is_open],
                         layers=rows, rounds=body.round_count, unit=metres, seconds=body.seconds, left_out=None,
                         left_out_rms=None, ratio=None)
    if left is not None:
        result.left_out = [{field: getattr(left.forms[i], field) for field in fields} for i in range(count)]
        result.left_out_rms, result.ratio = left.all.rms, left.all.rms / left.all.one_rms
    return result


def _write_poses(path, result):
    """A table of poses: the rotation of every joint from its rest, as the tool writes it."""
    header = ",".join(f"joint:{joint.name}.{part}" for joint in result.kinematics.joints for part in "xyzw")
    buffer, lines = ctypes.create_string_buffer(32), [header]
    for row in result.rotations.reshape(len(result.rotations), -1).astype(numpy.float32):
        texts = []
        for value in row.tolist():
            author.ex_format_float(buffer, value)
            texts.append(buffer.value.decode())
        lines.append(",".join(texts))
    _given.write_text(path, "\n".join(lines) + "\n")
