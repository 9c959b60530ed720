"""Motion: reads BVH files, animations of glTF files and tables of poses, and brings them to a rig."""
from __future__ import annotations

import ctypes
import json
import math
import os
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._given import names as given_names, number, text as given_text, whole
from ._library import Handle, author, checked, path_bytes, text_of
from .cache import Stage
from .rig import Pose, Rig, load

_TRANSFORMS = ctypes.POINTER(_abi.ex_transform)
_TABLE_RATE = 24.0
_PLAIN_MOST, _TIME_LEAST = 1e6, 1e-6  # as the command line: an end of 0 means no end


def as_rig(value, name: str = "rig") -> Rig:
    """A Rig from a Rig or the path of one."""
    if isinstance(value, Rig):
        return value
    if isinstance(value, (str, bytes, os.PathLike)):
        return load(os.fsdecode(value))
    raise TypeError(f"{name} must be a Rig or the path of one, not {type(value).__name__}")


class RigMotion:
    """Timed poses of one rig.

    rig.evaluate takes it for its poses. It iterates over them; motion[3] is one, and motion[24:48] a part of the motion.

    pose: a Pose of N, with dials (N, D) and joints (N, J, 10). times: (N,) in seconds, ascending. matched_count: joints
    and dials of the rig that the motion moves. scale: of the root's path, 1 for the rig's own skeleton. first, last:
    seconds of the file's own frames, of which a part may have been read.
    """

    def __init__(self, pose: Pose, times) -> None:
        if not isinstance(pose, Pose):
            raise TypeError(f"pose must be a Pose, not {type(pose).__name__}")
        if len(pose) < 1:
            raise ValueError("there are no poses")
        times = numpy.array(take(times, "f8", (len(pose),), "times"))
        if not numpy.isfinite(times).all() or (numpy.diff(times) <= 0).any():
            raise ValueError("times must be finite and ascending")
        self.pose, self.times = pose, times
        self.matched_count, self.scale = 0, 1.0
        self.first, self.last = float(times[0]), float(times[-1])

    @classmethod
    def _of(cls, rig, pointer):
        """A copy of the library's ex_motion."""
        m = pointer.contents
        pose = Pose(rig, m.pose_count)
        for i in range(m.pose_count):
            given = m.poses[i]
            pose.dials[i] = copied(given.inputs, "f8", (rig._pose_size,))
            if rig._joint_count:
                pose.joints[i] = copied(given.joints, "f4", (rig._joint_count, 10))
        made = cls(pose, copied(m.times, "f8", (m.pose_count,)))
        made.matched_count, made.scale, made.first, made.last = m.matched_count, m.scale, m.first, m.last
        return made

    @classmethod
    def _made(cls, rig, call, *arguments):
        made = ctypes.POINTER(_abi.ex_motion)()
        checked(call, *arguments, ctypes.byref(made))
        handle = Handle(made, author.ex_motion_destroy)
        return cls._of(rig, handle.pointer)

    def _to_c(self, rig):
        """An ex_motion over copies of these arrays, and what must live as long."""
        count = len(self)
        dials = numpy.array(take(self.pose.dials, "f8", (count, rig._pose_size), "pose.dials"))
        times = numpy.array(take(self.times, "f8", (count,), "times"))
        joints = None
        if rig._joint_count:
            joints = numpy.array(take(self.pose.joints, "f4", (count, rig._joint_count, 10), "pose.joints"))
        for part, name in ((dials, "dials"), (joints, "joints")):
            if part is not None and not numpy.isfinite(part).all():
                raise ValueError(f"the {name} of a pose are not finite")
        poses = (_abi.ex_pose * count)()
        first = address(dials) if dials.size else None
        for i, pose in enumerate(poses):
            pose.inputs = first and first + 8 * rig._pose_size * i
            if joints is not None:
                pose.joints = ctypes.cast(address(joints) + 40 * rig._joint_count * i, _TRANSFORMS)
        motion = _abi.ex_motion(pose_count=count, poses=poses, times=address(times), matched_count=self.matched_count,
                                scale=self.scale, first=self.first, last=self.last)
        return motion, (dials, times, joints, poses)

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> typing.Iterator[Pose]:
        return iter(self.pose)

    def __getitem__(self, frames: typing.Union[int, slice]) -> typing.Union[Pose, RigMotion]:
        """The pose of a frame: motion[3]; or some of the frames, by a slice: motion[24:48]."""
        if not isinstance(frames, slice):
            if not hasattr(frames, "__index__"):
                raise TypeError("frames of a motion are chosen by a number or a slice, such as motion[24:48]")
            return self.pose[frames]
        if frames.indices(len(self))[2] < 0:
            raise ValueError("times must ascend: the slice must not go backwards")
        made = RigMotion(self.pose[frames].copy(), self.times[frames])
        made.matched_count, made.scale, made.first, made.last = self.matched_count, self.scale, self.first, self.last
        return made

    def __repr__(self) -> str:
        return f"<exemplar.RigMotion, {len(self)} poses from {self.times[0]:g} s to {self.times[-1]:g} s>"


