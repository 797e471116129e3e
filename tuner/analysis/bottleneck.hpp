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
  /// Least and largest value among the measured trials; only of parameters that are numbers.
  std::optional<Value> least_tried{};
  std::optional<Value> most_tried{};
  /// The parameter cannot go below `least_tried`: no fewer than no workers, or one thread.
  bool least_is_limit = false;
  bool has_effect = true;  ///< `importance` finds an effect of it, alone or with another one
  /// The intervals lie above what no engineer would care for (3 %): the time answers to the
  /// parameter at all; another value than the trial's is faster.
  [[nodiscard]] bool matters() const { return range.low > 1.03; }
  [[nodiscard]] bool leaves_gain() const { return gain.low > 1.03; }
  /// `value` is an end of what was tried, and the parameter could go on from there: nothing is
  /// known beyond.
  [[nodiscard]] bool is_open_end(const Value& value) const;
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
  /// Share of their time in which the loader's workers computed, the hook's metric: low if they
  /// wait for storage or a network.
  std::optional<double> loader_worker_cpu;
  /// Parameters of the study by the stage that they act on, in its order.
  std::map<StepStage, std::vector<std::string>> parameters{};
  double interruptions_share = 0.0;     ///< of the time per sample: phases and stalls between steps
  std::optional<double> startup_share;  ///< of the planned run's time: start-up and warm-up
  std::vector<ParameterResponse> responses;  ///< largest range first
  std::vector<std::string> inactive;         ///< varied, but not active in this trial
  std::size_t trials = 0;                    ///< that the responses rest on
  std::string no_responses;                  ///< why there are none, for people; else empty
  UnitName unit{};                           ///< of the study's samples
  /// How many times as fast the baseline's step was on cached batches; nothing: not measured.
  std::optional<double> loading_ceiling{};
  bool is_baseline = false;

  /// The most that can be gained if a stage took no time: as measured with cached batches, else by
  /// Amdahl's law. A stage without a part of its own may have taken all that no part tells; nothing
  /// if no stages were told.
  [[nodiscard]] std::optional<double> most_gain(StepStage stage) const;
};

/// `model` is of `step_time_samples` (null where there is none). `planned_samples`: of the planned
/// run, if the study tells. The trial must have been measured.
[[nodiscard]] Bottleneck bottleneck_of(const SearchSpace& space, const Json& study_document,
                                       const TrialRecord& trial, const TrialSamples& samples,
                                       const EffectsModel* model,
                                       std::optional<double> planned_samples);

/// `finding`: "Data loading costs 61 % of a step: at most 2.6x to gain. workers 0 -> 8 gives 1.90x
/// (1.80-2.00)." Each advice names the setting and its gain. A setting counts as good as it gets
/// only if better and worse values than its own were tried. `evidence`: the trials that this rests
/// on. Without parts of a step, the responses alone decide.
struct BottleneckWords {
  std::string finding;
  std::string evidence;
  std::string ceiling;  ///< the measured one of data loading; empty: not measured
};
[[nodiscard]] BottleneckWords in_words(const Bottleneck& bottleneck);

}  // namespace steptune
