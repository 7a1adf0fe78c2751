/* SPDX-License-Identifier: MIT */
/*
 * command.h: commands as static descriptions.
 *
 * A command describes its operands and has a row for each option, bound to a field of the command's
 * own struct. The frame uses these to read and check the command line, and for help pages, manual
 * pages and completion. The command itself only does its work:
 *
 *   struct request { bool json; int64_t length; };
 *
 *   static const struct cli_option options[] = {
 *       CLI_FLAG(0, "json", json, "an object instead of a page"),
 *       CLI_WHOLE('n', "length", "N", 0, INT64_MAX, length, "one length alone"),
 *   };
 *
 *   static int show(const struct cli *cli)
 *   {
 *       const struct request *q = cli->options;
 *       ... q->length, cli->operand[0] ...
 *   }
 *
 *   const struct cli_command cmd_show = {
 *       .name = "peat show",
 *       ...
 *       CLI_OPERANDS("DIR", 1, 1, "a run directory is needed"),
 *       CLI_ROWS(options),
 *       CLI_DEFAULTS(.length = -1),
 *       .run = show,
 *   };
 */
#pragma once

#include "cli/cli.h"

struct cell_files;
struct cli;

enum cli_kind {
    CLI_KIND_FLAG,  /* bool; without argument                */
    CLI_KIND_TEXT,  /* const char *                          */
    CLI_KIND_WHOLE, /* int64_t, from min to max              */
    CLI_KIND_AUTO,  /* the same, or the word auto, which gives 0 */
    CLI_KIND_WORD,  /* int or an enum: index of the word     */
    CLI_KIND_OTHER  /* the row's function reads the argument */
};

/* An option. Completion chooses by the argument's name (offers.c): FILE is a path, CELL a cell of
 * the run that the first operand names. */
struct cli_option {
    char letter;          /* its short form; 0: none                  */
    const char *name;     /* its long form                            */
    const char *argument; /* "DIR"; NULL: no argument                 */
    enum cli_kind kind;
    int64_t min, max;                                   /* bounds of WHOLE, AUTO */
    const char *const *word;                            /* WORD: the allowed words, max of them */
    int (*read)(struct cli *cli, const char *argument); /* OTHER: returns CLI_GO_ON or an exit
                                                         * code */
    size_t offset;                                      /* offset of the field; not for OTHER */
    const char *doc;
};

/* Rows for fields of a `struct request`; a field of a wrong type does not compile. */
#define CLI_FIELD(field, type)                                                                     \
    (offsetof(struct request, field) + 0 * sizeof((type *)NULL == &((struct request *)NULL)->field))
#define CLI_INT_FIELD(field)                                                                       \
    (offsetof(struct request, field) +                                                             \
     0 * sizeof(char[sizeof(((struct request *)NULL)->field) == sizeof(int) ? 1 : -1]))
#define CLI_ROW(letter, name, argument, kind, min, max, words, read, offset, doc)                  \
    {                                                                                              \
        letter, name, argument, kind, min, max, words, read, offset, doc                           \
    }
#define CLI_FLAG(letter, name, field, doc)                                                         \
    CLI_ROW(letter, name, NULL, CLI_KIND_FLAG, 0, 0, NULL, NULL, CLI_FIELD(field, bool), doc)
#define CLI_TEXT(letter, name, argument, field, doc)                                               \
    CLI_ROW(letter, name, argument, CLI_KIND_TEXT, 0, 0, NULL, NULL,                               \
            CLI_FIELD(field, const char *), doc)
#define CLI_WHOLE(letter, name, argument, min, max, field, doc)                                    \
    CLI_ROW(letter, name, argument, CLI_KIND_WHOLE, min, max, NULL, NULL,                          \
            CLI_FIELD(field, int64_t), doc)
#define CLI_AUTO(letter, name, argument, min, max, field, doc)                                     \
    CLI_ROW(letter, name, argument, CLI_KIND_AUTO, min, max, NULL, NULL,                           \
            CLI_FIELD(field, int64_t), doc)
#define CLI_WORD(letter, name, argument, words, field, doc)                                        \
    CLI_ROW(letter, name, argument, CLI_KIND_WORD, 0, sizeof(words) / sizeof(*(words)), words,     \
            NULL, CLI_INT_FIELD(field), doc)
