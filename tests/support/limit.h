/* SPDX-License-Identifier: MIT */
/* limit.h: how a test tells its guard how long it may take. */
#pragma once

/* The file of this name has "DEADLINE SECONDS": when, by the monotonic clock, the running test has
 * had its time, and how long that is. The variable has its path. */
#define LIMIT_FILE     "limit"
#define LIMIT_VARIABLE "PEAT_TEST_LIMIT"
/* Seconds for printing the stacks of a test, before it is ended. */
enum { LIMIT_STACKS = 30 };
