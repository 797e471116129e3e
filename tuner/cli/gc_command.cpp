// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/retune/night.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// What is estimated may be more than what comes back; so often it is looked at again.
constexpr int k_most_rounds = 5;

struct GcOptions {
  std::string older_than;
  bool studies = false;
  std::uint64_t limit_bytes = 0;
  CLI::Option* limit = nullptr;
  bool dry_run = false;
};

/// The logs of a study's trials, nothing else that lies there, links least of all.
std::vector<fs::path> logs_of(const fs::path& database, const std::string& study) {
  std::vector<fs::path> files;
  if (study.empty() || study.front() == '.' || study.find('/') != std::string::npos) return files;
  std::error_code fault;
  for (fs::directory_iterator at(log_directory(database, study), fault), end; !fault && at != end;
       at.increment(fault)) {
    if (at->path().extension() == ".log" && fs::is_regular_file(at->symlink_status(fault))) {
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

struct Taken {
  std::vector<StudyUse> studies;
  std::int64_t log_bytes = 0;
  std::int64_t database_bytes = 0;  ///< of the files
  std::int64_t used_bytes = 0;      ///< of the database once it is compact

  [[nodiscard]] std::int64_t total() const { return log_bytes + database_bytes; }
};

/// The studies that nightly re-tuning begins with, and those that it trains with the results of.
Result<std::set<std::string>> studies_of_nights(const History& history,
                                                const std::vector<StudyRecord>& studies) {
  std::set<std::string> needed;
  for (const StudyRecord& study : studies) {
    const std::string tuned = study.name.substr(0, study.name.rfind(".night-"));
    const auto nights = history.nights(tuned);
    if (!nights) return tl::unexpected(nights.error());
    if (nights->empty()) continue;
    const auto latest = night_from_row(nights->back());
    if (!latest) return tl::unexpected(latest.error());
    needed.insert({tuned, latest->study, latest->after.study});
  }
  return needed;
}

Result<Taken> look_at(const History& history, const fs::path& database, bool is_written,
                      double now_wall_s) {
  const auto studies = history.studies();
  if (!studies) return tl::unexpected(studies.error());
  const auto needed = studies_of_nights(history, *studies);
  if (!needed) return tl::unexpected(needed.error());
  Taken taken;
  for (const StudyRecord& study : *studies) {
    auto use = history.use_of(study, is_written, now_wall_s);
    if (!use) return tl::unexpected(use.error());
    use->needed = needed->contains(study.name);
    for (const fs::path& log : logs_of(database, study.name))
      use->log_bytes += bytes_of(log);
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
  for (const fs::path& log : logs_of(database, step.study)) {
    std::error_code fault;
    fs::remove(log, fault);
    if (fault) {
      return fail(ErrorKind::unavailable, "cannot be removed: " + fault.message(), log.string(),
                  "make its folder writable and run the same command again");
    }
  }
  if (step.part == GcPart::logs) return {};
  std::error_code not_empty;  // somebody else's files stay, and with them the folder
  fs::remove(log_directory(database, step.study), not_empty);
  // Last: whatever ends this before, the next time goes on with the same study.
  return history.remove_study(step.study_id);
}

std::string steps_text(const std::vector<GcStep>& steps) {
  if (steps.empty()) return {};
  TextTable table({{"removed", Align::left}, {"study", Align::left}, {"bytes", Align::right}});
  for (const GcStep& step : steps) {
    table.add_row({to_text(step.part), printable_line(step.study, 60),
                   format_bytes(static_cast<double>(step.bytes))});
  }
  return table.text();
}

void print_gc(CommandContext& context, const std::vector<GcStep>& steps, std::int64_t freed,
              std::int64_t left, bool dry_run) {
  if (context.json) {
    Json json = {{"schema_version", k_json_schema_version}, {"removed", Json::array()}};
    for (const GcStep& step : steps) {
      json["removed"].push_back(
          {{"part", to_text(step.part)}, {"study", step.study}, {"bytes", step.bytes}});
    }
    json["dry_run"] = dry_run;
    json["freed_bytes"] = freed;
    json["left_bytes"] = left;
    context.console.json_result(json);
    return;
  }
  context.console.result(steps_text(steps));
  context.console.result(
      fmt::format("{}{} {} back; database and logs {} {}\n", dry_run ? "about " : "",
                  format_bytes(static_cast<double>(freed)), dry_run ? "would come" : "came",
                  dry_run ? "would take" : "take", format_bytes(static_cast<double>(left))));
}

Result<GcRequest> request_of(const GcOptions& options) {
  GcRequest request;
  if (!options.older_than.empty()) {
    const auto age = parse_duration_s(options.older_than);
    if (!age) return fail(ErrorKind::usage, age.error().message, "--older-than", age.error().hint);
    request.older_than_s = *age;
  }
  request.whole_studies = options.studies;
  if (options.limit->count() > 0) {
    request.limit_bytes = static_cast<std::int64_t>(options.limit_bytes);
  }
  return request;
}

ExitCode show_plan(CommandContext& context, const GcRequest& request) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return context.console.error(history.error());
  const auto taken = look_at(*history, context.database(), History::has_writer(context.database()),
                             context.clock.wall_time_s());
  if (!taken) return context.console.error(taken.error());
  const auto steps = plan_gc(taken->studies, request, context.clock.wall_time_s(),
                             taken->used_bytes + taken->log_bytes);
  std::int64_t freed = std::max<std::int64_t>(0, taken->database_bytes - taken->used_bytes);
  for (const GcStep& step : steps)
    freed += step.bytes;
  print_gc(context, steps, freed, std::max<std::int64_t>(0, taken->total() - freed),
           /*dry_run=*/true);
  return ExitCode::ok;
}

ExitCode collect(CommandContext& context, const GcRequest& request) {
  const fs::path database = context.database();
  // Opening for writing would make one.
  if (const auto present = History::open_for_reading(database); !present) {
    return context.console.error(present.error());
  }
  auto history = History::open_for_writing(database, context.clock);
  if (!history) return context.console.error(history.error());
  for (const std::string& warning : history->warnings())
    context.console.warning(warning);
  const auto look = [&] {
    return look_at(*history, database, /*is_written=*/false, context.clock.wall_time_s());
  };
  auto taken = look();
  if (!taken) return context.console.error(taken.error());
  const std::int64_t before = taken->total();
  std::vector<GcStep> steps;
  for (int round = 0; round < k_most_rounds; ++round) {
    const auto next = plan_gc(taken->studies, request, context.clock.wall_time_s(),
                              taken->used_bytes + taken->log_bytes);
    for (const GcStep& step : next) {
      if (auto done = remove(*history, database, step); !done) {
        return context.console.error(done.error());
      }
    }
    steps.insert(steps.end(), next.begin(), next.end());
    if (round > 0 && next.empty()) break;
    if (auto done = history->compact(); !done) return context.console.error(done.error());
    taken = look();
    if (!taken) return context.console.error(taken.error());
  }
  print_gc(context, steps, std::max<std::int64_t>(0, before - taken->total()), taken->total(),
           /*dry_run=*/false);
  const std::int64_t limit = request.limit_bytes.value_or(taken->total());
  if (taken->total() > limit) {
    context.console.warning(
        "the limit is not reached: running studies and the latest one are kept");
  }
  return ExitCode::ok;
}

}  // namespace

void add_gc_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<GcOptions>();
  CLI::App* command = add_command(
      program, context, "gc", "Make the database of studies and its logs smaller",
      "  steptune gc --older-than 90d --dry-run\n"
      "  steptune gc --history-limit 500MB\n"
      "Traces and logs go first; results stay unless --studies or the limit ask for them. Running "
      "studies\nare left alone.");
  command
      ->add_option("--older-than", options->older_than,
                   "Remove traces and logs of studies that were last used so long ago, as in 90d "
                   "[default: none]")
      ->option_text("AGE");
  command
      ->add_flag("--studies", options->studies,
                 "With --older-than: remove those studies as a whole")
      ->needs("--older-than");
  options->limit =
      command
          ->add_option("--history-limit", options->limit_bytes,
                       "Remove traces, then logs, then studies, least recently used first, until "
                       "database and logs take no more, as in 500MB or 2GiB [default: none]")
          ->option_text("SIZE")
          ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  command->add_flag("--dry-run", options->dry_run, "Only list what would be removed");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] {
      const auto request = request_of(*options);
      if (!request) return context.console.error(request.error());
      return options->dry_run ? show_plan(context, *request) : collect(context, *request);
    };
  });
}

}  // namespace steptune
