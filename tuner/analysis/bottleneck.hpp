// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/space/search_space.hpp"
#include "tuner/analysis/effects_model.hpp"
#include "tuner/analysis/step_stages.hpp"
#include "tuner/analysis/trial_samples.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {

/// Time of one stage of a step, as reported by the program.
struct StageTime {
  std::optional<StepStage> stage;  ///< nullopt: parts whose names match no stage
  std::vector<std::string> parts;  ///< names in the program
  double seconds_per_sample = 0.0;
  double share = 0.0;  ///< share of the steps' time, or of the parts' sum if that is larger
};

/// Predicted effect of one parameter on the speed, with all other parameters as in the trial.
struct ParameterResponse {
  std::string parameter;
  std::optional<StepStage> stage;  ///< stage that the parameter affects; nullopt: unknown
  Value now;                       ///< the trial's value
  Value best;                      ///< the value with the least predicted time
  Value worst;                     ///< the value with the most predicted time
  Estimate gain;                   ///< time at `now` over time at `best`
  Estimate range;                  ///< time at `worst` over time at `best`
  /// Least and largest value among the measured trials; only for numbers.
  std::optional<Value> least_tried{};
  std::optional<Value> most_tried{};
  /// True if lower values are assumed to be impossible: an integer of which 0 or 1 was tried.
  bool least_is_limit = false;
  bool has_effect = true;  ///< `importance` finds an effect, alone or with another parameter
  /// `matters`: the parameter affects the time. `leaves_gain`: another value is faster than the
  /// trial's. The confidence interval's lower end must exceed 1.03, as smaller effects are not
  /// worth attention.
  [[nodiscard]] bool matters() const { return range.low > 1.03; }
  [[nodiscard]] bool leaves_gain() const { return gain.low > 1.03; }
  /// True if `value` is an end of the tried range, and values beyond it are possible but untried.
  [[nodiscard]] bool is_open_end(const Value& value) const;
};

/// Analysis of the causes that limit the speed of a trial's steps.
struct Bottleneck {
  std::int64_t trial = 0;
  double step_seconds_per_sample = 0.0;
  std::vector<StageTime> stages;   ///< largest first; empty if the program reported no parts
  double unreported_share = 0.0;   ///< share of the step time outside the reported parts
  std::optional<double> gpu_busy;  ///< share of the time in which a kernel ran
  /// Share of the trial's CPUs' time that its own processes used.
  std::optional<double> cpu_busy;
  /// Share of the steps that had to wait for the loader's workers: the hook's metric.
  std::optional<double> loader_queue_empty;
  /// Share of the time in which the loader's workers computed: the hook's metric. It is low if they
  /// wait for storage, a network or the program.
  std::optional<double> loader_worker_cpu;
  /// Names of the study's parameters by the stage that they affect, in the order of the study.
  std::map<StepStage, std::vector<std::string>> parameters{};
  /// Share of phases and stalls between steps in the time per sample.
  double interruptions_share = 0.0;
  std::optional<double> startup_share;  ///< share of start-up and warm-up in the planned run's time
  std::vector<ParameterResponse> responses;  ///< largest `range` first
  /// Varied parameters whose condition (`when`) this trial does not meet.
  std::vector<std::string> inactive;
  std::size_t trials = 0;  ///< number of trials behind the responses
  /// Text for people: why `responses` is empty; otherwise empty.
  std::string why_no_responses;
  UnitName unit{};  ///< unit of the study's samples
  /// How many times faster the baseline's step was with cached batches; nullopt if not measured.
  std::optional<double> loading_ceiling{};
  bool is_baseline = false;

  /// Returns the speed-up if a stage took no time. For data loading in the baseline, this is the
  /// speed-up measured with cached batches, if there is one. Otherwise, it follows from Amdahl's
  /// law. A stage without reported parts counts with all the time that belongs to no stage. nullopt
  /// if no stages were reported.
  [[nodiscard]] std::optional<double> most_gain(StepStage stage) const;
};

/// Analyses a measured trial. `model` is fitted to `samples`, which are from `step_time_samples`,
/// or null. `planned_samples`: number of samples of the planned run, if known.
[[nodiscard]] Bottleneck bottleneck_of(const SearchSpace& space, const Json& study_document,
                                       const TrialRecord& trial, const TrialSamples& samples,
                                       const EffectsModel* model,
                                       std::optional<double> planned_samples);

/// `finding`: "Data loading costs 61 % of a step: at most 2.6x to gain. workers 0 -> 8 gives 1.90x
/// (1.80-2.00)." Each advice names the setting and its gain. `evidence` names the trials behind the
/// finding. If no parts of a step were reported, only the responses decide. "No other value is
/// clearly faster" means that the gain's interval does not lie above 1.03. For a number, the text
/// also requires that larger values were tried, and smaller values unless they are impossible.
struct BottleneckWords {
  std::string finding;
  std::string evidence;
  /// Sentence about the baseline's speed-up with cached batches; empty if it was not measured.
  std::string gain_without_loading;
};
[[nodiscard]] BottleneckWords in_words(const Bottleneck& bottleneck);

}  // namespace steptune
