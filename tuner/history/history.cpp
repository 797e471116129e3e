// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/history.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/history/store.hpp"
#include "tuner/history/trial_row.hpp"

namespace steptune {
namespace {

std::string select_studies(const char* rest) {
  return fmt::format(
      "SELECT id, name, fingerprint, document, seed, status, created_wall_s, elapsed_s, "
      "stop_reason, recommendation, overhead_usd, unpaid_suggestions FROM studies {}",
      rest);
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

bool seems_to_run(const StudyRecord& study) {
  return study.status == StudyStatus::running;
}

/// Returns the studies from `read`, for readers. If no tuner has the database open, a study that is
/// stored as running becomes `interrupted`, because its tuner died.
template <typename Read>
auto with_lost_tuners(const std::filesystem::path& path, Read read) {
  auto studies = read();
  if (!studies || std::ranges::none_of(*studies, seems_to_run) || History::has_writer(path)) {
    return studies;
  }
  // Read again: the tuner may have recorded its end between the first reading and the check.
  studies = read();
  if (!studies) return studies;
  for (StudyRecord& study : *studies) {
    if (!seems_to_run(study)) continue;
    study.status = StudyStatus::interrupted;
    study.stop_reason = "its tuner is gone";
  }
  return studies;
}

/// Largest number of trials for which memory is reserved at once.
constexpr std::int64_t k_most_reserved = 100'000;

/// Returns the trial in the query's current row, with the cost of its earlier attempts.
template <typename Store>
Result<TrialRecord> read_with_attempts(Store& store, std::int64_t study_id, const Query& query,
                                       Milestones milestones) {
  auto trial = read_trial(query, milestones, store.path.string());
  if (!trial || trial->attempt <= 1) return trial;
  Query earlier = store.query(
      "SELECT coalesce(sum(spent_s), 0.0), coalesce(sum(spent_usd), 0.0) FROM attempts "
      "WHERE study_id = ? AND number = ? AND attempt < ?");
  earlier.bind(study_id).bind(trial->number).bind(std::int64_t{trial->attempt});
  if (earlier.step()) {
    trial->earlier_s = earlier.column(0).getDouble();
    trial->earlier_usd = earlier.column(1).getDouble();
  }
  return trial;
}

/// Returns the trials of a query whose parameters are bound. `expected`: their number; 0 if
/// unknown.
template <typename Store>
Result<std::vector<TrialRecord>> read_trials(Store& store, std::int64_t study_id, Query& query,
                                             Milestones milestones, std::int64_t expected = 0) {
  std::vector<TrialRecord> trials;
  // Reserve memory: records are large, and growing copies them.
  trials.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(expected, 0, k_most_reserved)));
  while (query.step()) {
    auto trial = read_with_attempts(store, study_id, query, milestones);
    if (!trial) return tl::unexpected(trial.error());
    trials.push_back(*std::move(trial));
  }
  return trials;
}

std::string select_trials(const std::string& condition) {
  return fmt::format("SELECT {} FROM trials WHERE {}", k_trial_columns, condition);
}

/// Returns a query for ranked trials, best first. The query reads completed trials and trials
/// stopped early through the index, and merges both.
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

/// Returns a query for `standing_trials`. The index `trials_that_decide` has the same condition for
/// baselines, sentinels and confirming runs.
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

}  // namespace

History::History(std::unique_ptr<Store> store) : store_(std::move(store)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

const std::vector<std::string>& History::warnings() const {
  return store_->warnings;
}

Result<std::vector<StudyRecord>> History::studies() const {
  const auto read = [&] {
    return store_->catch_errors([&]() -> Result<std::vector<StudyRecord>> {
      Query query = store_->query(select_studies("ORDER BY id"));
      std::vector<StudyRecord> studies;
      while (query.step()) {
        auto study = read_study_row(query, store_->path.string());
        if (!study) return tl::unexpected(study.error());
        studies.push_back(*std::move(study));
      }
      return studies;
    });
  };
  return store_->lock ? read() : with_lost_tuners(store_->path, read);
}

Result<StudyRecord> History::study(const std::string& name) const {
  const auto read = [&] {
    return store_->catch_errors([&]() -> Result<std::vector<StudyRecord>> {
      Query query =
          store_->query(select_studies("WHERE ?1 IN ('', name) ORDER BY id DESC LIMIT 1"));
      query.bind(name);
      if (!query.step()) return no_study(name);
      auto study = read_study_row(query, store_->path.string());
      if (!study) return tl::unexpected(study.error());
      return std::vector{*std::move(study)};
    });
  };
  auto found = store_->lock ? read() : with_lost_tuners(store_->path, read);
  if (!found) return tl::unexpected(found.error());
  return std::move(found->front());
}

tl::unexpected<Error> History::no_study(const std::string& name) const {
  Query query = store_->query("SELECT name FROM studies ORDER BY id");
  std::vector<std::string> names;
  while (query.step())
    names.push_back(query.column(0).getString());
  if (names.empty()) {
    return fail(ErrorKind::not_found, "contains no study yet", store_->path.string(),
                "`steptune run STUDY` starts one");
  }
  const bool are_many = names.size() > 20;
  return fail(ErrorKind::not_found,
              fmt::format("there is no study \"{}\"{}", name, did_you_mean(name, names)),
              store_->path.string(),
              are_many ? fmt::format("`steptune studies` lists its {} studies", names.size())
                       : fmt::format("its studies: {}", fmt::join(names, ", ")));
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
    return read_trials(*store_, study_id, query, milestones, expected);
  });
}

Result<TrialRecord> History::trial(std::int64_t study_id, std::int64_t number) const {
  return store_->catch_errors([&]() -> Result<TrialRecord> {
    Query query = store_->query(k_select_trial);
    query.bind(study_id).bind(number);
    if (query.step()) return read_with_attempts(*store_, study_id, query, Milestones::read);
    Query named = store_->query("SELECT name FROM studies WHERE id = ?");
    named.bind(study_id);
    const std::string name = named.step() ? named.column(0).getString() : "";
    return fail(ErrorKind::not_found,
                fmt::format("there is no trial {} in study \"{}\"", number, name),
                store_->path.string(),
                fmt::format("`steptune leaderboard {} --all` shows its trials", name));
  });
}

Result<std::vector<TrialRecord>> History::ranked_trials(std::int64_t study_id, std::size_t limit,
                                                        bool largest_first) const {
  return store_->catch_errors([&] {
    Query query = store_->query(largest_first ? k_select_largest : k_select_smallest);
    query.bind(study_id).bind(static_cast<std::int64_t>(limit));
    return read_trials(*store_, study_id, query, Milestones::leave);
  });
}

Result<std::vector<TrialRecord>> History::standing_trials(std::int64_t study_id, std::size_t limit,
                                                          bool largest_first) const {
  return store_->catch_errors([&] {
    Query query =
        store_->query(largest_first ? k_select_standing_largest : k_select_standing_smallest);
    query.bind(study_id).bind(static_cast<std::int64_t>(limit));
    return read_trials(*store_, study_id, query, Milestones::leave);
  });
}

Result<std::vector<TrialRecord>> History::latest_trials(std::int64_t study_id, TrialStatus status,
                                                        std::size_t limit) const {
  return store_->catch_errors([&] {
    Query query = store_->query(k_select_latest);
    query.bind(study_id).bind(to_text(status)).bind(static_cast<std::int64_t>(limit));
    return read_trials(*store_, study_id, query, Milestones::leave);
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

}  // namespace steptune
