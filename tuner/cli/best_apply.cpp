// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/best_apply.hpp"

#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/config_edit/config_edit.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

Result<ConfigKeys> keys_of(const std::vector<std::string>& words) {
  ConfigKeys keys;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fail(ErrorKind::usage,
                  fmt::format("\"{}\" is not of the form PARAMETER=KEY", printable_line(word)),
                  "--map", "for example batch_size=train.loader.batch_size");
    }
    if (!keys.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return fail(ErrorKind::usage,
                  fmt::format("{} is mapped twice", printable_line(word.substr(0, equals))),
                  "--map");
    }
  }
  return keys;
}

Json apply_json(const ApplyOptions& options, const std::vector<ConfigChange>& changes,
                const std::string& difference, bool written) {
  Json json = document_json();
  json["file"] = options.file;
  json["changes"] = Json::array();
  for (const ConfigChange& change : changes) {
    json["changes"].push_back({{"parameter", change.parameter},
                               {"key", change.key},
                               {"line", change.line},
                               {"before", change.before},
                               {"after", to_json(change.after)}});
  }
  json["difference"] = difference;
  json["written"] = written;
  return json;
}

Result<void> agreed(CommandContext& context, const ApplyOptions& options, std::size_t changes) {
  if (options.yes) return {};
  const std::string question = fmt::format("{} value{} of {} will change", changes,
                                           changes == 1 ? "" : "s", printable_line(options.file));
  if (!can_ask()) {
    return fail(ErrorKind::usage, question + "; nothing was written", "",
                "add --yes to write without being asked, or --dry-run to see the difference only");
  }
  context.console.message(fmt::format("{}. Write? [y/N]", question));
  if (read_yes()) return {};
  return fail(ErrorKind::usage, "nothing was written");
}

/// Returns the values that the chosen configuration has in a file. If the study does not edit that
/// file for its trials, returns nullopt.
std::optional<ConfigValues> wanted_of(const BestChoice& choice, const std::filesystem::path& file) {
  for (const auto& [name, config] : choice.study.config_files) {
    std::error_code missing;
    if (!std::filesystem::equivalent(config.file, file, missing)) continue;
    return config_values(config, choice.trial.configuration);
  }
  return std::nullopt;
}

/// Returns the changes that give a file's text the chosen values.
Result<std::vector<ConfigChange>> wanted_changes(const BestChoice& choice,
                                                 const ApplyOptions& options, ConfigFormat format,
                                                 const std::string& text) {
  const auto of_study = options.keys.empty() ? wanted_of(choice, options.file) : std::nullopt;
  if (of_study) {
    return config_changes(format, text, of_study->values, of_study->keys, options.file);
  }
  const auto keys = keys_of(options.keys);
  if (!keys) return tl::unexpected(keys.error());
  return config_changes(format, text, choice.trial.configuration, *keys, options.file);
}

/// True if a file has the wanted values. False if the file or its keys are missing.
bool says(const std::filesystem::path& file, const ConfigValues& wanted) {
  const auto format = config_format_of(file);
  const auto text = read_whole_file(file);
  if (!format || !text) return false;
  const auto changes = config_changes(*format, *text, wanted.values, wanted.keys, file.string());
  return changes && changes->empty();
}

}  // namespace

std::string shown(const std::string& text) {
  if (isatty(STDOUT_FILENO) != 1) return text;
  std::string harmless = text;
  for (char& c : harmless) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F) c = '?';
  }
  return harmless;
}

std::vector<std::string> pending_edits(const BestChoice& choice, const std::string& study) {
  std::vector<std::string> commands;
  for (const auto& [name, config] : choice.study.config_files) {
    if (says(config.file, config_values(config, choice.trial.configuration))) continue;
    const std::string objective =
        choice.objective.empty() ? "" : " --objective " + shell_quoted(choice.objective);
    commands.push_back(fmt::format("steptune best {}{} --apply {}", study, objective,
                                   shell_quoted(config.file.string())));
  }
  return commands;
}

ExitCode apply_best(CommandContext& context, const BestChoice& choice,
                    const ApplyOptions& options) {
  const auto format = config_format_of(options.file);
  if (!format) return context.console.error(format.error());
  const auto text = read_whole_file(options.file);
  if (!text) return context.console.error(text.error());
  const auto changes = wanted_changes(choice, options, *format, *text);
  if (!changes) return context.console.error(changes.error());
  const auto edits = edits_of(*changes);
  const std::string difference =
      unified_difference(*text, edits, printable_line(options.file, 4096));
  // With --json, print the document last, when it is known whether the file was written.
  if (!context.json) context.console.result(shown(difference));
  bool written = false;
  if (!options.dry_run && !changes->empty()) {
    if (auto yes = agreed(context, options, changes->size()); !yes) {
      if (context.json) {
        context.console.json_result(apply_json(options, *changes, difference, /*written=*/false));
      }
      return context.console.error(yes.error());
    }
    if (auto done = replace_content(options.file, *text, edited_text(*text, edits)); !done) {
      return context.console.error(done.error());
    }
    written = true;
  }
  if (context.json) {
    context.console.json_result(apply_json(options, *changes, difference, written));
  } else if (changes->empty()) {
    context.console.message(
        fmt::format("{} already has these values", printable_line(options.file)));
  } else if (written) {
    context.console.message(fmt::format("wrote {}", printable_line(options.file)));
  }
  return ExitCode::ok;
}

}  // namespace steptune
