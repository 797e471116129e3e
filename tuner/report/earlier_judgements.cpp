// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/earlier_judgements.hpp"

#include <algorithm>

#include "tuner/report/judged_commands.hpp"
#include "tuner/report/stored_study.hpp"
#include "tuner/verdict/confirm.hpp"

namespace steptune {
namespace {

/// More judgements would hardly tell more, and reading them takes time.
constexpr std::size_t k_most_judgements = 50;

bool is_judgement(const StudyRecord& record) {
  const auto measure = record.document.find("measure");
  return measure != record.document.end() && measure->value("confirm_all", false);
}

bool is_of_program(const StudySpec& study, const std::vector<std::string>& command,
                   const std::string& campaign) {
  if (!campaign.empty() && study.campaign && study.campaign->name == campaign) return true;
  return without_tree(render_command(study, study.baseline).argv) == command;
}

Scatter scatter_of_trials(const StudySpec& study, const std::vector<TrialRecord>& trials) {
  const Standing standing(ranking_rules(study), trials);
  const Confirmation confirmation(study, standing);
  std::vector<Scatter> commands;
  for (const Finalist& finalist : confirmation.finalists()) {
    if (!finalist.pairs.empty()) commands.push_back(scatter_of(study, finalist.pairs));
  }
  return scatter_of_judgement(commands);
}

}  // namespace

Result<Scatter> pairs_of_earlier_judgements(const History& history,
                                            const std::vector<std::string>& command,
                                            const std::string& campaign) {
  auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  std::vector<Scatter> judgements;
  std::ranges::reverse(*records);
  for (const StudyRecord& record : *records) {
    if (judgements.size() == k_most_judgements) break;
    if (record.status != StudyStatus::finished || !is_judgement(record)) continue;
    const auto study = stored_spec(record);
    if (!study || !is_of_program(*study, command, campaign)) continue;
    const auto trials = history.trials(record.id, Milestones::leave);
    if (!trials) return tl::unexpected(trials.error());
    judgements.push_back(scatter_of_trials(*study, *trials));
  }
  return pooled_scatter(judgements);
}

}  // namespace steptune
