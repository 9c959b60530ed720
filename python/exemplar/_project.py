"""Parts of projects: reports, locks, versions, and structs of the library."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import threading
from typing import Mapping, Optional

import numpy

from . import _abi, _given
from ._arrays import address, copied, take
from ._given import Notes, Report
from ._library import Handle, author, checked, runtime, text_of

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None


class Finding(Report):
    """One finding of a check.

    severity: 'error' (it does not build, or into something wrong), 'warning' or 'note' (a measurement). kind: a word,
    such as 'close_examples'. where: the place in the project's data, 'layers[0].examples[3]'. text: a sentence. value:
    the number in it, or 0. remedy: 'calm' if Project.calm for its layer was tried and helps, else None. pose: {axis:
    value} in words, or None.
    """
    severity: str
    kind: str
    where: str
    text: str
    value: float
    remedy: Optional[str]
    pose: Optional[str]
    layer: Optional[str]
    example: Optional[str]

    def __repr__(self):
        return f"<exemplar.Finding {self.severity} {self.kind}{' at ' + self.where if self.where else ''}: {self.text}>"

    def __str__(self):
        return f"{self.where}{': ' if self.where else ''}{self.text}"


class Sculpted(Report):
    """What adding a sculpt did. layer, example: names. new_layer: True if the layer was made for it. reordered: True if
    its vertices were in another order. moved: vertices that it moves, and largest: how far at most, in metres. damped:
    vertices that cannot be restored. error: the largest distance from the sculpt at its pose through all layers, in
    metres, and farthest: that vertex. lost: None, or (layer, example, metres) of the example that changed most at its
    own pose; lost_count: how many did. notes: sentences."""


class Mirrored(Sculpted):
    """As Sculpted, with the plane (normal (3,), offset in metres), matched {way: vertices}, and
    counterpart_distance."""


class Damped(Report):
    """Vertices of an example that un-posing cannot restore: layer, example, vertices (N,), residuals (N,) in metres."""


class Version(Report):
    """A saved version: what (the change), and time ('2026-03-01T12:30:00Z')."""


class ProjectExample(Report):
    """An example: name, file (of its mesh, image or map, or None), at {axis: value}, muted."""


class ProjectLayer(Report):
    """A layer: name, shape ('positions', 'offsets' …), kind of its weigher, muted, axes (names), examples, and
    pseudo_count."""


def _plain(value):
    """What json cannot write by itself."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"the data of a project cannot hold a {type(value).__name__}")


def dumped(data):
    if not isinstance(data, Mapping):
        raise TypeError(f"the data of a project must be a dictionary, not {type(data).__name__}")
    try:
        return json.dumps(data, default=_plain, allow_nan=False, indent=2).encode()
    except RecursionError:
        raise ValueError("the data of a project contain themselves, or are nested too deep") from None
    except ValueError as error:
        if "Circular" in str(error):
            raise ValueError("the data of a project contain themselves") from None
        raise ValueError("the data of a project have a number that is not finite") from None


_held = threading.local()


@contextlib.contextmanager
def locked(folder):
    """One process at a time changes the projects of a folder; the tool waits for the same lock."""
    lock, where = None, os.path.realpath(folder)
    held = _held.__dict__.setdefault("folders", set())  # of this thread
    if where in held:
        raise RuntimeError("a progress function cannot change a project in the folder that is being changed")
    held.add(where)
    try:
        if fcntl:
            try:
                lock = os.open(where, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) |
                               getattr(os, "O_CLOEXEC", 0))
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError:
                pass  # no such folder, or no locks there: what is written is still compared with what was read
        yield
    finally:
        held.discard(where)
        if lock is not None:
            os.close(lock)


class Building:
    """The options of a build, and what it reports."""

    def __init__(self, progress, hooks, kept=None, rig=None):
        self.notes, self.damped = Notes(), []
        kind = dict(_abi.ex_damped_report._fields_)["report"]
        self._report = _abi.ex_damped_report(report=kind(self._on_damped))
        self.options = _abi.ex_build_options(progress=progress.pointer, damped=ctypes.pointer(self._report),
                                             note=self.notes.call, tasks=hooks, kept_paths=kept)
        if rig is not None:
            self.options.rig = rig

    def _on_damped(self, _user, layer, example, found, count):
        table = copied(found, numpy.dtype([("vertex", "i4"), ("stretch", "f4"), ("residual", "f4")]), (count,))
        self.damped.append((layer, example, table["vertex"].copy(), table["residual"].copy()))


def mesh_of(pointer):
    return ctypes.cast(pointer, ctypes.POINTER(_abi.ex_mesh))


def scene_of(pointer):
    return ctypes.cast(pointer, ctypes.POINTER(_abi.ex_scene))


def version_of(version):
    return Version(what=text_of(version.what), time=text_of(version.time))


def reference(layer, name):
    return _abi.ex_example_ref(_given.text(layer, "layer", optional=True), _given.text(name, "name"))


def side(word):
    sides = {"l": _abi.EX_SIDE_LEFT, "left": _abi.EX_SIDE_LEFT, "r": _abi.EX_SIDE_RIGHT, "right": _abi.EX_SIDE_RIGHT}
    return sides.get(word.lower() if isinstance(word, str) else None, _abi.EX_SIDE_NONE)


