// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/composite_learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace steptune::bayes {
namespace {

// What is added to each part before its logarithm is taken, as a share of the shortest step seen:
// parts far below it do not matter.
constexpr double k_softening_share = 0.02;
// A wait below this share of what it may hide behind does not tell how long the hidden work took.
constexpr double k_visible_wait = 0.1;
constexpr std::size_t k_draws = 16;
// A part that makes up less than this share of all time hides nothing worth knowing.
constexpr double k_least_cover = 0.1;

/// The largest number of trials up to `count` to which hyperparameters are fitted.
std::size_t last_fit(std::size_t count) {
  std::size_t at = 3;
  for (;;) {
    const std::size_t next = at + std::max<std::size_t>(1, at / 8);
    if (next > count) return at;
    at = next;
  }
}

/// Rows [first, last) as logarithms about the middle of each range.
Matrix logarithms(const std::vector<FeatureScale>& scales, const Matrix& features,
                  std::size_t first, std::size_t last) {
  Matrix result(last - first, features.cols());
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t f = 0; f < features.cols(); ++f)
      result(i - first, f) = scales[f].logarithm(features(i, f)) - 0.5 * scales[f].logarithm(1.0);
  }
  return result;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

Normal Mixture::moments(std::size_t row) const {
  const double* mean = means.data() + row * draws;
  Normal result{std::accumulate(mean, mean + draws, 0.0) / static_cast<double>(draws),
                variances[row]};
  for (std::size_t k = 0; k < draws; ++k) {
    const double deviation = mean[k] - result.mean;
    result.variance += deviation * deviation / static_cast<double>(draws);
  }
  return result;
}

double Mixture::log_density(std::size_t row, double log_value) const {
  // Of the moments: draws leave gaps where hardly anything else is uncertain.
  const Normal whole = moments(row);
  const double deviation = log_value - whole.mean;
  return -0.5 * (std::log(2.0 * std::numbers::pi * whole.variance) +
                 deviation * deviation / whole.variance);
}

Mixture CompositeModel::mix(const Matrix& features, std::size_t first,
                            const std::vector<Normal>& parts, const std::vector<Normal>& remainders,
                            double spread) const {
  const std::size_t count = parts_.size();
  Mixture mixture;
  mixture.draws = draws_->draws();
  mixture.means.reserve(remainders.size() * mixture.draws);
  std::vector<double> seconds(count);
  std::vector<double> deviations(count);
  for (std::size_t i = 0; i < remainders.size(); ++i) {
    const bool hides = composition_.hides(features.row(first + i));
    const Normal* part = parts.data() + i * count;
    for (std::size_t j = 0; j < count; ++j)
      deviations[j] = spread * std::sqrt(part[j].variance);
    for (std::size_t k = 0; k < mixture.draws; ++k) {
      const auto draw = draws_->draw(k);
      for (std::size_t j = 0; j < count; ++j) {
        const double log_seconds = std::min(part[j].mean + deviations[j] * draw[j], 500.0);
        seconds[j] = std::max(std::exp(log_seconds) - softening_, 0.0);
      }
      const double whole = std::max(compose(composition_, seconds, hides), 1e-3 * softening_);
      mixture.means.push_back(std::log(whole) + remainders[i].mean);
    }
    mixture.variances.push_back(std::max(spread * spread * remainders[i].variance, 1e-12));
  }
  return mixture;
}

Mixture CompositeModel::predict(const Matrix& features, std::size_t first, std::size_t last,
                                double spread) const {
  const Matrix rows = logarithms(scales_, features, first, last);
  const std::size_t count = parts_.size();
  std::vector<Normal> parts(rows.rows() * count);
  for (std::size_t j = 0; j < count; ++j) {
    const auto part = parts_[j]->predict(rows, 0, rows.rows());
    for (std::size_t i = 0; i < part.size(); ++i)
      parts[i * count + j] = part[i];
  }
  return mix(features, first, parts, remainder_->predict(rows, 0, rows.rows()), spread);
}

CompositeLearner::CompositeLearner(const FeatureGroups& groups, std::vector<FeatureScale> scales)
    : groups_(groups), scales_(std::move(scales)), features_(groups.group_of_feature.size()) {}

void CompositeLearner::add(std::span<const double> features, double value, double standard_error,
                           const std::map<std::string, double>& parts) {
  features_.append_row(features);
  const double error = standard_error / value;
  Trial trial{value, error >= 0.0 ? std::min(error, 1.0) : 0.0, {}};
  names_.clear();
  for (const auto& [name, seconds] : parts) {
    names_.push_back(name);
    trial.parts.push_back(seconds);
  }
  trials_.push_back(std::move(trial));
}

CompositeLearner::Context CompositeLearner::context(const Matrix& pending) const {
  Context context;
  context.rows = logarithms(scales_, features_, 0, trials_.size());
  context.pending = logarithms(scales_, pending, 0, pending.rows());
  context.fitted = last_fit(trials_.size());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < context.fitted; ++i)
    least = std::min(least, sum_of(trials_[i].parts));
  context.softening = k_softening_share * least;
  context.draws = std::make_shared<const NormalDraws>(k_draws, names_.size());
  return context;
}

std::vector<PartTarget> CompositeLearner::part_targets(std::size_t part, double softening) const {
  std::vector<PartTarget> targets;
  for (const Trial& trial : trials_) {
    const double seconds = trial.parts[part];
    const double error = trial.relative_error * seconds / (seconds + softening);
    const bool nothing = seconds < 1e-3 * softening;
    targets.push_back({nothing ? PartTarget::Kind::nothing : PartTarget::Kind::known,
                       {std::log(seconds + softening), error * error}});
  }
  return targets;
}

