// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "common/text.hpp"
#include "trial_runner/output/lines.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/init/drafted_reading.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/init/planned_length.hpp"
#include "tuner/init/read_lines.hpp"
#include "tuner/init/repeated_line.hpp"
#include "tuner/init/unread_output.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/unit_name.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_shown_line_bytes = 160;

struct ReportsOptions {
  std::string log = "-";
  std::string preset;                ///< if empty, the preset that fits best
  std::vector<std::string> metrics;  ///< `loss=Cost ([0-9.]+)`
};

struct ChosenFormat {
  OutputFormat format;
  std::string why;
  bool is_given = false;
};

Result<OutputFormat> format_named(const std::string& name) {
  const std::vector<OutputFormat> formats = output_formats();
  for (const OutputFormat& format : formats) {
    if (!format.reports.is_null() && format.short_name() == name) return format;
  }
  const auto names = preset_names_of(formats);
  return fail(ErrorKind::usage,
              fmt::format("there is no preset \"{}\"{}", printable_line(name, 60),
                          did_you_mean(name, names)),
              "--as", fmt::format("presets: {}", fmt::join(names, ", ")));
}

Result<std::vector<MetricDefinition>> given_metrics(const ReportsOptions& options) {
  std::vector<MetricDefinition> metrics;
  for (const std::string& text : options.metrics) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorKind::usage, fmt::format("\"{}\" names no metric", printable_line(text, 60)),
                  "--metric", "write NAME=REGEX, for example 'step=Up. ([0-9]+)'");
    }
    metrics.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return metrics;
}

/// Returns the format that the user names. Without a name, returns the format that reads most from
/// the output; nullopt if no format reads it.
Result<std::optional<ChosenFormat>> choose_format(const ReportsOptions& options,
                                                  std::string_view output) {
  auto metrics = given_metrics(options);
  if (!metrics) return tl::unexpected(metrics.error());
  if (!options.preset.empty() || !metrics->empty()) {
    ChosenFormat chosen{{"expressions of --metric", Json(), {}}, "as given", true};
    if (!options.preset.empty()) {
      auto named = format_named(options.preset);
      if (!named) return tl::unexpected(named.error());
      chosen.format = *std::move(named);
    }
    auto& all = chosen.format.format.metrics;
    all.insert(all.end(), metrics->begin(), metrics->end());
    return chosen;
  }
  auto best = best_reading(output_formats(), output);
  // An expression drafted from a repeated line is better than a preset that reads fewer than two
  // counts. It is also better than a preset that does not count steps, unless it counts epochs.
  const bool is_coarse = !best || best->progress < 2 || best->unit != CountUnit::steps;
  const auto line = is_coarse ? repeated_line(output) : std::nullopt;
  const auto drafted = line && (!best || best->progress < 2 || line->unit != CountUnit::epochs)
                           ? drafted_reading(*line, output)
                           : std::nullopt;
  if (drafted) {
    return ChosenFormat{
        drafted->format,
        fmt::format("a line repeats {} times with a count that grows steadily", line->count)};
  }
  if (!best) return std::optional<ChosenFormat>();
  best = with_drafted_losses(*std::move(best), output);
  return ChosenFormat{best->format,
                      fmt::format("reads {} lines; no other preset reads more", best->explained)};
}

std::string metric_text(const std::string& name, double value) {
  return fmt::format("{} {:.6g}", printable_line(name, 40), value);
}

