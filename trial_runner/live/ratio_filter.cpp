// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/ratio_filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ranges>

#include <boost/math/distributions/binomial.hpp>

#include "trial_runner/measure/quantiles.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune::live {
namespace {

/// Most stored blocks, and blocks between two fits of the noise. They bound memory and time.
constexpr std::size_t k_most_blocks = 512;
constexpr std::size_t k_blocks_between_fits = 8;
/// Variance of an unknown ratio, before a trial's first block.
constexpr double k_unknown_variance = 25.0;
/// Variance by which a disturbance moves the log level.
constexpr double k_disturbance_variance = 0.25;
constexpr double k_disturbed_share = 0.05;  ///< assumed share of disturbed blocks
constexpr double k_disturbed_sigmas = 4.0;
/// If chance alone would give the trial's number of disturbed blocks with less than this
/// probability, the trial itself causes them.
constexpr double k_chance = 0.3;
/// Added to the baseline's count of disturbed blocks, because a count of 0 proves little.
constexpr double k_before_any = 0.25;
/// Weight, in blocks, of the expected scatter of a trial.
constexpr double k_prior_freedom = 3.0;
/// Weight, in quarters of blocks, of the assumption that a trial scatters like the baseline.
constexpr double k_like_baseline_freedom = 4.0;
/// Upper bound of the variance ratio. Steps within a block may scatter far more than blocks
/// (batches that arrive several at once). The lower bound is 1, because a trial that scatters less
/// may just have had no stall yet.
constexpr double k_most_variance_ratio = 16.0;
/// Factor that widens the interval. Callers may stop at any block, and so stop at a block where the
/// interval is tight by chance.
constexpr double k_widened_for_block_looks = 1.15;
/// Grid of the search for the most probable noise, and prior of a step's relative deviation, which
/// is usually near 7 %.
constexpr double k_least_step_deviation = 0.01, k_most_step_deviation = 0.6, k_step_factor = 1.35;
constexpr double k_least_wander_per_s = 1e-7, k_most_wander_per_s = 0.2, k_wander_factor = 4.0;
constexpr double k_usual_step_deviation = 0.07, k_usual_spread = 1.5;

double density(double squared, double variance) {
  return std::exp(-0.5 * squared / variance) / std::sqrt(variance);
}

}  // namespace

struct RatioFilter::State {
  double level = 0.0;  ///< log level of the baseline
  double log_ratio = 0.0;
  double level_variance = 0.0;
  double covariance = 0.0;
  double ratio_variance = 0.0;

  bool begun = false;
  double at_s = 0.0;
  double log_likelihood = 0.0;
  double baseline_blocks = 0.0;
  double baseline_steps = 0.0;
  double disturbed_baseline_blocks = 0.0;
  /// The following members belong to the last trial.
  double trial_blocks = 0.0;
  double trial_steps = 0.0;
  double disturbed_trial_blocks = 0.0;
  double squared_surprises = 0.0;  ///< sum over its blocks except the first, standardised
  double surprises = 0.0;
  bool between_baselines = false;
  double log_of_mean = 0.0;  ///< added to `log_ratio` to get the ratio of mean rates

  void begin_trial() {
    log_ratio = covariance = 0.0;
    ratio_variance = k_unknown_variance;
    trial_blocks = trial_steps = disturbed_trial_blocks = squared_surprises = surprises = 0.0;
    between_baselines = false;
  }

