#!/bin/sh
# Runs a program that starts Chromium. On machines whose processor has SVE but whose system hides it, Chromium's
# renderer in software takes the processor's name for granted and draws blank frames: there the program runs in a mount
# namespace where the processor has another name, as root or in a namespace where we are.
if [ "$(uname -m)" != aarch64 ] || grep -qw sve /proc/cpuinfo || ! grep -q '^CPU part' /proc/cpuinfo; then
    exec "$@"
fi
named=$(mktemp)
trap 'rm -f "$named"' EXIT
sed 's/^\(CPU part[^:]*:\).*/\1 0xd0c/' /proc/cpuinfo >"$named"
map=
if [ "$(id -u)" != 0 ]; then
    map=-r
fi
# shellcheck disable=SC2086 # one option or none
unshare -m $map sh -c 'mount --bind "$0" /proc/cpuinfo && exec "$@"' "$named" "$@"
