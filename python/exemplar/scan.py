"""Bodies from scans and motion capture: the steps of `exemplar scan`.

A session is a folder with a scan.json and the scans of one person in many poses; each step reads the files of the one
before it and adds its own. `register` and `articulate` work on arrays and files without a session.

>>> exemplar.scan.fit("body").rms
0.0031
>>> rig = exemplar.scan.build("body").rig
"""
from __future__ import annotations

import contextlib
import ctypes
import math
import os
import pathlib
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

import numpy

from . import _abi, _given
from ._arrays import copied
from ._capture import Capture, Kinematics, Markers, fit_capture, fit_options, poses_of
from ._given import Report
from ._library import Handle, author, checked, text_of
from ._project import locked
from ._registered import Articulated, Registered, articulate, cloud, landmarks_of, register
from ._simulated import Simulated, simulate
from ._work import Progress, tasks
from .errors import Error
from .mesh import Mesh
from .rig import Rig
from .project import Project

__all__ = ["Articulated", "Built", "Capture", "Carried", "Fitted", "Found", "Kinematics", "Labelled", "Markers",
           "Registered", "ScanReport", "Session", "Simulated", "Template", "articulate", "build", "carry", "cloud",
           "find_markers", "fit", "label", "landmarks_of", "markers", "register", "report", "run", "simulate",
           "template"]

Tell = Optional[Callable[[str, float], Any]]


# ---- results ----

class Fitted(Report):
    """A skeleton and poses from named markers: path (fit.json), names of the scans, kinematics, translations (N, 3) and
    rotations (N, J, 4), scan_rms (N,) and rms in metres, unknowns, iterations, seconds, outliers, scale, left_out
    {scan: reason}, undetermined (sentences), markers {name: typical distance in metres}."""


class Template(Report):
    """The cage that follows a fitted skeleton: mesh, groups (joints with faces), extraordinary (control points), and
    bare (joints without faces)."""


class Built(Report):
    """A body: rig, and for a cage vertex_count, face_count, level, level_count, refitted and remaining (metres), scans
    [{name, measured, lent, filled, rms}], kept (maps that were there), left_out (sentences). For a template person
    scans [{name, rms, high}], open (joints whose centres are guesses) and unseen (joints whose skin no scan shows)."""


class ScanReport(Report):
    """How good a body is, as `exemplar scan report --json` names it."""


class Carried(Report):
    """A template person on the scans: height in metres, unseen (joints), and scans [{name, left_out, points,
    points_rms, figure_rms, rms, seen, flipped, scan_points}]."""


class Found(Report):
    """Markers on a scan: positions (N, 3) in metres, colours (N, 3) sRGB from 0 to 255, sizes (N,) in metres, views
    (N,) and strengths (N,). For a session also name, and kept: True if they were found before."""


class Labelled(Report):
    """Names of markers: scans [{name, found, sure, by_hand, kept}], and doubts [{scan, marker, other, confidence,
    at}]."""


# ---- sessions ----

class Session:
    """A scan session, read from FOLDER/scan.json: folder, scans (names), parts (names), reference, person (the template
    person, or None), kinematics, unit (metres) and up of its files."""

    def __init__(self, folder):
        name = _given.place(folder, "folder")
        made = ctypes.POINTER(_abi.ex_scan_session)()
        checked(author.ex_scan_session_read, name, ctypes.byref(made))
        self._handle = Handle(made, author.ex_scan_session_destroy)
        inside = self._inside
        self.folder = pathlib.Path(os.fsdecode(name))
        self.scans = [text_of(inside.scans[i].name) for i in range(inside.scan_count)]
        self.parts = [text_of(inside.parts[i].name) for i in range(inside.part_count)]
        self.reference = self.scans[inside.reference] if 0 <= inside.reference < inside.scan_count else None
        self.person = text_of(inside.person) or None
        self.kinematics = Kinematics._of(inside.kinematics) if inside.kinematics else None
        self.unit, self.up = inside.unit or 1.0, text_of(inside.up) or "y"

    @property
    def _inside(self):
        return self._handle.pointer.contents

    def __repr__(self):
        return f"<exemplar.scan.Session {self.folder}: {len(self.scans)} scans, {len(self.parts)} parts>"

    def _files(self, scan):
        entry = self._inside.scans[scan]
        return [self.folder / name for name in _given.texts(entry.files, entry.file_count)]

    def meshes(self, scan: str) -> List[Mesh]:
        """The meshes of a scan, one for each view, in metres with y up."""
        number, made = self._number(scan), ctypes.c_void_p()
        checked(author.ex_scan_meshes, self._handle.pointer, number, ctypes.byref(made))
        with _meshes(made, self._inside.scans[number].file_count) as list_of:
            return [Mesh._of(mesh) for mesh in list_of]

    def _number(self, scan):
        if not isinstance(scan, str):
            raise TypeError(f"a scan is named by text, not {type(scan).__name__}")
        if scan not in self.scans:
            raise KeyError(f"there is no scan '{scan}' in '{self.folder}'; there are {', '.join(self.scans)}")
        return self.scans.index(scan)


