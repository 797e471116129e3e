// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/repeated_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/median.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/reports/counter_names.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/init/line_kinds.hpp"
#include "tuner/init/line_shape.hpp"
#include "tuner/init/named_loss.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_read_bytes = std::size_t{64} << 10;

/// Seconds of a Unix time since 2001. Such numbers also grow evenly.
constexpr double k_least_unix_time = 1e9;

constexpr const char* k_count_group = R"((\d+))";
constexpr const char* k_thousands_group = "([0-9,]+)";
constexpr const char* k_decimal_group = R"((\d+(?:\.\d+)?))";
constexpr const char* k_loss_group =
    "([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?)))";

/// Meaning of a counter, in order of preference.
enum class Counts { steps, samples, unnamed, epochs, percent, nothing };

/// Names of numbers that may grow without counting the training.
constexpr std::array<std::string_view, 22> k_other_words{
    "time", "elapsed", "eta",  "s",       "sec", "secs",  "seconds", "ms",
    "m",    "min",     "mins", "minutes", "h",   "hours", "runtime", "memory",
    "mem",  "mb",      "gb",   "pid",     "lr",  "seed"};

bool is_other_word(std::string_view word) {
  return std::ranges::find(k_other_words, word) != k_other_words.end();
}

bool is_named_otherwise(const NumberSeries& series) {
  const std::string name = series.name();
  if (is_other_word(name) || is_other_word(series.unit)) return true;
  return name.find("time") != std::string::npos && !counter_name(name);
}

Counts counts_of(const NumberSeries& series) {
  if (series.unit.starts_with('%')) {
    return series.grows_steadily(/*may_rest=*/true) ? Counts::percent : Counts::nothing;
  }
  if (!series.is_whole || series.is_rate || is_named_otherwise(series)) return Counts::nothing;
  const std::string name = series.name();
  if (is_epoch_word(name)) {
    return series.grows_steadily(/*may_rest=*/true) ? Counts::epochs : Counts::nothing;
  }
  if (!series.grows_steadily(/*may_rest=*/false)) return Counts::nothing;
  const auto counter = counter_name(name);
  if (!counter) return Counts::unnamed;
  return counter->counts_samples ? Counts::samples : Counts::steps;
}

const NumberSeries* counter_in(const LineKind& kind, Counts counts) {
  const auto found = std::ranges::find_if(
      kind.numbers, [&](const NumberSeries& series) { return counts_of(series) == counts; });
  return found == kind.numbers.end() ? nullptr : &*found;
}

Counts best_counter(const LineKind& kind) {
  Counts best = Counts::nothing;
  for (const NumberSeries& series : kind.numbers)
    best = std::min(best, counts_of(series));
  return best;
}

