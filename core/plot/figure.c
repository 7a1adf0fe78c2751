/* SPDX-License-Identifier: MIT */
/* figure.c: writes a gnuplot script with its data, and runs it. */
#include "plot/figure.h"

#include "process/child.h"

static const char *const extension[] = {"svg", "pdf", "png", NULL};

void figure_init(struct figure *f, int width, int height)
{
    *f = (struct figure){STRBUF_NEW, STRBUF_NEW, STRBUF_NEW, .width = width, .height = height};
}

void figure_release(struct figure *f)
{
    strbuf_release(&f->script);
    strbuf_release(&f->data);
    strbuf_release(&f->rows);
}

void figure_element(struct figure *f, int row)
{
    strbuf_add_bytes(&f->rows, (const char *)&row, sizeof(row));
}

int figure_row(const struct figure *f, int element)
{
    int row = -1;
    if ((size_t)(element + 1) * sizeof(row) <= f->rows.n)
        memcpy(&row, f->rows.text + (size_t)element * sizeof(row), sizeof(row));
    return row;
}

void figure_text(struct strbuf *out, const char *text)
{
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, text, "");
    strbuf_add(out, "\"");
    for (const char *c = shown.text; *c; c++)
        strbuf_add_bytes(out, *c == '"' ? "'" : *c == '\\' ? "\\\\" : c, *c == '\\' ? 2 : 1);
    strbuf_add(out, "\"");
    strbuf_release(&shown);
}

/* Escapes all but a few characters, because gnuplot reads escapes and commands inside double
 * quotes. */
static void add_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = c >= 0x80 || isalnum(c) || strchr(" .,:;()=+-_", c);
        strbuf_addf(out, plain ? "%c" : "\\%03o", c);
    }
}

void figure_quote(struct strbuf *out, const char *text)
{
    struct strbuf shown = STRBUF_NEW;
    shown_add(&shown, text, "");
    bool single = !strchr(shown.text, '\'');
    strbuf_add(out, single ? "'" : "\"");
    if (single)
        strbuf_add(out, shown.text);
    else
        add_escaped(out, shown.text);
    strbuf_add(out, single ? "'" : "\"");
    strbuf_release(&shown);
}

void figure_set(struct strbuf *out, const char *what, const char *text, const char *after)
{
    strbuf_addf(out, "set %s ", what);
    figure_quote(out, text);
    strbuf_add(out, after);
}

void figure_number(struct strbuf *out, double x)
{
    char text[32];
    number_text(x, text);
    strbuf_add(out, isfinite(x) ? text : "NaN");
}

int figure_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return names_find(extension, dot ? dot + 1 : NULL);
}

/* ---- files ---- */

/* The files of a figure; names are relative to dir, in which gnuplot runs. */
struct target {
    struct file_path dir, name, script, data;
};

static struct target target_of(const char *path)
{
    struct target t;
    const char *name = path_name(path), *dot = strrchr(name, '.');
    int n = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    snprintf(t.dir.text, PATH_MAX, "%.*s", name > path ? (int)(name - path) : 2,
             name > path ? path : "./");
    snprintf(t.name.text, PATH_MAX, "%s", name);
    snprintf(t.script.text, PATH_MAX, "%.*s.gp", n, name);
    snprintf(t.data.text, PATH_MAX, "%.*s.dat", n, name);
    return t;
}

static void add_terminals(struct strbuf *out, const struct figure *f, enum figure_format format,
                          bool paper)
{
    for (enum figure_format i = FIGURE_SVG; i <= FIGURE_PNG; i++) {
        strbuf_addf(out, "%sset terminal ", i == format ? "" : "# ");
        if (i == FIGURE_SVG)
            strbuf_addf(out, "svg size %d,%d noenhanced font 'sans-serif,13'%s\n", f->width,
                        f->height, paper ? " background '#ffffff'" : "");
        else if (i == FIGURE_PDF)
            strbuf_addf(out, "pdfcairo size %.2fin,%.2fin noenhanced font 'sans,10'\n",
                        f->width / 96.0, f->height / 96.0);
        else
            strbuf_addf(out,
                        "pngcairo size %d,%d noenhanced font 'sans,10' fontscale 2 linewidth 2 "
                        "pointscale 2\n",
                        2 * f->width, 2 * f->height);
    }
}

