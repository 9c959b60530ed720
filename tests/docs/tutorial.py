"""The tutorial, verbatim: runs its commands in an empty folder, compares their output with the page, and its pictures
with those that the commands make. Then checks the claims of the text on the files of the lesson.

    tutorial.py TUTORIAL.md BUILD_DIR [--write]

A block after "<!-- not run: REASON -->" is not run. Times, file sizes and the errors of baking may differ; all other
words and numbers may not. --write copies the new pictures into the folder of the page's pictures. The picture of the
exported page is made by scripts/editor-pictures; only its size is checked.
"""
import glob
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

PAGE_PICTURE = "page.png"
PAGE_SIZE = (1060, 720)
PICTURE_BYTES = 250000
ELAPSED = re.compile(r"\d[\d.]* (?:µs|ms|s|min)$")
BYTES = re.compile(r"(\d[\d.]*) (B|kB|MB)\b")
PROGRESS = re.compile(r"^exemplar: .*, \d+% done(, \d+ (s|min|h) left)?\n", re.M)  # only on a slow machine
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def fail(message):
    sys.exit("FAILED: " + message)


# ---- the page ----

def steps(page):
    """(commands, output) of every block of commands that is run; the output is empty if the page shows none."""
    found = []
    blocks = re.finditer(r"^(<!-- not run: [^>]+-->\n)?```(sh|text)\n(.*?)^```$", page, re.M | re.S)
    for not_run, language, body in (block.groups() for block in blocks):
        if language == "sh":
            found.append(None if not_run else [body, ""])
        elif not found or found[-1] is None or found[-1][1]:
            fail(f"no command prints this block:\n{body}")
        else:
            found[-1][1] = body
    return [step for step in found if step]


def pictures(page):
    return re.findall(r"!\[[^]]+\]\((pictures/[^)]+)\)", page)


# ---- output ----

def size_of(number, unit):
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]


def same_number(shown, printed):
    if all(re.fullmatch(r"-?\d+", word) for word in (shown, printed)):
        return shown == printed
    a, b = float(shown), float(printed)
    return abs(a - b) <= 1e-3 * max(abs(a), abs(b)) + 1e-3


def same_line(shown, printed):
    """True if two lines say the same, except for times, sizes (10 %), the version, and the error of baking (factor
    2)."""
    if shown.startswith("exemplar ") and re.fullmatch(r"exemplar \d+\.\d+\.\d+\S*", printed):
        return True
    lines = [ELAPSED.sub("TIME", line.rstrip()) for line in (shown, printed)]
    sizes = [[size_of(*pair) for pair in BYTES.findall(line)] for line in lines]
    lines = [BYTES.sub("SIZE", line) for line in lines]
    words = [re.sub(r"\s+", " ", NUMBER.sub("#", line)) for line in lines]
    numbers = [NUMBER.findall(line) for line in lines]
    if words[0] != words[1] or len(numbers[0]) != len(numbers[1]):
        return False
    if any(abs(a - b) > 0.1 * a for a, b in zip(*sizes)):
        return False
    if shown.startswith("error "):
        return float(numbers[1][0]) <= 2 * float(numbers[0][0])
    return all(same_number(*pair) for pair in zip(*numbers))


def compare(commands, shown, printed):
    shown, printed = shown.splitlines(), PROGRESS.sub("", printed).splitlines()
    for number in range(max(len(shown), len(printed))):
        a, b = ((lines[number] if number < len(lines) else "(nothing)") for lines in (shown, printed))
        if not same_line(a, b):
            fail(f"after\n{commands}the page shows\n  {a}\nand the tool prints\n  {b}")


# ---- pictures ----

def png_size(data):
    return struct.unpack(">II", data[16:24])


def pixels(data):
    """Rows of an 8-bit PNG without interlacing."""
    (width, height), depth, colour = png_size(data), data[24], data[25]
    if depth != 8 or colour not in (2, 6):
        fail(f"a PNG of depth {depth} and colour type {colour}")
    step, at, packed = {2: 3, 6: 4}[colour], 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, rows, above = zlib.decompress(packed), [], bytes(step * width)
    for y in range(height):
        start = y * (step * width + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + step * width])
        for i in range(len(row)):
            left, up = row[i - step] if i >= step else 0, above[i]
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + up) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif kind == 4:
                corner = above[i - step] if i >= step else 0
                far = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
                row[i] = (row[i] + (left, up, corner)[far.index(min(far))]) & 255
        rows.append(bytes(row))
        above = row
    return b"".join(rows)


def compare_pictures(kept, made):
    """Fails unless two pictures have the same size and less than 1 % of their numbers differ by more than 16 of 255."""
    with open(kept, "rb") as a, open(made, "rb") as b:
        a, b = a.read(), b.read()
    if png_size(a) != png_size(b):
        fail(f"{kept} has {png_size(a)} pixels, the lesson makes {png_size(b)}")
    if a == b:
        return
    first, second = pixels(a), pixels(b)
    if len(first) != len(second):
        fail(f"{kept} and the lesson's {made} do not have the same channels")
    far = sum(abs(x - y) > 16 for x, y in zip(first, second))
    if far > 0.01 * len(first):
        fail(f"{kept}: {100 * far / len(first):.1f} % differs from the picture that the lesson makes (--write replaces it)")


