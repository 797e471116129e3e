// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/history.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/history/store.hpp"
#include "tuner/history/trial_documents.hpp"
#include "tuner/history/trial_row.hpp"

namespace steptune {
namespace {

/// Of a file that is read as a version of that number wrote it.
std::string select_studies(int version, const char* rest) {
  return fmt::format(
      "SELECT id, name, fingerprint, document, seed, status, created_wall_s, elapsed_s, "
      "stop_reason, recommendation, overhead_usd, {} FROM studies {}",
      version < 5 ? "0" : "unpaid_suggestions", rest);
}

Result<StudyRecord> read_study_row(const Query& query, const std::string& where) {
  StudyRecord study;
  study.id = query.column(0).getInt64();
  study.name = query.column(1).getString();
  study.fingerprint = query.column(2).getString();
  study.seed = std::bit_cast<std::uint64_t>(std::int64_t{query.column(4).getInt64()});
  study.created_wall_s = query.column(6).getDouble();
  study.elapsed_s = query.column(7).getDouble();
  study.stop_reason = query.column(8).getString();
  study.overhead_usd = query.column(10).getDouble();
  study.unpaid_suggestions = query.column(11).getInt();
  const auto status = study_status_from_text(query.column(5).getString());
  auto document = parse_json(query.column(3).getString(), where);
  auto recommendation = query.column(9).isNull() ? Result<Json>(Json())
                                                 : parse_json(query.column(9).getString(), where);
  if (!status || !document || !recommendation) {
    return fail(ErrorKind::store, fmt::format("the study \"{}\" cannot be read", study.name), where,
                "the history is damaged or was edited: restore a backup, or start a new one with "
                "--db");
  }
  study.status = *status;
  study.document = *std::move(document);
  study.recommendation = *std::move(recommendation);
  return study;
}

/// A study of more trials is read into memory that grows.
constexpr std::int64_t k_most_reserved = 100'000;

/// Collects the trials of a query whose parameters are bound; `expected`: how many, where known.
Result<std::vector<TrialRecord>> read_trials(Query& query, Milestones milestones,
                                             const std::string& where, std::int64_t expected = 0) {
  std::vector<TrialRecord> trials;
  // Records are large: what grows is written twice.
  trials.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(expected, 0, k_most_reserved)));
  while (query.step()) {
    auto trial = read_trial(query, milestones, where);
    if (!trial) return tl::unexpected(trial.error());
    trials.push_back(*std::move(trial));
  }
  return trials;
}

std::string select_trials(const std::string& condition) {
  return fmt::format("SELECT {} FROM trials WHERE {}", k_trial_columns, condition);
}

/// Both ranked states are read through the index, best first, and merged.
std::string select_ranked(bool largest_first) {
  const auto one_state = [&](TrialStatus status) {
    return fmt::format(
        "SELECT * FROM (SELECT {} FROM trials WHERE study_id = ?1 AND status = '{}' "
        "AND objective_1 IS NOT NULL AND purpose IN ('baseline', 'hint', 'search') "
        "ORDER BY objective_1 {} LIMIT ?2)",
        k_trial_columns, to_text(status), largest_first ? "DESC" : "ASC");
  };
  return fmt::format("{} UNION ALL {} ORDER BY objective_1 {}, number LIMIT ?2",
                     one_state(TrialStatus::completed), one_state(TrialStatus::stopped_early),
                     largest_first ? "DESC" : "ASC");
}

/// The condition of baselines, sentinels and confirming runs is that of the index
/// `trials_that_decide`.
std::string select_standing(bool largest_first) {
  return fmt::format(
      "SELECT {0} FROM trials WHERE study_id = ?1 "
      "AND purpose IN ('baseline', 'sentinel', 'confirm_incumbent', 'confirm_baseline') "
      "UNION ALL SELECT * FROM (SELECT {0} FROM trials WHERE study_id = ?1 "
      "AND status = 'completed' AND objective_1 IS NOT NULL "
      "AND (objective_count < 2 OR objective_2 IS NOT NULL) AND purpose IN ('hint', 'search') "
      "ORDER BY objective_1 {1}, number LIMIT ?2) ORDER BY number",
      k_trial_columns, largest_first ? "DESC" : "ASC");
}

const std::string k_select_trials = select_trials("study_id = ? ORDER BY number");
const std::string k_select_trial = select_trials("study_id = ? AND number = ?");
const std::string k_select_latest =
    select_trials("study_id = ? AND status = ? ORDER BY number DESC LIMIT ?");
