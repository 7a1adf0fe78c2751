#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh: what is to be tried on a machine with a GPU, in eight minutes of one card.
#
#   tests/gpu/check.sh --pack DIR     a folder to carry there: the program with its libraries, and this check (below 60 MiB)
#   DIR/check.sh                      there, with Python and PyTorch alone; the last lines are for docs/performance.md
#   tests/gpu/check.sh --device cpu --small    all of it here, in a few minutes
#
# BUILD is the build folder (build/release), PEAT_PYTHON the Python with PyTorch (python3).
set -eu

pack() {
    mkdir -p "$1"
    mkdir -p "$1/prefix/bin" "$1/libraries"
    cp "$build/bin/peat" "$1/prefix/bin"
    cp -rL "$build/lib" "$1/prefix"
    rm -f "$1/prefix/lib/peat/plugins-1/gemm/onednn.so" # its library is as large as all else
    find "$1/prefix" -name '*.so' -o -name peat -type f | xargs strip
    ldd "$1/prefix/bin/peat" "$1"/prefix/lib/peat/plugins-1/gemm/*.so | awk '/=> \//{print $3}' | sort -u |
        grep -vE '/(libc|libm|libdl|libpthread|librt)\.so' | xargs cp -Lt "$1/libraries"
    cp -r "$root/experiments/quickstart.yaml" "$root/experiments/every-scheme.yaml" "$root/tests/bench/torch_steps.py" \
        "$here/check.sh" "$here/check.py" "$here/idea.py" "$1"
    mkdir -p "$1/data"
    cp "$root/experiments/data/genesis.txt" "$1/data"
    sed -n '/^quickstart: bpb/,/^alibi/p' "$root/README.md" >"$1/README.table"
    du -sm "$1"
}

here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/prefix" ]; then
    root=$(cd "$here/../.." && pwd)
    build=${BUILD:-$root/build/release}
    if [ "${1-}" = --pack ]; then
        pack "$2"
        exit
    fi
    packed=$(mktemp -d)
    trap 'rm -rf "$packed"' EXIT
    pack "$packed"
    "$packed/check.sh" "$@"
    exit
fi

# The libraries are the program's alone: PyTorch has its own.
cat >"$here/python" <<end
#!/bin/sh
unset LD_LIBRARY_PATH
exec ${PEAT_PYTHON:-python3} "\$@"
end
cat >"$here/peat" <<end
#!/bin/sh
LD_LIBRARY_PATH=$here/libraries exec $here/prefix/bin/peat "\$@"
end
chmod +x "$here/python" "$here/peat"
python=$(dirname "$(find "$here/prefix" -path '*peat/torch' -type d)")
PYTHONPATH=$(dirname "$python") PEAT="$here/peat" PEAT_PYTHON="$here/python" exec "$here/python" "$here/check.py" "$@"
