// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/machine/description.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/retune/night_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

struct RetuneOptions {
  NightBounds bounds;
  /// Least average gain of a challenger that replaces the configuration in use, as a share.
  double least_gain = 0.02;
  /// Study in the history whose configuration is in use. Ignored once the study itself has
  /// nights. Empty: the study itself.
  std::string from;
  /// Number of latest nights whose trials the history keeps: this many with a search, and this many
  /// without. Older nights keep only their record.
  std::size_t keep_nights = 60;
  /// A night whose tuner was killed continues within this many seconds of its start. Later, a new
  /// night begins.
  double resume_within_s = 20.0 * 3600.0;
};

/// Everything that a night works with. Referenced objects outlive the night.
struct RetuneParts {
  const StudySpec& study;
  History& history;
  const Clock& clock;  ///< gives the wall times in the record
  LoopListener& listener;
  /// Makes searcher, scheduler and runner for a study.
  std::function<Result<StudyParts>(const StudySpec&)> make_parts;
  std::function<std::filesystem::path(const std::string& study)> log_directory;
  std::function<int()> interrupts;  ///< as in `LoopParts::interrupts`
  MachineDescription machine;
  /// As in `LoopParts::why_unread`.
  std::function<std::optional<std::string>(const std::filesystem::path&, double)> why_unread{};
  std::string commit = {};  ///< as in `Night::commit`
};

/// Runs one night of re-tuning.
///
/// 1. Measures the configuration in use and the baseline in turn (B A A B). Adds rounds if the
///    configuration in use looks slower than in the nights before (`SlowdownWatcher`), or no faster
///    than the baseline.
/// 2. Searches if something has changed. Also searches if the next trial may save more on the
///    planned run than it costs. Former nights are the searcher's prior (`night_prior`).
/// 3. Runs the best found configuration and the configuration in use in fresh processes, side by
///    side. The new configuration replaces the configuration in use if it is shown to be faster and
///    gains at least `least_gain` on average.
///
/// The first night of a study that has never been tuned tunes it from scratch. Every step is
/// recorded before it begins, so that a killed night continues. An interrupted night returns with
/// `NightResult::running`.
///
/// A night on which nothing could be measured is a result (`failed`), not an error. Errors come
/// from the history, from the study file, and from a runner that cannot work.
[[nodiscard]] Result<Night> retune(const RetuneParts& parts, const RetuneOptions& options);

}  // namespace steptune
