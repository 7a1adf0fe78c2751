/* SPDX-License-Identifier: MIT */
/* verbs.h: the commands, one file each: cmd_run is in cmd_run.c. argv[0] is the verb; the result is
 * the exit code. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

int cmd_bench(int argc, char **argv);
int cmd_cell(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_diagnose(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_logs(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_plugins(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_results(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_validate(int argc, char **argv);

#endif
