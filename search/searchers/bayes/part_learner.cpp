// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/part_learner.hpp"

#include <algorithm>
#include <cmath>

#include "search/searchers/bayes/normal.hpp"

namespace steptune::bayes {
namespace {

constexpr std::size_t k_fewest_known = 2;
constexpr int k_fit_evaluations = 30;
// Hyperparameters are fitted to at most this many trials, the last ones: a likelihood costs their
// number cubed.
constexpr std::size_t k_fit_limit = 64;
// A bound that changes the variance of a prediction by less than this share tells nothing.
constexpr double k_least_told = 1e-3;

/// The dimension with the fewest values at which the part is nothing, and at which it is only
/// there.
std::optional<ZeroRule> find_zero_rule(const Matrix& rows, const FeatureGroups& groups,
                                       const std::vector<PartTarget>& targets) {
  const auto nothing = [&](std::size_t i) { return targets[i].kind == PartTarget::Kind::nothing; };
  std::optional<ZeroRule> best;
  for (const auto& [first, last] : ranges_of(groups)) {
    ZeroRule rule;
    rule.first = first;
    rule.last = last;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!nothing(i) || rule.applies(rows.row(i))) continue;
      const auto own = rows.row(i).subspan(rule.first, rule.last - rule.first);
      rule.values.emplace_back(own.begin(), own.end());
    }
    bool separates = true;
    for (std::size_t i = 0; i < targets.size() && separates; ++i)
      separates = nothing(i) || !rule.applies(rows.row(i));
    if (separates && (!best || rule.values.size() < best->values.size())) best = std::move(rule);
  }
  return best;
}

/// Training rows with the trials that they come from.
struct Examples {
  TrainingSet training;
  std::vector<std::size_t> trials;
  double centre = 0.0;

  void add(const Matrix& rows, std::size_t trial, const Normal& target) {
    training.features.append_row(rows.row(trial));
    training.targets.push_back(target.mean);
    training.noise_variances.push_back(target.variance);
    trials.push_back(trial);
  }
};

/// The normal by which a prediction has to be multiplied to have the moments of its truncation
/// above `bound`; nothing where that hardly differs.
std::optional<Normal> site_of(const Normal& prediction, double bound) {
  const double deviation = std::sqrt(prediction.variance);
  const double z = (bound - prediction.mean) / deviation;
  const double ratio = slope_of_log_cdf(z, log_normal_cdf(z));
  const double shrinkage = std::clamp(ratio * (z + ratio), 0.0, 1.0 - 1e-6);
  if (shrinkage < k_least_told) return std::nullopt;
  const double variance = prediction.variance * (1.0 - shrinkage);
  const double mean = prediction.mean - deviation * ratio;
  const double site = 1.0 / (1.0 / variance - 1.0 / prediction.variance);
  return Normal{site * (mean / variance - prediction.mean / prediction.variance), site};
}

Examples known_examples(const Matrix& rows, const std::vector<PartTarget>& targets,
                        std::size_t count, const std::optional<ZeroRule>& zero,
                        double log_of_nothing) {
  Examples examples;
  examples.training.features = Matrix(rows.cols());
  for (std::size_t i = 0; i < count; ++i) {
    if (targets[i].kind == PartTarget::Kind::known) examples.add(rows, i, targets[i].value);
    if (targets[i].kind == PartTarget::Kind::nothing && !zero)
      examples.add(rows, i, {log_of_nothing, 0.0});
  }
  for (const double target : examples.training.targets)
    examples.centre += target / static_cast<double>(examples.trials.size());
  for (double& target : examples.training.targets)
    target -= examples.centre;
  return examples;
}

void add_hidden(const Matrix& rows, const std::vector<PartTarget>& targets, std::size_t count,
                const PowerLawProcess& process, Examples& examples) {
  for (std::size_t i = 0; i < count; ++i) {
    if (targets[i].kind != PartTarget::Kind::at_most) continue;
    const Posterior posterior = process.predict(rows, i, i + 1);
    const auto site = site_of({posterior.means[0], posterior.variances[0]},
                              targets[i].value.mean - examples.centre);
    if (site) examples.add(rows, i, *site);
  }
}

