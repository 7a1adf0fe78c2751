/* SPDX-License-Identifier: MIT */
/* cmd_schema.c: peat schema: the experiment file as a JSON Schema. */
#include "cli/verbs.h"
#include "experiment/schema.h"

struct request {
    const char *file; /* NULL: stdout */
};

static void say_bad(void *ctx, const char *path, const char *why)
{
    (void)ctx, (void)path;
    cli_say("%s", why);
}

static int print_schema(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct registry registry;
    if (registry_init(&registry, cli->arena, cli->trail, cli->err) != PEAT_OK)
        return CLI_USAGE;
    registry_load_all(&registry, say_bad, NULL);
    json_print(experiment_schema(&registry, cli->arena), JSON_INDENTED, cli->out);
    if (cli_write(q->file, cli->out, cli->err) == PEAT_OK)
        cli_say("the line for the top of an experiment file: # yaml-language-server: $schema=%s",
                q->file ? q->file : "FILE");
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file, "the schema (default: standard output)"),
};

const struct cli_command cmd_schema = {
    .name = "peat schema",
    .summary = "the experiment file as a JSON Schema, for editors",
    CLI_ROWS(options),
    .run = print_schema,
    .apart = true,
};
