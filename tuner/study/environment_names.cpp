// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/environment_names.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace steptune::study {
namespace {

// LD_PRELOAD and LD_LIBRARY_PATH are not refused, because people select allocators and math
// libraries with them.
constexpr std::array<std::string_view, 12> k_hijacking = {
    "LD_AUDIT",      "GCONV_PATH",    "BASH_ENV", "ENV",     "SHELLOPTS",      "IFS",
    "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "RUBYOPT", "PROMPT_COMMAND", "LD_DEBUG_OUTPUT"};
constexpr std::array<std::string_view, 9> k_secret_endings = {
    "TOKEN",   "SECRET",     "PASSWORD",   "PASSWD",     "PASSPHRASE",
    "API_KEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY"};

bool looks_secret(std::string_view name) {
  return std::any_of(k_secret_endings.begin(), k_secret_endings.end(), [&](auto ending) {
    return name.ends_with(ending) &&
           (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '_');
  });
}

}  // namespace

std::optional<std::string> denied_variable(std::string_view name) {
  if (name == "PATH") {
    return "PATH cannot be set by a study: give the program's absolute path in \"command\", or "
           "set PATH in the shell that starts steptune";
  }
  if (name.starts_with("STEPTUNE_")) {
    return fmt::format("{} cannot be set by a study: names beginning with STEPTUNE_ are reserved",
                       name);
  }
  if (std::find(k_hijacking.begin(), k_hijacking.end(), name) != k_hijacking.end()) {
    return fmt::format(
        "{} cannot be set by a study: it makes programs run code that the command "
        "does not name; if it is needed, set it in the shell that starts steptune",
        name);
  }
  if (looks_secret(name)) {
    return fmt::format(
        "{} looks like a secret, and a study is stored with its history: set it in "
        "the shell that starts steptune, trials inherit it",
        name);
  }
  return std::nullopt;
}

}  // namespace steptune::study
