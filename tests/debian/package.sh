#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh: the Debian package is built, judged, installed, used and removed, in a fresh Debian (tests/debian.sh).
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)

fail() {
    echo "debian: $1" >&2
    exit 1
}

# Built in a copy, which dpkg-buildpackage changes.
rm -rf /tmp/package
mkdir /tmp/package
cp -r "$source" /tmp/package/peat
cd /tmp/package/peat
rm -rf build
apt-get update -qq
apt-get install -y -qq --no-install-recommends build-essential lintian man-db bash-completion >/dev/null
apt-get build-dep -y -qq --no-install-recommends ./ >/dev/null
dpkg-buildpackage -us -uc -b >/tmp/package/log 2>&1 || { tail -n 40 /tmp/package/log >&2; fail "the package was not built"; }
lintian --fail-on error ../peat_*.changes || fail "lintian finds errors"

# Installed: no source tree, no compiler's path.
cd /tmp
apt-get install -y -qq --no-install-recommends /tmp/package/peat_*.deb /tmp/package/python3-peat_*.deb \
    python3-jinja2 python3-matplotlib >/dev/null
dpkg -L peat python3-peat >/tmp/package/files
peat --version
peat plugins info rotary | grep -q /usr/lib || fail "the installed program has other plugins"
peat plugins check sum
man -w peat-run >/dev/null || fail "there is no manual page"
for file in bash-completion/completions/peat zsh/vendor-completions/_peat fish/vendor_completions.d/peat.fish; do
    [ -e "/usr/share/$file" ] || fail "there is no /usr/share/$file"
done
rm -rf runs first.yaml
peat new first
peat run first train.steps=20 seeds=1
peat report first -o first.html
peat verify first
python3 -c 'import numpy, peat.convert; numpy.save("a.npy", numpy.zeros(2)); peat.convert.main(["a.npy", "a.safetensors"])'
peat plugins new turn --kind scheme
# shellcheck disable=SC2046 # a list of words
cc -shared -fPIC $(pkg-config --cflags peat) turn/turn.c -o turn.so -lm
peat plugins info ./turn.so

# Removed: of its files and folders none is left.
apt-get purge -y -qq peat python3-peat >/dev/null
while IFS= read -r file; do
    case $file in */peat | */peat/* | */peat[-.]*) [ ! -e "$file" ] || fail "$file is left" ;; esac
done </tmp/package/files
rm -rf /tmp/package runs first.yaml first.html turn turn.so a.npy a.safetensors
