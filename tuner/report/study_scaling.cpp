// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "search/scaling/scaling_law.hpp"
#include "tuner/study/counting_parameter.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

Result<std::string> parameter_to_scale(const StudySpec& study, const std::string& over) {
  std::vector<std::string> numeric;
  for (const Parameter& parameter : study.space.parameters()) {
    if (is_numeric(parameter)) numeric.push_back(parameter.name);
  }
  const std::string& named = over.empty() ? study.search.over : over;
  if (!named.empty()) {
    if (std::ranges::find(numeric, named) != numeric.end()) return named;
    const bool there = study.space.find(named) != nullptr;
    const auto nearest = nearest_name(named, numeric);
    return fail(ErrorKind::usage,
                there ? fmt::format("the parameter \"{}\" has values that are not numbers", named)
                      : fmt::format("the study has no parameter \"{}\"", named),
                over.empty() ? "/search/over" : "--over",
                nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                        : "name the parameter that counts machines, GPUs or processes");
  }
  if (auto found = counting_parameter(study)) return *std::move(found);
  return fail(ErrorKind::usage, "the study does not say which parameter counts machines", "",
              numeric.empty() ? "no parameter has numbers as values"
                              : fmt::format("give it with --over; parameters with numbers: {}",
                                            fmt::join(numeric, ", ")));
}

MeasuredValue own_time(const StudySpec& study, const TrialRecord& trial, const Standing& standing) {
  const TrialRecord* baseline = standing.baseline();
  return planned_time(
      study.planned_run, *trial.measurement,
      baseline != nullptr && baseline->measurement ? &*baseline->measurement : nullptr);
}

/// True for a trial that can represent its configuration, including repetitions. A trial that only
/// misses the planned run's limits counts, too: the curve should show if more machines meet them.
bool is_sound(const StudySpec& study, const TrialRecord& trial, const Standing& standing,
              const std::set<Configuration>& refuted) {
  if (!trial.measurement || !(trial.measurement->seconds_per_sample > 0.0)) return false;
  if (refuted.contains(trial.configuration)) return false;
  if (trial.status != TrialStatus::infeasible) return is_ranked(trial.status);
  const auto objective = time_objective(study);
  const MeasuredValue time = objective && *objective < trial.objectives.size()
                                 ? MeasuredValue{trial.objectives[*objective], 0.0}
                                 : own_time(study, trial, standing);
  return missed_limit(study.planned_run, time, usd_per_hour(study, trial.configuration)) ==
         trial.failure;
}

/// Returns the seconds of the planned run (or of a million samples). The error includes the
/// variation among launches. For a trial without an error of its own, such as an imported trial,
/// the error is only this variation.
MeasuredValue time_of(const StudySpec& study, const TrialRecord& trial, const Standing& standing) {
  const auto objective = time_objective(study);
  MeasuredValue time;
  if (objective && *objective < trial.objectives.size()) {
    time = {standing.value(trial, *objective), standing.error(trial, *objective)};
  } else {
    time = own_time(study, trial, standing);
    time.error = error_among_launches(time.value, time.error, standing.launches());
  }
  if (!(time.error > 0.0) || !std::isfinite(time.error)) {
    time.error = std::max(standing.launches().relative, k_least_time_error) * time.value;
  }
  return time;
}

/// Returns the kind of a trial's machines, without their number.
std::string kind_of_machines(const Resources& resources) {
  if (!resources.heterogeneous()) return resources.instance_type;
  std::string text;
  for (const InstanceGroup& group : resources.groups)
    text += (text.empty() ? "" : " + ") + group.instance_type;
  return text;
}

struct RunsOfKind {
  std::vector<ScalingRun> runs;
  std::set<double> counts;
  double least_time_s = k_infinity;
};

/// Returns the runs of one curve. Kinds of machines have separate curves, so chooses the kind with
/// the most counts. If several kinds have equally many, chooses the fastest of them. If the count
/// decides the kind, returns all runs as one curve. `kind_at` returns the kind of machines that a
/// run's configuration would have with another count.
std::vector<ScalingRun> of_one_kind(
    std::map<std::string, RunsOfKind> kinds, StudyScaling& out,
    const std::function<std::string(const ScalingRun&, double count)>& kind_at) {
  if (kinds.size() == 1) return std::move(kinds.begin()->second.runs);
  std::vector<ScalingRun> runs;
  const bool decided = std::ranges::all_of(kinds, [&](const auto& kind) {
    return kind.second.counts.size() == 1 &&
           kind_at(kinds.begin()->second.runs.front(), *kind.second.counts.begin()) == kind.first;
  });
  if (decided) {
    for (auto& [name, kind] : kinds)
      std::ranges::move(kind.runs, std::back_inserter(runs));
    return runs;
  }
  const auto best = std::ranges::min_element(kinds, {}, [](const auto& kind) {
    return std::pair(-static_cast<double>(kind.second.counts.size()), kind.second.least_time_s);
  });
  out.machines = best->first;
  std::size_t others = 0;
  for (const auto& [name, kind] : kinds)
    others += name == best->first ? 0 : kind.runs.size();
  out.remarks.push_back(fmt::format(
      "of {} alone: {} on other machines {} left out", printable_line(best->first),
      others == 1 ? "1 run" : fmt::format("{} runs", others), others == 1 ? "is" : "are"));
  return std::move(best->second.runs);
}

