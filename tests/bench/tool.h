/* SPDX-License-Identifier: MIT */
/* tool.h: how a benchmark of this folder reads its sizes and prints its results. */
#pragma once

#include "cli/bench.h"

/* Defaults, then words such as "--T 128", "--scheme rotary"; ends the program at any other. */
struct bench_sizes tool_sizes(int argc, char **argv);
/* One line of JSON on stdout. */
void tool_print(struct json map);
/* Prints the error; returns the exit code. */
int tool_fail(const struct error *err);
