// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/causes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "tuner/report/machine_text.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// A change of a phase's duration or period by a smaller ratio is not worth a sentence.
constexpr double k_notable_ratio = 1.1;
/// Two periods that differ by less than this factor count as alike.
constexpr double k_as_often = 2.0;

void add_phases(const Promise& promise, const Measurement& seen, std::vector<std::string>& causes) {
  const double notable_s = k_usual_half_width * promise.seconds_per_sample.value;
  for (const auto& [name, phase] : seen.phases) {
    const auto former = promise.phases.find(name);
    if (former == promise.phases.end()) {
      if (Promise::per_sample_s(phase) < notable_s) continue;
      causes.push_back(fmt::format("{} is not in the promise and takes {} every {:.4g} {}", name,
                                   format_duration(phase.seconds), phase.period_samples,
                                   promise.unit.plural));
      continue;
    }
    if (phase.seconds > k_notable_ratio * former->second.seconds + 2.0 * phase.seconds_error) {
      causes.push_back(fmt::format("{} takes {}, promised {}", name, format_duration(phase.seconds),
                                   format_duration(former->second.seconds)));
    }
    if (k_notable_ratio * phase.period_samples < former->second.period_samples) {
      causes.push_back(fmt::format("{} comes every {:.4g} {}, promised every {:.4g}", name,
                                   phase.period_samples, promise.unit.plural,
                                   former->second.period_samples));
    }
  }
}

/// True if stalls come about as often as a phase with this period. Perhaps the stalls are that
/// phase and the program does not report it.
bool may_be_a_stall(double every_samples, const Measurement& seen) {
  return std::ranges::any_of(seen.phases, [&](const auto& phase) {
    const double between = samples_between(phase.second);
    return is_stall(phase.first) && between > every_samples / k_as_often &&
           between < every_samples * k_as_often;
  });
}

/// Adds the phases of the plan that were due in this run but did not come.
void add_missing_phases(const Promise& promise, const Measurement& seen, double watched_samples,
                        std::vector<std::string>& causes) {
  for (const auto& [name, every] : promise.planned_every) {
    const bool is_due = watched_samples >= k_periods_to_miss * every;
    if (!is_due || seen.phases.contains(name) || may_be_a_stall(every, seen)) continue;
    causes.push_back(fmt::format("no {} was seen, but the plan has one every {:.4g} {}", name,
                                 every, promise.unit.plural));
  }
}

void add_parts(const Promise& promise, const Measurement& seen, std::vector<std::string>& causes) {
  const double notable_s = k_usual_half_width * promise.seconds_per_sample.value;
  for (const auto& [part, seconds] : seen.parts) {
    const auto former = promise.parts.find(part);
    if (former == promise.parts.end() || seconds - former->second < notable_s) continue;
    causes.push_back(fmt::format(
        "the part \"{}\" takes {:.3g} ms per {}, in the trial it took {:.3g} ms{}", part,
        1e3 * seconds, promise.unit.singular(), 1e3 * former->second,
        part == "data" ? "; perhaps because of storage, page cache, or other programs" : ""));
  }
}

/// Returns the largest change to slower or to faster steps; null if there is none. One real change
/// may be found as two changes, a large one and a small one.
const LevelChange* largest_change(const Measurement& seen, bool slower) {
  const LevelChange* largest = nullptr;
  for (const LevelChange& change : seen.level_changes) {
    if ((change.ratio > 1.0) != slower) continue;
    const bool is_larger =
        largest == nullptr || std::abs(std::log(change.ratio)) > std::abs(std::log(largest->ratio));
    if (is_larger) largest = &change;
  }
  return largest;
}

}  // namespace

std::vector<std::string> causes_of(const Promise& promise, const Measurement& seen,
                                   double watched_samples,
                                   const std::optional<Deviation>& deviation,
                                   const MachineCause& machine) {
  std::vector<std::string> causes;
  add_phases(promise, seen, causes);
  const std::size_t phases = causes.size();
  add_parts(promise, seen, causes);
  const bool parts_grew = causes.size() > phases;
  const bool is_unexplained = causes.empty();
  add_missing_phases(promise, seen, watched_samples, causes);
  if (machine.since_before) {
    causes.push_back(fmt::format("{} when the rate changed", machine_text(*machine.since_before)));
    return causes;
  }
  if (machine.since_trial) {
    causes.push_back(fmt::format("{} since the trial", machine_text(*machine.since_trial)));
    return causes;
  }
  // Level changes are changes of the steps' own time, so phases do not explain them.
  if (!deviation || parts_grew) return causes;
  if (const LevelChange* change = largest_change(seen, deviation->ratio > 1.0)) {
    causes.push_back(fmt::format(
        "the time per {} changed at once, to {:.2f} times what it was, after {}; perhaps "
        "because of throttling, a drained queue, or another program on the machine",
        promise.unit.singular(), change->ratio, format_duration(change->at_s)));
  } else if (is_unexplained && deviation->ratio > 1.0) {
    causes.push_back(
        "the steps themselves are slower; perhaps because of another machine, other load on it, "
        "throttling, or data that only the trials found in the page cache");
  }
  return causes;
}

}  // namespace steptune