def check_pictures(page, folder, lesson):
    """Compares all pictures of the page with the new ones; the page must link all that belong to it."""
    linked = pictures(page)
    kept = glob.glob(os.path.join(folder, "pictures", "tutorial-*.png"))
    if {os.path.basename(path) for path in kept} != {os.path.basename(link) for link in linked}:
        fail(f"the page links {linked}, and the folder holds {kept}")
    for link in linked:
        path, name = os.path.join(folder, link), os.path.basename(link).removeprefix("tutorial-")
        if os.path.getsize(path) > PICTURE_BYTES:
            fail(f"{path} is above {PICTURE_BYTES // 1000} kB")
        if name != PAGE_PICTURE:
            compare_pictures(path, os.path.join(lesson, name))
        else:
            with open(path, "rb") as file:
                if png_size(file.read(24)) != PAGE_SIZE:
                    fail(f"{path} does not have {PAGE_SIZE} pixels")


# ---- the claims of the text ----

def form(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return ([tuple(map(float, words[1:4])) for words in lines if words and words[0] == "v"],
            [[int(word.split("/")[0]) - 1 for word in words[1:]] for words in lines if words and words[0] == "f"])


def apart(a, b):
    return max(math.dist(p, q) for p, q in zip(form(a)[0], form(b)[0]))


def tail_length(path, rest):
    """Edge lengths of the tail, compared with the mesh at rest; the tail is everything behind x = -0.62."""
    positions, faces = form(rest)
    behind = [p[0] < -0.62 for p in positions]
    edges = {tuple(sorted((a, b))) for face in faces for a, b in zip(face, face[1:] + face[:1]) if behind[a] and behind[b]}
    posed = form(path)[0]
    return sum(math.dist(posed[a], posed[b]) for a, b in edges) / sum(math.dist(positions[a], positions[b]) for a, b in edges)


def expect(truth, claim):
    if not truth:
        fail(f"the page says: {claim}")


def check_claims(page, run, lesson):
    at = lambda name: os.path.join(lesson, name)
    for line in "".join(step[0] for step in steps(page)).splitlines():
        name = re.search(r"-o (\S+\.(?:png|obj|glb))$", line)
        if name and "--turntable" not in line:
            expect(os.path.exists(at(name.group(1))), f"{name.group(1)} is written")
    run("exemplar pose straight/stand.glb kick=0.5 --no-normals -q -o straight_half.obj")
    expect(abs(tail_length(at("straight_half.obj"), at("stand.obj")) - 0.58) < 0.01, "straight lines leave 58 % of the tail")
    expect(abs(tail_length(at("half.obj"), at("stand.obj")) - 1) < 0.03, "on paths the tail keeps its size")
    expect(apart(at("half.obj"), at("buck.obj")) > 0.3, "the sculpt differs clearly from what the rig makes")
    expect(apart(at("buck.obj"), at("back.obj")) < 1e-5, "the sculpt comes back within a hundredth of a millimetre")
    for value, name in ((0, "stand"), (1, "kick")):
        run(f"exemplar pose animal/stand.glb kick={value} --no-normals -q -o end.obj")
        expect(apart(at("end.obj"), at(name + ".obj")) < 1e-5, f"'{name}' comes back too")
    with open(at("sculpt.py"), encoding="utf-8") as file:
        expect(len(file.readlines()) == 11, "eleven lines of Python")
    expect(os.path.exists(at("animal/stand.json~")), "the project before is kept")
    with open(at("kick.glb"), "rb") as file:
        size = struct.unpack("<I", file.read(20)[12:16])[0]
        document = json.loads(file.read(size))
    expect("extensionsRequired" not in document and len(document["animations"]) == 1, "kick.glb is standard glTF that moves")
    said = run("exemplar bake animal/stand.glb --motion kick.csv --fps 24 --targets 4 -o four.glb")
    error = float(re.search(r"^error +up to (\S+) m", said, re.M).group(1))
    expect(0.007 < error < 0.014, "with --targets 4 the error is about 10 mm")


def main():
    path, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    write = sys.argv[3:] == ["--write"]
    with open(path, encoding="utf-8") as file:
        page = file.read()
    folder = os.path.dirname(path)
    with tempfile.TemporaryDirectory() as top:
        env = dict(os.environ, PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"])
        where, came = top, os.path.join(top, "where")

        def run(commands):
            nonlocal where
            done = subprocess.run(["bash", "-e", "-c", f"{commands}\npwd > '{came}'"], cwd=where, env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode != 0 and "built without the editor" not in done.stdout:
                fail(f"{commands}\n{done.stdout}")
            with open(came, encoding="utf-8") as file:
                where = file.read().strip()
            return done.stdout

        started, with_editor = time.monotonic(), True
        for commands, shown in steps(page):
            said = run(commands)
            if "built without the editor" in said:
                with_editor = False
            else:
                compare(commands, shown, said)
        took = time.monotonic() - started
        if write:
            for link in pictures(page):
                name = os.path.basename(link).removeprefix("tutorial-")
                if name != PAGE_PICTURE:
                    shutil.copyfile(os.path.join(where, name), os.path.join(folder, link))
        check_pictures(page, folder, where)
        check_claims(page, run, where)
        if with_editor:
            expect(os.path.getsize(os.path.join(where, "animal.html")) > 1e6, "one page holds the character")
    print(f"the lesson took {took:.1f} s" + ("" if with_editor else "; without the editor, which is not built"))
    print("1 passed, 0 failed")


main()
