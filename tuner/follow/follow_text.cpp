// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/follow_text.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

/// Returns `812.4 samples/s (801.2-823.9)`. If the interval of the time includes 0, the rate has no
/// upper end: `(401.2 or more)`.
std::string rate_text(const Interval95& seconds_per_sample, const UnitName& unit) {
  const std::string low = format_number(1.0 / seconds_per_sample.high());
  return fmt::format("{} {} ({})", format_number(1.0 / seconds_per_sample.value), unit.per_second(),
                     seconds_per_sample.low() > 0.0
                         ? low + "-" + format_number(1.0 / seconds_per_sample.low())
                         : low + " or more");
}

/// Returns `100 samples/s (98.04-102)`. Adds ` before the first evaluation` if promised phases are
/// still to come.
std::string promised_text(const Promise& promise, const FollowState& state) {
  std::string text = rate_text(*state.promised, promise.unit);
  if (!state.awaited.empty())
    text += fmt::format(" before the first {}", fmt::join(state.awaited, ", "));
  return text;
}

std::string duration_text(const Interval95& seconds) {
  return fmt::format("{} ({}-{})", format_duration(seconds.value),
                     format_duration(std::max(0.0, seconds.low())),
                     format_duration(seconds.high()));
}

std::string verdict_text(const FollowState& state) {
  switch (state.keeping) {
    case Keeping::kept:
      return "kept";
    case Keeping::faster:
      return "kept: faster than promised";
    case Keeping::broken:
      return "broken: slower than promised, beyond both intervals";
    case Keeping::unknown:
      break;
  }
  return "not known yet: " + state.reason;
}

/// Returns `6.0 s each, every 500 samples`.
std::string phase_text(const PhaseEstimate& phase, const UnitName& unit) {
  std::string text = format_duration(phase.seconds) + " each";
  if (phase.period_samples > 0.0) {
    text += fmt::format(", every {} {}", format_number(phase.period_samples), unit.plural);
  }
  return text;
}

/// True if the run kept the promise at first.
bool began_later(const Deviation& deviation) {
  return deviation.since.time_s > 0.0;
}

std::string deviation_text(const Deviation& deviation, const UnitName& unit) {
  const double percent = 100.0 * (deviation.ratio - 1.0);
  const std::string since = began_later(deviation)
                                ? fmt::format("{} {} ({})", format_number(deviation.since.samples),
                                              unit.plural, format_duration(deviation.since.time_s))
                                : "its beginning";
  return fmt::format("{}: {:.1f} % {} per {} than promised", since, std::abs(percent),
                     percent > 0.0 ? "more time" : "less time", unit.singular());
}

}  // namespace

std::string follow_line(const Promise& promise, const FollowState& state) {
  if (!state.seconds_per_sample) return "waiting for progress: " + state.reason;
  const Interval95& now = state.seconds_per_sample_now.value_or(*state.seconds_per_sample);
  std::string line = fmt::format("{}  {} {}  {} now, promised {}", format_duration(state.seen_s),
                                 format_number(state.samples), promise.unit.plural,
                                 rate_text(now, promise.unit), promised_text(promise, state));
  if (const auto promised = promise.run_s(); promised && state.run_s) {
    line += fmt::format("; {} expected, promised {}", format_duration(state.run_s->value),
                        format_duration(promised->value));
  }
  return line;
}

std::string follow_text(const Promise& promise, const FollowState& state) {
  const UnitName& unit = promise.unit;
  std::string text = fmt::format("promise  {}\n", verdict_text(state));
  if (!state.seconds_per_sample) return text;
  const Interval95& judged = state.judged_seconds_per_sample.value_or(*state.seconds_per_sample);
  std::string since;
  std::string in_all;
  if (state.deviation && began_later(*state.deviation)) {
    since = fmt::format(" since {} {}", format_number(state.deviation->since.samples), unit.plural);
    in_all = fmt::format(", {} {} in all", format_number(1.0 / state.seconds_per_sample->value),
                         unit.per_second());
  }
  text += fmt::format("rate     {}{}, promised {}\n", rate_text(judged, unit), since,
                      promised_text(promise, state));
  if (state.seconds_per_sample_now) {
    text += fmt::format("now      {}\n", rate_text(*state.seconds_per_sample_now, unit));
  }
  if (const auto promised = promise.run_s(); promised && state.run_s) {
    text += fmt::format("run      {} expected, promised {}\n", duration_text(*state.run_s),
                        duration_text(*promised));
  }
  text += fmt::format("seen     {}, {} {}{}\n", format_duration(state.seen_s),
                      format_number(state.samples), unit.plural, in_all);
  for (const auto& [name, phase] : state.phases) {
    const auto promised = promise.phases.find(name);
    text += fmt::format(
        "phase    {}: {:.0f} seen, {}; promised {}\n", name, phase.count, phase_text(phase, unit),
        promised == promise.phases.end() ? "none" : phase_text(promised->second, unit));
  }
  if (state.deviation) text += fmt::format("since    {}\n", deviation_text(*state.deviation, unit));
  for (const std::string& cause : state.causes)
    text += fmt::format("changed  {}\n", cause);
  return text;
}

}  // namespace steptune
