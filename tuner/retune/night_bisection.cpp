// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_bisection.hpp"

#include <fmt/format.h>

#include "common/short_hash.hpp"
#include "common/text.hpp"

namespace steptune {

std::string bisect_command(const StudySpec& study, const Night& night,
                           const std::string& database_option) {
  if (!night.slowdown || night.commit.empty() || night.commit == night.fast_commit) return {};
  if (!study.runner->traits().uses_this_machine) return {};
  // If the baseline is slower, too, bisect its command, which needs no settings.
  const bool is_shared = night.slowdown->scope == SlowdownScope::shared;
  const RenderedCommand command =
      render_command(study, is_shared ? study.baseline : night.before.configuration);
  const bool is_whole = !command.needs_hook() && study.config_files.empty();
  if (command.argv.empty() || (!is_whole && !is_shared)) return {};
  std::string words;
  if (!command.environment.empty()) {
    words = "env ";
    for (const auto& [name, value] : command.environment)
      words += shell_quoted(fmt::format("{}={}", name, value)) + " ";
  }
  words += shell_quoted(command.argv);
  const std::string good = night.fast_commit.empty() ? "GOOD" : short_hash(night.fast_commit);
  return fmt::format("cd {} && steptune bisect {} {}{} -- {}",
                     shell_quoted(study.working_directory.string()), good, short_hash(night.commit),
                     database_option, words);
}

}  // namespace steptune