  void add(const Block& block, const Noise& noise, bool leaves_out) {
    const double correction = block.of_trial ? noise.trial_correction : 1.0;
    const double variance = correction * block.variance_ratio * noise.step_variance / block.steps;
    if (!begun) {
      begun = true;
      level = block.log_rate;
      level_variance = variance;
      at_s = block.at_s;
      return;
    }
    if (block.first_of_trial) begin_trial();
    level_variance += noise.wander_per_s * std::max(0.0, block.at_s - at_s);
    at_s = block.at_s;
    count(block);
    const double of_trial = block.of_trial ? 1.0 : 0.0;
    const double surprise = block.log_rate - level - of_trial * log_ratio;
    double with_level = level_variance + of_trial * covariance;
    double with_ratio = covariance + of_trial * ratio_variance;
    double total = with_level + of_trial * with_ratio + variance;
    // A trial's first block may have any value.
    if (!block.first_of_trial) {
      const double squared = surprise * surprise;
      log_likelihood +=
          std::log((1.0 - k_disturbed_share) * density(squared, total) +
                   k_disturbed_share * density(squared, total + k_disturbance_variance) + 1e-300);
      const bool disturbed = squared > k_disturbed_sigmas * k_disturbed_sigmas * total;
      if (block.of_trial && !(disturbed && leaves_out)) {
        squared_surprises += squared / total;
        surprises += 1.0;
      }
      if (disturbed && (leaves_out || !block.of_trial)) {
        level_variance += k_disturbance_variance;
        (block.of_trial ? disturbed_trial_blocks : disturbed_baseline_blocks) += 1.0;
        if (block.of_trial) return;
        with_level = level_variance;
        with_ratio = covariance;
        total = with_level + variance;
      }
    }
    const double to_level = with_level / total, to_ratio = with_ratio / total;
    level += to_level * surprise;
    log_ratio += to_ratio * surprise;
    level_variance -= to_level * with_level;
    covariance -= to_level * with_ratio;
    ratio_variance -= to_ratio * with_ratio;
  }

  void count(const Block& block) {
    (block.of_trial ? trial_blocks : baseline_blocks) += 1.0;
    (block.of_trial ? trial_steps : baseline_steps) += block.steps;
    if (!block.of_trial && trial_blocks > 0.0) between_baselines = true;
  }

  /// True if more of the trial's blocks look disturbed than the share of the baseline's blocks
  /// explains.
  [[nodiscard]] bool has_stalls_of_its_own() const {
    if (disturbed_trial_blocks == 0.0) return false;
    const double longer =
        (trial_steps / trial_blocks) / std::max(1.0, baseline_steps / baseline_blocks);
    const double share = std::clamp((disturbed_baseline_blocks + k_before_any) /
                                        (baseline_blocks + 1.0) * std::max(1.0, longer),
                                    0.0, 1.0);
    const boost::math::binomial chance(trial_blocks, share);
    return boost::math::cdf(boost::math::complement(chance, disturbed_trial_blocks - 1.0)) <
           k_chance;
  }
};

void RatioFilter::add_baseline(double seconds_per_sample, double steps, double at_s,
                               StepScatter within) {
  baseline_within_.squares += within.squares;
  baseline_within_.freedom += within.freedom;
  add({false, false, std::log(seconds_per_sample), steps, at_s});
}

void RatioFilter::add_trial(double seconds_per_sample, double steps, double at_s,
                            StepScatter within) {
  if (is_new_trial_) trial_within_ = {};
  trial_within_.squares += within.squares;
  trial_within_.freedom += within.freedom;
  add({true, is_new_trial_, std::log(seconds_per_sample), steps, at_s});
  is_new_trial_ = false;
  learn_scatter();
}

/// Compares the scatter within blocks of the trial and of the baseline. If neighbouring steps are
/// alike, both variances are too small, but not their ratio.
void RatioFilter::learn_scatter() {
  trial_variance_ratio_ = 1.0;
  if (baseline_within_.squares > 0.0 && trial_within_.freedom > 0.0) {
    const double baseline = baseline_within_.squares / baseline_within_.freedom;
    const double relative_scatter = (k_like_baseline_freedom + trial_within_.squares / baseline) /
                                    (k_like_baseline_freedom + trial_within_.freedom);
    trial_variance_ratio_ = std::clamp(relative_scatter, 1.0, k_most_variance_ratio);
  }
  for (Block& block : std::views::reverse(blocks_)) {
    if (!block.of_trial) continue;
    block.variance_ratio = trial_variance_ratio_;
    if (block.first_of_trial) break;
  }
}

