// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tuner/analysis/bottleneck.hpp"
#include "tuner/study/loading_ceiling.hpp"

namespace steptune {
namespace {

/// A setting whose possible speed-up is below this ratio counts as of little use. The speed-up is
/// measured, predicted by the model, or computed by Amdahl's law.
constexpr double k_small_gain = 1.1;
/// A GPU that is busy for a smaller share of the time counts as idle.
constexpr double k_gpu_waits = 0.7;
/// If the trial uses a larger share of the CPUs' time, the CPUs have no capacity left for it.
constexpr double k_cpus_full = 0.9;

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100.0 * share);
}

/// Returns the start of a sentence about a stage's share: "Data loading costs".
std::string stage_subject(std::optional<StepStage> stage) {
  if (!stage) return "Parts of the step with unrecognised names take";
  switch (*stage) {
    case StepStage::data:
      return "Data loading costs";
    case StepStage::host_to_device:
      return "Preparing batches and copying them to the device costs";
    case StepStage::compute:
      return "Computing takes";
    case StepStage::communication:
      return "Communication costs";
    case StepStage::optimizer:
      return "The optimizer's update costs";
  }
  return {};
}

/// Returns settings that usually shorten a stage, for a study that varies no such setting.
std::string usual_settings(StepStage stage) {
  switch (stage) {
    case StepStage::data:
      return "loader workers (num_workers)";
    case StepStage::host_to_device:
      return "pinned memory (pin_memory)";
    case StepStage::compute:
      return "precision, threads and batch size";
    case StepStage::communication:
      return "bucket sizes and gradient accumulation";
    case StepStage::optimizer:
      return "a fused optimizer";
  }
  return {};
}

std::string list_of(const std::vector<std::string>& names, const char* last = "and") {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    text += names[i];
  }
  return text;
}

using Responses = std::vector<const ParameterResponse*>;

std::string names_of(const Responses& responses, const char* last = "and") {
  std::vector<std::string> names;
  for (const ParameterResponse* response : responses)
    names.push_back(response->parameter);
  return list_of(names, last);
}

std::string too_little_known(const Responses& responses) {
  return fmt::format("too little is known about {}", names_of(responses, "or"));
}

/// Returns "workers 0 -> 8 gives 1.90x (1.80-2.00)". If 8 is at the edge of the tried range, says
/// to try values beyond it.
std::string advice_on(const ParameterResponse& response) {
  std::string text = fmt::format("{} {} -> {} gives {:.2f}x ({:.2f}-{:.2f})", response.parameter,
                                 to_text(response.now), to_text(response.best), response.gain.mean,
                                 response.gain.low, response.gain.high);
  if (response.is_open_end(response.best)) {
    text += ", at the edge of the tried range: try values beyond it";
  }
  return text;
}

/// Processors with spare time, which the loader could use.
enum class SpareTime { none_known, workers, cpus };

SpareTime spare_time(const Bottleneck& bottleneck) {
  if (bottleneck.loader_worker_cpu.value_or(1.0) < k_waiting_cpu_share) return SpareTime::workers;
  if (bottleneck.cpu_busy.value_or(1.0) < k_cpus_full) return SpareTime::cpus;
  return SpareTime::none_known;
}

/// Returns a clause about spare time of workers or CPUs; empty if none is known.
std::string loader_waits(const Bottleneck& bottleneck) {
  switch (spare_time(bottleneck)) {
    case SpareTime::none_known:
      break;
    case SpareTime::workers:
      return fmt::format("the loader's workers compute only {} of their time",
                         percent(*bottleneck.loader_worker_cpu));
    case SpareTime::cpus:
      return fmt::format("the trial uses only {} of its CPUs' time", percent(*bottleneck.cpu_busy));
  }
  return {};
}

