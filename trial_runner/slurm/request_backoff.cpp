// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/request_backoff.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::slurm {
namespace {

struct Pace {
  double first_s;
  double longest_s;
};

/// Returns the first and the longest delay before the next request. The delay doubles each time.
Pace pace_of(Setback setback) {
  switch (setback) {
    case Setback::refused:
      return {60.0, 900.0};
    case Setback::full:
      return {30.0, 600.0};
    case Setback::unclear:
      return {10.0, 300.0};
    case Setback::unused:
      break;
  }
  return {5.0, 60.0};
}

}  // namespace

std::optional<std::string> RequestBackoff::on_setback(const std::string& kind, Setback setback,
                                                      const std::string& why, int held,
                                                      double now_s) {
  Record& record = records_[kind];
  if (record.times == 0 || record.setback != setback) record = {setback, 0, now_s, now_s};
  ++record.times;
  const Pace pace = pace_of(setback);
  record.again_at_s = now_s + std::min(pace.first_s * std::exp2(record.times - 1), pace.longest_s);
  if (held > 0) return std::nullopt;
  const double lasts_s = now_s - record.since_s;
  std::optional<std::string> hopeless;
  switch (setback) {
    case Setback::refused:
      hopeless = why;
      break;
    case Setback::full:
      if (lasts_s >= options_.queue_wait_s) {
        hopeless = fmt::format("no place in the queue for {} (\"queue_wait\"): {}",
                               format_duration(lasts_s), why);
      }
      break;
    case Setback::unclear:
      if (record.times >= k_lasting_failures && lasts_s >= options_.longest_outage_s) {
        hopeless = fmt::format("no allocation could be requested for {}: {}",
                               format_duration(lasts_s), why);
      }
      break;
    case Setback::unused:
      if (record.times >= k_lasting_failures) {
        hopeless =
            fmt::format("{} allocations ended before a trial could run in them; the last: {}",
                        record.times, why);
      }
      break;
  }
  if (hopeless) records_.erase(kind);
  return hopeless;
}

void RequestBackoff::on_accepted(const std::string& kind) {
  const auto record = records_.find(kind);
  if (record == records_.end()) return;
  const Setback setback = record->second.setback;
  if (setback == Setback::full || setback == Setback::unclear) records_.erase(record);
}

void RequestBackoff::on_used(const std::string& kind) {
  const auto record = records_.find(kind);
  // Keep other setbacks: Slurm may still refuse further allocations of this kind.
  if (record != records_.end() && record->second.setback == Setback::unused) {
    records_.erase(record);
  }
}

double RequestBackoff::may_ask_at_s(const std::string& kind, int held) const {
  const auto record = records_.find(kind);
  if (record == records_.end()) return 0.0;
  // Slurm refused the request while the study held another allocation. That allocation is gone, so
  // Slurm may now grant the request.
  if (record->second.setback == Setback::refused && held == 0) return 0.0;
  return record->second.again_at_s;
}

}  // namespace steptune::slurm
