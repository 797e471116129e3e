// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/bisect_stages.hpp"

#include <cstddef>
#include <utility>

#include "tuner/report/stored_study.hpp"

namespace steptune {
namespace {

bool is_stage_of(const std::string& study, const std::string& name) {
  return study == name || study.starts_with(name + "-");
}

std::vector<std::vector<std::string>> commands_of(const StudySpec& study) {
  std::vector<std::vector<std::string>> commands;
  const Parameter& parameter = study.space.parameters().front();
  for (std::size_t i = 0; i < study.space.product_size().value_or(0); ++i) {
    Configuration configuration;
    configuration.set(parameter.name, parameter.level(i));
    commands.push_back(render_command(study, configuration).argv);
  }
  return commands;
}

Result<BisectStage> stage_of(const History& history, const StudyRecord& record) {
  const auto study = stored_spec(record);
  if (!study) return tl::unexpected(study.error());
  BisectStage stage;
  stage.study = record.name;
  stage.commands = commands_of(*study);
  stage.is_finished = record.status == StudyStatus::finished;
  stage.elapsed_s = record.elapsed_s;
  if (!stage.is_finished) return stage;
  const auto trials = history.trials(record.id, Milestones::leave);
  if (!trials) return tl::unexpected(trials.error());
  const auto recommendation = stored_recommendation(record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  stage.judged = judged_commands(*study, *trials, *recommendation, record.elapsed_s);
  return stage;
}

}  // namespace

Result<std::vector<BisectStage>> read_bisect_stages(const History& history,
                                                    const std::string& name) {
  const auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  std::vector<BisectStage> stages;
  for (const StudyRecord& record : *records) {
    if (!is_stage_of(record.name, name)) continue;
    auto stage = stage_of(history, record);
    if (!stage) return tl::unexpected(stage.error());
    stages.push_back(*std::move(stage));
  }
  return stages;
}

}  // namespace steptune
