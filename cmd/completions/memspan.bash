# SPDX-License-Identifier: BSD-3-Clause
# bash completion for the programs. A program prints its table of options with --complete: a line an
# option, NAMES, SHAPE, WORDS and HELP separated by "|".
_memspan_complete()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local tool=("${COMP_WORDS[0]}") options='' earlier='' names shape words help

    [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" != = ] || { word= && before=${COMP_WORDS[COMP_CWORD - 1]}; }
    [ "$COMP_CWORD" -lt 3 ] || earlier=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$earlier" != = ] || earlier=${COMP_WORDS[COMP_CWORD - 3]}
    case ${tool[0]##*/}$COMP_CWORD in
    memspan-bench1) # the benchmark
        words=$("${tool[@]}" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words --list --version --help" -- "$word")
        return
        ;;
    memspan-bench*) tool+=("${COMP_WORDS[1]}") ;;
    esac
    while IFS='|' read -r names shape words help; do
        options="$options $names"
        case "$shape: $names " in
        FILE\ FILE:*" $before "* | FILE\ FILE:*" ${earlier:-none} "*)
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            ;;
        FILE:*" $before "*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        FOLDER:*" $before "*) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        ?*:*" $before "*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
        *) continue ;;
        esac
        return
    done < <("${tool[@]}" --complete 2>/dev/null)
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) COMPREPLY=() ;;
    esac
}
complete -F _memspan_complete memquery memspan-bench
complete -o default -F _memspan_complete oshrun memspan-advise
