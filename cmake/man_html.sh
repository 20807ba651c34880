#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# man_html.sh MANDOC FOLDER PAGE...: in FOLDER, the manual pages as HTML, which lead to each other, and index.html.
# Prints the names of these files. mandoc makes no links of references in pages of man(7).
set -eu
mandoc=$1 folder=$2
shift 2
mkdir -p "$folder"

awk -v mandoc="$mandoc" -v folder="$folder" '
    function text_of(roff) {
        gsub(/\\-/, "-", roff); gsub(/\\&/, "", roff)
        gsub(/&/, "\\&amp;", roff); gsub(/</, "\\&lt;", roff)
        return roff
    }
    # The line with each NAME(SECTION) of these pages as a link.
    function linked(line,    before, reference, name) {
        while (match(line, /<b>[^<>]+<\/b>\([1-9]\)/)) {
            reference = substr(line, RSTART, RLENGTH)
            name = substr(reference, 4, RLENGTH - 10) "." substr(reference, RLENGTH - 1, 1)
            if (name in page_of) { reference = "<a href=\"" page_of[name] ".html\">" reference "</a>" }
            before = before substr(line, 1, RSTART - 1) reference
            line = substr(line, RSTART + RLENGTH)
        }
        return before line
    }
    function convert(page, path,    command, file, line) {
        command = mandoc " -T html \"" path "\""
        file = folder "/" page ".html"
        printf "" >file
        while ((command | getline line) > 0) { print linked(line) >file }
        if (close(command) != 0) { print "man_html.sh: " command " failed" >"/dev/stderr"; exit 1 }
        close(file)
        print page ".html"
    }
    function list(section, title,    i, label) {
        print "<h2>" title "</h2>\n<ul>" >index_file
        for (i = 1; i <= count; i++) {
            label = pages[i]
            if (!sub("[.]" section "$", "(" section ")", label)) { continue }
            print "<li><a href=\"" pages[i] ".html\">" label "</a>: " purpose[i] "</li>" >index_file
        }
        print "</ul>" >index_file
    }
    FNR == 1 { page = FILENAME; sub(/.*\//, "", page); pages[++count] = page; path_of[count] = FILENAME }
    /^\.SH/ { in_name = /NAME/; next }
    in_name { name_section[count] = name_section[count] " " $0 }
    END {
        for (i = 1; i <= count; i++) {
            page_of[pages[i]] = pages[i]
            at = index(name_section[i], " \\- ")
            purpose[i] = text_of(substr(name_section[i], at + 4))
            names = split(substr(name_section[i], 1, at - 1), name, /[ ,]+/)
            for (n = 1; n <= names; n++) { page_of[text_of(name[n]) substr(pages[i], length(pages[i]) - 1)] = pages[i] }
        }
        for (i = 1; i <= count; i++) { convert(pages[i], path_of[i]) }
        index_file = folder "/index.html"
        print "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"/><title>Memspan</title></head>\n<body>" >index_file
        print "<h1>Memspan: manual pages</h1>" >index_file
        list(7, "Overviews"); list(1, "Programs"); list(3, "Calls")
        print "</body>\n</html>" >index_file
        print "index.html"
    }' "$@"
