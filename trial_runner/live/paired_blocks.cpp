// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/paired_blocks.hpp"

#include <algorithm>
#include <utility>

namespace steptune::live {
namespace {

/// Long enough for the clock and a stall of one batch, short enough that drift is the same in
/// neighbours.
constexpr double k_least_steps = 8.0;
constexpr double k_least_s = 0.25;
/// A trial that is so much slower than the baseline is known to be after a few steps.
constexpr double k_slow_ratio = 5.0;
constexpr double k_fewest_slow_steps = 2.0;
/// Intervals that a block is told in: more than one, so that the scatter within it is seen.
constexpr std::size_t k_stretches = 4;

double counted(const LiveStep& step) {
  return step.samples.value_or(step.step);
}

PairedSteps between(const LiveStep& from, const LiveStep& to) {
  return {to.step - from.step, counted(to) - counted(from), to.seconds - from.seconds};
}

}  // namespace

void PairedBlocks::begin_trial(std::optional<double> level) {
  has_trial_ = true;
  level_ = level;
  waiting_.reset();
  measured_.clear();
  // A block of the baseline that is under way goes on, and is the first pair's.
  if (!level_ || before_) {
    arm_ = Arm::trial;
    points_.clear();
  }
}

void PairedBlocks::end_trial() {
  has_trial_ = false;
  if (arm_ == Arm::trial) points_.clear();
  arm_ = Arm::baseline;
  waiting_.reset();
  measured_.clear();
}

void PairedBlocks::restart() {
  points_.clear();
  waiting_.reset();
  before_.reset();
  has_measured_ = false;
  arm_ = has_trial_ && !level_ ? Arm::trial : Arm::baseline;
}

bool PairedBlocks::add(const LiveStep& step) {
  if (step.warm_up) {
    points_.clear();
    return false;
  }
  points_.push_back(step);
  if (!is_complete()) return false;
  Block block = cut();
  // The next block begins where this one ends, if nothing is switched.
  points_.assign(1, step);
  if (arm_ == Arm::trial) {
    if (!level_) {
      before_ = block.rate();
      emit(block, 1.0);
      return false;
    }
    waiting_ = std::move(block);
    points_.clear();
    arm_ = Arm::baseline;
    return true;
  }
  const double rate = block.rate();
  baseline_block_s_ = block.total.seconds;
  if (waiting_ && before_) emit(*waiting_, *level_ / (0.5 * (*before_ + rate)));
  waiting_.reset();
  before_ = rate;
  if (!has_trial_) return false;
  points_.clear();
  arm_ = Arm::trial;
  return true;
}

bool PairedBlocks::is_complete() const {
  const PairedSteps total = between(points_.front(), points_.back());
  if (!(total.samples > 0.0) || !(total.seconds > 0.0)) return false;
  if (total.steps >= k_least_steps && total.seconds >= k_least_s) return true;
  return arm_ == Arm::trial && level_ && baseline_block_s_ > 0.0 &&
         total.seconds >= k_slow_ratio * std::max(k_least_s, baseline_block_s_) &&
         total.steps >= k_fewest_slow_steps;
}

PairedBlocks::Block PairedBlocks::cut() const {
  Block block;
  block.total = between(points_.front(), points_.back());
  const std::size_t intervals = points_.size() - 1;
  const std::size_t stretches = std::min(k_stretches, intervals);
  std::size_t from = 0;
  for (std::size_t i = 1; i <= stretches; ++i) {
    const std::size_t to = i * intervals / stretches;
    block.stretches.push_back(between(points_[from], points_[to]));
    from = to;
  }
  return block;
}

void PairedBlocks::emit(const Block& block, double scale) {
  has_measured_ = true;
  for (PairedSteps stretch : block.stretches) {
    stretch.seconds *= scale;
    measured_.push_back(stretch);
  }
}

std::vector<PairedSteps> PairedBlocks::take() {
  return std::exchange(measured_, {});
}

}  // namespace steptune::live
