#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh: the commands of README, as printed and in their order, in a fresh Debian (tests/debian.sh).
set -eu
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
cp experiments/data/genesis.txt corpus.txt

# Files whose name stands beside the language: ```c cosines.c
awk '/^```[a-z]+ [a-z.]+$/ { file = $2; next } /^```/ { file = "" } file { print > file }' README.md
# Lines of blocks of sh; the table that the first of them prints.
awk '/^```sh$/ { sh = 1; next } /^```/ { sh = 0 } sh && NF' README.md >"$out/lines"
awk '/^quickstart: / { table = 1 } /^```/ { table = 0 } table' README.md >"$out/table"
for file in lines table; do
    [ "$(wc -l <"$out/$file")" -gt 5 ] || { echo "debian: README has no $file" >&2; exit 1; }
done

n=0
while IFS= read -r line <&3; do
    n=$((n + 1))
    echo "README: $line" >&2
    sh -ec "$line" >"$out/$n" || { echo "debian: status $? from: $line" >&2; exit 1; }
done 3<"$out/lines"

while IFS= read -r line; do
    grep -Fxq -- "$line" "$out/1" || { echo "debian: ./quickstart did not print: $line" >&2; cat "$out/1" >&2; exit 1; }
done <"$out/table"
rm -r "$out" corpus.txt
