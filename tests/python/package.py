"""Builds the wheel, unpacks it, and runs the tests of the package (test_*.py, by pytest) from there; compares the layout
of all structs with the C compiler's.

usage: package.py REPOSITORY BUILD_FOLDER TOOL
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

repository, build, tool = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
try:
    import numpy  # noqa: F401
    import pytest  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def check_layouts(folder):
    """Sizes and offsets of all structs, and values of all constants, as the compiler sees them."""
    sys.path.insert(0, str(folder / "exemplar"))
    sys.dont_write_bytecode = True
    import _abi
    structs = [kind for kind in vars(_abi).values() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
               and kind is not ctypes.Structure]
    constants = {name: value for name, value in vars(_abi).items() if name.startswith("EX_") and isinstance(value, int)}
    if len(structs) < 200 or len(constants) < 200 or len(_abi.RUNTIME) < 200 or len(_abi.AUTHOR) < 300:
        sys.exit(f"{len(structs)} structs, {len(constants)} constants: the headers have more")
    headers = ["exemplar/author.h", "exemplar/cuda.h", "exemplar/exemplar.h", "stddef.h", "stdio.h"]
    lines = [*(f"#include <{header}>" for header in headers),
             "typedef struct ex_trajectory_fit ex_trajectory_fit;", "int main(void) {"]
    wanted = []
    for kind in structs:
        lines.append(f'    printf("%zu\\n", sizeof({kind.__name__}));')
        wanted.append((kind.__name__, ctypes.sizeof(kind)))
        for field, *_ in kind._fields_:
            lines.append(f'    printf("%zu\\n", offsetof({kind.__name__}, {field}));')
            wanted.append((f"{kind.__name__}.{field}", getattr(kind, field).offset))
    for name, value in constants.items():
        lines.append(f'    printf("%lld\\n", (long long){name});')
        wanted.append((name, value))
    source, program = folder / "layouts.c", folder / "layouts"
    source.write_text("\n".join(lines + ["}", ""]), encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-w", f"-I{repository / 'include'}", source, "-o", program], check=True)
    found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    wrong = [f"{name}: {ours}, in C {theirs}" for (name, ours), theirs in zip(wanted, found) if int(theirs) != ours]
    if wrong or len(found) != len(wanted):
        sys.exit("layouts differ:\n" + "\n".join(wrong))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    done = subprocess.run([sys.executable, "-B", repository / "scripts" / "wheel", "--build", build, "-o", folder / "dist"])
    if done.returncode:
        sys.exit(done.returncode)
    wheel = next((folder / "dist").glob("exemplar-*.whl"))
    zipfile.ZipFile(wheel).extractall(folder / "site")
    check_layouts(folder / "site")
    environment = {key: value for key, value in os.environ.items() if key != "EXEMPLAR_LIBRARY"}
    environment |= {"PYTHONPATH": str(folder / "site"), "EXEMPLAR_TOOL": str(tool)}
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", repository / "tests" / "python"]
    tested = subprocess.run(command, env=environment, cwd=folder).returncode
    page = subprocess.run([sys.executable, "-B", repository / "scripts" / "python-api", "--check"], env=environment)
    sys.exit(tested or page.returncode)
