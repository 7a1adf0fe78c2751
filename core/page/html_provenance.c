/* SPDX-License-Identifier: MIT */
/* html_provenance.c: the origin of the results, and the commands that make them again. */

#include "experiment/resolved.h"
#include "grid/verify.h"
#include "page_parts.h"

enum { DISTINCT_MAX = 16, HASH_SHOWN = 12 };

/* Distinct texts in order of appearance, with the number of cells of each. */
struct tally {
    int n, room;
    struct counted {
        const char *text;
        int cells;
    } * line;
};

static void count_text(struct tally *t, const char *text, struct arena *a)
{
    if (!text || !*text)
        return;
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->line[i].text, text) == 0) {
            t->line[i].cells++;
            return;
        }
    *ARENA_APPEND(a, t->line, t->n, t->room) = (struct counted){text, 1};
}

/* Names the number of cells where not all have the same text. cells 0: several texts may belong
 * to a cell, and each gets a line. */
static void add_tally(struct html_page *p, const char *name, const struct tally *t, int cells)
{
    if (!t->n)
        return;
    strbuf_addf(p->out, "<dt>%s</dt><dd>", name);
    for (int i = 0; i < t->n && (!cells || i < DISTINCT_MAX); i++) {
        html_wrap(p->out, !i ? "" : cells ? "; " : "<br>", t->line[i].text, "");
        if (cells && t->line[i].cells != cells)
            strbuf_addf(p->out, " (%d cells)", t->line[i].cells);
    }
    if (cells && t->n > DISTINCT_MAX)
        strbuf_add(p->out, "; and more");
    strbuf_add(p->out, "</dd>\n");
}

static const char *number_or_text(struct html_page *p, const struct value *meta, const char *key)
{
    const char *text = json_get_text(meta, key);
    int64_t number = json_get_int(meta, key, INT64_MIN);
    return text || number == INT64_MIN ? text : arena_printf(p->a, "%" PRId64, number);
}

static void add_machine(struct html_page *p, int cells)
{
    static const char *const key[][2] = {{"engine", "engine"},       {"abi", "plugin ABI"},
                                         {"compiler", "compiler"},   {"build", "build"},
                                         {"blas", "BLAS"},           {"blas_core", "BLAS kernels"},
                                         {"precision", "precision"}, {"threads", "threads"},
                                         {"cpu", "processor"},       {"host", "host"}};
    for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
        struct tally t = {.n = 0};
        for (int i = 0; i < p->r->n_cell; i++)
            count_text(&t, number_or_text(p, p->r->cell[i].meta, key[k][0]), p->a);
        add_tally(p, key[k][1], &t, cells);
    }
}

/* Dates are compared as texts: ISO 8601 in UTC. */
static void add_dates(struct html_page *p)
{
    const char *first = NULL, *last = NULL;
    for (int i = 0; i < p->r->n_cell; i++) {
        const char *at = json_get_text(p->r->cell[i].meta, "started_utc");
        if (!at)
            continue;
        first = !first || strcmp(at, first) < 0 ? at : first;
        last = !last || strcmp(at, last) > 0 ? at : last;
    }
    if (!first)
        return;
    strbuf_add(p->out, "<dt>started</dt><dd>");
    html_textf(p->out, strcmp(first, last) == 0 ? "%s" : "%s to %s", first, last);
    strbuf_add(p->out, "</dd>\n");
}

/* A plugin or a data file of meta.json. */
static const char *file_text(struct html_page *p, const struct value *v)
{
    const char *kind = json_get_text(v, "kind");
    const char *name = kind ? arena_printf(p->a, "%s/%s %s", kind, json_text_or(v, "id", ""),
                                           json_text_or(v, "version", ""))
                            : json_text_or(v, "path", "");
    return arena_printf(p->a, "%s, sha256 %.*s", name, HASH_SHOWN, json_text_or(v, "sha256", ""));
}

static void add_list(struct html_page *p, const char *key)
{
    struct tally t = {.n = 0};
    const struct value *file;
    for (int i = 0; i < p->r->n_cell; i++)
        for (int k = 0; (file = json_get_item(p->r->cell[i].meta, key, k)); k++)
            count_text(&t, file_text(p, file), p->a);
    add_tally(p, key, &t, 0);
}

void html_provenance(struct html_page *p)
{
    int cells = 0;
    for (int i = 0; i < p->r->n_cell; i++)
        cells += p->r->cell[i].meta != NULL;
    if (!cells)
        return;
    html_fold(p->out, "provenance", "Provenance", false);
    strbuf_add(p->out, "<dl>\n");
    add_machine(p, cells);
    add_dates(p);
    add_list(p, "plugins");
    add_list(p, "data");
    for (int d = 0; d < p->r->n_dir; d++) {
        const char *hash = fingerprint_of(&p->r->dir[d], p->a);
        html_wrap(p->out, "<dt>hash of ", p->r->dir[d].path, "</dt><dd>");
        strbuf_addf(p->out, "%s</dd>\n", hash ? hash : "none: a cell is damaged");
    }
    strbuf_add(p->out, "</dl>\n");
    html_end_fold(p->out);
}

/* ---- again ---- */

static void add_file(struct html_page *p, const char *dir, const char *name)
{
    const struct file_path path = path_in(dir, name);
    char *text = NULL;
    size_t n;
    if (file_read(path.text, 1 << 20, &text, &n, NULL) == PEAT_OK) {
        html_wrap(p->out, "<details><summary>", path.text, "</summary>\n");
        html_lines(p->out, text, "</details>\n");
    }
    free(text);
}

/* word: the directory, quoted for a shell. Directories of older programs have no resolved
 * experiment. */
static void add_run(struct strbuf *out, const char *dir, const char *word, struct arena *a)
{
    const char *shown = shown_text(a, dir);
    if (file_exists(path_in(dir, RESOLVED_FILE).text))
        strbuf_addf(out,
                    "# the cells that %s still lacks\npeat run %s\n"
                    "# every cell again, elsewhere\npeat run %s -o again\n",
                    shown, word, word);
    else
        strbuf_addf(
            out, "# every cell, or those that %s still lacks\npeat run %s/experiment.yaml -o %s\n",
            shown, word, word);
}

void html_reproduce(struct html_page *p)
{
    struct strbuf text = STRBUF_NEW;
    html_fold(p->out, "reproduce", "Make it again", false);
    for (int d = 0; d < p->r->n_dir; d++) {
        const char *dir = p->r->dir[d].path;
        struct strbuf word = STRBUF_NEW;
        char *absolute = realpath(dir, NULL); /* the commands work from any folder */
        strbuf_add_word(&word, absolute ? absolute : dir);
        free(absolute);
        add_run(&text, dir, word.text, p->a);
        strbuf_addf(&text,
                    "# one cell\npeat cell %s 0\n"
                    "# the table, a figure for a paper\npeat results %s\n"
                    "peat plot %s --kind bars --format pdf\n"
                    "# check that nothing has changed\npeat verify %s\n",
                    word.text, word.text, word.text, word.text);
        strbuf_release(&word);
    }
    html_lines(p->out, text.text, "\n");
    strbuf_release(&text);
    for (int d = 0; d < p->r->n_dir; d++)
        for (int i = 0; i < 2; i++)
            add_file(p, p->r->dir[d].path, i ? RESOLVED_FILE : "experiment.yaml");
    html_end_fold(p->out);
}
