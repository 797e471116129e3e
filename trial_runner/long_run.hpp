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

/// A long run with a measured configuration. Contains everything that is needed to start it.
struct LongRun {
  std::string study;
  Configuration configuration;
  std::vector<std::string> argv;  ///< empty: the study has no command
  /// Variables that were set when the configuration was measured.
  std::map<std::string, std::string> environment;
  Resources resources;             ///< rented machines; none if no instance type is set
  std::optional<Launch> launch{};  ///< the launch that `argv` contains
  /// File contents by path, written before the run starts.
  std::map<std::string, std::string> files{};
  /// Folder of the Python hook on this machine; empty: no hook. `environment` has the hook's
  /// settings.
  std::filesystem::path python_path{};
};

/// A long run as a request to the provider of a kind of runner.
class LongRunForm {
 public:
  LongRunForm() = default;
  LongRunForm(const LongRunForm&) = delete;
  LongRunForm& operator=(const LongRunForm&) = delete;
  virtual ~LongRunForm() = default;

  /// Says what the request contains, for help texts: `members of ...`.
  [[nodiscard]] virtual std::string_view description() const = 0;
  /// True if the request can include `python_path` and `files`.
  [[nodiscard]] virtual bool takes_files_along(const LongRun& /*run*/) const { return false; }
  /// Returns the request. The error is `usage` if the provider would refuse the run, or if JSON
  /// cannot represent its texts.
  [[nodiscard]] virtual Result<Json> write(const LongRun& run) const = 0;
};

/// Returns a `usage` error for the first word, variable or parameter that is not valid UTF-8. JSON
/// cannot represent such text. Does not check `files`.
[[nodiscard]] Result<void> check_utf8(const LongRun& run);

}  // namespace steptune
