/* SPDX-License-Identifier: MIT */
/* cli.c: options by getopt_long, help pages, messages. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

/* ---- messages ---- */

static void say(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

static void say(const char *fmt, va_list args)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_add(&line, "peat: ");
    strbuf_addv(&line, fmt, args);
    strbuf_add(&line, "\n");
    fwrite(line.text, 1, line.n, stderr);
    strbuf_release(&line);
}

void cli_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(fmt, args);
    va_end(args);
}

int cli_refuse(const struct error *err)
{
    cli_say("%s", err->text);
    return CLI_USAGE;
}

int cli_mistake(const struct cli_command *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(fmt, args);
    va_end(args);
    fprintf(stderr, "try 'peat %s --help'\n", command->name);
    return CLI_USAGE;
}

/* ---- help pages ---- */

static void print_option(int letter, const char *name, const char *argument, const char *doc)
{
    enum { DOC_COLUMN = 26 };
    char left[64];
    bool has_letter = letter < CLI_LONG;
    snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", has_letter ? '-' : ' ',
             has_letter ? letter : ' ', has_letter ? ',' : ' ', name, argument ? " " : "",
             argument ? argument : "");
    printf("%-*s %s\n", DOC_COLUMN, left, doc);
}

/* Each line of text, two columns in. */
static void print_indented(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        printf("  %.*s\n", (int)(end - text), text);
    }
}

static void print_help(const struct cli_command *c)
{
    printf("usage: peat %s%s%s [options]\n\n%s\n\noptions:\n", c->name, *c->usage ? " " : "",
           c->usage, c->about);
    for (const struct cli_option *o = c->option; o && o->name; o++)
        print_option(o->letter, o->name, o->argument, o->doc);
    print_option('h', "help", NULL, "print this page");
    printf("\nexample:\n");
    print_indented(c->example);
}

/* ---- options ---- */

void cli_open(struct cli *c, const struct cli_command *command, int argc, char **argv)
{
    *c = (struct cli){.command = command, .argc = argc, .argv = argv};
    /* ':' first: a missing argument is told from an unknown option, and getopt stays silent. */
    char *letter = c->letters;
    *letter++ = ':';
    *letter++ = 'h';
    int n = 0;
    c->table[n++] = (struct option){.name = "help", .val = 'h'};
    for (const struct cli_option *o = command->option; o && o->name; o++) {
        if (n > CLI_OPTIONS_MAX)
            BUG("'%s' has more than %d options", command->name, CLI_OPTIONS_MAX);
        c->table[n++] = (struct option){
            .name = o->name,
            .has_arg = o->argument ? required_argument : no_argument,
            .val = o->letter,
        };
        if (o->letter >= CLI_LONG)
            continue;
        *letter++ = (char)o->letter;
        if (o->argument)
            *letter++ = ':';
    }
    optind = 0; /* another command line may have been read before */
}

static int stop(struct cli *c, int status)
{
    c->status = status;
    return CLI_STOP;
}

static const char *nearest_option(const struct cli *c, const char *word)
{
    const char *name[CLI_OPTIONS_MAX + 1];
    int n = 0;
    for (; c->table[n].name; n++)
        name[n] = c->table[n].name;
    return nearest_name(word, name, n);
}

/* The long option a letter stands for, NULL for an unknown one. */
static const char *name_of(const struct cli *c, int letter)
{
    for (const struct option *o = c->table; o->name; o++)
        if (o->val == letter)
            return o->name;
    return NULL;
}

static int unknown_option(struct cli *c)
{
    const char *name = optopt ? name_of(c, optopt) : NULL;
    if (name)
        return stop(c, cli_mistake(c->command, "option '--%s' takes no value", name));
    if (optopt)
        return stop(c, cli_mistake(c->command, "unknown option '-%c' of 'peat %s'", optopt,
                                   c->command->name));
    const char *written = c->argv[optind - 1];
    const char *near = nearest_option(c, written + strspn(written, "-"));
    return stop(c, cli_mistake(c->command, "unknown option '%s' of 'peat %s'%s%s%s", written,
                               c->command->name, near ? "; did you mean '--" : "", near ? near : "",
                               near ? "'?" : ""));
}

