/* SPDX-License-Identifier: MIT */
/* test_version.c: the program's version and its date are the same in all files that have them. */
#include "support/shell.h"
#include "support/support.h"

static const char *const places[] = {
    "CITATION.cff:^version: $v$",
    "python/pyproject.toml:^version = .$v.$",
    "python/peat/__init__.py:^__version__ = .$v.$",
    "CITATION.cff:^date-released: $d$",
    "CHANGELOG.md:^## $v, $d$",
    "debian/changelog:^peat ($v) ",
    "docs/howto/cite.md:^  version = {$v},$",
    "docs/howto/cite.md:^  date    = {$d},$",
};
enum { PLACES = sizeof(places) / sizeof(*places) };

LOOP_TEST(one_version_and_one_date_stand_everywhere, PLACES)
{
    shell_expect(
        0,
        "cd \"$PEAT_SOURCE\" && v=$(sed -n 's/^project(peat VERSION \\([^ ]*\\).*/\\1/p' "
        "CMakeLists.txt) && d=$(sed -n \"s/^## $v, //p\" CHANGELOG.md) && "
        "test -n \"$v\" -a -n \"$d\" && p=\"%s\" && "
        "grep -q \"${p#*:}\" ${p%%%%:*} || { echo \"no '${p#*:}' in ${p%%%%:*}\"; exit 1; }",
        places[_i]);
}

int main(void)
{
    return run_tests((struct tests){
        .subject = "version", .open = shell_open, .close = shell_close, .needs = "PEAT_SOURCE"});
}
