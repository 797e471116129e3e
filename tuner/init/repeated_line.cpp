// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/repeated_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/median.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/output/lines.hpp"
#include "trial_runner/reports/counter_names.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/init/line_shape.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_most_read_bytes = std::size_t{64} << 10;
constexpr std::size_t k_least_count = 3;
constexpr std::size_t k_most_line_bytes = 2000;
/// Longest expression that is proposed. A study file allows 1000 bytes, and as many in the comment
/// that shows the expression as JSON, where it may need twice its length.
constexpr std::size_t k_longest_proposed = 400;

/// Rule for a number that grows steadily. Of the differences between lines that are not zero, at
/// least the first share must be positive. Of the positive differences, at least the second share
/// must be within a factor of three of their median.
constexpr double k_share_of_growth = 0.75;
constexpr double k_share_of_usual = 0.7;
constexpr double k_usual_factor = 3.0;

constexpr const char* k_count_group = R"((\d+))";
constexpr const char* k_thousands_group = "([0-9,]+)";
constexpr const char* k_decimal_group = R"((\d+(?:\.\d+)?))";
constexpr const char* k_loss_group =
    "([-+]?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?)))";

/// Meaning of a counter, in order of preference.
enum class Counts { steps, samples, unnamed, epochs, percent, nothing };

constexpr std::array<std::string_view, 4> k_epoch_words{"epoch", "epochs", "ep", "epoche"};
/// Names of numbers that may grow without counting the training.
constexpr std::array<std::string_view, 20> k_other_words{
    "time", "elapsed", "eta",     "s",      "sec", "secs", "seconds", "ms",  "min", "minutes",
    "h",    "hours",   "runtime", "memory", "mem", "mb",   "gb",      "pid", "lr",  "seed"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool goes_on = false;
  for (const char c : lower_case(text)) {
    if (!is_word_character(c)) {
      goes_on = false;
      continue;
    }
    if (!goes_on) words.emplace_back();
    words.back() += c;
    goes_on = true;
  }
  return words;
}

/// Values of one number in all lines of one kind.
struct Series {
  std::size_t piece = 0;
  /// Words between the previous number and this number, in lower case.
  std::vector<std::string> words;
  std::string unit;      ///< text directly after it, in lower case
  bool is_rate = false;  ///< `words/s: 4321`, `4321 words/s`
  bool is_whole = true;
  bool has_thousands = false;
  std::vector<double> values;

  [[nodiscard]] std::string name() const { return words.empty() ? unit : words.back(); }
};

std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  if (text.starts_with('+')) text.erase(0, 1);
  if (const auto number = parse_finite(text)) return number;
  return parse_finite("0" + text);  // `.5`
}

/// A kind of line.
struct Kind {
  ShapedLine widest;  ///< line with the most padding: its expressions also match the other lines
  std::vector<std::string> lines;
  std::vector<Series> numbers;
  bool is_evaluation = false;

  void add(ShapedLine line) {
    if (lines.empty()) begin(line);
    std::size_t next = 0;
    for (const LinePiece& piece : line.pieces) {
      if (piece.kind != LinePiece::Kind::number) continue;
      Series& series = numbers[next++];
      const auto value = number_in(piece.text);
      series.values.push_back(value.value_or(k_nan));
      series.is_whole = series.is_whole && value &&
                        piece.text.find_first_not_of("0123456789,") == std::string::npos;
      series.has_thousands = series.has_thousands || piece.text.find(',') != std::string::npos;
    }
    lines.push_back(line.line);
    if (widest.pieces.size() >= line.pieces.size()) return;
    widest = std::move(line);
    next = 0;
    for (std::size_t at = 0; at < widest.pieces.size(); ++at) {
      if (widest.pieces[at].kind == LinePiece::Kind::number) numbers[next++].piece = at;
    }
  }

 private:
  void begin(const ShapedLine& line) {
    std::string before;
    for (std::size_t at = 0; at < line.pieces.size(); ++at) {
      const LinePiece& piece = line.pieces[at];
      if (piece.kind != LinePiece::Kind::number) {
        before += piece.kind == LinePiece::Kind::text ? piece.text : " ";
        continue;
      }
      Series series;
      series.words = words_of(before);
      series.unit = unit_at(line.pieces, at + 1);
      // `4321 words/s` without a name before it.
      if (series.unit.empty() && series.words.empty()) series.unit = unit_at(line.pieces, at + 2);
      series.is_rate =
          before.find("/s") != std::string::npos || series.unit.find("/s") != std::string::npos;
      numbers.push_back(std::move(series));
      before.clear();
    }
    const auto words = words_of(line.line);
    is_evaluation = std::ranges::any_of(words, [](const std::string& word) {
      constexpr std::array<std::string_view, 8> k_words{
          "val", "valid", "validate", "validation", "eval", "evaluation", "test", "dev"};
      return is_one_of(k_words, word) || word.starts_with("val_") || word.starts_with("eval_") ||
             word.starts_with("test_");
    });
  }