@contextlib.contextmanager
def _meshes(made, count):
    """Pointers to meshes that the library hands over; they are released at the end."""
    list_of = ctypes.cast(made, ctypes.POINTER(ctypes.POINTER(_abi.ex_mesh)))
    try:
        yield [list_of[i] for i in range(count)] if made.value else []
    finally:
        for i in range(count) if made.value else []:
            author.ex_mesh_destroy(list_of[i])
        _given.free(made)


def _session(folder):
    return folder if isinstance(folder, Session) else Session(folder)


@contextlib.contextmanager
def _working(folder, progress, threads):
    """Around a step that changes a session: gives (session, task hook, progress)."""
    place = folder.folder if isinstance(folder, Session) else os.fsdecode(_given.file(folder, "folder"))
    with locked(place):
        session = _session(folder)
        with tasks(threads) as hooks, Progress(progress) as work:
            yield session, hooks, work


def _fitted_file(session):
    path = session.folder / "fit.json"
    if not path.exists():
        raise FileNotFoundError(f"'{path}' does not exist yet: exemplar.scan.fit makes it")
    made = ctypes.POINTER(_abi.ex_scan_fitted)()
    checked(author.ex_scan_fitted_read, os.fsencode(path), ctypes.byref(made))
    return Handle(made, author.ex_scan_fitted_destroy)


# ---- the steps ----

def find_markers(meshes, *, size: float = 0.012, threshold: Optional[float] = None) -> Found:
    """Finds painted markers on the coloured meshes of one scan: a Mesh with colours, a path, or a list of them (views).
    size: width of a marker in metres. threshold: smallest difference of its colour from the skin, 0 to 1."""
    from ._registered import held_meshes
    options = _find_options(size, threshold)
    pointers, _kept = held_meshes(meshes, "meshes")
    return _found(lambda *rest: author.ex_find_markers(ctypes.addressof(pointers), len(pointers), ctypes.byref(options),
                                                       *rest))


def _find_options(size, threshold):
    options = author.ex_find_options_default()
    options.size = _given.number(size, "size", above=0)
    if threshold is not None:
        options.threshold = _given.number(threshold, "threshold", 0, 1, above=0)
    return options


_FOUND = numpy.dtype([("position", "f8", 3), ("colour", "f8", 3), ("size", "f8"), ("view", "i4"), ("pad", "i4"),
                      ("strength", "f8")])
assert _FOUND.itemsize == ctypes.sizeof(_abi.ex_found_marker)


def _found(call, **more):
    count = ctypes.c_int()
    with _given.owned(_given.free) as made:
        checked(call, ctypes.byref(made), ctypes.byref(count))
        table = copied(made, _FOUND, (count.value,))
    return Found(**more, positions=table["position"].copy(), colours=table["colour"].copy(), sizes=table["size"].copy(),
                 views=table["view"].copy(), strengths=table["strength"].copy())


