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

/// What the user gave to `run`.
struct RunOptions {
  std::vector<std::string> words;  ///< a study file, or the command after `--`
  ProgramOptions program;
  std::string study;  ///< the file that the words stand for
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> trials;
  std::string time;
  std::string worth;                     ///< as given; empty: the study's
  double looked_s = 0.0;                 ///< what looking at the program took
  std::optional<double> seen_startup_s;  ///< as it was seen then
  bool fresh = false;
  bool yes = false;
  bool quiet = false;
  bool verbose = false;
  bool first_guesses = false;
  std::optional<std::uint64_t> history_limit_bytes;
  NotifyOptions notify;
  std::string log_level;              ///< as given; empty: STEPTUNE_LOG, else off
  std::string on_interrupt = "stop";  ///< `stop`, `detach`: what becomes of running trials
};

/// Begins the diagnostic log as the variable STEPTUNE_LOG and `--log-level`, which wins, ask for.
[[nodiscard]] Result<void> begin_log(const RunOptions& options, const Environment& environment);

/// `--time`, as given, in seconds; nothing where it was not given.
[[nodiscard]] Result<std::optional<double>> tuning_time_s(const std::string& given);

/// `--worth`, as given, as a share; nothing if it was not given.
[[nodiscard]] Result<std::optional<double>> worth_share(const std::string& given);

/// Puts seed, budget and first guesses of the command line into the study, its document included.
[[nodiscard]] Result<void> apply_overrides(const RunOptions& options, StudySpec& study);

/// Why a run does not begin.
struct Refusal {
  Error error;
  bool by_user = false;  ///< who was asked on the terminal, and said no

  // Any error is one.
  Refusal(Error why) : error(std::move(why)) {}  // NOLINT(google-explicit-constructor)
  Refusal(Error why, bool is_users) : error(std::move(why)), by_user(is_users) {}
};

/// Decides which study of the history this run continues (nothing: it begins one): sets the stored
/// seed, or with `--new` gives the study the next free name (`resnet-2`). Asks on a terminal before
/// an unfinished study is left behind. A study whose file has changed begins again, its stored
/// trials removed, if none of them was measured; else it is a `conflict`.
[[nodiscard]] tl::expected<std::optional<StudyRecord>, Refusal> settle_identity(
    Console& console, const RunOptions& options, History& history, StudySpec& study);

/// For studies whose trials are paid for: tells what the tuning is expected to take and to cost, by
/// a rehearsal, and asks on a terminal whether to begin. Without a terminal `--yes` must be given.
[[nodiscard]] tl::expected<void, Refusal> confirm_spending(
    Console& console, const RunOptions& options, const StudySpec& study,
    const ProjectionOptions& projection_options);

/// Folder of a study's trial logs, beside the database.
[[nodiscard]] std::filesystem::path log_directory(const std::filesystem::path& database,
                                                  const std::string& study);

}  // namespace steptune
