// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/loop.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tuner/loop/budget.hpp"
#include "tuner/loop/decision_log.hpp"
#include "tuner/loop/earlier_studies.hpp"
#include "tuner/loop/study_decisions.hpp"
#include "tuner/loop/tuning.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

/// Returns the changed parts of the study file, among the parts that may change between two runs.
/// Such a change makes a finished study continue.
std::vector<std::string> changed_parts(const Json& stored, const Json& now) {
  const auto part = [](const Json& document, const char* name) {
    return document.is_object() && document.contains(name) ? document[name] : Json();
  };
  std::vector<std::string> changed;
  for (const char* name : {"budget", "search", "try", "measure", "planned_run"}) {
    if (part(stored, name) != part(now, name)) changed.emplace_back(name);
  }
  return changed;
}

/// Records the changes before the history stores the new study file. If the tuner is killed later,
/// the end that was recorded for the old study file must not count.
Result<void> note_changes(const LoopParts& parts, StudyRecord stored,
                          const std::vector<std::string>& changed) {
  StudyDecision decision;
  decision.at_wall_s = parts.clock.wall_time_s();
  decision.kind = k_changed_decision;
  decision.text = "the study file or the options have changed";
  decision.numbers["changed"] = fmt::format("{}", fmt::join(changed, ", "));
  log_decision(decision);
  stored.decisions.push_back(std::move(decision));
  stored.status = StudyStatus::running;
  return parts.history.record_study(stored);
}

std::optional<LoopEnd> stored_end(const Json& recommendation, const char* key) {
  const auto name = recommendation.find(key);
  if (name == recommendation.end() || !name->is_string()) return std::nullopt;
  return loop_end_from_text(name->get<std::string>());
}

/// Returns the recorded result of a study that has nothing left to do; nullopt if the study
/// continues.
std::optional<LoopResult> recorded_result(const StudyRecord& study, const StudySpec& spec) {
  if (study.status != StudyStatus::finished || !study.recommendation.is_object() ||
      !changed_parts(study.document, spec.document).empty()) {
    return std::nullopt;
  }
  const auto end = stored_end(study.recommendation, "end");
  if (!end) return std::nullopt;
  LoopResult result{*end, study.stop_reason, {}};
  result.search_end = stored_end(study.recommendation, "search_end").value_or(*end);
  if (*end == LoopEnd::no_feasible_trial) return result;
  auto recommendation = recommendation_from_json(study.recommendation, study.name);
  if (!recommendation) return std::nullopt;
  result.recommendation = *std::move(recommendation);
  return result;
}

Result<void> make_log_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return {};
  return fail(ErrorKind::store, "cannot create the folder for trial logs: " + error.message(),
              directory.string(), "choose a history in a writable folder with --db");
}

Result<void> learn_from_earlier(const LoopParts& parts) {
  const auto studies = trials_of_earlier_studies(parts.study, parts.history);
  if (!studies) return tl::unexpected(studies.error());
  for (std::size_t i = 0; i < studies->size(); ++i) {
    for (const Observation& observation : (*studies)[i])
      parts.searcher.observe_earlier(i, observation);
  }
  return {};
}

Result<LoopResult> run_within(const LoopParts& parts) {
  const StudySpec& spec = parts.study;
  const auto stored = parts.history.study(spec.name);
  if (!stored && stored.error().kind != ErrorKind::not_found) {
    return tl::unexpected(stored.error());
  }
  if (auto learnt = learn_from_earlier(parts); !learnt) return tl::unexpected(learnt.error());
  std::optional<StudyStatus> former;
  if (stored && stored->fingerprint == spec.fingerprint) {
    former = stored->status;
    const auto changed = changed_parts(stored->document, spec.document);
    if (!changed.empty()) {
      if (auto noted = note_changes(parts, *stored, changed); !noted) {
        return tl::unexpected(noted.error());
      }
    }
  }
  auto study = parts.history.create_or_continue_study(spec.name, spec.fingerprint, spec.document,
                                                      spec.search.seed);
  if (!study) return tl::unexpected(study.error());
  if (stored) {
    if (auto result = recorded_result(*stored, spec)) return *std::move(result);
  }
  if (auto made = make_log_directory(parts.log_directory); !made) {
    return tl::unexpected(made.error());
  }
  study->status = StudyStatus::running;
  study->stop_reason.clear();
  if (auto recorded = parts.history.record_study(*study); !recorded) {
    return tl::unexpected(recorded.error());
  }
  if (auto recorded = parts.history.record_session(study->id, parts.machine); !recorded) {
    return tl::unexpected(recorded.error());
  }
  return Tuning(parts, *std::move(study), former).run();
}

}  // namespace

Result<LoopResult> run_loop(LoopParts parts) {
  parts.study = with_money_as_time(std::move(parts.study), parts.runner.capacity());
  return run_within(parts);
}

}  // namespace steptune
