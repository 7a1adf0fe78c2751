/* SPDX-License-Identifier: MIT */
/*
 * seal.h: a checksum inside a JSON map, so that a flipped bit is damage and not another number.
 *
 * The last member, "check", is the SHA-256 of all the others in canonical form: order and spaces do
 * not count. A map without "check" was made by hand and is accepted.
 */
#pragma once

#include "base/hash.h"
#include "base/value.h"

#define SEAL_KEY "check"

/* A copy of the map with its seal, which covers every other member. */
struct value *sealed(struct arena *a, const struct value *map);

enum seal { SEAL_ABSENT, SEAL_GOOD, SEAL_BROKEN };
enum seal seal_check(const struct value *map);

/* The same for a line of a file in JSON Lines: `,"check":"<8 digits>"}` at its end covers all the
 * bytes before it. */
/* line holds an object's text; the seal goes before its closing brace. */
void seal_line(struct strbuf *line);
/* Checks n bytes, without the line's end. */
enum seal seal_check_line(const char *line, size_t n);
