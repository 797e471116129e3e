// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/collection.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct GcOptions {
  std::string older_than;
  bool studies = false;
  std::optional<std::uint64_t> limit_bytes;
  bool dry_run = false;
};

TextTable table_of_steps(const std::vector<GcStep>& steps, std::size_t widest_name) {
  TextTable table({{"removed", Align::left}, {"study", Align::left}, {"bytes", Align::right}});
  for (const GcStep& step : steps) {
    table.add_row({to_text(step.part), elide_middle(printable_line(step.study, 60), widest_name),
                   format_bytes(static_cast<double>(step.bytes))});
  }
  return table;
}

/// Returns the steps as a table. If it is wider than the terminal, cuts names in the middle.
std::string steps_text(const std::vector<GcStep>& steps, std::size_t width) {
  if (steps.empty()) return {};
  const TextTable whole = table_of_steps(steps, k_any_length);
  if (width == 0 || whole.width() <= width) return whole.text();
  return table_of_steps(steps, cut_width(width, table_of_steps(steps, 0), "study")).text();
}

void print_gc(CommandContext& context, const Collected& collected, bool dry_run) {
  if (context.json) {
    Json json = document_json({{"removed", Json::array()}});
    for (const GcStep& step : collected.steps) {
      json["removed"].push_back(
          {{"part", to_text(step.part)}, {"study", step.study}, {"bytes", step.bytes}});
    }
    json["dry_run"] = dry_run;
    json["freed_bytes"] = collected.freed_bytes;
    json["left_bytes"] = collected.left_bytes;
    context.console.json_result(json);
    return;
  }
  const std::size_t width = context.console.stdout_width();
  context.console.result(steps_text(collected.steps, width));
  const std::string sum = fmt::format(
      "{}{} {} back; database and logs {} {}", dry_run ? "about " : "",
      format_bytes(static_cast<double>(collected.freed_bytes)), dry_run ? "would come" : "came",
      dry_run ? "would take" : "take", format_bytes(static_cast<double>(collected.left_bytes)));
  context.console.result(wrapped(sum, width));
}

Result<GcRequest> request_of(const GcOptions& options) {
  GcRequest request;
  if (!options.older_than.empty()) {
    const auto age = parse_duration_s(options.older_than);
    if (!age) return fail(ErrorKind::usage, age.error().message, "--older-than", age.error().hint);
    request.older_than_s = *age;
  }
  request.whole_studies = options.studies;
  if (options.limit_bytes) request.limit_bytes = static_cast<std::int64_t>(*options.limit_bytes);
  return request;
}

ExitCode show_plan(CommandContext& context, const GcRequest& request) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return context.console.error(history.error());
  const auto planned =
      plan_collection(*history, context.database(), request,
                      History::has_writer(context.database()), context.clock.wall_time_s());
  if (!planned) return context.console.error(planned.error());
  print_gc(context, *planned, /*dry_run=*/true);
  return ExitCode::ok;
}

ExitCode collect_now(CommandContext& context, const GcRequest& request) {
  // Check that the database exists: opening it for writing would create it.
  if (const auto present = History::open_for_reading(context.database()); !present) {
    return context.console.error(present.error());
  }
  auto history = History::open_for_writing(context.database(), context.clock);
  if (!history) return context.console.error(history.error());
  for (const std::string& warning : history->warnings())
    context.console.warning(warning);
  const auto collected =
      collect(*history, context.database(), request, context.clock.wall_time_s());
  if (!collected) return context.console.error(collected.error());
  print_gc(context, *collected, /*dry_run=*/false);
  if (collected->left_bytes > request.limit_bytes.value_or(collected->left_bytes)) {
    context.console.warning(k_limit_not_reached);
  }
  return ExitCode::ok;
}

ExitCode free_space(CommandContext& context, const GcOptions& options) {
  const auto request = request_of(options);
  if (!request) return context.console.error(request.error());
  return options.dry_run ? show_plan(context, *request) : collect_now(context, *request);
}

}  // namespace

void add_gc_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<GcOptions>(
      program, context, "gc", "Make the database of studies and its logs smaller",
      "  steptune gc --older-than 90d --dry-run\n  steptune gc --history-limit "
      "500MB\nTraces and logs go first; results stay unless --studies or the limit "
      "removes them. Running studies\nare left alone.",
      free_space);
  add_value_option(
      *command, "--older-than", options->older_than, "AGE",
      "Remove traces and logs of studies unused for this long, such as 90d [default: none]");
  command
      ->add_flag("--studies", options->studies,
                 "With --older-than: remove those studies as a whole")
      ->needs("--older-than");
  add_history_limit_option(*command, options->limit_bytes, "");
  command->add_flag("--dry-run", options->dry_run, "Only list what would be removed");
  add_json_option(*command, context);
}

}  // namespace steptune
