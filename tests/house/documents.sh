#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The documents agree with the tree: every link inside it leads somewhere, each top folder's README names what is in it,
# every environment variable has its place in memspan-environment(7) with the value it has when unset, every public call
# and every member of a backend's table is in a manual page, and manual pages are well-formed.
set -eu
cd "$(dirname "$0")/../.."
bad=0

complain() {
    echo "$*"
    bad=1
}

documents() {
    find . \( -name build -o -name .git -o -name dist \) -prune -o -name '*.md' -print
}

for document in $(documents); do
    folder=$(dirname "$document")
    for link in $(grep -oE '\]\([^)#[:space:]]+' "$document" | sed 's/^](//' | grep -v '://' || true); do
        [ -e "$folder/$link" ] || complain "$document: no $link"
    done
done

# A README in each folder at the top names what is in it: folders, and files but for headers of a file that is named.
for room in */; do
    room=${room%/}
    case $room in build | dist) continue ;; esac
    [ -e "$room/README.md" ] || { complain "$room has no README.md"; continue; }
    for entry in "$room"/*; do
        name=${entry##*/}
        case $name in
        README.md | CMakeLists.txt) continue ;;
        *.h) [ ! -e "${entry%.h}.c" ] || continue ;;
        esac
        grep -qF "($name)" "$room/README.md" || complain "$room/README.md: does not name $name"
    done
done

[ "$(wc -w <README.md)" -le 1400 ] || complain 'README.md has more than 1400 words: it is for a reader who has a minute'

# Rows X(SYMBOL, VARIABLE, ALIAS, FORM, form, FALLBACK ...) of a table, however they are wrapped: VARIABLE FALLBACK.
rows() {
    tr '\n' ' ' <"$1" | sed 's/\\ */ /g; s/ X(/\n&/g' |
        sed -nE 's/^ X\([A-Z_0-9]+, *"([A-Z_0-9]+)", *"[A-Z_0-9]*", *[A-Z_]+, *"[^"]*", *"([^"]*)".*/\1 \2/p'
}

# The library's and those of backends.
options() {
    { cat backends/*/*.c; echo; } | tr '\n' ' ' | sed 's/{"MEMSPAN_/\n&/g' |
        sed -nE 's/^\{"(MEMSPAN_[A-Z_0-9]+)", *MEMSPAN_OPTION_[A-Z_]+, *"[^"]*", *"([^"]*)".*/\1 \2/p'
    echo
    rows core/base/option.h
}

# Entries of the page: VARIABLE DEFAULT, as ".BI VARIABLE= form" and a line "Default: value.".
entries() {
    sed -nE 's/^\.BI ([A-Z_]+)=.*/entry \1/p; s/^Default: (.*)\.$/default \1/p' \
        include/man/memspan-environment.7 |
        awk '$1 == "entry" { if (name) print name, value; name = $2; value = "" }
             $1 == "default" { value = $2 }
             END { if (name) print name, value }'
}

[ -n "$(options)" ] || complain 'no option found in core/base/option.h'
listed=$(options | grep . | sort | sed 's/ *$//')
documented=$(entries | sort | sed 's/ *$//')
if [ "$listed" != "$documented" ]; then
    complain 'core/base/option.h and the options of backends, and memspan-environment(7) differ:'
    printf 'the table:\n%s\nthe page:\n%s\n' "$listed" "$documented"
fi

# Variables that programs read: rows are X(VARIABLE, "PROGRAM...", "help").
variables() {
    tr '\n' ' ' <cmd/common/cli.h | sed 's/\\ */ /g; s/ X(/\n&/g' |
        sed -nE 's/^ X\(([A-Z_0-9]+), *"([^"]*)".*/\1 \2/p'
}
[ -n "$(variables)" ] || complain 'no variable found in cmd/common/cli.h'
missing=$(variables | while read -r variable programs; do
    for program in $programs; do
        sed -n '/^\.SH ENVIRONMENT/,/^\.SH [^E]/p' cmd/"$program"/"$program".1 bench/"$program".1 2>/dev/null |
            grep -qw "$variable" || echo "$program(1): no entry for $variable in ENVIRONMENT"
    done
done)
[ -z "$missing" ] || complain "$missing"

# The same for OpenSHMEM.
shmem_entries() {
    sed -nE 's/^\.BI ((SHMEM|SHMEMX|MEMSPAN_SHMEM)_[A-Z_]+)=.*/entry \1/p; s/^Default: (.*)\.$/default \1/p' \
        include/man/memspan-shmem.7 |
        awk '$1 == "entry" { if (name) print name, value; name = $2; value = "" }
             $1 == "default" { value = $2 }
             END { if (name) print name, value }'
}

[ -n "$(rows shmem/option.h)" ] || complain 'no option found in shmem/option.h'
listed=$(rows shmem/option.h | sort | sed 's/ *$//')
documented=$(shmem_entries | sort | sed 's/ *$//')
if [ "$listed" != "$documented" ]; then
    complain 'shmem/option.h and memspan-shmem(7) differ:'
    printf 'the table:\n%s\nthe page:\n%s\n' "$listed" "$documented"
fi

# A family of OpenSHMEM is documented when a synopsis has its name, with TYPENAME and SIZE in it.
families() {
    awk -F ' [|] ' '!/^(#|type |size |c )/ {
        gsub(/[{]T[}]/, "TYPENAME", $2); gsub(/[{]S[}]/, "SIZE", $2); print $2
    }' tests/shmem/names/families.txt
}

