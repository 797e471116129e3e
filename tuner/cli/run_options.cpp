// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_options.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/log.hpp"
#include "common/text.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

Result<std::optional<StudyRecord>> find_study(const History& history, const std::string& name) {
  auto record = history.study(name);
  if (record) return std::optional(std::move(*record));
  if (record.error().kind == ErrorKind::not_found) return std::nullopt;
  return tl::unexpected(record.error());
}

/// Appends `end` to `name`; shortens `name` if the result is too long for a study's name.
std::string with_end(std::string name, const std::string& end) {
  while (name.size() > 1 && !document::is_study_name(name + end))
    name.pop_back();
  return name + end;
}

/// Returns the first free name: `demo` -> `demo-2`, `demo-3`.
Result<std::string> free_name(const History& history, const std::string& name) {
  for (int number = 2;; ++number) {
    const std::string candidate = with_end(name, fmt::format("-{}", number));
    const auto taken = find_study(history, candidate);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) return candidate;
  }
}

/// Returns the `Refusal` if the user answered no. `then` says what to do instead, or what happens
/// next.
tl::unexpected<Refusal> declined(std::string then) {
  return tl::unexpected(
      Refusal({ErrorKind::usage, "not started", "", std::move(then)}, /*is_users=*/true));
}

tl::expected<void, Refusal> confirm_leaving(Console& console, const RunOptions& options,
                                            const StudyRecord& former,
                                            const std::string& new_name) {
  if (former.status == StudyStatus::finished || options.yes) return {};
  const std::string state = fmt::format("study \"{}\" is not finished ({} of tuning so far)",
                                        former.name, format_duration(former.elapsed_s));
  if (!can_ask()) {
    return fail(ErrorKind::usage, state, "",
                fmt::format("leave out --new to continue it, or add --yes to begin \"{}\" instead",
                            new_name));
  }
  console.message(fmt::format("{}. Begin \"{}\" instead? [y/N]", state, new_name));
  if (read_yes()) return {};
  return declined("leave out --new to continue the former study");
}

/// Returns `study` with the runner settings that a continued study takes from the stored study. For
/// example, a newer price table does not make it a different study.
Result<StudySpec> with_resumed_runner(const Json& stored, const StudySpec& study) {
  if (!stored.contains("runner")) return study;
  const auto file = read_json_file(study.file);
  if (!file) return tl::unexpected(file.error());
  const Json written = file->contains("runner") ? (*file)["runner"] : Json::object();
  Json document = study.document;
  document["runner"] = study.runner->resumed_document(stored["runner"], written);
  if (document == study.document) return study;
  return study_from_json(document, study.file, study.facts);
}

/// Returns the top-level keys in which two definitions of a study differ: `"command", "runner"`.
/// Leaves out keys that may change as a whole during a study.
std::string changed_keys(Json stored, Json now) {
  std::set<std::string> names;
  for (const Json* document : {&stored, &now}) {
    for (const auto& [name, value] : document->items())
      names.insert(name);
  }
  for (const char* free : {"name", "budget", "search", "try"})
    names.erase(free);
  // Ignore changes of these files' contents here. They are reported below if no other key differs.
  const bool has_other_files =
      stored.value("config_files", Json()) != now.value("config_files", Json());
  for (Json* document : {&stored, &now}) {
    if (!document->contains("config_files")) continue;
    for (auto& [name, file] : (*document)["config_files"].items())
      file.erase("content");
  }
  std::string text;
  for (const std::string& name : names) {
    if (stored.value(name, Json()) == now.value(name, Json())) continue;
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  }
  return text.empty() && has_other_files ? "\"config_files\"" : text;
}

/// True if the study has no measured trial and no trial that may still run.
Result<bool> has_measured_nothing(const History& history, const StudyRecord& study) {
  const auto counts = history.status_counts(study.id);
  if (!counts) return tl::unexpected(counts.error());
  return std::ranges::all_of(*counts, [](const auto& entry) {
    return entry.second == 0 || entry.first == TrialStatus::failed ||
           entry.first == TrialStatus::out_of_memory || entry.first == TrialStatus::interrupted;
  });
}

/// Handles a study file that changed so much that old and new trials cannot be compared. If no
/// trial was measured, removes the stored study, so that it starts again; otherwise returns an
/// error.
Result<void> settle_change(Console& console, History& history, const StudyRecord& former,
                           const StudySpec& study) {
  const std::string keys = changed_keys(former.document, study.document);
  const auto worthless = has_measured_nothing(history, former);
  if (!worthless) return tl::unexpected(worthless.error());
  if (*worthless) {
    console.message(
        fmt::format("study \"{}\" begins again: its file has changed in {}, and no "
                    "trial had been measured",
                    study.name, keys));
    return history.remove_study(former.id);
  }
  const auto name = free_name(history, study.name);
  if (!name) return tl::unexpected(name.error());
  return fail(ErrorKind::conflict,
              fmt::format("study \"{}\" has trials that cannot be compared with new ones: its file "
                          "has changed in {}",
                          study.name, keys),
              study.file.string(),
              fmt::format("add --new to begin \"{}\", give the study another \"name\", or undo the "
                          "change to continue it",
                          *name));
}

}  // namespace