double RatioFilter::scatter_ratio() const {
  return is_new_trial_ ? 1.0 : std::sqrt(trial_variance_ratio_);
}

double RatioFilter::longest_block_s(double step_s) const {
  return scatter_ratio() * std::sqrt(noise_.step_variance * step_s / noise_.wander_per_s);
}

void RatioFilter::add(Block block) {
  if (block.first_of_trial) forget_old();
  blocks_.push_back(block);
  if (++blocks_since_fit_ >= k_blocks_between_fits) fit();
}

void RatioFilter::forget_old() {
  if (blocks_.size() < k_most_blocks) return;
  // The remaining blocks must begin with the baseline, between two trials.
  for (std::size_t i = k_most_blocks / 2; i + 1 < blocks_.size(); ++i) {
    if (blocks_[i].of_trial || !blocks_[i + 1].first_of_trial) continue;
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

RatioFilter::State RatioFilter::replayed(const Noise& noise, bool leaves_out) const {
  State state;
  for (const Block& block : blocks_)
    state.add(block, noise, leaves_out);
  return state;
}

RatioFilter::State RatioFilter::compared() const {
  Noise noise = noise_;
  State state = replayed(noise, true);
  const bool leaves_out = !state.has_stalls_of_its_own();
  if (!leaves_out) state = replayed(noise, false);
  // Correct the variance for the trial's own scatter.
  noise.trial_correction =
      (k_prior_freedom + state.squared_surprises) / (k_prior_freedom + state.surprises);
  state = replayed(noise, leaves_out);
  // The mean of scattering rates exceeds the exponential of their mean logarithm by half their
  // variance. The excess is smaller for longer blocks, so it differs between trial and baseline.
  if (state.between_baselines) {
    const double of_trial =
        noise.trial_correction * trial_variance_ratio_ * state.trial_blocks / state.trial_steps;
    const double of_baseline = state.baseline_blocks / state.baseline_steps;
    state.log_of_mean = 0.5 * noise.step_variance * (of_trial - of_baseline);
  }
  return state;
}

std::optional<double> RatioFilter::level() const {
  if (blocks_.empty()) return std::nullopt;
  return std::exp(compared().level);
}

std::optional<TurnRatio> RatioFilter::ratio() const {
  if (blocks_.empty() || is_new_trial_) return std::nullopt;
  const State state = compared();
  if (!state.between_baselines) return std::nullopt;
  const double freedom = k_prior_freedom + state.surprises;
  // If the trial has a single block and the baseline has had disturbances, that block may be
  // disturbed, too. Rare disturbances do not matter for a 95 % interval.
  const bool may_be_disturbed =
      state.surprises == 0.0 &&
      state.disturbed_baseline_blocks > k_negligible_share * state.baseline_blocks;
  const double variance = state.ratio_variance + (may_be_disturbed ? k_disturbance_variance : 0.0);
  return TurnRatio{.value = std::exp(state.log_ratio + state.log_of_mean),
                   .half_width = k_widened_for_block_looks * student_quantile_95(freedom) *
                                 std::sqrt(std::max(0.0, variance))};
}

void RatioFilter::fit() {
  blocks_since_fit_ = 0;
  double likeliest = -1e300;
  for (double deviation = k_least_step_deviation; deviation < k_most_step_deviation;
       deviation *= k_step_factor) {
    for (double wander = k_least_wander_per_s; wander < k_most_wander_per_s;
         wander *= k_wander_factor) {
      const Noise noise{deviation * deviation, wander, 1.0};
      const double unusual = std::log(deviation / k_usual_step_deviation) / k_usual_spread;
      const double likelihood = replayed(noise, true).log_likelihood - 0.5 * unusual * unusual;
      if (likelihood <= likeliest) continue;
      likeliest = likelihood;
      noise_ = noise;
    }
  }
}

}  // namespace steptune::live
