// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/setting_changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/interval.hpp"
#include "tuner/verdict/counted_runs.hpp"

namespace steptune {
namespace {

/// Standard deviation of a setting's gain before any trial: a setting rarely more than doubles the
/// speed.
const double k_usual_gain = std::log(2.0);
/// Smallest relative error of a value: launches on a quiet server differ by as much.
constexpr double k_least_error = 0.01;

/// Returns the coordinates of the unchanged settings. Conditional settings that the baseline lacks
/// have their least value.
Point unchanged_point(const StudySpec& study) {
  Point point = study.space.encode(study.baseline);
  for (double& coordinate : point)
    coordinate = coordinate == k_inactive ? 0.0 : coordinate;
  return point;
}

/// Returns the name of a value's effect: `malloc=jemalloc`.
std::string effect_name(const std::string& name, const Value& value) {
  return name + "=" + to_text(value);
}

/// Returns the names of the effects of all changes.
std::vector<std::string> effect_names(const StudySpec& study, const Configuration& configuration) {
  std::vector<std::string> names;
  for (const std::string& name : changed_settings(study, configuration))
    names.push_back(effect_name(name, *configuration.find(name)));
  return names;
}

using Rows = std::vector<std::vector<double>>;

/// Returns the inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination.
Rows inverse_of(Rows matrix) {
  const std::size_t size = matrix.size();
  Rows inverse(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i)
    inverse[i][i] = 1.0;
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    const double scale = 1.0 / matrix[pivot][pivot];
    for (std::size_t column = 0; column < size; ++column) {
      matrix[pivot][column] *= scale;
      inverse[pivot][column] *= scale;
    }
    for (std::size_t row = 0; row < size; ++row) {
      const double factor = matrix[row][pivot];
      if (row == pivot || factor == 0.0) continue;
      for (std::size_t column = 0; column < size; ++column) {
        matrix[row][column] -= factor * matrix[pivot][column];
        inverse[row][column] -= factor * inverse[pivot][column];
      }
    }
  }
  return inverse;
}

/// One trial's gain and the effects that it shows.
struct ShownGain {
  const TrialRecord* trial = nullptr;
  double gain = 0.0;
  double variance = 0.0;
  bool is_fresh = false;  ///< compared with a fresh run of the baseline
  std::vector<std::size_t> effects{};
};

double relative_variance(const Standing& standing, const TrialRecord& trial,
                         std::size_t objective) {
  const double error = standing.error(trial, objective) / standing.value(trial, objective);
  const double known = std::isfinite(error) ? std::max(error, k_least_error) : k_usual_gain;
  return known * known;
}

bool has_value(const Standing& standing, const TrialRecord& trial, std::size_t objective) {
  const bool measured = is_ranked(trial.status) || trial.status == TrialStatus::infeasible;
  return measured && objective < trial.objectives.size() && standing.value(trial, objective) > 0.0;
}

/// Returns the baseline's run that a trial is compared with; null if there is none. `fresh`: the
/// confirming runs that count.
const TrialRecord* compared_with(const Standing& standing,
                                 const std::vector<const TrialRecord*>& fresh,
                                 const TrialRecord& trial) {
  if (is_searched(trial.purpose)) return standing.baseline();
  const bool counts = trial.purpose == TrialPurpose::confirm_incumbent &&
                      std::ranges::find(fresh, &trial) != fresh.end();
  if (!counts) return nullptr;
  const auto run = std::ranges::find_if(fresh, [&](const TrialRecord* other) {
    return other->purpose == TrialPurpose::confirm_baseline &&
           other->confirm_pair == trial.confirm_pair;
  });
  return run == fresh.end() ? nullptr : *run;
}

std::vector<ShownGain> shown_gains(const Standing& standing, std::size_t objective) {
  std::vector<ShownGain> shown;
  const std::vector<const TrialRecord*> fresh = counted_runs(standing.trials());
  for (const TrialRecord& trial : standing.trials()) {
    const TrialRecord* other = compared_with(standing, fresh, trial);
    if (other == nullptr || !has_value(standing, trial, objective) ||
        !has_value(standing, *other, objective)) {
      continue;
    }
    const bool is_fresh = is_confirmation(trial.purpose);
    const double ratio = standing.value(*other, objective) / standing.value(trial, objective);
    const double others = is_fresh ? relative_variance(standing, *other, objective) : 0.0;
    shown.push_back({&trial, std::log(ratio),
                     relative_variance(standing, trial, objective) + others, is_fresh});
  }
  return shown;
}

}  // namespace

