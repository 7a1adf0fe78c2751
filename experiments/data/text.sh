#!/bin/sh
# SPDX-License-Identifier: MIT
# text.sh: real text from Debian packages, the same bytes wherever the package's version is the same.
#
#   experiments/data/text.sh NAME FILE    write the text to FILE; print package, version, bytes and SHA-256
#
# NAME is
#   fortunes   modern English: quotations, jokes, verse        (packages fortunes, fortunes-min)
#   kjv        the King James Bible of 1611, a verse in a line (package bible-kjv)
#   genesis    its first book without references: genesis.txt    (package bible-kjv)
#   python     source text: the modules of the Python library    (package libpython3.11-stdlib)
#   gcide      an English dictionary of 40 million bytes         (package dict-gcide)
#   german     the prose of the German manual pages, 7 MB        (package manpages-de)
#   linux      documentation and C of the Linux kernel, 124 MB   (package linux-source-6.1)
set -eu

fail() {
    echo "text.sh: $1" >&2
    exit 2
}

[ $# -eq 2 ] && [ -n "$2" ] || fail "two arguments are needed: fortunes, kjv, genesis, python, gcide, german or linux, and the file to write"

# The version of a package that must be there.
version_of() {
    dpkg-query -W -f='${Version}' "$1" 2>/dev/null || fail "the package $1 is missing: apt-get install $1"
}

# The lists of the two packages, without indices (.dat) and links (.u8).
lists() {
    dpkg -L fortunes fortunes-min | grep '^/usr/share/games/fortunes/' | grep -v -e '\.dat$' -e '\.u8$' | sort
}

# The lines in steps of 7919, a prime that does not divide their number.
in_steps() {
    awk '
        { line[NR - 1] = $0 }
        END {
            for (i = 0; i < NR; i++)
                print line[(i * 7919) % NR]
        }'
}

# Every quotation once. Each list has a style of its own and the end of the text is for validation,
# so the lists are mixed: the n quotations are taken in steps of 7919, a prime that does not divide n.
fortunes() {
    version_of fortunes-min >/dev/null
    lists | xargs cat | awk '
        BEGIN { n = 0 }
        /^%$/ { n++; next }
        { entry[n] = entry[n] $0 "\n" }
        END {
            n += n in entry
            for (i = 0; i < n; i++)
                printf "%s%%\n", entry[(i * 7919) % n]
        }'
}

kjv() {
    bible -f 'gen1:1-rev22:21' </dev/null
}

# "Ge1:1 In the beginning" without the reference.
genesis() {
    bible -f 'gen1:1-gen50:26' </dev/null | cut -d' ' -f2-
}

# Every module whole; as fortunes, in steps of a prime, since modules of one package are alike.
python() {
    dpkg -L libpython3.11-stdlib | grep '\.py$' | sort | in_steps | xargs cat
}

# Its paragraphs, in UTF-8; as fortunes, in steps of a prime, since a dictionary ends with its last letters.
gcide() {
    zcat /usr/share/dictd/gcide.dict.dz | iconv -f ISO-8859-1 -t UTF-8 | awk '
        BEGIN { RS = "" }
        { entry[NR - 1] = $0 }
        END {
            for (i = 0; i < NR; i++)
                printf "%s\n\n", entry[(i * 7919) % NR]
        }'
}

# Their prose in UTF-8, without lines of macros, fonts and escapes; as fortunes, in steps of a prime, since pages of one
# program follow each other.
german() {
    dpkg -L manpages-de | grep '^/usr/share/man/de/.*\.gz$' | while read -r page; do
        [ -L "$page" ] || echo "$page"
    done | sort | in_steps | while read -r page; do
        zcat -- "$page" | sed -e "/^[.']/d" -e 's/\\f[BIPR]//g' -e 's/\\f([A-Z]*//g' -e 's/\\[&,\/:]//g' \
            -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/\\ / /g'
    done
}

# Its English documentation, and its C without drivers, architectures, sound, samples and tools; as fortunes, in steps of a
# prime, since files of one folder are alike.
linux() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    tar xf /usr/src/linux-source-6.1.tar.xz -C "$folder" --strip-components=1
    (cd "$folder" && find . -type f \( -path './Documentation/*.rst' -o -path './Documentation/*.txt' -o -name '*.c' \) \
        ! -path './Documentation/translations/*' ! -path './drivers/*' ! -path './arch/*' ! -path './sound/*' \
        ! -path './samples/*' ! -path './tools/*' | sort | in_steps | xargs cat)
}

case $1 in
fortunes) package=fortunes ;;
kjv | genesis) package=bible-kjv ;;
python) package=libpython3.11-stdlib ;;
gcide) package=dict-gcide ;;
german) package=manpages-de ;;
linux) package=linux-source-6.1 ;;
*) fail "'$1' is not known; allowed: fortunes, kjv, genesis, python, gcide, german, linux" ;;
esac
LC_ALL=C
export LC_ALL
version=$(version_of "$package")
"$1" >"$2"
printf '%s %s: %s bytes, SHA-256 %s\n' "$package" "$version" "$(wc -c <"$2")" "$(sha256sum <"$2" | cut -d' ' -f1)"
