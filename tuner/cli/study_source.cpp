// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/study_source.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/machine_hours.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/retune/night.hpp"
#include "tuner/retune/night_study.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Returns the study's name: `name` itself, or the name in the study file at that path.
Result<std::string> study_name(const std::string& name) {
  if (!name.ends_with(".json") && name.find('/') == std::string::npos) return name;
  const auto document = read_json_file(name);
  if (!document) {
    Error error = document.error();
    error.kind = ErrorKind::usage;
    return tl::unexpected(std::move(error));
  }
  if (!document->is_object() || !document->contains("name") || !(*document)["name"].is_string()) {
    return fail(ErrorKind::usage, "has no \"name\"", name, "give the name of a study instead");
  }
  return (*document)["name"].get<std::string>();
}

/// Returns `name`. If it is empty, returns the latest study. If a night of `retune` made the latest
/// study, returns the study that was retuned. The nights of that study decide which configuration
/// is in use.
Result<std::string> name_in_use(const History& history, const std::string& name) {
  if (!name.empty()) return name;
  const auto latest = history.study(name);
  if (!latest) return tl::unexpected(latest.error());
  std::string tuned = tuned_study_name(latest->name);
  const auto nights = history.nights(tuned);
  if (!nights) return tl::unexpected(nights.error());
  return nights->empty() ? latest->name : tuned;
}

/// Returns the folder in which the named study's trials run; nullopt if there is no such study.
std::optional<std::string> folder_of_study(const CommandContext& context, const std::string& name) {
  if (!document::is_study_name(name)) return std::nullopt;
  const auto history = History::open_for_reading(context.database());
  if (!history) return std::nullopt;
  const auto study = history->study(name);
  return study ? std::optional(text_at(study->document, "working_directory")) : std::nullopt;
}

/// Returns advice for a study file that does not exist.
std::string what_to_name_instead(const CommandContext& context, const std::string& path) {
  const std::vector<std::string> here = study_files_here();
  const std::string own = path + ".study.json";
  if (std::ranges::find(here, own) != here.end()) {
    return fmt::format("did you mean {}?", printable_line(own));
  }
  if (const auto folder = folder_of_study(context, path)) {
    return fmt::format("that is the name of a study; give its file: its trials run in {}",
                       printable_line(*folder));
  }
  if (here.empty()) return "steptune init -- COMMAND writes one";
  return fmt::format("this folder has {}",
                     printable_line(fmt::format("{}", fmt::join(here, ", "))));
}

}  // namespace

Result<StoredStudy> open_stored_study(const CommandContext& context, const std::string& name) {
  const auto wanted = study_name(name);
  if (!wanted) return tl::unexpected(wanted.error());
  auto history = History::open_for_reading(context.database());
  if (!history) return tl::unexpected(history.error());
  auto record = history->study(*wanted);
  if (!record) return tl::unexpected(record.error());
  return stored_study(*std::move(history), *std::move(record));
}

Result<StudyInUse> open_study_in_use(const CommandContext& context, const std::string& name,
                                     std::int64_t trial) {
  const auto named = study_name(name);
  if (!named) return tl::unexpected(named.error());
  auto history = History::open_for_reading(context.database());
  if (!history) return tl::unexpected(history.error());
  const auto wanted = trial > 0 ? named : name_in_use(*history, *named);
  if (!wanted) return tl::unexpected(wanted.error());
  auto record = history->study(*wanted);
  if (record) return StudyInUse{*wanted, stored_study(*std::move(history), *std::move(record))};
  if (record.error().kind != ErrorKind::not_found) return tl::unexpected(record.error());
  const auto nights = history->nights(*wanted);
  if (!nights) return tl::unexpected(nights.error());
  if (nights->empty()) return tl::unexpected(record.error());
  const auto night = night_from_row(nights->back());
  if (!night) return tl::unexpected(night.error());
  const UsedConfiguration& used = night->after;
  if (used.study.empty() || used.trial == 0) {
    return fail(ErrorKind::not_found,
                fmt::format("study \"{0}\" was never tuned itself, and its nights keep its "
                            "baseline, which has no stored trial",
                            *wanted),
                "", "tune it: steptune run with its study file");
  }
  auto used_record = history->study(used.study);
  if (!used_record) return tl::unexpected(used_record.error());
  context.console.message(
      fmt::format("study \"{}\" was never tuned itself: its nights train with trial {} of \"{}\"",
                  *wanted, used.trial, used.study));
  return StudyInUse{*wanted, stored_study(*std::move(history), *std::move(used_record)),
                    used.trial};
}

