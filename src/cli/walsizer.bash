# bash completion of the program walsizer

_walsizer()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' word
    local connection='--help --host --port --username --dbname --no-password --password'
    local printing='--format --color'
    local ceilings='--max --wal-volume --disk-free --max-recovery-time --replay-rate'
    local logs='--log --max-wal-size --checkpoint-timeout --completion-target --segment-size'
    COMPREPLY=()

    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        advise | report | status | watch)
            command=$word
            break
            ;;
        esac
    done

    case $before in
    --format) COMPREPLY=($(compgen -W 'text json csv' -- "$current")) ;;
    --color) COMPREPLY=($(compgen -W 'auto always never' -- "$current")) ;;
    -o | --output | --log) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    -h | --host) COMPREPLY=($(compgen -A hostname -- "$current")) ;;
    -U | --username) COMPREPLY=($(compgen -u -- "$current")) ;;
    --for) COMPREPLY=($(compgen -W '1min 10min 30min 1h' -- "$current")) ;;
    --interval) COMPREPLY=($(compgen -W '1s 5s 1min' -- "$current")) ;;
    -p | --port | -d | --dbname | --count | --max | --wal-volume | --disk-free | --max-recovery-time | \
        --replay-rate | --max-wal-size | --checkpoint-timeout | --completion-target | --segment-size) ;;
    *)
        case $command in
        advise) word="$connection $printing $ceilings $logs --for" ;;
        report) word="$connection $ceilings $logs --for --output" ;;
        status) word="$connection $printing" ;;
        watch) word="$connection $printing --count --interval" ;;
        *) word='advise report status watch --help --version' ;;
        esac
        [[ $command && $current != -* ]] || COMPREPLY=($(compgen -W "$word" -- "$current"))
        ;;
    esac
}

complete -o default -F _walsizer walsizer