std::vector<PartTarget> CompositeLearner::hidden_targets(const Composition& composition,
                                                         double softening) const {
  std::vector<PartTarget> targets;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const double wait = trials_[i].parts[composition.hidden];
    const bool hides = composition.hides(features_.row(i));
    const double cover = hides ? trials_[i].parts[composition.cover] : 0.0;
    const double error =
        trials_[i].relative_error * std::hypot(wait, cover) / (wait + cover + softening);
    const bool visible = !hides || wait > k_visible_wait * cover;
    targets.push_back({visible ? PartTarget::Kind::known : PartTarget::Kind::at_most,
                       {std::log(wait + cover + softening), error * error}});
  }
  return targets;
}

std::vector<PartTarget> CompositeLearner::remainder_targets(const Composition& composition,
                                                            double softening) const {
  std::vector<PartTarget> targets;
  for (const Trial& trial : trials_) {
    // Waits, not what is hidden behind them: they add up whatever they wait for.
    const bool longest = composition.structure == Structure::maximum;
    const double whole = std::max(
        longest ? compose(composition, trial.parts, false) : sum_of(trial.parts), 1e-3 * softening);
    double squares = 1.0;
    for (const double seconds : trial.parts)
      squares += longest ? 0.0 : std::pow(seconds / whole, 2);
    if (longest) squares += 1.0;
    targets.push_back(
        {PartTarget::Kind::known,
         {std::log(trial.value / whole), trial.relative_error * trial.relative_error * squares}});
  }
  return targets;
}

std::vector<Composition> CompositeLearner::compositions() const {
  std::vector<Composition> result{{}, {Structure::maximum, 0, 0, {}}};
  std::vector<double> totals(names_.size());
  for (const Trial& trial : trials_) {
    for (std::size_t j = 0; j < totals.size(); ++j)
      totals[j] += trial.parts[j] / sum_of(trial.parts);
  }
  // Waits for data are what programs call `data` (docs/reporting.md).
  const auto wait = std::find(names_.begin(), names_.end(), "data");
  if (wait == names_.end()) return result;
  const auto hidden = static_cast<std::size_t>(wait - names_.begin());
  std::size_t cover = hidden == 0 ? 1 : 0;
  for (std::size_t j = 0; j < totals.size(); ++j) {
    if (j != hidden && totals[j] > totals[cover]) cover = j;
  }
  if (totals[cover] < k_least_cover * static_cast<double>(trials_.size())) return result;
  result.push_back({Structure::hidden, hidden, cover, {}});
  for (std::size_t f = 0; f < scales_.size(); ++f) {
    if (scales_[f].none)
      result.push_back({Structure::hidden, hidden, cover, {{f, *scales_[f].none}}});
  }
  return result;
}

std::optional<PartLearner::Learnt> CompositeLearner::learn(const std::string& name,
                                                           const std::vector<PartTarget>& targets,
                                                           const Context& context) {
  auto& learner = learners_.try_emplace(name, groups_).first->second;
  return learner.learn(context.rows, targets, context.fitted, std::log(context.softening),
                       context.pending);
}

CompositeModel CompositeLearner::assemble(const Composition& composition,
                                          const std::vector<PartLearner::Learnt>& parts,
                                          const PartLearner::Learnt& remainder,
                                          const Context& context) const {
  CompositeModel model;
  model.composition_ = composition;
  model.softening_ = context.softening;
  model.scales_ = scales_;
  model.draws_ = context.draws;
  model.remainder_ = remainder.model;
  for (const auto& part : parts)
    model.parts_.push_back(part.model);
  std::vector<Normal> left_out;
  std::vector<Normal> remainders = remainder.leave_one_out;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    for (const auto& part : parts)
      left_out.push_back(part.leave_one_out[i]);
    remainders[i].variance += trials_[i].relative_error * trials_[i].relative_error;
  }
  const Mixture mixture = model.mix(features_, 0, left_out, remainders, 1.0);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const double log_value = std::log(trials_[i].value);
    model.evidence_ += mixture.log_density(i, log_value) - log_value;
  }
  model.evidence_ /= static_cast<double>(trials_.size());
  return model;
}

std::vector<CompositeModel> CompositeLearner::models(const Matrix& pending) {
  const Context context = this->context(pending);
  std::vector<PartLearner::Learnt> parts;
  for (std::size_t j = 0; j < names_.size(); ++j) {
    auto learnt = learn("part " + names_[j], part_targets(j, context.softening), context);
    if (!learnt) return {};
    parts.push_back(*std::move(learnt));
  }
  const auto sum = learn("beside the sum", remainder_targets({}, context.softening), context);
  const auto longest =
      learn("beside the longest",
            remainder_targets({Structure::maximum, 0, 0, {}}, context.softening), context);
  std::vector<CompositeModel> result;
  std::optional<CompositeModel> hiding;
  for (const Composition& composition : compositions()) {
    const bool maximum = composition.structure == Structure::maximum;
    if (composition.structure != Structure::hidden) {
      result.push_back(assemble(composition, parts, maximum ? *longest : *sum, context));
      continue;
    }
    std::string name = "hidden";
    if (composition.sequential) name += std::to_string(composition.sequential->first);
    auto hidden = learn(name, hidden_targets(composition, context.softening), context);
    if (!hidden) continue;
    auto composed = parts;
    composed[composition.hidden] = *std::move(hidden);
    CompositeModel model = assemble(composition, composed, *sum, context);
    if (!hiding || model.evidence() > hiding->evidence()) hiding = std::move(model);
  }
  if (hiding) result.push_back(*std::move(hiding));
  std::stable_sort(
      result.begin(), result.end(),
      [](const CompositeModel& a, const CompositeModel& b) { return a.evidence() > b.evidence(); });
  return result;
}

}  // namespace steptune::bayes
