/* SPDX-License-Identifier: MIT */
/*
 * figure.h: a gnuplot script with its data, and the picture that gnuplot makes of them.
 *
 * The script names no terminal, no output and no file: it reads `data`, which is set when the
 * figure is written, as everything around it is.
 */
#pragma once

#include "base/base.h"

enum figure_format { FIGURE_SVG, FIGURE_PDF, FIGURE_PNG };

struct figure {
    struct strbuf script, data;
    struct strbuf rows; /* ints: figure_element */
    int width, height;  /* px at 96 for an inch */
    int panels;         /* 0: no more than one */
    const char *title;  /* of a picture that is saved; borrowed; NULL: it says none */
};

void figure_init(struct figure *f, int width, int height);
void figure_release(struct figure *f);

/* 'text' for gnuplot, or "text" with escapes where it holds an apostrophe: two of them doubled side
 * by side are misread. Control characters are as shown.h has them. */
void figure_quote(struct strbuf *out, const char *text);
/* Says which row of the results the next element of the script's plot commands shows; -1: none of
 * its own. A script that names one row names one for each of its elements, in their order. */
void figure_element(struct figure *f, int row);
/* The row of an element, counted from 0; -1: none. */
int figure_row(const struct figure *f, int element);
/* A text of a data file: in double quotes, with single ones inside, and backslashes doubled, since
 * gnuplot reads escapes there. */
void figure_text(struct strbuf *out, const char *text);
/* A number of a data file; "NaN" where there is none. */
void figure_number(struct strbuf *out, double x);

/* Which of svg, pdf and png a path ends in; -1: none. */
int figure_format_of(const char *path);
/* Writes <stem>.gp and <stem>.dat beside path, and path as gnuplot draws it, each whole or not at
 * all. FILE_OWN: path is PEAT's choice, in a run directory. PEAT_NOTFOUND: gnuplot is not
 * installed; script and data are there. PEAT_FAILED: gnuplot did not like them. PEAT_IO: they
 * could not be written. */
peat_status figure_save(const struct figure *f, const char *path, enum file_owner owner,
                        enum figure_format format, struct error *err);
/* The picture's bytes, an SVG without a background; nothing stays on the disk. PEAT_NOTFOUND as
 * above. */
peat_status figure_draw(const struct figure *f, enum figure_format format, struct strbuf *out,
                        struct error *err);

/* The palette of Okabe and Ito without its black and yellow, which vanish on dark
 * and on white paper: "#0072B2". Any i; colours, dashes and points repeat with different periods.
 */
const char *figure_colour(int i);
/* gnuplot's numbers of distinct dashes and points. */
int figure_dash(int i);
int figure_point(int i);