def markers(folder, scans: Optional[Sequence[str]] = None, *, size: Optional[float] = None,
            threshold: Optional[float] = None, force: bool = False, progress: Tell = None) -> List[Found]:
    """Finds markers on the scans of a session, or on those named, and writes found/SCAN.csv. Scans whose markers were
    found since the scan last changed are read, unless force, size or threshold is given."""
    again = _given.flag(force, "force") or size is not None or threshold is not None
    options = _find_options(0.012 if size is None else size, threshold)
    with _working(folder, progress, 1) as (session, _hooks, work):
        numbers = [session._number(name) for name in (session.scans if scans is None else scans)]
        if len(set(numbers)) < len(numbers):
            raise ValueError("a scan is given twice")
        (session.folder / "found").mkdir(exist_ok=True)
        results = []
        for i, number in enumerate(numbers):
            if not work.struct.report(None, b"finding markers", i / len(numbers)):
                break  # the reason is raised at the end of the work
            results.append(_markers_of(session, number, options, again))
        return results


def _markers_of(session, number, options, again):
    name, pointer = session.scans[number], session._handle.pointer
    path = session.folder / "found" / f"{name}.csv"
    if not again and all(_is_newer(path, file) for file in session._files(number)):
        return _found(lambda *rest: author.ex_scan_found_read(pointer, os.fsencode(path), *rest), name=name, kept=True)
    made, count = ctypes.c_void_p(), session._inside.scans[number].file_count
    checked(author.ex_scan_meshes, pointer, number, ctypes.byref(made))
    with _meshes(made, count):
        def find(found, size, error):
            result = author.ex_find_markers(made, count, ctypes.byref(options), found, size, error)
            if result == _abi.EX_OK:
                result = author.ex_scan_found_write(pointer, os.fsencode(path), ctypes.cast(
                    found, ctypes.POINTER(ctypes.POINTER(_abi.ex_found_marker))).contents, ctypes.cast(
                    size, ctypes.POINTER(ctypes.c_int)).contents.value, error)
            return result
        return _found(find, name=name, kept=False)


def _is_newer(made, source):
    try:
        return os.stat(made).st_mtime_ns >= os.stat(source).st_mtime_ns
    except OSError:
        return False


def label(folder, *, force: bool = False, csv=None, page=None, landmarks: bool = False, scan: Optional[str] = None,
          progress: Tell = None, threads: Optional[int] = 1) -> Optional[Labelled]:
    """Names the markers of all scans, from found/ and from the names of the reference, and writes labels/SCAN.csv.

    csv: takes names from a table instead, [scan,]marker,x,y,z, as a page gives it. page: writes a page instead, to name
    markers of `scan`, or of the reference and of all scans with doubts; landmarks: to click landmarks of a template
    person. force: names scans again that were named automatically.
    """
    if csv is not None and page is not None:
        raise ValueError("csv and page exclude each other")
    _given.flag(force, "force"), _given.flag(landmarks, "landmarks")
    with _working(folder, progress, threads) as (session, hooks, work):
        if csv is not None:
            return _take(session, csv, scan)
        if page is not None:
            _page(session, _given.file(page, "page"), landmarks, scan, hooks, work)
            return None
        return _label(session, force, hooks, work)


def _take(session, csv, scan):
    number = -1 if scan is None else session._number(scan)
    name = _given.file(csv, "csv")
    if scan is None and pathlib.Path(os.fsdecode(name)).stem in session.scans:
        number = session.scans.index(pathlib.Path(os.fsdecode(name)).stem)
    made = ctypes.POINTER(_abi.ex_scan_taken)()
    checked(author.ex_scan_take, session._handle.pointer, number, name, ctypes.byref(made))
    held = Handle(made, author.ex_scan_taken_destroy)
    inside = held.pointer.contents
    taken, totals = (copied(at, "i4", (inside.scan_count,)).tolist() for at in (inside.taken, inside.totals))
    return Labelled(landmarks=inside.landmarks, scans=[
        {"name": session.scans[i], "taken": taken[i], "total": totals[i]} for i in range(inside.scan_count)
        if taken[i]])


def _page(session, path, landmarks, scan, hooks, work):
    if landmarks or not session._inside.markers:
        chosen = range(len(session.scans)) if scan is None else [session._number(scan)]
    elif scan is not None:
        chosen = [session._number(scan)]
    else:
        chosen = _doubtful(session)
    numbers = (ctypes.c_int * len(chosen))(*chosen)
    if landmarks or not session._inside.markers:
        checked(author.ex_scan_landmark_page, session._handle.pointer, ctypes.addressof(numbers), len(numbers), path,
                work.pointer)
    else:
        checked(author.ex_scan_label_page, session._handle.pointer, ctypes.addressof(numbers), len(numbers), path,
                work.pointer,
                hooks)