class Motion:
    """The contents of a motion file, for any rig: joints and their transforms over time.

    names (J), parents (J,) of joints before, -1 for none; rest (J, 10) relative to the parent: translation, rotation
    x y z w, scale; times (N,) in seconds; locals (N, J, 10); dials: {name: (N,)}, such as weights of morph targets.
    ends (J,): True for an end site of a BVH file. ground: the height of the floor. `Motion.read` makes one from a file.
    """

    def __init__(self, names, parents, rest, times, locals, *, dials=None, ends=None, ground: float = 0,  # noqa: A002
                 root_moves: bool = True) -> None:
        self.names: typing.List[str] = given_names(names, "names")
        joints = len(self.names)
        self.parents = numpy.array(take(parents, "i4", (joints,), "parents"))
        if (self.parents < -1).any() or (self.parents >= numpy.arange(joints)).any():
            raise ValueError("parents: each is a joint before its own, or -1")
        self.times = numpy.array(take(times, "f8", (None,), "times"))
        frames = len(self.times)
        if not frames or not numpy.isfinite(self.times).all() or (numpy.diff(self.times) <= 0).any():
            raise ValueError("times must be finite and ascending, and there must be one")
        self.rest = numpy.array(take(rest, "f4", (joints, 10), "rest"))
        self.locals = numpy.array(take(locals, "f4", (frames, joints, 10), "locals"))
        self.ends = numpy.zeros(joints, dtype=bool) if ends is None else take(ends, "u1", (joints,), "ends") != 0
        self.ground, self.root_moves = number(ground, "ground"), bool(root_moves)
        if dials is not None and not isinstance(dials, dict):
            raise TypeError("dials must be a dictionary of names and numbers (N,)")
        self.dials = {name: numpy.array(take(values, "f4", (frames,), f"dials['{name}']"))
                      for name, values in (dials or {}).items()}
        given_names(self.dials, "dials")
        for part, name in ((self.rest, "rest"), (self.locals, "locals"), *((d, "dials") for d in self.dials.values())):
            if not numpy.isfinite(part).all():
                raise ValueError(f"{name}: numbers must be finite")
        self.path: typing.Optional[str] = None
        """The absolute path of the file that it was read from, or None."""
        self.clip: typing.Optional[str] = None
        self.clips: typing.List[str] = []
        """Names of all clips (animations) of a glTF file."""

    @classmethod
    def read(cls, path, *, clip: typing.Union[str, int, None] = None) -> Motion:
        """Reads a .bvh file, or an animation of a .glb or .gltf file: all its frames or keys. clip: its name, or its
        number counting from 1; None: the first. `poses` brings it to a rig. The arrays are read-only."""
        name, clip = path_bytes(path), _clip_word(clip)
        if name.lower().endswith(b".csv"):
            raise ValueError("a table of poses names axes of a rig: use exemplar.poses(rig, path)")
        if name.lower().endswith((b".glb", b".gltf")):
            made, clips = cls._read_scene(name, clip)
        else:
            if clip is not None:
                raise ValueError(f"'{os.fsdecode(name)}' holds one motion: clip goes with .glb and .gltf")
            if not name.lower().endswith(b".bvh"):
                raise ValueError(f"'{os.fsdecode(name)}' does not end in .bvh, .glb or .gltf, the kinds of motion")
            made, clips = cls._made(author.ex_bvh_read, name), []
        made.path, made.clip, made.clips = os.fsdecode(os.path.abspath(name)), clip and clip.decode(), clips
        for array in (made.parents, made.times, made.rest, made.locals, made.ends, *made.dials.values()):
            array.flags.writeable = False
        return made

    @classmethod
    def _read_scene(cls, name, clip):
        made = ctypes.POINTER(_abi.ex_scene)()
        checked(author.ex_scene_read, name, ctypes.byref(made))
        handle = Handle(made, author.ex_scene_destroy)
        scene = handle.pointer.contents
        clips = [text_of(scene.animations[i].name) for i in range(scene.animation_count)]
        if not clips:
            raise ValueError(f"'{os.fsdecode(name)}' has no clips (animations)")
        index, word = 0, clip.decode() if clip else None
        if word is not None:
            if word in clips:
                index = clips.index(word)
            elif word.isascii() and word.isdigit() and 1 <= int(word) <= len(clips):
                index = int(word) - 1
            else:
                raise KeyError(f"there is no clip '{word}': the clips are {', '.join(clips)}")
        return cls._made(author.ex_scene_to_clip, handle.pointer, index, 0.0), clips

    @classmethod
    def _made(cls, call, *arguments):
        made = ctypes.POINTER(_abi.ex_clip)()
        checked(call, *arguments, ctypes.byref(made))
        handle = Handle(made, author.ex_clip_destroy)
        c = handle.pointer.contents
        joints = [c.joints[j] for j in range(c.joint_count)]
        rest = numpy.array([numpy.frombuffer(bytes(j.rest), dtype="f4") for j in joints], dtype="f4").reshape(-1, 10)
        dials = [c.dials[i] for i in range(c.dial_count)]
        dials = {text_of(dial.name): copied(dial.values, "f4", (c.frame_count,)) for dial in dials}
        return cls([text_of(j.name) for j in joints], [j.parent for j in joints], rest,
                   copied(c.times, "f8", (c.frame_count,)), copied(c.locals, "f4", (c.frame_count, c.joint_count, 10)),
                   dials=dials, ends=[j.end for j in joints], ground=c.ground, root_moves=c.root_moves)

    def _to_c(self):
        """An ex_clip over copies of these arrays, and what must live as long."""
        frames, count = len(self.times), len(self.names)
        check = Motion(self.names, self.parents, self.rest, self.times, self.locals, dials=self.dials, ends=self.ends,
                       ground=self.ground, root_moves=self.root_moves)  # the arrays may have been changed
        joints = (_abi.ex_clip_joint * max(1, count))()
        for j in range(count):
            joints[j].name, joints[j].parent = given_text(check.names[j], "names", empty=True), int(check.parents[j])
            joints[j].rest, joints[j].end = _abi.ex_transform.from_buffer_copy(check.rest[j]), bool(check.ends[j])
        dials = (_abi.ex_clip_dial * max(1, len(check.dials)))()
        for made, (name, values) in zip(dials, check.dials.items()):
            made.name, made.values = given_text(name, "dials", empty=True), address(values)
        clip = _abi.ex_clip(joint_count=count, joints=joints, dial_count=len(check.dials), dials=dials,
                            frame_count=frames, times=address(check.times),
                            locals=ctypes.cast(address(check.locals), _TRANSFORMS), ground=check.ground,
                            root_moves=check.root_moves)
        return clip, (check, joints, dials)

    def write(self, path) -> None:
        """Writes a .bvh file. Scales and dials are left out; times must be evenly spaced."""
        name = path_bytes(path)
        if not name.lower().endswith(b".bvh"):
            raise ValueError(f"'{os.fsdecode(name)}' does not end in .bvh, the only kind that can be written")
        clip, _kept = self._to_c()
        checked(author.ex_bvh_write, name, ctypes.byref(clip))

    def poses(self, rig, *, map=None, fps: typing.Optional[float] = None,  # noqa: A002
              start: typing.Optional[float] = None, end: typing.Optional[float] = None) -> RigMotion:
        """The motion on a rig, as `exemplar.poses` makes it. fps, start and end need a motion that was read from a
        file."""
        if fps is None and start is None and end is None or self.path is None:
            if not (fps is None and start is None and end is None):
                raise ValueError("fps, start and end go with a motion from a file: this one has its own times")
            rig = as_rig(rig)
            clip, _kept = self._to_c()
            with Stage() as stage:
                joints = _joint_map(map, stage)
                return RigMotion._made(rig, author.ex_motion_from_clip, ctypes.byref(clip), rig._handle.pointer,
                                       joints and joints.pointer)
        return poses(rig, self.path, map=map, clip=self.clip, fps=fps, start=start, end=end)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        dials = f", {len(self.dials)} dials" if self.dials else ""
        return f"<exemplar.Motion, {len(self)} frames of {len(self.names)} joints{dials}, {self.times[-1]:g} s>"


