/* SPDX-License-Identifier: MIT */
/* offers.h: what a word that is begun may become, by the argument that it is. */
#pragma once

#include "base/base.h"

struct offers {
    struct arena *a;
    const char *word;  /* as far as it is typed                              */
    const char *begun; /* its part that is completed, behind "--only=logits," */
    size_t cut;        /* characters of the word that the shell takes for others */
    bool is_operand;
    int n_operand; /* before the word */
    char **operand;
};

/* Prints the whole word with this name and the end in the place of what is begun, if it begins so.
 * A name that a shell would have to quote is left out. */
void offer(const struct offers *o, const char *name, const char *end);
/* Offers what the argument of an option or operand may be, by the n characters of its name, as
 * "DIR" or "[key=value ...|CELL]"; "<file>" and "<dir>" where it is a path, which shells complete.
 */
void offer_argument(const struct offers *o, const char *argument, size_t n);
