#!/bin/sh
# SPDX-License-Identifier: MIT
# debian13.sh TREE [--long]: ./quickstart test in a Debian 13 that debootstrap makes in the folder TREE.
#
# Needs root, debootstrap and a Debian mirror, the one that apt of this machine uses; skipped (77) without them. A
# tree that is there is used again, packages and objects included.
set -eu

skip() {
    echo "debian13: skipped: $1" >&2
    exit 77
}

[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//; 3p' "$0" >&2; exit 2; }
mkdir -p "$1"
tree=$(cd "$1" && pwd)
shift
source=$(cd "$(dirname "$0")/.." && pwd)

[ "$(id -u)" = 0 ] || skip "it takes root to enter a tree"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (Debian: apt-get install debootstrap)"

if [ ! -e "$tree/made" ]; then
    # shellcheck disable=SC2016 # for apt to expand
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' |
        head -n 1)
    [ -n "$mirror" ] || skip "apt knows no Debian mirror"
    debootstrap --variant=minbase trixie "$tree" "$mirror" >"$tree.log" 2>&1 || {
        tail -n 3 "$tree.log" >&2
        skip "debootstrap has made no tree; see $tree.log"
    }
    touch "$tree/made"
fi
cp /etc/resolv.conf "$tree/etc/resolv.conf"

# The sources as they are here; files that did not change keep their times, so that little is built again.
mkdir -p "$tree/peat"
(cd "$source" && git ls-files --cached --others --exclude-standard | LC_ALL=C sort) >"$tree/sources"
(cd "$source" && tar cf - --files-from="$tree/sources") | tar xf - -C "$tree/peat"
# What an earlier copy had and is gone would be built too.
(cd "$tree/peat" && find . -path ./build -prune -o -type f -printf '%P\n' | LC_ALL=C sort) |
    LC_ALL=C comm -23 - "$tree/sources" | (cd "$tree/peat" && xargs -r -d '\n' rm)

# Processes, terminals and shared memory.
trap 'umount "$tree/proc" "$tree/dev/pts" "$tree/dev/shm" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
mkdir -p "$tree/dev/pts" "$tree/dev/shm"
mount -t proc proc "$tree/proc"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
mount -t tmpfs tmpfs "$tree/dev/shm"
chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    /peat/quickstart test "$@"