/* A name that begins with '<' would be a command, so ./ is put before it. */
static void add_head(struct strbuf *out, const struct figure *f, const struct target *t,
                     enum figure_format format, bool paper)
{
    strbuf_add(out, "# gnuplot ");
    shown_add(out, t->script.text, "");
    strbuf_add(out, " draws this again\nset encoding utf8\n");
    add_terminals(out, f, format, paper);
    figure_set(out, "output", path_in(".", t->name.text).text, "\ndata = ");
    figure_quote(out, path_in(".", t->data.text).text);
    strbuf_add(out, "\n\n");
}

static bool write_part(const char *path, enum file_owner owner, const struct strbuf *text,
                       struct error *err)
{
    return (owner == FILE_OWN ? file_write_own(path, text->text, text->n, err)
                              : file_write(path, text->text, text->n, err)) == PEAT_OK;
}

static bool write_parts(const struct figure *f, const struct target *t, enum file_owner owner,
                        enum figure_format format, bool paper, struct error *err)
{
    struct strbuf script = STRBUF_NEW;
    add_head(&script, f, t, format, paper);
    strbuf_add_bytes(&script, f->script.text, f->script.n);
    bool written = write_part(path_in(t->dir.text, t->script.text).text, owner, &script, err) &&
                   write_part(path_in(t->dir.text, t->data.text).text, owner, &f->data, err);
    strbuf_release(&script);
    return written;
}

/* ---- gnuplot ---- */

static void join_lines(struct strbuf *said)
{
    size_t n = 0;
    for (size_t i = 0; i < said->n; i++) {
        bool space = (unsigned char)said->text[i] <= ' ';
        if (!(space && (n == 0 || said->text[n - 1] == ' ')))
            said->text[n++] = space ? ' ' : said->text[i];
    }
    said->text[n] = '\0';
    said->n = n;
}

static peat_status run_gnuplot(const struct target *t, struct error *err)
{
    struct file_path script = path_in(".", t->script.text);
    char program[] = "gnuplot", plain[] = "-d";
    char *const argv[] = {program, plain, script.text, NULL};
    struct child gnuplot = {.argv = argv, .dir = t->dir.text};
    struct strbuf said = STRBUF_NEW;
    peat_status status = child_run(&gnuplot, &said, NULL, err);
    if (status == PEAT_NOTFOUND) {
        error_set(err, status, "gnuplot is not installed (Debian: apt-get install gnuplot-nox)");
    } else if (status == PEAT_OK && gnuplot.code != 0) {
        strbuf_add(&said, said.n ? "" : "it says nothing");
        join_lines(&said);
        status = error_set(err, PEAT_FAILED, "gnuplot failed: %.511s", said.text);
    }
    strbuf_release(&said);
    return status;
}

static peat_status draw_in(const char *dir, const struct figure *f, const char *name,
                           enum figure_format format, bool paper, struct strbuf *out,
                           struct error *err)
{
    const struct file_path path = path_in(dir, name);
    char *bytes = NULL;
    size_t n = 0;
    struct target t = target_of(path.text);
    if (!write_parts(f, &t, FILE_ANYONES, format, paper, err))
        return PEAT_IO;
    peat_status status = run_gnuplot(&t, err);
    if (status == PEAT_OK)
        status = file_read(path.text, 0, &bytes, &n, err);
    if (status == PEAT_OK)
        strbuf_add_bytes(out, bytes, n);
    free(bytes);
    return status;
}

/* Draws in a separate directory, so that the figure is whole or absent and gnuplot opens no other
 * files. */
static peat_status draw_apart(const struct figure *f, const char *name, enum figure_format format,
                              bool paper, struct strbuf *out, struct error *err)
{
    struct own_dir dir;
    struct stops_held held;
    stops_hold(&held);
    peat_status status = own_dir_open(&dir, "figure", err);
    if (status == PEAT_OK) {
        status = draw_in(dir.path, f, name, format, paper, out, err);
        own_dir_close(&dir);
    }
    stops_let(&held);
    return status;
}

