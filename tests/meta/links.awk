# SPDX-License-Identifier: MIT
# links.awk: prints each link of Markdown files that leads nowhere: to no file, or to no heading of a file. The files
# are named twice: headings are read first.

# The name that a heading has in links.
function slug(text) {
    text = tolower(text)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    return text
}

# "a/b/../c" as "a/c"
function plain(path) {
    while (sub(/[^\/]+\/\.\.\//, "", path))
        ;
    gsub(/(^|\/)\.\//, "", path)
    return path
}

function check(link,    anchor, path) {
    if (link ~ /^[a-z]+:/)
        return
    anchor = link ~ /#/ ? link : ""
    sub(/^[^#]*#/, "", anchor)
    sub(/#.*/, "", link)
    path = link == "" ? FILENAME : plain(folder link)
    if (system("test -e '" path "'") != 0 || (anchor != "" && !((path, anchor) in heading)))
        print FILENAME ":" FNR ": " link (anchor != "" ? "#" anchor : "")
}

FNR == 1 {
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    code = 0
    second = FILENAME in seen ? 1 : 0
    seen[FILENAME]
}
/^ *```/ { code = !code; next }
code { next }
!second && /^#+ / { line = $0; sub(/^#+ /, "", line); heading[FILENAME, slug(line)] }
second {
    gsub(/`[^`]*`/, "")
    for (line = $0; match(line, /\]\([^) ]+\)/); line = substr(line, RSTART + RLENGTH))
        check(substr(line, RSTART + 2, RLENGTH - 3))
}
