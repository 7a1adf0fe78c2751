/* SPDX-License-Identifier: MIT */
/* plugins_build.c: peat plugins build FILE.c: compiles a plugin with the headers of this program.
 * peat plugins cflags prints what tells a compiler where they are. */

#include "cli/verbs.h"
#include "process/child.h"

struct request {
    const char *output;
};

static const char *header_dir(struct arena *a, struct error *err)
{
    const char *dir = installed_dir(a, PEAT_INCLUDEDIR);
    if (dir && file_exists(path_in(dir, "peat/plugin.h").text))
        return dir;
    error_set(err, PEAT_NOTFOUND,
              "the headers of plugins are not beside the program; is PEAT installed whole?");
    return NULL;
}

/* ---- build ---- */

static bool is_cpp(const char *file)
{
    return path_ends_in(file, ".cc") || path_ends_in(file, ".cpp") || path_ends_in(file, ".cxx");
}

/* The variable, as make has it; words behind the first, as in CC="ccache gcc", go to the compiler.
 */
static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static void add_words(struct arena *a, const char *words, char *argv[], int *n, int most)
{
    for (const char *word; *n < most && (word = list_next(a, &words, ' '));)
        if (*word)
            argv[(*n)++] = arena_strdup(a, word);
}

/* -DPEAT_BUILT="cc -O3": the words so far as a literal of C. */
static char *built_note(struct arena *a, char *const argv[], int n)
{
    const char *words = NULL;
    for (int i = 0; i < n; i++)
        words = list_add(a, words, " ", argv[i]);
    return arena_printf(a, "-DPEAT_BUILT=%s",
                        json_to_text(value_text(a, NOWHERE, words), JSON_LINE, a));
}

static peat_status compile(const struct cli *cli, const char *file, const char *output,
                           const char *headers)
{
    enum { WORDS = 64 };
    struct arena *a = cli->arena;
    char *argv[WORDS + 1];
    int n = 0;
    bool cpp = is_cpp(file);
    add_words(a, cpp ? variable("CXX", "c++") : variable("CC", "cc"), argv, &n, WORDS / 4);
    add_words(a, cpp ? "-std=gnu++17" : "-std=gnu11", argv, &n, WORDS);
    add_words(a, "-Wall -Wextra -fPIC -fvisibility=hidden -ffp-contract=off -shared", argv, &n,
              WORDS);
    add_words(a, variable(cpp ? "CXXFLAGS" : "CFLAGS", "-O3"), argv, &n, WORDS / 2);
    char *last[] = {built_note(a, argv, n), "-I", arena_strdup(a, headers),
                    arena_strdup(a, file),  "-o", arena_strdup(a, output),
                    "-Wl,-z,defs",          "-lm"};
    for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++)
        argv[n++] = last[i];
    argv[n] = NULL;
    struct child c = {.argv = argv, .own_group = true, .grace = 1};
    peat_status status = child_start(&c, cli->err);
    if (status == PEAT_NOTFOUND)
        return error_set(cli->err, status,
                         "the compiler '%s' is not installed; CC and CXX name another", argv[0]);
    if (status != PEAT_OK)
        return status;
    child_wait(&c);
    return c.code == 0 ? PEAT_OK
                       : error_set(cli->err, PEAT_FAILED, "'%s' was not built: see above", output);
}

/* FILE.so, beside the file */
static const char *object_of(const char *file, struct arena *a)
{
    const char *end = strrchr(path_name(file), '.');
    return arena_printf(a, "%.*s.so", (int)(end ? end - file : (ptrdiff_t)strlen(file)), file);
}

static int build(const struct cli *cli)
{
    const struct request *q = cli->options;
    const char *file = cli->operand[0];
    if (!path_ends_in(file, ".c") && !is_cpp(file))
        return cli_mistake(plugins_build.name, "'%s' is not a file of C (.c) or C++ (.cc)", file);
    if (!file_exists(file))
        return cli_mistake(plugins_build.name, "there is no '%s'", file);
    const char *output = q->output ? q->output : object_of(file, cli->arena);
    const char *headers = header_dir(cli->arena, cli->err);
    if (!headers)
        return CLI_DONE;
    if (compile(cli, file, output, headers) != PEAT_OK)
        return CLI_FAILED;
    cli_print("wrote %s; check it with: peat plugins check %s%s\n", output,
              strchr(output, '/') ? "" : "./", output);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "FILE.so", output, "the plugin; beside the source unless given"),
};

const struct cli_command plugins_build = {
    .name = "peat plugins build",
    .summary = "compile a plugin",
    CLI_OPERANDS("FILE", 1, 1, "which file of C or C++?"),
    CLI_ROWS(options),
    .run = build,
};

/* ---- cflags ---- */

static int print_flags(const struct cli *cli)
{
    const char *headers = header_dir(cli->arena, cli->err);
    if (headers)
        cli_print("-I%s\n", headers);
    return CLI_DONE;
}

const struct cli_command plugins_cflags = {
    .name = "peat plugins cflags",
    .summary = "what tells a compiler where the headers of plugins are",
    .run = print_flags,
};
