// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/stored_study.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

/// Reads the ranking rules from the stored document. The document has all defaults, and the facts
/// of the machine on which the study began. Reading only these keys is a hundred times faster than
/// reading the whole study.
RankingRules stored_rules(const StoredStudy& study) {
  const Json& document = study.record.document;
  std::vector<Objective> objectives;
  for (const ObjectiveView& view : study.objectives)
    objectives.push_back(view.objective);
  const auto found = [&](const char* pointer) {
    const Json::json_pointer path(pointer);
    return document.contains(path) ? document.at(path) : Json();
  };
  const Json half_width = found("/measure/target_half_width");
  const Json worth = found("/search/worth");
  const Json batch_size = found("/planned_run/batch_size");
  const Facts facts = stored_facts(study.record);
  std::optional<document::Formula> size;
  if (batch_size.is_string()) {
    auto compiled =
        Expression::compile(batch_size.get<std::string>(), parameter_order(document), facts);
    if (compiled) {
      // Copies of a formula share the compiled expression.
      size.emplace(
          batch_size.get<std::string>(),
          [expression = std::make_shared<const Expression>(*std::move(compiled))](
              const Configuration& configuration) { return expression->evaluate(configuration); });
    }
  }
  RankingRules rules = ranking_rules(
      std::move(objectives),
      half_width.is_number() ? half_width.get<double>() : MeasureSpec().target_half_width,
      std::move(size));
  if (worth.is_number()) rules.worth = worth.get<double>();
  return rules;
}

/// Returns a made-up file name for messages, because a stored study is in no file.
std::filesystem::path file_of(const StudyRecord& record) {
  return "/stored/" + record.name;
}

/// Returns this machine's facts if the document lacks facts. Otherwise returns none, because the
/// document's own facts are used.
Facts facts_to_read_with(const StudyRecord& record) {
  return record.document.contains("facts") ? Facts{} : detected_facts();
}

Result<StudySpec> readable(const StudyRecord& record, Result<StudySpec> study) {
  if (study) return study;
  return fail(ErrorKind::store,
              fmt::format("the stored study \"{}\" cannot be read by this version: {}", record.name,
                          study.error().text()));
}

}  // namespace

StoredStudy stored_study(History history, StudyRecord record) {
  auto objectives = objective_views(record.document);
  return {std::move(history), std::move(record), std::move(objectives)};
}

Facts stored_facts(const StudyRecord& record) {
  Facts facts;
  const auto stored = record.document.find("facts");
  if (stored == record.document.end() || !stored->is_object()) return facts;
  for (const auto& [name, value] : stored->items()) {
    if (value.is_number()) facts[name] = value.get<double>();
  }
  return facts;
}

Result<StudySpec> stored_spec(const StudyRecord& record) {
  return readable(record, stored_study_from_json(record.document, file_of(record),
                                                 facts_to_read_with(record), record.fingerprint));
}

Result<StudySpec> checked_stored_spec(const StudyRecord& record) {
  auto study = readable(
      record, study_from_json(record.document, file_of(record), facts_to_read_with(record)));
  // Keep the stored fingerprint: it depends on the file's folder, which is unknown now.
  if (study) study->fingerprint = record.fingerprint;
  return study;
}

Result<std::optional<Recommendation>> stored_recommendation(const StudyRecord& record) {
  // If a study ended without a recommendation, the stored object only says how the study ended.
  if (!has_recommendation(record.recommendation)) return std::nullopt;
  auto recommendation =
      recommendation_from_json(record.recommendation, fmt::format("study \"{}\"", record.name));
  if (!recommendation) return tl::unexpected(recommendation.error());
  return std::optional(std::move(*recommendation));
}

Result<Standing> read_standing(const StoredStudy& study, std::size_t ranked_by) {
  if (ranked_by == 0) {
    const bool largest_first = study.objectives[0].objective.direction == Direction::maximize;
    auto leading = study.history.standing_trials(study.record.id, k_leading_trials, largest_first);
    if (!leading) return tl::unexpected(leading.error());
    Standing standing(stored_rules(study), *std::move(leading));
    // The history chose these trials by their measured values. If the machine drifted, the order
    // may differ, so read all trials.
    if (!standing.drift().is_significant()) return standing;
  }
  return read_whole_standing(study, ranked_by);
}

Result<Standing> read_whole_standing(const StoredStudy& study, std::size_t ranked_by) {
  auto trials = study.history.trials(study.record.id, Milestones::leave);
  if (!trials) return tl::unexpected(trials.error());
  return Standing(stored_rules(study), *std::move(trials), ranked_by);
}

Result<std::size_t> objective_index(const std::vector<ObjectiveView>& objectives,
                                    const std::string& metric) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const std::string& name = objectives[i].objective.metric;
    if (name == metric) return i;
    names.push_back(name);
  }
  return fail(ErrorKind::usage,
              fmt::format("the study has no objective \"{}\"{}", printable_line(metric),
                          did_you_mean(metric, names)),
              "", fmt::format("its objectives: {}", fmt::join(names, ", ")));
}

}  // namespace steptune