#define CLI_OTHER(letter, name, argument, read, doc)                                               \
    CLI_ROW(letter, name, argument, CLI_KIND_OTHER, 0, 0, NULL, read, 0, doc)

enum { CLI_OPTIONS_MAX = 24, CLI_MANY = INT_MAX };

/* A command, or a group of commands, which has `verb` instead of operands and run. */
struct cli_command {
    const char *name;     /* "peat plugins info": the last word is the verb */
    const char *summary;  /* for the list of verbs; help.txt has the rest   */
    const char *operands; /* CLI_OPERANDS: "DIR CELL"; NULL: takes none     */
    int least, most;
    const char *missing; /* printed when there are fewer or more */
    int n_option;        /* CLI_ROWS: the options except --help */
    const struct cli_option *option;
    size_t options_size;
    const void *defaults;                  /* CLI_DEFAULTS: the struct before any option is read */
    int (*run)(const struct cli *cli);     /* does the command's work; returns the exit code     */
    bool apart;                            /* run in a child process, because a plugin may end it */
    const struct cli_command *const *verb; /* the commands of a group, ended by NULL */
};

#define CLI_OPERANDS(names, fewest, largest, text)                                                 \
    .operands = (names), .least = (fewest), .most = (largest), .missing = (text)
#define CLI_ROWS(rows)                                                                             \
    .option = (rows), .n_option = sizeof(rows) / sizeof(*(rows)),                                  \
    .options_size = sizeof(struct request)
#define CLI_DEFAULTS(...)                                                                          \
    .defaults = (const struct request[])                                                           \
    {                                                                                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* One call of a command. */
struct cli {
    const struct cli_command *command;
    void *options; /* the struct with the options */
    int n_operand;
    char **operand;
    bool given[CLI_OPTIONS_MAX]; /* by row: the option was given */
    struct arena *arena;         /* memory that lives as long as the call */
    struct error *err;           /* an error, printed at the end: then CLI_DONE becomes CLI_USAGE */
    struct strbuf *out;          /* output buffer, empty; released at the end */
    struct trail *trail;         /* trail of the child, with apart */
};

/* Runs the command, or the verb of the group, that argv names; returns the exit code. */
int cli_dispatch(const struct cli_command *command, int argc, char **argv);

/* The cell of the directory that the first two operands name; NULL and an error in cli->err. */
const struct cell_files *cli_find_cell(const struct cli *cli);
/* Writes cli->out into the file, whole or not at all (NULL: to stdout, unchanged), unless cli->err
 * is set; then returns CLI_DONE. */
int cli_output(const struct cli *cli, const char *file);
/* Prints JSON on stdout, indented. */
void print_json(const struct value *v);

/* True where one of these options, "rows cols", was given. */
bool cli_given(const struct cli *cli, const char *names);

/* ---- for the files that read and explain commands ---- */

/* A kind of call that is refused: a condition holds, and one of these options was given (NULL: any
 * call). */
struct cli_clash {
    const char *given; /* "rows cols" */
    bool clash;
    const char *why;
};
/* True where the call is one of n kinds; prints why the first of them is refused. */
bool cli_clashes(const struct cli *cli, const struct cli_clash *one, size_t n);
#define CLI_CLASHES(cli, list) cli_clashes(cli, list, sizeof(list) / sizeof(*(list)))

/* Values beside exit codes: go on, or print the help page. */
enum { CLI_GO_ON = -1, CLI_ASKS_HELP = -2 };

/* Reads the command line into cli; command, options (the defaults) and arena are set. */
int cli_read(struct cli *cli, int argc, char **argv);
/* The i-th option, --help being the last; NULL: no such option. */
const struct cli_option *cli_option(const struct cli_command *command, int i);
/* The option's name "-o" or "--output"; NULL: none. */
const struct cli_option *cli_find_option(const struct cli_command *command, const char *word);
/* "info" of "peat plugins info" */
const char *cli_verb(const struct cli_command *command);
const struct cli_command *cli_find_verb(const struct cli_command *group, const char *word);

void cli_print_help(const struct cli_command *command, FILE *out);
/* Prints the possible completions of the last word, one a line; "<file>" and "<dir>" mean paths
 * that begin so. Expects words that the shell cut at a '=', and completes them in the same way. */
void cli_complete(const struct cli_command *command, int n, char *const *word);
