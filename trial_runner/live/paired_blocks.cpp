// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/paired_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace steptune::live {
namespace {

/// Shortest blocks of a trial: long enough for the clock and for one slow batch, short enough that
/// drift is equal in neighbouring blocks.
constexpr double k_trial_steps = 8.0, k_trial_s = 0.25;
/// Length of a trial's block as a multiple of the warm-up, so that costly switches get longer
/// blocks.
constexpr double k_trial_of_warm_up = 1.5;
/// The baseline's blocks are shorter by this factor: all its earlier blocks contribute to its
/// level, but a trial has only its own blocks.
constexpr double k_baseline_share = 0.5;
/// If a trial's block takes this many times as long as at the baseline's speed, the block ends
/// after a few steps: the trial is clearly slow.
constexpr double k_slow_ratio = 2.5;
/// Blocks of an uncertain trial grow with its time so far, so that less time is lost by switching.
constexpr double k_growth = 0.5, k_longest_s = 1.0;
/// Number of parts in which a block is reported; several parts show the scatter within the block.
constexpr std::size_t k_stretches = 4;

/// Rounds the number of steps of a trial's block up to a multiple of `k_trial_steps`. Two, four or
/// eight workers may deliver their batches together, and a block must contain whole groups of them.
double whole(double steps, bool of_baseline) {
  const double unit = of_baseline ? 1.0 : k_trial_steps;
  return unit * std::ceil(steps / unit);
}

double counted(const LiveStep& step) {
  return step.samples.value_or(step.step);
}

}  // namespace

PairedBlocks::Stretch PairedBlocks::between(const LiveStep& from, const LiveStep& to) {
  return {to.step - from.step, counted(to) - counted(from), to.seconds - from.seconds};
}

void PairedBlocks::begin() {
  has_trial_ = true;
  waiting_.reset();
  done_ = {};
  seen_parts_ = {};
  reports_.clear();
}

void PairedBlocks::begin_trial(double level) {
  begin();
  level_ = level;
  filter_.begin_trial();
  // Before the baseline's first block is complete, the baseline continues; the trial follows it.
  if (has_baseline_) turn_to(Arm::trial);
}

void PairedBlocks::begin_alone(Alone settings) {
  begin();
  level_.reset();
  alone_ = settings;
  turn_to(Arm::trial);
}

void PairedBlocks::end_trial() {
  has_trial_ = false;
  if (arm_ == Arm::trial) turn_to(Arm::baseline);
  waiting_.reset();
  reports_.clear();
}

void PairedBlocks::turn_to(Arm arm) {
  arm_ = arm;
  points_.clear();
  warm_up_steps_ = warm_up_begin_ = 0.0;
}

bool PairedBlocks::add(const LiveStep& step) {
  if (step.warm_up) {
    if (warm_up_begin_ == 0.0) warm_up_begin_ = step.step;
    warm_up_steps_ = step.step - warm_up_begin_ + 1.0;
    points_.assign(1, step);
    return false;
  }
  // The block begins with the last step of the warm-up if that step was reported, otherwise with
  // this step.
  const bool gap =
      points_.size() == 1 && points_.front().warm_up && step.step > points_.front().step + 1.0;
  if (gap) points_.clear();
  points_.push_back(step);
  if (!is_complete()) return false;
  const Block block = cut();
  // Without a switch, the next block begins at the end of this one.
  points_.assign(1, step);
  return arm_ == Arm::trial && !level_ ? add_alone(block) : add_in_turn(block);
}

bool PairedBlocks::add_alone(const Block& block) {
  measured(block, 1.0);
  if (alone_ == Alone::baseline) add_baseline(block);
  return false;
}

void PairedBlocks::add_baseline(const Block& block) {
  filter_.add_baseline(block.rate(), block.total.steps, block.middle_s, block.within);
  has_baseline_ = true;
  baseline_step_s_ = block.total.seconds / block.total.steps;
}

bool PairedBlocks::add_in_turn(const Block& block) {
  if (arm_ == Arm::trial) {
    filter_.add_trial(block.rate(), block.total.steps, block.middle_s, block.within);
    if (done_.steps > 0.0) {
      measured(block, *level_ / filter_.level().value_or(*level_));
      compare();
    } else {
      waiting_ = block;
    }
    turn_to(Arm::baseline);
    return true;
  }
  add_baseline(block);
  if (!has_trial_) return false;
  if (waiting_) {
    measured(*waiting_, *level_ / filter_.level().value_or(*level_));
    waiting_.reset();
  }
  compare();
  turn_to(Arm::trial);
  return true;
}

