/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h: one input for one parser. A target is a file fuzz_<name>.c with this function; its corpus
 * is corpus/<name>. fuzz_driver.c runs the corpus and mutations of it in every test run; clang's
 * libFuzzer, where installed, searches for new inputs (fuzz.sh).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Ends the process where a property does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
