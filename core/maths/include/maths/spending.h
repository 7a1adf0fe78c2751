/* SPDX-License-Identifier: MIT */
/*
 * spending.h: tests at several looks at growing data, with an error spending function that keeps
 * their joint level (Lan and DeMets 1983, Biometrika 70, 659; DeMets and Lan 1994, Stat. Med. 13,
 * 1341).
 *
 * t is the information fraction of a look: its number of differences over the largest. Levels are
 * computed for normal statistics and used as nominal levels of other tests (the significance level
 * approach: Jennison and Turnbull 2000, Group Sequential Methods, 4.4).
 */
#pragma once

enum spending {
    SPEND_OBRIEN_FLEMING, /* 2 - 2 Phi(z(1 - alpha / 2) / sqrt(t)): spends little at first */
    SPEND_POCOCK          /* alpha ln(1 + (e - 1) t): spends much at first          */
};
extern const char *const spending_words[]; /* ended by NULL */
/* The share of the one-sided alpha that may be spent until t in (0, 1]. */
double spending_until(enum spending how, double alpha, double t);
/* Sets level [n]: the one-sided p below which the test at each of the rising t [n], the last of
 * which is 1, rejects. Under the null hypothesis one of these tests rejects with probability alpha.
 * By recursive integration (Armitage, McPherson and Rowe 1969, J. R. Stat. Soc. A 132, 235); errors
 * of the probability are below 1e-7. */
void spending_levels(enum spending how, double alpha, const double *t, int n, double *level);