int cli_next(struct cli *c)
{
    int letter = getopt_long(c->argc, c->argv, c->letters, c->table, NULL);
    switch (letter) {
    case -1:
        c->operand = c->argv + optind;
        c->n_operand = c->argc - optind;
        return CLI_END;
    case 'h':
        print_help(c->command);
        return stop(c, CLI_DONE);
    case ':':
        return stop(c, cli_mistake(c->command, "option '--%s' needs a value", name_of(c, optopt)));
    case '?':
        return unknown_option(c);
    default:
        c->option = name_of(c, letter);
        c->argument = optarg;
        return letter;
    }
}

bool cli_whole_number(struct cli *c, int64_t min, int64_t max, int64_t *number)
{
    char *end;
    errno = 0;
    intmax_t read = strtoimax(c->argument, &end, 10);
    if (*c->argument && !*end && !errno && read >= min && read <= max) {
        *number = read;
        return true;
    }
    c->status = cli_mistake(c->command,
                            "option '--%s' must be a whole number from %" PRId64 " to %" PRId64
                            ", not '%s'",
                            c->option, min, max, c->argument);
    return false;
}

bool cli_word(struct cli *c, const char *const *word, int n, int *which)
{
    struct strbuf allowed;
    strbuf_init(&allowed);
    for (int i = 0; i < n; i++) {
        if (!strcmp(c->argument, word[i])) {
            strbuf_release(&allowed);
            *which = i;
            return true;
        }
        strbuf_addf(&allowed, "%s%s", i ? ", " : "", word[i]);
    }
    c->status = cli_mistake(c->command, "option '--%s' must be one of %s, not '%s'", c->option,
                            allowed.text, c->argument);
    strbuf_release(&allowed);
    return false;
}

/* ---- verbs ---- */

static void print_group(const struct cli_group *g, FILE *out)
{
    fprintf(out, "usage: %s VERB [operands] [options]\n\n%s\n\nverbs:\n", g->name, g->about);
    for (const struct verb *v = g->verb; v->name; v++)
        fprintf(out, "  %-10s %s\n", v->name, v->summary);
    fprintf(out, "\n'%s VERB --help' explains a verb\n\nexample:\n  %s\n", g->name, g->example);
}

static const struct verb *find_verb(const struct cli_group *g, const char *name)
{
    for (const struct verb *v = g->verb; v->name; v++)
        if (!strcmp(v->name, name))
            return v;
    return NULL;
}

static int unknown_verb(const struct cli_group *g, const char *word)
{
    const char *name[32];
    int n = 0;
    for (; g->verb[n].name && n < 32; n++)
        name[n] = g->verb[n].name;
    const char *near = nearest_name(word, name, n);
    cli_say("unknown verb '%s' of '%s'%s%s%s", word, g->name, near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    fprintf(stderr, "try '%s --help'\n", g->name);
    return CLI_USAGE;
}

static int group_help(const struct cli_group *g, const char *word)
{
    if (!word) {
        print_group(g, stdout);
        return CLI_DONE;
    }
    const struct verb *v = find_verb(g, word);
    if (!v)
        return unknown_verb(g, word);
    char name[32], flag[] = "--help";
    snprintf(name, sizeof(name), "%s", v->name);
    char *argv[] = {name, flag, NULL};
    return v->run(2, argv);
}

int cli_dispatch(const struct cli_group *group, int argc, char **argv)
{
    if (argc < 2) {
        print_group(group, stderr);
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h"))
        return group_help(group, NULL);
    if (!strcmp(word, "help"))
        return group_help(group, argc > 2 ? argv[2] : NULL);
    const struct verb *v = find_verb(group, word);
    return v ? v->run(argc - 1, argv + 1) : unknown_verb(group, word);
}

/* ---- the process ---- */

/* A closed standard descriptor would be given to the next file opened, and text printed into it.
 * Opened the wrong way round, it fails when it is used. */
void cli_start(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    signal(SIGPIPE, SIG_IGN);
}

/* The reader of a pipe went away: nobody is there to tell. An earlier write's errno may be lost by
 * now; the pipe itself still knows. */
static bool reader_is_gone(int error)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return error == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR));
}

int cli_finish(int code)
{
    errno = 0;
    bool bad = ferror(stdout);
    if (fflush(stdout) == 0 && !bad)
        return code;
    int error = errno;
    if (!reader_is_gone(error))
        cli_say("cannot write to standard output: %s",
                error ? strerror(error) : "input/output error");
    return code == CLI_DONE ? CLI_FAILED : code;
}
