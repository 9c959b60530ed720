#!/bin/sh
# The order of the rooms holds. The script that checks it also finds a forbidden include, a client that includes a
# private header, and two files of one name, each planted in a copy.
# usage: rooms.sh SOURCE_FOLDER WORK_FOLDER
set -eu
source=$1 work=$2
"$source/scripts/check-rooms" "$source"

rm -rf "$work"
mkdir -p "$work"
cp -r "$source/src" "$source/include" "$source/cli" "$source/demos" "$work/"

plant() { # FILE LINE SENTENCE
    if [ -f "$work/$1" ]; then cp "$work/$1" "$work/kept"; else rm -f "$work/kept"; fi
    printf '%s\n' "$2" >>"$work/$1"
    if "$source/scripts/check-rooms" "$work" >"$work/said"; then
        echo "$1: '$2' was not seen"
        exit 1
    fi
    grep -qF "$3" "$work/said" || { cat "$work/said"; echo "the sentence lacks: $3"; exit 1; }
    if [ -f "$work/kept" ]; then mv "$work/kept" "$work/$1"; else rm "$work/$1"; fi
}

plant src/author/base/array.c '#include "author/mesh/groups.h"' 'an arrow that runs up: base includes mesh'
plant src/runtime/weigh/space.c '#include <exemplar/rig.h>' 'an arrow that runs up: weigh includes rig'
plant src/runtime/base/memory.c '#include <exemplar/author/mesh.h>' 'the runtime library does not know author'
plant demos/blob.c '#include "author/base/array.h"' 'demos/ is a client: it includes public headers alone'
plant cli/main.c '#include "runtime/base/result.h"' 'cli/ is a client: it includes public headers alone'
plant src/author/scan/fit/json.c '' 'has the same name'
