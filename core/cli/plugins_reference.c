/* SPDX-License-Identifier: MIT */
/* plugins_reference.c: peat plugins reference: writes the reference pages from the
 * parameter rows. */

#include "cli/plugins.h"
#include "cli/verbs.h"
#include "inspect/tensor_list.h"
#include "plugin/params.h"

struct request {
    const char *dir;
};

struct page {
    peat_kind kind;
    const char *file, *title, *about;
};

static const struct page pages[] = {
    {PEAT_SCHEME, "schemes.md", "Schemes",
     "How position is expressed. Named under `position.scheme`; `where`, `at` and `share` may be "
     "given to each beside its own parameters. Tensors are those of a decoder at default "
     "parameters, in the letters of [checkpoint.md](../checkpoint.md); T_train and T_max are the "
     "longest sequences trained, and trained or evaluated."},
    {PEAT_COMBINE, "combinations.md", "Combinations",
     "How positional streams join the tokens. Named under `position.combine`. Tensors are those of "
     "a decoder with one stream of positions, at default parameters."},
    {PEAT_TASK, "tasks.md", "Tasks", "What is learned. Named under `task`."},
};
enum { PAGES = sizeof(pages) / sizeof(pages[0]) };

/* Escapes a plugin's text: control characters, tags of HTML, links, and the end of a table's
 * cell. */
static void add_text(struct strbuf *out, const char *text)
{
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, text, "");
    for (const char *c = shown.text; *c; c++) {
        bool tag = *c == '<' && c[1] != ' ' && c[1] != '=', link = *c == ']' && c[1] == '(';
        if (tag || *c == '|')
            strbuf_add(out, "\\");
        strbuf_add_bytes(out, c, 1);
        if (link)
            strbuf_add(out, "\\");
    }
    strbuf_release(&shown);
}

static void add_cell(struct strbuf *out, const char *text)
{
    strbuf_add(out, " ");
    add_text(out, text);
    strbuf_add(out, " |");
}

static void add_name(struct strbuf *out, const char *name)
{
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, name, "");
    for (char *c = shown.text; *c; c++)
        *c = *c == '`' || *c == '|' ? '?' : *c;
    strbuf_addf(out, "| `%s` |", shown.text);
    strbuf_release(&shown);
}

static const char *default_text(const peat_param *row, const void *config, struct arena *a)
{
    if (row->flags & PEAT_REQUIRED)
        return "required";
    if (row->flags & PEAT_AUTO)
        return arena_printf(a, "auto: %s", row->automatic);
    const char *text = params_text(row, config, a);
    return *text ? text : "\"\"";
}

static void add_parameters(struct strbuf *out, const peat_plugin *desc, struct arena *a)
{
    if (!desc->param || !desc->param->key) {
        strbuf_add(out, "\nNo parameters.\n");
        return;
    }
    const void *config = plugin_defaults(desc, a);
    strbuf_add(out, "\n| parameter | default | allowed | meaning |\n| --- | --- | --- | --- |\n");
    for (const peat_param *row = desc->param; row->key; row++) {
        add_name(out, row->key);
        add_cell(out, default_text(row, config, a));
        add_cell(out, params_allowed(row, a));
        add_cell(out, row->doc);
        strbuf_add(out, "\n");
    }
}

static bool add_tensors(struct strbuf *out, const struct plugin *p, struct trail *trail,
                        struct arena *a, struct error *err)
{
    struct tensor_row *row;
    int n = 0;
    if (!tensor_list(p, plugin_defaults(p->desc, a), trail, a, &row, &n, err))
        return false;
    if (n == 0)
        strbuf_add(out, "\nNo tensors.\n");
    else
        strbuf_add(out,
                   "\n| tensor | shape | starts | one for | |\n| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < n; i++) {
        add_name(out, row[i].name);
        add_cell(out, row[i].shape);
        add_cell(out, row[i].starts);
        add_cell(out, row[i].each);
        strbuf_add(out, *row[i].note ? " " : "");
        add_text(out, row[i].note);
        strbuf_add(out, " |\n");
    }
    return true;
}

static void add_words(struct strbuf *out, const char *name, const char *words)
{
    if (*words)
        strbuf_addf(out, "; %s: %s", name, words);
}

static bool add_plugin(struct strbuf *out, const struct plugin *p, struct trail *trail,
                       struct arena *a, struct error *err)
{
    const peat_plugin *desc = p->desc;
    bool cited = *desc->citation;
    strbuf_add(out, "\n## ");
    add_text(out, p->name);
    strbuf_add(out, "\n\n");
    add_text(out, arena_printf(a, "%s%s%s%s. ", desc->summary, cited ? " (" : "", desc->citation,
                               cited ? ")" : ""));
    strbuf_addf(out, "[More](../../plugins/%s/", kind_name(desc->kind));
    add_text(out, p->name);
    strbuf_add(out, "/README.md).\n\n");
    add_text(out, arena_printf(a, "version %s; licence %s", desc->version, desc->licence));
    add_words(out, "hooks", plugin_hooks(desc, a));
    add_words(out, "traits", plugin_traits(desc, a));
    strbuf_add(out, "\n");
    add_parameters(out, desc, a);
    return desc->kind == PEAT_TASK || add_tensors(out, p, trail, a, err);
}

static bool write_page(const struct page *page, const struct registry *r, const char *dir,
                       struct arena *a, struct error *err)
{
    struct strbuf out = STRBUF_NEW;
    bool made = true;
    strbuf_addf(&out,
                "# %s\n\n%s\n\nMade by `peat plugins reference` from the plugins themselves: do "
                "not edit.\n",
                page->title, page->about);
    for (int i = 0; i < r->n && made; i++)
        made =
            r->item[i]->desc->kind != page->kind || add_plugin(&out, r->item[i], r->trail, a, err);
    made = made && file_write(path_in(dir, page->file).text, out.text, out.n, err) == PEAT_OK;
    strbuf_release(&out);
    return made;
}

static void report_bad(void *ctx, const char *path, const char *why)
{
    (void)path; /* the error names the file */
    cli_say("%s", why);
    (*(int *)ctx)++;
}

static int write_reference(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct registry registry;
    int bad = 0;
    if (registry_init(&registry, cli->arena, cli->trail, cli->err) != PEAT_OK)
        return CLI_USAGE;
    registry_load_all(&registry, report_bad, &bad);
    if (dir_make(q->dir, cli->err) != PEAT_OK)
        return CLI_USAGE;
    for (int i = 0; i < PAGES; i++)
        if (!write_page(&pages[i], &registry, q->dir, cli->arena, cli->err))
            return CLI_USAGE;
    return bad ? CLI_FAILED : CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", dir, "where the pages go; docs/reference unless given"),
};

const struct cli_command plugins_reference = {
    .name = "peat plugins reference",
    .summary = "write the reference pages",
    CLI_ROWS(options),
    CLI_DEFAULTS(.dir = "docs/reference"),
    .run = write_reference,
    .apart = true,
};