  /// Returns `s` of `12.3s`, `%` of `5%`, `words/s` of `4321 words/s`.
  static std::string unit_at(const std::vector<LinePiece>& pieces, std::size_t at) {
    if (at >= pieces.size() || pieces[at].kind != LinePiece::Kind::text) return "";
    return lower_case(pieces[at].text.substr(0, pieces[at].text.find_first_of(",;:|()[]<>=")));
  }
};

/// True if most differences from line to line are positive and of similar size. Unless `may_rest`,
/// at most about half of the differences may be zero or negative.
bool grows_steadily(const std::vector<double>& values, bool may_rest) {
  std::vector<double> growth;
  std::size_t falls = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double difference = values[i] - values[i - 1];
    if (difference > 0.0) growth.push_back(difference);
    falls += difference < 0.0 || !std::isfinite(difference) ? 1U : 0U;
  }
  const double moves = static_cast<double>(growth.size() + falls);
  if (growth.empty() || static_cast<double>(growth.size()) < k_share_of_growth * moves) {
    return false;
  }
  if (!may_rest && 2 * growth.size() + 1 < values.size()) return false;
  const double middle = *median(growth);
  const auto usual = std::ranges::count_if(growth, [&](double step) {
    return step * k_usual_factor >= middle && step <= k_usual_factor * middle;
  });
  return static_cast<double>(usual) >= k_share_of_usual * static_cast<double>(growth.size());
}

bool is_named_otherwise(const Series& series) {
  const std::string name = series.name();
  if (is_one_of(k_other_words, name) || is_one_of(k_other_words, series.unit)) return true;
  return name.find("time") != std::string::npos && !counter_name(name);
}

Counts counts_of(const Series& series) {
  if (series.unit.starts_with('%')) {
    return grows_steadily(series.values, /*may_rest=*/true) ? Counts::percent : Counts::nothing;
  }
  if (!series.is_whole || series.is_rate || is_named_otherwise(series)) return Counts::nothing;
  const std::string name = series.name();
  if (is_one_of(k_epoch_words, name)) {
    return grows_steadily(series.values, /*may_rest=*/true) ? Counts::epochs : Counts::nothing;
  }
  if (!grows_steadily(series.values, /*may_rest=*/false)) return Counts::nothing;
  const auto counter = counter_name(name);
  if (!counter) return Counts::unnamed;
  return counter->counts_samples ? Counts::samples : Counts::steps;
}

const Series* counter_in(const Kind& kind, Counts counts) {
  const auto found = std::ranges::find_if(
      kind.numbers, [&](const Series& series) { return counts_of(series) == counts; });
  return found == kind.numbers.end() ? nullptr : &*found;
}

Counts best_counter(const Kind& kind) {
  Counts best = Counts::nothing;
  for (const Series& series : kind.numbers)
    best = std::min(best, counts_of(series));
  return best;
}

