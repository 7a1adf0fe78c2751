/* SPDX-License-Identifier: MIT */
/* offers.h: possible completions of a word of the command line, by the option or operand that it
 * belongs to. */
#pragma once

#include "base/base.h"

struct offers {
    struct arena *a;
    const char *word;  /* the word as far as it is typed                     */
    const char *begun; /* the part that is completed, after "--only=logits," */
    size_t cut;        /* number of characters before it that the shell treats as another word */
    bool is_operand;
    int n_operand; /* the operands before the word */
    char **operand;
};

/* Prints the whole word with this name and ending instead of its typed part, if the name begins
 * with that. Leaves out a name that a shell would have to quote. */
void offer(const struct offers *o, const char *name, const char *end);
/* Offers the possible arguments of an option or operand, by the n characters of its name,
 * as "DIR" or "[key=value ...|CELL]". For a path it prints "<file>" or "<dir>", and the
 * shell completes it. */
void offer_argument(const struct offers *o, const char *argument, size_t n);
