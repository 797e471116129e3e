// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/live/attached_program.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Progress of PyTorch's hook in a program.
enum class HookProgress { none, imported, reports_steps };

/// A program that is to be looked at as it is.
struct SurveyOptions {
  std::vector<std::string> argv;
  std::filesystem::path folder;                 ///< where it runs; absolute
  std::filesystem::path log_path;               ///< its output; the hook's events lie beside it
  std::optional<double> samples_per_step = {};  ///< in place of the hook's counting
  double longest_start_s = 600.0;               ///< to the first step; then the survey ends
  /// To the import of PyTorch, under the hook; then it ends.
  double longest_import_s = std::numeric_limits<double>::infinity();
  /// The program is known to train, and no line of the hook has come back for so long; then it
  /// ends.
  double longest_unheard_s = 10.0;
  double notice_s = 60.0;  ///< without a step, after which `no_step_yet` is called
  /// Where there is one: once, so that nobody takes the wait for a hang.
  std::function<void()> no_step_yet = {};
  double watch_s = 6.0;       ///< from the first step on, and
  double watch_steps = 20.0;  ///< no fewer steps, within
  double longest_watch_s = 60.0;
  /// At the end the hook replaces the loader's batches by kept ones, which shows what loading
  /// costs.
  bool replay = false;
  bool with_hook = true;                             ///< false: the program alone
  bool terminal = false;                             ///< it has a pseudo-terminal
  std::filesystem::path standard_input = {};         ///< a file; empty: none
  std::map<std::string, std::string> environment{};  ///< in addition to this process's
  /// Asked now and then, where there is one: the survey ends once it says so.
  std::function<bool(HookProgress)> seen_enough = {};
};

/// What a program does by itself.
struct Survey {
  HookLog log;
  std::optional<Report> first;      ///< with a step
  Report last;                      ///< the same, later; metrics so far
  double startup_s = 0.0;           ///< to the first step; 0 for a program that ran already
  std::optional<Outcome> ended;     ///< the program ended by itself, on batches of its own
  std::vector<std::string> phases;  ///< that it went through: evaluation, checkpoint
  /// The program trains, but the hook's lines did not come back: `log` is that of its file.
  bool is_unheard = false;
  /// Threads, CPU use and waiting in the last seconds; nothing of an attached program or a short
  /// run.
  std::optional<ProcessActivity> activity;

  /// Between the first step and the last; nothing where there were not two reports.
  [[nodiscard]] std::optional<double> seconds_per_step() const;
  [[nodiscard]] std::optional<double> samples_per_step() const;
  /// Share of each part in the time of the steps; empty where none was told.
  [[nodiscard]] std::map<std::string, double> part_shares() const;
};

/// Looks at a program that runs for its own sake, under the hook in mode `live`, in the same way;
/// of `options` the times count. The program goes on. `ended` is never told.
[[nodiscard]] Survey survey_attached(live::AttachedProgram& program, const SurveyOptions& options,
                                     const Clock& clock);

/// Runs the program, under PyTorch's import hook if that is wanted (it changes nothing), for some
/// seconds of training, and ends it. `interrupted` is asked now and then: once it says so, the
/// program is ended and the error is `usage`. `store` where the log's folder cannot be made.
[[nodiscard]] Result<Survey> survey_program(const SurveyOptions& options, const Clock& clock,
                                            const std::function<bool()>& interrupted);

}  // namespace steptune
