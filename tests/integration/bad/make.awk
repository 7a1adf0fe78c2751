# SPDX-License-Identifier: MIT
# awk -v dir=DIR -f make.awk mistakes.txt: writes the experiment of each mistake, DIR/NAME.yaml, and the line that the
# program should print for it, DIR/NAME.line.

function depth(text) {
    match(text, /^ */)
    return RLENGTH
}

# The first line behind line i and what is nested in it.
function end_of(i, inside) {
    inside = depth(line[i])
    for (i++; i <= n && depth(line[i]) > inside; )
        i++
    return i
}

# Puts `text` in the place of the lines from `begin` to before `end`; "": nothing.
function put(begin, end, text, i, moved) {
    moved = begin + (text != "") - end
    if (moved > 0)
        for (i = n; i >= end; i--) { line[i + moved] = line[i]; is_new[i + moved] = is_new[i] }
    else
        for (i = end; i <= n; i++) { line[i + moved] = line[i]; is_new[i + moved] = is_new[i] }
    n += moved
    if (text != "") { line[begin] = text; is_new[begin] = 1 }
}

function key(text) {
    sub(/:.*/, ":", text)
    return text
}

function remove(words, i) {
    for (i = n; i > 0; i--)
        if (i <= n && index(line[i], words) == 1)
            put(i, end_of(i), "")
}

function patch(text, i, end) {
    i = 1
    end = n + 1
    if (text ~ /^[^ \t]/)
        section = key(text)
    else {
        while (i < n && index(line[i], section) != 1)
            i++
        end = end_of(i)
    }
    while (i < end && (is_new[i] || key(line[i]) != key(text)))
        i++
    put(i, i < end ? end_of(i) : i, text)
}

BEGIN { RS = ""; FS = "\n" }

/^#/ { next }

{
    n = $1 == "base" ? 0 : n_base
    for (i = 1; i <= n; i++) { line[i] = base[i]; is_new[i] = 0 }
    section = "defaults:"
    for (f = 2; f <= NF; f++)
        if ($f ~ /^!/) remove(substr($f, 2)); else patch($f)
}

$1 == "base" {
    n_base = n
    for (i = 1; i <= n; i++) base[i] = line[i]
    next
}

{
    name = substr($1, 1, index($1, " ") - 1)
    text = ""
    for (i = 1; i <= n; i++) text = text line[i] "\n"
    printf "%s", text > (dir "/" name ".yaml")
    message = substr($1, length(name) + 2)
    gsub("DIR", dir, message)
    print "peat: " dir "/" name ".yaml:" message > (dir "/" name ".line")
    close(dir "/" name ".yaml")
    close(dir "/" name ".line")
}
