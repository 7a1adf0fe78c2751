#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [FOLDER]: paper.pdf in FOLDER (default: build/paper), with figures that `peat plot` draws of the published runs.
# Needs peat, gnuplot and Debian's texlive-latex-recommended.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-build/paper}"
cd "${1:-build/paper}"

# figure RUN KIND SED: drawn for one column.
figure()
{
    tar xf "$here/../../experiments/$1/results.tar.xz"
    peat plot "$1" --kind "$2" --format pdf -o "$2.pdf"
    sed -i "/^set terminal/s/size [^ ]*/size 5in,3.5in/; $3" "$2.gp"
    gnuplot "$2.gp"
}

figure sum-vs-concat forest 's/^set lmargin .*/set lmargin at screen 0.5/'
figure extrapolation length 's/^set rmargin at screen 0.7.*/set rmargin at screen 0.7/; s/0[.]7736/0.71/g'
for _ in 1 2; do
    pdflatex -interaction=nonstopmode -halt-on-error "$here/paper.tex"
done
