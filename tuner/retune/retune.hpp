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
#include "tuner/assembly/study_parts.hpp"
#include "tuner/history/history.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/retune/night_study.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

struct RetuneOptions {
  NightBounds bounds;
  /// A challenger must be shown to be faster, and by this share on average.
  double least_gain = 0.02;
  /// Study of the history whose configuration is in use until the study has nights of its own,
  /// which know what they left in use; empty: the study's own.
  std::string from;
  /// Nights whose trials are kept, and as many on which was searched; of all others only the record
  /// is.
  std::size_t keep_nights = 60;
  /// A night whose tuner was killed goes on within this time, else another one begins.
  double resume_within_s = 20.0 * 3600.0;
};

/// Everything that a night works with; all outlive it.
struct RetuneParts {
  const StudySpec& study;
  History& history;
  const Clock& clock;  ///< wall time of the record
  LoopListener& listener;
  /// Searcher, scheduler and runner for a study.
  std::function<Result<StudyParts>(const StudySpec&)> make_parts;
  std::function<std::filesystem::path(const std::string& study)> log_directory;
  std::function<int()> interrupts;  ///< as `LoopParts::interrupts`
  MachineDescription machine;
  /// As `LoopParts::why_unread`.
  std::function<std::optional<std::string>(const std::filesystem::path&, double)> why_unread{};
};

/// One night of re-tuning. The configuration in use and the baseline are measured in turn (B A A
/// B); where they look slower than in the nights before (`SlowdownWatcher`), again. Then a
/// search begins where something has changed, or where the searcher expects the next trial to save
/// more on the planned run than it costs; former nights are its prior (`night_prior`). What it
/// finds runs against the configuration in use, in fresh processes side by side, and replaces it if
/// it is shown to be faster and the gain is at least `least_gain`.
///
/// The first night of a study that has never been tuned tunes it from scratch. Every step is
/// recorded before it begins: a night that was killed goes on. An interrupted one returns with
/// `NightResult::running`.
///
/// A night on which nothing could be measured is a result (`failed`), not an error. Errors are
/// those of the history, of the study file, and of a runner that cannot work.
[[nodiscard]] Result<Night> retune(const RetuneParts& parts, const RetuneOptions& options);

}  // namespace steptune