std::vector<std::string> changed_settings(const StudySpec& study,
                                          const Configuration& configuration) {
  const Point unchanged = unchanged_point(study);
  const Point point = study.space.encode(configuration);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (point[i] == k_inactive || point[i] == unchanged[i]) continue;
    names.push_back(study.space.parameters()[i].name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<Configuration> with_changes(const StudySpec& study,
                                          const Configuration& configuration,
                                          const std::set<std::string>& kept) {
  Point point = unchanged_point(study);
  const Point changed = study.space.encode(configuration);
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (changed[i] != k_inactive && kept.contains(study.space.parameters()[i].name)) {
      point[i] = changed[i];
    }
  }
  Configuration result = study.space.decode(point);
  if (!study.space.contains(result)) return std::nullopt;
  return result;
}

SettingEffects::SettingEffects(const StudySpec& study, const Standing& standing,
                               std::size_t objective) {
  std::vector<ShownGain> shown = shown_gains(standing, objective);
  if (shown.empty()) return;
  for (ShownGain& gain : shown) {
    for (const std::string& name : effect_names(study, gain.trial->configuration)) {
      const auto known = std::ranges::find(effect_names_, name);
      gain.effects.push_back(static_cast<std::size_t>(known - effect_names_.begin()));
      if (known == effect_names_.end()) effect_names_.push_back(name);
    }
  }
  // The last column is the error of the search's baseline, which all gains of search trials share.
  const std::size_t size = effect_names_.size() + 1;
  Rows information(size, std::vector<double>(size, 0.0));
  std::vector<double> evidence(size, 0.0);
  for (std::size_t i = 0; i + 1 < size; ++i)
    information[i][i] = 1.0 / (k_usual_gain * k_usual_gain);
  information[size - 1][size - 1] =
      1.0 / relative_variance(standing, *standing.baseline(), objective);
  for (ShownGain& gain : shown) {
    if (!gain.is_fresh) gain.effects.push_back(size - 1);
    for (const std::size_t row : gain.effects) {
      evidence[row] += gain.gain / gain.variance;
      for (const std::size_t column : gain.effects)
        information[row][column] += 1.0 / gain.variance;
    }
  }
  const Rows covariance = inverse_of(std::move(information));
  std::vector<double> means(size, 0.0);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column)
      means[row] += covariance[row][column] * evidence[column];
  }
  // Interactions of settings make the residuals larger than noise does, so widen the errors.
  double misfit = 0.0;
  for (const ShownGain& gain : shown) {
    double residual = gain.gain;
    for (const std::size_t effect : gain.effects)
      residual -= means[effect];
    misfit += residual * residual / gain.variance;
  }
  const double freedom =
      std::max(1.0, static_cast<double>(shown.size()) - static_cast<double>(effect_names_.size()));
  const double widening = std::sqrt(std::max(1.0, misfit / freedom));
  for (std::size_t i = 0; i < effect_names_.size(); ++i)
    effects_.push_back({means[i], widening * std::sqrt(covariance[i][i])});
}

MeasuredValue SettingEffects::of(const Configuration& configuration,
                                 const std::string& name) const {
  const auto effect = effect_name(name, *configuration.find(name));
  const auto known = std::ranges::find(effect_names_, effect);
  if (known == effect_names_.end()) return {0.0, k_usual_gain};
  return effects_[static_cast<std::size_t>(known - effect_names_.begin())];
}

std::optional<Configuration> fewer_changes(const StudySpec& study, const Standing& standing) {
  const TrialRecord* incumbent = standing.incumbent();
  const TrialRecord* baseline = standing.baseline();
  if (incumbent == nullptr || baseline == nullptr) return std::nullopt;
  const auto reductions =
      std::ranges::count(standing.trials(), k_fewest_changes, &TrialRecord::origin);
  std::vector<std::string> changes = changed_settings(study, incumbent->configuration);
  if (reductions >= k_most_reductions || changes.size() < 2) return std::nullopt;
  const SettingEffects effects(study, standing);
  std::map<std::string, MeasuredValue> effect;
  for (const std::string& name : changes)
    effect.emplace(name, effects.of(incumbent->configuration, name));
  std::ranges::stable_sort(changes, {},
                           [&](const std::string& name) { return effect[name].value; });
  // The changes are in order of gain, least first. A change is needed if the interval of its gain
  // lies above 0.
  std::vector<std::string> needless = changes;
  std::erase_if(needless, [&](const std::string& name) {
    return effect[name].value - k_z_95 * effect[name].error > 0.0;
  });
  // At least one change makes the incumbent faster, so reset at most half of them.
  if (needless.size() == changes.size()) needless.resize(needless.size() / 2);
  for (; !needless.empty(); needless.resize(needless.size() / 2)) {
    std::set<std::string> kept(changes.begin(), changes.end());
    for (const std::string& name : needless)
      kept.erase(name);
    auto reduced = with_changes(study, incumbent->configuration, kept);
    if (!reduced) continue;
    const bool tried = std::ranges::find(standing.trials(), *reduced,
                                         &TrialRecord::configuration) != standing.trials().end();
    if (!tried) return reduced;
  }
  return std::nullopt;
}

Reduction reduction_of(const StudySpec& study, const Standing& standing,
                       const TrialRecord& chosen) {
  Reduction reduction;
  const auto changes = changed_settings(study, chosen.configuration);
  if (chosen.origin == k_fewest_changes) {
    reduction.state = ReductionState::reset;
    // Find the best search trial whose changes include all changes of the chosen trial.
    const auto candidates = standing.candidates();
    const auto from = std::ranges::find_if(candidates, [&](const TrialRecord* trial) {
      const auto former = changed_settings(study, trial->configuration);
      return trial->origin != k_fewest_changes && former.size() > changes.size() &&
             std::ranges::includes(former, changes);
    });
    if (from == candidates.end()) return reduction;
    reduction.from_trial = (*from)->number;
    for (const std::string& name : changed_settings(study, (*from)->configuration)) {
      if (std::ranges::binary_search(changes, name)) continue;
      const Value* now = chosen.configuration.find(name);
      reduction.reset.push_back({name, *(*from)->configuration.find(name),
                                 now == nullptr ? std::nullopt : std::optional(*now)});
    }
    return reduction;
  }
  const bool tried = std::ranges::find(standing.trials(), k_fewest_changes, &TrialRecord::origin) !=
                     standing.trials().end();
  if (changes.size() < 2) return reduction;
  if (tried) {
    reduction.state = ReductionState::all_needed;
  } else if (fewer_changes(study, standing)) {
    reduction.state = ReductionState::no_time;
  }
  return reduction;
}

}  // namespace steptune
