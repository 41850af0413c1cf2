# SPDX-License-Identifier: Apache-2.0
# Fish completion of ttmem. Commands and options come from --help of the program, so they are always in step with it.
function __ttmem_words
    set -l words (commandline -opc)
    ttmem $words[2] --help 2>/dev/null | string replace -rf '^  (-[^ ]*|[a-z][a-z-]+) .*' '$1' | string split ,
end
complete -c ttmem -f -a '(__ttmem_words)'
complete -c ttmem -F -n '__fish_seen_subcommand_from run doctor'
