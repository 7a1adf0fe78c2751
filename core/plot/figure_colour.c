/* SPDX-License-Identifier: MIT */
/* figure_colour.c: the colour, dash and point of a series. */
#include "plot/figure.h"

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

/* Filled circle, square, triangles and diamond, then the open ones. */
int figure_point(int i)
{
    static const int points[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};
    return points[i % (int)(sizeof(points) / sizeof(points[0]))];
}
