// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_pages.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "tuner/report/html/html_report.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/report/recommendation.hpp"
#include "tuner/serve/index_page.hpp"

namespace steptune {
namespace {

constexpr double k_read_busy_timeout_s = 1.0;
/// Longest wait of a request for earlier requests that read the database. While the database is
/// locked, each earlier request waits for `k_read_busy_timeout_s`.
constexpr std::chrono::seconds k_longest_wait_for_readers{5};
constexpr std::size_t k_most_pages_kept = 8;

Result<std::int64_t> trial_count(const StoredStudy& study) {
  const auto counts = study.history.status_counts(study.record.id);
  if (!counts) return tl::unexpected(counts.error());
  std::int64_t trials = 0;
  for (const auto& [status, count] : *counts)
    trials += count;
  return trials;
}

}  // namespace

StudyPages::StudyPages(std::filesystem::path database, std::string database_option,
                       StudyWatch& watch)
    : database_(std::move(database)), database_option_(std::move(database_option)), watch_(watch) {}

Result<std::unique_lock<std::timed_mutex>> StudyPages::lock_for_reading() {
  std::unique_lock lock(reading_, k_longest_wait_for_readers);
  if (!lock) {
    return fail(ErrorKind::unavailable, "too many requests at once", database_.string(),
                "ask again in a few seconds");
  }
  return lock;
}

Result<StoredStudy> StudyPages::open_study(std::int64_t id) const {
  auto history = History::open_for_reading(database_, k_read_busy_timeout_s);
  if (!history) return tl::unexpected(history.error());
  auto records = history->studies();
  if (!records) return tl::unexpected(records.error());
  const auto record = std::ranges::find(*records, id, &StudyRecord::id);
  if (record == records->end()) {
    return fail(ErrorKind::not_found, fmt::format("there is no study with the id {}", id));
  }
  return stored_study(*std::move(history), std::move(*record));
}

Result<std::string> StudyPages::page(std::int64_t id) {
  const auto lock = lock_for_reading();
  if (!lock) return tl::unexpected(lock.error());
  const auto version = watch_.version(id);
  if (!version) return tl::unexpected(version.error());
  const auto kept = pages_.find(id);
  if (kept != pages_.end() && kept->second.version == *version) return kept->second.html;
  auto html = made_page(id, *version);
  if (!html) return html;
  if (pages_.size() >= k_most_pages_kept) pages_.clear();
  pages_[id] = {*version, *html};
  return html;
}

Result<std::string> StudyPages::made_page(std::int64_t id, const std::string& version) {
  const auto study = open_study(id);
  if (!study) return tl::unexpected(study.error());
  const StudyRecord& record = study->record;
  const auto trials = trial_count(*study);
  if (!trials) return tl::unexpected(trials.error());
  if (std::cmp_greater(*trials, k_many_trials)) {
    return problem_page(record.name,
                        fmt::format("This study has {} trials, more than one page can show ({}). "
                                    "`steptune leaderboard {}{}` selects among them.",
                                    *trials, k_many_trials, record.name, database_option_));
  }
  const auto report = read_study_report(*study, study_context(*study, database_option_, database_));
  if (!report) return tl::unexpected(report.error());
  const LivePage live{fmt::format("/studies/{}/events?since={}", id, version)};
  return html_report(*report, &live);
}

Result<std::string> StudyPages::leaderboard_text(std::int64_t id) {
  const auto lock = lock_for_reading();
  if (!lock) return tl::unexpected(lock.error());
  const auto study = open_study(id);
  if (!study) return tl::unexpected(study.error());
  const auto trials = trial_count(*study);
  if (!trials) return tl::unexpected(trials.error());
  if (std::cmp_greater(*trials, k_many_trials)) {
    return fail(ErrorKind::usage,
                fmt::format("the study has {} trials, more than one answer holds ({})", *trials,
                            k_many_trials),
                study->record.name,
                fmt::format("read them with `steptune leaderboard {}{} --all --json`",
                            study->record.name, database_option_));
  }
  LeaderboardQuery query;
  query.all = true;
  query.limit = k_many_trials;
  const auto board = read_leaderboard(*study, query);
  if (!board) return tl::unexpected(board.error());
  return dump_json(leaderboard_json(*board));
}

Result<std::vector<StudyFigures>> StudyPages::all_figures() {
  const auto lock = lock_for_reading();
  if (!lock) return tl::unexpected(lock.error());
  auto history = History::open_for_reading(database_, k_read_busy_timeout_s);
  if (!history) return tl::unexpected(history.error());
  // Read the versions before the figures. If a study changes in between, its version differs at the
  // next request, which reads the figures again.
  const auto records = history->studies();
  if (!records) return tl::unexpected(records.error());
  std::map<std::int64_t, std::string> versions;
  for (const StudyRecord& record : *records)
    versions[record.id] = watch_.version(record.id).value_or("");
  auto studies = read_study_list(*history);
  if (!studies) return tl::unexpected(studies.error());
  std::map<std::int64_t, Figures> known;
  std::vector<StudyFigures> all;
  for (ListedStudy& listed : *studies) {
    const std::int64_t id = listed.record.id;
    const std::string version = versions[id];
    auto former = figures_.find(id);
    if (former == figures_.end() || version.empty() || former->second.version != version) {
      auto read = read_study_figures(*history, listed);
      if (!read) {
        if (read.error().kind == ErrorKind::unavailable) return tl::unexpected(read.error());
        // Show this study with its fault, and all other studies. The next request tries to read it
        // again.
        StudyFigures unread;
        unread.listed = std::move(listed);
        unread.fault = read.error().text();
        all.push_back(std::move(unread));
        continue;
      }
      all.push_back(*read);
      known[id] = {version, *std::move(read)};
    } else {
      all.push_back(former->second.figures);
      known[id] = std::move(former->second);
    }
  }
  figures_ = std::move(known);
  return all;
}

}  // namespace steptune
