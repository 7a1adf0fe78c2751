/* SPDX-License-Identifier: MIT */
/*
 * cli.h: the frame of every command: exit codes, options, help pages, messages.
 *
 * Results go to stdout, everything else to stderr. A command is a static description and a
 * function; it reads its options like this:
 *
 *   struct cli cli;
 *   cli_open(&cli, &command, argc, argv);
 *   for (int letter; (letter = cli_next(&cli)) != CLI_END;)
 *       switch (letter) {
 *       case 'j': ... cli.argument ... break;
 *       default: return cli.status;
 *       }
 *   ... cli.operand[0 .. cli.n_operand) ...
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>

#include "base/error.h"

/* Exit codes, and no others. */
enum exit_code {
    CLI_DONE = 0,     /* every cell done or diverged                                          */
    CLI_FAILED = 1,   /* a cell failed, a check or comparison failed, the disk filled           */
    CLI_USAGE = 2,    /* nothing was run: usage, configuration, missing data, no such directory */
    CLI_STOPPED = 130 /* SIGINT or SIGTERM                                                  */
};

/* An option. `letter` is what cli_next returns, and its short form when it is a character; give
 * options without a short form numbers from CLI_LONG on. */
struct cli_option {
    int letter;
    const char *name;
    const char *argument; /* "DIR"; NULL: takes none */
    const char *doc;
};

enum { CLI_LONG = 256, CLI_OPTIONS_MAX = 24, CLI_END = -1, CLI_STOP = -2 };

/* A command's help page. --help is added to its options. */
struct cli_command {
    const char *name;                /* "plugins info"                              */
    const char *usage;               /* operands, "NAME"; "" when there are none     */
    const char *about;               /* one paragraph, broken into lines             */
    const struct cli_option *option; /* ended by a NULL name; NULL: only --help      */
    const char *example;             /* whole lines, "peat plugins info rotary"     */
};

struct cli {
    const struct cli_command *command;
    int argc;
    char **argv;
    struct option table[CLI_OPTIONS_MAX + 2];
    char letters[2 * CLI_OPTIONS_MAX + 4];
    const char *option;   /* the present option's name, for messages */
    const char *argument; /* its argument, or NULL                   */
    int status;           /* with CLI_STOP: what to return           */
    int n_operand;        /* with CLI_END                            */
    char **operand;
};

void cli_open(struct cli *c, const struct cli_command *command, int argc, char **argv);
/* The next option's letter; CLI_END after the last one (they may stand after operands); CLI_STOP
 * when the command is over: help was printed, or a mistake reported. */
int cli_next(struct cli *c);

/* The present option's argument as a whole number, or as one of n words. False: reported, and
 * c->status is set. */
bool cli_whole_number(struct cli *c, int64_t min, int64_t max, int64_t *number);
bool cli_word(struct cli *c, const char *const *word, int n, int *which);

/* "peat: text" on stderr, as one line in one write. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Says what went wrong before anything was run; returns CLI_USAGE. */
int cli_refuse(const struct error *err);
/* A mistake on the command line, and how to get help; returns CLI_USAGE. */
int cli_mistake(const struct cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A verb and what runs it; argv[0] is the verb. */
struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

/* A program or command that only has verbs. */
struct cli_group {
    const char *name; /* "peat plugins" */
    const char *about;
    const struct verb *verb; /* ended by a NULL name */
    const char *example;
};

/* Runs the verb in argv[1]; prints the group's help for none, --help and help [VERB]. */
int cli_dispatch(const struct cli_group *group, int argc, char **argv);

/* Before anything else: descriptors 0 to 2 are open, and writing to a reader that has gone is an
 * error rather than death. */
void cli_start(void);
/* The exit code, after all that was printed has reached stdout: a full disk makes CLI_FAILED. */
int cli_finish(int code);

#endif
