#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# man_links.sh PAGES FOLDER [NM LIBRARY]: in FOLDER (man3), a page of one line (.so) for each call that
# a page of the folder PAGES describes and that has no page of its own name, so that `man NAME` finds
# it. Prints the names of these pages. The symbols of LIBRARY write out the families: shmem_TYPENAME_put, shmem_putSIZE.
set -eu
pages=$1 folder=$2
mkdir -p "$folder"
names=$(mktemp)
trap 'rm -f "$names"' EXIT
if [ "$#" -ge 4 ]; then
    "$3" -D --defined-only "$4" | awk '$3 ~ /^shmemx?_/ { print $3 }' | sort -u >"$names"
fi

# PAGE NAME for every call in a page's NAME and SYNOPSIS sections.
list() {
    for page in "$pages"/*.3 "$pages"/memspan_backend.7; do
        sed -n '/^\.SH NAME/,/^\.SH DESCRIPTION/p' "$page" |
            sed -e 's/\\-.*//' -e 's/\\[a-zA-Z&]//g' |
            grep -oE '\b(memspan|omp|llvm_omp|shmemx?)_[A-Za-z0-9_]+' |
            sort -u | sed "s|^|${page##*/} |"
    done
}

list | awk -v names="$names" -v folder="$folder" '
    function link_to(name, page) {
        if ((name in made) || (name ".3" == page)) return
        made[name] = 1
        printf ".so man%s/%s\n", substr(page, length(page)), page > (folder "/" name ".3")
        close(folder "/" name ".3")
        print name ".3"
    }
    { own[$1] = 1 }
    $2 ~ /TYPENAME|SIZE/ {
        pattern = $2
        gsub(/TYPENAME/, "[a-z0-9]+", pattern)
        gsub(/SIZE/, "[0-9]+", pattern)
        patterns[++count] = "^" pattern "$"
        page_of[count] = $1
        next
    }
    { name_of[++plain] = $2; plain_page[plain] = $1 }
    END {
        for (i = 1; i <= plain; i++) if (!((name_of[i] ".3") in own)) link_to(name_of[i], plain_page[i])
        while ((getline name < names) > 0) {
            base = name
            sub(/^shmem_ctx_/, "shmem_", base)
            sub(/^shmemx_ctx_/, "shmemx_", base)
            for (i = 1; i <= count; i++) {
                if ((name ".3" in own) || (name in made)) break
                if ((name ~ patterns[i]) || (base ~ patterns[i])) { link_to(name, page_of[i]); break }
            }
            if (!(name in made) && (base in made) && !(name ".3" in own)) {
                getline line < (folder "/" base ".3")
                close(folder "/" base ".3")
                sub(/^\.so man3\//, "", line)
                link_to(name, line)
            } else if (!(name in made) && (base ".3" in own)) link_to(name, base ".3")
        }
    }'
