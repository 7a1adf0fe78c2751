/* SPDX-License-Identifier: MIT */
/* pythonverb.h: verbs whose work is done by the package of Python beside the program. */
#pragma once

#include "cli/command.h"

/* Starts peat.verbs (python/peat/verbs.py) with this call's options and operands, and returns its
 * exit code. It prints its own errors; where it cannot be started, cli->err says why. */
int cli_run_in_python(const struct cli *cli);
