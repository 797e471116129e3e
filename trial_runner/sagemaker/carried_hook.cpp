// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/carried_hook.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "common/shell_quote.hpp"
#include "trial_runner/sagemaker/request_pieces.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/shell_texts.hpp"

namespace steptune {
namespace {

/// Name of the variable whose code evaluates the pieces of the script. The pieces are in variables
/// with the suffixes `_1` and so on.
constexpr const char* k_variable = "STEPTUNE_HOOK";
/// Names of the hyperparameters with the pieces of the packed files. Their alphabetical order is
/// the order of the pieces.
constexpr const char* k_piece = "steptune-hook-{:03}";

std::string python_of(const std::vector<std::string>& argv) {
  if (argv.empty()) return {};
  const std::string name = std::filesystem::path(argv.front()).filename().string();
  return name.starts_with("python") ? argv.front() : "";
}

}  // namespace

CarriedHook carry_hook(std::string_view packed, const std::vector<std::string>& argv,
                       const std::map<std::string, std::string>& exported) {
  CarriedHook hook;
  int number = 0;
  for (std::string& piece : pieces_of(packed, k_longest_hyperparameter))
    hook.hyperparameters.emplace(fmt::format(fmt::runtime(k_piece), ++number), std::move(piece));
  std::string script = fmt::format("steptune_python={}\n{}", posix_quoted(python_of(argv)),
                                   without_comments(unpack_hook_text()));
  for (const auto& [name, value] : exported)
    script += fmt::format("export {}={}\n", name, posix_quoted(value));
  std::string evaluated = put_script(script, k_variable, hook.environment);
  hook.environment.emplace(k_variable, std::move(evaluated));
  return hook;
}

}  // namespace steptune
