// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/plan_notes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/batch_effect.hpp"
#include "tuner/verdict/launch_variation.hpp"
#include "tuner/verdict/objectives.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/planned_time.hpp"
#include "tuner/verdict/speed_up.hpp"

namespace steptune {
namespace {

std::optional<double> noise_scale(const TrialRecord* trial) {
  if (trial == nullptr || !trial->measurement) return std::nullopt;
  const auto found = trial->measurement->metrics.find(k_gradient_noise_scale);
  if (found == trial->measurement->metrics.end() || !(found->second > 0.0)) return std::nullopt;
  return found->second;
}

/// Returns upper ends of the 95 % intervals of the planned run's figures; infinite if unknown. The
/// figures include all samples that the batch size may need.
std::vector<double> most_of(const Recommendation& recommendation) {
  std::vector<double> most = recommendation.incumbent_objectives;
  const auto& half_widths = recommendation.incumbent_half_widths;
  for (std::size_t i = 0; i < most.size() && i < half_widths.size(); ++i)
    most[i] += std::isfinite(half_widths[i]) ? half_widths[i] : k_infinity;
  for (double& each : most)
    each *= recommendation.most_samples_ratio;
  return most;
}

/// Returns `, up to 9.4 h (95 % interval)`. `text`: `most` as a text.
std::string up_to(double most, const std::string& text, const Recommendation& recommendation) {
  if (!std::isfinite(most)) return "; its interval is not known";
  return fmt::format(", up to {} (95 % interval{})", text,
                     recommendation.most_samples_ratio > 1.0
                         ? ", with the samples that its batch size may need"
                         : "");
}

/// Samples per step of the recommended configuration and of the baseline, if the plan knows both
/// and they differ.
struct BatchChange {
  double batch = 0.0;
  double former = 0.0;
};

std::optional<BatchChange> batch_change(const StudySpec& study, const Standing& standing,
                                        const Recommendation& recommendation) {
  const auto& samples_per_step = standing.rules().samples_per_step;
  const bool timed = std::ranges::any_of(study.objectives, &Objective::is_timed);
  if (!samples_per_step || !timed) return std::nullopt;
  const auto batch = samples_per_step(recommendation.configuration);
  const auto former = samples_per_step(study.baseline);
  if (!batch || !former || *batch == *former) return std::nullopt;
  return BatchChange{*batch, *former};
}

std::optional<double> known_noise_scale(const Standing& standing,
                                        const Recommendation& recommendation) {
  const auto scale = noise_scale(standing.baseline());
  return scale ? scale : noise_scale(standing.find(recommendation.incumbent_trial));
}

/// Returns `, and the tuning is paid back after 0.9 % to 3.4 % of it`. The result's line about the
/// planned run does not show this, because it assumes as many samples as for the baseline.
std::string scaled_payback(const StudySpec& study, const Recommendation& recommendation) {
  if (!recommendation.payback_share) return {};
  const auto share = [&](double samples_ratio) {
    return payback_share(study, recommendation.baseline_objectives[0],
                         samples_ratio * recommendation.incumbent_objectives[0],
                         recommendation.tuning_s, recommendation.tuning_usd);
  };
  const auto least = share(recommendation.least_samples_ratio);
  const auto most = share(recommendation.most_samples_ratio);
  if (!least || !most) return {};
  if (*least > 1.0) return ", and the tuning is not paid back by one planned run";
  if (*most > 1.0) {
    return fmt::format(", and the tuning is paid back after {} of it, or not by one planned run",
                       format_percent(*least));
  }
  const std::string first = format_percent(*least);
  const std::string last = format_percent(*most);
  return fmt::format(", and the tuning is paid back after {} of it",
                     first == last ? first : first + " to " + last);
}

/// Returns `; the planned run then takes 19.3 h to 25.1 h`, and the payback with these figures.
std::string scaled_plan(const StudySpec& study, const Recommendation& recommendation) {
  const auto& values = recommendation.incumbent_objectives;
  const Objective& first = study.objectives.front();
  if (!study.planned_run.samples || !first.is_timed() || values.empty()) {
    return {};
  }
  const auto scaled = [&](double samples_ratio) {
    const double value = samples_ratio * values[0];
    return first.is_time() ? format_duration(value) : format_usd(value);
  };
  const std::string text = fmt::format(
      "; the planned run then {} {} to {}", first.is_time() ? "takes" : "costs",
      scaled(recommendation.least_samples_ratio), scaled(recommendation.most_samples_ratio));
  const bool known = !recommendation.baseline_objectives.empty();
  if (known &&
      recommendation.most_samples_ratio * values[0] >= recommendation.baseline_objectives[0]) {
    return text + fmt::format(", and may be no {} than the baseline's", first.comparative());
  }
  return text + scaled_payback(study, recommendation);
}

std::optional<std::string> batch_note(const StudySpec& study, const Standing& standing,
                                      const Recommendation& recommendation) {
  const auto change = batch_change(study, standing, recommendation);
  if (!change) return std::nullopt;
  if (const auto scale = known_noise_scale(standing, recommendation)) {
    return fmt::format(
        "batch {:g} in place of {:g} needs {:.2f} to {:.2f} times the samples: gradient noise "
        "scale {:g} as reported, which grows during training{}",
        change->batch, change->former, recommendation.least_samples_ratio,
        recommendation.most_samples_ratio, *scale, scaled_plan(study, recommendation));
  }
  return fmt::format(
      "batch {:g} in place of {:g}: the plan assumes that it needs as many samples; report \"{}\", "
      "or compare the loss at the end of both",
      change->batch, change->former, k_gradient_noise_scale);
}

/// Adds notes if the planned run may miss its limits, or if it keeps a limit that is no objective.
void add_limit_notes(const StudySpec& study, const Recommendation& recommendation,
                     std::vector<std::string>& notes) {
  const PlannedRun& plan = study.planned_run;
  if (!plan.deadline_s && !plan.max_cost_usd) return;
  const auto figures = [&](const std::vector<double>& objectives) {
    return planned_figures(study, recommendation.configuration, objectives);
  };
  const PlannedFigures expected = figures(recommendation.incumbent_objectives);
  const PlannedFigures most = figures(most_of(recommendation));
  if (plan.deadline_s && expected.seconds) {
    const std::string deadline = format_duration(*plan.deadline_s);
    const std::string value = format_duration(*expected.seconds);
    if (*most.seconds > *plan.deadline_s) {
      notes.push_back(
          fmt::format("the deadline of {} may be missed: {} is expected{}", deadline, value,
                      up_to(*most.seconds, format_duration(*most.seconds), recommendation)));
    } else if (std::ranges::none_of(study.objectives, &Objective::is_time)) {
      notes.push_back(fmt::format(
          "it finishes in time: the planned run takes {}, its deadline is {}", value, deadline));
    }
  }
  if (!plan.max_cost_usd || !expected.usd) return;
  const std::string limit = format_usd(*plan.max_cost_usd);
  const std::string value = format_usd(*expected.usd);
  if (*most.usd > *plan.max_cost_usd) {
    notes.push_back(fmt::format("the planned run may cost more than {}: {} is expected{}", limit,
                                value, up_to(*most.usd, format_usd(*most.usd), recommendation)));
  } else if (std::ranges::none_of(study.objectives, &Objective::is_cost)) {
    notes.push_back(fmt::format("the planned run costs {}, at most {} is allowed", value, limit));
  }
}

/// Adds a note if the samples per step of the recommended configuration were assumed.
void add_samples_note(const StudySpec& study, const Standing& standing,
                      const Recommendation& recommendation, std::vector<std::string>& notes) {
  const TrialRecord* trial = standing.find(recommendation.incumbent_trial);
  const TrialRecord* baseline = standing.baseline();
  if (trial == nullptr || baseline == nullptr || !all_timed(study)) return;
  auto note =
      assumed_samples_note(study, standing.trials(), *trial, *baseline, standing.launches());
  if (note) notes.push_back(*std::move(note));
}

/// Adds a note why the baseline is not recommended although nothing was shown to be faster.
void add_baseline_note(const Standing& standing, const Recommendation& recommendation,
                       std::vector<std::string>& notes) {
  const TrialRecord* baseline = standing.baseline();
  if (recommendation.claim != Claim::feasible || baseline == nullptr || baseline->failure.empty()) {
    return;
  }
  notes.push_back(fmt::format("the baseline is infeasible: {}", baseline->failure));
}

/// Adds a note if the program ends by itself before the planned run would.
void add_whole_run_note(const StudySpec& study, const Standing& standing,
                        const Recommendation& recommendation, std::vector<std::string>& notes) {
  const TrialRecord* trial = standing.find(recommendation.incumbent_trial);
  if (trial == nullptr || !is_whole_run(*trial) || !all_timed(study)) return;
  const PlannedRun& plan = study.planned_run;
  if (plan.samples && !is_longer_than(plan, *trial->measurement)) return;
  notes.push_back(fmt::format(
      "its program ends by itself after {:.0f} {}: whole runs of that length were compared, and a "
      "longer one is extrapolated from them{}",
      trial->measurement->total_samples, unit_name(study).plural,
      plan.samples ? "" : "; \"planned_run.samples\" says how long it is to be"));
}

/// Least exponent of a step's time as a power of its accumulated batches. If the exponent is
/// smaller, the program counts batches, not steps, or it hardly computes.
constexpr double k_least_growth = 0.25;

/// True if the study, not the program, gives the samples of a trial's counts.
bool is_counted_by_study(const TrialRecord& trial) {
  return is_compared(trial.purpose) && is_ranked(trial.status) && trial.measurement &&
         !trial.measurement->samples_reported.value_or(true) && trial.measurement->window_s > 0.0 &&
         trial.measurement->window_steps > 0.0;
}

/// Adds a note if the program may count batches although the study assumes optimizer steps. This is
/// likely if a count takes hardly longer with more accumulated batches and no other setting
/// differs.
void add_count_note(const StudySpec& study, const Standing& standing,
                    std::vector<std::string>& notes) {
  const auto parameter = accumulation_parameter(study);
  const bool is_known = counts_batches(study) || study.report_format.preset == "hf-trainer";
  if (!parameter || is_known) return;
  struct Counted {
    double batches = 0.0;
    double count_s = 0.0;
  };
  std::map<Configuration, std::vector<Counted>> alike;  // alike except for the parameter
  for (const TrialRecord& trial : standing.trials()) {
    const Value* value = trial.configuration.find(*parameter);
    if (value == nullptr || !is_counted_by_study(trial)) continue;
    const double batches = number_in(*value).value_or(0.0);
    if (!(batches > 0.0)) continue;
    Configuration others = trial.configuration;
    others.erase(*parameter);
    alike[others].push_back(
        {batches, trial.measurement->window_s / trial.measurement->window_steps});
  }
  for (const auto& [others, counted] : alike) {
    const auto [few, many] = std::ranges::minmax_element(counted, {}, &Counted::batches);
    const double growth = std::log(many->count_s / few->count_s);
    if (!(many->batches > few->batches) ||
        growth >= k_least_growth * std::log(many->batches / few->batches)) {
      continue;
    }
    notes.push_back(fmt::format(
        "what the program counts takes {} with {}={:g} and {} with {}={:g}: if those are batches "
        "and not optimizer steps, leave {} out of \"planned_run.batch_size\" and begin a new study "
        "(--new), because the speeds are wrong",
        format_duration(few->count_s), *parameter, few->batches, format_duration(many->count_s),
        *parameter, many->batches, *parameter));
    return;
  }
}

/// Adds a note for each finalist that may hang: one of its runs was silent for most of its time.
void add_silent_notes(const Standing& standing, const Recommendation& recommendation,
                      std::vector<std::string>& notes) {
  for (const FinalistResult& finalist : recommendation.finalists) {
    const TrialRecord* found = standing.find(finalist.trial);
    if (found == nullptr || finalist.verdict == Verdict::faster) continue;
    const auto run = std::ranges::find_if(standing.trials(), [&](const TrialRecord& trial) {
      return trial.purpose == TrialPurpose::confirm_incumbent && trial.measurement &&
             trial.configuration == found->configuration && trial.measurement->silent_s > 0.0;
    });
    if (run == standing.trials().end()) continue;
    notes.push_back(
        fmt::format("a fresh run of trial {} (trial {}) reported no step for most of its time: it "
                    "hangs, or does work that it does not report as a phase",
                    found->number, run->number));
  }
}

}  // namespace

PlannedFigures planned_figures(const StudySpec& study, const Configuration& configuration,
                               const std::vector<double>& objectives) {
  PlannedFigures figures;
  for (std::size_t i = 0; i < study.objectives.size() && i < objectives.size(); ++i) {
    if (study.objectives[i].is_time()) figures.seconds = objectives[i];
    if (study.objectives[i].is_cost()) figures.usd = objectives[i];
  }
  const double usd_per_s = usage_usd(usd_per_hour(study, configuration), 1.0);
  if (!(usd_per_s > 0.0)) return figures;
  if (!figures.seconds && figures.usd) {
    figures.seconds = *figures.usd / usd_per_s;
  } else if (!figures.usd && figures.seconds) {
    figures.usd = *figures.seconds * usd_per_s;
  }
  return figures;
}

void set_samples_ratio(const StudySpec& study, const Standing& standing,
                       Recommendation& recommendation) {
  const auto change = batch_change(study, standing, recommendation);
  const auto scale = known_noise_scale(standing, recommendation);
  if (!change || !scale) return;
  const double ratio = (1.0 + change->batch / *scale) / (1.0 + change->former / *scale);
  recommendation.least_samples_ratio = std::min(1.0, ratio);
  recommendation.most_samples_ratio = std::max(1.0, ratio);
}

std::optional<std::string> drift_note(const MachineDrift& drift) {
  if (!drift.is_significant()) return std::nullopt;
  const double log_ratio = drift.largest_log_ratio();
  return fmt::format(
      "the machine became {:.0f} % {} during the search: trials are corrected for it by {} runs of "
      "the baseline",
      100.0 * std::abs(std::expm1(log_ratio)), log_ratio > 0.0 ? "slower" : "faster", drift.runs());
}

std::vector<Note> plan_notes(const StudySpec& study, const Standing& standing,
                             const Recommendation& recommendation) {
  std::vector<std::string> others = unseen_phases(study.planned_run, standing.trials());
  add_baseline_note(standing, recommendation, others);
  add_limit_notes(study, recommendation, others);
  add_whole_run_note(study, standing, recommendation, others);
  add_count_note(study, standing, others);
  add_samples_note(study, standing, recommendation, others);
  add_silent_notes(standing, recommendation, others);
  std::vector<Note> notes;
  for (std::string& text : others)
    notes.push_back({std::move(text)});
  if (auto text = batch_note(study, standing, recommendation))
    notes.push_back({*std::move(text), NoteSubject::batch_size});
  if (auto text = drift_note(standing.drift()))
    notes.push_back({*std::move(text), NoteSubject::drift});
  return notes;
}

}  // namespace steptune
