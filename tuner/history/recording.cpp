// SPDX-License-Identifier: Apache-2.0
// Methods with which a running tuner records a study and its trials.
#include <bit>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tuner/history/history.hpp"
#include "tuner/history/store.hpp"
#include "tuner/history/trial_documents.hpp"
#include "tuner/history/trial_row.hpp"

namespace steptune {
namespace {

constexpr const char* k_open_states = "('launching', 'running', 'interrupted')";

std::string put_trial_statement() {
  std::string marks = ", ?";
  std::string excluded = "excluded." + std::string(k_trial_columns);
  for (auto at = excluded.find(", "); at != std::string::npos; at = excluded.find(", ", at + 2)) {
    excluded.insert(at + 2, "excluded.");
    marks += ", ?";
  }
  return fmt::format(
      "INSERT INTO trials (study_id, {0}) VALUES (?{1}) ON CONFLICT (study_id, number) DO UPDATE "
      "SET ({0}) = ({2}) WHERE status IN {3}",
      k_trial_columns, marks, excluded, k_open_states);
}

/// Inserts a trial, or overwrites it if its stored state is not final. Otherwise changes no row.
const std::string k_put_trial = put_trial_statement();

const std::string k_set_running = fmt::format(
    "UPDATE trials SET status = 'running', token = ?, placement = ? "
    "WHERE study_id = ? AND number = ? AND status IN {}",
    k_open_states);

}  // namespace

Result<StudyRecord> History::create_or_continue_study(const std::string& name,
                                                      const std::string& fingerprint,
                                                      const Json& document, std::uint64_t seed) {
  const auto existing = study(name);
  if (!existing && existing.error().kind != ErrorKind::not_found) {
    return tl::unexpected(existing.error());
  }
  if (existing && existing->fingerprint != fingerprint) {
    return fail(ErrorKind::conflict,
                fmt::format("the study \"{}\" exists with another definition: its trials cannot be "
                            "compared with new ones",
                            name),
                store_->path.string(), "give the study another \"name\"");
  }
  const auto written = store_->write([&]() -> Result<void> {
    if (existing) {
      store_->query("UPDATE studies SET document = ? WHERE id = ?")
          .bind(dump_json(document))
          .bind(existing->id)
          .run();
    } else {
      StudyRecord begun;
      begun.name = name;
      begun.fingerprint = fingerprint;
      begun.document = document;
      begun.seed = seed;
      insert_study(begun);
    }
    return {};
  });
  if (!written) return tl::unexpected(written.error());
  return study(name);
}

Result<void> History::add_ended_study(const StudyRecord& ended,
                                      const std::vector<TrialRecord>& trials) {
  const auto existing = study(ended.name);
  if (existing) {
    return fail(ErrorKind::conflict, fmt::format("a study \"{}\" already exists", ended.name),
                store_->path.string(), "give another name");
  }
  if (existing.error().kind != ErrorKind::not_found) return tl::unexpected(existing.error());
  return store_->write([&]() -> Result<void> {
    const std::int64_t study_id = insert_study(ended);
    for (const TrialRecord& trial : trials) {
      if (auto done = write_trial(study_id, trial, {}); !done) return done;
    }
    return {};
  });
}

std::int64_t History::insert_study(const StudyRecord& study) {
  store_
      ->query(
          "INSERT INTO studies (name, fingerprint, document, seed, status, created_wall_s, "
          "elapsed_s, stop_reason) VALUES (?, ?, ?, ?, ?, ?, 0.0, ?)")
      .bind(study.name)
      .bind(study.fingerprint)
      .bind(dump_json(study.document))
      .bind(std::bit_cast<std::int64_t>(study.seed))
      .bind(to_text(study.status))
      .bind(store_->clock->wall_time_s())
      .bind(study.stop_reason)
      .run();
  return store_->database.getLastInsertRowid();
}

Result<void> History::put_trial(std::int64_t study_id, const TrialRecord& trial,
                                const StudyRecord* study, const TrialTrace& trace) {
  return store_->write([&]() -> Result<void> {
    if (auto done = write_trial(study_id, trial, trace); !done) return done;
    if (study != nullptr) {
      store_
          ->query(
              "UPDATE studies SET elapsed_s = ?, overhead_usd = ?, unpaid_suggestions = ? "
              "WHERE id = ?")
          .bind(study->elapsed_s)
          .bind(study->overhead_usd)
          .bind(std::int64_t{study->unpaid_suggestions})
          .bind(study_id)
          .run();
      put_additions(study_id, *study);
    }
    return {};
  });
}

Result<void> History::write_trial(std::int64_t study_id, const TrialRecord& trial,
                                  const TrialTrace& trace) {
  if (trial.objectives.size() > k_max_objectives) {
    return fail(ErrorKind::internal,
                fmt::format("trial {} has {} objectives; {} are stored at most", trial.number,
                            trial.objectives.size(), k_max_objectives));
  }
  Query query = store_->query(k_put_trial);
  query.bind(study_id);
  bind_trial(query, trial);
  if (query.run() != 1) {
    return fail(ErrorKind::internal,
                fmt::format("trial {} has ended before and cannot be changed", trial.number),
                store_->path.string());
  }
  put_details(study_id, trial, trace);
  return {};
}

void History::put_additions(std::int64_t study_id, const StudyRecord& study) {
  for (const UnusedTime& time : study.unused) {
    store_
        ->query(
            "INSERT INTO unused_times (study_id, machine, from_wall_s, to_wall_s, usd) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (study_id, machine, from_wall_s) "
            "DO UPDATE SET to_wall_s = excluded.to_wall_s, usd = usd + excluded.usd")
        .bind(study_id)
        .bind(time.machine)
        .bind(time.from_wall_s)
        .bind(time.to_wall_s)
        .bind(time.usd)
        .run();
  }
  for (const StudyDecision& decision : study.decisions) {
    Query query = store_->query(
        "INSERT INTO decisions (study_id, decision, at_wall_s, kind, trial, text, numbers) "
        "SELECT ?1, 1 + coalesce(max(decision), 0), ?2, ?3, ?4, ?5, ?6 FROM decisions "
        "WHERE study_id = ?1");
    query.bind(study_id).bind(decision.at_wall_s).bind(decision.kind);
    if (decision.trial > 0) {
      query.bind(decision.trial);
    } else {
      query.bind_null();
    }
    // Numbers that are not finite become null.
    query.bind(decision.text)
        .bind(decision.numbers.dump(-1, ' ', false, Json::error_handler_t::replace))
        .run();
  }
}

void History::put_details(std::int64_t study_id, const TrialRecord& trial,
                          const TrialTrace& trace) {
  if (trial.status == TrialStatus::launching) {
    // Remove the earlier attempt's trace, because the new attempt may end without one.
    store_->query("DELETE FROM traces WHERE study_id = ? AND number = ?")
        .bind(study_id)
        .bind(trial.number)
        .run();
  } else if (!trace.empty()) {
    store_->query("INSERT OR REPLACE INTO traces (study_id, number, trace) VALUES (?, ?, ?)")
        .bind(study_id)
        .bind(trial.number)
        .bind(dump_json(to_json(trace)))
        .run();
  }
  const bool has_ended = is_final(trial.status) || trial.status == TrialStatus::interrupted;
  // If the first launch gave the final state, the trial's record already describes it.
  if (!has_ended || (trial.attempt == 1 && is_final(trial.status))) return;
  // The trial's time and cost cover all launches, so subtract the earlier launches.
  store_
      ->query(
          "INSERT OR REPLACE INTO attempts (study_id, number, attempt, status, started_wall_s, "
          "ended_wall_s, spent_s, spent_usd, failure) SELECT ?1, ?2, ?3, ?4, ?5, ?6, "
          "?7 - coalesce(sum(spent_s), 0.0), ?8 - coalesce(sum(spent_usd), 0.0), ?9 "
          "FROM attempts WHERE study_id = ?1 AND number = ?2 AND attempt < ?3")
      .bind(study_id)
      .bind(trial.number)
      .bind(std::int64_t{trial.attempt})
      .bind(to_text(trial.status))
      .bind(trial.started_wall_s)
      .bind(trial.ended_wall_s)
      .bind(trial.spent_s)
      .bind(trial.spent_usd)
      .bind(trial.failure)
      .run();
}

Result<void> History::record_session(std::int64_t study_id, const MachineDescription& machine) {
  return store_->write([&]() -> Result<void> {
    store_
        ->query(
            "INSERT INTO sessions (study_id, session, started_wall_s, machine) "
            "SELECT ?1, 1 + coalesce(max(session), 0), ?2, ?3 FROM sessions "
            "WHERE study_id = ?1")
        .bind(study_id)
        .bind(store_->clock->wall_time_s())
        .bind(texts_document(machine))
        .run();
    return {};
  });
}

Result<void> History::record_launching(std::int64_t study_id, const TrialRecord& trial,
                                       const StudyRecord* study) {
  if (trial.status != TrialStatus::launching) {
    return fail(ErrorKind::internal, fmt::format("trial {} is not launching", trial.number));
  }
  return put_trial(study_id, trial, study, {});
}

Result<void> History::record_running(std::int64_t study_id, std::int64_t number,
                                     const std::string& token,
                                     const std::map<std::string, std::string>& placement) {
  return store_->write([&]() -> Result<void> {
    const int changed = store_->query(k_set_running)
                            .bind(token)
                            .bind(texts_document(placement))
                            .bind(study_id)
                            .bind(number)
                            .run();
    if (changed == 1) return {};
    return fail(ErrorKind::internal,
                fmt::format("trial {} was not launched or has ended before", number),
                store_->path.string());
  });
}

Result<void> History::record_ended(std::int64_t study_id, const TrialRecord& trial,
                                   const StudyRecord* study, const TrialTrace& trace) {
  if (!is_final(trial.status) && trial.status != TrialStatus::interrupted) {
    return fail(ErrorKind::internal, fmt::format("trial {} has not ended", trial.number));
  }
  return put_trial(study_id, trial, study, trace);
}

Result<void> History::record_spent(std::int64_t study_id, std::span<const TrialRecord> running,
                                   double elapsed_s) {
  return store_->write([&]() -> Result<void> {
    for (const TrialRecord& trial : running) {
      store_
          ->query(
              "UPDATE trials SET spent_s = ?, spent_usd = ? "
              "WHERE study_id = ? AND number = ? AND status = 'running'")
          .bind(trial.spent_s)
          .bind(trial.spent_usd)
          .bind(study_id)
          .bind(trial.number)
          .run();
    }
    store_->query("UPDATE studies SET elapsed_s = max(elapsed_s, ?) WHERE id = ?")
        .bind(elapsed_s)
        .bind(study_id)
        .run();
    return {};
  });
}

Result<void> History::record_study(const StudyRecord& study) {
  return store_->write([&]() -> Result<void> {
    Query query = store_->query(
        "UPDATE studies SET status = ?, elapsed_s = ?, overhead_usd = ?, unpaid_suggestions = ?, "
        "stop_reason = ?, recommendation = ? WHERE id = ?");
    query.bind(to_text(study.status))
        .bind(study.elapsed_s)
        .bind(study.overhead_usd)
        .bind(std::int64_t{study.unpaid_suggestions})
        .bind(study.stop_reason);
    if (study.recommendation.is_null()) {
      query.bind_null();
    } else {
      query.bind(dump_json(study.recommendation));
    }
    if (query.bind(study.id).run() != 1) {
      return fail(ErrorKind::internal, fmt::format("there is no study {}", study.id),
                  store_->path.string());
    }
    put_additions(study.id, study);
    return {};
  });
}

}  // namespace steptune
