// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/collection.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/launch/compile_cache.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/report/format.hpp"
#include "tuner/retune/night_study.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Largest number of rounds of removal. A round may free less space than was estimated, and then
/// another one follows.
constexpr int k_most_rounds = 5;

/// True for `trial-7.ds.json` if `begin` is `trial-`.
bool is_numbered(const std::string& name, std::string_view begin) {
  return name.starts_with(begin) && name.size() > begin.size() &&
         std::isdigit(static_cast<unsigned char>(name[begin.size()])) != 0;
}

/// True for files that tuning a study leaves: logs, and copies of configuration files. The folder
/// may also contain the user's files, such as `logs/train/train.log` of a study `train`.
bool is_of_tuner(const fs::path& file) {
  constexpr std::array<std::string_view, 6> k_logs{"survey.log",      "init.log",
                                                   "look.log",        "fork-check.log",
                                                   "fork-server.log", "python-versions.log"};
  const std::string name = file.filename().string();
  return std::ranges::find(k_logs, name) != k_logs.end() || is_numbered(name, "trial-");
}

/// Returns the files that tuning a study left. Skips all other files, and links.
std::vector<fs::path> logs_of(const fs::path& database, const std::string& study) {
  std::vector<fs::path> files;
  if (!is_file_name(study)) return files;
  std::error_code fault;
  for (fs::directory_iterator at(log_directory(database, study), fault), end; !fault && at != end;
       at.increment(fault)) {
    if (is_of_tuner(at->path()) && fs::is_regular_file(at->symlink_status(fault))) {
      files.push_back(at->path());
    }
  }
  return files;
}

std::int64_t bytes_of(const fs::path& file) {
  std::error_code fault;
  const auto bytes = fs::file_size(file, fault);
  return fault ? 0 : static_cast<std::int64_t>(bytes);
}

/// Returns the folder of the functions that the study's trials have compiled; empty if there is
/// none.
fs::path compile_cache_of(const fs::path& database, const std::string& study) {
  if (!is_file_name(study)) return {};
  const fs::path folder = log_directory(database, study) / k_compile_cache_folder;
  std::error_code fault;
  return fs::is_directory(fs::symlink_status(folder, fault)) ? folder : fs::path();
}

std::int64_t bytes_below(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code fault;
  for (fs::recursive_directory_iterator at(folder, fault), end; !fault && at != end;
       at.increment(fault)) {
    if (fs::is_regular_file(at->symlink_status(fault))) bytes += bytes_of(at->path());
  }
  return bytes;
}

struct Taken {
  std::vector<StudyUse> studies;
  std::int64_t log_bytes = 0;
  std::int64_t database_bytes = 0;  ///< bytes of the database's files
  std::int64_t used_bytes = 0;      ///< bytes that the database would have after compaction

  [[nodiscard]] std::int64_t total() const { return log_bytes + database_bytes; }
};

Result<Taken> look_at(const History& history, const fs::path& database, bool is_written,
                      double now_wall_s, const std::string& kept) {
  const auto studies = history.studies();
  if (!studies) return tl::unexpected(studies.error());
  const auto needed = studies_of_nights(history, *studies);
  if (!needed) return tl::unexpected(needed.error());
  Taken taken;
  for (const StudyRecord& study : *studies) {
    auto use = history.use_of(study, is_written, now_wall_s);
    if (!use) return tl::unexpected(use.error());
    // Keep all studies of a campaign: the error that its next edit may use depends on all earlier
    // edits.
    use->needed = needed->contains(study.name) || study.document.contains("campaign");
    use->running = use->running || study.name == kept;
    for (const fs::path& log : logs_of(database, study.name))
      use->log_bytes += bytes_of(log);
    if (const auto cache = compile_cache_of(database, study.name); !cache.empty()) {
      use->log_bytes += bytes_below(cache);
    }
    taken.log_bytes += use->log_bytes;
    taken.studies.push_back(*std::move(use));
  }
  for (const char* suffix : {"", "-wal"})
    taken.database_bytes += bytes_of(database.string() + suffix);
  const auto used = history.used_bytes();
  if (!used) return tl::unexpected(used.error());
  taken.used_bytes = *used;
  return taken;
}

