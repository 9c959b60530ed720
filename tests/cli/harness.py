"""Shared by the tests of the tool: runs it in a folder per test, and makes a small project to work on.

Every script is called as NAME.py TOOL REPOSITORY and ends with harness.main(); it needs only python3's own library.
"""
import atexit
import ctypes
import json
import os
import re
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

TOOL = None
REPOSITORY = None
SANITIZED = False
THREAD_SANITIZED = False  # that sanitizer crashes if the size of files is limited


class Outcome:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "surrogateescape")
        self.err = process.stderr.decode("utf-8", "surrogateescape")
        self.bytes = process.stdout

    def json(self):
        def no_duplicates(pairs):
            keys = [key for key, _ in pairs]
            assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
            return dict(pairs)

        def no_constant(word):
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.bytes.decode("utf-8"), object_pairs_hook=no_duplicates, parse_constant=no_constant)


LIBC = ctypes.CDLL(None, use_errno=True)
DROP_FROM_BOUNDING_SET = 24  # prctl's PR_CAPBSET_DROP
RIGHTS_OVER_MODES = 1, 2, 3  # the capabilities CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER


def obey_modes():
    """Takes root's right to read and write everything from the program that this process starts next: from then on,
    files and folders are as protected from it as their modes say. Whoever is not root has no such right."""
    for right in RIGHTS_OVER_MODES if os.geteuid() == 0 else ():
        if LIBC.prctl(DROP_FROM_BOUNDING_SET, right, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot give up the rights of root")


def can_obey_modes():
    try:
        return subprocess.run(["true"], preexec_fn=obey_modes).returncode == 0
    except subprocess.SubprocessError:
        return False


def limits(file_size=None, memory=None, modes=False, open_files=None):
    """Sets a child's limits: beyond file_size a write fails as on a full disk, beyond memory an allocation fails. With
    modes, protected files and folders are closed to root too. open_files: how many it may open at once."""
    def set_them():
        if modes:
            obey_modes()
        if file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which ends the tool unless it handles it
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        if memory is not None and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
    return set_them


def preloadable(library):
    """Copies a library to a path without spaces, which LD_PRELOAD would take for several; empty without one."""
    if not library:
        return ""
    folder = tempfile.mkdtemp(prefix="exemplar-preload-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return shutil.copy(library, folder)


def without_progress(text):
    """Removes lines of progress, which appear after a second, and of time to come, as may happen on a slow machine."""
    return re.sub(r"^exemplar: (.*, \d+% done(, \d+ (s|min|h) left)?|learning will take .*)\n", "", text, flags=re.M)


class Case(unittest.TestCase):
    """A test in a new folder, self.folder, where the tool runs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exemplar-cli-"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def run_tool(self, *words, stdout=subprocess.PIPE, file_size=None, memory=None, modes=False):
        process = subprocess.run([TOOL, *[str(word) for word in words]], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=stdout, stderr=subprocess.PIPE, timeout=120,
                                 preexec_fn=limits(file_size, memory, modes))
        if process.stdout is None:
            process.stdout = b""
        return Outcome(process)

    def succeed(self, *words, **how):
        outcome = self.run_tool(*words, **how)
        self.assertEqual(without_progress(outcome.err), "", words)
        self.assertEqual(outcome.code, 0, words)
        return outcome

    def sentence(self, outcome, code, *fragments):
        """Expects the exit code, and one line on stderr that has the fragments."""
        self.assertEqual(outcome.code, code, outcome.err)
        self.assertEqual(without_progress(outcome.err).count("\n"), 1, outcome.err)
        self.assertTrue(outcome.err.startswith("exemplar"), outcome.err)
        self.assertNotRegex(outcome.err, r"\(null\)|runtime error|Sanitizer")
        for fragment in fragments:
            self.assertIn(fragment, outcome.err)

    def listing(self):
        """Every file and folder below the test's folder, with the bytes of the files."""
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
                for path in self.folder.rglob("*")}


# ---- a project: a band of three quads that bends and grows ----

REST = [[x, y, 0.0] for x in range(4) for y in range(2)]
FACES = [[1, 3, 4, 2], [3, 5, 6, 4], [5, 7, 8, 6]]


def bent(amount, girth):
    return [[x, y * (1 + girth), amount * x * x / 9] for x, y, _ in REST]


def obj_text(positions, faces=FACES):
    lines = ["mtllib band.mtl"] + [f"v {x!r} {y!r} {z!r}" for x, y, z in positions]
    lines += [f"vt {x / 3!r} {y!r}" for x, y, _ in REST]
    lines += ["g front", "usemtl red"]
    for number, face in enumerate(faces):
        if number == 1:
            lines += ["g back", "usemtl blue"]
        lines.append("f " + " ".join(f"{corner}/{corner}" for corner in face))
    return "\n".join(lines) + "\n"


FORMS = {"straight": (0, 0), "bent": (1, 0), "thick": (0, 1), "both": (1, 1)}


def project():
    examples = [{"name": name, "mesh": f"{name}.obj", "at": {"bend": 90 * bend, "girth": girth}}
                for name, (bend, girth) in FORMS.items()]
    return {"exemplar": 1, "mesh": "straight.obj", "layers": [{
        "name": "body",
        "space": [{"name": "bend", "min": 0, "max": 90, "rest": 0}, {"name": "girth", "min": 0, "max": 1, "rest": 0}],
        "weigh": {"kind": "cardinal", "kernel": "bspline", "linear": True},
        "shape": "positions",
        "examples": examples,
        "pseudo": [{"from": {"bend": 45, "girth": 0.5}, "at": {"bend": 50, "girth": 0.5}}]}]}


def write_project(folder, description=None, name="band.json"):
    folder.mkdir(parents=True, exist_ok=True)
    for form, (bend, girth) in FORMS.items():
        (folder / f"{form}.obj").write_text(obj_text(bent(bend, girth)))
    (folder / name).write_text(json.dumps(description or project()))


def png(width, height, colour=(128, 64, 32), pixels=None):
    """A PNG file of one colour, or of the bytes of its pixels, which are the same in every row."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (b"\0" + (pixels or bytes(colour) * width)) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def positions_of(text):
    return [[float(word) for word in line.split()[1:4]] for line in text.splitlines() if line.startswith("v ")]


def main():
    global TOOL, REPOSITORY, SANITIZED, THREAD_SANITIZED
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL REPOSITORY")
    TOOL = os.path.abspath(sys.argv[1])
    REPOSITORY = pathlib.Path(sys.argv[2])
    program = pathlib.Path(TOOL).read_bytes()
    THREAD_SANITIZED = b"__tsan_init" in program
    SANITIZED = b"__asan_init" in program or THREAD_SANITIZED
    finish(unittest.main(module="__main__", argv=[sys.argv[0]] + sys.argv[3:], exit=False).result)


def finish(result):
    """Prints why cases were skipped; ctest shows 77 as Skipped, and scripts/test counts it by reason."""
    reasons = {reason for _, reason in result.skipped}
    for reason in sorted(reasons):
        print(f"skipped: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if reasons else 0)
