// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/stop_cause.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/clauses.hpp"
#include "common/text.hpp"

namespace steptune {

Outcome stopped_outcome(StopCause cause, const TrialLimits& limits) {
  if (cause == StopCause::wall_limit) {
    return {
        .kind = OutcomeKind::timed_out,
        .detail = fmt::format("ran longer than the limit of {}", format_duration(limits.wall_s))};
  }
  if (cause == StopCause::no_output) {
    return {.kind = OutcomeKind::hung,
            .detail = fmt::format("no output for {}", format_duration(limits.idle_s))};
  }
  return {.kind = OutcomeKind::stopped};
}

void add_last_output(std::string& detail, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  add_clause(detail, fmt::format("its last output: {}", fmt::join(lines, " | ")));
}

}  // namespace steptune
