// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/counter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace steptune {
namespace {

/// Share of missed counts from which on a note is worth a line.
constexpr double k_notable_share = 0.1;
/// Bars are drawn at intervals of time, so steps between two lines vary by about this factor.
constexpr double k_steady_spacings = 2.0;
/// Growths in a row that show a counter. In doubt, more are needed, because other numbers also grow
/// a few times in a row.
constexpr int k_growths_of_counter = 3;
constexpr int k_growths_in_doubt = 8;

}  // namespace

bool CumulativeCounter::restarted(const Count& count) {
  const bool new_epoch = count.epoch && epoch_ && *count.epoch > *epoch_;
  if (new_epoch) {
    if (count.value <= last_) return true;
    // A bar over all epochs advances by its usual spacing.
    spans_epochs_ = spans_epochs_ || count.value - last_ <= k_steady_spacings * spacing_;
    return count.per_epoch && !spans_epochs_;
  }
  const bool epochs_are_numbered = count.epoch && epoch_;
  // Far from the total, the lower value is another process's, or a resumed run's. After a single
  // line, the spacing of lines is at most the count.
  const double spacing = spacing_ > 0.0 ? spacing_ : last_;
  const bool is_midway = total_ && last_ + k_steady_spacings * spacing < *total_;
  return !epochs_are_numbered && !is_midway && last_ >= 2.0 && count.value <= 0.5 * last_;
}

void CumulativeCounter::note_writers(double value) {
  const double before = std::exchange(latest_, value);
  if (value > ahead_) {
    // A count that has restarted grows back to its former value in small steps, not in one jump.
    if (before < ahead_ && value >= 2.0 * before) ++went_forth_;
    ahead_ = value;
  } else if (value < behind_) {
    // The value is below both programs' values: one of them has started again.
    went_forth_ = 0;
    behind_ = value;
  } else if (value > behind_ && value < ahead_) {
    // The count of one program also jumps back and forth if the program prints about twice in an
    // epoch. But it hardly ever does so three times in a row.
    several_writers_ = several_writers_ || (went_forth_ >= 3 && 2.0 * value <= before);
    behind_ = value;
  }
}

void CumulativeCounter::start_again(double value) {
  // If the epoch's length is unknown, steps after the epoch's last line are not counted. If the
  // last line came after fewer steps than usual, it was printed at the epoch's end.
  const bool end_is_known = total_ || latest_spacing_ < spacing_;
  const double most = end_is_known ? 0.0 : std::max(0.0, spacing_ - 1.0);
  ++restarts_;
  // A single restart may be a restart of the program.
  if (restarts_ >= 2) uncounted_share_ = most / std::max(1.0, last_ + most);
  base_ += std::max(last_, total_.value_or(0.0));
  last_ = value;
  total_.reset();
}

double CumulativeCounter::add(const Count& count) {
  // For counts within known epochs, only a new epoch is a restart.
  if (!(count.epoch && epoch_)) note_writers(count.value);
  if (restarted(count)) {
    start_again(count.value);
  } else if (has_begun_ && count.value > last_) {
    latest_spacing_ = count.value - last_;
    spacing_ = std::max(spacing_, latest_spacing_);
  }
  has_begun_ = true;
  last_ = std::max(last_, count.value);
  if (count.total) total_ = count.total;
  if (count.epoch && (!epoch_ || *count.epoch > *epoch_)) epoch_ = count.epoch;
  return value();
}

std::string several_writers_fault(std::string_view counter) {
  return fmt::format(
      "several programs print \"{}\", each with its own count: let only rank 0 print, for example "
      "if int(os.environ.get(\"RANK\", 0)) == 0: print(...), or report from code",
      counter);
}

std::optional<std::string> uncounted_note(double share_of_steps, double share_of_samples) {
  const bool is_of_steps = share_of_steps >= k_notable_share;
  const double share = is_of_steps ? share_of_steps : share_of_samples;
  if (share < k_notable_share) return std::nullopt;
  return fmt::format(
      R"("{}" restarts in each epoch, and no line gives an epoch's length: up to {:.0f} % of the )"
      "count come after an epoch's last line and are missed, so steps seem slower than they are: "
      "print the length, too (12/100), or do not restart the count",
      is_of_steps ? "step" : "samples", 1e2 * share);
}

