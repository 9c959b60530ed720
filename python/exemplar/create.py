"""Rigs from arrays.

>>> size = exemplar.layer("size", {"width": (0, 1)}, points=[[0], [1]], forms=[vertices, wide])
>>> rig = exemplar.Rig(vertices, faces, layers=[size])
>>> rig.save("size.glb")
"""
from __future__ import annotations

import ctypes
import json
import struct as _struct
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._evaluate import LIMIT
from ._given import text, whole
from ._library import Handle, author, checked, runtime, text_of
from ._polygons import Polygons, faces_of, texcoords_of, vertices_of
from ._work import Progress, tasks, thread_count
from .parts import Skeleton
from .subdivision import SCHEMES, Subdivision, definition
from .weigher import Weigher, _number

_DOMAINS = {"positions": _abi.EX_DOMAIN_FORM, "pixels": _abi.EX_DOMAIN_PIXELS, "offsets": _abi.EX_DOMAIN_OFFSETS,
            "trajectory": _abi.EX_DOMAIN_TRAJECTORY, "displacement": _abi.EX_DOMAIN_DISPLACEMENT}
_KEYS = ("name", "axes", "points", "forms", "examples", "differences", "domain", "kind", "mask", "muted", "offsets",
         "frame", "moved", "images", "texture", "displacements", "shifts", "pseudos", "threads", "progress")
_AXIS_KEYS = ("min", "max", "rest", "unit", "clamp", "limit", "scale", "kind", "about", "joint", "reading", "metres")
_AXIS_KINDS = {"scalar": _abi.EX_AXIS_SCALAR, "rotation": _abi.EX_AXIS_ROTATION, "swing": _abi.EX_AXIS_SWING,
               "twist": _abi.EX_AXIS_TWIST}
_READINGS = {"angle": _abi.EX_READING_ANGLE, "rotation": _abi.EX_READING_ROTATION, "slide": _abi.EX_READING_SLIDE,
             "stretch": _abi.EX_READING_STRETCH}
_FRAMES = {"rest": _abi.EX_OFFSET_FRAME_REST, "skinned": _abi.EX_OFFSET_FRAME_SKINNED}


def layer(name: str, axes, points=None, forms=None, *, examples: typing.Optional[typing.Sequence[str]] = None,
          differences: bool = False, domain: str = "positions", kind: str = "cardinal", mask=None, muted: bool = False,
          offsets=None, frame: str = "rest", moved: bool = False, images=None, texture: str = "base_color",
          displacements=None, shifts=None, pseudos=(), threads: typing.Optional[int] = 1, progress=None,
          **parameters) -> dict:
    """A layer for Rig(layers=[…]), as a dict: such dicts can be written by hand too.

    axes: names, or a dict of names and (min, max), (min, max, rest) or a dict with min, max, rest, unit, clamp, limit
    ('hold', 'fade', 'extrapolate'), scale. Its kind 'rotation', 'swing' or 'twist' (with about, a direction) takes four
    numbers x y z w. joint: the name or number of the joint that the value is read from, then about: the direction that
    it turns about, and reading: 'angle' in degrees, 'slide' in units of `metres`, 'stretch'.

    points: (examples, numbers) the places of the examples; not for kind 'direct', whose axes are the weights. examples:
    their names. kind: of the weigher; parameters: of that kind, such as radius, overshoot, power. pseudos: a
    list of Pseudo, or of dicts with 'at' and either 'from', a point whose weights it takes, or 'weights'.

    domain 'positions': forms (examples, V, 3), in metres; differences: True if they are differences from the mesh.
    'trajectory': the same, followed along paths that keep their form. 'offsets': the same, of which only what moves is
    stored, or offsets: a list of (vertices, differences); frame 'skinned' turns them with the skin; moved: True to
    weigh a vertex only among the examples that move it (kind 'gaussian'). 'pixels': images (examples, H, W, 4) of
    bytes, and the texture's name. 'displacement': displacements (examples, vertices of the last level) in metres, for
    rigs with limit='all'.

    mask: (V,) from 0 to 1, multiplied into the examples. muted: left out unless evaluate(muted=…) says otherwise.
    shifts: (examples, J, 3), the joints' positions in each example minus those of the skeleton. threads, progress: for
    finding trajectories.
    """
    made = {key: value for key, value in locals().items() if key in _KEYS}
    return {**made, **parameters}


