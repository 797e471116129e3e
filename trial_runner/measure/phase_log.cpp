// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/phase_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steptune {
namespace {

/// Most phases that are told apart. Further phases count together, as `other`.
constexpr std::size_t k_max_names = 32;

}  // namespace

void PhaseLog::ended(const std::string& name, double samples, double seconds) {
  if (open_ && open_->name == name) open_.reset();
  if (!std::isfinite(seconds) || seconds < 0.0) return;
  const bool fits = events_.contains(name) || events_.size() < k_max_names;
  events_[fits ? name : "other"].add(samples, seconds);
  total_s_ += seconds;
}

void PhaseLog::begins(const std::string& name, double samples, double at_s) {
  // A repeated report of the open phase changes nothing.
  if (open_ && open_->name == name) return;
  if (open_) end_open(samples, open_->begin_s, at_s);
  open_ = Open{name, at_s};
}

void PhaseLog::end_open(double samples, double steps_done_s, double now_s) {
  if (!open_) return;
  const Open open = *std::exchange(open_, std::nullopt);
  // Some of the counter's steps were done after the phase.
  const double steps_after_s = std::max(0.0, steps_done_s - open.begin_s);
  ended(open.name, samples, std::max(0.0, now_s - open.begin_s - steps_after_s));
}

}  // namespace steptune