std::vector<double> possible_counts(const Parameter& parameter) {
  std::vector<double> counts;
  const auto levels = parameter.level_count();
  if (!levels || *levels > k_most_counts) return counts;
  for (std::uint64_t level = 0; level < *levels; ++level)
    counts.push_back(to_number(parameter.level(level)));
  std::ranges::sort(counts);
  return counts;
}

Value value_of_count(const Parameter& parameter, double count) {
  const auto levels = parameter.level_count().value_or(0);
  for (std::uint64_t level = 0; level < levels; ++level) {
    if (to_number(parameter.level(level)) == count) return parameter.level(level);
  }
  return Value{count};
}

/// Returns the efficiency of each trial. Returns an empty map if the machines are of several kinds
/// (`alike` is false), or if the first count is 0.
std::map<std::int64_t, double> efficiencies(const std::vector<ScalingRun>& runs,
                                            const ScalingCount& first, bool alike) {
  std::map<std::int64_t, double> by_trial;
  if (!alike || !(first.count > 0.0)) return by_trial;
  for (const ScalingRun& run : runs)
    by_trial[run.trial] = first.time_s.mean * first.count / (run.time_s * run.count);
  return by_trial;
}

/// Adds a remark for each count whose trials ended without a usable time.
void add_failures(const std::map<double, std::size_t>& failed, StudyScaling& out) {
  for (const auto& [count, trials] : failed) {
    out.remarks.push_back(fmt::format("{}={}: {}, and no configuration that can be used",
                                      printable_line(out.scaling.question.count_parameter), count,
                                      trials == 1 ? "1 trial" : fmt::format("{} trials", trials)));
  }
}

void add_cautions(StudyScaling& out) {
  const std::vector<ScalingCount>& counts = out.scaling.counts;
  constexpr std::size_t k_few = 3;
  const auto thin =
      std::ranges::count_if(counts, [](const ScalingCount& count) { return count.trials < k_few; });
  if (thin > 0 && counts.size() > 1) {
    out.remarks.push_back(
        fmt::format("{} of {} counts have fewer than {} trials: other settings may do better there",
                    thin, counts.size(), k_few));
  }
}

/// Data from a study's trials, for the fit of a curve.
struct MeasuredRuns {
  ScalingQuestion question;
  std::vector<ScalingRun> runs;
  /// Number of trials by count, for counts without a usable trial.
  std::map<double, std::size_t> unusable;
  StudyScaling known;  ///< everything except the curve
};

Configuration with_count(Configuration configuration, const Parameter& parameter, double count) {
  configuration.set(parameter.name, value_of_count(parameter, count));
  return configuration;
}

/// Returns the price per hour of a configuration. Without prices, returns the number of machines.
double price_of(const StudySpec& spec, const Parameter& parameter,
                const Configuration& configuration, double count) {
  if (spec.runner->traits().has_price) return usd_per_hour(spec, configuration);
  return counts_machines(parameter.name) ? std::abs(count) : 1.0;
}

/// Makes the question for the scaling analysis. `spec` must outlive it.
ScalingQuestion question_of(const StudySpec& spec, const Parameter& over,
                            const ScalingOptions& options, double error_degrees_of_freedom) {
  ScalingQuestion question;
  question.count_parameter = over.name;
  question.min_efficiency = options.min_efficiency.value_or(spec.search.min_efficiency);
  if (spec.planned_run.samples) {
    question.deadline_s = options.deadline_s ? options.deadline_s : spec.planned_run.deadline_s;
  }
  question.error_degrees_of_freedom = error_degrees_of_freedom;
  question.possible_counts = possible_counts(over);
  question.price_per_hour = [&spec, &over](const Configuration& nearest,
                                           double count) -> std::optional<double> {
    const Configuration configuration = with_count(nearest, over, count);
    if (!spec.space.contains(configuration)) return std::nullopt;
    return price_of(spec, over, configuration, count);
  };
  return question;
}

ScalingRun run_of(const TrialRecord& trial, double count, const MeasuredValue& time,
                  double price_per_hour) {
  ScalingRun run;
  run.trial = trial.number;
  run.count = count;
  run.configuration = trial.configuration;
  run.completed = trial.status != TrialStatus::stopped_early;
  run.is_candidate = is_compared(trial.purpose);
  run.time_s = time.value;
  run.standard_error_s = time.error;
  run.price_per_hour = price_per_hour;
  return run;
}

