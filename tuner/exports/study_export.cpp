// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/study_export.hpp"

#include <utility>

#include "tuner/report/decisions_report.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {

Result<StudyExport> read_study_export(const StoredStudy& study, RecommendationContext words) {
  StudyExport result;
  result.record = study.record;
  auto spec = stored_spec(study.record);
  if (!spec) return tl::unexpected(spec.error());
  result.spec = *std::move(spec);
  auto standing = read_whole_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  result.trials = standing->trials();
  auto contents = read_study_contents(study, std::move(words), *std::move(standing));
  if (!contents) return tl::unexpected(contents.error());
  static_cast<StudyContents&>(result) = *std::move(contents);
  const auto traces =
      study.history.traces(study.record.id, [&](std::int64_t number, TrialTrace trace) {
        result.traces.emplace(number, std::move(trace));
      });
  if (!traces) return tl::unexpected(traces.error());
  return result;
}

std::string csv_export(const StudyExport& study) {
  std::vector<std::string> names;
  for (const LeaderboardColumn& column :
       leaderboard_columns(study.board, parameter_order(study.record.document))) {
    names.push_back(column.name);
  }
  return leaderboard_csv(study.board, names);
}

Json json_export(const StudyExport& study, const std::string& program_version) {
  Json json;
  json["schema_version"] = k_export_version;
  json["steptune"] = program_version;
  json["study"] = json_of(study.record);
  json["study"]["fingerprint"] = study.record.fingerprint;
  json["study"]["document"] = study.record.document;
  json["objectives"] = objectives_json(study.board.objectives);
  json["trials"] = Json::array();
  for (const TrialRecord& trial : study.trials) {
    Json one = trial_json(trial, study.board.objectives);
    const auto trace = study.traces.find(trial.number);
    one["trace"] = trace == study.traces.end() ? Json(nullptr) : to_json(trace->second);
    json["trials"].push_back(std::move(one));
  }
  json["sessions"] = Json::array();
  for (const SessionRecord& session : study.sessions) {
    json["sessions"].push_back(
        {{"started", format_utc(session.started_wall_s)}, {"machine", session.machine}});
  }
  json["decisions"] = decisions_json(study.decisions);
  json["recommendation"] = study.recommendation
                               ? recommendation_json(*study.recommendation, study.words)
                               : Json(nullptr);
  return json;
}

}  // namespace steptune
