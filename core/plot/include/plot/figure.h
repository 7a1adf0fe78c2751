/* SPDX-License-Identifier: MIT */
/*
 * figure.h: a gnuplot script with its data, and the picture that gnuplot draws from them.
 *
 * The script names no terminal, output or file: these, and the variable `data` that it reads, are
 * set when the figure is written.
 */
#pragma once

#include "base/base.h"

enum figure_format { FIGURE_SVG, FIGURE_PDF, FIGURE_PNG };

struct figure {
    struct strbuf script, data;
    struct strbuf rows; /* ints: figure_element */
    int width, height;  /* in pixels of 1/96 inch */
    int panels;         /* number of panels; 0: one */
    const char *title;  /* title inside a saved picture; borrowed; NULL: no title */
};

void figure_init(struct figure *f, int width, int height);
void figure_release(struct figure *f);

/* 'text' for gnuplot, or "text" with escapes where it holds an apostrophe: two of them doubled side
 * by side are misread. Control characters are as shown.h has them. */
void figure_quote(struct strbuf *out, const char *text);
/* "set WHAT 'text'" and what follows it on the script's lines. */
void figure_set(struct strbuf *out, const char *what, const char *text, const char *after);
/* Says which row of the results the next element of the script's plot commands shows; -1: no row. A
 * script that calls this for one element calls it for each, in their order. */
void figure_element(struct figure *f, int row);
/* The row of an element, counted from 0; -1: no row. */
int figure_row(const struct figure *f, int element);
/* A text of a data file: in double quotes, with single ones inside, and backslashes doubled, since
 * gnuplot reads escapes there. */
void figure_text(struct strbuf *out, const char *text);
/* A number of a data file; "NaN" for NaN. */
void figure_number(struct strbuf *out, double x);

/* The format, svg, pdf or png, in which a path ends; -1: another ending. */
int figure_format_of(const char *path);
/* Writes <stem>.gp and <stem>.dat beside path, and path as gnuplot draws it, each whole or not at
 * all. FILE_OWN: PEAT chose the path, in a run directory. PEAT_NOTFOUND: gnuplot is not installed;
 * script and data are written. PEAT_FAILED: gnuplot refused them. PEAT_IO: they could not be
 * written. */
peat_status figure_save(const struct figure *f, const char *path, enum file_owner owner,
                        enum figure_format format, struct error *err);
/* The picture's bytes, an SVG without a background; no file is left. PEAT_NOTFOUND as above. */
peat_status figure_draw(const struct figure *f, enum figure_format format, struct strbuf *out,
                        struct error *err);

/* The palette of Okabe and Ito without its black and yellow, which vanish on dark
 * and on white paper: "#0072B2". Any i; colours, dashes and points repeat with different periods.
 */
const char *figure_colour(int i);
/* gnuplot's numbers of distinct dashes and points. */
int figure_dash(int i);
int figure_point(int i);
