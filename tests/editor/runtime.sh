#!/bin/sh
# Builds @exemplar/runtime with the preset wasm and compares it with the library here.
# usage: runtime.sh SOURCE_FOLDER BUILD_FOLDER TOOL RUNTIME_PROBE SPACE_PROBE RIG_PROBE
set -eu
source=$1 build=$2 tool=$3 probe=$4 spaces=$5 rigs=$6
for needed in clang wasm-ld node; do
    command -v "$needed" >/dev/null || { echo "skipped: no $needed"; exit 77; }
done
echo '#include <stdlib.h>' | clang --target=wasm32-wasi --sysroot=/usr -fsyntax-only -xc - 2>/dev/null ||
    { echo "skipped: no C library for WebAssembly (Debian: wasi-libc)"; exit 77; }
cd "$source"
# If the editor's page was built, the module exists and is left as it is.
werror=
[ -e "$build/CMakeCache.txt" ] || werror=-DEX_WERROR=ON
# shellcheck disable=SC2086 # an option or none
cmake --preset wasm -B "$build" --log-level=WARNING $werror >/dev/null
cmake --build "$build" -j 2
exec node "$source/tests/editor/runtime.mjs" "$build/package" "$tool" "$probe" "$spaces" "$rigs" "$source"