def _doubtful(session):
    """The reference, and the scans that labels/doubtful.csv names."""
    names = {session.reference}
    with contextlib.suppress(OSError):
        for line in (session.folder / "labels" / "doubtful.csv").read_text(encoding="utf-8").splitlines()[1:]:
            names.add(line.split(",")[0].strip('"'))
    return [i for i, name in enumerate(session.scans) if name in names]


def _label(session, force, hooks, work):
    count = len(session.scans)
    redo = (ctypes.c_bool * max(count, 1))()
    for i, name in enumerate(session.scans):
        found = session.folder / "found" / f"{name}.csv"
        if not found.exists():
            raise FileNotFoundError(f"'{found}' does not exist yet: exemplar.scan.markers makes it")
        redo[i] = bool(force) or not _is_newer(session.folder / "labels" / f"{name}.csv", found)
    how = _abi.ex_scan_label_options(redo=ctypes.addressof(redo), progress=work.pointer, tasks=hooks)
    made = ctypes.POINTER(_abi.ex_scan_labelling)()
    checked(author.ex_scan_label, session._handle.pointer, ctypes.byref(how), ctypes.byref(made))
    held = Handle(made, author.ex_scan_labelling_destroy)
    inside = held.pointer.contents
    found, sure, by_hand = (copied(at, "i4", (count,)).tolist() for at in (inside.found, inside.sure, inside.by_hand))
    kept = copied(inside.kept, "?", (count,)).tolist()
    sites = session._inside.kinematics.contents.sites

    def doubt(one):
        return {"scan": session.scans[one.scan], "marker": text_of(sites[one.site].name),
                "other": text_of(sites[one.other].name) if one.other >= 0 else None, "confidence": one.confidence,
                "at": tuple(one.position[:])}

    return Labelled(scans=[{"name": name, "found": found[i], "sure": sure[i], "by_hand": by_hand[i], "kept": kept[i]}
                           for i, name in enumerate(session.scans)],
                    doubts=[doubt(inside.doubts[i]) for i in range(inside.doubt_count)])


def fit(source, *, output=None, loss: Union[None, float, str] = None, even: bool = False, rigid: bool = False,
        free_bones: bool = False, skeleton=None, bvh=None, angles=None, static=None, up: Optional[str] = None,
        frames: Optional[int] = None, progress: Tell = None, threads: Optional[int] = 1):
    """Finds bones, axes and poses from named markers: a Fitted of a session, or a Capture of motion capture.

    source: the folder of a session, a .c3d or .trc file, or Markers. output: fit.json (default: in the session's
    folder; none for motion capture). loss: the distance in metres from which a marker counts less (default 0.02);
    'none': all count alike. Sessions: even gives markers that slide over the bone the same weight, rigid fixes markers
    to their bones, free_bones finds bones from markers alone. Motion capture: skeleton 'full', 'upper' or a file; bvh
    and angles are files to write (.bvh; .mot or .csv); static: a static trial of the same person; up: such as '+Z';
    frames: used to find bones.
    """
    distance = fit_options(loss)
    of_capture = {"skeleton": skeleton, "bvh": bvh, "angles": angles, "static": static, "up": up, "frames": frames}
    of_session = {"even": even, "rigid": rigid, "free_bones": free_bones}
    for name, value in of_session.items():
        _given.flag(value, name)
    is_capture = isinstance(source, Markers) or _given.is_path(source) and pathlib.Path(
        os.fsdecode(source)).suffix.lower() in (".c3d", ".trc")
    if is_capture:
        for name, value in of_session.items():
            if value:
                raise ValueError(f"{name} goes with a session, but this is motion capture")
        return fit_capture(source, output, distance, progress, threads, **of_capture)
    for name, value in of_capture.items():
        if value is not None:
            raise ValueError(f"{name} goes with motion capture (.c3d, .trc), but this is a session")
    path = None if output is None else _given.place(output, "output")
    with _working(source, progress, threads) as (session, hooks, work):
        path = path or os.fsencode(session.folder / "fit.json")
        how = _abi.ex_scan_fit_options(loss=distance, even=bool(even), rigid=bool(rigid), free_bones=bool(free_bones),
                                       progress=work.pointer, tasks=hooks)
        made, details = ctypes.POINTER(_abi.ex_scan_fitted)(), ctypes.POINTER(_abi.ex_kin_fit)()
        checked(author.ex_scan_fit, session._handle.pointer, ctypes.byref(how), ctypes.byref(made),
                ctypes.byref(details))
        fitted, found = Handle(made, author.ex_scan_fitted_destroy), Handle(details, author.ex_kin_fit_destroy)
        if work.struct.report(None, b"writing the fit", 1.0):  # not after Ctrl-C
            checked(author.ex_scan_fitted_write, path, fitted.pointer)
        return _fitted(path, fitted.pointer.contents, found.pointer.contents)


