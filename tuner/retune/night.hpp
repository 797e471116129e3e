// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/machine/description.hpp"
#include "tuner/history/history.hpp"
#include "tuner/retune/machine_changes.hpp"
#include "tuner/retune/slowdown_watch.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {

/// What came of a night. Persistent names.
enum class NightResult {
  running,    ///< it goes on, or its tuner was killed
  kept,       ///< yesterday's configuration stays, and is as fast as it was
  improved,   ///< another one was shown to be faster by more than the least gain
  regressed,  ///< yesterday's configuration is slower, or fails, and nothing better was shown
  failed,     ///< nothing could be measured
};
[[nodiscard]] std::string to_text(NightResult result);
[[nodiscard]] std::optional<NightResult> night_result_from_text(std::string_view text);

/// Which runs of a night are under way: a night that was killed goes on there. Persistent names.
enum class NightPhase { first, check, recheck, search, duel };
[[nodiscard]] std::string to_text(NightPhase phase);

/// What a pipeline trains with, and where it was measured.
struct UsedConfiguration {
  Configuration configuration;
  std::string study;       ///< of the history; empty: of the study file, not measured yet
  std::int64_t trial = 0;  ///< 0: none
};

/// How far trials of former nights count in a search. Persistent names.
enum class Trust {
  full,  ///< nothing has changed since: they count as tonight's
  hint,  ///< something has: they tell where to look first, as much as they turn out to predict
};
[[nodiscard]] std::string to_text(Trust trust);

/// One night of a study's re-tuning, as it is stored.
struct Night {
  std::int64_t number = 0;
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  NightResult result = NightResult::running;
  NightPhase phase = NightPhase::check;
  std::string study;        ///< of the history: holds the night's trials
  std::string fingerprint;  ///< of the study file that night
  MachineDescription machine;
  UsedConfiguration before;         ///< at its beginning
  UsedConfiguration after;          ///< at its end
  NightTimes times;                 ///< of `before` and the baseline
  std::vector<double> after_times;  ///< `improved`: of `after`, by its confirming runs
  std::vector<double> after_baseline_times;
  SpeedUp lead;  ///< of `before` over the baseline
  /// `improved`: of `after` over `before`; over the baseline where `before` is `broken`.
  std::optional<SpeedUp> gain;
  std::optional<Slowdown> slowdown;  ///< shown that night
  double slower_since_wall_s = 0.0;  ///< when the first night began that is slower
  std::string broken;                ///< why `before` is no winner any more; empty: it is
  bool lead_shrank = false;
  double evidence = 0.0;
  std::vector<MachineChange> changes;  ///< since the night before, or the slower nights began
  Trust trust = Trust::full;
  std::int64_t searched = 0;  ///< trials of the search, beside the incumbent's and the baseline's
  std::int64_t trials = 0;
  double elapsed_s = 0.0;
  double usd = 0.0;
  bool budget_spent = false;  ///< time or money ended the search, or the check before it
  std::string reason;         ///< for people
};

[[nodiscard]] NightRow to_row(const Night& night);
/// An error of kind `store` for a record that no version has written.
[[nodiscard]] Result<Night> night_from_row(const NightRow& row);

}  // namespace steptune
