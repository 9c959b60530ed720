"""docs/guides/embed.md, verbatim: its program is built against an installed prefix in the four ways that the page
shows, prints the numbers of the page and of 'exemplar pose', and links the libraries that the page names. Its pieces of
C compile without a warning and run, with a misuse hook that aborts, each alone and those of one rig together. Its
program in C++ prints the same numbers.

    embed.py EMBED.md SOURCE_DIR BUILD_DIR CC

Comments before blocks of the page say what a block is: '<!-- piece: RIG -->' goes into the program and runs with that
demo, '<!-- above main -->' comes before it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RUN_HERE = "tests/docs/embed.py runs"
# The variables of the program that pieces use.
HARNESS = """\
#include <exemplar/exemplar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{above}
static void stop(const char *function, const char *what) {{
    fprintf(stderr, "misuse: %s: %s\\n", function, what);
    exit(1);
}}
static void piece(ex_rig *rig, ex_pose pose, ex_output output, ex_evaluation how, void *scratch) {{
    ex_error error = {{0}};
    (void)rig, (void)pose, (void)output, (void)how, (void)scratch, (void)error;
    {{
{piece}    }}
    if (error.text[0])
        stop("an error", error.text);
}}
int main(int argc, char **argv) {{
    static char bytes[1 << 24];
    FILE *file = fopen(argv[argc - 1], "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    ex_rig *rig;
    ex_error error;
    ex_set_misuse_hook(stop);
    if (ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error) != EX_OK)
        return puts(error.text), 1;
    ex_evaluation how = {{.level = ex_rig_level(rig)}};
    ex_pose pose = {{.inputs = malloc(sizeof(double) * (size_t)(ex_rig_pose_size(rig) + 1)),
                    .joints = malloc(sizeof(ex_transform) * (size_t)(ex_rig_joint_count(rig) + 1))}};
    ex_rig_rest_pose(rig, &pose);
    ex_output output = {{.positions = malloc(sizeof(float[3]) * (size_t)ex_rig_level_vertex_count(rig, how.level))}};
    piece(rig, pose, output, how, malloc(ex_rig_scratch_size(rig, &how, 1)));
    return 0;
}}
"""


def fail(sentence):
    sys.exit(f"FAILED: {sentence}")


def run(command, folder, env=None):
    done = subprocess.run(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        fail(f"{' '.join(str(word) for word in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def blocks(text):
    """(comment before it, language, body) of every block."""
    pattern = r"(?:^<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```$"
    return [(found[1] or "", found[2], found[3]) for found in re.finditer(pattern, text, re.M | re.S)]


def numbers(line):
    return [float(word) for word in re.findall(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?", line)]


def near(a, b, tolerance, what):
    if len(a) != len(b) or any(abs(x - y) > tolerance for x, y in zip(a, b)):
        fail(f"{what}: {a}, not {b}")


def compare(said, expected, what):
    """True for the same lines: the same words, and numbers that differ at most by rounding."""
    said, expected = said.strip().splitlines(), expected.strip().splitlines()
    if len(said) != len(expected):
        fail(f"{what} says\n" + "\n".join(said))
    for a, b in zip(said, expected):
        if re.sub(r"\d+\.\d+", "#", a).split() != re.sub(r"\d+\.\d+", "#", b).split():
            fail(f"{what} says '{a}', the page '{b}'")
        near(numbers(a), numbers(b), 2e-5, f"{what} says '{a}'")


def check_shell(page, found, work, env):
    """Runs the blocks of the page in one shell, in order, and compares their output with the text below them."""
    script, expected = ["set -e"], {}
    for number, (comment, language, body) in enumerate(found):
        if language != "sh":
            continue
        if not comment.startswith("not run: "):
            fail(f"a block of shell without a reason why no other test runs it:\n{body}")
        if RUN_HERE not in comment:
            continue
        # make has already run. The two files are compiled without optimisation: another test compares their results to
        # the bit.
        lines = [line.replace("-O2", "-O0") for line in body.splitlines() if not line.startswith("make ")]
        script += [f"echo @{number}"] + lines
        if number + 1 < len(found) and found[number + 1][1] == "text":
            expected[number] = found[number + 1][2]
    said = dict(re.findall(r"^@(\d+)\n(.*?)(?=^@|\Z)", run(["sh", "-c", "\n".join(script)], work, env), re.M | re.S))
    if len(expected) != 2:
        fail(f"{len(expected)} blocks of shell have their output below them")
    for number, text in expected.items():
        compare(said[str(number)], text, f"block {number}")
    known = {line.split(":")[0]: line for text in expected.values() for line in text.splitlines()}
    alone = [line for number, text in said.items() if int(number) not in expected
             for line in text.splitlines() if re.match(r"\w+=\d+: vertex", line)]
    if len(alone) < 2:
        fail("the static program or that of two files says nothing")
    for line in alone:
        compare(line, known[line.split(":")[0]], "another program")
    # Compare with the tool, too.
    for setting, line in known.items():
        if re.fullmatch(r"\w+=\d+", setting):
            run(["exemplar", "pose", "arm/arm.glb", setting, "-q", "-o", "tool.obj"], work, env)
            vertices = [row for row in (work / "tool.obj").read_text().splitlines() if row.startswith("v ")]
            near(numbers(line), [float(word) for word in vertices[-1].split()[1:4]], 1e-5, f"{setting}, beside 'exemplar pose'")
    # Compare with the page's statements about libraries, too.
    sentences = re.findall(r"`ldd (\w+)` shows ((?:`[\w.]+`(?:, | and )?)+)", page)
    if len(sentences) != 3:
        fail(f"the page names the libraries of {len(sentences)} programs")
    for program, names in sentences:
        linked = re.findall(r"^\s*(lib\S+) =>", run(["ldd", program], work, env), re.M)
        if sorted(linked) != sorted(re.findall(r"`([\w.]+)`", names)):
            fail(f"ldd {program} shows {linked}")


def check_cmake(found, work, compiler, env):
    lists = [body for _, language, body in found if language == "cmake"]
    if len(lists) != 1:
        fail("the page has no single CMakeLists.txt")
    folder = work / "cmake"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(lists[0])
    shutil.copy(work / "play.c", folder)
    run(["cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={work / 'prefix'}", f"-DCMAKE_C_COMPILER={compiler}"], folder, env)
    run(["cmake", "--build", "build"], folder, env)
    compare(run([folder / "build/play", "arm/arm.glb", "elbow", "90"], work, env),
            run(["./play", "arm/arm.glb", "elbow", "90"], work, env), "the program built by CMake")


def check_plus(found, work, env):
    programs = [body for comment, _, body in found if comment == "c++"]
    if len(programs) != 1:
        fail("the page has no single program in C++")
    (work / "plus.cpp").write_text(programs[0])
    run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "plus.cpp", "-Iprefix/include", "prefix/lib/libexemplar.a",
         "-lm", "-o", "plus"], work, env)
    said, known = run(["./plus", "arm/arm.glb"], work, env), run(["./play", "arm/arm.glb", "elbow", "90"], work, env)
    near(numbers(said), numbers(known), 2e-5, "the program in C++")


def check_together(pieces, above, work, compiler, env):
    """The pieces of the rig that has most, one after the other. valgrind, if it is there, sees writes out of bounds."""
    rig, bodies = max(pieces.items(), key=lambda item: len(item[1]))
    if len(bodies) < 3:
        fail(f"{len(bodies)} pieces for {rig}")
    (work / "together.c").write_text(HARNESS.format(above=above, piece="".join(bodies)))
    run([compiler, "-std=c17", "-g", "-Wno-unused-function", "together.c", "-Iprefix/include", "prefix/lib/libexemplar.a", "-lm",
         "-o", "together"], work, env)
    watch = ["valgrind", "-q", "--error-exitcode=9"] if shutil.which("valgrind") else []
    run([*watch, "./together", f"{rig}/{rig}.glb"], work, env)


def check_pieces(found, work, compiler, env):
    above, count, said, pieces = "", 0, "", {}
    for comment, language, body in found:
        rig = re.fullmatch(r"piece: (\w+)", comment)
        if language != "c" or "int main" in body:
            continue
        if comment == "above main":
            above += body
            continue
        if not rig:
            fail(f"a piece of C without '<!-- piece: RIG -->' before it:\n{body}")
        count += 1
        pieces.setdefault(rig[1], []).append(body)
        source = work / f"piece{count}.c"
        source.write_text(HARNESS.format(above=above, piece=body))
        # A piece does not use everything above it.
        run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", source, "-Iprefix/include",
             "prefix/lib/libexemplar.a", "-lm", "-o", f"piece{count}"], work, env)
        if not (work / rig[1]).exists():
            run(["exemplar", "demo", rig[1], "-q", "-o", rig[1]], work, env)
        said += run([f"./piece{count}", f"{rig[1]}/{rig[1]}.glb"], work, env)
    if count < 5 or "the elbow is at 90.000 degrees" not in said:
        fail(f"{count} pieces say\n{said}")
    check_together(pieces, above, work, compiler, env)
    return count


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    source, build = (pathlib.Path(word) for word in sys.argv[2:4])
    # A shell splits what pkg-config prints at spaces, so the prefix has none.
    with tempfile.TemporaryDirectory(prefix="exemplar-embed-") as work:
        try_page(page, source, build, pathlib.Path(work), sys.argv[4])


def try_page(page, source, build, work, compiler):
    (work / "bin").mkdir()
    found = blocks(page)
    program = [body for _, language, body in found if language == "c" and "int main" in body]
    if len(program) != 1 or len(program[0].splitlines()) > 45:
        fail("the page has no single program, or a long one")
    (work / "play.c").write_text(program[0])

    # The steps that the page leaves to make, and a cc that is this build's compiler.
    run(["cmake", "--install", build, "--prefix", work / "prefix"], work)
    run([sys.executable, "-B", source / "scripts/amalgamate", "-o", work / "out"], work)
    (work / "bin/cc").write_text(f'#!/bin/sh\nexec "{compiler}" -Wall -Wextra "$@"\n')
    (work / "bin/cc").chmod(0o755)
    env = dict(os.environ, PATH=os.pathsep.join([str(work / "bin"), str(work / "prefix/bin"), os.environ["PATH"]]))
    run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "play.c", "-Iprefix/include"], work)

    check_shell(page, found, work, env)
    check_cmake(found, work, compiler, env)
    check_plus(found, work, env)
    count = check_pieces(found, work, compiler, env)
    print(f"the program in four ways, and {count} pieces")
    print("1 passed, 0 failed")


main()
