// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/counter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace steptune {
namespace {

constexpr std::size_t k_max_counters = 16;
/// Of one program whose lines come about twice in an epoch, the counts within the epoch go back and
/// forth as those of two do; hardly ever so often in a row.
constexpr int k_times_forth = 3;
/// Once may be a program that was started anew.
constexpr int k_times_again = 2;
constexpr double k_notable_share = 0.1;

}  // namespace

bool CumulativeCounter::restarted(const Count& count) const {
  const bool new_epoch = count.epoch && epoch_ && *count.epoch > *epoch_;
  if (new_epoch) return count.per_epoch || count.value <= last_;
  const bool epochs_are_told = count.epoch && epoch_;
  return !epochs_are_told && last_ >= 2.0 && count.value <= 0.5 * last_;
}

void CumulativeCounter::note_writers(double value) {
  const double before = std::exchange(latest_, value);
  if (value > ahead_) {
    // A count that starts again comes to where it was step by step.
    if (before < ahead_ && value >= 2.0 * before) ++went_forth_;
    ahead_ = value;
  } else if (value < behind_) {
    // Neither of the two goes on: one of them has started again.
    went_forth_ = 0;
    behind_ = value;
  } else if (value > behind_ && value < ahead_) {
    several_writers_ = several_writers_ || (went_forth_ >= k_times_forth && 2.0 * value <= before);
    behind_ = value;
  }
}

void CumulativeCounter::start_again(double value) {
  // Where the epoch's length is not told, what came after its last printed line is not counted.
  // A line nearer to the one before than others are was printed at the epoch's end.
  const bool end_is_told = total_ || latest_spacing_ < spacing_;
  const double most = end_is_told ? 0.0 : std::max(0.0, spacing_ - 1.0);
  ++restarts_;
  if (restarts_ >= k_times_again) uncounted_share_ = most / std::max(1.0, last_ + most);
  base_ += std::max(last_, total_.value_or(0.0));
  last_ = value;
  total_.reset();
}

double CumulativeCounter::add(const Count& count) {
  // A count within a known epoch starts again by that epoch alone.
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
      R"("{}" begins again with each epoch, and no line tells how long one is: up to {:.0f} % of it )"
      "come after its last line and are not counted, so that steps seem slower than they are: "
      "print the length, too (12/100), or a count that goes on over the epochs",
      is_of_steps ? "step" : "samples", 1e2 * share);
}

double CounterSet::uncounted_share() const {
  for (const auto& [key, counter] : counters_) {
    if (counter.value() >= furthest_) return counter.uncounted_share();
  }
  return 0.0;
}

bool CounterSet::several_writers() const {
  return std::ranges::any_of(counters_,
                             [](const auto& named) { return named.second.several_writers(); });
}

void CounterSet::lead(const std::string& key) {
  const auto counter = counters_.find(key);
  furthest_ = counter == counters_.end() ? 0.0 : counter->second.value();
}

std::optional<double> CounterSet::add(const std::string& key, const Count& count) {
  if (!counters_.contains(key) && counters_.size() >= k_max_counters) return std::nullopt;
  const double value = counters_[key].add(count);
  if (counters_[key].several_writers()) return std::nullopt;
  if (value < furthest_) return std::nullopt;
  furthest_ = value;
  return value;
}

}  // namespace steptune
