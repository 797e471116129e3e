// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_prior.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "common/numbers.hpp"
#include "tuner/loop/earlier_studies.hpp"
#include "tuner/retune/night_times.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_trials = 200;
/// Largest number of groups. The searcher fits a model to each group.
constexpr std::size_t k_most_groups = 3;

/// A study in the history with trials of a night, and what is known about that night.
struct Source {
  std::string study;
  double baseline = k_nan;  ///< mean logarithm of the baseline's time on that night; NaN: unknown
  bool is_own = false;
  std::string changes;  ///< changes since that night; nights with the same changes share a group
};

/// Returns the changes of machine and study file; empty if no change is known.
std::string changes_until(const Night& tonight, const MachineDescription& machine,
                          const std::string& fingerprint) {
  std::string changes = to_text(machine_changes(machine, tonight.machine));
  if (fingerprint != tonight.fingerprint) changes += "; study file";
  return changes;
}

/// Returns the changes since a study was last tuned; nullopt if they are unknown.
std::optional<std::string> changes_since_tuning(const std::string& study, const History& history,
                                                const Night& tonight) {
  const auto record = history.study(study);
  if (!record) return std::nullopt;
  const auto machine = last_machine_of(history, record->id);
  if (!machine) return std::nullopt;
  return changes_until(tonight, *machine, record->fingerprint);
}

/// Returns the sources, the latest first. Going back from tonight, nights count like tonight until
/// something differs.
std::vector<Source> sources_of(const StudySpec& study, const History& history,
                               const std::vector<Night>& nights, const Night& tonight) {
  std::vector<Source> sources;
  // If the configuration in use got slower or fails, the best configurations of former nights must
  // be tried again.
  bool same = !tonight.slowdown && !tonight.lead_shrank && tonight.broken.empty();
  for (const Night& night : std::views::reverse(nights)) {
    if (night.number == tonight.number || night.study.empty()) continue;
    std::string changes = changes_until(tonight, night.machine, night.fingerprint);
    same = same && changes.empty();
    sources.push_back({night.study, mean_log(night.times.baseline), same, std::move(changes)});
    // A night may have shown a slowdown or a failure of the configuration in use. Then only that
    // night and later nights count like tonight.
    same = same && !night.slowdown && night.broken.empty();
  }
  const auto add_tuned = [&](const std::string& name, bool may_be_own) {
    if (std::ranges::find(sources, name, &Source::study) != sources.end()) return;
    auto changes = changes_since_tuning(name, history, tonight);
    const bool is_own = may_be_own && same && changes && changes->empty();
    sources.push_back({name, k_nan, is_own, changes.value_or("unknown")});
  };
  const std::string& other = tonight.before.study;
  if (!other.empty() && other != study.name) add_tuned(other, false);
  add_tuned(study.name, true);
  return sources;
}

/// Multiplies the times and costs of `observation` by `factor`.
void scale(const StudySpec& study, double factor, Observation& observation) {
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    if (!study.objectives[i].is_time() && !study.objectives[i].is_cost()) continue;
    const auto apply = [&](std::vector<double>& values) {
      if (i < values.size()) values[i] *= factor;
    };
    apply(observation.values);
    apply(observation.standard_errors);
    for (Milestone& milestone : observation.milestones) {
      apply(milestone.values);
      apply(milestone.standard_errors);
    }
  }
}

Result<std::vector<Observation>> observations_of(const StudySpec& study, const History& history,
                                                 const Source& source, double tonight) {
  const auto record = history.study(source.study);
  if (!record) {
    // Old nights keep their record and lose their trials.
    if (record.error().kind == ErrorKind::not_found) return std::vector<Observation>{};
    return tl::unexpected(record.error());
  }
  const auto earlier = study_from_json(record->document, "/stored/" + source.study, study.facts);
  if (!earlier) return std::vector<Observation>{};
  const auto trials = history.trials(record->id);
  if (!trials) return tl::unexpected(trials.error());
  double level = source.baseline;
  if (!std::isfinite(level)) level = mean_log(baseline_times(*trials));
  auto observations = translate_trials(study, *earlier, *trials);
  if (!observations || !std::isfinite(level)) return std::vector<Observation>{};
  for (Observation& observation : *observations)
    scale(study, std::exp(tonight - level), observation);
  return observations;
}

/// Keeps the latest observation of each configuration, in order of time. An observation that was
/// stopped early does not replace a complete one.
void keep_latest(std::vector<Observation>& observations) {
  std::map<Configuration, std::size_t> latest;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto [found, is_new] = latest.try_emplace(observations[i].configuration, i);
    const bool fuller = observations[i].kind != ObservationKind::partial ||
                        observations[found->second].kind == ObservationKind::partial;
    if (!is_new && fuller) found->second = i;
  }
  std::vector<std::size_t> kept;
  for (const auto& [configuration, index] : latest)
    kept.push_back(index);
  std::ranges::sort(kept);
  if (kept.size() > k_most_trials) {
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(k_most_trials));
  }
  std::vector<Observation> result;
  for (const std::size_t index : kept)
    result.push_back(std::move(observations[index]));
  observations = std::move(result);
}

}  // namespace

void NightPrior::teach(Searcher& searcher) const {
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    for (const Observation& observation : earlier[i])
      searcher.observe_earlier(i, observation);
  }
  for (const Observation& observation : own)
    searcher.observe(observation);
}

Result<NightPrior> night_prior(const StudySpec& study, const History& history,
                               const std::vector<Night>& nights, const Night& tonight) {
  NightPrior prior;
  const double level = mean_log(tonight.times.baseline);
  if (!std::isfinite(level)) return prior;
  std::vector<Source> sources = sources_of(study, history, nights, tonight);
  std::vector<std::string> groups;
  for (const Source& source : sources) {
    const bool is_new = std::ranges::find(groups, source.changes) == groups.end();
    if (!source.is_own && is_new && groups.size() < k_most_groups) groups.push_back(source.changes);
  }
  prior.earlier.resize(groups.size());
  for (const Source& source : std::views::reverse(sources)) {
    auto observations = observations_of(study, history, source, level);
    if (!observations) return tl::unexpected(observations.error());
    std::vector<Observation>* target = &prior.own;
    if (!source.is_own) {
      const auto group = std::ranges::find(groups, source.changes) - groups.begin();
      target = &prior.earlier[std::min(static_cast<std::size_t>(group), groups.size() - 1)];
    }
    std::ranges::move(*observations, std::back_inserter(*target));
  }
  keep_latest(prior.own);
  for (std::vector<Observation>& group : prior.earlier)
    keep_latest(group);
  std::erase_if(prior.earlier, [](const auto& group) { return group.empty(); });
  return prior;
}

}  // namespace steptune