Result<void> remove(History& history, const fs::path& database, const GcStep& step) {
  if (step.part == GcPart::traces) return history.remove_traces(step.study_id);
  std::vector<fs::path> removed = logs_of(database, step.study);
  if (auto cache = compile_cache_of(database, step.study); !cache.empty()) {
    removed.push_back(std::move(cache));
  }
  for (const fs::path& path : removed) {
    std::error_code fault;
    fs::remove_all(path, fault);
    if (fault) {
      return fail(ErrorKind::unavailable, "cannot be removed: " + fault.message(), path.string(),
                  "make its folder writable and run the same command again");
    }
  }
  if (step.part == GcPart::logs) return {};
  if (is_file_name(step.study)) {
    std::error_code not_empty;  // if the user's files are in it, the folder stays
    fs::remove(log_directory(database, step.study), not_empty);
  }
  // Remove the study last: after an interruption, the next call continues with the same study.
  return history.remove_study(step.study_id);
}

Result<Collected> collect_from(Taken taken, History& history, const fs::path& database,
                               const GcRequest& request, double now_wall_s,
                               const std::string& kept) {
  const std::int64_t before = taken.total();
  Collected collected;
  for (int round = 0; round < k_most_rounds; ++round) {
    const auto next =
        plan_gc(taken.studies, request, now_wall_s, taken.used_bytes + taken.log_bytes);
    for (const GcStep& step : next) {
      if (auto done = remove(history, database, step); !done) return tl::unexpected(done.error());
    }
    collected.steps.insert(collected.steps.end(), next.begin(), next.end());
    if (round > 0 && next.empty()) break;
    if (auto done = history.compact(); !done) return tl::unexpected(done.error());
    auto left = look_at(history, database, /*is_written=*/false, now_wall_s, kept);
    if (!left) return tl::unexpected(left.error());
    taken = *std::move(left);
  }
  collected.freed_bytes = std::max<std::int64_t>(0, before - taken.total());
  collected.left_bytes = taken.total();
  return collected;
}

/// Replaces a size as people write it by a number of bytes. Returns an error message if the text is
/// no size.
std::string to_bytes(std::string& size) {
  const auto bytes = parse_bytes(size);
  if (!bytes || *bytes < 0.0 || *bytes > k_max_whole) {
    return fmt::format("\"{}\" is not a size: give one such as 500MB or 1.5GiB",
                       printable_line(size, 40));
  }
  size = fmt::format("{:.0f}", *bytes);
  return {};
}

}  // namespace

Result<Collected> plan_collection(const History& history, const fs::path& database,
                                  const GcRequest& request, bool is_written, double now_wall_s) {
  const auto taken = look_at(history, database, is_written, now_wall_s, {});
  if (!taken) return tl::unexpected(taken.error());
  Collected planned;
  planned.steps =
      plan_gc(taken->studies, request, now_wall_s, taken->used_bytes + taken->log_bytes);
  planned.freed_bytes = std::max<std::int64_t>(0, taken->database_bytes - taken->used_bytes);
  for (const GcStep& step : planned.steps)
    planned.freed_bytes += step.bytes;
  planned.left_bytes = std::max<std::int64_t>(0, taken->total() - planned.freed_bytes);
  return planned;
}

Result<Collected> collect(History& history, const fs::path& database, const GcRequest& request,
                          double now_wall_s) {
  auto taken = look_at(history, database, /*is_written=*/false, now_wall_s, {});
  if (!taken) return tl::unexpected(taken.error());
  return collect_from(*std::move(taken), history, database, request, now_wall_s, {});
}

void add_history_limit_option(CLI::App& command, std::optional<std::uint64_t>& limit_bytes,
                              const std::string& when) {
  add_value_option(
      command, "--history-limit", limit_bytes, "SIZE",
      fmt::format("{}emove traces, then logs, then studies, least recently used first, until "
                  "database and logs fit into this size, such as 500MB or 2GiB [default: none]",
                  when.empty() ? "R" : when + " r"))
      ->transform(CLI::Validator(to_bytes, ""));
}

std::optional<std::string> keep_within(std::optional<std::uint64_t> limit_bytes, History& history,
                                       const fs::path& database, const std::string& study,
                                       double now_wall_s) {
  if (!limit_bytes) return std::nullopt;
  const auto limit = static_cast<std::int64_t>(*limit_bytes);
  auto taken = look_at(history, database, /*is_written=*/false, now_wall_s, study);
  if (!taken) return "--history-limit: " + taken.error().text();
  if (taken->total() <= limit) return std::nullopt;
  GcRequest request;
  request.limit_bytes = limit;
  const auto collected =
      collect_from(*std::move(taken), history, database, request, now_wall_s, study);
  if (!collected) return "--history-limit: " + collected.error().text();
  if (collected->left_bytes <= limit) return std::nullopt;
  return fmt::format("--history-limit: {}; database and logs take {}", k_limit_not_reached,
                     format_bytes(static_cast<double>(collected->left_bytes)));
}

}  // namespace steptune
