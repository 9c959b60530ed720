"""The README, word for word: its shell lines run, its C program compiles against the built libraries, both give the same
first vertex, and the lines of C for engines compile too. Its pictures are small, and are what their commands make.

    readme.py README.md BUILD_DIR INCLUDE_DIR CC
"""
import os
import re
import struct
import subprocess
import sys
import tempfile


def blocks(text, language):
    return re.findall(r"^```" + language + r"\n(.*?)^```", text, re.M | re.S)


def run(command, folder, env):
    done = subprocess.run(command, cwd=folder, env=env, shell=isinstance(command, str), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {command}\n{done.stdout}")
    return done.stdout


def first_vertex(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("v "):
                return [float(word) for word in line.split()[1:4]]
    sys.exit(f"FAILED: {path} has no vertex")


def png_size(path):
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:24])


def check_pictures(readme, text, env):
    """Every picture is linked, below 200 kB, and made by a command of the README, which gives one of the same size;
    figures of papers are tested where they are made, and the editor is pictured where it is tested in a browser."""
    linked = re.findall(r"^!\[[^]]+\]\(([^)]+)\)$", text, re.M)
    for link in linked:
        if os.path.getsize(os.path.join(os.path.dirname(readme), link)) > 200000:
            sys.exit(f"FAILED: '{link}' is above 200 kB")
    figures = ("pose-space-", "trajectory-", "drivenshape-", "scanned-bodies-", "editor-")
    linked = [link for link in linked if not os.path.basename(link).startswith(figures)]
    lines = [line for block in blocks(text, "sh") if "exemplar sheet" in block for line in block.splitlines()]
    if len(linked) < 3 or len(lines) != len(linked):
        sys.exit(f"FAILED: {len(linked)} pictures and {len(lines)} commands that make them")
    with tempfile.TemporaryDirectory() as folder:
        run(["exemplar", "demo", "-q", "-o", "."], folder, env)
        for line, link in zip(lines, linked):
            path = os.path.join(os.path.dirname(readme), link)
            made = os.path.join(folder, line.split()[-1])
            run(line, folder, env)
            if os.path.basename(link) != line.split()[-1]:
                sys.exit(f"FAILED: '{link}' is not what '{line}' makes")
            if png_size(path) != png_size(made):
                sys.exit(f"FAILED: '{line}' makes a picture of {png_size(made)}, '{link}' has {png_size(path)}")


def main():
    readme, build, include, compiler = sys.argv[1:5]
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    shell = [block for block in blocks(text, "sh") if "exemplar demo blob" in block]
    later = [block for block in blocks(text, "sh") if "exemplar example" in block or "exemplar bake" in block]
    program = [block for block in blocks(text, "c") if "int main" in block]
    pieces = [block for block in blocks(text, "c") if "int main" not in block]
    if len(shell) != 1 or len(program) != 1 or not pieces or len(later) != 2:
        sys.exit("FAILED: the README has no single shell example, no single C program or no lines for engines")
    lines = [line for line in shell[0].splitlines() if line and not line.startswith("export PATH")]
    if len(lines) > 5 or len(program[0].splitlines()) > 22:
        sys.exit("FAILED: the examples have grown beyond five lines of shell or some twenty of C")
    env = dict(os.environ, PATH=os.path.join(build, "bin") + os.pathsep + os.environ["PATH"])
    check_pictures(readme, text, env)
    with tempfile.TemporaryDirectory() as folder:
        for line in lines + "".join(later).splitlines():
            run(line, folder, env)
        with open(os.path.join(folder, "first.c"), "w", encoding="utf-8") as file:
            file.write(program[0])
        lib = os.path.join(build, "lib")
        flags = subprocess.run(["pkg-config", "--libs", "jansson", "libpng"], text=True, stdout=subprocess.PIPE,
                               check=True).stdout
        run([compiler, "-Wall", "-Wextra", "-Werror", "first.c", "-I" + include, "-o", "first",
             os.path.join(lib, "libexemplar_author.a"), os.path.join(lib, "libexemplar.a")] + flags.split() +
            ["-lamd", "-lm"],
            folder, env)
        for number, piece in enumerate(pieces):
            with open(os.path.join(folder, f"piece{number}.c"), "w", encoding="utf-8") as file:
                given = "const ex_rig *rig, ex_pose pose, ex_output output, ex_evaluation how, void *scratch"
                file.write("#include <exemplar/exemplar.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                           f"void piece({given});\nvoid piece({given}) {{\n"
                           "    ex_error error = {0};\n"
                           "    (void)pose, (void)output, (void)how, (void)scratch, (void)error;\n"
                           "    {\n" + piece + "    }\n}\n")
            run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-c", f"piece{number}.c", "-I" + include], folder, env)
        said = run(["./first"], folder, env)
        numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", said.split(" at ")[1])]
        posed = first_vertex(os.path.join(folder, "posed.obj"))
    if any(abs(a - b) > 1e-5 for a, b in zip(numbers, posed)):
        sys.exit(f"FAILED: the C program says {numbers}, 'exemplar pose' {posed}")
    print(said.strip())
    print("1 passed, 0 failed")


main()
