"""Calls everything that the package has, with random arguments, most of them wrong: each call may raise an exception,
and none may end the interpreter.

usage: fuzz_calls.py FOLDER CALLS [SEED]

FOLDER has arm/arm.glb and other demos (tests/python/test_fuzz.py makes it). Calls are made by child processes, 20 000 each,
which write the number of the call before they make it: so a crash names its call. A process may take 4 GB of memory.
"""
import gc
import inspect
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy

SHARE = 20000
SLOW = {"bake", "learn", "apply", "report", "suggest", "fit", "build", "check", "warp", "render", "sheet", "plot", "show",
        "crossings", "unpack", "init", "register", "articulate", "person", "label", "simulate", "markers", "mirror", "run",
        "capture", "carry", "template", "_repr_png_", "_repr_html_", "_repr_mimebundle_"}
SKIP = {"write_png"}


def public(thing):
    """Names to call; of an array those that numpy does not have, whose own calls can end an interpreter."""
    theirs = dir(numpy.ndarray) if isinstance(thing, numpy.ndarray) else ()
    return [name for name in dir(thing) if not name.startswith("_") and name not in SKIP and name not in theirs]


class Fuzzer:
    def __init__(self, folder, seed):
        import exemplar
        e = exemplar
        self.exemplar, self.rng, self.folder = exemplar, random.Random(seed), folder
        self.numbers = numpy.random.default_rng(seed)
        self.pool = []
        self.files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < 3e6]
        self.names = ["elbow", "gender", "x", "y", "bend", "", "\0", "nothing", "a b:c", "arm", "shoulder", "float", "cardinal",
                      "calm", "limit", "keys", "motion"]
        self.rigs = [path.read_bytes() for path in sorted(folder.glob("*/*.glb")) if path.stem == path.parent.name]
        self.projects = [e.Project(path) for path in self.files if path.endswith(".json")][:2]  # calls may overwrite them
        self.fill()

    def fill(self):
        """Objects that work, of as many kinds as can be made quickly."""
        e = self.exemplar
        self.pool, self.whole, self.weighers = [], [], []
        gc.collect()
        self.pool = [e.load(data) for data in self.rigs]
        for rig in list(self.pool):
            self.pool += [rig.pose(), rig.mesh, rig.skeleton, *rig.axes.values(), *rig.layers.values()]
            if hasattr(rig, "weigher"):
                self.pool += [rig.weigher(name) for name in rig.layers]
        self.pool += [e.Weigher([[0], [1], [3]]), e.Weigher(numpy.random.rand(5, 2), kind="calm")]
        triangle = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float), numpy.array([[0, 1, 2]])
        for name in ("Mesh", "Tree", "Subdivision"):
            if hasattr(e, name):
                self.pool.append(getattr(e, name)(*triangle))
        self.pool += self.projects
        self.whole = [thing for thing in self.pool if isinstance(thing, e.Rig)]
        self.weighers = [(e.Weigher([[0], [1], [3]]), numpy.array([[0.5], [2.5]])),
                         (e.Weigher(numpy.random.rand(9, 2), kind="calm"), numpy.random.rand(4, 2)),
                         (e.Weigher(numpy.random.rand(6, 3), kind="gaussian"), numpy.random.rand(4, 3)),
                         (e.Weigher(numpy.random.rand(6, 3), kind="shepard"), numpy.random.rand(4, 3))]

    def places(self):
        """(name, function) of what can be called: functions, classes, and methods of objects in the pool."""
        e = self.exemplar
        if self.rng.random() < 0.35:
            name = self.rng.choice([one for one in e.__all__ if one != "Picture"])  # numpy's constructor
            thing = getattr(e, name)
            if inspect.ismodule(thing):
                own = [n for n in public(thing) if getattr(getattr(thing, n), "__module__", "") == thing.__name__]
                name = self.rng.choice(own)
                thing = getattr(thing, name)
            return name, thing
        thing = self.rng.choice(self.pool)
        if isinstance(thing, numpy.ndarray):
            name = self.rng.choice(public(thing))
            return name, getattr(thing, name)
        name = self.rng.choice([*public(thing), "__getitem__", "__setitem__", "__len__", "__repr__", "__iter__", "__eq__",
                                "__enter__", "__exit__", "__copy__", "__reduce__", "__hash__"])
        return name, getattr(thing, name)

    def array(self):
        shape = tuple(self.rng.choice([0, 1, 2, 3, 3, 3, 4, 5, 7, 10, 1335]) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 2, 3, 4])))
        while numpy.prod(shape, dtype=float) > 1e5:
            shape = shape[1:]
        made = self.numbers.normal(size=shape) * self.rng.choice([0, 1, 1, 1, 100, 1e30])
        made = numpy.asarray(made)
        with numpy.errstate(all="ignore"):
            made = made.astype(self.rng.choice(["f8", "f4", "f4", ">f4", ">f8", "i4", "u4", "i8", "u1", "?", "f2", "c8", "O", "U4"]))
        if made.size and made.dtype.kind == "f" and self.rng.random() < 0.2:
            made.flat[self.rng.randrange(made.size)] = self.rng.choice([numpy.nan, numpy.inf, -numpy.inf])
        if made.ndim and self.rng.random() < 0.2:
            made = made[::-1]
        if made.ndim > 1 and self.rng.random() < 0.2:
            made = made.T
        if self.rng.random() < 0.1:
            made.flags.writeable = False
        return made

    def value(self, depth=0):
        kind = self.rng.randrange(13)
        if kind < 3:
            return self.array()
        if kind < 6:
            return self.rng.choice(self.pool)
        if kind == 6:
            return self.rng.choice([0, 1, 2, 3, -1, -2, 7, 100, 2 ** 31 - 1, 2 ** 31, -2 ** 31, 2 ** 63, 2 ** 64, 10 ** 30, True, False])
        if kind == 7:
            return self.rng.choice([0.0, 0.5, -1.0, 1e30, 1e-30, float("nan"), float("inf"), -float("inf"), 70.0])
        if kind == 8:
            return self.rng.choice(self.names)
        if kind == 9:
            return self.rng.choice(self.files + ["missing", "new.obj", "new.glb", "new.pc2", "", "\0", "/", b"bytes"])
        if kind == 10:
            return self.rng.choice([None, None, object(), b"", b"glTF", lambda *a: False, type, 1j, ..., iter(())])
        if depth > 2:
            return None
        if kind == 11:
            made = [self.value(depth + 1) for _ in range(self.rng.randrange(4))]
            return tuple(made) if self.rng.random() < 0.5 else made
        return {self.rng.choice(self.names): self.value(depth + 1) for _ in range(self.rng.randrange(3))}

    def changed(self, value):
        """Another value, or for an array also the same numbers in another shape, type or order."""
        if not isinstance(value, numpy.ndarray) or self.rng.random() < 0.3:
            return self.value()
        way = self.rng.randrange(8)
        with numpy.errstate(all="ignore"):
            if way == 0:
                return value[..., :-1]
            if way == 1:
                return value[None]
            if way == 2:
                return value.astype(self.rng.choice(["f4", ">f8", "i4", "?", "c8", "O", "U8", "f2"]))
            if way == 3:
                return value[::-1]
            if way == 4:
                return numpy.repeat(value, 2, axis=-1)[..., ::2] if value.ndim else value
            if way == 5:
                return value[:0]
            if way == 6:
                return numpy.broadcast_to(value, (3, *value.shape))[0]
        again = value.astype(float)
        if again.size:
            again.flat[self.rng.randrange(again.size)] = self.rng.choice([numpy.nan, numpy.inf, -1, 1e30, 2 ** 31, 1e300, 7])
        return again

    def arguments(self, function):
        """Often as many as the function takes, by name or not; sometimes any."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        if not parameters or self.rng.random() < 0.2:
            return [self.value() for _ in range(self.rng.randrange(4))], {}
        given, named = [], {}
        for parameter in parameters:
            if parameter.default is not parameter.empty and self.rng.random() < 0.6:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                named.update({name: self.value() for name in self.rng.sample(self.names, self.rng.randrange(2))})
            elif parameter.kind is parameter.VAR_POSITIONAL:
                given.extend(self.value() for _ in range(self.rng.randrange(2)))
            elif parameter.kind is parameter.POSITIONAL_ONLY or parameter.kind is parameter.POSITIONAL_OR_KEYWORD and not named:
                given.append(self.value())
            else:
                named[parameter.name] = self.value()
        return given, named

    def right(self):
        """(function, arguments, keywords) of a call that works."""
        e, rng = self.exemplar, self.rng
        rig = rng.choice(self.whole)
        pose = rig.pose({axis.name: [axis.min, axis.max] for axis in rig.axes.values() if axis.width == 1})
        count = rig.vertex_count()
        weigher, place = rng.choice(self.weighers)
        line = numpy.array([[0.], [1.], [3.]])
        square = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.]]), numpy.array([[0, 1, 2, 3]])
        tree = e.Tree(*square)
        forms = numpy.stack([square[0], square[0] * 2])
        layer = e.layer("size", {"size": (0, 1)}, [[0], [1]], forms)
        mesh = e.Mesh(*square)
        return rng.choice([
            lambda: (rig.evaluate, [pose], {"normals": True, "weights": True, "box": True, "threads": 2, "level": 0}),
            lambda: (rig.evaluate, [pose], {"out": numpy.empty((2, count, 3), dtype="f4"), "muted": []}),
            lambda: (rig.evaluate, [pose], {"weighers": {name: rig.weigher(name) for name in rig.layers}}),
            lambda: (rig.jacobian, [pose[0]], {}),
            lambda: (rig.pose, [{next(iter(rig.axes)): [1, 2, 3]}], {}),
            lambda: (pose.set, [{next(iter(rig.axes)): [1, 2]}], {}),
            lambda: (pose.__setitem__, [next(iter(rig.axes)), [1, 2]], {}),
            lambda: (setattr, [pose, "dials", pose.dials], {}),
            lambda: (rig.vertex_count, [0], {}),
            lambda: (e.load, [rng.choice(self.rigs)], {"storage": "short", "normals": True}),
            lambda: (e.Weigher, [line], {"kind": "calm", "ranges": [[0, 3]], "names": ["a", "b", "c"]}),
            lambda: (weigher.weights, [place], {}),
            lambda: (weigher.gradient, [place], {}),
            lambda: (weigher.move, [0, place[0] + 0.01], {}),
            lambda: (weigher.add, [place[0] + 0.02], {"name": "new"}),
            lambda: (weigher.remove, [0], {}),
            lambda: (weigher.add_pseudo, [place[0] + 0.03], {"weights": [0] * len(weigher)}),
            lambda: (weigher.distance, [place[0], place[1]], {}),
            lambda: (e.Tree, list(square), {}),
            lambda: (tree.closest, [square[0]], {"reach": 1.0, "threads": 2}),
            lambda: (tree.rays, [square[0], square[0] + 1], {"t_min": 0, "t_max": 5}),
            lambda: (tree.blocked, [square[0], square[0] + 1], {}),
            lambda: (tree.refit, [square[0]], {}),
            lambda: (e.subdivide, [*square], {"levels": 1, "scheme": "catmull-clark", "limit": True}),
            lambda: (e.Subdivision(*square, 1).apply, [square[0]], {"level": 1, "normals": False}),
            lambda: (e.Rig, [*square], {"layers": [layer], "subdivide": 1}),
            lambda: (e.Rig, [*square], {"layers": [{**layer, rng.choice(list(layer)): self.value()}]}),
            lambda: (e.layer, ["size", {"size": (0, 1)}, [[0], [1]], forms], {"kind": "calm"}),
            lambda: (e.Mesh, [*square], {"texcoords": square[0][:, :2], "groups": ["a"], "face_groups": [0]}),
            lambda: (mesh.write, ["new.obj"], {}),
            lambda: (mesh.normals, ["angle"], {}),
            lambda: (mesh.compare, [mesh], {"tolerance": 0.1}),
            lambda: (e.Cache.write, ["new.pc2", forms], {"rate": 24, "mesh": mesh, "force": True}),
            lambda: (e.render, [rig, pose[0]], {"size": (40, 30), "yaw": 20}),
            lambda: (e.png_bytes, [numpy.zeros((4, 5, 3), dtype="u1")], {}),
            lambda: (e.read_image, [e.png_bytes(numpy.zeros((4, 5, 3), dtype="u1"))], {}),
        ])()

    def call(self):
        """One call; the name of what it raised, or 'fine'."""
        if self.rng.random() < 0.5:
            try:
                function, given, named = self.right()
            except Exception:  # of an object whose attributes were changed
                self.fill()
                return None
            slots = [*range(len(given)), *named]
            slot = self.rng.choice(slots) if slots else None
            if slot in named:
                named[slot] = self.changed(named[slot])
            elif slot is not None:
                given[slot] = self.changed(given[slot])
        else:
            try:
                name, function = self.places()
            except AttributeError:
                return None
            except Exception as error:  # a property
                return type(error).__name__
            if not callable(function) or name in SLOW and self.rng.random() > 0.02:
                return None
            given, named = self.arguments(function)
        try:
            made = function(*given, **named)
        except Exception as error:
            return type(error).__name__
        if type(made).__module__.startswith("exemplar") and len(self.pool) < 400:
            self.pool.append(made)
        elif self.rng.random() < 0.05 and len(self.pool) > 30:
            self.pool.pop(self.rng.randrange(len(self.pool)))  # freed, if nothing uses it
        if inspect.isgenerator(made):
            made.close()
        if self.rng.random() < 1e-3:  # attributes are the caller's to change
            thing = self.rng.choice(self.pool)
            try:
                if not isinstance(thing, numpy.ndarray):
                    setattr(thing, self.rng.choice(public(thing)), self.value())
            except Exception as error:
                return type(error).__name__
        if self.rng.random() < 1e-3:
            self.fill()
        return "fine"


def child(folder, calls, seed):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    numpy.seterr(all="ignore")
    fuzzer, counts = Fuzzer(folder, seed), {}
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        done = 0
        while done < calls:
            os.pwrite(1, f"{done:9d}".encode(), 0)
            try:
                what = fuzzer.call()
            except MemoryError:  # of our own arrays: what was kept is large
                fuzzer.fill()
                what = "MemoryError"
            if what:
                counts[what] = counts.get(what, 0) + 1
                done += 1
        os.chdir("/")
    os.pwrite(1, f"{done:9d} {counts}".encode(), 0)


def main():
    folder, calls = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if os.environ.get("EXEMPLAR_FUZZ_CHILD"):
        child(folder, calls, seed)
        return
    left, totals = calls, {}
    while left > 0:
        share = min(SHARE, left)
        with tempfile.TemporaryDirectory() as place, open(pathlib.Path(place) / "said", "w+b") as said:
            copy = pathlib.Path(place) / "copy"
            shutil.copytree(folder, copy)
            done = subprocess.run([sys.executable, "-B", "-X", "faulthandler", __file__, copy, str(share), str(seed)], stdout=said,
                                  stderr=subprocess.PIPE, env={**os.environ, "EXEMPLAR_FUZZ_CHILD": "1"})
            said.seek(0)
            text = said.read().decode(errors="replace")
        if done.returncode:
            print(done.stderr.decode(errors="replace")[-3000:])
            sys.exit(f"the interpreter ended with {done.returncode} in call {text.strip()} of seed {seed}")
        for name, count in eval(text.split(None, 1)[1]).items():
            totals[name] = totals.get(name, 0) + count
        left -= share
        seed += 1
    print(f"{calls} calls: " + ", ".join(f"{count} {name}" for name, count in sorted(totals.items(), key=lambda c: -c[1])))


main()
