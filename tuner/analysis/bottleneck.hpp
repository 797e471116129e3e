// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/analysis/step_stages.hpp"
#include "tuner/analysis/trial_samples.hpp"
#include "tuner/history/history.hpp"

namespace steptune {

/// The time of a step that belongs to one stage, as the program told it.
struct StageTime {
  std::optional<StepStage> stage;  ///< nothing: parts whose names say none of them
  std::vector<std::string> parts;  ///< as the program calls them
  double seconds_per_sample = 0.0;
  double share = 0.0;  ///< of the time of the steps
};

/// How the measured speed answers to one parameter, the others as in the trial.
struct ParameterResponse {
  std::string parameter;
  std::optional<StepStage> stage;  ///< that it acts on, as far as its name tells
  Value now;
  Value best;      ///< the value with the least time
  Value worst;     ///< the value with the most
  Estimate gain;   ///< time now to time at `best`
  Estimate range;  ///< time at `worst` to time at `best`
  /// The intervals lie above what no engineer would care for (3 %): the time answers to the
  /// parameter at all; another value than the trial's is faster.
  [[nodiscard]] bool matters() const { return range.low > 1.03; }
  [[nodiscard]] bool leaves_gain() const { return gain.low > 1.03; }
};

/// What the steps of a trial wait for.
struct Bottleneck {
  std::int64_t trial = 0;
  double step_seconds_per_sample = 0.0;
  std::vector<StageTime> stages;   ///< largest first; empty: the program told no parts
  double untold_share = 0.0;       ///< of the step time: between the parts that were told
  std::optional<double> gpu_busy;  ///< share of the time in which a kernel ran
  std::optional<double> cpu_busy;  ///< of the time of its CPUs in which its processes computed
  /// Share of the steps whose batch the loader's workers had not done yet: the hook's metric.
  std::optional<double> loader_queue_empty;
  double interruptions_share = 0.0;     ///< of the time per sample: phases and stalls between steps
  std::optional<double> startup_share;  ///< of the planned run's time: start-up and warm-up
  std::vector<ParameterResponse> responses;  ///< largest range first
  std::vector<std::string> inactive;         ///< varied, but not active in this trial
  std::size_t trials = 0;                    ///< that the responses rest on
  std::string no_responses;                  ///< why there are none, for people; else empty

  /// The most that can be gained where a stage took no time at all: Amdahl's law. A stage without a
  /// part of its own may have taken all that no part tells; nothing where no stages were told.
  [[nodiscard]] std::optional<double> most_gain(StepStage stage) const;
};

/// `model` is of `step_time_samples` (null where there is none). `planned_samples`: of the planned
/// run, if the study tells. The trial must have been measured.
[[nodiscard]] Bottleneck bottleneck_of(const SearchSpace& space, const Json& study_document,
                                       const TrialRecord& trial, const TrialSamples& samples,
                                       const EffectsModel* model,
                                       std::optional<double> planned_samples);

/// What it amounts to, in one sentence: "61 % of a step waits for data: workers matter, precision
/// cannot", with what it rests on in the second. Where the parts of a step were not told it says
/// what the responses alone allow to say.
struct BottleneckWords {
  std::string finding;
  std::string evidence;
};
[[nodiscard]] BottleneckWords in_words(const Bottleneck& bottleneck);

}  // namespace steptune
