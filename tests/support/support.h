/* SPDX-License-Identifier: MIT */
/* support.h: what the tests share. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <check.h>

/* Runs all of a suite and gives main its exit status. */
int run_suite(Suite *suite);

#endif