/// Returns the loss of a kind of line: preferably `loss`, then `train_loss` and the like, then a
/// cost.
const Series* loss_in(const Kind& kind) {
  const Series* best = nullptr;
  int best_rank = 4;
  for (const Series& series : kind.numbers) {
    if (series.words.empty() || !series.unit.empty()) continue;
    const std::string& name = series.words.back();
    const int rank = name == "loss"                                 ? 0
                     : name == "train_loss" || name == "total_loss" ? 1
                     : name.ends_with("loss")                       ? 2
                     : name == "cost"                               ? 3
                                                                    : 4;
    if (rank >= best_rank) continue;
    best_rank = rank;
    best = &series;
  }
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

std::vector<Kind> kinds_of(const std::vector<std::string>& lines) {
  std::map<std::string, Kind> by_shape;
  for (const std::string& line : lines) {
    if (line.size() > k_most_line_bytes) continue;
    ShapedLine shaped = shape_of(line);
    if (shaped.shape.find('#') == std::string::npos) continue;
    Kind& kind = by_shape[shaped.shape];
    kind.add(std::move(shaped));
  }
  std::vector<Kind> kinds;
  for (auto& [shape, kind] : by_shape) {
    const bool changes = std::ranges::any_of(kind.numbers, [](const Series& series) {
      return std::ranges::any_of(series.values,
                                 [&](double value) { return value != series.values.front(); });
    });
    if (kind.lines.size() >= k_least_count && changes) kinds.push_back(std::move(kind));
  }
  return kinds;
}

/// True if lines of kind `a` are more useful to read the training's progress than lines of kind
/// `b`.
bool says_more(const Kind& a, const Kind& b) {
  const auto rank = [](const Kind& kind) {
    return std::tuple(best_counter(kind) == Counts::nothing, kind.is_evaluation, best_counter(kind),
                      loss_in(kind) == nullptr);
  };
  const auto of_a = rank(a), of_b = rank(b);
  return of_a != of_b ? of_a < of_b : a.lines.size() > b.lines.size();
}

/// An expression and the number that it is for.
struct Proposal {
  MetricDefinition metric;
  const Kind* kind = nullptr;
  const Series* series = nullptr;
};

Proposal counter_proposal(const std::string& name, const Kind& kind, const Series& series) {
  const char* group = !series.is_whole       ? k_decimal_group
                      : series.has_thousands ? k_thousands_group
                                             : k_count_group;
  return {{name, expression_for(kind.widest, series.piece, group)}, &kind, &series};
}

Proposal loss_proposal(const Kind& kind, const Series& loss) {
  return {{kind.is_evaluation ? "eval_loss" : "loss",
           expression_for(kind.widest, loss.piece, k_loss_group)},
          &kind,
          &loss};
}

/// Returns the expressions for the counters of a kind of line, the most useful one first.
std::vector<Proposal> counters_of(const Kind& kind) {
  const Counts counts = best_counter(kind);
  if (counts == Counts::nothing) return {};
  const bool is_step = counts == Counts::steps || counts == Counts::unnamed;
  std::vector<Proposal> proposals{
      counter_proposal(is_step ? "step" : "samples", kind, *counter_in(kind, counts))};
  if (counts == Counts::epochs || counts == Counts::percent) return proposals;
  const Series* samples = counter_in(kind, Counts::samples);
  if (counts == Counts::steps && samples != nullptr) {
    proposals.push_back(counter_proposal("samples", kind, *samples));
  }
  if (const Series* epoch = counter_in(kind, Counts::epochs)) {
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

/// True if the expressions are short enough and find a counter in at least `count` of the lines.
bool reads(const std::vector<MetricDefinition>& metrics, const std::vector<std::string>& lines,
           std::size_t count) {
  const bool is_long = std::ranges::any_of(metrics, [](const MetricDefinition& metric) {
    return metric.regex.size() > k_longest_proposed;
  });
  auto reader = ReportReader::create({.preset = {}, .metrics = metrics, .samples_per_step = {}});
  if (is_long || !reader) return false;
  const auto with_progress = std::ranges::count_if(lines, [&](const std::string& line) {
    const auto report = reader->read_line(line, 0.0);
    return report && (report->step || report->samples);
  });
  return static_cast<std::size_t>(with_progress) >= count;
}

}  // namespace

std::optional<RepeatedLine> repeated_line(std::string_view output) {
  const std::vector<std::string> lines = lines_of(output);
  std::vector<Kind> kinds = kinds_of(lines);
  if (kinds.empty()) return std::nullopt;
  std::ranges::sort(kinds, says_more);
  const Kind& kind = kinds.front();
  RepeatedLine repeated;
  repeated.line = kind.lines.back();
  repeated.count = kind.lines.size();
  std::vector<Proposal> proposals = counters_of(kind);
  const Counts counts = best_counter(kind);
  if (counts == Counts::percent) repeated.unit = CountUnit::percent;
  if (counts == Counts::epochs) repeated.unit = CountUnit::epochs;
  // A table has the loss in a separate line.
  for (const Kind& each : kinds) {
    const Series* loss = loss_in(each);
    if (loss == nullptr || each.is_evaluation) continue;
    repeated.has_loss = true;
    if (!proposals.empty()) proposals.push_back(loss_proposal(each, *loss));
    break;
  }
  std::vector<MetricDefinition> metrics;
  for (Proposal& proposal : proposals) {
    if (reads_its_number(proposal)) {
      metrics.push_back(std::move(proposal.metric));
    } else if (metrics.empty()) {
      return repeated;
    }
  }
  if (reads(metrics, lines, kind.lines.size())) repeated.metrics = std::move(metrics);
  return repeated;
}

Json reports_for(const RepeatedLine& line) {
  if (line.metrics.empty()) return {};
  Json metrics = Json::array();
  for (const MetricDefinition& metric : line.metrics)
    metrics.push_back({{"name", metric.name}, {"regex", metric.regex}});
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