def _clip_word(clip):
    if clip is None:
        return None
    if isinstance(clip, str):
        return given_text(clip, "clip", empty=True)
    return str(whole(clip, "clip", 1)).encode()


def _joint_map(given, stage):
    """A Handle on an ex_joint_map: of a .json file, or of {joint: from}; None for None."""
    if given is None:
        return None
    path, shown = None, None
    if isinstance(given, dict):
        path, shown = stage.path("json"), "map"
        try:
            text = json.dumps({"joints": given.get("joints", given) if set(given) == {"joints"} else given})
        except (TypeError, ValueError) as error:
            raise TypeError(f"map must have names of joints only ({error})") from None
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif isinstance(given, (str, bytes, os.PathLike)):
        path = path_bytes(given)
    else:
        raise TypeError(f"map must be the path of a .json file or a dictionary, not {type(given).__name__}")
    made = ctypes.POINTER(_abi.ex_joint_map)()
    try:
        checked(author.ex_joint_map_read, path, ctypes.byref(made))
    except Exception as error:
        if shown is None or not error.args:
            raise
        raise type(error)(str(error.args[0]).replace(os.fsdecode(path), shown), getattr(error, "code", None)) from None
    return Handle(made, author.ex_joint_map_destroy)


def poses(rig, motion=None, *, map=None, clip: typing.Union[str, int, None] = None,  # noqa: A002
          fps: typing.Optional[float] = None, start: typing.Optional[float] = None,
          end: typing.Optional[float] = None) -> RigMotion:
    """Brings a motion to a rig.

    motion: the path of a .bvh, .glb, .gltf or .csv file (a table of poses, with a column 'time' or 24 rows per second),
    a Motion, a RigMotion, a Pose (fps poses per second, 24 by default), or None for one of the rig's own clips. map: a
    .json file, or a dictionary, of joints of the rig and of the motion ({'forearm': 'LeftForeArm'}); None: joints of
    the same name. clip: the name of a clip (animation) in a glTF file or in the rig, or its number counting from 1.
    fps: samples per second; None: the motion's own frames or keys. start, end: seconds; None: its start and its end.
    """
    rig, clip = as_rig(rig), _clip_word(clip)
    options = _abi.ex_motion_options(clip=clip)
    if fps is not None:
        options.fps = number(fps, "fps", 1e-3, _PLAIN_MOST)
    if start is not None:
        options.start, options.end = number(start, "start", 0, _PLAIN_MOST), math.inf
    if end is not None:
        options.end = number(end, "end", _TIME_LEAST, _PLAIN_MOST)
    if isinstance(motion, Motion):
        if clip is not None:
            raise ValueError("clip goes with a path: this motion was read already")
        return motion.poses(rig, map=map, fps=fps, start=start, end=end)
    if isinstance(motion, (RigMotion, Pose)):
        return _own(rig, motion, map, clip, fps, start, end)
    if motion is None:
        if clip is None:
            raise ValueError("give a motion, or clip: the name of one of the rig's own")
        if map is not None:
            raise ValueError("the rig's own clips need no map")
        return RigMotion._made(rig, author.ex_rig_motion, rig._handle.pointer, ctypes.byref(options))
    if not isinstance(motion, (str, bytes, os.PathLike)):
        raise TypeError(f"a motion is a path, a Motion or poses of the rig, not {type(motion).__name__}")
    name = path_bytes(motion)
    if map is not None and name.lower().endswith(b".csv"):
        raise ValueError("a table names the rig's own axes and joints: map goes with .bvh, .glb and .gltf")
    if clip is not None and not name.lower().endswith((b".glb", b".gltf")):
        raise ValueError(f"'{os.fsdecode(name)}' holds one motion: clip goes with .glb and .gltf")
    with Stage() as stage:
        joints = _joint_map(map, stage)
        if joints is not None:
            options.map = joints.pointer
        return RigMotion._made(rig, author.ex_motion_read, name, rig._handle.pointer, ctypes.byref(options))


def _own(rig, motion, map, clip, fps, start, end):  # noqa: A002
    """Poses of the rig itself, which are taken as they are."""
    if map is not None or clip is not None or start is not None or end is not None or \
            fps is not None and isinstance(motion, RigMotion):
        raise ValueError("poses of the rig are taken as they are: map, clip, start, end and fps go with a motion")
    if isinstance(motion, Pose):
        motion = RigMotion(motion, numpy.arange(len(motion)) / (_TABLE_RATE if fps is None else fps))
    if motion.pose._rig._handle is not rig._handle:
        raise TypeError("poses must come from rig.pose of this rig")
    return motion
