/* SPDX-License-Identifier: MIT */
/*
 * diagnostics.h: the diagnostics of a trained model. docs/diagnostics.md gives the formulas, their
 * sources, and the form of each tree.
 *
 * Each function fills the map v with its numbers, with six digits each, or with {"skipped": why}
 * where the diagnostic does not apply to the model; the subject keeps a failure. The same subject
 * gives the same tree. Trees live in s->arena.
 */
#pragma once

#include "diagnose/subject.h"

typedef void diagnostic_fn(struct subject *s, struct json v);
diagnostic_fn diagnose_logits, diagnose_sizes, diagnose_subspaces, diagnose_support,
    diagnose_collisions, diagnose_probes, diagnose_order, diagnose_attention;

struct page; /* diagnose.c */

struct diagnostic {
    const char *name; /* also its key in the tree */
    diagnostic_fn *run;
    const char *title;   /* heading on the page                     */
    const char *meaning; /* one line that says how to read it */
    bool of_attention;   /* needs a model with attention            */
    /* Its lines on the page, in this order; all but `text` may be NULL. Numbers of the tree stand
     * in the texts as "{path form}". */
    const char *text;
    const char *list, *each; /* a list of the tree, and the text for each of its members */
    const char *end;
    void (*add)(const struct page *p, const struct value *v); /* adds lines that need code */
};
/* Ended by a NULL name. */
extern const struct diagnostic diagnostics[];

/* Runs all diagnostics whose name is in only (NULL: all); each becomes a member of v. */
void diagnose(struct subject *s, const char *const *only, int n_only, struct json v);

/* The tree as a page of at most `width` columns. */
void diagnosis_page(const struct value *v, int width, struct strbuf *out);
