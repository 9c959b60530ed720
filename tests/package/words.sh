#!/bin/sh
# The prose keeps to docs/style.md; and the script that says so sees a long sentence, a wrong beginning and a forbidden
# term, each planted in a copy.
# usage: words.sh SOURCE_FOLDER WORK_FOLDER
set -eu
source=$1 work=$2
"$source/scripts/check-words" "$source"

rm -rf "$work"
mkdir -p "$work/docs" "$work/src"
cp "$source/docs/style.md" "$work/docs/"
"$source/scripts/check-words" "$work"

plant() { # FILE LINE SENTENCE
    printf '%s\n' "$2" >"$work/$1"
    if "$source/scripts/check-words" "$work" >"$work/said"; then
        echo "$1: '$2' was not seen"
        exit 1
    fi
    grep -qF "$3" "$work/said" || { cat "$work/said"; echo "the sentence lacks: $3"; exit 1; }
    rm "$work/$1"
}

long=$(for word in $(seq 41); do printf 'word%s ' "$word"; done)
plant README.md "${long% }." 'a sentence of 41 words'
plant docs/page.md "- ${long% }." 'a sentence of 41 words'
plant docs/page.md "| cell | ${long% } |" 'a sentence of 41 words'
plant docs/page.md 'The color of it.' "'color': write colour"
plant docs/page.md 'This page is the
whole way.' "'is the whole way'"
plant src/a.c '/* What it does. */' "a comment begins with 'What'"
plant src/a.c 'int a; // Whether it is so.' "a comment begins with 'Whether'"
plant src/a.c 'fail("in the center of a mesh");' "'center': write centre"
printf '%s\n' '`color` and' '```' "$long" '```' >"$work/README.md"
"$source/scripts/check-words" "$work"
