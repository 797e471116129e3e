// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/configuration.hpp"
#include "common/error.hpp"

namespace steptune {

/// What PyTorch's import hook does in a program.
enum class HookMode {
  survey,  ///< tells what the program does today, and its progress
  report,  ///< sets knobs, tells its progress: a trial
  apply,   ///< sets knobs: the long run
  live,    ///< sets what it is told while the program runs
};

/// From so many seconds and steps after the first step on, kept batches stand in for the loader.
struct HookReplay {
  double after_s = 0.0;
  double after_steps = 0.0;
};

/// What is asked of PyTorch's import hook (docs/internals/hooks-protocol.md, "How the hook is
/// entered").
struct PytorchHookRequest {
  HookMode mode = HookMode::report;
  std::map<std::string, Value> knobs;      ///< by name, those of the environment included
  std::optional<double> samples_per_step;  ///< of all ranks, in place of counting them
  /// Between two lines of progress; nothing: the hook's own, and none in mode `apply`.
  std::optional<double> interval_s;
  std::filesystem::path channel;  ///< mode `live`: the socket on which it is told
  /// Mode `live`: a tuner that has said nothing in so much training is gone; nothing: only one
  /// whose end of the socket is closed.
  std::optional<double> silence_s;
  std::optional<HookReplay> replay;  ///< mode `survey`; the program must be ended afterwards
  std::filesystem::path events;  ///< absolute; every event is appended there, too; empty: not kept
};

/// The variable that brings the hook in and tells it what is asked.
inline constexpr const char* k_pytorch_hook_variable = "STEPTUNE_PYTORCH";

/// Variables with which the hook, and what the environment's knobs stand for, enter a program;
/// without PYTHONPATH, see `with_python_path`.
[[nodiscard]] std::map<std::string, std::string> hook_variables(const PytorchHookRequest& request);

/// Sets these in `environment`, whatever they are there.
void set_hook_variables(const PytorchHookRequest& request,
                        std::map<std::string, std::string>& environment);

/// The folder that holds the hook: beside this program. An error where it is missing.
[[nodiscard]] Result<std::filesystem::path> pytorch_hook_folder();

/// PYTHONPATH with `folder` in front of what it was, if it was set: an empty element would mean the
/// current folder.
[[nodiscard]] std::string with_python_path(const std::filesystem::path& folder,
                                           std::string_view before);

}  // namespace steptune
