/* SPDX-License-Identifier: MIT */
/* main.c: the list of verbs, and main(). */

#include <peat/plugin.h>

#include "cli/verbs.h"
#include "tensor/levels.h"
#include "tensor/provider.h"

/* Reads the note from the file, because loading the provider takes long. */
static void print_library(const struct provider_file *file, struct arena *a)
{
    const char *library;
    struct error err = {0};
    if (object_note("provider", file->path, PEAT_GEMM_NOTE, &library, a, &err) != PEAT_OK)
        library = err.text;
    else
        library =
            library ? arena_printf(a, "built with %s", shown_text(a, library)) : "names no library";
    cli_print("  %s: %s\n", file->name, library);
}

static void print_providers(struct arena *a)
{
    struct providers p;
    struct error err = {0};
    if (providers_find(&p, a, &err) != PEAT_OK) {
        cli_say("%s", err.text);
        return;
    }
    cli_print("matrix products by ");
    for (int i = 0; i < p.n; i++)
        cli_print("%s%s%s", i ? ", " : "", p.file[i].name, i ? "" : " (auto)");
    const char *missing = providers_missing(&p);
    cli_print("%s%s%s\n", p.n ? "" : "nothing", missing ? "; not installed: " : "",
              missing ? missing : "");
    for (int i = 0; i < p.n; i++)
        print_library(&p.file[i], a);
}

static int print_version(struct cli *cli, const char *argument)
{
    (void)cli, (void)argument;
    cli_print("peat %s\nplugin ABI %s\nbuilt by %s, %s; vectors for %s\n", PEAT_VERSION, PEAT_ABI,
              PEAT_COMPILER, PEAT_BUILD_TYPE, level_name());
    struct arena arena;
    arena_init(&arena, "version", 1 << 12);
    print_providers(&arena);
    arena_release(&arena);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_OTHER('V', "version", NULL, print_version,
              "print versions and the libraries that multiply matrices"),
};

static const struct cli_command program = {
    .name = "peat",
    .option = options,
    .n_option = 1,
    .verb =
        (const struct cli_command *const[]){
            &cmd_bench,    &cmd_bundle,   &cmd_cell,   &cmd_compare, &cmd_diagnose, &cmd_export,
            &cmd_inspect,  &cmd_logs,     &cmd_new,    &cmd_plan,    &cmd_plot,     &cmd_plugins,
            &cmd_report,   &cmd_results,  &cmd_run,    &cmd_runs,    &cmd_schema,   &cmd_status,
            &cmd_tokenize, &cmd_validate, &cmd_verify, NULL},
};

int main(int argc, char **argv)
{
    cli_start();
    return cli_finish(cli_dispatch(&program, argc, argv));
}
