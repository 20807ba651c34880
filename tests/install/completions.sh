#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# completions.sh FOLDER PROGRAM...: bash completes the long options that --help lists, and the words of an option.
set -eu
folder=$1
shift
bad=0
command -v bash >/dev/null || { echo 'skip: no bash'; exit 77; }

# completed PROGRAM WORDS...: what bash offers for the last word.
completed() {
    # shellcheck disable=SC2016 # for the other shell
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
             _memspan_complete; printf "%s\n" "${COMPREPLY[@]}"' - "$folder/memspan.bash" "$@" | sort -u
}

# same WHAT EXPECTED FOUND
same() {
    if [ -z "$2" ] || [ "$2" != "$3" ]; then
        printf '%s: expected\n%s\nfound\n%s\n' "$1" "$2" "$3"
        bad=1
    fi
}

# The long options of PROGRAM [BENCHMARK], whose sentences below the list are left out.
check() {
    listed=$("$@" --help | sed -nE 's/^ +((-{1,2}[A-Za-z-]+, )*--[a-z-]+).*/\1/p' | grep -oE -e '--[a-z-]+' | sort -u)
    same "$*" "$listed" "$(completed "$@" --)"
}

for program; do
    case ${program##*/} in
    memspan-bench)
        same "$program" "$(printf 'alloc\ndaxpy\nhybrid\nrma')" "$(completed "$program" '' | grep '^[a-z]')"
        for benchmark in alloc daxpy hybrid rma; do
            check "$program" "$benchmark"
        done
        same "$program --placement" "$(printf 'apart\ntogether')" "$(completed "$program" rma --placement '')"
        ;;
    memquery)
        check "$program"
        same "$program --why" "$(printf 'large_cap\nlevel_zero\nlow_lat')" "$(completed "$program" --why l)"
        same "$program --output=" "$(printf 'csv\njson\nnagios\nprometheus\nsvg\ntable')" "$(completed "$program" --output = '')"
        for words in "--diff $0" "--diff = $0" "--diff first.json $0"; do
            # shellcheck disable=SC2086 # words
            same "$program $words" "$0" "$(completed "$program" $words)"
        done
        ;;
    memspan-advise) check "$program" ;;
    *)
        check "$program"
        same "$program --pmix" "$(printf 'off\non')" "$(completed "$program" --pmix o)"
        ;;
    esac
done
if command -v zsh >/dev/null; then
    zsh -n "$folder/_memspan" || bad=1
fi
exit "$bad"
