// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/analysis/importance.hpp"
#include "tuner/report/bottleneck_report.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/importance_report.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

/// Returns the seconds of a stage per sample: `612.4 us`, `1.5 ms`.
std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds >= 1.0 || seconds <= 0.0) return format_number(seconds) + " s";
  return seconds >= 1e-3 ? format_number(1e3 * seconds) + " ms"
                         : format_number(1e6 * seconds) + " us";
}

/// Returns the program's names of the parts that belong to a stage.
std::string part_names(const StageTime& time) {
  std::string text;
  for (const std::string& part : time.parts)
    text += (text.empty() ? "" : ", ") + printable_line(part, 40);
  return text;
}

/// Returns the speed-up that is possible if the stage took no time: `2.56x`, or `-` if it is
/// unknown.
std::string most_gain_text(const Bottleneck& bottleneck, std::optional<StepStage> stage) {
  if (!stage) return "-";
  const auto most = bottleneck.most_gain(*stage);
  return most ? format_ratio(*most) : "-";
}

/// Returns a line for each known fact about the use of GPU and CPUs, waits for the loader, and time
/// outside the steps. Also says which parameters are inactive, and why there is no table of
/// parameters.
std::string further_facts(const Bottleneck& bottleneck) {
  std::string text;
  if (bottleneck.gpu_busy) {
    text += fmt::format("GPU busy {} of the time\n", format_percent(*bottleneck.gpu_busy));
  }
  if (bottleneck.cpu_busy) {
    text += fmt::format("CPUs busy {} of the time\n", format_percent(*bottleneck.cpu_busy));
  }
  if (bottleneck.loader_queue_empty) {
    text += fmt::format("the next batch comes late at {} of the steps\n",
                        format_percent(*bottleneck.loader_queue_empty));
  }
  if (bottleneck.loader_worker_cpu) {
    text += fmt::format("the loader's workers compute for {} of their time\n",
                        format_percent(*bottleneck.loader_worker_cpu));
  }
  if (bottleneck.interruptions_share > 0.0) {
    text += fmt::format(
        "phases (such as evaluation) and stalls between steps take {} of the average time per {}\n",
        format_percent(bottleneck.interruptions_share), bottleneck.unit.singular());
  }
  if (bottleneck.startup_share.value_or(0.0) > 0.0) {
    text += fmt::format("start-up and warm-up: {} of the planned run\n",
                        format_percent(*bottleneck.startup_share));
  }
  if (!bottleneck.why_no_responses.empty() && !bottleneck.stages.empty()) {
    text += bottleneck.why_no_responses + "\n";
  }
  for (const std::string& parameter : bottleneck.inactive)
    text +=
        fmt::format("{}: not used in this trial, because its condition is not met\n", parameter);
  return text;
}

}  // namespace

std::string stage_title(std::optional<StepStage> stage) {
  return stage ? with_blanks(to_text(*stage)) : "other parts";
}

TextTable stage_table(const Bottleneck& bottleneck, bool with_parts) {
  std::vector<TextTable::Column> columns{{"stage", Align::left},
                                         {"share of a step", Align::right},
                                         {"per " + bottleneck.unit.singular(), Align::right},
                                         {"gain if it took 0 s", Align::right}};
  if (with_parts) columns.push_back({"parts", Align::left});
  TextTable table(std::move(columns));
  for (const StageTime& time : bottleneck.stages) {
    std::vector<std::string> cells{stage_title(time.stage), format_percent(time.share),
                                   seconds_text(time.seconds_per_sample),
                                   most_gain_text(bottleneck, time.stage)};
    if (with_parts) cells.push_back(part_names(time));
    table.add_row(std::move(cells));
  }
  if (bottleneck.unreported_share > k_least_shown_share) {
    // Show the time of a step that no reported part covers.
    table.add_row({"unknown", format_percent(bottleneck.unreported_share),
                   seconds_text(bottleneck.unreported_share * bottleneck.step_seconds_per_sample),
                   "-"});
  }
  return table;
}

TextTable response_table(const Bottleneck& bottleneck, bool with_range, bool is_cut) {
  std::vector<TextTable::Column> columns{{"parameter", Align::left},
                                         {"acts on", Align::left},
                                         {"now", Align::right},
                                         {"best", Align::right},
                                         {"gain left", Align::right}};
  if (with_range) columns.push_back({"worst to best", Align::right});
  TextTable table(std::move(columns));
  const auto shown = [&](const std::string& text, std::size_t widest) {
    return is_cut ? elide_middle(printable_line(text), widest) : text;
  };
  for (const ParameterResponse& response : bottleneck.responses) {
    std::vector<std::string> cells{
        shown(response.parameter, 20), response.stage ? stage_title(response.stage) : "-",
        shown(to_text(response.now), 12), shown(to_text(response.best), 12),
        gain_text(response.gain, true)};
    if (with_range) cells.push_back(gain_text(response.range, true));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string bottleneck_text(const Bottleneck& bottleneck, const TextStyle& style) {
  const BottleneckWords words = in_words(bottleneck);
  const std::size_t width = readable_width(style.width);
  std::string text = wrapped(words.finding, width);
  if (style.color) text = "\x1b[1m" + text.substr(0, text.size() - 1) + "\x1b[0m\n";
  for (const std::string& sentence : {words.evidence, words.gain_without_loading}) {
    if (!sentence.empty()) text += wrapped(sentence, width);
  }
  if (!bottleneck.stages.empty()) {
    TextTable table = stage_table(bottleneck, true);
    if (style.width > 0 && table.width() > style.width) table = stage_table(bottleneck, false);
    text += "\n" + table.text();
  }
  if (!bottleneck.responses.empty()) {
    TextTable table = response_table(bottleneck, true, true);
    if (style.width > 0 && table.width() > style.width)
      table = response_table(bottleneck, false, true);
    text += "\n" + table.text();
  }
  const std::string facts = further_facts(bottleneck);
  return facts.empty() ? text : text + "\n" + facts;
}

}  // namespace steptune
