// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <sys/stat.h>

#include "trial_runner/longest_trial.hpp"
#include "tuner/history/history.hpp"
#include "tuner/history/store.hpp"

namespace steptune {
namespace {

/// Bytes of numbers and short texts in a trial's row, and of its index entries.
constexpr int k_fixed_trial_bytes = 300;

}  // namespace

Result<StudySpending> History::spending(std::int64_t study_id) const {
  return store_->catch_errors([&]() -> Result<StudySpending> {
    Query query = store_->query(
        "SELECT coalesce(sum(spent_s), 0.0), coalesce(sum(spent_usd), 0.0), "
        "coalesce(sum(attempt - 1), 0) FROM trials WHERE study_id = ?");
    query.bind(study_id);
    StudySpending spending;
    if (query.step()) {
      spending = {query.column(0).getDouble(), query.column(1).getDouble(),
                  query.column(2).getInt64()};
    }
    return spending;
  });
}

Result<std::int64_t> History::change_counter() const {
  return store_->catch_errors([&]() -> Result<std::int64_t> {
    if (store_->is_snapshot) {
      if (auto renewed = store_->renew(); !renewed) return tl::unexpected(renewed.error());
    }
    // On a read-only disk, the renewed file is a snapshot again, in which SQLite never sees a
    // change. Use the file's modification time instead.
    if (store_->is_snapshot) {
      struct stat file {};
      if (::stat(store_->path.c_str(), &file) != 0) return 0;
      return std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
    }
    Query query = store_->query("PRAGMA data_version");
    return query.step() ? query.column(0).getInt64() : 0;
  });
}

Result<StudyUse> History::use_of(const StudyRecord& study, bool is_written,
                                 double now_wall_s) const {
  return store_->catch_errors([&]() -> Result<StudyUse> {
    StudyUse use;
    use.id = study.id;
    use.name = study.name;
    // A killed tuner leaves its study stored as running, so check the writer, too.
    use.running = study.status == StudyStatus::running && is_written;
    std::int64_t open_trials = 0;
    use.last_used_wall_s = study.created_wall_s;
    Query trials = store_->query(
        "SELECT max(max(started_wall_s, ended_wall_s)), "
        "sum(?1 + length(configuration) + coalesce(length(measurement), 0) + length(failure) + "
        "length(placement) + length(log_path)), "
        "sum(status IN ('launching', 'running')) FROM trials WHERE study_id = ?2");
    trials.bind(std::int64_t{k_fixed_trial_bytes}).bind(study.id);
    if (trials.step() && !trials.column(0).isNull()) {
      use.last_used_wall_s = std::max(use.last_used_wall_s, trials.column(0).getDouble());
      use.record_bytes = trials.column(1).getInt64();
      open_trials = trials.column(2).getInt64();
    }
    // A killed or detached tuner may have left jobs that still run elsewhere.
    const bool left_behind = !is_written && now_wall_s - use.last_used_wall_s > k_longest_trial_s;
    use.running = use.running || (open_trials > 0 && !left_behind);
    Query traces = store_->query("SELECT sum(length(trace)) FROM traces WHERE study_id = ?");
    traces.bind(study.id);
    if (traces.step() && !traces.column(0).isNull()) use.trace_bytes = traces.column(0).getInt64();
    Query sessions = store_->query("SELECT max(started_wall_s) FROM sessions WHERE study_id = ?");
    sessions.bind(study.id);
    if (sessions.step() && !sessions.column(0).isNull()) {
      use.last_used_wall_s = std::max(use.last_used_wall_s, sessions.column(0).getDouble());
    }
    return use;
  });
}

Result<std::int64_t> History::used_bytes() const {
  return store_->catch_errors([&]() -> Result<std::int64_t> {
    const auto number = [&](const char* pragma) {
      return store_->database.execAndGet(pragma).getInt64();
    };
    return (number("PRAGMA page_count") - number("PRAGMA freelist_count")) *
           number("PRAGMA page_size");
  });
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

Result<void> History::remove_traces(std::int64_t study_id) {
  return store_->write([&]() -> Result<void> {
    store_->query("DELETE FROM traces WHERE study_id = ?").bind(study_id).run();
    return {};
  });
}

Result<void> History::compact() {
  return store_->catch_errors([&]() -> Result<void> {
    store_->database.exec("VACUUM");
    // If readers remain, the WAL stays; it is truncated when the last of them closes.
    Query checkpoint = store_->query("PRAGMA wal_checkpoint(TRUNCATE)");
    static_cast<void>(checkpoint.step());
    return {};
  });
}

}  // namespace steptune
