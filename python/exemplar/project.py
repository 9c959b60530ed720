"""Projects: the editable text that a rig is built from. Open one, change it, check it, build it.

>>> project = exemplar.Project("arm/arm.json")
>>> project.add_example(bent, "bent", at={"joint:forearm": "x40"})   # bent: (V, 3) metres
>>> rig = project.build()
"""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pathlib
import re
import tempfile
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

import numpy

from . import _abi, _given, _places
from ._arrays import address, take
from ._library import Handle, author, checked, runtime, text_of
from ._given import Notes
from ._project import (Building, Damped, Finding, Forms, Mirrored, ProjectLayer, Sculpted, Version, dumped,
                       kept_version, layer_of, locked, mesh_of, named, named_in, reference, scene_of, side, version_of)
from ._work import Progress, tasks
from .cache import Stage
from .pose import Pose
from .rig import Rig

STORAGES = ("float", "short")
SEVERITIES = ("error", "warning", "note")
Values = Mapping[str, Any]
Tell = Optional[Callable[[str, float], Any]]


def _at_of(pose):
    """{axis: value} of the axes of a pose that are not at rest."""
    if len(pose) != 1:
        raise ValueError(f"at has {len(pose)} poses; give one of them")
    rest = pose.rig.pose()
    return {name: pose[name][0].tolist() for name in pose.rig.axes if not numpy.array_equal(pose[name], rest[name])}


