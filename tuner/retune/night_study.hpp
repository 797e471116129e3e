// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Limits of one night from the command line. Unset limits come from the study file.
struct NightBounds {
  std::optional<double> time_s;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> trials;  ///< search trials
};

/// Work of a night's study in one phase.
struct PhasePlan {
  NightPhase phase = NightPhase::check;
  std::int64_t search_trials = 0;
  int rounds = 1;           ///< least number of rounds in which the incumbent runs
  int confirm_pairs = 0;    ///< confirming pairs for challengers
  double time_share = 1.0;  ///< share of the time that is left after `elapsed_s`
  double elapsed_s = 0.0;
};

/// Returns `resnet.night-12`. Fails with kind `usage` if that is too long for a name.
[[nodiscard]] Result<std::string> night_study_name(const std::string& study, std::int64_t night);

/// Returns `resnet` for `resnet.night-12`, and a name without a night unchanged.
[[nodiscard]] std::string tuned_study_name(const std::string& name);

/// Returns the names of `studies` that nightly retuning needs: studies from which it starts, and
/// studies whose results it uses. `studies` are all of the history.
[[nodiscard]] Result<std::set<std::string>> studies_of_nights(
    const History& history, const std::vector<StudyRecord>& studies);

/// Returns the study for the trials of a night: a copy of the study file with the night's name. It
/// first measures the baseline and the configuration in use. All phases have the same fingerprint.
[[nodiscard]] Result<StudySpec> night_study(const StudySpec& study, const Night& night,
                                            const NightBounds& bounds, const PhasePlan& plan);

/// Returns the study with these limits and the night's name, for a first night that tunes from
/// scratch.
[[nodiscard]] Result<StudySpec> first_night_study(const StudySpec& study, const Night& night,
                                                  const NightBounds& bounds);

}  // namespace steptune
