"""The C of docs/guides/gpu.md, verbatim: the program compiles with only Exemplar's headers. If the GPU runtime is
built, it is linked and run. The lines for graphs compile if CUDA's headers are installed.

    gpu.py GPU.md BUILD_DIR INCLUDE_DIR CC [CUDA_INCLUDE_DIR CUDART_STATIC]
"""
import os
import re
import subprocess
import sys
import tempfile


def run(command, folder, env=None):
    done = subprocess.run(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def main():
    page, build, include, compiler = sys.argv[1:5]
    cuda, cudart = sys.argv[5:7] if len(sys.argv) > 6 else (None, None)
    with open(page, encoding="utf-8") as file:
        pieces = re.findall(r"^```c\n(.*?)^```", file.read(), re.M | re.S)
    program = [piece for piece in pieces if "int main" in piece]
    graph = [piece for piece in pieces if "cudaGraphLaunch" in piece]
    if len(program) != 1 or len(graph) != 1 or len(pieces) != 2:
        sys.exit("FAILED: docs/guides/gpu.md has no single program or no single piece with a graph")
    flags = [compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-I" + include]
    with tempfile.TemporaryDirectory() as folder:
        for name, piece in (("crowd.c", program[0]), ("graph.c", graph[0])):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(piece)
        run(flags + ["-c", "crowd.c"], folder)
        if cuda:
            run(flags + ["-isystem", cuda, "-c", "graph.c"], folder)
            libraries = [os.path.join(build, "lib", name) for name in ("libexemplar_cuda.a", "libexemplar.a")]
            libraries += [cudart, "-lsupc++", "-lm", "-lpthread", "-ldl", "-lrt"]
            run([compiler, "crowd.o", "graph.o", "-o", "crowd"] + libraries, folder)
            run([os.path.join(build, "bin", "exemplar"), "demo", "blob", "-q"], folder)
            said = run(["./crowd"], folder)
            if not re.match(r"there is no GPU here\n|the first vertex of the last is at [-\d.e]+ [-\d.e]+ [-\d.e]+\n", said):
                sys.exit(f"FAILED: the program says '{said}'")
            print(said.strip())
    print("1 passed, 0 failed")


main()
