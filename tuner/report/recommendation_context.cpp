// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "common/json_fields.hpp"
#include "tuner/report/recommendation.hpp"

namespace steptune {
namespace {

/// Longer commands are not printed, because `exec STUDY` starts the same command.
constexpr std::size_t k_longest_shown_command = 120;

/// Returns the study's command; empty if it depends on the configuration, or if it is too long to
/// print.
std::string fixed_command(const StudySpec& spec) {
  for (const CommandPart& part : spec.command) {
    if (part.when) return {};
    for (const document::StringTemplate& word : part.args) {
      if (word.has_parameters() || !word.others().empty()) return {};
    }
  }
  std::string words = shell_quoted(plain_command(spec, spec.baseline));
  return words.size() <= k_longest_shown_command ? words : std::string();
}

/// Returns twice the mean time of a fresh launch, including its start.
std::optional<double> seconds_of_a_pair(const std::vector<TrialRecord>& trials) {
  double total_s = 0.0;
  int launches = 0;
  for (const TrialRecord& trial : trials) {
    if (!is_confirmation(trial.purpose) || !(latest_attempt_s(trial) > 0.0)) continue;
    total_s += latest_attempt_s(trial);
    ++launches;
  }
  if (launches == 0) return std::nullopt;
  return 2.0 * total_s / launches;
}

/// True if a trial other than the baseline was measured. Stopped and infeasible trials count
/// without a check, because baselines and fresh launches are rarely stopped or infeasible.
bool others_measured(const std::vector<TrialRecord>& completed,
                     const std::map<TrialStatus, std::int64_t>& counts) {
  return counts.contains(TrialStatus::stopped_early) || counts.contains(TrialStatus::infeasible) ||
         std::ranges::any_of(completed,
                             [](const TrialRecord& trial) { return is_searched(trial.purpose); });
}

std::optional<std::pair<double, double>> changed_batches(const StudySpec& spec,
                                                         const Configuration& advised) {
  const auto today = samples_per_step(spec, spec.baseline);
  const auto now = samples_per_step(spec, advised);
  if (!today || !now || *today == *now) return std::nullopt;
  return std::pair(*today, *now);
}

/// True if the hook applies settings. False if the hook only reports, or if there is no hook.
bool sets_knobs(const Json& document) {
  const auto hooks = document.find("hooks");
  return hooks != document.end() && hooks->contains("python") && !(*hooks)["python"].empty();
}

}  // namespace

RecommendationContext study_context(const StoredStudy& study, const std::string& database_option,
                                    const std::filesystem::path& database) {
  const Json& document = study.record.document;
  return {study.record.name + database_option,
          study.objectives,
          parameter_order(document),
          sets_knobs(document),
          text_at(document, "trials") == "attached",
          database,
          std::nullopt,
          document.contains("command") && !document["command"].empty()};
}

void add_study_facts(RecommendationContext& context, const StoredStudy& study,
                     const Configuration& advised) {
  const auto spec = stored_spec(study.record);
  if (!spec) return;
  context.runs_here = spec->runner->traits().uses_this_machine;
  context.command = fixed_command(*spec);
  context.confirms = spec->measure.confirm_pairs > 0;
  context.loading_ceiling = spec->loading_ceiling;
  context.batches = changed_batches(*spec, advised);
  context.changes = setting_changes(*spec, advised, read_hook_log(study).value_or(HookLog()));
  const auto trials = study.history.standing_trials(study.record.id, 2);
  const auto counts = study.history.status_counts(study.record.id);
  if (!trials || !counts) return;
  context.others_measured = others_measured(*trials, *counts);
  context.pair_s = seconds_of_a_pair(*trials);
}

}  // namespace steptune