class _Keep(list):
    """Objects that must live until the rig is made."""

    def array(self, values):
        self.append(values)
        return address(values)

    def names(self, words):
        made = (ctypes.c_char_p * max(1, len(words)))(*words)
        self.append(made)
        return ctypes.addressof(made)

    def pointers(self, addresses):
        made = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        self.append(made)
        return ctypes.addressof(made)


def _names(values, count, name, each):
    if values is None:
        return [f"{each} {i + 1}".encode() for i in range(count)]
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of names")
    words = [text(value, name) for value in values]
    if len(words) != count:
        raise ValueError(f"{name}: there are {len(words)} names for {count}")
    return words


class _Layer:
    """One layer's definition, from a caller's dict."""

    def __init__(self, given, index, keep, rig):
        if not isinstance(given, dict):
            raise TypeError(f"layers[{index}] must be a dict, as exemplar.layer makes")
        for key in given:
            if not isinstance(key, str):
                raise TypeError(f"layers[{index}]: the key {key!r} is no text")
        self.keep, self.rig, self.where = keep, rig, f"layers[{index}]"
        self.given = {key: given[key] for key in given if key in _KEYS}
        self.parameters = {key: given[key] for key in given if key not in _KEYS}
        self.made = _abi.ex_layer_def()
        self.made.weigh = runtime.ex_weigher_def_default()
        self.made.name = text(self.get("name", f"layer {index + 1}"), f"{self.where}: name")
        self.where = f"layer '{self.made.name.decode()}'"
        self._set_domain()
        self._set_kind()
        self._set_examples()
        self._set_axes()
        self._set_forms()
        self._set_pseudo()
        self.made.muted = bool(self.get("muted", False))
        if self.get("mask") is not None:
            count = self.rig.last if self.domain == "displacement" else self.rig.count
            self.made.mask = keep.array(take(self.get("mask"), "f4", (count,), f"{self.where}: mask"))

    def get(self, key, usual=None):
        value = self.given.get(key)
        return usual if value is None else value

    def _choice(self, key, words, usual):
        value = self.get(key, usual)
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"{self.where}: {key} is {value!r}; it must be {', '.join(repr(each) for each in words)}")
        return value

    def _set_domain(self):
        keys = (("pixels", "images"), ("offsets", "offsets"), ("displacement", "displacements"))
        usual = next((name for name, key in keys if self.get(key) is not None), "positions")
        if self.given.get("domain", "positions") == "positions":
            self.given["domain"] = usual
        self.domain = self._choice("domain", _DOMAINS, usual)
        self.made.domain = _DOMAINS[self.domain]

    def _set_kind(self):
        kinds = {text_of(runtime.ex_weigher_kind_name(k)): k for k in range(runtime.ex_weigher_kind_count())}
        kinds = {name: k for name, k in kinds.items() if not runtime.ex_weigher_kind_info(k).contents.is_driven}
        self.kind = self._choice("kind", kinds, "cardinal")
        self.made.weigh.kind = kinds[self.kind]
        Weigher._set(self.made.weigh, self.kind, self.parameters)

    def _rows(self):
        """What has a row for each example."""
        for key in ("images", "offsets", "displacements", "forms"):
            if self.get(key) is not None:
                if not hasattr(self.given[key], "__len__"):
                    raise TypeError(f"{self.where}: {key} must have an entry for each example")
                return key, len(self.given[key])
        raise ValueError(f"{self.where} has no forms")

    def _set_examples(self):
        self.source, self.examples = self._rows()
        if not 1 <= self.examples <= _abi.EX_POINT_MAX:
            raise ValueError(f"{self.where}: there are {self.examples} examples; a layer has 1 to {_abi.EX_POINT_MAX}")
        self.names = _names(self.get("examples"), self.examples, f"{self.where}: examples", "example")
        self.made.weigh.example_count = self.examples
        self.made.example_names = self.keep.names(self.names)

    def _set_axes(self):
        axes = self.get("axes")
        if axes is None or isinstance(axes, (str, bytes)) or not hasattr(axes, "__iter__"):
            raise TypeError(f"{self.where}: axes must be a list of names, or a dict of names and ranges")
        items = list(axes.items()) if isinstance(axes, dict) else [(name, None) for name in axes]
        if not items:
            raise ValueError(f"{self.where} needs an axis")
        words = [text(name, f"{self.where}: the name of an axis") for name, _ in items]
        details = [self._detail(name, value) for name, value in items]
        widths = [1 if detail["kind"] == "scalar" else 4 for detail in details]
        points = None
        if runtime.ex_weigher_kind_info(self.made.weigh.kind).contents.has_points:
            points = self._points(sum(widths))
            self.made.weigh.points = self.keep.array(points)
        elif self.get("points") is not None:
            raise ValueError(f"{self.where}: the kind '{self.kind}' has no points: its axes are the weights")
        elif len(items) != self.examples:
            raise ValueError(f"{self.where}: the kind '{self.kind}' needs an axis for each of {self.examples} examples")
        made = (_abi.ex_axis * len(items))()
        sources, units, column = (_abi.ex_axis_source * len(items))(), [], 0
        for i, (detail, width) in enumerate(zip(details, widths)):
            place = f"{self.where}: axis '{items[i][0]}'"
            made[i] = self._axis(detail, None if points is None or width > 1 else points[:, column], place)
            sources[i] = self._reading(detail, made[i], place)
            unit = detail.get("unit")
            units.append(text(unit, f"{place}: unit") if unit else None)
            column += width
        self.keep += [made, sources]
        self.made.weigh.axes, self.made.weigh.axis_count = made, len(items)
        self.made.axis_names, self.made.axis_units = self.keep.names(words), self.keep.names(units)
        self.made.sources = sources
        self.dimension = sum(widths)

    def _points(self, width):
        given = self.get("points")
        if given is None:
            raise ValueError(f"{self.where} needs points, the places of its examples")
        if width == 1 and numpy.ndim(given) == 1:
            given = numpy.asarray(given)[:, None]
        return take(given, "f8", (self.examples, width), f"{self.where}: points")

    def _detail(self, name, value):
        place = f"{self.where}: axis '{name}'"
        if value is None:
            value = {}
        elif not isinstance(value, dict):
            ends = take(value, "f8", (None,), place)
            if len(ends) not in (2, 3):
                raise ValueError(f"{place}: give (min, max) or (min, max, rest)")
            value = dict(zip(("min", "max", "rest"), ends))
        unknown = [key for key in value if key not in _AXIS_KEYS]
        if unknown:
            raise KeyError(f"{place} has '{unknown[0]}'; there are {', '.join(_AXIS_KEYS)}")
        value = {"kind": "scalar", **value}
        if not isinstance(value["kind"], str) or value["kind"] not in _AXIS_KINDS:
            raise ValueError(f"{place}: its kind must be {', '.join(repr(each) for each in _AXIS_KINDS)}")
        return value

    def _about(self, detail, place):
        about = take(detail.get("about", (0, 1, 0)), "f8", (3,), f"{place}: about")
        if not numpy.isfinite(about).all() or not about.any():
            raise ValueError(f"{place}: about must be a direction")
        return about

    def _axis(self, detail, column, place):
        if detail["kind"] != "scalar":
            about = self._about(detail, place)
            axis = runtime.ex_axis_rotation(_AXIS_KINDS[detail["kind"]], address(about))
            rest = take(detail.get("rest", (0, 0, 0, 1)), "f8", (4,), f"{place}: rest")
            axis.rest_rotation[:] = rest
        else:
            low, high = detail.get("min"), detail.get("max")
            finite = column[numpy.isfinite(column)] if column is not None else numpy.zeros(0)
            low = _number(low, f"{place}: min") if low is not None else float(finite.min()) if finite.size else 0.0
            high = _number(high, f"{place}: max") if high is not None else float(finite.max()) if finite.size else 1.0
            if high == low and detail.get("max") is None:
                high = low + 1
            rest = detail.get("rest")
            axis = runtime.ex_axis_scalar(low, high, min(max(0.0, low), high) if rest is None else
                                          _number(rest, f"{place}: rest"))
            axis.clamp = bool(detail.get("clamp", False))
        axis.scale = _number(detail.get("scale") or 0, f"{place}: scale")
        limits = {text_of(runtime.ex_limit_name(i)): i for i in range(_abi.EX_LIMIT_COUNT)}
        limit = detail.get("limit") or "kind"
        if not isinstance(limit, str) or limit not in limits:
            raise ValueError(f"{place}: limit is {limit!r}; it must be {', '.join(repr(each) for each in limits)}")
        axis.limit = limits[limit]
        return axis

    def _reading(self, detail, axis, place):
        source = _abi.ex_axis_source(joint=-1)
        if detail.get("joint") is None:
            return source
        skeleton = self.rig.skeleton
        if skeleton is None:
            raise ValueError(f"{place} is read from a joint, but the rig has no skeleton")
        joint = detail["joint"]
        source.joint = skeleton.index(joint) if isinstance(joint, str) else whole(joint, f"{place}: joint", 0,
                                                                                 len(skeleton) - 1)
        reading = detail.get("reading") or ("angle" if detail["kind"] == "scalar" else "rotation")
        if not isinstance(reading, str) or reading not in _READINGS:
            words = ", ".join(repr(each) for each in _READINGS)
            raise ValueError(f"{place}: reading is {reading!r}; it must be {words}")
        source.reading.kind = _READINGS[reading]
        source.reading.about[:] = self._about(detail, place)
        source.reading.middle = (axis.min + axis.max) / 2 if reading == "angle" else 0
        source.reading.unit = _number(detail.get("metres") or 0, f"{place}: metres")
        source.reading.part = axis.kind
        return source

    def _forms(self):
        """(E, V, 3) differences from the mesh."""
        rows = take(self.get("forms"), "f8", (self.examples, self.rig.count, 3), f"{self.where}: forms")
        made = rows if self.get("differences", False) else rows - self.rig.vertices
        bad = numpy.flatnonzero(~numpy.isfinite(made).all((1, 2)))
        if bad.size:
            raise ValueError(f"{self.where}: example '{self.names[bad[0]].decode()}' has numbers that are not finite")
        return numpy.ascontiguousarray(made, dtype=numpy.float32)

    def _rows_of(self, array):
        self.keep.append(array)
        return self.keep.pointers([address(array) + i * array.strides[0] for i in range(len(array))])

    def _set_forms(self):
        if self.domain == "pixels":
            self._set_pixels()
        elif self.domain == "offsets":
            self._set_offsets()
        elif self.domain == "displacement":
            rows = take(self.get("displacements"), "f4", (self.examples, self.rig.last), f"{self.where}: displacements")
            if not self.rig.levels:
                raise ValueError(f"{self.where}: displacements need a refined surface: subdivide=…, limit='all'")
            self.made.displacement.maps = self._rows_of(rows)
        else:
            deltas = self._forms()
            self.made.form.deltas = self._rows_of(deltas)
            if self.domain == "trajectory":
                self._find_paths(deltas)
        if self.get("shifts") is not None:
            if self.rig.skeleton is None:
                raise ValueError(f"{self.where} has shifts, but the rig has no skeleton")
            rows = take(self.get("shifts"), "f4", (self.examples, len(self.rig.skeleton), 3), f"{self.where}: shifts")
            self.made.form.shifts = self._rows_of(rows)

    def _set_pixels(self):
        images = self.get("images")
        if images is None:
            raise ValueError(f"{self.where} has no images")
        images = take(images, "u1", (self.examples, None, None, 4), f"{self.where}: images")
        if not images.size:
            raise ValueError(f"{self.where}: its images have no pixels")
        self.made.pixels.texture = text(self.get("texture", "base_color"), f"{self.where}: texture")
        self.made.pixels.height, self.made.pixels.width = images.shape[1:3]
        self.made.pixels.images = self._rows_of(images)

    def _set_offsets(self):
        made = (_abi.ex_offsets * self.examples)()
        if self.source == "forms":
            deltas = self._forms()
            rows = [(numpy.flatnonzero(delta.any(1)), delta) for delta in deltas]
            rows = [(numbers, delta[numbers]) for numbers, delta in rows]
        else:
            rows = list(self.get("offsets"))
        for i, row in enumerate(rows):
            place = f"{self.where}: offsets[{i}]"
            if not isinstance(row, (list, tuple)) or len(row) != 2:
                raise TypeError(f"{place} must be a pair: vertices, and differences (n, 3)")
            numbers = take(row[0], "u4", (None,), f"{place}: vertices")
            values = take(row[1], "f4", (len(numbers), 3), f"{place}: differences")
            if numbers.size and int(numbers.max()) >= self.rig.count:
                raise ValueError(f"{place}: vertices must be 0 to {self.rig.count - 1}")
            order = numpy.argsort(numbers, kind="stable")
            numbers, values = numbers[order], numpy.ascontiguousarray(values[order])
            if (numpy.diff(numbers.astype(numpy.int64)) == 0).any():
                raise ValueError(f"{place}: a vertex appears twice")
            if not numpy.isfinite(values).all():
                raise ValueError(f"{place} has numbers that are not finite")
            made[i].count, made[i].vertices = len(numbers), self.keep.array(numpy.ascontiguousarray(numbers))
            made[i].deltas = self.keep.array(values)
        self.keep.append(made)
        self.made.offsets.examples = made
        self.made.offsets.frame = _FRAMES[self._choice("frame", _FRAMES, "rest")]
        self.made.offsets.moved = bool(self.get("moved", False))

    def _find_paths(self, deltas):
        still = [k for k in range(self.examples) if not deltas[k].any()]
        reference = still[0] if still and self.kind != "direct" else -1
        forms = deltas.astype(numpy.float64) + self.rig.vertices
        mesh = numpy.ascontiguousarray(self.rig.vertices)
        triangles = self.rig.triangles()
        made = _abi.ex_trajectories_def(vertex_count=self.rig.count, triangle_count=len(triangles),
                                        triangles=self.keep.array(triangles), reference=self.keep.array(mesh),
                                        example_count=self.examples)
        made.examples = self.keep.pointers([None if k == reference else address(forms) + k * forms.strides[0]
                                            for k in range(self.examples)])
        made.names, made.options = self.keep.names(self.names), author.ex_trajectory_options_default()
        self.keep.append(forms)
        found = ctypes.POINTER(_abi.ex_trajectories)()
        with tasks(thread_count(self.given.get("threads", 1))) as hook, Progress(self.get("progress")) as progress:
            if hook:
                made.tasks = hook
            made.progress = progress.pointer
            try:
                checked(author.ex_trajectories_create, made, ctypes.byref(found))
            except Exception:
                if progress._raised is None:
                    raise
        self.keep.append(Handle(found, author.ex_trajectories_destroy))
        paths, target = found.contents, self.made.trajectory
        target.examples, target.reference = paths.trajectories, reference
        target.centre[:], target.overlaps = paths.centre, paths.overlaps
        target.segments, target.mixture = paths.segments, paths.mixture

    def _set_pseudo(self):
        kept, listed = Weigher._take_pseudos(self.get("pseudos", ()), self.dimension, self.examples, f"{self.where}: ")
        self.keep += [kept, listed]
        if kept:
            self.made.weigh.pseudos, self.made.weigh.pseudo_count = listed, len(kept)