std::vector<std::string> lines_of(std::string_view output) {
  if (output.size() > k_most_read_bytes) {
    output.remove_prefix(output.size() - k_most_read_bytes);
    output.remove_prefix(std::min(output.size(), output.find_first_of("\r\n")));
  }
  std::vector<std::string> lines;
  LineSplitter splitter;
  splitter.feed(output, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

/// True if lines of kind `a` are more useful to read the training's progress than lines of kind
/// `b`.
bool says_more(const LineKind& a, const LineKind& b) {
  const auto rank = [](const LineKind& kind) {
    return std::tuple(best_counter(kind) == Counts::nothing, kind.is_evaluation, best_counter(kind),
                      loss_in(kind, /*of_evaluation=*/false) == nullptr);
  };
  const auto of_a = rank(a), of_b = rank(b);
  return of_a != of_b ? of_a < of_b : a.lines.size() > b.lines.size();
}

/// An expression, and the number that it should read.
struct Proposal {
  MetricDefinition metric;
  const LineKind* kind = nullptr;
  const NumberSeries* series = nullptr;
};

Proposal counter_proposal(const std::string& name, const LineKind& kind,
                          const NumberSeries& series) {
  const char* group = !series.is_whole       ? k_decimal_group
                      : series.has_thousands ? k_thousands_group
                                             : k_count_group;
  return {{name, expression_for(kind.widest, series.piece, group)}, &kind, &series};
}

/// Returns the expressions for a loss of the training and a loss of an evaluation, if lines name
/// these. A table has the loss in a separate line.
std::vector<Proposal> losses_of(const std::vector<LineKind>& kinds) {
  std::vector<Proposal> proposals;
  for (const bool of_evaluation : {false, true}) {
    for (const LineKind& kind : kinds) {
      const NumberSeries* loss = loss_in(kind, of_evaluation);
      if (loss == nullptr) continue;
      proposals.push_back({{of_evaluation ? "eval_loss" : "loss",
                            expression_for(kind.widest, loss->piece, k_loss_group)},
                           &kind,
                           loss});
      break;
    }
  }
  return proposals;
}

/// Returns the expressions for the counters of a kind of line, the most useful one first.
std::vector<Proposal> counters_of(const LineKind& kind) {
  const Counts counts = best_counter(kind);
  if (counts == Counts::nothing) return {};
  const bool is_step = counts == Counts::steps || counts == Counts::unnamed;
  std::vector<Proposal> proposals{
      counter_proposal(is_step ? "step" : "samples", kind, *counter_in(kind, counts))};
  if (counts == Counts::epochs || counts == Counts::percent) return proposals;
  const NumberSeries* samples = counter_in(kind, Counts::samples);
  if (counts == Counts::steps && samples != nullptr) {
    proposals.push_back(counter_proposal("samples", kind, *samples));
  }
  if (const NumberSeries* epoch = counter_in(kind, Counts::epochs)) {
    proposals.push_back(counter_proposal("epoch", kind, *epoch));
  }
  return proposals;
}

/// True if the expression reads its number in each line of its kind. A shortened expression may
/// read another number.
bool reads_its_number(const Proposal& proposal) {
  // The reader keeps the value of a metric unchanged, but adds up counters that restart.
  const std::string name = "value";
  auto reader = ReportReader::create(
      {.preset = {}, .metrics = {{name, proposal.metric.regex}}, .samples_per_step = {}});
  if (!reader) return false;
  for (std::size_t i = 0; i < proposal.kind->lines.size(); ++i) {
    const auto report = reader->read_line(proposal.kind->lines[i], 0.0);
    const double expected = proposal.series->values[i];
    if (!std::isfinite(expected)) continue;
    if (!report) return false;
    const auto found = report->metrics.find(name);
    if (found == report->metrics.end() || found->second != expected) return false;
  }
  return true;
}

bool is_short(const MetricDefinition& metric) {
  return metric.regex.size() <= k_longest_expression;
}

/// True if the expressions find a counter in at least `count` of the lines.
bool reads(const std::vector<MetricDefinition>& metrics, const std::vector<std::string>& lines,
           std::size_t count) {
  auto reader = ReportReader::create({.preset = {}, .metrics = metrics, .samples_per_step = {}});
  if (!reader) return false;
  std::size_t lines_with_progress = 0;
  for (const std::string& line : lines) {
    const auto report = reader->read_line(line, 0.0);
    lines_with_progress += report && (report->step || report->samples) ? 1U : 0U;
  }
  return lines_with_progress >= count;
}

/// Growth of a counter from line to line.
struct Growth {
  std::size_t growths = 0;
  std::size_t restarts = 0;
  bool is_even = false;     ///< most growths are equal
  bool is_unbroken = true;  ///< no line repeats a value, or falls behind without a restart
};

Growth growth_of(const NumberSeries& series) {
  Growth growth;
  std::vector<double> differences;
  for (std::size_t i = 1; i < series.values.size(); ++i) {
    const double before = series.values[i - 1];
    const double value = series.values[i];
    if (value > before) {
      differences.push_back(value - before);
    } else if (value < before && value <= 0.5 * before) {
      ++growth.restarts;
    } else {
      growth.is_unbroken = false;
    }
  }
  growth.growths = differences.size();
  if (differences.empty()) return growth;
  const auto even = std::ranges::count(differences, *median(differences));
  growth.is_even = static_cast<double>(even) >= 0.8 * static_cast<double>(differences.size());
  return growth;
}

/// True for words that name a number of samples, tokens or the like, or follow it: `<640> seen so
/// far`.
bool is_sample_word(std::string_view word) {
  constexpr std::array<std::string_view, 10> k_words{
      "seen", "processed", "tokens", "words", "pairs", "files", "bytes", "points", "items", "done"};
  const auto name = counter_name(word);
  return (name && name->counts_samples) || std::ranges::find(k_words, word) != k_words.end();
}

/// True if a number without a name counts steps: a loss follows it, and it is no Unix time.
bool is_step_count(const LineKind& kind, const NumberSeries& counter) {
  const NumberSeries* loss = loss_in(kind, /*of_evaluation=*/false);
  if (loss == nullptr || loss < &counter || counter.values.front() >= k_least_unix_time) {
    return false;
  }
  const bool is_named = std::ranges::any_of(counter.words, [](const std::string& word) {
    return !is_link_word(word) && !is_loss_word(word);
  });
  const auto next = static_cast<std::size_t>(&counter - kind.numbers.data()) + 1;
  const bool counts_samples = next < kind.numbers.size() && !kind.numbers[next].words.empty() &&
                              is_sample_word(kind.numbers[next].words.front());
  return !is_named && !counts_samples && counter.unit.empty();
}

/// True if the number after the counter grows, too, as in `2109/2400/2400`. The counter may then
/// count only a part of the steps.
bool has_growing_total(const LineKind& kind, const NumberSeries& counter) {
  const auto next = static_cast<std::size_t>(&counter - kind.numbers.data()) + 1;
  return counter.unit == "/" && next < kind.numbers.size() &&
         kind.numbers[next].grows_steadily(/*may_rest=*/false);
}

/// True if the counter of this kind of line certainly counts the training.
bool counts_certainly(const LineKind& kind, bool has_loss) {
  const Counts counts = best_counter(kind);
  if (counts == Counts::nothing || counts == Counts::percent) return false;
  if (std::ranges::count(kind.numbers, counts, counts_of) > 1) return false;
  // A line of an evaluation may count the evaluation's own steps.
  if (kind.is_evaluation && loss_in(kind, /*of_evaluation=*/false) == nullptr) return false;
  const NumberSeries& counter = *counter_in(kind, counts);
  if (has_growing_total(kind, counter)) return false;
  const Growth growth = growth_of(counter);
  if (counter.is_of_evaluation || !growth.is_unbroken) return false;
  // A counter with even growth needs fewer growths to be certain.
  const std::size_t least_growths = growth.is_even ? 5 : 10;
  if (growth.growths < least_growths) return false;
  if (counts == Counts::unnamed) {
    return growth.is_even && growth.restarts == 0 && is_step_count(kind, counter);
  }
  const auto name = counter_name(counter.name());
  return has_loss || (name && !name->may_be_size);
}

}  // namespace

std::optional<RepeatedLine> repeated_line(std::string_view output) {
  const std::vector<std::string> lines = lines_of(output);
  std::vector<LineKind> kinds = line_kinds(lines);
  if (kinds.empty()) return std::nullopt;
  std::ranges::sort(kinds, says_more);
  const LineKind& kind = kinds.front();
  RepeatedLine repeated;
  repeated.line = kind.lines.back();
  repeated.count = kind.lines.size();
  std::vector<Proposal> proposals = counters_of(kind);
  const Counts counts = best_counter(kind);
  if (counts == Counts::percent) repeated.unit = CountUnit::percent;
  if (counts == Counts::epochs) repeated.unit = CountUnit::epochs;
  std::vector<Proposal> losses = losses_of(kinds);
  repeated.has_loss = !losses.empty() && !losses.front().series->is_of_evaluation;
  if (!proposals.empty()) std::ranges::move(losses, std::back_inserter(proposals));
  std::vector<MetricDefinition> metrics;
  for (Proposal& proposal : proposals) {
    if (is_short(proposal.metric) && reads_its_number(proposal)) {
      metrics.push_back(std::move(proposal.metric));
    } else if (metrics.empty()) {
      return repeated;
    }
  }
  if (!reads(metrics, lines, kind.lines.size())) return repeated;
  repeated.metrics = std::move(metrics);
  repeated.is_certain = counts_certainly(kind, repeated.has_loss);
  return repeated;
}

std::vector<MetricDefinition> loss_expressions(std::string_view output) {
  std::vector<LineKind> kinds = line_kinds(lines_of(output));
  std::ranges::sort(kinds, says_more);
  std::vector<MetricDefinition> metrics;
  for (Proposal& loss : losses_of(kinds)) {
    if (is_short(loss.metric) && reads_its_number(loss)) metrics.push_back(std::move(loss.metric));
  }
  return metrics;
}

Json metric_json(const MetricDefinition& metric) {
  return {{"name", metric.name}, {"regex", metric.regex}};
}

Json reports_for(const RepeatedLine& line) {
  if (line.metrics.empty()) return {};
  Json metrics = Json::array();
  for (const MetricDefinition& metric : line.metrics)
    metrics.push_back(metric_json(metric));
  return Json{{"metrics", std::move(metrics)}};
}

std::string reports_text(const RepeatedLine& line) {
  std::vector<std::string> metrics;
  const Json reports = reports_for(line);
  for (const Json& metric : reports["metrics"])
    metrics.push_back("  " + dump_json(metric));
  return fmt::format("\"reports\": {{\"metrics\": [\n{}\n]}}", fmt::join(metrics, ",\n"));
}

}  // namespace steptune
