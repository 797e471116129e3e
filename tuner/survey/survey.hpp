// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "common/numbers.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/live/attached_program.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Progress of PyTorch's hook in a program.
enum class HookProgress { none, imported, reports_steps };

/// Settings to survey an unchanged program.
struct SurveyOptions {
  std::vector<std::string> argv;
  std::filesystem::path folder;  ///< folder where the program runs; absolute
  /// File for the program's output; the hook's events are beside this file.
  std::filesystem::path log_path;
  std::optional<double> samples_per_step = {};  ///< replaces the hook's count
  double longest_start_s = 600.0;               ///< limit until the first step
  /// Limit until the program imports PyTorch; used only with the hook.
  double longest_import_s = k_infinity;
  /// Longest wait for a line from the hook while the program is known to train.
  double longest_unheard_s = 10.0;
  double notice_s = 60.0;  ///< time without a step after which `no_step_yet` is called
  /// Called once, to tell the user that the program does not hang; may be null.
  std::function<void()> no_step_yet = {};
  double watch_s = 6.0;       ///< least time to watch from the first step on
  double watch_steps = 20.0;  ///< least number of steps to watch
  double longest_watch_s = 60.0;
  /// True: at the end, the hook replaces the loader's batches by cached batches, to measure the
  /// cost of loading.
  bool replay = false;
  bool with_hook = true;  ///< false: run the program without the hook
  bool terminal = false;  ///< run the program with a pseudo-terminal
  /// File for the program's standard input; empty: none.
  std::filesystem::path standard_input = {};
  std::map<std::string, std::string> environment{};  ///< in addition to this process's environment
  /// Called repeatedly; the survey ends if it returns true. May be null.
  std::function<bool(HookProgress)> seen_enough = {};
};

/// Observed behaviour of an unchanged program.
struct Survey {
  HookLog log;
  std::optional<Report> first;  ///< first report that has a step
  Report last;                  ///< latest report with a step; metrics so far
  double startup_s = 0.0;  ///< time until the first step; 0 for a program that was already running
  std::optional<Outcome> ended;     ///< set if the program ended by itself, before any replay
  std::vector<std::string> phases;  ///< phases that the program reported: evaluation, checkpoint
  /// True if the program trains, but no lines arrived from the hook. `log` is then read from the
  /// hook's file of events.
  bool is_unheard = false;
  /// Threads, CPU use and waiting in the last seconds; nullopt for an attached program or a short
  /// run.
  std::optional<ProcessActivity> activity;

  /// Returns the mean seconds per step between the first and the last report; nullopt without two
  /// reports.
  [[nodiscard]] std::optional<double> seconds_per_step() const;
  [[nodiscard]] std::optional<double> samples_per_step() const;
  /// Returns the latest value of a metric; nullopt if none was reported.
  [[nodiscard]] std::optional<double> metric(const std::string& name) const;
  /// Returns each part's share of the time of the steps; empty if none was reported.
  [[nodiscard]] std::map<std::string, double> part_shares() const;
};

/// Surveys a running program that has the hook in mode `live`. Of `options`, uses only the times
/// and `seen_enough`. The program continues. `ended` is never set.
[[nodiscard]] Survey survey_attached(live::AttachedProgram& program, const SurveyOptions& options,
                                     const Clock& clock);

/// Runs the program for some seconds of training and ends it. If requested, loads PyTorch's import
/// hook. The hook changes nothing, except during a `replay`. Calls `interrupted` repeatedly; if it
/// returns true, ends the program and returns `usage`. Returns `store` if the log's folder cannot
/// be made.
[[nodiscard]] Result<Survey> survey_program(const SurveyOptions& options, const Clock& clock,
                                            const std::function<bool()>& interrupted);

}  // namespace steptune
