#!/bin/sh
# Steps of scripts/steps in a folder that cannot be written: they go on in a copy of it, and the second run keeps what
# the first one built there.
# Usage: read_only.sh SOURCE WORK
set -eu
source=$1
work=$2
chmod -R u+w "$work" 2>/dev/null || true
rm -rf "$work"
mkdir -p "$work/the sources/scripts"
cp "$source/scripts/steps" "$work/the sources/scripts/"
cat >"$work/the sources/scripts/try" <<'END'
#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
. scripts/steps
begin try
mkdir -p out
echo "$*" >>out/words
echo "worked in $PWD"
END
echo first >"$work/the sources/text"
chmod 755 "$work/the sources/scripts/try"
chmod -R a-w "$work/the sources"
# Root may write everywhere, unless it gives that right up.
obedient=
if [ "$(id -u)" = 0 ]; then
    obedient='setpriv --bounding-set -dac_override'
    $obedient true 2>/dev/null || { echo 'skipped: root cannot give up its rights here'; exit 77; }
fi

go() { XDG_CACHE_HOME="$work/cache" $obedient "$work/the sources/scripts/try" "$@"; }

fail() {
    echo "$1" >&2
    exit 1
}

go --one >"$work/said"
place=$(sed -n 's/^worked in //p' "$work/said")
case $place in
"$work"/cache/exemplar/*) ;;
*) fail "worked in '$place'" ;;
esac
grep -q "^$work/the sources cannot be written; what follows works in a copy of it: $place\$" "$work/said" ||
    fail 'does not say where it works'
[ "$(cat "$place/text")" = first ] || fail 'the sources were not copied'
chmod u+w "$work/the sources" "$work/the sources/text"
echo second >"$work/the sources/text"
chmod a-w "$work/the sources" "$work/the sources/text"
go --two >"$work/said"
[ "$(cat "$place/text")" = second ] || fail 'a change of the sources was not copied'
[ "$(tr '\n' ' ' <"$place/out/words")" = '--one --two ' ] || fail 'what was built before is gone'
[ ! -e "$work/the sources/out" ] || fail 'wrote into the sources'
chmod -R u+w "$work"
