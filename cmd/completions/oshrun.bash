# SPDX-License-Identifier: BSD-3-Clause
# bash completion for oshrun. The words are those of oshrun --help; a test compares them.
_memspan_oshrun()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    local options='-n -np -c -l --tag-output --timeout --bind-to -x --env --wdir --pmix --launcher -v --verbose -h --help -V --version'

    [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" != = ] || { word= && before=${COMP_WORDS[COMP_CWORD - 1]}; }
    case $before in
    --bind-to)
        mapfile -t COMPREPLY < <(compgen -W 'none core' -- "$word")
        return
        ;;
    --pmix)
        mapfile -t COMPREPLY < <(compgen -W 'auto on off' -- "$word")
        return
        ;;
    --launcher)
        mapfile -t COMPREPLY < <(compgen -W 'mpirun prterun srun' -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) COMPREPLY=() ;;
    esac
}
complete -o default -F _memspan_oshrun oshrun
