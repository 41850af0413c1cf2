#compdef ttmem
# SPDX-License-Identifier: Apache-2.0
# Zsh completion of ttmem: zsh runs that of bash. Read it with 'source', or put it as _ttmem into a folder of $fpath.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
autoload -Uz bashcompinit && bashcompinit
source <(ttmem completion bash)
[[ ${funcstack[1]} != _ttmem ]] || _bash_complete -F _ttmem
