/* SPDX-License-Identifier: MIT */
/* cmd_bundle.c: peat bundle DIR -o FILE. */
#include "cli/verbs.h"
#include "grid/bundle.h"

struct request {
    const char *file;
    bool weights, curves;
};

static int write_bundle(const struct cli *cli, enum packing packing)
{
    const struct request *q = cli->options;
    const char *dir = cli->operand[0];
    struct verification v;
    if (lock_is_held(dir))
        error_set(cli->err, PEAT_INVALID, "'%s' is being run: wait for it, or stop it", dir);
    else if (verify_packed(dir, q->weights, &v, cli->arena, cli->err) == PEAT_OK &&
             bundle_make(&v, q->curves, packing, cli->out, cli->err) == PEAT_OK && v.unfinished)
        cli_say("%d cell%s not finished; the bundle has what there is of them", v.unfinished,
                v.unfinished == 1 ? " is" : "s are");
    return cli_output(cli, q->file);
}

static int bundle_directory(const struct cli *cli)
{
    const struct request *q = cli->options;
    if (!q->file)
        return cli_mistake(cmd_bundle.name,
                           "name the file to write: -o FILE.tar.gz or FILE.tar.xz");
    bool xz = path_ends_in(q->file, ".tar.xz");
    if (!xz && !path_ends_in(q->file, ".tar.gz"))
        return cli_mistake(cmd_bundle.name, "'%s' ends in neither .tar.gz nor .tar.xz", q->file);
    return write_bundle(cli, xz ? PACKED_XZ : PACKED_GZIP);
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE", file,
             "the file to write: runs.tar.gz, or runs.tar.xz, half as large"),
    CLI_FLAG(0, "curves", curves, "every line of the curves, instead of up to 100 of training"),
    CLI_FLAG(0, "weights", weights, "the trained weights too, and whole curves"),
};

const struct cli_command cmd_bundle = {
    .name = "peat bundle",
    .summary = "a run directory as one file, to hand to someone else",
    CLI_OPERANDS("DIR", 1, 1, "which run directory?"),
    CLI_ROWS(options),
    .run = bundle_directory,
};
