// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/log_text.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/report/trial_text.hpp"

namespace steptune {
namespace {

struct ShowOptions {
  std::vector<std::string> arguments;
  bool log = false;
};

Result<std::int64_t> trial_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number < 1) {
    return fail(ErrorKind::usage, fmt::format("\"{}\" is not a trial number", printable_line(text)),
                "", "'steptune leaderboard --all' lists the trials");
  }
  return number;
}

ExitCode show_log(CommandContext& context, const TrialRecord& trial) {
  const auto text = read_log(trial.log_path, context.console.stdout_width() > 0);
  if (!text) return context.console.error(text.error());
  context.console.result(*text);
  return ExitCode::ok;
}

ExitCode show_trial(CommandContext& context, const ShowOptions& options) {
  const auto number = trial_number(options.arguments.back());
  if (!number) return context.console.error(number.error());
  const auto study =
      open_stored_study(context, options.arguments.size() > 1 ? options.arguments.front() : "");
  if (!study) return context.console.error(study.error());
  auto trial = study->history.trial(study->record.id, *number);
  if (!trial) return context.console.error(trial.error());
  // A replayed trial prints nothing, and logs may have been removed.
  std::error_code fault;
  if (!std::filesystem::exists(trial->log_path, fault)) trial->log_path.clear();
  if (options.log) return show_log(context, *trial);
  if (context.json) {
    Json json;
    json["schema_version"] = k_json_schema_version;
    json["study"] = study_json(study->record);
    json["trial"] = trial_json(*trial, study->objectives);
    context.console.json_result(json);
    return ExitCode::ok;
  }
  const auto standing = read_standing(*study);
  if (!standing) return context.console.error(standing.error());
  context.console.result(trial_text(*trial, standing->baseline(), study->objectives,
                                    parameter_order(study->record.document)));
  return ExitCode::ok;
}

}  // namespace

void add_show_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = add_command(program, context, "show", "Show everything about one trial",
                                  "  steptune show 7\n"
                                  "  steptune show resnet-nightly 7 --log");
  command
      ->add_option("TRIAL", options->arguments,
                   "Study, by name or file [default: the latest], and number of the trial")
      ->option_text("[STUDY] TRIAL")
      ->required()
      ->expected(1, 2);
  CLI::Option* log = command->add_flag("--log", options->log,
                                       "Print the trial's output instead, as far as it was kept");
  add_json_option(*command, context);
  log->excludes(command->get_option("--json"));
  command->callback([&context, options] {
    context.action = [&context, options] { return show_trial(context, *options); };
  });
}

}  // namespace steptune