/// Returns `step 120, loss 0.5, evaluation 2 s`, or `-` for a line without content.
std::string read_values_text(const ReadLine& line, CountUnit unit) {
  std::vector<std::string> parts;
  if (line.step) parts.push_back("step " + count_text(*line.step));
  if (line.samples) parts.push_back(name_of(unit, "samples") + " " + count_text(*line.samples));
  if (line.phase) {
    parts.push_back(line.phase->seconds ? fmt::format("{} {}", printable_line(line.phase->name, 40),
                                                      format_duration(*line.phase->seconds))
                                        : printable_line(line.phase->name, 40) + " begins");
  }
  for (const auto& [name, value] : line.metrics)
    parts.push_back(metric_text(name, value));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

Json line_json(const ReadLine& line) {
  Json json{{"line", line.number},
            {"step", line.step ? Json(*line.step) : Json()},
            {"samples", line.samples ? Json(*line.samples) : Json()},
            {"metrics", Json::object()},
            {"phase", Json()}};
  for (const auto& [name, value] : line.metrics)
    json["metrics"][name] = std::isfinite(value) ? Json(value) : Json();
  if (line.phase) {
    json["phase"] = {{"name", line.phase->name},
                     {"seconds", line.phase->seconds ? Json(*line.phase->seconds) : Json()}};
  }
  return json;
}

std::string names_text(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : counts)
    texts.push_back(fmt::format("{} ({})", printable_line(name, 40), count));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string_view times_word(LineClock::Source source) {
  switch (source) {
    case LineClock::Source::timestamps:
      return "dates";
    case LineClock::Source::progress_bars:
      return "progress bars";
    case LineClock::Source::none:
      break;
  }
  return "clock values";
}

/// Returns the unit of the counter from which times are computed.
UnitName counted_unit(const ChosenFormat& chosen, const ReadOutput& output) {
  return {name_of(output.unit, output.last_step ? chosen.format.step_name : "samples")};
}

std::string summary_text(const ChosenFormat& chosen, const ReadOutput& output) {
  const UnitName unit = counted_unit(chosen, output);
  std::string text = fmt::format(
      "read by  {}: {}\nlines    {} of {} give values, {} give progress\n", chosen.format.name,
      chosen.why, output.with_content, output.lines, output.with_progress);
  std::string counter = "none";
  if (output.last_step) {
    counter = fmt::format("{}, up to {}", unit.plural, count_text(*output.last_step));
  }
  if (output.last_samples) {
    counter = fmt::format("{}{}, up to {}", output.last_step ? counter + "; " : "",
                          name_of(output.unit, "samples"), count_text(*output.last_samples));
  }
  text += fmt::format("counter  {}\nmetrics  {}\nphases   {}\n", counter,
                      names_text(output.metrics), names_text(output.phases));
  text += output.seconds_per_count
              ? fmt::format("time     {} per {} with all phases, by the {} of its lines\n",
                            format_duration(*output.seconds_per_count), unit.singular(),
                            times_word(output.times))
              : std::string("time     not known: the lines have no times\n");
  if (!output.rejections.empty()) {
    text += fmt::format("note     {}\n", printable_line(output.rejections, k_any_length));
  }
  return text;
}

Json summary_json(const ChosenFormat& chosen, const ReadOutput& output) {
  return {
      {"read_by", chosen.format.name},
      {"reports", chosen.format.reports},
      {"why", chosen.why},
      {"unit", counted_unit(chosen, output).plural},
      {"lines", output.lines},
      {"lines_with_values", output.with_content},
      {"progress_lines", output.with_progress},
      {"last_step", output.last_step ? Json(*output.last_step) : Json()},
      {"last_samples", output.last_samples ? Json(*output.last_samples) : Json()},
      {"metrics", output.metrics},
      {"phases", output.phases},
      {"seconds_per_step",
       output.seconds_per_count && output.last_step ? Json(*output.seconds_per_count) : Json()},
      {"seconds_per_sample",
       output.seconds_per_count && !output.last_step ? Json(*output.seconds_per_count) : Json()},
      {"rejections", output.rejections.empty() ? Json() : Json(output.rejections)}};
}

/// Prints an error: no format reads the output. Shows a repeated line and suggests an expression
/// that reads it.
ExitCode fail_unread(CommandContext& context, std::string_view output, const std::string& log) {
  UnreadOutput unread;
  unread.is_empty = output.empty();
  unread.has_ended = true;
  unread.repeated = repeated_line(output);
  if (log != "-") unread.log = log;
  return context.console.error(
      {ErrorKind::not_found,
       fmt::format("no preset reads progress from this output: {}", unread_text(unread)), "",
       "give an expression with --metric 'step=...' (docs/reporting.md)"});
}

/// Reads a log piece by piece. Prints the values of each line, then a summary.
class LogReading {
 public:
  LogReading(CommandContext& context, ChosenFormat chosen, LineReader reader)
      : context_(context), chosen_(std::move(chosen)), reader_(std::move(reader)) {}

  void feed(std::string_view bytes) {
    splitter_.feed(bytes, [this](std::string_view line) { read_line(line); });
  }

  ExitCode finish() {
    splitter_.flush([this](std::string_view line) { read_line(line); });
    ReadOutput output = reader_.output();
    output.unit = unit();
    if (context_.json) {
      Json json = document_json(summary_json(chosen_, output));
      json["report_lines"] = std::move(read_lines_);
      context_.console.json_result(json);
    } else {
      context_.console.result("\n" + summary_text(chosen_, output));
    }
    return output.with_progress > 0 ? ExitCode::ok : ExitCode::failure;
  }

 private:
  [[nodiscard]] CountUnit unit() const {
    return reader_.unit() == CountUnit::steps ? chosen_.format.sample_unit : reader_.unit();
  }
  void read_line(std::string_view line) {
    const ReadLine read_values = reader_.read(line);
    if (!context_.json) {
      context_.console.result(fmt::format("{:<38} | {}\n", read_values_text(read_values, unit()),
                                          printable_line(line, k_shown_line_bytes)));
    } else if (!read_values.is_empty()) {
      read_lines_.push_back(line_json(read_values));
    }
  }

  CommandContext& context_;
  ChosenFormat chosen_;
  LineReader reader_;
  LineSplitter splitter_;
  Json read_lines_ = Json::array();
};

ExitCode show_reports(CommandContext& context, const ReportsOptions& options) {
  const bool is_stdin = options.log == "-";
  if (is_stdin && isatty(STDIN_FILENO) == 1) {
    return context.console.error({ErrorKind::usage, "there is no output to read", "",
                                  "name a log, or give it on stdin: steptune reports < train.log"});
  }
  std::ifstream file;
  if (!is_stdin) file.open(options.log, std::ios::binary);
  if (!is_stdin && !file) {
    return context.console.error({ErrorKind::not_found, "cannot be read", options.log, ""});
  }
  std::istream& input = is_stdin ? std::cin : file;
  std::string start(k_inspected_bytes, '\0');
  input.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (input.bad()) {  // for example, a folder
    return context.console.error({ErrorKind::not_found, "cannot be read", options.log, ""});
  }
  start.resize(static_cast<std::size_t>(input.gcount()));
  auto chosen = choose_format(options, start);
  if (!chosen) return context.console.error(chosen.error());
  if (!*chosen) return fail_unread(context, start, options.log);
  auto reader = LineReader::create((*chosen)->format.format);
  if (!reader) return context.console.error(reader.error());
  LogReading reading(context, **std::move(chosen), *std::move(reader));
  reading.feed(start);
  while (input) {
    std::string more(k_inspected_bytes, '\0');
    input.read(more.data(), static_cast<std::streamsize>(more.size()));
    reading.feed(std::string_view(more).substr(0, static_cast<std::size_t>(input.gcount())));
  }
  return reading.finish();
}

}  // namespace

void add_reports_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ReportsOptions>(
      program, context, "reports", "Show what is read from each line of a training output",
      "  steptune reports < train.log\n"
      "  steptune reports --as tqdm train.log\n"
      "  steptune reports --metric 'step=Up. ([0-9]+)' --metric 'loss=Cost ([0-9.]+)' train.log",
      show_reports);
  command->add_option("LOG", options->log, "The output: a file, or - for stdin [default: -]")
      ->option_text("[LOG]");
  add_value_option(*command, "--as", options->preset, "PRESET",
                   "Preset that reads the output [default: the one that reads most]");
  add_value_option(*command, "--metric", options->metrics, "NAME=REGEX",
                   "Regular expression whose first group is the number, as in a study's "
                   "\"reports\"; may be repeated [default: none]")
      ->allow_extra_args(false);
  add_json_option(*command, context);
}

}  // namespace steptune
