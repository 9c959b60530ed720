#!/bin/sh
# Files that state a version, the ABI or the rig format state those of include/exemplar/base.h.
# usage: versions.sh SOURCE_FOLDER
set -eu
cd "$1"
number() { sed -n "s/^#define $1 *\"*\([0-9.]*\)\"*$/\1/p" include/exemplar/base.h; }
version=$(number EX_VERSION_TEXT) abi=$(number EX_ABI) format=$(number EX_FORMAT)
minor=${version%.*}
echo "version $version, ABI $abi, rig format $format"
[ "$version" = "$(number EX_VERSION_MAJOR).$(number EX_VERSION_MINOR).$(number EX_VERSION_PATCH)" ]
status=0

states() { # FILE LINE
    grep -qF -- "$2" "$1" || { echo "$1 lacks: $2"; status=1; }
}

states CITATION.cff "version: $version"
states CHANGELOG.md "## $version"
states SECURITY.md "| $minor | yes |"
states debian/changelog "exemplar ($version)"
states debian/control "Package: libexemplar$abi"
states debian/control "Package: libexemplar-author$abi"
states editor/runtime/package.json "\"version\": \"$version\""
states docs/reference/abi.md "| version | $version |"
states docs/reference/abi.md "| ABI | $abi |"
states docs/reference/abi.md "| rig format | $format |"
states docs/reference/abi.md "libexemplar.so.$abi"
states docs/reference/rig.md "format version, now $format"
exit $status
