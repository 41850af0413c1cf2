# SPDX-License-Identifier: Apache-2.0
# Fish completion of ttmem. Commands and options come from --help of the program, so they are always in step with it.
function __ttmem_options # [command]
    ttmem $argv --help 2>/dev/null | string replace -rf '^  (-[^ ]*).*' '$1' | string split ,
end

function __ttmem_commands
    ttmem --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
end

function __ttmem_words
    set -l words (commandline -opc)
    set -l command $words[2]
    switch "$words[-1]"
        case --kind
            string split ' ' 'dram l1 l1_small trace cb kernel system_memory'
        case --sort
            test "$command" = ps; and string split ' ' 'pid dram l1 l1_small trace cb kernel age user command'
            or string split ' ' 'used requested age address name'
        case --group --group-by
            string split ' ' 'name scope kind process device set thread owner age'
        case --dtype
            string split ' ' 'bfloat16 float32 uint32 int32 uint16 uint8 bfloat8_b bfloat4_b'
        case --layout
            string split ' ' 'tile row_major'
        case --type
            string split ' ' 'out_of_memory cb_clash unknown_free'
        case --color --colour
            string split ' ' 'auto always never'
        case -u --user
            __fish_complete_users
        case -d -i --device
            ttmem query --fields=device --format=csv,noheader 2>/dev/null
        case --pid
            ttmem query --processes --fields=pid --no-header 2>/dev/null
        case --fields
            set -l rows
            contains -- --processes $words; and set rows --processes
            ttmem query --list $rows 2>/dev/null | string replace -r ' .*' ''
        case '*'
            switch "$command"
                case ''
                    echo help
                    __ttmem_commands
                    __ttmem_options
                case help
                    __ttmem_commands
                case completion
                    string split ' ' 'bash zsh fish'
                    __ttmem_options completion
                case observer
                    contains -- build $words; and __fish_complete_directories (commandline -ct)
                    or echo build
                    __ttmem_options observer
                case sim
                    echo list
                    ttmem sim list 2>/dev/null | string replace -r ' .*' ''
                case '*'
                    __ttmem_options $command
            end
    end
end
complete -c ttmem -f -a '(__ttmem_words)'
complete -c ttmem -F -n '__fish_seen_subcommand_from run doctor'
