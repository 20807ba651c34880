#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# completions.sh FOLDER PROGRAM...: what bash completes, and what zsh's file names, are the long
# options that --help lists. memspan-bench has three lists more.
set -eu
folder=$1
shift
bad=0
command -v bash >/dev/null || { echo 'skip: no bash'; exit 77; }

# The long options of a help text on standard input.
options() {
    grep -oE -e '(^|[ ,(])--[a-z][a-z-]*' | grep -oE -e '--[a-z-]+' | sort -u
}

# completed TOOL WORDS...: what bash offers for a "--" behind these words.
completed() {
    # shellcheck disable=SC2016 # for the other shell
    bash -c 'tool=$1; file=$2; shift 2; . "$file"
             COMP_WORDS=("$tool" "$@" --); COMP_CWORD=$(($# + 1)); COMPREPLY=()
             "$(complete -p "$tool" | sed "s/.* -F \([^ ]*\) .*/\1/")"
             printf "%s\n" "${COMPREPLY[@]}"' - "$1" "$folder/$1.bash"  | sort -u
}

# same WHAT ONE OTHER
same() {
    if [ "$2" != "$3" ]; then
        printf '%s: --help and the completion differ:\n%s\n--- is not\n%s\n' "$1" "$2" "$3"
        bad=1
    fi
}

for program; do
    tool=${program##*/}
    help=$("$program" --help)
    if [ "$tool" = memspan-bench ]; then
        for benchmark in alloc daxpy rma; do
            help=$("$program" "$benchmark" --help)
            same "$tool $benchmark" "$(echo "$help" | grep '^  --' | options)" \
                "$(bash -c '. "$1"; COMP_WORDS=(memspan-bench "$2" --); COMP_CWORD=2; _memspan_bench
                            printf "%s\n" "${COMPREPLY[@]}"' - "$folder/$tool.bash" "$benchmark" | sort -u)"
            for option in $(echo "$help" | grep '^  --' | options); do
                grep -qE -e "'\*?$option(=|\[)" "$folder/_$tool" || same "$tool (zsh)" "$option" ''
            done
        done
        continue
    fi
    # Options in the sentences below the list are not options of their own.
    listed=$(echo "$help" | grep -E '^ +-' | options)
    same "$tool" "$listed" "$(completed "$tool")"
    for option in $listed; do
        grep -qE -e "[',]$option(=|\[|\})" "$folder/_$tool" || same "$tool (zsh)" "$option" ''
    done
done
if command -v zsh >/dev/null; then
    for file in "$folder"/_*; do
        zsh -n "$file" || bad=1
    done
fi
exit "$bad"
