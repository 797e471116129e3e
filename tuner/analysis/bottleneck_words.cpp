// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "tuner/analysis/bottleneck.hpp"

namespace steptune {
namespace {

/// Below this possible gain, as measured or by Amdahl's law, a parameter is told to be worth
/// nothing.
constexpr double k_hardly = 1.1;
constexpr double k_gpu_waits = 0.7;
/// Where CPUs train: from here on there is none to spare, or half of them wait.
constexpr double k_cpus_full = 0.9;
constexpr double k_cpus_wait = 0.5;

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100.0 * share);
}

/// What a step does in that stage, after its share.
std::string verb_of(std::optional<StepStage> stage) {
  if (!stage) return "is in parts with unrecognised names";
  switch (*stage) {
    case StepStage::data:
      return "waits for data";
    case StepStage::host_to_device:
      return "prepares batches and copies them to the device";
    case StepStage::compute:
      return "computes";
    case StepStage::communication:
      return "communicates";
    case StepStage::optimizer:
      return "updates parameters";
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

/// "workers (1.90x) and prefetch (1.10x)"
std::string with_factors(const Responses& responses, Estimate ParameterResponse::*factor) {
  std::vector<std::string> names;
  for (const ParameterResponse* response : responses)
    names.push_back(fmt::format("{} ({:.2f}x)", response->parameter, (response->*factor).mean));
  return list_of(names);
}

std::string clauses_of(const std::vector<std::string>& clauses) {
  std::string text;
  for (const std::string& clause : clauses)
    text += (text.empty() ? ": " : ", ") + clause;
  return text;
}

std::string too_little_known(const Responses& responses) {
  return fmt::format("too little is known about {}", names_of(responses, "or"));
}

/// What the study's parameters can do about the largest stage, and what those of others cannot.
std::string consequences(const Bottleneck& bottleneck, StepStage largest) {
  Responses matter;
  Responses at_best;
  Responses no_effect;
  Responses unclear;
  Responses less;
  Responses cannot;
  for (const ParameterResponse& response : bottleneck.responses) {
    if (response.stage == largest) {
      (response.leaves_gain()           ? matter
       : response.matters()             ? at_best
       : response.range.high < k_hardly ? no_effect
                                        : unclear)
          .push_back(&response);
    } else if (response.stage && response.leaves_gain()) {
      less.push_back(&response);
    } else if (response.stage &&
               (response.gain.high < k_hardly ||
                bottleneck.most_gain(*response.stage).value_or(k_hardly) < k_hardly)) {
      cannot.push_back(&response);
    }
  }
  std::vector<std::string> clauses;
  if (!matter.empty()) {
    clauses.push_back(with_factors(matter, &ParameterResponse::gain) +
                      (matter.size() == 1 ? " matters" : " matter"));
  }
  if (!at_best.empty()) {
    clauses.push_back(fmt::format("{} {} as good as it gets", names_of(at_best),
                                  at_best.size() == 1 ? "is" : "are"));
  }
  if (!no_effect.empty()) {
    clauses.push_back(names_of(no_effect, "or") + " made no measurable difference");
  }
  if (!unclear.empty()) clauses.push_back(too_little_known(unclear));
  if (clauses.empty() && bottleneck.no_responses.empty()) {
    clauses.emplace_back("no parameter of the study is known to act on that");
  }
  if (!less.empty()) {
    clauses.push_back(with_factors(less, &ParameterResponse::gain) +
                      (clauses.empty() ? " still helps" : " less"));
  }
  if (!cannot.empty()) clauses.push_back(names_of(cannot, "or") + " cannot");
  return clauses_of(clauses);
}

BottleneckWords words_from_stages(const Bottleneck& bottleneck) {
  const StageTime& largest = bottleneck.stages.front();
  BottleneckWords words;
  if (bottleneck.untold_share > largest.share) {
    words.finding = fmt::format("{} of a step is in no part that the program reports",
                                percent(bottleneck.untold_share));
  } else {
    words.finding = fmt::format("{} of a step {}", percent(largest.share), verb_of(largest.stage));
    if (largest.stage) words.finding += consequences(bottleneck, *largest.stage);
  }
  words.evidence = fmt::format("Based on the parts that trial {} reported ({} of its step time)",
                               bottleneck.trial, percent(1.0 - bottleneck.untold_share));
  return words;
}

/// Without parts: a stage is what steps wait for if they would be faster with more of what acts on
/// it.
BottleneckWords words_from_responses(const Bottleneck& bottleneck) {
  BottleneckWords words;
  words.finding = "The program did not report parts of its steps";
  if (!bottleneck.no_responses.empty()) {
    words.finding += ", and " + bottleneck.no_responses;
    return words;
  }
  Responses matter;
  Responses unmoved;
  Responses unclear;
  Responses left;
  std::vector<std::optional<StepStage>> stages;
  for (const ParameterResponse& response : bottleneck.responses) {
    (response.matters()               ? matter
     : response.range.high < k_hardly ? unmoved
                                      : unclear)
        .push_back(&response);
    if (!response.leaves_gain()) continue;
    left.push_back(&response);
    if (std::ranges::find(stages, response.stage) == stages.end()) stages.push_back(response.stage);
  }
  if (matter.empty() && !unclear.empty()) {
    words.finding += ", and " + too_little_known(unclear);
    return words;
  }
  if (matter.empty()) {
    words.finding += ", and no parameter that was varied changes their time by over 3 %";
    return words;
  }
  words.finding += fmt::format("; {} {}", with_factors(matter, &ParameterResponse::range),
                               matter.size() == 1 ? "matters" : "matter");
  if (!unmoved.empty()) words.finding += ", not " + names_of(unmoved, "or");
  if (!unclear.empty()) words.finding += ", " + too_little_known(unclear);
  if (left.empty()) {
    words.finding += fmt::format(": trial {} has their best values, and nothing says what remains",
                                 bottleneck.trial);
  } else if (stages.size() == 1 && stages.front()) {
    words.finding +=
        fmt::format(": {} would still help, as where a step {}",
                    with_factors(left, &ParameterResponse::gain), verb_of(stages.front()));
  } else {
    words.finding +=
        fmt::format(": {} would still help", with_factors(left, &ParameterResponse::gain));
  }
  return words;
}

/// How much of the machine the steps keep busy, where the program tells no parts of them.
std::string use_of_machine(const Bottleneck& bottleneck) {
  const bool full = bottleneck.cpu_busy.value_or(0.0) >= k_cpus_full;
  if (bottleneck.gpu_busy) {
    if (*bottleneck.gpu_busy >= k_gpu_waits) return "";
    return fmt::format("; the GPU idles {} of the time{}", percent(1.0 - *bottleneck.gpu_busy),
                       full ? ", while the CPUs are busy" : "");
  }
  if (!bottleneck.cpu_busy) return "";
  if (full) return fmt::format("; the CPUs are busy {} of the time", percent(*bottleneck.cpu_busy));
  if (*bottleneck.cpu_busy > k_cpus_wait) return "";
  return fmt::format("; the CPUs idle {} of the time", percent(1.0 - *bottleneck.cpu_busy));
}

}  // namespace

BottleneckWords in_words(const Bottleneck& bottleneck) {
  BottleneckWords words =
      bottleneck.stages.empty() ? words_from_responses(bottleneck) : words_from_stages(bottleneck);
  if (bottleneck.stages.empty()) words.finding += use_of_machine(bottleneck);
  words.finding += ".";
  if (!bottleneck.responses.empty()) {
    words.evidence += fmt::format(
        "{} on a model of the speed of {} trials, at the configuration of trial {}",
        words.evidence.empty() ? "Rests" : ", and", bottleneck.trials, bottleneck.trial);
  }
  if (!words.evidence.empty()) words.evidence += ".";
  return words;
}

}  // namespace steptune
