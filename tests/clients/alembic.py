"""The Alembic library reads what the tool writes: even and uneven times, one frame and many. Skipped without it.

    alembic.py SOURCE WORK TOOL      ALEMBIC_ROOT may name the folder where the library is installed
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys

source, work, tool = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
root = pathlib.Path(os.environ.get("ALEMBIC_ROOT", "/usr"))
compiler = shutil.which(os.environ.get("CXX", "c++"))
if not compiler or not (root / "include/Alembic/AbcGeom/All.h").exists():
    print(f"skipped: no C++ compiler, or no Alembic library in {root} (ALEMBIC_ROOT)")
    sys.exit(77)

work = work / "alembic"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
reader = work / "alembic_read"
subprocess.run([compiler, "-std=c++17", f"-I{root}/include", f"-I{root}/include/Imath", "-I/usr/include/Imath",
                source / "alembic_read.cpp", "-o", reader, f"-L{root}/lib", f"-Wl,-rpath,{root}/lib", "-lAlembic",
                "-lImath"], check=True)


def run(*words):
    subprocess.run([tool, *words, "-q"], cwd=work, check=True)


def read(name):
    """Faces and frames [(time, positions)] as the library has them; faces in our direction."""
    lines = subprocess.run([reader, work / name], capture_output=True, text=True, check=True).stdout.splitlines()
    faces = [[int(x) for x in line.split()[1:]][::-1] for line in lines if line[0] == "f"]
    rows = [line.split()[1:] for line in lines if line[0] == "t"]
    return faces, [(float(row[0]), tuple(struct.unpack("f", struct.pack("f", float(x)))[0] for x in row[1:]))
                   for row in rows]


def read_mdd(name):
    data = (work / name).read_bytes()
    frames, vertices = struct.unpack_from(">ii", data)
    times = struct.unpack_from(f">{frames}f", data, 8)
    size = 3 * vertices
    return [(time, struct.unpack_from(f">{size}f", data, 8 + 4 * frames + 4 * size * f)) for f, time in enumerate(times)]


def read_faces(name):
    return [[int(word.split("/")[0]) - 1 for word in line.split()[1:]]
            for line in (work / name).read_text().splitlines() if line.startswith("f ")]


def turned(face):
    """The face from its least vertex on."""
    first = face.index(min(face))
    return face[first:] + face[:first]


motions = {"even": [f / 24 for f in range(300)], "uneven": [0, 0.1, 0.15, 1], "one": [0.5]}
failed = 0
run("demo", "arm", "-o", "arm")
for name, times in motions.items():
    table = "".join(f"{time!r},{90 * i / len(times)!r}\n" for i, time in enumerate(times))
    (work / f"{name}.csv").write_text("time,elbow\n" + table)
    for ending in ("abc", "mdd", "obj"):
        run("bake", "arm/arm.glb", "--motion", f"{name}.csv", "-o", f"{name}.{ending}")
    faces, frames = read(f"{name}.abc")
    wanted = read_mdd(f"{name}.mdd")
    good = (len(frames) == len(times) and [positions for _, positions in frames] == [form for _, form in wanted] and
            max(abs(frame[0] - time) for frame, time in zip(frames, times)) < 1e-6 and
            [turned(face) for face in faces] == [turned(face) for face in read_faces(f"{name}_0001.obj")])
    print(f"{'ok' if good else 'FAILED':7} {name}: {len(frames)} frames, {len(faces)} faces")
    failed += not good
print(f"{len(motions) - failed} passed, {failed} failed")
sys.exit(failed > 0)
