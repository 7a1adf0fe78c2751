#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh SOURCE BUILD TARGET SECONDS: builds the target with clang's libFuzzer and sanitizers in
# BUILD and runs it from the corpus. New inputs stay in BUILD/found/TARGET; one that fails is
# BUILD/TARGET-crash-*: minimise it (-minimize_crash=1), fix, and put it into the corpus. Exit status
# 77: there is no clang with libFuzzer.
set -eu
source=$1 build=$2 target=$3 seconds=$4
command -v clang >/dev/null || { echo "skipped: clang is not installed"; exit 77; }
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return n > 1 && *b == 0; }' \
    >"$probe/probe.c"
clang -fsanitize=fuzzer,address -o "$probe/probe" "$probe/probe.c" 2>/dev/null ||
    { echo "skipped: clang has no libFuzzer (Debian: libclang-rt-14-dev)"; exit 77; }
mkdir -p "$build"
(
    flock 9
    CC=clang cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DPEAT_FUZZ=ON \
        -DPEAT_SANITIZE=address,undefined >"$build/cmake.log" 2>&1 || { cat "$build/cmake.log"; exit 1; }
    cmake --build "$build" --target "fuzz_$target" --parallel 2 >"$build/build.log" 2>&1 ||
        { tail -n 30 "$build/build.log"; exit 1; }
) 9>"$build/lock"
mkdir -p "$build/found/$target"
begun=$build/found/$target.begun
touch "$begun"
"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/$target-" \
    "$build/found/$target" "$source/tests/fuzz/corpus/$target"
# A process that a verb has started fails without ending the search.
failed=$(find "$build" -maxdepth 1 -name "$target-crash-*" -newer "$begun")
[ -z "$failed" ] || { echo "failed in a process of its own:"; echo "$failed"; exit 1; }
