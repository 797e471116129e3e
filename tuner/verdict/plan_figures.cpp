// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/plan_figures.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/numbers.hpp"
#include "trial_runner/measure/quantiles.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/study/unit_name.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

/// Returns the error of a single run as a share of its value; NaN if unknown.
double relative_error(const TrialRecord& run, std::size_t objective) {
  if (objective >= run.standard_errors.size() || objective >= run.objectives.size()) return k_nan;
  const double error = run.standard_errors[objective] / run.objectives[objective];
  return std::isfinite(error) && error > 0.0 ? error : k_nan;
}

}  // namespace

std::vector<double> next_launch_half_widths(const ConfigurationRuns& runs,
                                            const std::vector<double>& values,
                                            const LaunchVariation& variation,
                                            const PlannedRun& plan) {
  const auto count = static_cast<double>(runs.size());
  std::vector<double> half_widths;
  for (std::size_t objective = 0; objective < values.size(); ++objective) {
    double within = runs.empty() ? k_nan : 0.0;
    double not_known = 0.0;  // uncertainty about a longer run, common to all runs
    for (const TrialRecord* run : runs) {
      const double error = relative_error(*run, objective);
      if (count > 1.0 && is_whole_run(*run) && !is_steady(*run)) {
        const bool longer = !plan.samples || is_longer_than(plan, *run->measurement);
        not_known += longer ? k_z_95 * error / count : 0.0;
      } else {
        within += error * error / count;
      }
    }
    const double launches = variation.relative * variation.relative * (1.0 + 1.0 / count);
    const double varies =
        student_quantile_95(variation.degrees_of_freedom) * std::sqrt(launches + within / count);
    half_widths.push_back(std::hypot(varies, not_known) * values[objective]);
  }
  return half_widths;
}

double measured_s(const ConfigurationRuns& runs) {
  double seconds = 0.0;
  for (const TrialRecord* run : runs)
    seconds += run->measurement ? run->measurement->window_s : 0.0;
  return seconds > 0.0 ? seconds : k_nan;
}

std::string samples_counted(const StudySpec& study, const TrialRecord& trial) {
  if (!trial.measurement || !trial.measurement->samples_reported) return {};
  const Measurement& measurement = *trial.measurement;
  const auto& formula = study.planned_run.batch_size;
  const auto planned = samples_per_count(study, trial.configuration);
  if (!*measurement.samples_reported) {
    if (!planned) {
      // If the unit is not samples, the name of the unit is explanation enough.
      if (unit_name(study).plural != UnitName().plural) return {};
      return "one per step: neither the program nor \"planned_run.batch_size\" says how many";
    }
    const auto accumulated = accumulation_parameter(study);
    const bool batches = accumulated && counts_batches(study);
    const bool unknown = accumulated && study.report_format.preset == "tqdm";
    return fmt::format(
        "{:g} a {}, by \"planned_run.batch_size\" ({}){}", *planned,
        batches ? "batch, which the bar counts" : "step", formula->text(),
        unknown ? "; where the bar counts batches, leave " + *accumulated + " out" : "");
  }
  if (!(measurement.window_steps > 0.0)) return "as the program counts them";
  const double counted = measurement.window_samples / measurement.window_steps;
  std::string text = fmt::format("as the program counts them, {:.4g} a step", counted);
  if (planned && std::abs(counted / *planned - 1.0) > k_same_count) {
    text += fmt::format(
        "; \"planned_run.batch_size\" ({}) says {:g}: does it count micro-batches, or one of "
        "several ranks?",
        formula->text(), *planned);
  }
  return text;
}

void set_payback_interval(Recommendation& recommendation) {
  const SpeedUp& speed_up = recommendation.speed_up;
  if (!recommendation.payback_share || !(speed_up.ratio > 1.0)) return;
  const auto saved = [](double ratio) { return 1.0 - 1.0 / ratio; };
  // The payback share was computed from the objectives' difference, which corresponds to this
  // ratio.
  const double all = *recommendation.payback_share * saved(speed_up.ratio);
  recommendation.payback_low = all / saved(speed_up.high);
  recommendation.payback_high = speed_up.low > 1.0 ? all / saved(speed_up.low) : k_infinity;
}

}  // namespace steptune
