#!/bin/sh
# Builds the runtime and tests/portable/results.c for another target, runs it there, and compares its output with the
# output here. Windows programs are built (static library, DLL and program) and not run.
# usage: results.sh scalar|wasm|x86_sse2|x86_avx2|x86_avx512|windows SOURCE_FOLDER BUILD_FOLDER NATIVE_PROGRAM PYTHON
set -eu
target=$1 source=$2 build=$3 native=$4 python=$5

require() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
    done
}

toolchain= # a file of cmake/toolchains

# On an x86-64 machine, x86-64 programs are built and run directly; elsewhere with a cross compiler and an emulator, which
# knows no AVX-512. The build is the same for all sets, which the program chooses.
x86() { # SET
    options='' set=$1 run=
    if [ "$(uname -m)" != x86_64 ]; then
        require x86_64-linux-gnu-gcc
        toolchain=x86_64
    fi
    if [ "$(uname -m)" != x86_64 ] || { [ "$set" = avx2 ] && ! grep -qw avx2 /proc/cpuinfo; }; then
        require qemu-x86_64
        run="qemu-x86_64 -cpu max -L /usr/x86_64-linux-gnu"
    fi
}

set=
program=bin/results
shared=OFF
case $target in
scalar) expect=scalar options=-DEX_SIMD=scalar run= ;;
wasm)
    require clang wasm-ld node
    expect=wasm options='' toolchain=wasm32 program=bin/results.wasm
    run="node --no-warnings tests/portable/run_wasi.mjs"
    ;;
x86_sse2) expect=sse2; x86 sse2 ;;
x86_avx2) expect=avx2; x86 avx2 ;;
x86_avx512) expect=avx512; x86 avx512 ;;
windows)
    require x86_64-w64-mingw32-gcc
    options='' toolchain=windows program=bin/results.exe shared=ON run=
    ;;
*) echo "no target called $target" && exit 2 ;;
esac

# With little optimisation, which takes most of the time; the lanes are the same.
# shellcheck disable=SC2086 # lists of options
cmake -S "$source" -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE='-Og -DNDEBUG' -DEX_AUTHOR=OFF -DEX_BENCH=OFF -DEX_CUDA=OFF -DEX_TESTS=ON \
    -DEX_SHARED=$shared -DEX_WERROR=ON $options \
    ${toolchain:+"-DCMAKE_TOOLCHAIN_FILE=$source/cmake/toolchains/$toolchain.cmake"}
cmake --build "$build"
if [ "$target" = windows ]; then
    for made in "$build/$program" "$build/bin/libexemplar.dll" "$build/lib/libexemplar.a"; do
        [ -s "$made" ] || { echo "$made was not made"; exit 1; }
    done
    exit 0
fi
"$native" >"$build/native.txt"
cd "$source"
status=0
# shellcheck disable=SC2086 # a command, or none
$run "$build/$program" $set >"$build/$target.txt" || status=$?
[ $status != 77 ] || { echo "skipped: $(head -n 1 "$build/$target.txt")"; exit 77; }
[ $status = 0 ] || exit $status
grep -qx "simd $expect" "$build/$target.txt" || { echo "not built for $expect: $(head -n 1 "$build/$target.txt")"; exit 1; }
"$python" "$source/tests/portable/compare.py" "$build/native.txt" "$build/$target.txt"
