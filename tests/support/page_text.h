/* SPDX-License-Identifier: MIT */
/* page_text.h: a page of HTML as a reader sees it. */
#pragma once

#include "base/strbuf.h"

/*
 * The text of the page: a line for each heading, paragraph and item, one for each row of a table
 * with its cells joined by " | ", and "[title]" for a drawing. Spaces run together; a line that is
 * broken inside goes on with " / ". The test fails when elements are not closed in order.
 */
void page_text(const char *html, struct strbuf *shown);
/* The cell of the first row that begins with the cells `row` ("learned.sum | 128"), below the
 * nearest head `column`. The test fails when there is none. */
void page_cell(const char *shown, const char *row, const char *column, char cell[128]);
