// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judged_trials.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tuner/cli/study_source.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

/// Returns a study document that compares these configurations.
Json document_of(const StudySpec& stored, const std::vector<Configuration>& configurations,
                 const JudgeRequest& request) {
  Json document = stored.document;
  for (const char* key : {"trials", "objectives", "campaign", "loading_ceiling"})
    document.erase(key);
  document["baseline"] = to_json(configurations.front());
  document["try"] = Json::array();
  for (std::size_t i = 1; i < configurations.size(); ++i)
    document["try"].push_back(to_json(configurations[i]));
  set_judging(request, configurations.size(), document);
  return document;
}

/// True if the hook applies settings whose values depend on parameters.
bool has_hook_settings(const StudySpec& study) {
  if (!study.hooks.python) return false;
  return std::ranges::any_of(*study.hooks.python, [](const auto& setting) {
    const auto* text = std::get_if<document::StringTemplate>(&setting.second);
    return text != nullptr && text->has_parameters();
  });
}

Result<void> check_judged(const StudySpec& study,
                          const std::vector<Configuration>& configurations) {
  if (study.runner->traits().longest_billed_s) {
    return fail(ErrorKind::usage, "its trials are billed", "--study",
                "judge only compares trials that run on this machine");
  }
  for (auto other = configurations.begin(); other != configurations.end(); ++other) {
    if (std::find(configurations.begin(), other, *other) != other) {
      return fail(ErrorKind::usage, "two of them have the same settings", "--trial",
                  "give trials with different settings");
    }
  }
  if (has_hook_settings(study) && configurations.front() != study.baseline) {
    return fail(ErrorKind::usage,
                "a hook makes the settings of this study, so only the baseline can be the first",
                "--trial", "give one trial, which is compared with the baseline");
  }
  return {};
}

}  // namespace

void JudgedTrials::name(JudgedCommands& judged) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    JudgedCommand& command = i == 0 ? judged.first : judged.others[i - 1];
    command.name = names[i];
    command.command = settings[i];
  }
}

Result<JudgedTrials> judged_trials(const StoredStudy& stored,
                                   const std::vector<std::string>& trials,
                                   const JudgeRequest& request) {
  const auto study = stored_spec(stored.record);
  if (!study) return tl::unexpected(study.error());
  JudgedTrials judged;
  std::vector<Configuration> configurations;
  if (trials.size() == 1) {
    configurations.push_back(study->baseline);
    judged.names.emplace_back("baseline");
  }
  for (const std::string& text : trials) {
    const auto number = trial_number(text);
    if (!number) return tl::unexpected(number.error());
    const auto trial = stored.history.trial(stored.record.id, *number);
    if (!trial) return tl::unexpected(trial.error());
    configurations.push_back(trial->configuration);
    judged.names.push_back(fmt::format("trial {}", *number));
  }
  if (auto may = check_judged(*study, configurations); !may) return tl::unexpected(may.error());
  const auto order = parameter_order(stored.record.document);
  for (const Configuration& configuration : configurations)
    judged.settings.push_back(configuration_text(configuration, order));
  auto made =
      study_from_json(document_of(*study, configurations, request), study->file, study->facts);
  if (!made) return tl::unexpected(made.error());
  judged.study = *std::move(made);
  return judged;
}

}  // namespace steptune
