/* SPDX-License-Identifier: MIT */
/* pythonverb.c: starts a module of the Python package with a call's options. */
#include "cli/pythonverb.h"

#include "process/python.h"

static void put_option(struct json request, const struct cli_option *o, const void *field)
{
    switch (o->kind) {
    case CLI_KIND_FLAG:
        json_put_bool(request, o->name, true);
        break;
    case CLI_KIND_TEXT:
        json_put_text(request, o->name, *(const char *const *)field);
        break;
    case CLI_KIND_WHOLE:
    case CLI_KIND_AUTO:
        json_put_int(request, o->name, *(const int64_t *)field);
        break;
    case CLI_KIND_WORD:
        json_put_text(request, o->name, o->word[*(const int *)field]);
        break;
    case CLI_KIND_OTHER:
        break;
    }
}

struct json python_request(const struct cli *cli, const char *file)
{
    struct json request = json_map(cli->arena), operands = json_put_list(request, "operands");
    for (int i = 0; i < cli->n_operand; i++)
        json_add_text(operands, cli->operand[i]);
    json_put_int(request, "width", cli_width(file, 72, 120));
    for (int i = 0; i < cli->command->n_option; i++) {
        const struct cli_option *o = &cli->command->option[i];
        if (cli->given[i])
            put_option(request, o, (const char *)cli->options + o->offset);
    }
    return request;
}

peat_status python_run(const struct cli *cli, char *const *word, int n, int *code)
{
    struct child c = {.argv = python_words(word, n, cli->arena), .own_group = true, .grace = 1};
    if (child_start(&c, cli->err) != PEAT_OK)
        return python_start_error(&c, cli->command->name, cli->err);
    child_wait(&c);
    *code = c.code;
    return c.signal && !stops_waiting()
               ? error_set(cli->err, PEAT_FAILED, "%s was ended by signal %d", *c.argv, c.signal)
               : PEAT_OK;
}

int python_verb(const struct cli *cli, const char *module, struct json request)
{
    static const char program[] = "import sys; sys.path.insert(0, sys.argv[1])\n"
                                  "from peat.verb import main; sys.exit(main(*sys.argv[2:]))";
    struct arena *a = cli->arena;
    const char *dir = installed_dir(a, PEAT_PYTHONDIR);
    char own[PATH_MAX];
    int code = CLI_USAGE;
    if (!dir || !file_exists(arena_printf(a, "%s/peat/verb.py", dir))) {
        error_set(cli->err, PEAT_NOTFOUND,
                  "%s needs '%s/peat', which is not there (Debian: apt-get install python3-peat)",
                  cli->command->name, dir ? dir : PEAT_PYTHONDIR);
        return CLI_USAGE;
    }
    if (own_program(own, sizeof(own), cli->err) != PEAT_OK)
        return CLI_USAGE;
    setenv("PEAT", own, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* the same bits everywhere */
    char *word[] = {arena_strdup(a, "-c"), arena_strdup(a, program), arena_strdup(a, dir),
                    arena_strdup(a, module),
                    arena_strdup(a, json_to_text(request.v, JSON_CANONICAL, a))};
    fflush(stdout);
    struct stops_held held;
    stops_hold(&held);
    python_run(cli, word, sizeof(word) / sizeof(*word), &code);
    stops_let(&held);
    return code;
}