def _split(vertex_count, corners, texcoords, corner_texcoords):
    """Split vertices: sources (S,), texture coordinates (S, 2) with the origin at the top left or None, and the split
    vertex of each corner."""
    if texcoords is None:
        return numpy.arange(vertex_count, dtype=numpy.uint32), None, corners.astype(numpy.uint32)
    places = texcoords.astype(numpy.float32)
    _, first, number = numpy.unique(places, axis=0, return_index=True, return_inverse=True)
    look = number.reshape(-1)[corner_texcoords]  # equal coordinates are one
    pairs = corners.astype(numpy.int64) * len(first) + look
    bare = numpy.setdiff1d(numpy.arange(vertex_count, dtype=numpy.int64), corners)
    kept, inverse = numpy.unique(numpy.concatenate([pairs, bare * len(first)]), return_inverse=True)
    sources = (kept // len(first)).astype(numpy.uint32)
    shown = places[first[kept % len(first)]].copy()
    shown[:, 1] = 1 - shown[:, 1]
    return sources, numpy.ascontiguousarray(shown), inverse.reshape(-1)[:len(corners)].astype(numpy.uint32)


def _table(keep, vertex_count, offsets, corners, split, triangles):
    """ex_rig_mesh of faces, and triangles that are numbers of corners."""
    sources, texcoords, places = split
    made = _abi.ex_rig_mesh(vertex_count=vertex_count, split_count=len(sources), face_count=len(offsets) - 1,
                            corner_count=len(corners), triangle_count=len(triangles))
    made.split_source = keep.array(sources) if len(sources) != vertex_count else None
    made.texcoords = keep.array(texcoords) if texcoords is not None else None
    made.face_sizes = keep.array(numpy.diff(offsets).astype(numpy.uint32))
    made.corners = keep.array(places)
    made.triangles = keep.array(numpy.ascontiguousarray(places[triangles]))
    return made


def _smooth(vertices, offsets, corners):
    """(V, 3) normals by angle; up where there is none."""
    made = ctypes.c_void_p()
    wanted = _abi.ex_normals_def(vertex_count=len(vertices), face_count=len(offsets) - 1, face_offsets=address(offsets),
                                 corners=address(corners), weighting=_abi.EX_NORMAL_BY_ANGLE)
    checked(runtime.ex_normals_create, wanted, None, ctypes.byref(made))
    tables = Handle(made.value, runtime.ex_normals_destroy)
    scratch = numpy.empty(runtime.ex_normals_scratch_size(made) + 64, dtype=numpy.uint8)
    out = numpy.empty((len(vertices), 3), dtype=numpy.float32)
    runtime.ex_normals_compute(made, address(vertices), 0, address(out), 0, None, address(scratch))
    del tables
    out[~out.any(1)] = (0, 1, 0)
    return out


def _skin(skin, skeleton, vertex_count):
    """The skin of dense weights (V, J), or of a pair: joints (V, k) and weights (V, k)."""
    if skeleton is None:
        raise ValueError("skin needs a skeleton")
    joints_most = len(skeleton)
    if isinstance(skin, (tuple, list)) and len(skin) == 2:
        joints = take(skin[0], "i4", (vertex_count, None), "skin: joints")
        weights = take(skin[1], "f4", joints.shape, "skin: weights")
        if not joints.shape[1]:
            raise ValueError("skin: vertices have no joints")
        joints = numpy.where(weights == 0, 0, joints)
        if joints.size and (joints.min() < 0 or joints.max() >= joints_most):
            raise ValueError(f"skin: joints must be 0 to {joints_most - 1}")
        starts = numpy.arange(vertex_count + 1, dtype=numpy.int64) * joints.shape[1]
        if joints.shape[1] > _abi.EX_INFLUENCE_MAX:
            raise ValueError(f"skin: a vertex has at most {_abi.EX_INFLUENCE_MAX} joints")
    else:
        dense = take(skin, "f4", (vertex_count, joints_most), "skin")
        rows, joints = numpy.nonzero(dense)
        weights = dense[rows, joints]
        starts = numpy.searchsorted(rows, numpy.arange(vertex_count + 1))
    if not numpy.isfinite(weights).all():
        raise ValueError("skin: weights must be finite")
    starts, joints = starts.astype(numpy.uint32), numpy.ascontiguousarray(joints.reshape(-1), dtype=numpy.uint32)
    weights = numpy.ascontiguousarray(weights.reshape(-1))
    wanted = _abi.ex_skin_def(vertex_count=vertex_count, joint_count=joints_most, starts=address(starts),
                              joints=address(joints), weights=address(weights))
    made = ctypes.c_void_p()
    checked(runtime.ex_skin_create, wanted, None, ctypes.byref(made))
    return Handle(made.value, runtime.ex_skin_destroy)


class _Mesh:
    """The mesh of a rig in the making."""

    def __init__(self, vertices, faces, texcoords, corner_texcoords, skeleton):
        self.vertices, self.skeleton = vertices_of(vertices), skeleton
        self.floats = take(self.vertices, "f4", (None, 3), "vertices")
        if not numpy.isfinite(self.floats).all():
            raise ValueError("vertices: numbers are too large")
        self.count = len(self.vertices)
        self.offsets, self.corners = faces_of(faces, self.count)
        looks = texcoords_of(texcoords, corner_texcoords, self.count, self.corners)
        self.split = _split(self.count, self.corners, *looks)
        self.levels, self.last = 0, 0
        self._cut = None

    def cut(self):
        """(T, 3) numbers of corners."""
        if self._cut is None:
            self._cut = Polygons(self.vertices, self.offsets, self.corners).triangles()
        return self._cut

    def triangles(self):
        return numpy.ascontiguousarray(self.corners[self.cut()], dtype=numpy.int32)

    def refine(self, keep, levels, scheme, limit, creases):
        """ex_rig_mesh of each level, and the Subdivision."""
        texcoords, numbers = None, None
        if self.split[1] is not None:
            texcoords = self.split[1].astype(numpy.float64)
            texcoords[:, 1] = 1 - texcoords[:, 1]
            numbers = self.split[2].astype(numpy.int32)
        made = Subdivision.__new__(Subdivision)
        faces = [self.corners[a:b] for a, b in zip(self.offsets, self.offsets[1:])]
        made._made(self.vertices, faces, definition(levels, scheme, limit, "edges"), creases, None, texcoords, numbers)
        tables = (_abi.ex_rig_mesh * max(1, made.level_count))()
        for level in range(1, made.level_count + 1):
            refined = made._refined(level)
            offsets = copied(refined.face_offsets, "i4", (refined.face_count + 1,))
            corners = copied(refined.corners, "i4", (refined.corner_count,))
            split = _split(refined.vertex_count, corners, *(made.texcoords(level) or (None, None)))
            form = made.apply(self.floats, level)
            triangles = Polygons(form, offsets, corners).triangles()
            tables[level - 1] = _table(keep, refined.vertex_count, offsets, corners, split, triangles)
        self.levels, self.last = made.level_count, made.vertex_count(made.level_count)
        keep += [made, tables]
        return tables, made


def _notes(keep, notes):
    """ex_attachment for each of some kinds and bytes."""
    made = (_abi.ex_attachment * max(1, len(notes)))()
    for note, (kind, data) in zip(made, notes):
        memory = ctypes.create_string_buffer(data, len(data))
        note.kind, note.data, note.size = kind, ctypes.addressof(memory), len(data)
        keep.append(memory)
    keep.append(made)
    return made


def _tags(struct):
    """The tags of a mesh as a rig's note: whole numbers, doubles and texts one after the other (mesh/notes.c)."""
    parts = [_struct.pack("<i", struct.tag_count)]
    for tag in struct.tags[:struct.tag_count]:
        parts.append(_struct.pack("<i", len(tag.name)) + tag.name)
        ints, floats = copied(tag.ints, "<i4", (tag.int_count,)), copied(tag.floats, "<f8", (tag.float_count,))
        parts.append(_struct.pack("<i", tag.int_count) + ints.tobytes() + _struct.pack("<i", tag.float_count)
                     + floats.tobytes() + _struct.pack("<i", 0))
    return b"".join(parts)


def _parts(given, face_count, name):
    """Names and the part of each face as a rig's note, of a dict of names and faces (mesh/notes.c)."""
    if not isinstance(given, dict):
        raise TypeError(f"{name} must be a dict of names and faces")
    numbers = numpy.full(face_count, -1, dtype="<i4")
    words = [text(each, f"{name}: a name") for each in given]
    for i, (each, faces) in enumerate(given.items()):
        chosen = take(faces, "i4", (None,), f"{name}: '{each}'")
        if chosen.size and (chosen.min() < 0 or chosen.max() >= face_count):
            raise ValueError(f"{name}: faces of '{each}' must be 0 to {face_count - 1}")
        if (numbers[chosen] >= 0).any():
            raise ValueError(f"{name}: a face of '{each}' has another name already")
        numbers[chosen] = i
    names = b"".join(_struct.pack("<i", len(each)) + each for each in words)
    return _struct.pack("<i", len(words)) + names + numbers.tobytes()


def create(vertices, faces, layers, *, groups, materials, skeleton, skin, skinning, texcoords, corner_texcoords,
           subdivide, scheme, limit, creases, level, options):
    """The handle of a new rig; see exemplar.Rig."""
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        raise TypeError("skeleton must be an exemplar.Skeleton")
    if not isinstance(skinning, str) or skinning not in ("linear", "dual_quaternion"):
        raise ValueError(f"skinning is {skinning!r}; it must be 'linear' or 'dual_quaternion'")
    if isinstance(layers, (dict, str, bytes)) or not hasattr(layers, "__iter__"):
        raise TypeError("layers must be a list of layers")
    keep, wanted = _Keep(), runtime.ex_rig_def_default()
    mesh = _Mesh(vertices, faces, texcoords, corner_texcoords, skeleton)
    wanted.mesh = _table(keep, mesh.count, mesh.offsets, mesh.corners, mesh.split, mesh.cut())
    wanted.mesh.positions = keep.array(mesh.floats)
    if len(mesh.corners):
        normals = _smooth(mesh.floats, mesh.offsets, mesh.corners)
        wanted.mesh.normals = keep.array(numpy.ascontiguousarray(normals[mesh.split[0]]))
    subdivide, notes = whole(subdivide, "subdivide", 0, _abi.EX_SUBDIVIDE_LEVELS), []
    if groups:
        notes.append((b"groups", _parts(groups, len(mesh.offsets) - 1, "groups")))
    if materials:
        notes.append((b"materials", _struct.pack("<ii", 0, 1) + _parts(materials, len(mesh.offsets) - 1, "materials")))
    if subdivide or limit:
        tables, made = mesh.refine(keep, subdivide, scheme, limit, creases)
        wanted.stencils, wanted.levels = made._stencils, tables
        wanted.level = LIMIT if limit else subdivide
        rules = json.dumps({"scheme": {"catmull-clark": "catmull_clark"}.get(scheme, scheme), "levels": subdivide,
                            "limit": "all" if limit == "all" else bool(limit), "boundary": "edges"}).encode()
        if made._polygons.struct.tag_count:
            notes.append((b"tags", _tags(made._polygons.struct)))
        notes.append((b"subdivide", rules))
    elif not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme is {scheme!r}; it must be {', '.join(repr(name) for name in SCHEMES)}")
    elif creases is not None:
        raise ValueError("creases need subdivide")
    wanted.notes, wanted.note_count = _notes(keep, notes), len(notes)
    if level is not None:
        wanted.level = LIMIT if isinstance(level, str) and level == "limit" else \
            whole(level, "level", LIMIT, _abi.EX_SUBDIVIDE_LEVELS)
    if skeleton is not None:
        handle = skeleton._make()
        keep.append(handle)
        wanted.skeleton = handle.pointer
    if skin is not None:
        handle = _skin(skin, skeleton, mesh.count)
        keep.append(handle)
        wanted.skin = handle.pointer
    wanted.skinning = _abi.EX_SKINNING_LINEAR if skinning == "linear" else _abi.EX_SKINNING_DUAL_QUATERNION
    definitions = [_Layer(given, i, keep, mesh) for i, given in enumerate(layers)]
    table = (_abi.ex_layer_def * max(1, len(definitions)))(*(one.made for one in definitions))
    keep.append(table)
    wanted.layers, wanted.layer_count, wanted.options = table, len(definitions), options
    made = ctypes.c_void_p()
    checked(runtime.ex_rig_create, wanted, None, ctypes.byref(made))
    return Handle(made.value, runtime.ex_rig_destroy)
