// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/best_choice.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/merged_variable.hpp"
#include "trial_runner/hooks/python_path.hpp"
#include "trial_runner/launch/compile_cache.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/trial_command.hpp"
#include "tuner/retune/night.hpp"

namespace steptune {
namespace {

Result<TrialRecord> best_by(const StoredStudy& study, std::size_t objective) {
  const auto standing = read_standing(study, objective);
  if (!standing) return tl::unexpected(standing.error());
  if (const TrialRecord* best = standing->incumbent()) return *best;
  return fail(ErrorKind::not_found,
              fmt::format("study \"{}\" has no completed trial yet", study.record.name), "",
              fmt::format("see 'steptune leaderboard {} --all'", study.record.name));
}

Result<TrialRecord> chosen_trial(const StoredStudy& study, const std::string& objective,
                                 const std::optional<Recommendation>& recommendation) {
  if (!objective.empty()) {
    const auto index = objective_index(study.objectives, objective);
    if (!index) return tl::unexpected(index.error());
    // For the first objective, use the recommendation: it also chooses among tied trials.
    if (*index > 0 || !recommendation) return best_by(study, *index);
  }
  if (!recommendation) return best_by(study, 0);
  return study.history.trial(study.record.id, recommendation->incumbent_trial);
}

Result<BestChoice> choice_of(const StudyRecord& record, TrialRecord trial,
                             std::optional<Recommendation> recommendation) {
  auto spec = stored_spec(record);
  if (!spec) return tl::unexpected(spec.error());
  BestChoice choice;
  choice.command = measured_command(*spec, trial);
  choice.recommendation = std::move(recommendation);
  choice.study = *std::move(spec);
  choice.from_study = record.name;
  choice.requested_study = record.name;
  choice.trial = std::move(trial);
  return choice;
}

/// Returns the configuration that the latest night of `retune` left in use. If the study has no
/// night, returns nullopt. Also returns nullopt if the baseline is in use but was not measured.
Result<std::optional<BestChoice>> choice_of_nights(const StoredStudy& study) {
  const auto rows = study.history.nights(study.record.name);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  const auto night = night_from_row(rows->back());
  if (!night) return tl::unexpected(night.error());
  const UsedConfiguration& used = night->after;
  if (used.study.empty() || used.trial == 0) {
    // The night kept the study file's baseline. The study has a trial of this baseline: use that
    // trial.
    const auto standing = read_standing(study);
    if (!standing) return tl::unexpected(standing.error());
    if (standing->baseline() == nullptr) return std::nullopt;
    auto choice = choice_of(study.record, *standing->baseline(), std::nullopt);
    if (!choice) return tl::unexpected(choice.error());
    return std::optional(*std::move(choice));
  }
  const auto record = study.history.study(used.study);
  if (!record) return tl::unexpected(record.error());
  auto trial = study.history.trial(record->id, used.trial);
  if (!trial) return tl::unexpected(trial.error());
  auto recommendation = stored_recommendation(*record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  auto choice = choice_of(*record, *std::move(trial), *std::move(recommendation));
  if (!choice) return tl::unexpected(choice.error());
  choice->requested_study = study.record.name;
  return std::optional(*std::move(choice));
}

/// Returns the best trial of `objective`. If `objective` is empty, returns the configuration that
/// the latest night of `retune` left in use. If there is no such night, returns the recommended
/// trial.
Result<BestChoice> choose_best(const StoredStudy& study, const std::string& objective) {
  if (objective.empty()) {
    auto of_nights = choice_of_nights(study);
    if (!of_nights) return tl::unexpected(of_nights.error());
    if (*of_nights) return **std::move(of_nights);
  }
  auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  auto trial = chosen_trial(study, objective, *recommendation);
  if (!trial) return tl::unexpected(trial.error());
  auto choice = choice_of(study.record, *std::move(trial), *std::move(recommendation));
  if (choice) choice->objective = objective;
  return choice;
}

/// Returns the trial with that number; 0 means the recommended trial.
Result<BestChoice> choose_trial(const StoredStudy& study, std::int64_t number) {
  if (number == 0) return choose_best(study, "");
  auto recommendation = stored_recommendation(study.record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  auto trial = study.history.trial(study.record.id, number);
  if (!trial) return tl::unexpected(trial.error());
  return choice_of(study.record, *std::move(trial), *std::move(recommendation));
}

}  // namespace

Result<std::map<std::string, std::string>> long_run_variables(const BestChoice& choice,
                                                              const std::filesystem::path& database,
                                                              const Environment& inherited,
                                                              bool reports) {
  auto variables = choice.command.environment;
  const auto cache = log_directory(database, choice.from_study) / k_compile_cache_folder;
  std::error_code missing;
  if (!inherited(k_compile_cache_variable) && std::filesystem::is_directory(cache, missing)) {
    variables.emplace(k_compile_cache_variable, cache.string());
  }
  if (choice.command.needs_hook() || (choice.command.hook && reports)) {
    PythonHookRequest request = *choice.command.hook;
    request.mode = HookMode::apply;
    if (reports) request.interval_s = 1.0;
    const auto added = add_hook(request, inherited(k_python_path).value_or(""), variables);
    if (!added) return tl::unexpected(added.error());
  }
  for (auto& [name, text] : variables)
    text = merged_variable(name, inherited(name).value_or(""), text);
  return variables;
}

Result<OpenedChoice> open_choice(const CommandContext& context, const std::string& study,
                                 std::int64_t trial, const std::string& objective) {
  auto in_use = open_study_in_use(context, study, trial);
  if (!in_use) return tl::unexpected(in_use.error());
  const auto number = trial_in_use(*in_use, trial);
  if (!number) return tl::unexpected(number.error());
  auto choice = objective.empty() ? choose_trial(in_use->study, *number)
                                  : choose_best(in_use->study, objective);
  if (!choice) return tl::unexpected(choice.error());
  if (in_use->trial > 0 && objective.empty()) choice->requested_study = in_use->name;
  return OpenedChoice{std::move(in_use->study), *std::move(choice)};
}

}  // namespace steptune
