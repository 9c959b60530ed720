#!/bin/sh
# Another project uses the installed package: by find_package and by pkg-config, shared and static, runtime and
# authoring, and the GPU runtime where it was built. The prefix is moved between installing and using, so nothing
# installed may name it.
# usage: package.sh FOREIGN_PROJECT BUILD_FOLDER WORK_FOLDER C_COMPILER VERSION
set -eu
foreign=$1 build=$2 work=$3 cc=$4 version=$5
rm -rf "$work"
mkdir -p "$work"

DESTDIR="$work/staged" cmake --install "$build" --prefix /opt/exemplar >"$work/install.log"
mv "$work/staged/opt/exemplar" "$work/moved"
if grep -rlI -e /opt/exemplar -e "$build" "$work/moved"; then
    echo "the files above name the folder they were built in or installed to"
    exit 1
fi
"$work/moved/bin/exemplar" --version | grep -qF "$version"
for file in man/man1/exemplar.1 man/man1/exemplar-build.1 man/man1/exemplar-scan-fit.1 doc/exemplar/LICENSE \
    bash-completion/completions/exemplar zsh/site-functions/_exemplar fish/vendor_completions.d/exemplar.fish; do
    [ -s "$work/moved/share/$file" ] || { echo "share/$file was not installed"; exit 1; }
done
if strings "$work/moved/bin/exemplar" | grep -q 'three.js'; then
    grep -q 'three.js' "$work/moved/share/doc/exemplar/NOTICE"
fi
parts='runtime author'
if [ -f "$work/moved/include/exemplar/cuda.h" ]; then
    parts="$parts cuda"
fi

printf -- '-- find_package\n'
cmake -S "$foreign" -B "$work/foreign" -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$work/moved" -DEXPECTED_VERSION="$version" -DPARTS="$(echo "$parts" | tr ' ' ';')"
cmake --build "$work/foreign"
for program in $parts; do
    "$work/foreign/${program}_shared" "$version"
    "$work/foreign/${program}_static" "$version"
    readelf -d "$work/foreign/${program}_shared" | grep -q 'NEEDED.*libexemplar' ||
        { echo "${program}_shared does not use the shared library"; exit 1; }
    if readelf -d "$work/foreign/${program}_static" | grep -q 'NEEDED.*libexemplar'; then
        echo "${program}_static uses a shared library"
        exit 1
    fi
done

printf -- '-- pkg-config\n'
# Its words may contain spaces, escaped for a shell.
link() { # OPTIONS-AND-NAME COMPILER-WORD…
    options=$1
    shift
    # shellcheck disable=SC2086 # several options
    eval "set -- \"\$@\" $(pkg-config $options)"
    "$cc" "$@"
}
libraries=$(dirname "$(find "$work/moved" -name exemplar.pc)")
PKG_CONFIG_PATH=$libraries${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion exemplar)" = "$version" ]
link "--cflags --libs exemplar" -std=c17 "$foreign/runtime.c" -o "$work/runtime_pc"
link "--cflags --libs exemplar-author" -std=c17 "$foreign/author.c" -o "$work/author_pc"
for program in runtime_pc author_pc; do
    LD_LIBRARY_PATH=$libraries/.. "$work/$program" "$version"
done
link "--static --cflags --libs exemplar" -std=c17 -static "$foreign/runtime.c" -o "$work/runtime_pc_static"
"$work/runtime_pc_static" "$version"
link "--static --cflags --libs exemplar-author" -std=c17 -static "$foreign/author.c" -o "$work/author_pc_static"
"$work/author_pc_static" "$version"
case $parts in *cuda*)
    link "--cflags --libs exemplar-cuda" -std=c17 "$foreign/cuda.c" -o "$work/cuda_pc"
    LD_LIBRARY_PATH=$libraries/.. "$work/cuda_pc" "$version"
    ;;
esac