[ -n "$(families)" ] || complain 'no family found in tests/shmem/names/families.txt'
for family in $(families); do
    grep -qE "^\.B.*\b$family\(" include/man/shmem*.3 || complain "$family is in no manual page"
done
for call in $(tr '\n' ' ' <include/shmemx.h | grep -oE 'MEMSPAN_API [^;(]*\(' |
    sed -nE 's/.*[ *](shmemx?_[a-z_0-9]+)\($/\1/p'); do
    grep -qE "^\.B.*\b$call\(" include/man/shmem*.3 || complain "shmemx.h: $call is in no manual page"
done

# A call is documented when a manual page's synopsis has it.
for header in include/memspan/*.h; do
    [ "$header" != include/memspan/omp.h ] || continue
    for call in $(tr '\n' ' ' <"$header" | grep -oE 'MEMSPAN_API [^;(]*\(' |
        sed -nE 's/.*[ *](memspan_[a-z_0-9]+)\($/\1/p'); do
        grep -qE "\b$call\b" include/man/*.[37] || complain "$header: $call is in no manual page"
    done
done

# So is a predefined handle of other implementations, and ours; LLVM's are Intel's with llvm_ in front.
for handle in $(sed -nE 's/^#define (omp(_target|x_gnu|_shmem)_[a-z_]*mem_(space|alloc)) .*/\1/p' include/memspan/omp.h); do
    grep -qE "\b$handle\b" include/man/*.[37] || complain "omp.h: $handle is in no manual page"
done

# A function of a backend's table is documented when it heads an entry.
for member in $(sed -n '/^typedef struct memspan_backend {/,/^}/s/.* (\*\([a-z_]*\))(.*/\1/p' \
    include/memspan/backend.h); do
    grep -qE "^\.IR? .*\b$member\b" include/man/memspan_backend.7 || complain "memspan_backend(7): no member $member"
done

# Other pages of ours that a page, or a document, refers to exist, as files or among the names of one.
references() {
    case $1 in
    *.md) awk '/^```/ { code = !code } !code' "$1" | grep -oE '[A-Za-z_][A-Za-z_.+-]*\([1-9]\)' | sed 's/(/./; s/)//' ;;
    *) sed -nE 's/^\.[BI]R ([^ ]+) \(([1-9])\).*/\1.\2/p' "$1" | sed 's/\\-/-/g' ;;
    esac
}
for page in include/man/*.[1-9] cmd/*/*.[1-9] bench/*.[1-9] $(documents); do
    for reference in $(references "$page"); do
        name=${reference%.?}
        case $name in
        mem* | osh* | shmem* | omp_*) ;;
        *) continue ;;
        esac
        for file in include/man/"$reference" cmd/*/"$reference" bench/"$reference"; do
            [ ! -e "$file" ] || continue 2
        done
        sed -n '/^\.SH NAME/,/^\.SH [^N]/p' include/man/*."${reference##*.}" | grep -qE "(^| )$name(,| |\$)" ||
            complain "$page: there is no page $name(${reference##*.})"
    done
done

if command -v groff >/dev/null; then
    for page in include/man/*.[1-9] cmd/*/*.[1-9] bench/*.[1-9]; do
        warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$warnings" ] || complain "$page: $warnings"
    done
fi
if command -v mandoc >/dev/null; then
    # Styles are a matter of taste and of other programs; a warning is a mistake.
    warnings=$(mandoc -Tlint -Wwarning include/man/*.[1-9] cmd/*/*.[1-9] bench/*.[1-9] 2>&1) || true
    [ -z "$warnings" ] || complain "$warnings"
fi
exit "$bad"
