/* SPDX-License-Identifier: MIT */
/* support.h: Check, the C library, room base, and helpers for all tests. */
#pragma once

#include <check.h>

#include "base/base.h"

/* TEST(it_is_so) { ... } is a test of its file, and LOOP_TEST(each_is_so, n) { ... } one for each
 * _i from 0 to n - 1; run_tests runs them all as they stand in the file, and asks then for n, which
 * may be 0. */
#define TEST(name) LOOP_TEST(name, 1)
#define LOOP_TEST(name, n)                                                                         \
    static void name(int);                                                                         \
    static int name##_times(void)                                                                  \
    {                                                                                              \
        return (int)(n);                                                                           \
    }                                                                                              \
    __attribute__((constructor)) static void name##_is_added(void)                                 \
    {                                                                                              \
        static struct added_test one = {{#name, name, __FILE__, __LINE__}, name##_times, NULL};    \
        add_test(&one);                                                                            \
    }                                                                                              \
    static void name(int _i __attribute__((unused)))

/* The tests below it in the file are run where struct tests has this group. */
#define GROUP(name)                                                                                \
    __attribute__((constructor)) static void name##_is_begun(void)                                 \
    {                                                                                              \
        static struct added_test none = {{#name, NULL, __FILE__, __LINE__}, NULL, NULL};           \
        add_test(&none);                                                                           \
    }

struct added_test {
    TTest test;
    int (*times)(void); /* NULL: a group begins */
    struct added_test *next;
};
void add_test(struct added_test *one);

/* The settings of the tests of a file. */
struct tests {
    const char *subject;
    void (*open)(void), (*close)(void); /* around each test; NULL: nothing */
    double seconds;    /* that each may take on a quiet machine, if more than a minute */
    const char *needs; /* "PEAT_SOURCE cmake python3-numpy": environment variables, commands and
                          Python modules of Debian's python3, without which all is skipped; "cc" is
                          $CC, or cc. NULL: nothing */
    bool once;         /* open and close are around all tests */
    const char *group; /* NULL: the tests above the first one */
};

/* Gives main its exit status. */
int run_tests(struct tests t);

/* By what limits of time are multiplied, so that a busy machine or a slow build fails no test:
 * PEAT_TEST_PATIENCE, which ctest sets. */
int test_patience(void);
/* PEAT_PLUGIN_PATH becomes the directory of plugins and providers of the build that this program is
 * of. */
void use_built_plugins(void);
/* The command is on PATH; of "python3-numpy", Debian's python3 imports the module. */
bool is_installed(const char *name);
/* False where one of `needs`, as in struct tests, is missing, which is printed: the part of a test
 * that needs it is skipped. ./quickstart counts these lines and those of skip_all. */
bool is_here(const char *needs);
/* The exit status of main for a test that something is missing for, which is printed. */
enum { SKIPPED = 77 };
int skip_all(const char *missing);

/* A new directory in TMPDIR, or file there of these bytes: its path into `room` bytes. */
void new_folder(char *path, size_t room);
void new_file(char *path, size_t room, const void *bytes, size_t n);

/* A fixture: such a directory for one test. */
extern char scratch_dir[64];
void scratch_make(void);
void scratch_remove(void);
/* A path in it, valid until the next call. */
const char *scratch_path(const char *name);
