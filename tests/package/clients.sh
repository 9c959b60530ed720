#!/bin/sh
# The tool and the demos as clients of the installed libraries: they compile with the installed headers alone and link
# with the shared library, which exports no private function. They make the same demo as the tool of the build.
# usage: clients.sh CLIENTS_PROJECT BUILD_FOLDER WORK_FOLDER C_COMPILER
set -eu
clients=$1 build=$2 work=$3 cc=$4
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
cmake -S "$clients" -B "$work/build" -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS=-O0 \
    -DCMAKE_PREFIX_PATH="$work/prefix"
cmake --build "$work/build"

# `U` and a name for each function that the tool imports
nm -u "$work/build/exemplar" >"$work/taken"
if grep -w 'exi_[a-z0-9_]*' "$work/taken"; then
    echo "the functions above are private to the libraries"
    exit 1
fi
count=$(grep -c ' ex_' "$work/taken")
echo "the tool takes $count functions from the installed libraries"
[ "$count" -gt 100 ]

"$work/build/exemplar" demo blob -o "$work/blob" >/dev/null
"$build/bin/exemplar" demo blob -o "$work/expected" >/dev/null
diff -r "$work/blob" "$work/expected"
