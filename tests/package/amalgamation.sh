#!/bin/sh
# exemplar.h and exemplar.c, made by scripts/amalgamate, need nothing else: no other file, no define, no warning, no
# names other than ex_. They give the library's results to the bit, whatever the compiler fuses by default.
# usage: amalgamation.sh SOURCE_FOLDER WORK_FOLDER C_COMPILER PYTHON TOOL RUNTIME_ARCHIVE RESULTS_PROGRAM
set -eu
source=$1 work=$2 cc=$3 python=$4 tool=$5 archive=$6 results=$7
rm -rf "$work"
mkdir -p "$work/again"
warnings='-Wall -Wextra -Werror'
skipped=

"$python" "$source/scripts/amalgamate" -o "$work/made"
"$python" "$source/scripts/amalgamate" -o "$work/again" >"$work/again.log"
cmp "$work/made/exemplar.h" "$work/again/exemplar.h"
cmp "$work/made/exemplar.c" "$work/again/exemplar.c"
[ "$(ls "$work/made")" = "exemplar.c
exemplar.h" ]
cp "$source/tests/package/embed.c" "$work/made/embed.c"

# The library's numbers, and the SIMD lanes it was built for.
"$tool" demo arm -o "$work/arm" --quiet
"$cc" -std=c17 -O2 "-I$source/include/exemplar" "-I$source/include" "$work/made/embed.c" "$archive" -lm -o "$work/embed"
"$work/embed" "$work/arm/arm.glb" >"$work/embed.txt"
[ "$(wc -l <"$work/embed.txt")" -gt 1000 ]
"$results" >"$work/results.txt"
case $(head -n 1 "$work/results.txt") in
*scalar) simd=-DEX_SIMD_SCALAR ;;
*) simd= ;;
esac
for name in portable/results support/characters support/mixtures support/paths support/tubes; do
    "$cc" -std=c17 -O1 -ffp-contract=off "-I$source/include" "-I$source/tests" -c "$source/tests/$name.c" \
        -o "$work/$(basename $name).o"
done

# Builds exemplar.c with a compiler and its options, and runs both programs with it.
same() { # NAME COMPILER OPTION…
    name=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2086 # lists of options
    (cd "$work/made" && "$compiler" "$@" $warnings $simd -c exemplar.c -o "../$name.o" &&
        "$compiler" "$@" $warnings embed.c "../$name.o" -lm -o "../embed_$name")
    "$cc" "$work/results.o" "$work/characters.o" "$work/mixtures.o" "$work/paths.o" "$work/tubes.o" "$work/$name.o" \
        -lm -o "$work/results_$name"
    "$work/embed_$name" "$work/arm/arm.glb" | cmp - "$work/embed.txt"
    "$work/results_$name" | cmp - "$work/results.txt"
    shown=$(readelf -sW "$work/$name.o" | awk '$5 != "LOCAL" && $6 == "DEFAULT" && $7 ~ /^[0-9]+$/ { print $8 }' | sort)
    echo "$shown" | grep -qx ex_rig_evaluate
    if echo "$shown" | grep -v '^ex_'; then
        echo "$name: the names above are not ex_ ones"
        return 1
    fi
    echo "$name: the library's results"
}

# Checks compiler messages only: other lanes, other dialects.
parse() { # COMPILER OPTION…
    compiler=$1
    shift
    if ! command -v "$compiler" >/dev/null; then
        skipped="$skipped $compiler"
        return 0
    fi
    # shellcheck disable=SC2086
    (cd "$work/made" && "$compiler" "$@" $warnings -fsyntax-only exemplar.c)
    echo "no warning: $compiler $*"
}

same cc_c17 "$cc" -std=c17 -O2 &
first=$!
same cc_default "$cc" -O1 &
second=$!
wait $first
wait $second
if command -v clang >/dev/null; then
    same clang_c17 clang -std=c17 -O2
else
    skipped="$skipped clang"
fi
parse "$cc" -std=c17 -O1 -DEX_SIMD_SCALAR
parse clang -std=c17 -O1 -DEX_SIMD_SCALAR
case $(uname -m) in
x86_64) x86=$cc ;;
*) x86=x86_64-linux-gnu-gcc ;;
esac
parse "$x86" -std=c17 -O1
parse "$x86" -std=c17 -O1 -DEX_SIMD_ONE -mavx2 -mfma
[ "$(uname -m)" != x86_64 ] || parse clang -std=c17 -O1
parse x86_64-w64-mingw32-gcc -std=c17 -O1
for cxx in g++ clang++; do
    if command -v $cxx >/dev/null; then
        printf '#include "exemplar.h"\n#include "exemplar.h"\nint main() { return ex_version().abi == EX_ABI ? 0 : 1; }\n' |
            $cxx -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror "-I$work/made" -c -o "$work/header.o" -
    else
        skipped="$skipped $cxx"
    fi
done
if [ -n "$skipped" ]; then
    echo "skipped: no$skipped"
    exit 77
fi
