#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [FOLDER]: paper.pdf in FOLDER (default: build/paper), with figures that `peat plot` draws of the published runs.
# Needs peat, Debian's python3-matplotlib and texlive-latex-recommended.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-build/paper}"
cd "${1:-build/paper}"

# figure RUN KIND SIZE
figure()
{
    tar xf "$here/../../experiments/$1/results.tar.xz"
    peat plot "$1" --kind "$2" --size "$3" -o "$2.pdf"
}

figure sum-vs-concat forest page
figure extrapolation length column
for _ in 1 2; do
    pdflatex -interaction=nonstopmode -halt-on-error "$here/paper.tex"
done
