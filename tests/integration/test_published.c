/* SPDX-License-Identifier: MIT */
/*
 * test_published.c: two cells of each published grid, trained again.
 *
 * Minutes: label long. Where other kernels multiply than those of the publication, bits cannot be
 * compared, and the cells have only to train; values of an earlier arithmetic must be near
 * (RETRAIN_NEAR). Texts come from Debian's packages; a grid whose text
 * is not installed, or is of another version, is passed over and told.
 */
#include "support/shell.h"
#include "support/support.h"

#define TEXT "experiments/data/text.sh"

/* The texts that can be made here, under the names by which grids call them. */
static void open_texts(void)
{
    shell_open();
    shell_expect(0, "for t in fortunes kjv; do sh \"$PEAT_SOURCE\"/" TEXT " $t $t.txt 2>why || "
                    "{ cat why; rm -f $t.txt; }; done");
}

/* "NAME.txt" of the grid unpacked in r/, if it is here with the bytes that cells were trained on.
 */
#define FIND                                                                                       \
    "meta=$(find r -name meta.json | head -n 1); "                                                 \
    "text=$(sed -n 's/.*\"path\": \".*\\/\\([a-z]*\\.txt\\)\".*/\\1/p' $meta); "                   \
    "[ -e \"$text\" ] && grep -q $(sha256sum <$text | cut -d' ' -f1) $meta || "                    \
    "{ echo \"$b: its text is not here\"; continue; }; "

TEST(two_cells_of_each_have_their_bits_again)
{
    shell_expect(
        0, "for b in \"$PEAT_SOURCE\"/experiments/*/*.tar.xz; do "
           "rm -rf r; mkdir r; tar xf $b -C r || exit 1; " FIND
           "peat verify r/* --retrain 2 --seed 1 task.path=$text >out; "
           "grep '^retrained' out; "
           "grep '^retrained' out | grep -v -e ': same$' -e ': close: ' -e ': not comparable: ' && "
           "exit 1; done; exit 0");
    fputs(shell.printed.text, stderr);
}

int main(void)
{
    return run_tests((struct tests){.subject = "published",
                                    .open = open_texts,
                                    .close = shell_close,
                                    .seconds = 1700,
                                    .needs = "PEAT PEAT_SOURCE"});
}
