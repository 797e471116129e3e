// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/study_watch.hpp"

#include <functional>

#include <fmt/format.h>
#include <sys/stat.h>

namespace steptune {
namespace {

/// Kept short, because each caller waits for all earlier callers.
constexpr double k_busy_timeout_s = 0.2;

std::string hash_text(const std::string& text) {
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

}  // namespace

Result<std::string> StudyWatch::version(std::optional<std::int64_t> study_id) {
  const std::lock_guard lock(mutex_);
  if (const auto polled = poll(); !polled) {
    history_.reset();
    return tl::unexpected(polled.error());
  }
  if (!study_id) return of_all_;
  const auto found = of_study_.find(*study_id);
  if (found == of_study_.end()) {
    return fail(ErrorKind::not_found, fmt::format("there is no study with the id {}", *study_id),
                database_.string());
  }
  return found->second;
}

Result<void> StudyWatch::poll() {
  if (auto opened = open_what_is_there(); !opened) return opened;
  const auto counter = history_->change_counter();
  if (!counter) return tl::unexpected(counter.error());
  // If a tuner is killed, the file does not change but the writer is gone. So also check for a
  // writer.
  const bool has_writer = History::has_writer(database_);
  if (*counter == counter_ && has_writer == has_writer_) return {};
  if (auto read = read_versions(); !read) return read;
  counter_ = *counter;
  has_writer_ = has_writer;
  return {};
}

Result<void> StudyWatch::open_what_is_there() {
  struct stat now {};
  // If stat fails, continue: opening the file gives a better error.
  const bool exists = ::stat(database_.c_str(), &now) == 0;
  const std::pair<std::uint64_t, std::uint64_t> file{now.st_dev, now.st_ino};
  if (exists && history_ && file == file_) return {};
  history_.reset();
  auto opened = History::open_for_reading(database_, k_busy_timeout_s);
  if (!opened) return tl::unexpected(opened.error());
  history_ = *std::move(opened);
  file_ = file;
  counter_ = -1;
  return {};
}

Result<void> StudyWatch::read_versions() {
  const auto studies = history_->studies();
  if (!studies) return tl::unexpected(studies.error());
  std::map<std::int64_t, std::string> versions;
  std::string all;
  for (const StudyRecord& study : *studies) {
    const auto counts = history_->status_counts(study.id);
    if (!counts) return tl::unexpected(counts.error());
    // The version needs no data of single trials: the end of a trial changes the totals, and its
    // start changes a count.
    std::string state =
        fmt::format("{} {} {} {} {} {}", study.name, to_text(study.status), study.elapsed_s,
                    study.overhead_usd, study.stop_reason, dump_json(study.recommendation));
    for (const auto& [status, count] : *counts)
      state += fmt::format(" {} {}", to_text(status), count);
    versions[study.id] = hash_text(state);
    all += versions[study.id];
  }
  of_study_ = std::move(versions);
  of_all_ = hash_text(all);
  return {};
}

}  // namespace steptune