Result<void> begin_log(const RunOptions& options, const Environment& environment) {
  LogOptions log;
  if (const auto variable = environment("STEPTUNE_LOG"); variable && !variable->empty()) {
    auto wanted = parse_log_options(*variable);
    if (!wanted) {
      wanted.error().where = "STEPTUNE_LOG";
      return tl::unexpected(std::move(wanted).error());
    }
    log = *std::move(wanted);
  }
  if (!options.log_level.empty()) {
    const auto wanted = parse_log_options(options.log_level);
    if (!wanted) return tl::unexpected(wanted.error());
    log.level = wanted->level;
  }
  return set_up_log(log);
}

Result<std::optional<double>> tuning_time_s(const std::string& given) {
  if (given.empty()) return std::optional<double>();
  const auto time_s = parse_duration_s(given);
  if (!time_s) {
    return fail(ErrorKind::usage, time_s.error().message, "--time", "write 90s, 30m, 1h30m or 2d");
  }
  if (*time_s < k_shortest_budget_s || *time_s > k_longest_budget_s) {
    return fail(ErrorKind::usage,
                fmt::format("a tuning time of {} is out of range", printable_line(given, 40)),
                "--time", "give 1s to 366d");
  }
  return std::optional(*time_s);
}

Result<std::optional<double>> worth_share(const std::string& given) {
  if (given.empty()) return std::optional<double>();
  const auto share = parse_share(given);
  if (share && *share >= 0.0 && *share <= 1.0) return share;
  return fail(ErrorKind::usage, fmt::format("{} is not a gain", printable_line(given, 40)),
              "--worth", "give a share from 0 to 100 %, such as 5% or 0.05");
}

Result<void> apply_overrides(const RunOptions& options, StudySpec& study) {
  if (options.seed) {
    study.search.seed = static_cast<std::uint64_t>(*options.seed);
    study.document["search"]["seed"] = *options.seed;
  }
  if (options.trials) {
    study.budget.trials = *options.trials;
    study.document["budget"]["trials"] = *options.trials;
  }
  if (options.first_guesses) {
    study.search.first_guesses = true;
    study.document["search"]["first_guesses"] = true;
  }
  const auto worth = worth_share(options.worth);
  if (!worth) return tl::unexpected(worth.error());
  if (*worth) {
    study.search.worth = **worth;
    study.document["search"]["worth"] = **worth;
  }
  const auto time_s = tuning_time_s(options.time);
  if (!time_s) return tl::unexpected(time_s.error());
  if (!*time_s) return {};
  study.budget.time_s = **time_s;
  study.document["budget"]["time"] = **time_s;
  return {};
}

tl::expected<std::optional<StudyRecord>, Refusal> settle_identity(Console& console,
                                                                  const RunOptions& options,
                                                                  History& history,
                                                                  StudySpec& study) {
  auto former = find_study(history, study.name);
  if (!former) return tl::unexpected(former.error());
  if (!*former) return std::optional<StudyRecord>();
  if (options.fresh) {
    auto name = free_name(history, study.name);
    if (!name) return tl::unexpected(name.error());
    const auto agreed = confirm_leaving(console, options, **former, *name);
    if (!agreed) return tl::unexpected(agreed.error());
    if (!options.quiet) console.message(fmt::format("beginning a new study \"{}\"", *name));
    study.name = *name;
    study.document["name"] = *name;
    return std::optional<StudyRecord>();
  }
  auto continued = with_resumed_runner((*former)->document, study);
  if (!continued) return tl::unexpected(continued.error());
  if (continued->fingerprint != (*former)->fingerprint) {
    const auto settled = settle_change(console, history, **former, *continued);
    if (!settled) return tl::unexpected(settled.error());
    return std::optional<StudyRecord>();
  }
  study = *std::move(continued);
  if (options.seed && (*former)->seed != study.search.seed) {
    return fail(ErrorKind::usage,
                fmt::format("study \"{}\" was begun with seed {}, not {}", study.name,
                            (*former)->seed, study.search.seed),
                "--seed", "leave out --seed to continue it, or add --new to begin another");
  }
  study.search.seed = (*former)->seed;
  study.document["search"]["seed"] = (*former)->seed;
  return *std::move(former);
}

tl::expected<void, Refusal> confirm_spending(Console& console, const RunOptions& options,
                                             const StudySpec& study,
                                             const ProjectionOptions& projection_options) {
  if (!study.runner->traits().longest_billed_s) return {};
  const auto projection = project_tuning(study, projection_options);
  if (!projection) return tl::unexpected(projection.error());
  if (!options.quiet) console.message(projection_text(study, *projection));
  if (options.yes) return {};
  std::string question = "these trials will be billed";
  if (projection->usd)
    question += fmt::format(", about {} in all", format_usd(projection->usd->mean));
  if (!can_ask()) {
    return fail(ErrorKind::usage, question, "", "add --yes to begin without being asked");
  }
  console.message(fmt::format("{}. Begin? [y/N]", question));
  if (read_yes()) return {};
  return declined("nothing will be billed");
}

std::filesystem::path log_directory(const std::filesystem::path& database,
                                    const std::string& study) {
  std::filesystem::path folder = database.parent_path() / "logs" / study;
  std::error_code fault;
  const auto absolute = std::filesystem::absolute(folder, fault);
  return fault ? folder : absolute;
}

}  // namespace steptune