def _fitted(path, fitted, found):
    kinematics = Kinematics._of(fitted.kinematics)
    translations, rotations = poses_of(fitted.poses, fitted.scan_count, len(kinematics.joints))
    sites = found.kinematics.contents
    sigmas = copied(found.site_sigmas, "f8", (sites.site_count,)).tolist()
    left = zip(_given.texts(fitted.left_names, fitted.left_count), _given.texts(fitted.left_reasons, fitted.left_count))
    return Fitted(path=pathlib.Path(os.fsdecode(path)), names=_given.texts(fitted.names, fitted.scan_count),
                  kinematics=kinematics, translations=translations, rotations=rotations,
                  scan_rms=copied(fitted.rms, "f8", (fitted.scan_count,)), rms=found.rms, unknowns=found.unknown_count,
                  iterations=found.iteration_count, seconds=found.seconds, outliers=found.outlier_count,
                  scale=found.scale,
                  left_out=dict(left), undetermined=[text_of(found.opens[i].text) for i in range(found.open_count)],
                  markers={text_of(sites.sites[i].name): sigmas[i] for i in range(sites.site_count)})


def template(folder, *, cage=None) -> Template:
    """Makes the cage that follows the fitted skeleton: template/cage.obj and template/body.glb. cage: a mesh at the
    pose of the reference in place of the generated one."""
    given = None if cage is None else _given.file(cage, "cage")
    with _working(folder, None, 1) as (session, _hooks, _work):
        fitted, made = _fitted_file(session), ctypes.POINTER(_abi.ex_template)()
        checked(author.ex_scan_template, session._handle.pointer, fitted.pointer, given, ctypes.byref(made))
        held = Handle(made, author.ex_template_destroy)
        checked(author.ex_scan_template_write, session._handle.pointer, held.pointer)
        mesh = Mesh._of(held.pointer.contents.cage)
        groups = _given.texts(held.pointer.contents.cage.contents.group_names,
                              held.pointer.contents.cage.contents.group_count)
        joints = Kinematics._of(fitted.pointer.contents.kinematics).joints
        return Template(mesh=mesh, groups=groups, extraordinary=author.ex_template_extraordinary_count(held.pointer),
                        bare=[joint.name for joint in joints if joint.kind != "fixed" and joint.name not in groups])


def carry(folder, *, progress: Tell = None, threads: Optional[int] = 1) -> Carried:
    """Carries a template person to the scans of a session and registers it: registered/, template/body.glb,
    fit.json."""
    with _working(folder, progress, threads) as (session, hooks, work):
        if not session.person:
            raise ValueError(f"{session.folder}: this session has a cage and no template person: \"template\": "
                             f"\"human\" in scan.json gives it one")
        how = _abi.ex_scan_carry_options(progress=work.pointer, tasks=hooks)
        made = ctypes.POINTER(_abi.ex_scan_carried)()
        checked(author.ex_scan_carry, session._handle.pointer, ctypes.byref(how), ctypes.byref(made))
        held = Handle(made, author.ex_scan_carried_destroy)
        inside = held.pointer.contents

        def scan(one):
            return {"name": session.scans[one.scan], "left_out": text_of(one.reason) if one.left_out else None,
                    "points": one.anchor_count, "points_rms": one.anchor_rms, "figure_rms": one.figure_rms,
                    "rms": one.rms,
                    "seen": one.seen, "flipped": one.flipped_count, "scan_points": one.point_count}

        return Carried(height=inside.height, unseen=text_of(inside.unseen).split(),
                       scans=[scan(inside.scans[i]) for i in range(inside.scan_count)])


