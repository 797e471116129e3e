// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

namespace steptune {
namespace {

// Each line is a candidate and, after a tab, its description, which bash cannot show. The scripts
// add no blank behind a candidate that ends with an equals sign. Fish needs no code for this.
constexpr const char* k_bash = R"(# bash completion for steptune
_steptune() {
  mapfile -t COMPREPLY < <(steptune __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null || :
  fi
}
complete -o default -F _steptune steptune
)";

constexpr const char* k_zsh = R"(#compdef steptune
_steptune() {
  local -a lines suffix
  lines=("${(@f)$(steptune __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "${lines[1]}" ]]; then
    _files
    return
  fi
  # A key follows.
  [[ "${lines[1]%%$'\t'*}" == *= ]] && suffix=(-S '')
  lines=("${(@)lines//:/\\:}")
  lines=("${(@)lines/$'\t'/:}")
  _describe 'steptune' lines "${(@)suffix}"
}
# Found by name in a folder of completions, the file is the function's body, called at once.
if [[ "${funcstack[1]}" == _steptune ]]; then
  _steptune "$@"
else
  compdef _steptune steptune
fi
)";

constexpr const char* k_fish = R"(# fish completion for steptune
complete -c steptune -a '(steptune __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
)";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "zsh") return k_zsh;
  return shell == "fish" ? k_fish : k_bash;
}

}  // namespace steptune
