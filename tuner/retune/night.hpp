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

/// Result of a night. The history stores the names, so they must not change.
enum class NightResult {
  running,  ///< not finished, or its tuner was killed
  kept,     ///< the configuration in use stays; no slowdown was shown
  /// Another configuration was shown to be faster, on average by at least the least gain.
  improved,
  regressed,  ///< the configuration in use is slower or fails, and no better one was shown
  failed,     ///< nothing could be measured, or a killed night was not continued in time
};
[[nodiscard]] std::string to_text(NightResult result);
[[nodiscard]] std::optional<NightResult> night_result_from_text(std::string_view text);

/// Phase of a night. A night whose tuner was killed continues with the stored phase. The history
/// stores the names, so they must not change.
enum class NightPhase { first, check, recheck, search, confirmation };
[[nodiscard]] std::string to_text(NightPhase phase);

/// Configuration that a pipeline trains with, and where it was measured.
struct UsedConfiguration {
  Configuration configuration;
  std::string study;       ///< name in the history; empty: from the study file, not measured yet
  std::int64_t trial = 0;  ///< trial in `study`; 0: none
};

/// Trust in former nights' trials during a search. The history stores the names, so they must not
/// change.
enum class Trust {
  full,  ///< nothing has changed since then: the trials count like tonight's
  hint,  ///< something has changed: the trials guide the search if they predict tonight's trials
         ///< well
};
[[nodiscard]] std::string to_text(Trust trust);

/// One night of a study's re-tuning, as the history stores it.
struct Night {
  std::int64_t number = 0;
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  NightResult result = NightResult::running;
  NightPhase phase = NightPhase::check;
  std::string study;        ///< name in the history of the study with the night's trials
  std::string fingerprint;  ///< fingerprint of the study file on that night
  /// Commit of the repository that contains the study's working directory; empty: there is none.
  std::string commit;
  MachineDescription machine;
  UsedConfiguration before;         ///< configuration in use when the night began
  UsedConfiguration after;          ///< configuration in use when the night ended
  NightTimes times;                 ///< times of `before` and of the baseline
  std::vector<double> after_times;  ///< for `improved`: times of `after`, from its confirming runs
  std::vector<double> after_baseline_times;
  SpeedUp lead;  ///< lead of `before` over the baseline
  /// For `improved`: speed-up of `after` over `before`, or over the baseline if `before` is
  /// `broken`.
  std::optional<SpeedUp> gain;
  std::optional<Slowdown> slowdown;  ///< shown that night
  double slower_since_wall_s = 0.0;  ///< start of the first slower night
  /// Commit of the last measured night before the slowdown; empty: unknown.
  std::string fast_commit;
  std::string broken;        ///< why `before` can no longer be used; empty if it can
  bool lead_shrank = false;  ///< as in `SlowdownWatch`
  double evidence = 0.0;     ///< as in `SlowdownWatch`
  /// Changes of the machine since the night before. After a slowdown: changes since the first
  /// slower night.
  std::vector<MachineChange> changes;
  Trust trust = Trust::full;
  /// Number of search trials, without trials of the incumbent and the baseline.
  std::int64_t searched = 0;
  std::int64_t trials = 0;
  double elapsed_s = 0.0;
  double usd = 0.0;
  /// True if time or money ended the search, or the check before the search.
  bool budget_spent = false;
  std::string reason;  ///< reason for the result, as text for people
};

[[nodiscard]] NightRow to_row(const Night& night);
/// Fails with kind `store` for a record that no version has written.
[[nodiscard]] Result<Night> night_from_row(const NightRow& row);

}  // namespace steptune
