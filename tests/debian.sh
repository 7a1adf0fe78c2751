#!/bin/sh
# SPDX-License-Identifier: MIT
# debian.sh SUITE TREE [package]: a Debian (bookworm, trixie) that debootstrap makes in the folder TREE, and in it
#
#   README's commands, each as printed; `./quickstart` prints README's table
#   package: the Debian package is built, judged by lintian, installed, used and removed
#
# Needs root, debootstrap and a Debian mirror, the one that apt of this machine uses; skipped (77) without them. A
# tree that is there is used again, packages and objects included.
set -eu

skip() {
    echo "debian: skipped: $1" >&2
    exit 77
}

make_tree() {
    # shellcheck disable=SC2016 # for apt to expand
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' |
        head -n 1)
    [ -n "$mirror" ] || skip "apt knows no Debian mirror"
    debootstrap --variant=minbase "$suite" "$tree" "$mirror" >"$tree.log" 2>&1 || {
        tail -n 3 "$tree.log" >&2
        skip "debootstrap has made no tree; see $tree.log"
    }
    touch "$tree/made"
}

# The sources as they are here; files that did not change keep their times, so that little is built again.
copy_sources() {
    mkdir -p "$tree/peat"
    (cd "$source" && git ls-files --cached --others --exclude-standard | LC_ALL=C sort) >"$tree/sources"
    (cd "$source" && tar cf - --files-from="$tree/sources") | tar xf - -C "$tree/peat"
    # A file that an earlier copy had and that is gone would be built too.
    (cd "$tree/peat" && find . -path ./build -prune -o -type f -printf '%P\n' | LC_ALL=C sort) |
        LC_ALL=C comm -23 - "$tree/sources" | (cd "$tree/peat" && xargs -r -d '\n' rm)
}

# Processes, terminals and shared memory.
mount_tree() {
    trap 'umount "$tree/proc" "$tree/dev/pts" "$tree/dev/shm" 2>/dev/null || true' EXIT
    trap 'exit 130' INT TERM
    mkdir -p "$tree/dev/pts" "$tree/dev/shm"
    mount -t proc proc "$tree/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
    mount -t tmpfs tmpfs "$tree/dev/shm"
}

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    sed -n 's/^# \{0,1\}//; 3,6p' "$0" >&2
    exit 2
fi
suite=$1
what=${3:-readme}
source=$(cd "$(dirname "$0")/.." && pwd)
[ -e "$source/tests/debian/$what.sh" ] || { echo "debian: there is no '$what'; there is package" >&2; exit 2; }
[ "$(id -u)" = 0 ] || skip "it takes root to enter a tree"
command -v debootstrap >/dev/null || skip "debootstrap is not installed (Debian: apt-get install debootstrap)"
mkdir -p "$2"
tree=$(cd "$2" && pwd)
[ -e "$tree/made" ] || make_tree
cp /etc/resolv.conf "$tree/etc/resolv.conf"
copy_sources
mount_tree
chroot "$tree" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive sh "/peat/tests/debian/$what.sh"