const std::string k_select_smallest = select_ranked(false);
const std::string k_select_largest = select_ranked(true);
const std::string k_select_standing_smallest = select_standing(false);
const std::string k_select_standing_largest = select_standing(true);

constexpr const char* k_open_states = "('launching', 'running', 'interrupted')";

std::string put_trial_statement() {
  std::string marks;
  std::string excluded = "excluded." + std::string(k_trial_columns);
  for (int column = 0; column < k_trial_column_count; ++column)
    marks += ", ?";
  for (auto at = excluded.find(", "); at != std::string::npos; at = excluded.find(", ", at + 2)) {
    excluded.insert(at + 2, "excluded.");
  }
  return fmt::format(
      "INSERT INTO trials (study_id, {0}) VALUES (?{1}) ON CONFLICT (study_id, number) DO UPDATE "
      "SET ({0}) = ({2}) WHERE status IN {3}",
      k_trial_columns, marks, excluded, k_open_states);
}

/// Inserts a trial or overwrites one that has not ended; changes no row otherwise.
const std::string k_put_trial = put_trial_statement();

const std::string k_set_running = fmt::format(
    "UPDATE trials SET status = 'running', token = ?, placement = ? "
    "WHERE study_id = ? AND number = ? AND status IN {}",
    k_open_states);

}  // namespace