def build(folder, *, keep_cage: bool = False, force: bool = False, progress: Tell = None,
          threads: Optional[int] = 1) -> Built:
    """Makes displacement maps of all scans and the rig, body.glb. With a template person: skeleton, weights and layers
    from the registered scans. Maps that are up to date are kept, unless force. keep_cage: does not move the cage to the
    scans."""
    how = _abi.ex_scan_build_options(keep_cage=_given.flag(keep_cage, "keep_cage"), force=_given.flag(force, "force"))
    with _working(folder, progress, threads) as (session, hooks, work):
        if session.person:
            return _person(session, hooks, work)
        fitted, made = _fitted_file(session), ctypes.POINTER(_abi.ex_scan_built)()
        how.progress, how.tasks = work.pointer, hooks
        checked(author.ex_scan_build, session._handle.pointer, fitted.pointer, ctypes.byref(how), ctypes.byref(made))
        held = Handle(made, author.ex_scan_built_destroy)
        inside, rig = held.pointer.contents, ctypes.c_void_p()
        project = Project(session.folder / "body.json")
        options = _abi.ex_build_options(progress=work.pointer, tasks=hooks)
        project._call(author.ex_project_build, ctypes.byref(options), ctypes.byref(rig))
        body = Rig._own(rig.value)
        checked(author.ex_rig_write, os.fsencode(session.folder / "body.glb"), rig)
        return Built(rig=body, vertex_count=inside.vertex_count, face_count=inside.face_count, level=inside.level,
                     level_count=inside.level_count, refitted=inside.refitted, remaining=inside.remaining,
                     scans=[{"name": name, "measured": one.hit, "lent": one.lent, "filled": one.filled, "rms": one.rms}
                            for name, one in zip(session.scans, inside.scans[:inside.scan_count])],
                     kept=inside.kept_count, left_out=[text_of(one.text)
                                                       for one in inside.left_out[:inside.left_count]])


def _body(session, report_only, hooks, work):
    how = _abi.ex_scan_body_options(without_left_outs=not report_only, progress=work.pointer, tasks=hooks)
    made = ctypes.POINTER(_abi.ex_scan_body)()
    try:
        checked(author.ex_scan_body_make, session._handle.pointer, ctypes.byref(how), ctypes.byref(made))
    except Error:
        if made:
            author.ex_scan_body_destroy(made)
        raise
    return Handle(made, author.ex_scan_body_destroy)


def _person(session, hooks, work):
    held = _body(session, False, hooks, work)
    inside = held.pointer.contents
    checked(author.ex_scan_body_write, session._handle.pointer, held.pointer)
    joints = [joint.name for joint in Kinematics._of(inside.articulated.contents.kinematics).joints]
    opened, unseen = (copied(at, "?", (len(joints),)) for at in (inside.articulated.contents.open, inside.unseen))
    numbers = copied(inside.scans, "i4", (inside.scan_count + inside.held_count,)).tolist()
    forms = inside.measured.contents.forms
    own, inside.rig = inside.rig, None  # it belongs to the Rig now
    rig = Rig._own(own)
    return Built(rig=rig, scans=[{"name": session.scans[numbers[i]], "rms": forms[i].rms, "high": forms[i].high}
                                 for i in range(inside.scan_count)],
                 open=[name for name, is_open in zip(joints[1:], opened[1:]) if is_open],
                 unseen=[name for name, is_unseen in zip(joints, unseen) if is_unseen])


