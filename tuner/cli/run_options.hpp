// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/cli/console.hpp"
#include "tuner/cli/notify_options.hpp"
#include "tuner/cli/program_study.hpp"
#include "tuner/history/history.hpp"
#include "tuner/rehearsal/projection.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Options of `run`.
struct RunOptions {
  std::vector<std::string> words;  ///< a study file, or the command after `--`
  ProgramOptions program;
  std::string study;  ///< the study file
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> trials;
  std::string time;
  std::string worth;         ///< as given; if empty, the study's value
  double inspected_s = 0.0;  ///< time spent on examining the program
  /// Start-up time of the program, as seen while examining it.
  std::optional<double> seen_startup_s;
  bool fresh = false;
  bool yes = false;
  bool quiet = false;
  bool verbose = false;
  bool first_guesses = false;
  std::optional<std::uint64_t> history_limit_bytes;
  NotifyOptions notify;
  std::string log_level;              ///< as given; if empty, that of STEPTUNE_LOG, otherwise off
  std::string on_interrupt = "stop";  ///< `stop` or `detach`: what happens to running trials
};

/// Starts the diagnostic log according to the variable STEPTUNE_LOG. `--log-level` takes precedence
/// over this variable.
[[nodiscard]] Result<void> begin_log(const RunOptions& options, const Environment& environment);

/// Parses the value of `--time` into seconds; nullopt if it was not given.
[[nodiscard]] Result<std::optional<double>> tuning_time_s(const std::string& given);

/// Parses the value of `--worth` into a share; nullopt if it was not given.
[[nodiscard]] Result<std::optional<double>> worth_share(const std::string& given);

/// Applies the seed, the budget and the first guesses of the command line to the study and its
/// document.
[[nodiscard]] Result<void> apply_overrides(const RunOptions& options, StudySpec& study);

/// Reason why a run does not start.
struct Refusal {
  Error error;
  bool by_user = false;  ///< the user was asked on the terminal and declined

  // Implicit, so that functions can return any Error.
  Refusal(Error why) : error(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  Refusal(Error why, bool is_users) : error(std::move(why)), by_user(is_users) {}
};

/// Decides which stored study this run continues; nullopt means a new study. Takes over the stored
/// seed. With `--new`, gives the study the next free name (`resnet-2`), and asks on a terminal
/// before it abandons an unfinished study. If the study's file has changed but no trial was
/// measured, removes the trials and starts again. Otherwise a changed file is a `conflict`.
[[nodiscard]] tl::expected<std::optional<StudyRecord>, Refusal> settle_identity(
    Console& console, const RunOptions& options, History& history, StudySpec& study);

/// If trials cost money, rehearses the tuning and prints its expected time and cost. On a terminal,
/// asks the user for consent. Without a terminal `--yes` is required.
[[nodiscard]] tl::expected<void, Refusal> confirm_spending(
    Console& console, const RunOptions& options, const StudySpec& study,
    const ProjectionOptions& projection_options);

/// Returns the folder of a study's trial logs, beside the database.
[[nodiscard]] std::filesystem::path log_directory(const std::filesystem::path& database,
                                                  const std::string& study);

}  // namespace steptune
