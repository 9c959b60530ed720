#!/usr/bin/env python3
"""Checks the symbols that the libraries import and export.

runtime: the archive's undefined symbols, without those it defines itself, are in the short list below: libc and libm,
and nothing that prints, opens files, exits or starts threads. The shared library needs only libc and libm.
cuda: its shared library needs the runtime and the libraries of C programs, none of CUDA and none of C++.
All: the shared library exports only names that start with ex_; the archive's global names start with ex_ or exi_, so
that it can be linked into any program. The compiler makes names of kernels from the file's contents.

usage: symbols.py runtime|author|cuda ARCHIVE SHARED_LIBRARY
"""
import re
import subprocess
import sys

# Adding to this list means that every engine and every browser must provide it.
MEMORY = "malloc calloc realloc free aligned_alloc posix_memalign memcpy memmove memset memcmp memchr"
TEXT = "strlen strcmp strncmp strchr strrchr strstr snprintf vsnprintf"
MATHS = "sqrt sqrtf fabs floor floorf ceil ceilf rint rintf nearbyint lrint lrintf round roundf trunc truncf fmod " \
        "fma fmaf fmin fmax fminf fmaxf ldexp frexp scalbn copysign log log2 exp exp2 pow cbrt hypot sin cos tan asin acos atan atan2"
OTHER = "abort qsort bsearch"
# Symbols that compilers add: stack protection, hardened copies, atomics and division for small machines.
COMPILER = r"_GLOBAL_OFFSET_TABLE_|__stack_chk_\w+|__(mem(cpy|move|set)|v?snprintf)_chk|__aarch64_\w+|__\w+[sdt]i[34]"
ALLOWED = set(f"{MEMORY} {TEXT} {MATHS} {OTHER}".split())
NEEDED = {"runtime": r"lib[cm]\.so(\.\d+)?|ld-linux\S*",
          "cuda": r"lib([cm]|dl|rt|pthread|gcc_s|exemplar)\.so(\.\d+)?|ld-linux\S*"}
NAMES = {"cuda": r"exi?_|_Z\w*_cu_|DW\.ref\."}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(listing):
    """Names in the output of nm -P: lines 'name type …'; an archive's members are announced by lines that end in
    ':'."""
    return {line.split()[0].split("@")[0] for line in listing.splitlines() if line.strip() and not line.endswith(":")}


def main(arguments):
    if len(arguments) != 3 or arguments[0] not in ("runtime", "author", "cuda"):
        sys.exit(__doc__)
    kind, archive, shared = arguments
    defined = names(run("nm", "-P", "-g", "--defined-only", archive))
    exported = names(run("nm", "-P", "-D", "--defined-only", shared))
    problems = [f"{archive} defines {name}: not ex_ or exi_" for name in sorted(defined)
                if not re.match(NAMES.get(kind, "exi?_"), name)]
    problems += [f"{shared} exports {name}: not ex_" for name in sorted(exported) if not name.startswith("ex_")]
    if not exported:
        problems.append(f"{shared} exports nothing")
    if kind == "runtime":
        undefined = names(run("nm", "-P", "-g", "--undefined-only", archive)) - defined
        problems += [f"{archive} asks for {name}: not in the list of libc and libm functions it may use"
                     for name in sorted(undefined) if name not in ALLOWED and not re.fullmatch(COMPILER, name)]
        print("asks for:", *sorted(undefined))
    if kind in NEEDED:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "-W", shared))
        problems += [f"{shared} needs {name}" for name in needed if not re.fullmatch(NEEDED[kind], name)]
        print("needs:", *needed)
    print(f"defines {len(defined)} names, exports {len(exported)}")
    print(*problems, sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
