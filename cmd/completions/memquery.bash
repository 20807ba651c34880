# SPDX-License-Identifier: BSD-3-Clause
# bash completion for memquery. The words are those of memquery --help; a test compares them.
_memspan_memquery()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local options='--json --output -o --probe --measure --timeout --verbose -v --devices --matrix --plan --check --why --shmem --config -c --version -V --help -h'

    [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" != = ] || { word= && before=${COMP_WORDS[COMP_CWORD - 1]}; }
    case $before in
    --output | -o)
        mapfile -t COMPREPLY < <(compgen -W 'table json csv svg' -- "$word")
        return
        ;;
    --probe)
        mapfile -t COMPREPLY < <(compgen -W 'none safe full' -- "$word")
        return
        ;;
    --measure)
        mapfile -t COMPREPLY < <(compgen -W 'quick full again cached no-cache' -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) COMPREPLY=() ;;
    esac
}
complete -F _memspan_memquery memquery
