// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/study_source.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// The name of the study: `name` itself, or the one that the study file of that path has.
Result<std::string> study_name(const std::string& name) {
  if (!name.ends_with(".json") && name.find('/') == std::string::npos) return name;
  const auto document = read_json_file(name);
  if (!document) {
    Error error = document.error();
    error.kind = ErrorKind::usage;
    return tl::unexpected(std::move(error));
  }
  if (!document->is_object() || !document->contains("name") || !(*document)["name"].is_string()) {
    return fail(ErrorKind::usage, "has no \"name\"", name, "give the name of a study instead");
  }
  return (*document)["name"].get<std::string>();
}

}  // namespace

Result<StoredStudy> open_stored_study(const CommandContext& context, const std::string& name) {
  const auto wanted = study_name(name);
  if (!wanted) return tl::unexpected(wanted.error());
  auto history = History::open_for_reading(context.database());
  if (!history) return tl::unexpected(history.error());
  for (const std::string& warning : history->warnings())
    context.console.warning(warning);
  auto record = history->study(*wanted);
  if (!record) return tl::unexpected(record.error());
  auto objectives = objective_views(record->document);
  return StoredStudy{std::move(*history), std::move(*record), std::move(objectives)};
}

Result<StudySpec> open_study_file(const std::string& path) {
  auto study = read_study(path, machine_facts());
  if (!study) study.error().kind = ErrorKind::usage;
  return study;
}

Result<StudySpec> stored_spec(const StudyRecord& record) {
  auto study = study_from_json(record.document, "/stored/" + record.name, machine_facts());
  if (!study) {
    return fail(ErrorKind::store,
                fmt::format("the stored study \"{}\" cannot be read by this version: {}",
                            record.name, study.error().text()));
  }
  return study;
}

Result<std::optional<Recommendation>> stored_recommendation(const StudyRecord& record) {
  // A study that ended without a winner has an object that tells only how it ended.
  if (!record.recommendation.is_object() || !record.recommendation.contains("incumbent_trial")) {
    return std::nullopt;
  }
  auto recommendation =
      recommendation_from_json(record.recommendation, fmt::format("study \"{}\"", record.name));
  if (!recommendation) return tl::unexpected(recommendation.error());
  return std::optional(std::move(*recommendation));
}

Result<std::optional<TrialRecord>> baseline_trial(const StoredStudy& study) {
  // Trial 1, unless that failed and the loop measured the baseline once more.
  auto first = study.history.trial(study.record.id, 1);
  if (!first) {
    if (first.error().kind == ErrorKind::not_found) return std::nullopt;
    return tl::unexpected(first.error());
  }
  if (first->purpose != TrialPurpose::baseline) return std::nullopt;
  return std::optional(std::move(*first));
}

RecommendationContext recommendation_context(const CommandContext& context,
                                             const StudyRecord& record,
                                             const std::vector<ObjectiveView>& objectives) {
  return {record.name + context.database_option(), objectives, parameter_order(record.document)};
}

Result<std::size_t> objective_index(const std::vector<ObjectiveView>& objectives,
                                    const std::string& metric) {
  std::vector<std::string> names;
  std::string list;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const std::string& name = objectives[i].objective.metric;
    if (name == metric) return i;
    names.push_back(name);
    list += (list.empty() ? "" : ", ") + name;
  }
  return fail(ErrorKind::usage,
              fmt::format("the study has no objective \"{}\"{}", printable_line(metric),
                          did_you_mean(metric, names)),
              "", "its objectives: " + list);
}

}  // namespace steptune