/// Returns "workers=4: no other value is clearly faster (0 to 8 were tried)". Also mentions spare
/// time that the loader could use. If 4 is at the edge of the tried range, says to try values
/// beyond it instead.
std::string text_without_gain(const ParameterResponse& response, const Bottleneck& bottleneck) {
  const std::string now = fmt::format("{}={}", response.parameter, to_text(response.now));
  const std::string waits =
      response.stage == StepStage::data ? loader_waits(bottleneck) : std::string();
  if (response.is_open_end(response.now)) {
    return fmt::format("{} is at the edge of the tried range: try values beyond it{}{}", now,
                       waits.empty() ? "" : ", as ", waits);
  }
  const std::string tried =
      response.least_tried && response.most_tried
          ? fmt::format(" ({} to {} were tried)", to_text(*response.least_tried),
                        to_text(*response.most_tried))
          : std::string();
  return fmt::format("{}: no other value is clearly faster{}{}{}", now, tried,
                     waits.empty() ? "" : ", but ", waits);
}

/// Returns the settings that may affect the largest stage, for a stage whose settings have no known
/// effect. If the study varies no such setting, suggests some.
std::string untested(const Bottleneck& bottleneck, StepStage largest) {
  const auto own = bottleneck.parameters.find(largest);
  if (own == bottleneck.parameters.end()) {
    return fmt::format("the study varies no setting for it; try {}", usual_settings(largest));
  }
  return fmt::format("{} may affect it: no effect is known yet", list_of(own->second));
}

/// Returns advice on settings of the largest stage, then on settings of the other stages.
std::vector<std::string> advice(const Bottleneck& bottleneck, StepStage largest) {
  std::vector<std::string> clauses;
  Responses no_effect;
  Responses unclear;
  Responses little_gain;
  std::vector<std::string> elsewhere;
  for (const ParameterResponse& response : bottleneck.responses) {
    if (response.stage == largest) {
      if (response.leaves_gain() && response.has_effect) {
        clauses.push_back(advice_on(response));
      } else if (response.matters() && response.has_effect) {
        clauses.push_back(text_without_gain(response, bottleneck));
      } else {
        (response.range.high < k_small_gain || response.matters() ? no_effect : unclear)
            .push_back(&response);
      }
    } else if (response.stage && response.leaves_gain() && response.has_effect) {
      elsewhere.push_back(advice_on(response));
    } else if (response.stage &&
               (response.gain.high < k_small_gain ||
                bottleneck.most_gain(*response.stage).value_or(k_small_gain) < k_small_gain)) {
      little_gain.push_back(&response);
    }
  }
  if (!no_effect.empty()) {
    clauses.push_back(names_of(no_effect, "or") + " made no clear difference");
  }
  if (!unclear.empty()) clauses.push_back(too_little_known(unclear));
  if (clauses.empty()) clauses.push_back(untested(bottleneck, largest));
  clauses.insert(clauses.end(), elsewhere.begin(), elsewhere.end());
  if (!little_gain.empty()) {
    clauses.push_back(fmt::format("{} would gain less than {}", names_of(little_gain, "or"),
                                  percent(k_small_gain - 1.0)));
  }
  return clauses;
}

BottleneckWords words_from_stages(const Bottleneck& bottleneck) {
  const StageTime& largest = bottleneck.stages.front();
  BottleneckWords words;
  if (bottleneck.unreported_share > largest.share) {
    words.finding = fmt::format("{} of a step lies outside the parts that the program reports",
                                percent(bottleneck.unreported_share));
  } else {
    words.finding =
        fmt::format("{} {} of a step", stage_subject(largest.stage), percent(largest.share));
    // The time of the computation itself cannot be saved.
    if (largest.stage && *largest.stage != StepStage::compute) {
      words.finding += fmt::format(": at most {:.1f}x to gain",
                                   bottleneck.most_gain(*largest.stage).value_or(1.0));
    }
    if (largest.stage)
      words.finding += fmt::format(". {}", fmt::join(advice(bottleneck, *largest.stage), "; "));
  }
  words.evidence = fmt::format("Based on the parts that trial {} reported ({} of its step time)",
                               bottleneck.trial, percent(1.0 - bottleneck.unreported_share));
  return words;
}

