/* SPDX-License-Identifier: MIT */
/* pythonverb.h: verbs whose work is a module of the installed Python package. */
#pragma once

#include "cli/command.h"

/* The call as the module gets it: {"operands", "width", and each option that was given by its long
 * name: true, text, number or word}. OTHER options are left out. The caller may add to it. */
struct json python_request(const struct cli *cli, const char *file);
/* Runs Python with n words, while the caller holds stops; a stop ends it with its group. *code: its
 * exit code. */
peat_status python_run(const struct cli *cli, char *const *word, int n, int *code);
/* Runs verb(request) of peat.<module>; returns its exit code. Without Python or the package an
 * error is in cli->err. The variable PEAT names this program to the module. */
int python_verb(const struct cli *cli, const char *module, struct json request);
