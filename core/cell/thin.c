/* SPDX-License-Identifier: MIT */
/* thin.c: leaves out most training lines of a curve, and most digits of the others. */
#include "cell/thin.h"

#include "cell/cellmetrics.h"

/* The training lines of a curve. */
struct lines {
    struct arena *a;
    int n, room, n_all;
    struct training_line {
        int number;
        int64_t step;
    } * line;
};

/* Each line by its number: as it is, shortened or left out. */
enum kept { KEPT_WHOLE, KEPT_SHORT, KEPT_NOT };

static bool thin_add_line(void *ctx, int number, const struct value *v)
{
    struct lines *l = ctx;
    l->n_all = number;
    if (json_text_is(v, "split", "train"))
        *ARENA_APPEND(l->a, l->line, l->n, l->room) =
            (struct training_line){number, json_get_int(v, "step", 0)};
    return true;
}

/* Rounded, so that the last bits of pow, which differ between machines, decide nothing. */
static int64_t spaced_step(const struct lines *l, int k)
{
    double first = fmax(1.0, (double)l->line[0].step), last = (double)l->line[l->n - 1].step;
    return llround(first * pow(last / first, (double)k / (THIN_STEPS - 1)));
}

/* At each spaced step the next line is kept. The last stays whole: its loss is in result.json. */
static const enum kept *choose_lines(const struct lines *l)
{
    enum kept *kept = ARENA_ARRAY(l->a, l->n_all + 1, enum kept);
    for (int i = 0; i < l->n; i++)
        kept[l->line[i].number] = KEPT_NOT;
    for (int k = 0, i = 0; k < THIN_STEPS && l->n; k++) {
        int64_t step = spaced_step(l, k);
        while (i < l->n - 1 && l->line[i].step < step)
            i++;
        kept[l->line[i].number] = i < l->n - 1 ? KEPT_SHORT : KEPT_WHOLE;
    }
    return kept;
}

void thin_add_short(struct strbuf *thin, const struct value *line)
{
    struct arena a;
    arena_init(&a, "a shortened line", 1024);
    struct json shortened = json_map(&a);
    for (int i = 0; i < line->n; i++) {
        const struct value *x = line->item[i];
        if (x->kind == VALUE_REAL)
            json_put_number(shortened, line->key[i],
                            number_parse(arena_printf(&a, "%.*g", THIN_DIGITS, x->real)));
        else if (strcmp(line->key[i], SEAL_KEY) != 0)
            json_put(shortened, line->key[i], x);
    }
    json_print(shortened.v, JSON_DENSE, thin);
    strbuf_add(thin, "\n");
    arena_release(&a);
}

static peat_status copy_lines(const char *dir, const enum kept *kept, int n, struct strbuf *thin,
                              struct error *err)
{
    struct arena a;
    char *text = NULL;
    size_t size = 0;
    arena_init(&a, "a line of a curve", 4096);
    peat_status status = file_read(path_in(dir, line_record.name).text, 0, &text, &size, err);
    const char *line = text, *end;
    for (int i = 1; text && i <= n && (end = memchr(line, '\n', size - (size_t)(line - text)));
         i++, line = end + 1) {
        if (kept[i] == KEPT_WHOLE)
            strbuf_add_bytes(thin, line, (size_t)(end + 1 - line));
        else if (kept[i] == KEPT_SHORT)
            thin_add_short(thin, metrics_line(&a, line, (size_t)(end - line)));
        arena_reset(&a);
    }
    arena_release(&a);
    free(text);
    return status;
}

peat_status curve_thin(const char *dir, struct strbuf *thin, struct arena *a, struct error *err)
{
    struct lines l = {.a = a};
    peat_status status = metrics_each(dir, NULL, thin_add_line, &l, err);
    if (status != PEAT_OK)
        return status;
    return copy_lines(dir, choose_lines(&l), l.n_all, thin, err);
}
