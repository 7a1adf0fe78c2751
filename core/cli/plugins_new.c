/* SPDX-License-Identifier: MIT */
/* plugins_new.c: peat plugins new NAME: makes a folder with a plugin that builds at once. */

#include "cli/plugins.h"
#include "cli/verbs.h"
#include "process/python.h"

enum { NAME_MAX_LENGTH = 48 };

struct request {
    int kind; /* index in kind_words; -1: not given */
    const char *where;
    const char *python; /* a plugin that is Python alone; NULL: not given */
};

struct making {
    struct arena *arena;
    const char *name, *kind;
    const char *from, *to; /* folders                             */
    const char *old;       /* the name in the template: my_scheme */
    const char *python;    /* NULL, or the file whose twin is made */
};

/* Checks a name, which is used in file names, YAML and C comments. */
static const char *name_fault(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || name[0] < 'a' || name[0] > 'z')
        return "must start with a lower-case letter";
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return "may have lower-case letters, digits and underscores only";
    if (n > NAME_MAX_LENGTH)
        return "is too long: 48 letters at most";
    return NULL;
}

static bool find_template(struct making *m, struct error *err)
{
    const char *data = installed_dir(m->arena, PEAT_DATADIR);
    m->from = arena_printf(m->arena, "%s/peat/template/%s", data ? data : "", m->kind);
    return file_exists(m->from) ||
           error_fail(err, PEAT_NOTFOUND, "there is no template '%s'; is PEAT installed whole?",
                      m->from);
}

static const char *renamed(const struct making *m, const char *text)
{
    return text_replaced(text, m->old, m->name, m->arena);
}

static bool copy_file(struct making *m, const char *file, struct error *err)
{
    const char *from = arena_printf(m->arena, "%s/%s", m->from, file);
    char *text = NULL;
    size_t n;
    if (file_read(from, 0, &text, &n, err) != PEAT_OK)
        return false;
    const char *made = renamed(m, text);
    free(text);
    return file_write(arena_printf(m->arena, "%s/%s", m->to, renamed(m, file)), made, strlen(made),
                      err) == PEAT_OK;
}

/* Puts the twin in C and its formula in the place of those of the template, and has `make check`
 * compare the two. */
static bool put_twin(struct making *m, struct error *err)
{
    const char *const word[] = {m->python, m->name, m->to};
    const char *answer;
    return python_ask("twin.py", word, 3, "--from", m->arena, &answer, err) == PEAT_OK;
}

static bool make_folder(struct making *m, struct error *err)
{
    char **file;
    int n;
    if (!find_template(m, err) || dir_list(m->from, &file, &n, err) != PEAT_OK)
        return false;
    bool made = mkdir(m->to, 0777) == 0, whole = made;
    if (!made && errno == EEXIST)
        error_set(err, PEAT_INVALID, "'%s' exists already", m->to);
    else if (!made)
        error_set(err, PEAT_IO, "cannot make '%s': %s", m->to, strerror(errno));
    for (int i = 0; i < n && whole; i++)
        whole = copy_file(m, file[i], err);
    whole = whole && (!m->python || put_twin(m, err));
    if (made && !whole)
        dir_remove(m->to, NULL);
    names_free(file, n);
    return whole;
}

/* True where the shell calls this program when somebody types `peat`. */
static bool is_in_path(const char *program, struct arena *a)
{
    const char *list = getenv("PATH");
    for (const char *dir; list && (dir = list_next(a, &list, ':'));) {
        char found[PATH_MAX];
        if (realpath(path_in(dir, "peat").text, found))
            return strcmp(found, program) == 0;
    }
    return false;
}

static void print_next(struct making *m)
{
    char program[PATH_MAX];
    bool known = own_program(program, sizeof(program), NULL) == PEAT_OK;
    bool named = known && !is_in_path(program, m->arena);
    cli_print("wrote %s/%s.c; edit it, then build and check it with\n"
              "  cd %s && make check%s%s\n",
              m->to, m->name, m->to, named ? " PEAT=" : "", named ? program : "");
}

static void warn_of_name(const struct making *m, peat_kind kind)
{
    struct registry registry;
    const char *const *name;
    if (registry_init(&registry, m->arena, NULL, NULL) != PEAT_OK)
        return;
    int n = registry_names(&registry, kind, &name);
    if (texts_find(name, n, m->name) >= 0)
        cli_print("warning: there is a %s '%s' already; where both are found, the one in "
                  "PEAT_PLUGIN_PATH hides the installed one\n",
                  m->kind, m->name);
}

/* The kind and name of a plugin that is Python alone. */
static const struct plugin *read_python(const struct cli *cli, const char *path)
{
    const struct plugin *plugin = NULL;
    if (!path_ends_in(path, ".py"))
        error_set(cli->err, PEAT_INVALID, "--from: '%s' is not a plugin that is Python alone (.py)",
                  path);
    else
        python_plugin_load(cli->arena, path, &plugin, cli->err);
    return plugin;
}

static int make_plugin(const struct cli *cli)
{
    const struct request *q = cli->options;
    const struct plugin *twin = q->python ? read_python(cli, q->python) : NULL;
    if (q->python && !twin)
        return CLI_DONE;
    const char *name = cli->n_operand ? cli->operand[0] : twin ? twin->name : NULL;
    if (!name)
        return cli_mistake(plugins_new.name, "which NAME?");
    const char *fault = name_fault(name);
    if (fault)
        return cli_mistake(plugins_new.name, "the name '%s' %s", name, fault);
    int kind = twin ? (int)(twin->desc->kind - PEAT_SCHEME) : q->kind;
    if (kind < 0)
        return cli_mistake(plugins_new.name, "choose its kind: --kind scheme, combine or task");
    if (twin && q->kind >= 0 && q->kind != kind)
        return cli_mistake(plugins_new.name, "'%s' is a %s: leave --kind out", q->python,
                           kind_words[kind]);
    struct making m = {.arena = cli->arena,
                       .name = name,
                       .to = name,
                       .kind = kind_words[kind],
                       .python = q->python};
    if (strcmp(q->where, ".") != 0)
        m.to = arena_printf(m.arena, "%s/%s", q->where, name);
    m.old = arena_printf(m.arena, "my_%s", m.kind);
    if (!make_folder(&m, cli->err))
        return CLI_DONE;
    print_next(&m);
    warn_of_name(&m, (peat_kind)(PEAT_SCHEME + kind));
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_WORD('k', "kind", "KIND", kind_words, kind, "scheme, combine or task"),
    CLI_TEXT(0, "from", "FILE.py", python,
             "the twin in C of a plugin that is Python alone: the same parameters and tensors"),
    CLI_TEXT('o', "output", "DIR", where,
             "the directory in which the folder is made; here unless given"),
};

const struct cli_command plugins_new = {
    .name = "peat plugins new",
    .summary = "make a folder with a plugin to start from",
    CLI_OPERANDS("[NAME]", 0, 1, NULL),
    CLI_ROWS(options),
    CLI_DEFAULTS(.kind = -1, .where = "."),
    .run = make_plugin,
};
