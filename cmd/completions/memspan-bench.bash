# SPDX-License-Identifier: BSD-3-Clause
# bash completion for memspan-bench. The words are those of its --help; a test compares them.
_memspan_bench()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local options='--list --version --help'

    case ${COMP_WORDS[1]} in
    alloc)
        options='--rounds --rows --peers --also --targets --quick --timeout --csv --json --svg --help'
        ;;
    daxpy)
        options='--n --reps --rounds --device --variants --quick --verify --no-verify --csv --json'
        options="$options --svg --help"
        ;;
    rma)
        options='--rounds --rows --placement --peers --peer --targets --quick --timeout --csv --json'
        options="$options --svg --help"
        ;;
    esac
    case $before in
    --csv | --json | --svg)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --placement)
        mapfile -t COMPREPLY < <(compgen -W 'apart together' -- "$word")
        return
        ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        options="alloc daxpy rma $options"
    fi
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}
complete -F _memspan_bench memspan-bench
