// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What one night may take, as the command line says; what it leaves open is the study file's.
struct NightBounds {
  std::optional<double> time_s;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> trials;  ///< of the search
};

/// What a night's study does in one phase.
struct PhasePlan {
  NightPhase phase = NightPhase::check;
  std::int64_t search_trials = 0;
  int rounds = 1;           ///< that the incumbent is confirmed in of its own accord
  int confirm_pairs = 0;    ///< of challengers
  double time_share = 1.0;  ///< of the time that is left, counted from `elapsed_s`
  double elapsed_s = 0.0;
};

/// `resnet.night-12`; an error of kind `usage` where that is too long for a name.
[[nodiscard]] Result<std::string> night_study_name(const std::string& study, std::int64_t night);

/// `resnet` of `resnet.night-12`: whose night a study may be by its name, which is itself where it
/// is none.
[[nodiscard]] std::string tuned_study_name(const std::string& name);

/// The study in which the trials of a night lie: that of the study file under another name, whose
/// first trials are the baseline and `incumbent`. All phases have the same fingerprint.
[[nodiscard]] Result<StudySpec> night_study(const StudySpec& study, const Night& night,
                                            const NightBounds& bounds, const PhasePlan& plan);

/// The study itself with these bounds, for a first night, which tunes from scratch, under the
/// night's name.
[[nodiscard]] Result<StudySpec> first_night_study(const StudySpec& study, const Night& night,
                                                  const NightBounds& bounds);

}  // namespace steptune