bool GrowthWatch::is_counter(const Count& count) {
  if (!first_) {
    first_ = last_ = count;
    return false;
  }
  const bool new_epoch = count.epoch && last_->epoch && *count.epoch > *last_->epoch;
  grew_ = count.value > last_->value;
  const bool restarts = count.value <= 0.5 * last_->value;
  if (grew_) {
    ++growths_;
  } else if (!new_epoch && count.value == last_->value) {
    stood_still_ = true;  // two lines may report the same step
  } else if (!new_epoch) {
    if (!restarts) ++falls_;
    if (!restarts || growths_ == 0) {
      growths_ = 0;
      first_ = count;
    }
  }
  last_ = count;
  // A value that is printed once in each epoch and starts again is a counter.
  if (new_epoch && !grew_ && !stood_still_) return true;
  if (falls_ > 0) return growths_ >= k_growths_in_doubt;
  // Smaller growth must repeat, because counts of windows scatter.
  const bool clearly_grew = growths_ > 0 && last_->value >= 1.5 * first_->value;
  return growths_ >= k_growths_of_counter || clearly_grew;
}

bool GrowthWatch::is_no_length(const Count& count) {
  const bool same_episode = last_ && last_->epoch == count.epoch;
  if (last_ && count.value < last_->value) {
    ++falls_;
    if (same_episode) ++falls_inside_;
  } else if (last_ && count.value > last_->value) {
    ++growths_;
    if (same_episode) ++growths_inside_;
  }
  last_ = count;
  const bool is_position = falls_inside_ == 0 && growths_inside_ >= k_growths_of_counter;
  return is_position || (falls_ == 0 && growths_ >= k_growths_in_doubt);
}

bool GrowthWatch::may_be_position(const Count& count) {
  const bool same_count = last_ && last_->value == count.value;
  is_no_position_ = is_no_position_ || (same_count && last_->total != count.total);
  last_ = count;
  return !is_no_position_;
}

bool CounterSet::Candidate::is_confirmed() const {
  return growths >= 2;
}

bool CounterSet::Candidate::is_stalled() const {
  return !is_confirmed() && passed_over >= 3;
}

double CounterSet::uncounted_share() const {
  const auto leader = counters_.find(leader_);
  return leader == counters_.end() ? 0.0 : leader->second.counter.uncounted_share();
}

bool CounterSet::several_writers() const {
  return std::ranges::any_of(
      counters_, [](const auto& named) { return named.second.counter.several_writers(); });
}

void CounterSet::lead(const std::string& key) {
  leader_ = key;
}

void CounterSet::forget(const std::string& key) {
  counters_.erase(key);
  if (leader_ == key) leader_.clear();
}

bool CounterSet::takes_lead(const Candidate& candidate) const {
  const auto found = counters_.find(leader_);
  if (found == counters_.end()) return true;
  const Candidate& leader = found->second;
  if (candidate.is_stalled()) return false;
  if (leader.is_stalled()) return candidate.growths > 0;
  // A number without a name may be an entry of a list.
  if (candidate.rank < 0 && leader.rank >= 0) return false;
  if (candidate.rank >= 0 && leader.rank < 0) return candidate.is_confirmed();
  const double value = candidate.counter.value();
  const double furthest = leader.counter.value();
  // An optimizer step that accumulates gradients has at least two micro-batches. If counters of two
  // ranks have more similar values, they are one count under two names.
  const bool is_part_of_step = furthest > 0.0 && value > 2.0 * furthest;
  if (candidate.rank < leader.rank && is_part_of_step) return false;
  const bool is_whole_step = 2.0 * value <= furthest;
  if (candidate.rank > leader.rank && is_whole_step) {
    return candidate.is_confirmed() || !leader.is_confirmed();
  }
  return value >= furthest;
}

std::optional<double> CounterSet::add(const std::string& key, const Count& count, int rank) {
  if (!counters_.contains(key) && counters_.size() >= k_most_counters) return std::nullopt;
  const auto [found, is_new] = counters_.try_emplace(key);
  Candidate& candidate = found->second;
  candidate.rank = rank;
  const double before = candidate.counter.value();
  const double value = candidate.counter.add(count);
  if (candidate.counter.several_writers()) return std::nullopt;
  if (!is_new && value > before) {
    ++candidate.growths;
    for (auto& [other_key, other] : counters_)
      ++other.passed_over;
    candidate.passed_over = 0;
  }
  if (key != leader_ && !takes_lead(candidate)) return std::nullopt;
  leader_ = key;
  return value;
}

}  // namespace steptune
