#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# html.sh PREFIX: of what was installed, each manual page (not those of one line, which lead to another) is an HTML
# page, and in the index; each link leads to a page; each reference to a page that is there is a link.
set -eu
man=$(find "$1" -type d -name man3)
man=${man%/man3}
html=$(find "$1" -type d -path '*/doc/*/html')
bad=0
complain() {
    echo "$*"
    bad=1
}

pages=$(grep -L '^\.so ' "$man"/man[137]/*)
count=$(echo "$pages" | wc -l)
[ "$count" -gt 40 ] || complain "$count manual pages"
found=$(find "$html" -type f | wc -l)
[ "$found" -eq $((count + 1)) ] || complain "$found HTML pages of $count manual pages and an index"
for page in $pages; do
    page=${page##*/}.html
    grep -q '</html>' "$html/$page" || complain "no whole $page"
    grep -qF "href=\"$page\"" "$html/index.html" || complain "$page is not in the index"
done

cd "$html"
links=$(grep -ho 'href="[^"#]*"' ./*.html | sed 's/href="\(.*\)"/\1/')
[ "$(echo "$links" | wc -l)" -gt 200 ] || complain 'hardly any link'
for link in $(echo "$links" | sort -u); do
    [ -e "$link" ] || complain "a link leads nowhere: $link"
done
for name in $(sed 's|<a href="[^"]*"><b>[^<]*</b>([1-9])</a>||g' ./*.html |
    sed -nE 's|.*<b>([^<]+)</b>\(([1-9])\).*|\1.\2|p' | sort -u); do
    [ ! -e "$man/man${name##*.}/$name" ] || complain "a reference to $name is no link"
done
exit "$bad"
