// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tuner/history/history.hpp"
#include "tuner/history/store.hpp"
#include "tuner/history/trial_documents.hpp"

namespace steptune {
namespace {

std::optional<TrialTrace> read_trace(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? std::nullopt : std::optional(trial_trace_from_json(json));
}

}  // namespace

Result<std::optional<TrialTrace>> History::trace(std::int64_t study_id, std::int64_t number) const {
  return store_->catch_errors([&]() -> Result<std::optional<TrialTrace>> {
    Query query = store_->query("SELECT trace FROM traces WHERE study_id = ? AND number = ?");
    query.bind(study_id).bind(number);
    if (!query.step()) return std::nullopt;
    auto trace = read_trace(query.column(0).getString());
    if (!trace) return tl::unexpected(store_->damaged("the trace of a trial cannot be read"));
    return trace;
  });
}

Result<void> History::traces(std::int64_t study_id,
                             const std::function<void(std::int64_t, TrialTrace)>& use) const {
  return store_->catch_errors([&]() -> Result<void> {
    Query query =
        store_->query("SELECT trace, number FROM traces WHERE study_id = ? ORDER BY number");
    query.bind(study_id);
    while (query.step()) {
      auto trace = read_trace(query.column(0).getString());
      if (!trace) return tl::unexpected(store_->damaged("the trace of a trial cannot be read"));
      use(query.column(1).getInt64(), *std::move(trace));
    }
    return {};
  });
}

Result<std::vector<AttemptRecord>> History::attempts(std::int64_t study_id,
                                                     std::int64_t number) const {
  return store_->catch_errors([&]() -> Result<std::vector<AttemptRecord>> {
    std::vector<AttemptRecord> attempts;
    Query query = store_->query(
        "SELECT attempt, status, started_wall_s, ended_wall_s, spent_s, spent_usd, failure "
        "FROM attempts WHERE study_id = ? AND number = ? ORDER BY attempt");
    query.bind(study_id).bind(number);
    while (query.step()) {
      const auto status = trial_status_from_text(query.column(1).getString());
      if (!status) return tl::unexpected(store_->damaged("unknown status of an attempt"));
      attempts.push_back({query.column(0).getInt(), *status, query.column(2).getDouble(),
                          query.column(3).getDouble(), query.column(4).getDouble(),
                          query.column(5).getDouble(), query.column(6).getString()});
    }
    return attempts;
  });
}

Result<std::vector<SessionRecord>> History::sessions(std::int64_t study_id) const {
  return store_->catch_errors([&]() -> Result<std::vector<SessionRecord>> {
    std::vector<SessionRecord> sessions;
    Query query = store_->query(
        "SELECT started_wall_s, machine FROM sessions WHERE study_id = ? ORDER BY session");
    query.bind(study_id);
    while (query.step()) {
      SessionRecord& session = sessions.emplace_back();
      session.started_wall_s = query.column(0).getDouble();
      const std::string machine = query.column(1).getString();
      if (!read_texts(machine, session.machine)) {
        return tl::unexpected(store_->damaged("the machine of a session cannot be read"));
      }
    }
    return sessions;
  });
}

Result<std::vector<UnusedTime>> History::unused_times(std::int64_t study_id) const {
  return store_->catch_errors([&]() -> Result<std::vector<UnusedTime>> {
    std::vector<UnusedTime> times;
    Query query = store_->query(
        "SELECT machine, from_wall_s, to_wall_s, usd FROM unused_times WHERE study_id = ? "
        "ORDER BY from_wall_s, machine");
    query.bind(study_id);
    while (query.step()) {
      times.push_back({query.column(0).getString(), query.column(1).getDouble(),
                       query.column(2).getDouble(), query.column(3).getDouble()});
    }
    return times;
  });
}

Result<std::vector<StudyDecision>> History::decisions(std::int64_t study_id) const {
  return store_->catch_errors([&]() -> Result<std::vector<StudyDecision>> {
    std::vector<StudyDecision> decisions;
    Query query = store_->query(
        "SELECT at_wall_s, kind, coalesce(trial, 0), text, numbers FROM decisions "
        "WHERE study_id = ? ORDER BY decision");
    query.bind(study_id);
    while (query.step()) {
      StudyDecision& decision = decisions.emplace_back();
      decision.at_wall_s = query.column(0).getDouble();
      decision.kind = query.column(1).getString();
      decision.trial = query.column(2).getInt64();
      decision.text = query.column(3).getString();
      decision.numbers =
          Json::parse(query.column(4).getString(), nullptr, /*allow_exceptions=*/false);
      if (!decision.numbers.is_object()) {
        return tl::unexpected(store_->damaged("the numbers of a decision cannot be read"));
      }
    }
    return decisions;
  });
}

}  // namespace steptune