Result<std::int64_t> trial_in_use(const StudyInUse& in_use, std::int64_t asked) {
  if (asked == 0) return in_use.trial;
  if (in_use.trial == 0) return asked;
  const std::string& owner = in_use.study.record.name;
  return fail(
      ErrorKind::not_found,
      fmt::format("study \"{}\" has no trial {}: it was never tuned itself", in_use.name, asked),
      "--trial",
      fmt::format("leave --trial out to use the trial that its nights train with, or name study "
                  "\"{}\" for its trial {}",
                  owner, asked));
}

Result<std::optional<StoredStudy>> open_study_of_night(const CommandContext& context,
                                                       const StoredStudy& study,
                                                       const std::string& from_study) {
  if (from_study == study.record.name) return std::optional<StoredStudy>();
  auto night = open_stored_study(context, from_study);
  if (!night) return tl::unexpected(night.error());
  return std::optional(*std::move(night));
}

void warn_if_unfinished(const CommandContext& context, const StudyRecord& study) {
  if (study.status == StudyStatus::running) {
    context.console.warning(
        fmt::format("study \"{}\" is still being tuned: its results may change", study.name));
  } else if (study.status == StudyStatus::interrupted) {
    const bool is_over =
        text_at(study.document, "trials") == "attached";  // ended with its long run
    context.console.warning(fmt::format(
        "study \"{}\" was interrupted{}{}{}", study.name, study.stop_reason.empty() ? "" : ", ",
        printable_line(study.stop_reason), is_over ? "" : ": 'steptune run' continues it"));
  }
}

TextStyle style_on_stdout(const Console& console) {
  return {console.color_on_stdout(), console.stdout_width()};
}

ExitCode print_part(CommandContext& context, const StudyRecord& study, const char* part,
                    const std::function<Json()>& json, const std::function<std::string()>& text) {
  return context.print(
      [&] {
        return document_json({{"study", json_of(study)}, {part, json()}});
      },
      text);
}

Result<std::int64_t> trial_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number < 1) {
    return fail(ErrorKind::usage, fmt::format("\"{}\" is not a trial number", printable_line(text)),
                "", "'steptune leaderboard --all' lists the trials");
  }
  return number;
}

Result<void> check_study_name(const std::string& name) {
  if (document::is_study_name(name)) return {};
  return fail(ErrorKind::usage, fmt::format("\"{}\" is not a study name", printable_line(name)),
              "--name", "give up to 64 letters, digits and _.-, but neither . nor - first");
}

std::vector<std::string> study_files_here() {
  std::vector<std::string> files;
  std::error_code fault;
  for (fs::directory_iterator at(fs::current_path(), fault), end; !fault && at != end;
       at.increment(fault)) {
    const std::string name = at->path().filename().string();
    if (name == "study.json" || name.ends_with(".study.json")) files.push_back(name);
  }
  std::ranges::sort(files);
  return files;
}

Result<StudySpec> open_study_file(const CommandContext& context, const std::string& path) {
  std::error_code fault;
  if (!fs::exists(path, fault) && !fault) {
    return fail(ErrorKind::usage, "there is no such study file", path,
                what_to_name_instead(context, path));
  }
  auto study = read_study(path, detected_facts());
  if (!study) study.error().kind = ErrorKind::usage;
  return study;
}

RecommendationContext study_context(const CommandContext& context, const StoredStudy& study) {
  return study_context(study, context.database_option(), context.database());
}

RecommendationContext recommendation_context(const CommandContext& context,
                                             const StoredStudy& study,
                                             const Configuration& advised) {
  RecommendationContext result = study_context(context, study);
  add_study_facts(result, study, advised);
  if (const auto hours = read_machine_hours(study)) result.machine_hours = hours->total();
  return result;
}

}  // namespace steptune
