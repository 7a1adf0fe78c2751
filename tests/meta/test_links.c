/* SPDX-License-Identifier: MIT */
/* test_links.c: links between the documents of the sources lead somewhere. */
#include "support/shell.h"
#include "support/support.h"

#define CHECK "awk -f \"$PEAT_SOURCE\"/tests/meta/links.awk"

TEST(every_link_leads_to_a_file_and_a_heading)
{
    shell_expect(
        0, "cd \"$PEAT_SOURCE\" && find . -name build -prune -o -name '*.md' -print | "
           "sed 's#^[.]/##' >\"$OLDPWD\"/list && test $(wc -l <\"$OLDPWD\"/list) -gt 50 && " CHECK
           " $(cat \"$OLDPWD\"/list \"$OLDPWD\"/list)");
    ck_assert_str_eq(shell.printed.text, "");
}

TEST(dead_links_are_found)
{
    shell_expect(0, "mkdir -p a/b");
    shell_write("a/one.md",
                "# Some `words`, here\n[a](b/two.md) [b](b/two.md#two) [c](#some-words-here) "
                "[d](#nowhere)\n"
                "```\n[e](in-code.md)\n```\n`[f](in-code.md)` [g](https://example.org/x)\n");
    shell_write("a/b/two.md",
                "## Two\n[h](../one.md#some-words-here) [i](../three.md) [j](../one.md#two)\n");
    shell_expect(0, CHECK " a/one.md a/b/two.md a/one.md a/b/two.md");
    ck_assert_str_eq(shell.printed.text, "a/one.md:2: #nowhere\na/b/two.md:2: ../three.md\n"
                                         "a/b/two.md:2: ../one.md#two\n");
}

TEST(the_guide_lists_its_sections_and_the_index_its_pages)
{
    shell_expect(0, "cd \"$PEAT_SOURCE\"/docs && sed -n 's/^##* //p' guide.md | tail -n +2 | while "
                    "read -r h; do "
                    "a=$(printf %%s \"$h\" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_-'); "
                    "sed '/^## /,$d' guide.md | grep -qF \"(#$a)\" || echo \"guide: $h\"; done; "
                    "for f in *.md howto/*.md; do grep -qF \"($f)\" index.md || "
                    "test $f = index.md || echo \"index: $f\"; done");
    ck_assert_str_eq(shell.printed.text, "");
}

int main(void)
{
    return run_tests((struct tests){"links", shell_open, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE awk"});
}
