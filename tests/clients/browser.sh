#!/bin/sh
# Runs a program that starts Chromium. Some machines have a processor with SVE, but their system hides it. Chromium's
# software renderer trusts the processor's name and then draws blank frames. On these, the program runs in a mount
# namespace with another processor name, as root or in a user namespace.
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