/* The text that gnuplot's own script would show on hover. Its handler is
 * gnuplot_svg.showHypertext(evt,'the text'), in the tag before the title, from `tag` on. */
static const char *said_before(const char *tag, const char *title, int *n)
{
    const char *from = memmem(tag, (size_t)(title - tag), "(evt,'", 6);
    const char *to = from ? strstr(from + 6, "')\"") : NULL;
    *n = to && to < title ? (int)(to - from) - 6 : 0;
    return *n ? from + 6 : NULL;
}

/* Replaces gnuplot's titles, "data index 0 using 1:2", by the figure's title and by the texts of
 * its points, which browsers show without a script. */
static void add_titles(struct strbuf *out, const char *svg, const char *title)
{
    static const char open[] = "<title>", close[] = "</title>";
    for (const char *at; (at = strstr(svg, open)); svg = strstr(at, close) + sizeof(close) - 1) {
        const char *tag = memrchr(svg, '<', (size_t)(at - svg));
        int n = 0;
        const char *said = tag ? said_before(tag, at, &n) : NULL;
        strbuf_add_bytes(out, svg, said ? (size_t)(tag - svg) + 2 : (size_t)(at - svg));
        if (said)
            strbuf_addf(out, ">%s%.*s%s", open, n, said, close);
        else if (title)
            strbuf_addf(out, "%s%s%s", open, title, close);
        title = NULL;
        if (!strstr(at, close))
            return;
    }
    strbuf_add(out, svg);
}

/* Without this browsers blur the few pixels of a heat map. */
static void add_sharp(struct strbuf *out, const char *svg)
{
    static const char tag[] = "<image ";
    for (const char *at; (at = strstr(svg, tag)); svg = at + sizeof(tag) - 1) {
        strbuf_add_bytes(out, svg, (size_t)(at - svg));
        strbuf_add(out, "<image style='image-rendering:pixelated' ");
    }
    strbuf_add(out, svg);
}

/* paper: on white, with the figure's title, for a file. */
static peat_status draw(const struct figure *f, const char *name, enum figure_format format,
                        bool paper, struct strbuf *out, struct error *err)
{
    struct strbuf image = STRBUF_NEW;
    peat_status status = draw_apart(f, name, format, paper, &image, err);
    if (status == PEAT_OK && format != FIGURE_SVG)
        strbuf_add_bytes(out, image.text, image.n);
    else if (status == PEAT_OK && paper)
        add_titles(out, image.text, f->title);
    else if (status == PEAT_OK)
        add_sharp(out, image.text);
    strbuf_release(&image);
    return status;
}

peat_status figure_save(const struct figure *f, const char *path, enum file_owner owner,
                        enum figure_format format, struct error *err)
{
    struct target t = target_of(path);
    struct strbuf image = STRBUF_NEW;
    if (!write_parts(f, &t, owner, format, true, err))
        return PEAT_IO;
    peat_status status = draw(f, t.name.text, format, true, &image, err);
    if (status == PEAT_NOTFOUND)
        error_set(err, status,
                  "gnuplot is not installed (Debian: apt-get install gnuplot-nox); '%s%s' and "
                  "'%s' are there for it",
                  t.dir.text, t.script.text, t.data.text);
    if (status == PEAT_OK && !write_part(path, owner, &image, err))
        status = PEAT_IO;
    strbuf_release(&image);
    return status;
}

peat_status figure_draw(const struct figure *f, enum figure_format format, struct strbuf *out,
                        struct error *err)
{
    return draw(f, "figure", format, false, out, err);
}

/* ---- series ---- */

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#888888"};
enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

const char *figure_colour(int i)
{
    return colours[i % COLOURS];
}

int figure_dash(int i)
{
    enum { DASHES = 5 };
    return 1 + i / COLOURS % DASHES;
}

/* Filled circle, square, triangles and diamond, then the same open. */
int figure_point(int i)
{
    static const int points[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};
    return points[i % (int)(sizeof(points) / sizeof(points[0]))];
}