/// Clauses about the effect of each varied setting, which continue a sentence.
struct EffectsText {
  std::string text;
  bool names_use_of_cpus = false;
};

EffectsText effects_text(const Bottleneck& bottleneck) {
  if (!bottleneck.why_no_responses.empty()) return {", and " + bottleneck.why_no_responses};
  EffectsText effects;
  Responses matter;
  Responses unmoved;
  Responses unclear;
  std::vector<std::string> clauses;
  for (const ParameterResponse& response : bottleneck.responses) {
    const bool matters = response.matters() && response.has_effect;
    (matters                                                    ? matter
     : response.range.high < k_small_gain || response.matters() ? unmoved
                                                                : unclear)
        .push_back(&response);
    if (!matters) continue;
    if (response.leaves_gain()) {
      clauses.push_back(advice_on(response));
      continue;
    }
    clauses.push_back(text_without_gain(response, bottleneck));
    if (response.stage == StepStage::data && spare_time(bottleneck) == SpareTime::cpus) {
      effects.names_use_of_cpus = true;
    }
  }
  if (matter.empty() && !unclear.empty()) return {", and " + too_little_known(unclear)};
  if (matter.empty()) {
    return {", and no varied parameter clearly changes their time by over 3 %"};
  }
  effects.text = fmt::format("; {}", fmt::join(clauses, "; "));
  if (!unmoved.empty()) {
    effects.text += fmt::format("; {} made no clear difference", names_of(unmoved, "or"));
  }
  if (!unclear.empty()) effects.text += "; " + too_little_known(unclear);
  return effects;
}

/// Returns a clause about an idle GPU. Without figures of a GPU, returns a clause about CPUs that
/// are nearly all busy or mostly idle. Otherwise returns an empty text. For programs that report no
/// parts.
std::string use_of_machine(const Bottleneck& bottleneck) {
  const bool full = bottleneck.cpu_busy.value_or(0.0) >= k_cpus_full;
  if (bottleneck.gpu_busy) {
    if (*bottleneck.gpu_busy >= k_gpu_waits) return "";
    return fmt::format("; the GPU idles {} of the time{}", percent(1.0 - *bottleneck.gpu_busy),
                       full ? ", while the trial uses nearly all CPU time" : "");
  }
  if (!bottleneck.cpu_busy) return "";
  if (!full && *bottleneck.cpu_busy > k_waiting_cpu_share) return "";
  return fmt::format("; the trial uses {}{} of its CPUs' time", full ? "" : "only ",
                     percent(*bottleneck.cpu_busy));
}

/// Returns the words for a program that reports no parts.
BottleneckWords words_from_responses(const Bottleneck& bottleneck) {
  const EffectsText effects = effects_text(bottleneck);
  BottleneckWords words;
  words.finding = "The program did not report parts of its steps" + effects.text;
  if (!effects.names_use_of_cpus) words.finding += use_of_machine(bottleneck);
  return words;
}

}  // namespace

BottleneckWords in_words(const Bottleneck& bottleneck) {
  BottleneckWords words =
      bottleneck.stages.empty() ? words_from_responses(bottleneck) : words_from_stages(bottleneck);
  words.finding += ".";
  if (!bottleneck.responses.empty()) {
    words.evidence += fmt::format(
        "{} on a model of the speed of {} trials, at the configuration of trial {}",
        words.evidence.empty() ? "Based" : ", and", bottleneck.trials, bottleneck.trial);
  }
  if (!words.evidence.empty()) words.evidence += ".";
  if (bottleneck.loading_ceiling) {
    words.gain_without_loading = fmt::format(
        "In the baseline, {}.", loading_ceiling_text(*bottleneck.loading_ceiling, true));
  }
  return words;
}

}  // namespace steptune
