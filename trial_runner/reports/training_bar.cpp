// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/training_bar.hpp"

#include "trial_runner/reports/counter.hpp"

namespace steptune {
namespace {

/// Preparing data must be at least this many times as fast as training. An evaluation's batches are
/// not this much slower than the training's.
constexpr double k_times_as_fast = 20.0;

}  // namespace

bool TrainingBar::is_of_preparation(const Bar& before, const Bar& drawn, double now_s) const {
  // If the new bar was first drawn while the earlier bar ran, one of them is inside the other.
  if (is_settled_ || !before.full || before.has_metrics || drawn.begin_s < before.full_s)
    return false;
  if (drawn.has_metrics) return true;
  const double drawn_s = now_s - drawn.begin_s;
  const double before_s = before.full_s - before.begin_s;
  return drawn_s > before_s && before.done * drawn_s > k_times_as_fast * drawn.done * before_s;
}

bool TrainingBar::takes_lead(const std::string& key, const ProgressBar& bar, bool has_metrics,
                             double now_s) {
  if (!bars_.contains(key) && bars_.size() >= k_most_counters) return false;
  Bar& drawn = bars_.try_emplace(key, Bar{now_s, now_s}).first->second;
  const bool moves = bar.done > 0.0 && bar.done != drawn.done;
  if (!drawn.full) drawn.full_s = now_s;
  drawn.full = bar.total && bar.done >= *bar.total;
  drawn.done = bar.done;
  drawn.has_metrics = drawn.has_metrics || has_metrics;
  if (!moves) return false;
  if (drawn.was_before && !is_settled_) {
    drawn.was_before = false;
    bars_[leader_].is_evaluation = true;
    settle();
    return true;
  }
  const auto leader = bars_.find(leader_);
  if (leader == bars_.end() || leader_ == key) return false;
  leader->second.was_before = is_of_preparation(leader->second, drawn, now_s);
  return leader->second.was_before;
}

void TrainingBar::leads(const std::string& key) {
  if (leader_ == key) return;
  const auto drawn = bars_.find(key);
  const auto leader = bars_.find(leader_);
  if (!is_settled_ && leader != bars_.end() && drawn != bars_.end()) {
    Bar& before = leader->second;
    before.was_before = before.full && drawn->second.begin_s >= before.full_s;
  }
  leader_ = key;
}

bool TrainingBar::was_before(const std::string& key) const {
  const auto bar = bars_.find(key);
  return bar != bars_.end() && bar->second.was_before;
}

bool TrainingBar::is_evaluation(const std::string& key) const {
  const auto bar = bars_.find(key);
  return bar != bars_.end() && bar->second.is_evaluation;
}

}  // namespace steptune
