/* SPDX-License-Identifier: MIT */
/* test_page.c: `page NAME`: experiments/NAME/README.md says what the results beside it say. */
#include "support/blocks.h"
#include "support/shell.h"
#include "support/support.h"

static const char *page;

/* Results stand beside their page as a bundle, and as csv of the same name. Commands of the page
 * may name runs/OTHER, the results of another page. */
static void unpack(void)
{
    shell_expect(0,
                 "ln -s \"$PEAT_SOURCE\"/experiments . && mkdir runs && "
                 "for b in experiments/%s/*.tar.xz; do tar xf $b -C runs || exit 1; done; "
                 "for r in $(sed -n '/^\\$ /s:runs/:\\n&:gp' experiments/%s/README.md | "
                 "grep -o '^runs/[a-z-]*'); do [ -e $r ] || "
                 "tar xf experiments/${r#*/}/results.tar.xz -C runs || exit 1; done",
                 page, page);
}

/* Each block that the page calls *.said begins with "$ command" and goes on with what that prints.
 */
static void compare_prints(void)
{
    char path[256];
    snprintf(path, sizeof(path), "experiments/%s/README.md", page);
    write_blocks(path);
    shell_expect(0, "for f in *.said; do [ -e $f ] || continue; sed -n '1s/^. //p' $f >command; "
                    "tail -n +2 $f >expected; sh ./command >printed 2>&1; "
                    "diff expected printed || { cat command; exit 1; }; done");
}

/* A csv file has the lines of some metrics. */
static void compare_csv(void)
{
    shell_expect(0,
                 "for b in experiments/%s/*.tar.xz; do "
                 "csv=${b%%.tar.xz}.csv; columns=$(head -n 1 $csv); "
                 "awk -F, 'NR == 1 { while ($++at != \"metric\") ; print; next } "
                 "{ print \",\" $at \",\" }' $csv | sort -u >kept; "
                 "peat results runs/$(tar tf $b | sed 's:/.*::;q') --format csv --columns $columns "
                 "| grep -F -f kept | cmp - $csv || exit 1; done",
                 page);
}

TEST(the_page_and_its_csv_say_what_sealed_results_say)
{
    unpack();
    compare_prints();
    compare_csv();
    shell_expect(0,
                 "for b in experiments/%s/*.tar.xz; do "
                 "peat verify runs/$(tar tf $b | sed 's:/.*::;q') >out || { cat out; exit 1; }; "
                 "done",
                 page);
}

int main(int argc, char **argv)
{
    page = argc == 2 ? argv[1] : "";
    return run_tests((struct tests){page, shell_open, shell_close, .seconds = 280,
                                    .needs = "PEAT PEAT_SOURCE python3 xz"});
}
