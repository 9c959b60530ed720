"""Calls everything that the package has, with random arguments, most of them wrong: each call may raise an exception,
and none may end the interpreter.

usage: fuzz_calls.py FOLDER CALLS [SEED]

FOLDER has arm/arm.glb and other demos (tests/python/test_fuzz.py makes it). Calls are made by child processes, 20 000 each,
which write the number of the call before they make it: so a crash names its call. A process may take 4 GB of memory.
"""
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
    return [name for name in dir(thing) if not name.startswith("_") and name not in SKIP]


class Fuzzer:
    def __init__(self, folder, seed):
        import exemplar
        self.exemplar, self.rng, self.folder = exemplar, random.Random(seed), folder
        self.numbers = numpy.random.default_rng(seed)
        self.pool = []
        self.files = [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < 3e6]
        self.names = ["elbow", "gender", "x", "y", "bend", "", "\0", "nothing", "a b:c", "arm", "shoulder", "float", "cardinal",
                      "calm", "limit", "keys", "motion"]
        self.fill()

    def fill(self):
        """Objects that work, of as many kinds as can be made quickly."""
        e = self.exemplar
        self.pool = [e.load(path) for path in sorted(self.folder.glob("*/*.glb")) if path.stem == path.parent.name]
        for rig in list(self.pool):
            self.pool += [rig.pose(), rig.mesh, rig.skeleton, *rig.axes.values(), *rig.layers.values()]
            if hasattr(rig, "weigher"):
                self.pool += [rig.weigher(name) for name in rig.layers]
        self.pool += [e.Weigher([[0], [1], [3]]), e.Weigher(numpy.random.rand(5, 2), kind="calm")]
        triangle = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float), numpy.array([[0, 1, 2]])
        for name in ("Mesh", "Tree", "Subdivision"):
            if hasattr(e, name):
                self.pool.append(getattr(e, name)(*triangle))
        projects = [path for path in self.files if path.endswith(".json")]
        if hasattr(e, "Project") and projects:
            self.pool.append(e.Project(projects[0]))

    def places(self):
        """(name, function) of what can be called: functions, classes, and methods of objects in the pool."""
        e = self.exemplar
        if self.rng.random() < 0.35:
            name = self.rng.choice(public(e))
            thing = getattr(e, name)
            if inspect.ismodule(thing):
                name = self.rng.choice(public(thing))
                thing = getattr(thing, name)
            return name, thing
        thing = self.rng.choice(self.pool)
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

    def call(self):
        """One call; the name of what it raised, or 'fine'."""
        name, function = self.places()
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
            what = fuzzer.call()
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