TrainingSet last_of(const TrainingSet& training) {
  if (training.size() <= k_fit_limit) return training;
  TrainingSet result;
  result.features = Matrix(training.features.cols());
  for (std::size_t i = training.size() - k_fit_limit; i < training.size(); ++i) {
    result.features.append_row(training.features.row(i));
    result.targets.push_back(training.targets[i]);
    result.noise_variances.push_back(training.noise_variances[i]);
  }
  return result;
}

}  // namespace

bool ZeroRule::applies(std::span<const double> features) const {
  const auto own = features.subspan(first, last - first);
  return std::any_of(values.begin(), values.end(), [&](const std::vector<double>& value) {
    return std::equal(own.begin(), own.end(), value.begin(), value.end());
  });
}

std::vector<Normal> PartModel::predict(const Matrix& rows, std::size_t first,
                                       std::size_t last) const {
  const Posterior posterior = process.predict(rows, first, last);
  std::vector<Normal> result;
  for (std::size_t i = first; i < last; ++i) {
    if (zero && zero->applies(rows.row(i))) {
      result.push_back({log_of_nothing, 0.0});
    } else {
      result.push_back({centre + posterior.means[i - first], posterior.variances[i - first]});
    }
  }
  return result;
}

std::optional<PartLearner::Learnt> PartLearner::learn(const Matrix& rows,
                                                      const std::vector<PartTarget>& targets,
                                                      std::size_t fitted, double log_of_nothing,
                                                      const Matrix& pending) {
  const std::size_t count = targets.size();
  const auto any = [&](PartTarget::Kind kind, std::size_t limit) {
    return std::any_of(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(limit),
                       [&](const PartTarget& target) { return target.kind == kind; });
  };
  std::optional<ZeroRule> zero;
  if (any(PartTarget::Kind::nothing, count) && any(PartTarget::Kind::known, fitted)) {
    zero = find_zero_rule(rows, groups_, targets);
  }
  const bool hidden = any(PartTarget::Kind::at_most, count);
  if (fitted_ != fitted) {
    Examples examples = known_examples(rows, targets, fitted, zero, log_of_nothing);
    if (examples.trials.empty() || (hidden && examples.trials.size() < k_fewest_known)) {
      return std::nullopt;
    }
    hyperparameters_ = PowerLawProcess::fit(last_of(examples.training), groups_, k_fit_evaluations);
    if (any(PartTarget::Kind::at_most, fitted)) {
      const PowerLawProcess process(examples.training, groups_, hyperparameters_);
      add_hidden(rows, targets, fitted, process, examples);
      hyperparameters_ =
          PowerLawProcess::fit(last_of(examples.training), groups_, k_fit_evaluations);
    }
    fitted_ = fitted;
  }
  Examples examples = known_examples(rows, targets, count, zero, log_of_nothing);
  PowerLawProcess process(examples.training, groups_, hyperparameters_);
  if (hidden) {
    add_hidden(rows, targets, count, process, examples);
    process = PowerLawProcess(examples.training, groups_, hyperparameters_);
  }
  PartModel model{std::move(process), examples.centre, log_of_nothing, std::move(zero)};
  Learnt result;
  result.leave_one_out = model.predict(rows, 0, count);
  const Posterior loo = model.process.leave_one_out();
  for (std::size_t k = 0; k < examples.trials.size(); ++k) {
    const double variance = loo.variances[k] - examples.training.noise_variances[k];
    result.leave_one_out[examples.trials[k]] = {model.centre + loo.means[k],
                                                std::max(variance, 1e-8)};
  }
  if (pending.rows() > 0) {
    const Posterior expected = model.process.predict(pending, 0, pending.rows());
    for (std::size_t i = 0; i < pending.rows(); ++i) {
      examples.training.features.append_row(pending.row(i));
      examples.training.targets.push_back(expected.means[i]);
      examples.training.noise_variances.push_back(0.0);
    }
    model.process = PowerLawProcess(examples.training, groups_, hyperparameters_);
  }
  result.model = std::make_shared<const PartModel>(std::move(model));
  return result;
}

}  // namespace steptune::bayes
