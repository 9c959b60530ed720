#!/bin/sh
# Usage: gltf_validator.sh SOURCE WORK TOOL PROBE RIG_PROBE DATA
# Installs the validator in WORK/npm, once for each package-lock.json, and runs validate.mjs (rigs from TOOL and
# RIG_PROBE) and validate_scenes.mjs (files from PROBE) with it.
set -eu
source=$1
work=$2
tool=$3
probe=$4
rig_probe=$5
data=${EX_DATA:-$6}

skip() {
    echo "skipped: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
mkdir -p "$work/npm"
if ! cmp -s "$source/package-lock.json" "$work/npm/installed.json"; then
    rm -f "$work/npm/installed.json"
    cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$work/npm/"
    if ! (cd "$work/npm" && npm ci --fetch-retries=1 --fetch-timeout=30000) >"$work/npm.log" 2>&1; then
        cat "$work/npm.log"
        # Only errors of the network are excused.
        if grep -q -E 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED' \
            "$work/npm.log"; then
            skip "npm cannot reach its registry"
        fi
        exit 1
    fi
    cp "$source/package-lock.json" "$work/npm/installed.json"
fi
rm -rf "$work/rigs" "$work/scenes"
mkdir -p "$work/rigs" "$work/scenes"
node "$source/validate.mjs" "$work/npm" "$work/rigs" "$tool" "$rig_probe"
exec node "$source/validate_scenes.mjs" "$work/npm" "$work/scenes" "$probe" "$data"
