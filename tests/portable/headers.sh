#!/bin/sh
# Every public header compiles alone, twice in one file, as C17 and as C++17, with gcc and clang, without a warning.
# usage: headers.sh INCLUDE_FOLDER
include=$1
count=0
status=0

compile() { # HEADER LANGUAGE STANDARD COMPILER
    command -v "$4" >/dev/null || { echo "skipped: no $4"; exit 77; }
    printf '#include <%s>\n#include <%s>\n' "$1" "$1" |
        "$4" -x "$2" "-std=$3" -Wall -Wextra -Werror -pedantic -fsyntax-only "-I$include" - || {
        echo "$1 does not compile as $3 with $4"
        status=1
    }
}

for file in $(cd "$include" && find exemplar -name '*.h'); do
    compile "$file" c c17 gcc
    compile "$file" c c17 clang
    compile "$file" c++ c++17 g++
    compile "$file" c++ c++17 clang++
    count=$((count + 1))
done
echo "$count headers"
[ "$count" -gt 0 ] && exit $status
