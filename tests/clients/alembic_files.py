"""Alembic files that other programs wrote: those among the tests of the Alembic library (Debian's source package
alembic-graphics). Skipped unless ALEMBIC_SOURCE names the folder of that source.

Twelve of its damaged files were once the same file, which Blender wrote: its monkey. Where they disagree, most are
right, so the file comes back. The damaged ones are refused in a sentence.

    alembic_files.py WORK TOOL
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys

work, tool = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
source = os.environ.get("ALEMBIC_SOURCE")
if not source:
    print("skipped: ALEMBIC_SOURCE does not name the source of the Alembic library")
    sys.exit(77)
files = sorted(pathlib.Path(source).resolve().glob("lib/Alembic/*/Tests/*.abc"))
work = work / "alembic_files"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
SIZE = 24609


def fail(sentence):
    sys.exit(f"FAILED: {sentence}")


def run(*words):
    return subprocess.run([tool, *words], cwd=work, capture_output=True, text=True, timeout=60)


def repaired():
    alike = [file.read_bytes() for file in files if file.stat().st_size == SIZE]
    if len(alike) < 10:
        fail(f"{source} has {len(alike)} copies of the file of Blender")
    return bytes(collections.Counter(column).most_common(1)[0][0] for column in zip(*alike))


def read_blender():
    """The faces of the monkey, as everybody has counted them, and its extents: y is up."""
    (work / "suzanne.abc").write_bytes(repaired())
    (work / "suzanne.json").write_text('{"exemplar": 1, "mesh": "suzanne.abc:/Suzanne/SuzanneShape", "layers": []}')
    for words in (("build", "suzanne.json"), ("pose", "suzanne.glb", "-o", "suzanne.obj")):
        done = run(*words)
        if done.returncode != 0:
            fail(f"{words[0]}: {done.stderr}")
    lines = [line.split() for line in (work / "suzanne.obj").read_text().splitlines()]
    points = [tuple(float(x) for x in line[1:4]) for line in lines if line and line[0] == "v"]
    faces = [[int(word.split("/")[0]) for word in line[1:]] for line in lines if line and line[0] == "f"]
    edges = collections.Counter((a, b) for face in faces for a, b in zip(face, face[1:] + face[:1]))
    sizes = collections.Counter(len(face) for face in faces)
    if len(points) != 507 or sizes != {4: 468, 3: 32} or len({frozenset(edge) for edge in edges}) != 1005:
        fail(f"{len(points)} vertices, faces {dict(sizes)}")
    if max(edges.values()) > 1:
        fail("neighbouring faces run in different directions")
    extents = [max(abs(p[c]) for p in points) for c in range(3)]
    if extents != [1.3671875, 0.984375, 0.8515625]:
        fail(f"its extents are {extents}")


def refuse_damaged():
    refused = 0
    for file in files:
        done = run("info", file)
        if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stderr.startswith("exemplar: ")):
            fail(f"{file.name}: exit {done.returncode}, {done.stderr}")
        refused += done.returncode
    if refused < 40:
        fail(f"only {refused} of {len(files)} are refused")
    return refused


read_blender()
print(f"2 passed, 0 failed: a file of Blender was read, {refuse_damaged()} of {len(files)} files were refused")
