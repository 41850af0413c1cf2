# SPDX-License-Identifier: Apache-2.0
# Zsh completion of ttmem: zsh runs that of bash.
autoload -Uz bashcompinit && bashcompinit
source <(ttmem completion bash)