History::History(std::unique_ptr<Store> store) : store_(std::move(store)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

const std::vector<std::string>& History::warnings() const {
  return store_->warnings;
}

Result<std::vector<StudyRecord>> History::studies() const {
  return store_->catch_errors([&]() -> Result<std::vector<StudyRecord>> {
    Query query = store_->query(select_studies(store_->version, "ORDER BY created_wall_s, id"));
    std::vector<StudyRecord> studies;
    while (query.step()) {
      auto study = read_study_row(query, store_->path.string());
      if (!study) return tl::unexpected(study.error());
      studies.push_back(*std::move(study));
    }
    return studies;
  });
}

Result<StudyRecord> History::study(const std::string& name) const {
  return store_->catch_errors([&]() -> Result<StudyRecord> {
    Query query = store_->query(select_studies(
        store_->version, "WHERE ?1 IN ('', name) ORDER BY created_wall_s DESC, id DESC LIMIT 1"));
    query.bind(name);
    if (query.step()) return read_study_row(query, store_->path.string());
    return no_study(name);
  });
}

tl::unexpected<Error> History::no_study(const std::string& name) const {
  Query query = store_->query("SELECT name FROM studies ORDER BY created_wall_s, id");
  std::vector<std::string> names;
  while (query.step())
    names.push_back(query.column(0).getString());
  if (names.empty()) {
    return fail(ErrorKind::not_found, "contains no study yet", store_->path.string(),
                "`steptune run STUDY` starts one");
  }
  return fail(ErrorKind::not_found,
              fmt::format("there is no study \"{}\"{}", name, did_you_mean(name, names)),
              store_->path.string(), fmt::format("its studies: {}", fmt::join(names, ", ")));
}

Result<std::vector<TrialRecord>> History::trials(std::int64_t study_id,
                                                 Milestones milestones) const {
  return store_->catch_errors([&] {
    Query counts =
        store_->query("SELECT coalesce(sum(trials), 0) FROM status_counts WHERE study_id = ?");
    counts.bind(study_id);
    const std::int64_t expected = counts.step() ? counts.column(0).getInt64() : 0;
    Query query = store_->query(k_select_trials);
    query.bind(study_id);
    return read_trials(query, milestones, store_->path.string(), expected);
  });
}

Result<TrialRecord> History::trial(std::int64_t study_id, std::int64_t number) const {
  return store_->catch_errors([&]() -> Result<TrialRecord> {
    Query query = store_->query(k_select_trial);
    query.bind(study_id).bind(number);
    if (query.step()) return read_trial(query, Milestones::read, store_->path.string());
    return fail(ErrorKind::not_found, fmt::format("there is no trial {}", number),
                store_->path.string(), "`steptune leaderboard` shows the trials");
  });
}

Result<std::vector<TrialRecord>> History::ranked_trials(std::int64_t study_id, std::size_t limit,
                                                        bool largest_first) const {
  return store_->catch_errors([&] {
    Query query = store_->query(largest_first ? k_select_largest : k_select_smallest);
    query.bind(study_id).bind(static_cast<std::int64_t>(limit));
    return read_trials(query, Milestones::leave, store_->path.string());
  });
}

Result<std::vector<TrialRecord>> History::standing_trials(std::int64_t study_id, std::size_t limit,
                                                          bool largest_first) const {
  return store_->catch_errors([&] {
    Query query =
        store_->query(largest_first ? k_select_standing_largest : k_select_standing_smallest);
    query.bind(study_id).bind(static_cast<std::int64_t>(limit));
    return read_trials(query, Milestones::leave, store_->path.string());
  });
}

Result<std::vector<TrialRecord>> History::latest_trials(std::int64_t study_id, TrialStatus status,
                                                        std::size_t limit) const {
  return store_->catch_errors([&] {
    Query query = store_->query(k_select_latest);
    query.bind(study_id).bind(to_text(status)).bind(static_cast<std::int64_t>(limit));
    return read_trials(query, Milestones::leave, store_->path.string());
  });
}

Result<std::map<TrialStatus, std::int64_t>> History::status_counts(std::int64_t study_id) const {
  return store_->catch_errors([&]() -> Result<std::map<TrialStatus, std::int64_t>> {
    Query query =
        store_->query("SELECT status, trials FROM status_counts WHERE study_id = ? AND trials > 0");
    query.bind(study_id);
    std::map<TrialStatus, std::int64_t> counts;
    while (query.step()) {
      const auto status = trial_status_from_text(query.column(0).getString());
      if (!status) return tl::unexpected(store_->damaged("unknown status of a trial"));
      counts[*status] = query.column(1).getInt64();
    }
    return counts;
  });
}

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

Result<void> History::remove_study(std::int64_t study_id) {
  return store_->write([&]() -> Result<void> {
    for (const char* statement :
         {"DELETE FROM traces WHERE study_id = ?", "DELETE FROM attempts WHERE study_id = ?",
          "DELETE FROM sessions WHERE study_id = ?", "DELETE FROM unused_times WHERE study_id = ?",
          "DELETE FROM decisions WHERE study_id = ?", "DELETE FROM trials WHERE study_id = ?",
          "DELETE FROM status_counts WHERE study_id = ?", "DELETE FROM studies WHERE id = ?"}) {
      store_->query(statement).bind(study_id).run();
    }
    return {};
  });
}

Result<void> History::put_trial(std::int64_t study_id, const TrialRecord& trial,
                                const std::optional<StudyTotals>& totals, const TrialTrace& trace) {
  return store_->write([&]() -> Result<void> {
    if (auto done = write_trial(study_id, trial, trace); !done) return done;
    if (totals) {
      store_
          ->query(
              "UPDATE studies SET elapsed_s = ?, overhead_usd = ?, unpaid_suggestions = ? "
              "WHERE id = ?")
          .bind(totals->elapsed_s)
          .bind(totals->overhead_usd)
          .bind(std::int64_t{totals->unpaid_suggestions})
          .bind(study_id)
          .run();
      put_unused(study_id, totals->unused);
      put_decisions(study_id, totals->decisions);
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

void History::put_unused(std::int64_t study_id, std::span<const UnusedTime> unused) {
  for (const UnusedTime& time : unused) {
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
}

void History::put_decisions(std::int64_t study_id, std::span<const StudyDecision> decisions) {
  for (const StudyDecision& decision : decisions) {
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
  if (!trace.empty()) {
    store_->query("INSERT OR REPLACE INTO traces (study_id, number, trace) VALUES (?, ?, ?)")
        .bind(study_id)
        .bind(trial.number)
        .bind(dump_json(to_json(trace)))
        .run();
  }
  const bool has_ended = is_final(trial.status) || trial.status == TrialStatus::interrupted;
  // The only launch of a trial says nothing that its record does not.
  if (!has_ended || (trial.attempt == 1 && is_final(trial.status))) return;
  // A trial's bill is the sum of its launches'.
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

Result<void> History::record_launching(std::int64_t study_id, const TrialRecord& trial,
                                       const std::optional<StudyTotals>& totals) {
  if (trial.status != TrialStatus::launching) {
    return fail(ErrorKind::internal, fmt::format("trial {} is not launching", trial.number));
  }
  return put_trial(study_id, trial, totals, {});
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
                                   const std::optional<StudyTotals>& totals,
                                   const TrialTrace& trace) {
  if (!is_final(trial.status) && trial.status != TrialStatus::interrupted) {
    return fail(ErrorKind::internal, fmt::format("trial {} has not ended", trial.number));
  }
  return put_trial(study_id, trial, totals, trace);
}

Result<void> History::record_study(const StudyRecord& study, std::span<const UnusedTime> unused,
                                   std::span<const StudyDecision> decisions) {
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
    put_unused(study.id, unused);
    put_decisions(study.id, decisions);
    return {};
  });
}

}  // namespace steptune
