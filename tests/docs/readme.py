"""The README, verbatim: it is short, its pictures are small, its shell lines run, and its C program compiles against
the runtime alone and gives the same vertex as 'exemplar pose'.

    readme.py README.md BUILD_DIR INCLUDE_DIR CC
"""
import os
import re
import subprocess
import sys
import tempfile

LINES = 150
PROGRAM_LINES = 25
PICTURE_BYTES = 450000  # of a moving picture


def blocks(text, language):
    return re.findall(r"^```" + language + r"\n(.*?)^```", text, re.M | re.S)


def run(command, folder, env):
    done = subprocess.run(command, cwd=folder, env=env, shell=isinstance(command, str), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {command}\n{done.stdout}")
    return done.stdout


def check_size(readme, text):
    if text.count("\n") > LINES:
        sys.exit(f"FAILED: the README has {text.count(chr(10))} lines, and at most {LINES} are wanted")
    pictures = re.findall(r'!\[[^]]*\]\(([^)]+)\)|<img src="([^"]+)"', text)
    if not pictures:
        sys.exit("FAILED: the README has no picture")
    for link in (a or b for a, b in pictures):
        if os.path.getsize(os.path.join(os.path.dirname(readme), link)) > PICTURE_BYTES:
            sys.exit(f"FAILED: '{link}' is above {PICTURE_BYTES} bytes")


def check_targets(readme, shell):
    """Every 'make TARGET' is a target of the Makefile."""
    with open(os.path.join(os.path.dirname(readme), "Makefile"), encoding="utf-8") as file:
        targets = set(re.findall(r"^([a-z-]+):", file.read(), re.M))
    named = set(re.findall(r"^make ([a-z-]+)", "".join(shell), re.M))
    if not {"demo", "test", "install"} <= named or not named <= targets:
        sys.exit(f"FAILED: the README has 'make {named}', the Makefile {sorted(targets)}")


def first_vertex(path):
    with open(path, encoding="utf-8") as file:
        return [float(word) for word in next(line for line in file if line.startswith("v ")).split()[1:4]]


def check_program(program, build, include, compiler, folder, env):
    if len(program.splitlines()) > PROGRAM_LINES:
        sys.exit(f"FAILED: the C program has more than {PROGRAM_LINES} lines")
    run(["exemplar", "demo", "blob", "-q", "-o", "out/demo/blob"], folder, env)
    with open(os.path.join(folder, "first.c"), "w", encoding="utf-8") as file:
        file.write(program)
    run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "first.c", "-I" + include, "-o", "first",
         os.path.join(build, "lib", "libexemplar.a"), "-lm"], folder, env)
    said = run(["./first"], folder, env)
    run(["exemplar", "pose", "out/demo/blob/blob.glb", "bend=0.4", "--level", "cage", "-q", "-o", "posed.obj"], folder, env)
    numbers = [float(word) for word in said.split(" at ")[1].split()]
    posed = first_vertex(os.path.join(folder, "posed.obj"))
    if any(abs(a - b) > 1e-5 for a, b in zip(numbers, posed, strict=True)):
        sys.exit(f"FAILED: the C program says {numbers}, 'exemplar pose' {posed}")
    print(said.strip())


def main():
    readme, build, include, compiler = sys.argv[1:5]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    check_size(readme, text)
    shell, programs = blocks(text, "sh"), blocks(text, "c")
    lines = [line for block in shell for line in block.splitlines() if line.startswith("exemplar ")]
    if len(programs) != 1 or not 3 <= len(lines) <= 5:
        sys.exit(f"FAILED: the README has {len(programs)} C programs and {len(lines)} lines for artists")
    check_targets(readme, shell)
    env = dict(os.environ, PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"])
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            run(line, folder, env)
        if not os.path.getsize(os.path.join(folder, "half.png")):
            sys.exit("FAILED: the picture is empty")
        check_program(programs[0], build, include, compiler, folder, env)
    print("1 passed, 0 failed")


main()
