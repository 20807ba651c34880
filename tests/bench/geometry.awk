# SPDX-License-Identifier: BSD-3-Clause
# geometry.awk FILE.svg: no text leaves the picture, no two texts overlap, and no link (class "link")
# runs through one. Widths are estimated: 0.6 of the font's size a letter, 0.65 where it is bold. Says
# what is wrong, and exits with 1.

function attribute(tag, name,    found) {
    found = match(tag, "[ ]" name "=\"[^\"]*\"")
    return found ? substr(tag, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : ""
}

function add_box(left, top, right, bottom, text) {
    count++
    l[count] = left; t[count] = top; r[count] = right; b[count] = bottom; what[count] = text
}

function size_of(tag,    class, size) {
    size = attribute(tag, "font-size") + 0
    class = attribute(tag, "class")
    if (size == 0 && class ~ /title/) size = 16
    if (size == 0 && class ~ /strong|plain/) size = 13
    return (size == 0) ? 12 : size
}

function add_text(tag, text,    size, width, x, y, anchor, turn, place) {
    gsub(/<title>[^<]*<\/title>/, "", text)
    gsub(/&[a-z]+;/, "x", text)
    if (text == "") return
    size = size_of(tag)
    width = length(text) * size * ((tag ~ /bold|title|strong/) ? 0.65 : 0.6)
    x = attribute(tag, "x") + 0
    y = attribute(tag, "y") + 0
    turn = attribute(tag, "transform")
    anchor = attribute(tag, "text-anchor")
    if (turn == "") {
        if (anchor == "middle") x -= width / 2
        if (anchor == "end") x -= width
        add_box(x, y - 0.8 * size, x + width, y + 0.2 * size, text)
        return
    }
    match(turn, /translate\([^)]*\)/)
    split(substr(turn, RSTART + 10, RLENGTH - 11), place, /[ ,]+/)
    x = place[1]
    y = place[2]
    if (turn ~ /rotate\(-90\)/) {
        if (anchor == "middle") y += width / 2
        add_box(x - 0.8 * size, y - width, x + 0.2 * size, y, text)
    } else {
        if (anchor == "middle") y -= width / 2
        add_box(x - 0.2 * size, y, x + 0.8 * size, y + width, text)
    }
}

function add_line(x1, y1, x2, y2) {
    x1 += 0; y1 += 0; x2 += 0; y2 += 0
    lines++
    lx[lines] = (x1 < x2) ? x1 : x2; ly[lines] = (y1 < y2) ? y1 : y2
    mx[lines] = (x1 < x2) ? x2 : x1; my[lines] = (y1 < y2) ? y2 : y1
}

function complain(message) {
    print FILENAME ": " message
    bad = 1
}

/viewBox=/ && !seen {
    seen = 1
    split(attribute($0, "viewBox"), view, " ")
    view[3] += 0; view[4] += 0
}

/<text/ {
    match($0, /<text[^>]*>/)
    tag = substr($0, RSTART, RLENGTH)
    rest = substr($0, RSTART + RLENGTH)
    sub(/<\/text>.*/, "", rest)
    add_text(tag, rest)
}

/<line[^>]*class="link/ {
    add_line(attribute($0, "x1"), attribute($0, "y1"), attribute($0, "x2"), attribute($0, "y2"))
}

# "M480 100.5 H500 V300 H480"
/<path[^>]*class="link/ {
    n = split(attribute($0, "d"), part, /[ MHV]+/)
    if (n == 6) {
        add_line(part[2], part[3], part[4], part[3])
        add_line(part[4], part[3], part[4], part[5])
        add_line(part[6], part[5], part[4], part[5])
    }
}

END {
    if (!seen || count < 5) complain("no picture")
    for (i = 1; i <= count; i++) {
        if (l[i] < -0.5 || t[i] < -0.5 || r[i] > view[3] + 0.5 || b[i] > view[4] + 0.5)
            complain("\"" what[i] "\" leaves the picture: " l[i] " " t[i] " " r[i] " " b[i])
        for (j = i + 1; j <= count; j++)
            if (l[i] < r[j] - 1 && l[j] < r[i] - 1 && t[i] < b[j] - 1 && t[j] < b[i] - 1)
                complain("\"" what[i] "\" and \"" what[j] "\" overlap")
        for (j = 1; j <= lines; j++)
            if (l[i] < mx[j] && lx[j] < r[i] && t[i] < my[j] && ly[j] < b[i])
                complain("a link runs through \"" what[i] "\"")
    }
    exit bad
}
