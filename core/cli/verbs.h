/* SPDX-License-Identifier: MIT */
/* verbs.h: the commands, one file each: `peat run` is in cmd_run.c, `peat plugins list` in
 * plugins_list.c. */
#pragma once

#include "cli/command.h"

struct loaded_plan;

extern const struct cli_command cmd_bench, cmd_bundle, cmd_cell, cmd_compare, cmd_diagnose,
    cmd_export, cmd_inspect, cmd_logs, cmd_new, cmd_plan, cmd_plot, cmd_plugins, cmd_report,
    cmd_results, cmd_run, cmd_runs, cmd_schema, cmd_status, cmd_tokenize, cmd_validate, cmd_verify;

extern const struct cli_command plugins_list, plugins_info, plugins_check, plugins_new,
    plugins_build, plugins_cflags;

/* What `peat diagnose --only` takes. */
enum { DIAGNOSTICS = 8 };
extern const char *const diagnostic_words[DIAGNOSTICS];

/* The parts of other verbs that `peat run` uses: the plan (of the chosen among its cells) and the
 * results of its directory. */
void print_plan(const struct cli *cli, struct loaded_plan *l, const char *dir, const bool *chosen);
void print_results(const struct cli *cli, char *dir);

/* Adds the table as text. Where `file` is NULL and standard output is a terminal, it is as wide as
 * that, with notes broken at words. */
struct table;
void cli_add_wrapped(const struct table *t, const char *file, bool bold, struct strbuf *out);
