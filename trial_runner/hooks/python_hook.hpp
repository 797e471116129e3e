// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// Task of the Python hook in a program.
enum class HookMode {
  survey,  ///< reports the program's current settings, and its progress
  report,  ///< sets knobs and reports progress: a trial
  apply,   ///< sets knobs: the long run
  live,    ///< sets knobs while the program runs, as the tuner requests
};

/// Replaces the loader by stored batches after this many seconds and steps from the first step.
struct HookReplay {
  double after_s = 0.0;
  double after_steps = 0.0;
};

/// Request to the Python hook (docs/internals/hooks-protocol.md, "How the hook is entered").
struct PythonHookRequest {
  HookMode mode = HookMode::report;
  /// Families whose files a copy of the hook needs (`read_hook_files`); empty: all.
  std::set<std::string> families;
  std::map<std::string, Value> knobs;      ///< by name, including those of the environment
  std::optional<double> samples_per_step;  ///< of all ranks, instead of counting them
  /// Seconds between lines of progress; nullopt: the hook's default, and none in mode `apply`.
  std::optional<double> interval_s;
  std::filesystem::path channel;  ///< mode `live`: socket of the tuner
  /// Mode `live`: the tuner counts as gone after this much training without a message from it.
  /// nullopt: only if its end of the socket is closed.
  std::optional<double> silence_s;
  std::optional<HookReplay> replay;  ///< mode `survey`; the program must be ended afterwards
  std::filesystem::path events;  ///< absolute; every event is also appended there; empty: no file
};

/// Variable that activates the hook and contains its request.
inline constexpr const char* k_python_hook_variable = "STEPTUNE_PYTHON";

/// Returns variables that activate the hook, and variables of the environment's knobs. Without
/// PYTHONPATH; see `with_python_path`.
[[nodiscard]] std::map<std::string, std::string> hook_variables(const PythonHookRequest& request);

/// Sets these variables in `environment`, replacing existing ones.
void set_hook_variables(const PythonHookRequest& request,
                        std::map<std::string, std::string>& environment);

/// Returns the folder of the installed hook. Returns an error if it is missing.
[[nodiscard]] Result<std::filesystem::path> python_hook_folder();

/// Returns PYTHONPATH with `folder` before its old value, if that was set. (An empty element would
/// mean the current folder.)
[[nodiscard]] std::string with_python_path(const std::filesystem::path& folder,
                                           std::string_view before);

}  // namespace steptune
