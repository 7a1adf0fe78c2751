/* SPDX-License-Identifier: MIT */
/* thin.c: leaves out most training lines of a curve. */
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

/* By number of the line: left out. At each spaced step the next line is kept. */
static const bool *leave_out(const struct lines *l)
{
    bool *out = ARENA_ARRAY(l->a, l->n_all + 1, bool);
    for (int i = 0; i < l->n; i++)
        out[l->line[i].number] = true;
    for (int k = 0, i = 0; k < THIN_STEPS && l->n; k++) {
        int64_t step = spaced_step(l, k);
        while (i < l->n - 1 && l->line[i].step < step)
            i++;
        out[l->line[i].number] = false;
    }
    return out;
}

static peat_status copy_lines(const char *dir, const bool *out, int n, struct strbuf *thin,
                              struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    peat_status status = file_read(path_in(dir, line_record.name).text, 0, &text, &size, err);
    const char *line = text, *end;
    for (int i = 1; text && i <= n && (end = memchr(line, '\n', size - (size_t)(line - text)));
         i++, line = end + 1)
        if (!out[i])
            strbuf_add_bytes(thin, line, (size_t)(end + 1 - line));
    free(text);
    return status;
}

peat_status curve_thin(const char *dir, struct strbuf *thin, struct arena *a, struct error *err)
{
    struct lines l = {.a = a};
    peat_status status = metrics_each(dir, NULL, thin_add_line, &l, err);
    if (status != PEAT_OK)
        return status;
    return copy_lines(dir, leave_out(&l), l.n_all, thin, err);
}
