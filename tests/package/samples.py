"""The programs of samples/ with only an installed prefix: built, run on rigs from the tool, and their output checked.
None is longer than 80 lines.

    samples.py SAMPLES BUILD_FOLDER WORK_FOLDER C_COMPILER
"""
import pathlib
import re
import shutil
import subprocess
import sys

LINES = 80


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def expect(output, pattern, name):
    found = re.search(pattern, output)
    if not found:
        sys.exit(f"FAILED: {name} says\n{output}")
    return [float(number) for number in found.groups()]


def near(a, b, what):
    if len(a) != len(b) or any(abs(x - y) > 1e-4 for x, y in zip(a, b)):
        sys.exit(f"FAILED: {what}: {a}, not {b}")


def first_vertex(path):
    for line in path.read_text().splitlines():
        if line.startswith("v "):
            return [float(word) for word in line.split()[1:4]]
    sys.exit(f"FAILED: {path} has no vertex")


def main():
    samples, build, work = (pathlib.Path(word) for word in sys.argv[1:4])
    compiler = sys.argv[4]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for source in samples.glob("*.c"):
        if len(source.read_text().splitlines()) > LINES:
            sys.exit(f"FAILED: {source.name} has more than {LINES} lines")
    run("cmake", "--install", build, "--prefix", work / "prefix")
    run("cmake", "-S", samples, "-B", work / "build", "-G", "Ninja", f"-DCMAKE_C_COMPILER={compiler}",
        f"-DCMAKE_PREFIX_PATH={work / 'prefix'}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", work / "build")
    tool, made = work / "prefix/bin/exemplar", work / "build"

    run(tool, "demo", "blob", "-q", "-o", work / "blob")
    blob = work / "blob/blob.glb"
    told = run(made / "play", blob, "bend", 0, 1)
    if len(told.splitlines()) != 9:
        sys.exit(f"FAILED: play says\n{told}")
    told = run(made / "from_arrays")
    near(expect(told, r"square (\S+), wide (\S+), tall (\S+)", "from_arrays"), [-1.5, 0.5, 2], "weights of from_arrays")
    near(expect(told, r"vertex 2 at (\S+) (\S+)", "from_arrays"), [1.5, 3], "a vertex of from_arrays")
    told = run(made / "edit_space", blob)
    before, after = (float(word) for word in re.findall(r"(?:before|after)\n  \S+\s+(\S+)", told))
    if abs(before - 1) > 1e-6 or abs(after - 1) < 1e-3:
        sys.exit(f"FAILED: edit_space says\n{told}")
    told = run(made / "crowd", blob, "bend", 0, 1)
    run(tool, "pose", blob, "bend=1", "--level", "cage", "-o", work / "bent.obj")
    near(expect(told, r"is at (\S+) (\S+) (\S+)", "crowd"), first_vertex(work / "bent.obj"), "the last of the crowd")
    told = run(made / "vertex_buffer", blob)
    normal = expect(told, r"corner 0: position \S+ \S+ \S+, normal (\S+) (\S+) (\S+)", "vertex_buffer")
    near([sum(x * x for x in normal)], [1], "the square of a normal")

    run(tool, "demo", "bar", "-q", "-o", work / "bar")
    forms = sorted((work / "bar").glob("*.obj"))
    run(made / "warp", forms[0], forms[1], work / "halfway.obj")
    first_vertex(work / "halfway.obj")
    run(tool, "demo", "sleeve", "-q", "-o", work / "sleeve")
    told = run(made / "cloth", work / "sleeve/sleeve.glb", work / "sleeve/driver_unseen.pc2")
    expect(told, r"(\d+) frames; the body was at most (\S+) m", "cloth")
    if (made / "gpu").exists():
        expect(run(made / "gpu", blob), r"there is no GPU here|is at \S+ \S+ \S+", "gpu")
    print("1 passed, 0 failed")


main()