def report(folder, *, progress: Tell = None, threads: Optional[int] = 1) -> ScanReport:
    """Measures a body: distances of markers, and of every scan from its prediction by the others."""
    session = _session(folder)
    with tasks(threads) as hooks, Progress(progress) as work:
        if session.person:
            return _report_person(session, hooks, work)
        fitted, made = _fitted_file(session), _abi.ex_scan_report()
        checked(author.ex_scan_measure, session._handle.pointer, fitted.pointer, hooks, work.pointer,
                ctypes.byref(made))
    found = ScanReport(scans=made.scan_count, marker_rms=made.marker_rms, worst_scan=text_of(made.worst_scan),
                       worst_rms=made.worst_rms, measured=made.hit, lent=made.lent, filled=made.filled,
                       left_out=_surfaces(made.left_out), truth=None)
    if made.truth:
        joints, labels = made.joints, made.labels
        found.truth = {"angle_rms": joints.angle_rms, "angle_most": joints.angle_high,
                       "angles_undetermined": joints.open_count, "scans_left_out": joints.left_out,
                       "bone_most": joints.place, "bone_joint": text_of(joints.place_joint), "axis_most": joints.axis,
                       "axis_joint": text_of(joints.axis_joint), "sure": labels.sure, "sure_right": labels.right,
                       "visible": labels.visible, "visible_sure": labels.had, "held": _surfaces(made.held)}
    return found


def _surfaces(surfaces):
    parts = {"body": surfaces.body, "template": surfaces.plain, "nearest": surfaces.nearest, "reference": surfaces.old}
    return {"poses": surfaces.pose_count, **{name: {"rms": part.rms, "p95": part.high, "vertices": part.count}
                                             for name, part in parts.items() if part.count}}


def _report_person(session, hooks, work):
    held = _body(session, True, hooks, work)
    inside = held.pointer.contents
    own, left, all_ = inside.measured, inside.left_outs, inside.scan_count + inside.held_count
    numbers = copied(inside.scans, "i4", (all_,)).tolist()

    def guess(one):
        return {"left_out_rms": one.rms, "left_out_high": one.high, "one_rms": one.one_rms, "one_high": one.one_high,
                "ratio": one.rms / one.one_rms if one.one_rms else math.nan}

    def scan(i):
        row = {"name": session.scans[numbers[i]], "held": i >= inside.scan_count}
        if i < inside.scan_count:
            row.update(rms=own.contents.forms[i].rms, high=own.contents.forms[i].high)
        if left or i >= inside.scan_count:
            row.update(guess(left.contents.forms[i] if left else own.contents.forms[i]))
        return row

    found = {"rms": author.ex_left_outs_sum(own, 0, inside.scan_count).rms, "held_count": inside.held_count}
    if left or inside.held_count:
        found.update(guess(left.contents.all if left else author.ex_left_outs_sum(own, inside.scan_count, all_)))
    return ScanReport(**found, scans=[scan(i) for i in range(all_)])


def run(folder, *, force: bool = False, progress: Tell = None, threads: Optional[int] = 1) -> Mapping[str, Any]:
    """Runs all steps of a session, from where it stopped: {step: its result}. Steps that are up to date are left out,
    unless force; the report is always made."""
    _given.flag(force, "force")
    session, results, more = Session(folder), {}, {"progress": progress, "threads": threads}
    place = session.folder

    def need(done, step, *names, **options):
        if force or not done:
            results[step.__name__] = step(folder, *names, **options)

    def points(kinds):
        return [any((place / kind / f"{name}.csv").exists() for kind in kinds) for name in session.scans]

    def newer(made, *sources):
        return all(_is_newer(place / made, source) for source in sources)

    inputs = [file for i in range(len(session.scans)) for file in session._files(i)]
    tables = [place / kind / f"{name}.csv" for kind in ("labels", "landmarks") for name in session.scans]
    description = place / "scan.json"
    if session.person:
        follows = [session._inside.scans[i].follows for i in range(len(session.scans))]
        named = not session._inside.markers or all(a or b for a, b in zip(follows, points(("labels", "landmarks"))))
        if not named:
            results["markers"], results["label"] = markers(folder, progress=progress), label(folder, **more)
        need(newer("template/body.glb", description, *inputs, *(t for t in tables if t.exists())), carry, **more)
        need(newer("body.glb", place / "template" / "body.glb"), build, **more)
    else:
        labelled = all(points(("labels",)))
        need(labelled, markers, progress=progress)
        need(labelled, label, **more)
        tables = [place / "labels" / f"{name}.csv" for name in session.scans]
        need(newer("fit.json", description, *(t for t in tables if t.exists())), fit, **more)
        need(newer("template/cage.obj", place / "fit.json"), template)
        need(newer("body.glb", place / "template" / "cage.obj", *inputs), build, **more)
    results["report"] = report(folder, **more)
    return results