double PairedBlocks::wanted_steps() const {
  const bool of_baseline = arm_ == Arm::baseline && has_trial_;
  const double shortest = of_baseline ? k_baseline_share : 1.0;
  const double least = shortest * std::max(k_trial_steps, k_trial_of_warm_up * warm_up_steps_);
  if (!has_trial_ || !level_ || done_.steps == 0.0) return whole(least, of_baseline);
  const double step_s = done_.seconds / done_.steps;
  const double most = std::min(k_longest_s, filter_.longest_block_s(step_s)) / step_s;
  const double grown = std::min(k_growth * done_.steps, most);
  const double share =
      of_baseline ? k_baseline_share / std::max(1.0, filter_.scatter_ratio()) : 1.0;
  return whole(std::max(least, share * grown), of_baseline);
}

bool PairedBlocks::is_complete() const {
  const Stretch total = between(points_.front(), points_.back());
  if (!(total.samples > 0.0) || !(total.seconds > 0.0)) return false;
  const bool of_baseline = arm_ == Arm::baseline && has_trial_;
  const double least_s = (of_baseline ? k_baseline_share : 1.0) * k_trial_s;
  if (total.steps >= wanted_steps() && total.seconds >= least_s) return true;
  const double expected_s =
      std::max(k_trial_s, std::max(k_trial_steps, total.steps) * baseline_step_s_);
  return arm_ == Arm::trial && level_ && baseline_step_s_ > 0.0 &&
         total.seconds >= k_slow_ratio * expected_s && total.steps >= 2.0;
}

PairedBlocks::Block PairedBlocks::cut() const {
  Block block;
  block.total = between(points_.front(), points_.back());
  block.middle_s = 0.5 * (points_.front().seconds + points_.back().seconds);
  for (const LiveStep& step : points_) {
    if (step.parts.empty()) continue;
    if (block.first_with_parts.parts.empty()) block.first_with_parts = step;
    block.last_with_parts = step;
  }
  const std::size_t intervals = points_.size() - 1;
  const std::size_t stretches = std::min(k_stretches, intervals);
  std::size_t from = 0;
  for (std::size_t i = 1; i <= stretches; ++i) {
    const std::size_t to = i * intervals / stretches;
    block.stretches.push_back(between(points_[from], points_[to]));
    from = to;
  }
  for (const Stretch& stretch : block.stretches) {
    if (!(stretch.samples > 0.0) || !(stretch.seconds > 0.0)) continue;
    const double off = stretch.seconds / stretch.samples / block.rate() - 1.0;
    block.within.squares += stretch.steps * off * off;
    block.within.freedom += 1.0;
  }
  block.within.freedom = std::max(0.0, block.within.freedom - 1.0);
  return block;
}

void PairedBlocks::measured(const Block& block, double scale) {
  const LiveStep& first = block.first_with_parts;
  const LiveStep& last = block.last_with_parts;
  seen_parts_.add(first.parts, last.parts, last.seconds - first.seconds);
  for (const Stretch& stretch : block.stretches) {
    done_.steps += stretch.steps;
    done_.samples += stretch.samples;
    done_.seconds += scale * stretch.seconds;
    report_done();
  }
}

void PairedBlocks::report_done() {
  Report report;
  report.received_s = done_.seconds;
  report.clock_s = done_.seconds;
  report.step = done_.steps;
  if (points_.front().samples) report.samples = done_.samples;
  report.parts = seen_parts_.of(done_.seconds);
  reports_.push_back(std::move(report));
}

void PairedBlocks::compare() {
  const auto ratio = filter_.ratio();
  if (!ratio || done_.steps == 0.0) return;
  // If no block of the trial is new, repeat its counters: only its estimate has improved.
  if (reports_.empty()) report_done();
  const double rate = *level_ * ratio->value;
  reports_.back().compared = ComparedRate{rate, rate * ratio->half_width};
}

std::vector<Report> PairedBlocks::take() {
  return std::exchange(reports_, {});
}

}  // namespace steptune::live