class Project:
    """A project file, or a project in memory that has none yet. One thread at a time uses it; others wait.

    `Project(path)` opens a file. `data` is its content. Edits of examples write the file at once, as the tool does, and
    keep the previous content for `undo`; an assignment to `data` stays in memory until `save`.
    """

    def __init__(self, path):
        self._begin(_given.place(path))
        self.reload()

    @classmethod
    def open(cls, path) -> "Project":
        """The same as Project(path)."""
        return cls(path)

    @classmethod
    def from_dict(cls, data: Mapping, folder, name: str = "project") -> "Project":
        """A project from its content, as folder/name.json, which `save` writes. Paths in it are relative to the
        folder."""
        project = cls.__new__(cls)
        project._begin(_given.place(os.path.join(os.fsdecode(_given.file(folder, "folder")),
                                                  _given.text(name, "name").decode() + ".json")))
        project.data = data
        return project

    def _begin(self, path):
        self._path, self._project, self._known, self._saved = path, None, None, False
        self._busy, self._calling = threading.RLock(), False
        kept = author.ex_kept_paths_create(0)
        self._kept = Handle(kept, author.ex_kept_paths_destroy) if kept else None
        self.notes: List[str] = []

    # ---- content ----

    @property
    def path(self) -> pathlib.Path:
        """The project's file, as an absolute path; it may not exist yet."""
        return pathlib.Path(os.fsdecode(self._path))

    @property
    def saved(self) -> bool:
        """True if the file has the present content."""
        return self._saved

    def _pointer(self):
        self._idle()
        if self._project is None:
            raise ValueError("this project could not be opened")
        return self._project.pointer

    def _idle(self):
        if self._calling:
            raise RuntimeError("the project is at work: its progress function cannot use it")

    def _call(self, function, *arguments):
        """Work of the library on the project, which may call back."""
        pointer = self._pointer()
        self._calling = True
        try:
            checked(function, pointer, *arguments)
        finally:
            self._calling = False

    def _view(self):
        return author.ex_project_get(self._pointer()).contents

    def _swap(self, made, saved):
        self._project, self._saved = Handle(made.value, author.ex_project_destroy), saved

    def reload(self) -> "Project":
        """Reads the file again; changes that were not saved are lost. Returns itself."""
        with self._busy:
            self._idle()
            known, made = self._read_old(self._path), ctypes.c_void_p()
            checked(author.ex_project_read, self._path, ctypes.byref(made))
            self._swap(made, True)
            self._known = known
        return self

    @property
    def data(self) -> Dict[str, Any]:
        """The content as a dictionary, keys in the order of the file: a copy. Assign one to replace the content; what
        the library refuses raises its sentence, and the project stays as it was. See also `edit`."""
        with self._busy:
            project = self._pointer()
            return json.loads(_given.encoded(lambda path, error: author.ex_project_write(project, path, error)))

    @data.setter
    def data(self, data: Mapping) -> None:
        text = dumped(data)
        with self._busy:
            self._idle()
            made = ctypes.c_void_p()
            checked(author.ex_project_parse, text, len(text), self._path, ctypes.byref(made))
            self._swap(made, False)

    @contextlib.contextmanager
    def edit(self) -> Iterator[Dict[str, Any]]:
        """with project.edit() as data: changes data in place; it replaces the content at the end, unless there is an
        exception."""
        with self._busy:
            data = self.data
            yield data
            self.data = data

    @property
    def layers(self) -> List[ProjectLayer]:
        """The layers, in order."""
        with self._busy:
            view = self._view()
            return [layer_of(view.layers[i]) for i in range(view.layer_count)]

    def __repr__(self):
        if self._project is None:
            return "<exemplar.Project, not open>"
        layers = self.layers
        count = sum(len(layer.examples) for layer in layers)
        return (f"<exemplar.Project {os.fsdecode(self._path)}: {count} examples in {len(layers)} layers"
                f"{'' if self._saved else ', not saved'}>")

    def save(self, path=None) -> None:
        """Writes the project to its file, or to another path, which is its file from then on. The previous content of
        the file is kept for `undo`. A file that another program changed since it was read is left alone."""
        with self._busy:
            target = self._path if path is None else _given.place(path)
            folder = os.path.dirname(os.path.realpath(target))
            project = self._pointer()
            if folder != os.path.dirname(os.path.realpath(self._path)) and \
                    not all(name.startswith(b"/") for name in named(self._view())):
                raise ValueError(f"'{os.fsdecode(target)}' is in another folder than the files that the project names: "
                                 f"save it beside '{os.fsdecode(self._path)}', or copy the whole folder")
            with locked(folder):
                old = self._read_old(target)
                if old is not None and target == self._path and self._known is not None and old != self._known:
                    raise ValueError(f"'{os.fsdecode(target)}' was changed by another program in the meantime, and was "
                                     f"left as it is: reload() reads it")
                with kept_version(target, b"saved from Python", old, []):
                    checked(author.ex_project_write, project, target)
                before, self._path = self._path, target
                try:
                    self.reload()
                except BaseException:
                    self._path = before
                    raise

    @staticmethod
    def _read_old(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    # ---- history ----

    @property
    def history(self) -> Dict[str, List[Version]]:
        """{'undo': versions, the last change first, 'redo': versions, the next one first}."""
        with _given.owned(lambda made: author.ex_history_destroy(
                ctypes.cast(made, ctypes.POINTER(_abi.ex_history)))) as made:
            checked(author.ex_history_read, self._path, ctypes.byref(made))
            found = ctypes.cast(made, ctypes.POINTER(_abi.ex_history)).contents
            return {"undo": [version_of(found.undo[i]) for i in range(found.undo_count)],
                    "redo": [version_of(found.redo[i]) for i in range(found.redo_count)]}

    def undo(self, steps: int = 1) -> List[Version]:
        """Takes the last changes of the file back, and reads it. Returns what was taken back."""
        return self._step(steps, False)

    def redo(self, steps: int = 1) -> List[Version]:
        """Makes changes again that `undo` took back."""
        return self._step(steps, True)

    def _step(self, steps, redo):
        steps, verb = _given.whole(steps, "steps", 1, _abi.EX_HISTORY_MAX), "redo" if redo else "undo"
        with self._busy, locked(os.path.dirname(os.path.realpath(self._path))):
            self._idle()
            self._need_saved(verb)
            versions = self.history[verb]
            if steps > len(versions):
                raise ValueError(f"there is nothing to {verb}" if not versions else
                                 f"there {'is' if len(versions) == 1 else 'are'} only {len(versions)} to {verb}")
            made, count = 0, ctypes.c_int()
            try:
                while made < steps:
                    checked(author.ex_history_step, self._path, redo, ctypes.byref(count))
                    made += 1
            except BaseException:
                for _ in range(made):
                    author.ex_history_step(self._path, not redo, None, None)
                raise
            finally:
                self.reload()
            return versions[:steps]

    def _need_saved(self, verb):
        if self._project is not None and not self._saved:
            raise ValueError(f"the project has changes that are not saved: save() or reload() before {verb}")

    # ---- examples ----

    def _kind_of(self, name):
        view, wanted = self._view(), name.encode("utf-8", "replace")
        for i in range(view.layer_count):
            layer = view.layers[i]
            for a in range(layer.axis_count):
                if layer.axes[a].name == wanted:
                    return layer.axes[a].axis.kind
        return None

    @contextlib.contextmanager
    def _changing(self, what, progress, threads):
        """Around a change by the library, which writes the file: gives the options of its build."""
        with self._busy:
            self._need_saved(what)
            self._pointer()
            with locked(os.path.dirname(os.path.realpath(self._path))), tasks(threads) as hooks, \
                    Progress(progress) as work:
                building = Building(work, hooks, self._kept.pointer if self._kept else None)
                yield building
                self._known = self._read_old(self._path)
                self.notes = building.notes.texts

    def add_example(self, sculpt, name: Optional[str] = None, *, at: Optional[Values] = None,
                    joint: Optional[Values] = None, layer: Optional[str] = None,
                    falloff: Union[None, float, Mapping[str, float]] = None, replace: bool = False, scale: float = 1,
                    force: bool = False, progress: Tell = None, threads: Optional[int] = 1) -> Sculpted:
        """Adds a sculpt as an example, at its pose; the project's file is written.

        sculpt: vertices (V, 3) in metres with y up, as Rig.evaluate gives them at level 0; or the path of a file in the
        project's unit and up axis. at: the pose it was sculpted at, {'elbow': 70, 'joint:hand': 'x20'}, where a joint that
        no axis reads becomes an axis; or a Pose, of which the axes that are not at rest count. joint: other joints that were turned. layer: its layer (default: the one whose space
        has the axes that `at` moves, or a new one). falloff: a number in scaled units, or {axis: number}. replace: the
        example at that pose, or of that name, gets this form. scale: a factor for the positions of a file. force: takes
        a form that is 20 times as large or as small as the mesh, or far away. The rig is not built.
        """
        at = _at_of(at) if isinstance(at, Pose) else at
        label = _given.text(name, "name", optional=True)
        if not _given.flag(replace, "replace") and label is None:
            raise ValueError("name is required: the name of the example")
        if replace and label is None and not at:
            raise ValueError("replace needs at or name: the example to replace")
        if replace and falloff is not None:
            raise ValueError("an example keeps its falloff when its sculpt is replaced: move_example changes it")
        given = _abi.ex_sculpt(layer=_given.text(layer, "layer", optional=True), name=label, replace=bool(replace),
                               any_size=_given.flag(force, "force"), scale=_given.number(scale, "scale", above=0))
        if not _given.is_path(sculpt) and given.scale != 1:
            raise ValueError("scale goes with a file: an array is in metres")
        with self._busy, Stage() as stage:
            places = [_places.place(at, self._kind_of, "at"), _places.place(joint, self._kind_of, "joint", joints=True),
                      _places.falloff(falloff)]
            given.at, given.joints, given.falloff = places
            given.form = self._form(sculpt, stage)
            made = _abi.ex_sculpted()
            with self._changing("add_example", progress, threads) as building:
                self._call(author.ex_project_add_sculpt, ctypes.byref(given), ctypes.byref(building.options),
                           ctypes.byref(made))
            self.notes = [stage.said(note) for note in self.notes]
            return Sculpted(**self._sculpted(made), notes=self.notes)

    def _form(self, sculpt, stage):
        """The file of a sculpt; an array is written to one, with the faces of the project's mesh."""
        if _given.is_path(sculpt):
            return _given.file(sculpt, "sculpt")
        view = self._view()
        base = os.path.join(os.path.dirname(self._path), view.mesh)
        with _given.owned(lambda mesh: author.ex_mesh_destroy(mesh_of(mesh))) as made:
            checked(author.ex_mesh_read, base, ctypes.byref(made))
            mesh = mesh_of(made).contents
            form = take(sculpt, "f8", (mesh.vertex_count, 3), "sculpt")
            if not numpy.all(numpy.isfinite(form)):
                raise ValueError("sculpt has numbers that are not finite")
            ctypes.memmove(mesh.positions, address(form), form.nbytes)
            # positions of other files need not be normals' any more
            author.ex_mesh_to_axes(ctypes.byref(mesh), _abi.ex_form_axes(unit=view.unit, z_up=view.z_up))
            path = stage.path("obj")
            stage.call(path, "sculpt")
            checked(author.ex_obj_write, path, ctypes.byref(mesh))
            return path

    def _sculpted(self, made):
        view = self._view()

        def names(layer, example):
            at = view.layers[layer]
            return text_of(at.name), text_of(at.examples[example].name) if example >= 0 else None

        layer, example = names(made.layer, made.example)
        lost = (*names(made.lost_layer, made.lost_example), made.loss) if made.lost_count > 0 else None
        return dict(layer=layer, example=example, new_layer=made.new_layer, reordered=made.reordered,
                    vertex_count=made.vertex_count, moved=made.moved_count, largest=made.largest,
                    damped=made.damped_count, error=made.error, farthest=made.farthest, size=made.size,
                    lost_count=made.lost_count, lost=lost)

    def move_example(self, name: str, *, at: Optional[Values] = None, joint: Optional[Values] = None,
                     falloff: Union[None, float, str, Mapping[str, float]] = None, layer: Optional[str] = None,
                     progress: Tell = None, threads: Optional[int] = 1) -> None:
        """Moves an example to another place; axes that `at` does not name keep their value. falloff: as for
        add_example, or 'layer' for the layer's."""
        as_layer = isinstance(falloff, str) and falloff == "layer"
        if isinstance(falloff, str) and not as_layer:
            raise ValueError("falloff must be a number, {axis: number}, or 'layer'")
        if not at and not joint and falloff is None:
            raise ValueError("at or falloff is required: the new place, or the new reach")
        which = reference(layer, name)
        with self._busy:
            places = [_places.place(at, self._kind_of, "at"), _places.place(joint, self._kind_of, "joint", joints=True),
                      _places.falloff(None if as_layer else falloff)]
            move = _abi.ex_example_move(layer_falloff=as_layer)
            move.at, move.joints, move.falloff = places
            with self._changing("move_example", progress, threads) as building:
                self._call(author.ex_project_move_example, which, ctypes.byref(move), ctypes.byref(building.options))

    def remove_example(self, name: str, *, layer: Optional[str] = None, progress: Tell = None,
                       threads: Optional[int] = 1) -> None:
        """Removes an example; its form stays on disk. A layer that loses its last example is removed too."""
        which = reference(layer, name)
        with self._changing("remove_example", progress, threads) as building:
            self._call(author.ex_project_remove_example, which, ctypes.byref(building.options))

    def mute(self, name: Optional[str] = None, *, layer: Optional[str] = None, off: bool = False, progress: Tell = None,
             threads: Optional[int] = 1) -> None:
        """Leaves out an example, or without a name a whole layer, for a while; off=True brings it back."""
        if name is None and layer is None:
            raise ValueError("name is required, or layer for a whole layer")
        which = _abi.ex_example_ref(_given.text(layer, "layer", optional=True),
                                    _given.text(name, "name", optional=True))
        muted = not _given.flag(off, "off")
        with self._changing("mute", progress, threads) as building:
            self._call(author.ex_project_mute, which, muted, ctypes.byref(building.options))

    def rename(self, name: str, to: str, *, kind: str = "example", layer: Optional[str] = None, progress: Tell = None,
               threads: Optional[int] = 1) -> None:
        """Gives an 'example', a 'layer' or an 'axis' another name, and everything that refers to it."""
        number = _given.word(kind, "kind", ("example", "layer", "axis"))
        given = _abi.ex_rename(kind=number, layer=_given.text(layer, "layer", optional=True),
                               name=_given.text(name, "name"), to=_given.text(to, "to"))
        with self._changing("rename", progress, threads) as building:
            self._call(author.ex_project_rename, ctypes.byref(given), ctypes.byref(building.options))

    def calm(self, layer: str, *, progress: Tell = None, threads: Optional[int] = 1) -> None:
        """Makes a layer calm: its weights stay within their examples' and do not swing."""
        name = _given.text(layer, "layer")
        with self._changing("calm", progress, threads) as building:
            self._call(author.ex_project_calm, name, ctypes.byref(building.options))

    def mirror(self, name: Optional[str] = None, *, layer: Optional[str] = None, all: Optional[Sequence[str]] = None,
               as_: Optional[str] = None, plane: Optional[str] = None, offset: float = 0,
               tolerance: Optional[float] = None, replace: bool = False, progress: Tell = None,
               threads: Optional[int] = 1) -> List[Mirrored]:
        """Adds the mirror images of examples: of one by name, of a whole layer, or of a side: all=('L', 'R').

        as_: the name of the mirror image (default: left and right exchanged). plane: 'x', 'y' or 'z', the coordinate to
        mirror, at offset in the project's unit (default: found from the mesh and from joints in pairs). tolerance: the
        largest distance of a counterpart, in sizes of the mesh. replace: an example at the mirrored pose gets the form.
        """
        given = _abi.ex_mirroring(layer=_given.text(layer, "layer", optional=True),
                                  name=_given.text(name, "name", optional=True),
                                  replace=_given.flag(replace, "replace"),
                                  offset=_given.number(offset, "offset"))
        setattr(given, "as", _given.text(as_, "as_", optional=True))
        if all is not None:
            sides = [side(word) for word in all] if isinstance(all, (tuple, list)) else []
            if len(sides) != 2 or sides[0] == sides[1]:
                raise ValueError("all needs the two sides: ('L', 'R'), or ('R', 'L')")
            if name is not None or layer is not None:
                raise ValueError("all mirrors every example of a side: leave name and layer out")
            setattr(given, "from", sides[0])
        elif name is None and layer is None:
            raise ValueError("name is required: the example to mirror; or layer for a whole layer, or all=('L', 'R')")
        if as_ is not None and name is None:
            raise ValueError("as_ names one example: it needs name")
        if plane is not None:
            given.plane = "xyz"[_given.word(plane, "plane", ("x", "y", "z"))].encode()
        if tolerance is not None:
            given.tolerance = _given.number(tolerance, "tolerance", above=0)
        count = ctypes.c_int()
        with self._busy, _given.owned(_given.free) as found:
            with self._changing("mirror", progress, threads) as building:
                self._call(author.ex_project_mirror, ctypes.byref(given), ctypes.byref(building.options),
                           ctypes.byref(found), ctypes.byref(count))
            list_of = ctypes.cast(found, ctypes.POINTER(_abi.ex_mirrored))
            return [self._mirrored(list_of[i]) for i in range(count.value)]

    def _mirrored(self, one):
        ways = [text_of(author.ex_match_name(i)) for i in range(_abi.EX_MATCH_COUNT)]
        return Mirrored(**self._sculpted(one.sculpted), normal=numpy.array(one.normal[:]), offset=one.offset,
                        as_bound=one.as_bound, matched=dict(zip(ways, one.matched[:])),
                        counterpart_distance=one.farthest, notes=self.notes)

    # ---- pseudo-examples ----

    def _pseudo(self, layer, at, from_, weights):
        given = _abi.ex_pseudo_place(layer=_given.text(layer, "layer"))
        setattr(given, "at", _places.place(at, self._kind_of, "at"))
        setattr(given, "from", _places.place(from_, self._kind_of, "from_"))
        given.weights = _places.numbers(weights, "weights")
        return given

    def add_pseudo(self, layer: str, at: Values, *, from_: Optional[Values] = None,
                   weights: Optional[Mapping[str, float]] = None, progress: Tell = None,
                   threads: Optional[int] = 1) -> int:
        """Places a pseudo-example, which has no form: it borrows the weights at the place from_, or has the given ones
        by example. Returns its index in the layer, from 0."""
        if not at or (not from_) == (weights is None):
            raise ValueError("a pseudo-example needs at, and either from_ or weights")
        with self._busy:
            given = self._pseudo(layer, at, from_, weights)
            with self._changing("add_pseudo", progress, threads) as building:
                self._call(author.ex_project_add_pseudo, ctypes.byref(given), ctypes.byref(building.options))
            return next(found.pseudo_count for found in self.layers if found.name == layer) - 1

    def move_pseudo(self, layer: str, index: int, at: Optional[Values] = None, *, from_: Optional[Values] = None,
                    weights: Optional[Mapping[str, float]] = None, progress: Tell = None,
                    threads: Optional[int] = 1) -> None:
        """Moves a pseudo-example, by its index in the layer from 0, or changes its weights."""
        if not at and not from_ and not weights:
            raise ValueError("at, from_ or weights is required: what changes")
        if from_ and weights:
            raise ValueError("a pseudo-example takes either from_ or weights")
        with self._busy:
            given, number = self._pseudo(layer, at, from_, weights), self._pseudo_index(layer, index)
            with self._changing("move_pseudo", progress, threads) as building:
                self._call(author.ex_project_move_pseudo, ctypes.byref(given), number, ctypes.byref(building.options))

    def remove_pseudo(self, layer: str, index: int, *, progress: Tell = None, threads: Optional[int] = 1) -> None:
        """Removes a pseudo-example, by its index in the layer from 0."""
        name = _given.text(layer, "layer")
        with self._busy:
            number = self._pseudo_index(layer, index)
            with self._changing("remove_pseudo", progress, threads) as building:
                self._call(author.ex_project_remove_pseudo, name, number, ctypes.byref(building.options))

    def _pseudo_index(self, layer, index):
        for found in self.layers:
            if found.name == layer:
                if not found.pseudo_count:
                    raise IndexError(f"layer '{layer}' has no pseudo-examples")
                return _given.whole(index, "index", 0, found.pseudo_count - 1)
        raise KeyError(f"there is no layer '{layer}'; there are {', '.join(l.name for l in self.layers) or 'none'}")

    # ---- building and checking ----

    def build(self, output=None, *, storage: str = "float", normals: bool = True, tangents: bool = True,
              levels: bool = True, progress: Tell = None, threads: Optional[int] = 1) -> Rig:
        """Builds the rig. output: a .glb file to write it to, too. storage: 'float', or 'short' for 16 bit in memory.

        rig.notes are sentences about what building chose, rig.damped lists what un-posing could not restore. Paths of
        trajectories are kept for the next build. The same project gives the same rig, whatever the threads.
        """
        how = _abi.ex_rig_options(storage=_given.word(storage, "storage", STORAGES),
                                  without_normals=not _given.flag(normals, "normals"),
                                  without_tangents=not _given.flag(tangents, "tangents"),
                                  without_levels=not _given.flag(levels, "levels"))
        target = None if output is None else _given.file(output, "output")
        with self._busy:
            if target is not None:
                self._check_target(target)
            view = self._view()
            axes = _abi.ex_form_axes(unit=view.unit, z_up=view.z_up)
            with _given.owned(runtime.ex_rig_destroy) as made:
                with tasks(threads) as hooks, Progress(progress) as work:
                    building = Building(work, hooks, self._kept.pointer if self._kept else None, how)
                    self._call(author.ex_project_build, ctypes.byref(building.options), ctypes.byref(made))
                    if target is not None:
                        work.check()
                        checked(author.ex_rig_write_for, target, made, axes)
                rig = Rig._own(made)
        rig.notes, rig._form_axes = building.notes.texts, (axes.unit, bool(axes.z_up))
        rig.damped = [Damped(layer=text_of(runtime.ex_rig_layer_name(rig._handle.pointer, layer)),
                             example=text_of(runtime.ex_rig_example_name(rig._handle.pointer, layer, example)),
                             vertices=vertices, residuals=residuals)
                      for layer, example, vertices, residuals in building.damped]
        return rig

    def files(self) -> List[pathlib.Path]:
        """The files that the project names, muted examples included."""
        with self._busy:
            folder = self.path.parent
            return [folder / os.fsdecode(name) for name in dict.fromkeys(named(self._view()))]

    def _check_target(self, target):
        for source in [self.path, *self.files()]:
            with contextlib.suppress(OSError):
                if os.path.samefile(source, target):
                    raise ValueError(f"'{source}' is a file that the project uses: give another output")

    def check(self, *, samples: int = 4096, mixtures: int = 10, progress: Tell = None,
              threads: Optional[int] = 1) -> List[Finding]:
        """Finds everything that is wrong or weak: errors, warnings and notes.

        samples: points of each space at which weights are checked. mixtures: random mixtures of layers of trajectories
        that are measured, besides ten times as many chosen ones; 0: none.
        """
        how = _abi.ex_check_options(sample_count=_given.whole(samples, "samples", 1, 10000000),
                                    mixture_count=_given.whole(mixtures, "mixtures", 0, 10000) or -1)
        if mixtures == 10:
            how.mixture_count = 0  # the library's own default, with fewer for large meshes
        with self._busy:
            with _given.owned(lambda made: author.ex_check_destroy(
                    ctypes.cast(made, ctypes.POINTER(_abi.ex_check)))) as made:
                with tasks(threads) as hooks, Progress(progress) as work:
                    how.progress, how.tasks = work.pointer, hooks
                    how.kept_paths = self._kept.pointer if self._kept else None
                    self._call(author.ex_project_check, ctypes.byref(how), ctypes.byref(made))
                found = ctypes.cast(made, ctypes.POINTER(_abi.ex_check)).contents
                return [self._finding(found.findings[i]) for i in range(found.finding_count)]

    def _finding(self, one):
        where, layer, example = text_of(one.where), None, None
        at = re.match(r"layers\[(\d+)\](?:\.examples\[(\d+)\])?", where)
        view = self._view()
        if at and int(at.group(1)) < view.layer_count:
            inside = view.layers[int(at.group(1))]
            layer = text_of(inside.name)
            groups = [(inside.examples, inside.example_count), (inside.muted_examples, inside.muted_count)]
            for examples, count in groups if at.group(2) else []:
                for k in range(count):
                    if examples[k].place == int(at.group(2)):
                        example = text_of(examples[k].name)
        return Finding(severity=SEVERITIES[one.severity], kind=text_of(one.kind), where=where, text=text_of(one.text),
                       value=one.value, remedy=text_of(one.remedy) or None, pose=text_of(one.pose) or None, layer=layer,
                       example=example)

    def mend(self, *, samples: int = 4096, progress: Tell = None, threads: Optional[int] = 1) -> List[str]:
        """Applies the remedies that the findings name: layers whose weights swing become calm. Returns their names."""
        with self._busy:
            self._need_saved("mend")
            names = {finding.layer for finding in self.check(samples=samples, mixtures=0, progress=progress,
                                                             threads=threads)
                     if finding.remedy == "calm"}
            mended = [layer.name for layer in self.layers if layer.name in names]
            for name in mended:
                self.calm(name, progress=progress, threads=threads)
            return mended

    # ---- new projects ----

    @classmethod
    def init(cls, source, folder=None, *, shapes: Optional[Mapping[str, Any]] = None, name: Optional[str] = None,
             force: bool = False, keep_seams: bool = False, space: Union[None, str, Sequence[str]] = None,
             at: Optional[Mapping[str, Any]] = None, paths: bool = False) -> "Project":
        """Makes a project from a glTF file, or from shapes of one mesh, and writes it into a folder.

        source: the path of a glTF file with morph targets or a skin; or the mesh at rest, as a path or as (vertices (V,
        3) in metres, faces), with shapes {name: path or (V, 3)}. folder: where the files go (default: the name of the
        source). force: replaces a project that is there. keep_seams: does not merge vertices that a glTF file splits.
        space: the axes of one space for all shapes (default: a slider from 0 to 1 for each). at: {shape: values} in
        that space; the mesh is at 0, and on a single axis shapes are spread evenly. paths: vertices move on paths that
        turn. project.notes has what was left out or changed.
        """
        from ._forms import is_scene, write_forms  # these need the meshes of this package
        options = _abi.ex_init_options(overwrite=_given.flag(force, "force"),
                                       keep_seams=_given.flag(keep_seams, "keep_seams"))
        _given.flag(paths, "paths")
        label = None if name is None else _given.text(name, "name").decode()
        if shapes is None:
            if space is not None or at is not None or paths:
                raise ValueError("space, at and paths go with shapes, not with a glTF file")
            if not _given.is_path(source) or not is_scene(source):
                raise ValueError("source is one form: give shapes of it too, {name: path or vertices}")
            label = label or pathlib.Path(os.fsdecode(source)).stem
            with _given.owned(lambda made: author.ex_scene_destroy(scene_of(made))) as scene:
                checked(author.ex_scene_read, _given.file(source, "source"), ctypes.byref(scene))
                held = scene_of(scene)
                notes = _given.texts(held.contents.notes, held.contents.note_count)
                return cls._fill(folder or label, label, force, notes, lambda place, report,
                                 error: author.ex_project_init(
                    held, place, label.encode(), ctypes.byref(options), ctypes.byref(report), error))
        if keep_seams:
            raise ValueError("keep_seams goes with a glTF file")
        with tempfile.TemporaryDirectory(prefix="exemplar-") as scratch:
            forms, rest = write_forms(source, shapes, scratch)
            label = label or rest
            given = Forms(forms, space, at, paths)
            return cls._fill(folder or label, label, force, [], lambda place, report,
                             error: author.ex_project_init_forms(
                ctypes.byref(given.forms), place, label.encode(), ctypes.byref(options), ctypes.byref(report), error))

    @classmethod
    def unpack(cls, rig: Rig, folder, *, name: str = "rig", force: bool = False) -> "Project":
        """Turns a rig back into a project, folder/name.json with its forms. Building it gives a rig with the same
        bytes."""
        if not isinstance(rig, Rig):
            raise TypeError(f"rig must be an exemplar.Rig, not {type(rig).__name__}")
        label, over, handle = _given.text(name, "name"), _given.flag(force, "force"), rig._handle
        return cls._fill(folder, label.decode(), over, [], lambda place, _report, error: author.ex_project_unpack(
            handle.pointer, place, label, over, error))

    @classmethod
    def _fill(cls, folder, label, force, notes, write):
        """Fills a folder with a project; what was made is removed if that fails."""
        place = _given.file(folder, "folder")
        path = os.path.join(place, label.encode() + b".json")
        if "/" in label or label in (".", ".."):
            raise ValueError(f"name is '{label}'; it must be a file name without '/'")
        if os.path.exists(path) and not force:
            raise FileExistsError(f"'{os.fsdecode(path)}' exists: give another folder, or force=True")
        made, above = [], place
        while above and not os.path.exists(above):
            made.append(above)
            above = os.path.dirname(above)
        said = Notes()
        report = _abi.ex_init_report(note=said.call)
        try:
            checked(author.ex_make_directory, place)
            with locked(place):
                old = cls._read_old(path)
                with kept_version(path, b"replaced from Python", old, named_in(path, old)):
                    checked(lambda error: write(place, report, error))
        except BaseException:
            for folder_made in made:
                with contextlib.suppress(OSError):
                    os.rmdir(folder_made)
            raise
        project = cls(path)
        project.notes = notes + said.texts
        return project
