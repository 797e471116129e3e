// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/counter.hpp"

#include <algorithm>

namespace steptune {
namespace {

constexpr std::size_t k_max_counters = 16;

}  // namespace

bool CumulativeCounter::restarted(const Count& count) const {
  const bool new_epoch = count.epoch && epoch_ && *count.epoch > *epoch_;
  if (new_epoch) return count.per_epoch || count.value <= last_;
  const bool epochs_are_told = count.epoch && epoch_;
  return !epochs_are_told && last_ >= 2.0 && count.value <= 0.5 * last_;
}

double CumulativeCounter::add(const Count& count) {
  if (restarted(count)) {
    // Where the epoch's length is not told, what came after its last printed line is not counted.
    base_ += std::max(last_, total_.value_or(0.0));
    last_ = count.value;
    total_.reset();
  }
  last_ = std::max(last_, count.value);
  if (count.total) total_ = count.total;
  if (count.epoch && (!epoch_ || *count.epoch > *epoch_)) epoch_ = count.epoch;
  return value();
}

std::optional<double> CounterSet::add(const std::string& key, const Count& count) {
  if (!counters_.contains(key) && counters_.size() >= k_max_counters) return std::nullopt;
  const double value = counters_[key].add(count);
  if (value < furthest_) return std::nullopt;
  furthest_ = value;
  return value;
}

}  // namespace steptune
