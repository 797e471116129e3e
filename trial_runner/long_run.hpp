// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/launch/launch.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// A long run with a measured configuration, as whatever starts it is told of it.
struct LongRun {
  std::string study;
  Configuration configuration;
  std::vector<std::string> argv;                   ///< empty: the study has no command
  std::map<std::string, std::string> environment;  ///< that it was measured under
  Resources resources;                             ///< rented; without a type: none
  std::optional<Launch> launch{};                  ///< whose words are in `argv`
  std::map<std::string, std::string> files{};      ///< texts by path, there before it starts
  /// PyTorch's hook, which goes along: this folder of this machine; empty: none. `environment`
  /// holds what it is told.
  std::filesystem::path python_path{};
};

/// A long run in the form in which a kind of runner's provider is asked for one.
class LongRunForm {
 public:
  LongRunForm() = default;
  LongRunForm(const LongRunForm&) = delete;
  LongRunForm& operator=(const LongRunForm&) = delete;
  virtual ~LongRunForm() = default;

  /// What it holds, for help texts: `members of ...`.
  [[nodiscard]] virtual std::string_view description() const = 0;
  /// Whether `python_path` and `files` are heeded, if they are given.
  [[nodiscard]] virtual bool takes_files_along(const LongRun& /*run*/) const { return false; }
  /// Errors of kind `usage`: what the provider would refuse, or cannot stand in JSON.
  [[nodiscard]] virtual Result<Json> write(const LongRun& run) const = 0;
};

/// An error of kind `usage` that names the word or variable which is no UTF-8: JSON has no other
/// texts.
[[nodiscard]] Result<void> check_utf8(const LongRun& run);

}  // namespace steptune