/// Returns the runs by their kind of machines. Sets the counts without a usable run in `measured`,
/// and if all machines are alike.
std::map<std::string, RunsOfKind> runs_by_kind(const StudySpec& spec, const Standing& standing,
                                               const Parameter& over, MeasuredRuns& measured) {
  const std::set<Configuration> refuted(standing.refuted().begin(), standing.refuted().end());
  bool& alike = measured.question.equal_machines;
  std::set<double> usable;
  std::map<std::string, RunsOfKind> kinds;
  for (const TrialRecord& trial : standing.trials()) {
    const Value* value = trial.configuration.find(over.name);
    if (value == nullptr || !is_final(trial.status)) continue;
    const double count = to_number(*value);
    const MeasuredValue time =
        is_sound(spec, trial, standing, refuted) ? time_of(spec, trial, standing) : MeasuredValue{};
    if (!(time.value > 0.0) || !std::isfinite(time.value)) {
      ++measured.unusable[count];
      continue;
    }
    usable.insert(count);
    const Resources resources = spec.runner->resources_of(trial.configuration);
    if (resources.heterogeneous()) alike = false;
    RunsOfKind& kind = kinds[alike ? kind_of_machines(resources) : ""];
    kind.counts.insert(count);
    kind.least_time_s = std::min(kind.least_time_s, time.value);
    if (kind.runs.empty()) kind.runs.reserve(standing.trials().size());
    kind.runs.push_back(
        run_of(trial, count, time, price_of(spec, over, trial.configuration, count)));
  }
  std::erase_if(measured.unusable, [&](const auto& each) { return usable.contains(each.first); });
  if (alike || kinds.size() < 2) return kinds;
  // A configuration has groups of different kinds of machines, so all runs make one curve.
  RunsOfKind all;
  for (auto& [name, kind] : kinds)
    std::ranges::move(kind.runs, std::back_inserter(all.runs));
  kinds.clear();
  kinds.emplace("", std::move(all));
  return kinds;
}

/// Collects the runs of a curve. `spec` must outlive the result, because the result's question
/// reads prices from `spec`.
Result<MeasuredRuns> measured_runs(const StudySpec& spec, const Standing& standing,
                                   const ScalingOptions& options) {
  const auto over = parameter_to_scale(spec, options.over);
  if (!over) return tl::unexpected(over.error());
  if (options.deadline_s && !spec.planned_run.samples) {
    return fail(ErrorKind::usage, "a deadline needs the length of the run", "--deadline",
                "give \"planned_run\": {\"samples\": ...} in the study file");
  }
  const Parameter& parameter = *spec.space.find(*over);
  MeasuredRuns measured;
  measured.known.planned_run = spec.planned_run.samples.has_value();
  measured.known.unit = unit_name(spec);
  measured.known.has_price = spec.runner->traits().has_price;
  measured.question = question_of(spec, parameter, options, standing.launches().degrees_of_freedom);
  auto kinds = runs_by_kind(spec, standing, parameter, measured);
  if (kinds.empty()) return measured;
  std::erase_if(measured.question.possible_counts,
                [&](double count) { return measured.unusable.contains(count); });
  measured.runs =
      of_one_kind(std::move(kinds), measured.known, [&](const ScalingRun& run, double count) {
        return kind_of_machines(
            spec.runner->resources_of(with_count(run.configuration, parameter, count)));
      });
  return measured;
}

/// Returns the curve through the runs; there must be at least one. `spec` is the same study as for
/// `measured_runs`.
StudyScaling curve_through(MeasuredRuns measured, const StudySpec& spec) {
  StudyScaling result = std::move(measured.known);
  result.scaling = scaling_of(measured.runs, std::move(measured.question));
  result.efficiency_by_trial = efficiencies(measured.runs, result.scaling.counts.front(),
                                            result.scaling.question.equal_machines);
  add_failures(measured.unusable, result);
  result.scaling.question.price_per_hour = nullptr;
  if (spec.space.parameters().size() > 1) add_cautions(result);
  return result;
}

}  // namespace

Result<StudyScaling> read_scaling(const StoredStudy& study, const ScalingOptions& options) {
  const auto spec = stored_spec(study.record);
  if (!spec) return tl::unexpected(spec.error());
  const auto standing = read_whole_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  auto measured = measured_runs(*spec, *standing, options);
  if (!measured) return tl::unexpected(measured.error());
  if (measured->runs.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("the study \"{}\" has no measured trial with {}", study.record.name,
                            measured->question.count_parameter),
                "",
                fmt::format("'steptune leaderboard {} --all' lists the trials", study.record.name));
  }
  return curve_through(*std::move(measured), *spec);
}

std::optional<StudyScaling> scaling_of_trials(const StudySpec& spec, const Standing& standing) {
  auto measured = measured_runs(spec, standing, {});
  // Report no error: the leaderboard works without a curve, and `steptune scaling` says why there
  // is none.
  if (!measured || best_by_count(measured->runs).size() < 2) return std::nullopt;
  return curve_through(*std::move(measured), spec);
}

}  // namespace steptune
