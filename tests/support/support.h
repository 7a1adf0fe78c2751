/* SPDX-License-Identifier: MIT */
/* support.h: what the tests share. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <check.h>

/* Runs all of a suite and gives main its exit status. */
int run_suite(Suite *suite);

/* What the tests of a file have in common. */
struct tests {
    const char *subject;
    void (*open)(void), (*close)(void); /* around each test; NULL: nothing */
    double seconds;                     /* that each may take; 0: Check's preset */
};

/* The same for a list of tests: run_list((struct tests){"html"}, TESTS(one, another)). */
int run_list(struct tests t, const TTest *const *test);
#define TESTS(...) ((const TTest *const[]){__VA_ARGS__, NULL})

/* A fixture: a directory under /tmp for one test. */
extern char scratch_dir[64];
void scratch_make(void);
void scratch_remove(void);
/* A path in it, valid until the next call. */
const char *scratch_path(const char *name);

#endif