def layer_of(layer):
    axes = [(text_of(layer.axes[a].name), layer.axes[a].axis) for a in range(layer.axis_count)]

    def place(at):
        values, offset = {}, 0
        for name, axis in axes if at else []:
            width = 0 if axis.kind == _abi.EX_AXIS_DRIVER else runtime.ex_axis_width(ctypes.byref(axis))
            numbers = copied(at + 8 * offset, "f8", (width,)).tolist()
            offset += width
            if width:
                values[name] = numbers[0] if width == 1 else tuple(numbers)
        return values

    def example(one, muted):
        return ProjectExample(name=text_of(one.name), file=text_of(one.mesh or one.image or one.map) or None,
                              at=place(one.at), muted=muted)

    found = [(layer.examples[k].place, example(layer.examples[k], False)) for k in range(layer.example_count)]
    found += [(layer.muted_examples[k].place, example(layer.muted_examples[k], True)) for k in range(layer.muted_count)]
    return ProjectLayer(name=text_of(layer.name), shape=text_of(author.ex_project_layer_shape(ctypes.byref(layer))),
                        kind=text_of(runtime.ex_weigher_kind_name(layer.weigh.kind)), muted=layer.muted,
                        axes=[name for name, _axis in axes],
                        examples=[one for _place, one in sorted(found, key=lambda f: f[0])],
                        pseudo_count=layer.pseudo_count)


def named(view):
    """The files that a project names, relative to it."""
    driver = view.driver
    yield from filter(None, (view.mesh, view.skeleton, driver.mesh, driver.bind))
    for i in range(view.layer_count):
        layer = view.layers[i]
        masks = [layer.mask, layer.driver_weights]
        for r in range(layer.region_count):
            masks += [layer.regions[r].look, layer.regions[r].mask]
        yield from (mask.source for mask in masks if mask.kind == _abi.EX_MASK_FILE and mask.source)
        if layer.trajectory.segments:
            yield layer.trajectory.segments
        for examples, count in ((layer.examples, layer.example_count), (layer.muted_examples, layer.muted_count)):
            for k in range(count):
                one = examples[k]
                yield from filter(None, (one.mesh, one.sculpt, one.driver, one.image, one.map, one.skeleton))


def named_in(path, text):
    """The files of a project that is about to be replaced, inside its folder. One that cannot be read names none."""
    made = ctypes.c_void_p()
    if text is None or author.ex_project_parse(text, len(text), path, ctypes.byref(made), None) != _abi.EX_OK:
        return []
    held = Handle(made.value, author.ex_project_destroy)
    names = dict.fromkeys(named(author.ex_project_get(held.pointer).contents))
    return [name for name in names if not name.startswith((b"/", b"../")) and b"/../" not in name]


@contextlib.contextmanager
def kept_version(path, what, old, files):
    """Around a change of a project's file: its old content becomes a version to undo."""
    if old is None:
        yield
        return
    memory = ctypes.create_string_buffer(old, len(old) + 1)
    names = (ctypes.c_char_p * max(len(files), 1))(*files)
    change = _abi.ex_history_change(path=path, what=what, bytes=ctypes.addressof(memory), size=len(old),
                                    files=ctypes.addressof(names), file_count=len(files))
    kept = ctypes.c_void_p()
    checked(author.ex_history_keep, ctypes.byref(change), ctypes.byref(kept))
    try:
        yield
    except BaseException:
        author.ex_history_abandon(kept)
        raise
    author.ex_history_commit(kept)


class Forms:
    """The mesh at rest and its shapes, as ex_init_forms: forms are (name, path), the mesh first."""

    def __init__(self, forms, space, at, paths):
        axes = [space] if isinstance(space, str) else list(space or [])
        names = [_given.text(axis, "space") for axis in axes]
        at = {} if at is None else at
        if not isinstance(at, Mapping):
            raise TypeError("at must be a dictionary such as {'smile': (1, 0)}")
        if at and not axes:
            raise ValueError("at needs space, which names the axes")
        known = [name for name, _path in forms]
        for name in at:
            if name not in known:
                raise KeyError(f"at: there is no shape '{name}'; there are {', '.join(known)}")
        self._places = [self._place(at.get(name), i, len(forms), axes, name) for i, (name, _path) in enumerate(forms)]
        self._list = (_abi.ex_init_form * len(forms))()
        for form, (name, path), place in zip(self._list, forms, self._places):
            form.path, form.name, form.at = path, name.encode(), address(place) if axes else None
        self._axes = (ctypes.c_char_p * max(len(names), 1))(*names)
        rest = ctypes.cast(ctypes.byref(self._list, ctypes.sizeof(_abi.ex_init_form)),
                           ctypes.POINTER(_abi.ex_init_form))
        self.forms = _abi.ex_init_forms(rest=self._list[0], forms=rest, form_count=len(forms) - 1,
                                        axes=ctypes.addressof(self._axes), axis_count=len(names),
                                        trajectory=bool(paths))

    @staticmethod
    def _place(given, index, count, axes, name):
        if given is not None:
            place = take([given] if numpy.ndim(given) == 0 else given, "f8", (len(axes),), f"at['{name}']")
            if not numpy.all(numpy.isfinite(place)):
                raise ValueError(f"at['{name}'] has numbers that are not finite")
            return place
        if index and len(axes) > 1:
            raise ValueError(f"say where '{name}' is in the space: at={{'{name}': ({', '.join(axes)})}}")
        return numpy.full(len(axes), index / (count - 1) if len(axes) == 1 else 0.0)
