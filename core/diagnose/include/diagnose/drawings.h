/* SPDX-License-Identifier: MIT */
/*
 * drawings.h: the schemes of a grid, drawn by their own code and kept in the run directory.
 *
 * Each scheme with its parameters is drawn once, at the sizes of the first cell that has it: with
 * the trained weights of the first finished cell, or else with initial weights. Each drawing runs
 * in a process of its own.
 */
#pragma once

#include "grid/schemefile.h"

/* Writes schemes.json (grid/schemefile.h), unless it has the drawings of these cells already. The
 * caller holds the directory's lock. */
peat_status drawings_keep(const char *dir, struct error *err);
