// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/metric_regexes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/steptune_line.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_phase_prefix = "phase:";
constexpr std::string_view k_epoch = "epoch";

struct MetricRegex {
  std::string name;
  std::unique_ptr<re2::RE2> regex;
};

class MetricRegexes final : public Preset {
 public:
  explicit MetricRegexes(std::vector<MetricRegex> regexes) : regexes_(std::move(regexes)) {}

  void read(std::string_view line, Report& report) override {
    const re2::StringPiece text(line.data(), line.size());
    for (const MetricRegex& metric : regexes_) {
      re2::StringPiece match;
      if (!re2::RE2::PartialMatch(text, *metric.regex, &match)) continue;
      const std::string_view captured(match.data(), match.size());
      const auto value = captured_number(captured);
      if (metric.name.starts_with(k_phase_prefix)) {
        store_phase(metric.name.substr(k_phase_prefix.size()), captured, value, report);
      } else if (value) {
        store(metric.name, *value, report);
      }
    }
  }

  [[nodiscard]] std::optional<std::string> counter_fault() const override {
    if (!step_.several_writers() && !samples_.several_writers()) return std::nullopt;
    return several_writers_fault(step_.several_writers() ? "step" : "samples");
  }

  [[nodiscard]] std::optional<std::string> counter_note() const override {
    return uncounted_note(step_.uncounted_share(), samples_.uncounted_share());
  }

 private:
  /// Parses a group as a number, including NaN and infinity. Allows commas between thousands, and
  /// commas after the number.
  static std::optional<double> captured_number(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(',') + 1);
    if (const auto number = parse_finite(text)) return number;
    const auto pairs = number_pairs("x=" + std::string(text.substr(0, 64)));
    if (pairs.size() == 1 && !std::isfinite(pairs[0].value)) return pairs[0].value;
    // A decimal comma (`0,25`) does not match.
    static const re2::RE2 k_thousands(R"([+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?)", re2::RE2::Quiet);
    if (!re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), k_thousands)) return {};
    std::string digits(text);
    std::erase(digits, ',');
    return parse_finite(digits);
  }
  static void store_phase(const std::string& name, std::string_view captured,
                          std::optional<double> seconds, Report& report) {
    if (captured.empty()) {
      report.phase = PhaseReport{name, std::nullopt};
    } else if (seconds && *seconds >= 0.0 && *seconds <= k_max_phase_s) {
      report.phase = PhaseReport{name, seconds};
    }
  }
  void store(const std::string& name, double value, Report& report) {
    const bool counter = name == "step" || name == "samples" || name == "clock";
    if (counter && !(value >= 0.0 && value <= 1e15)) return;
    if (name == "step") {
      const double count = step_.add({value, {}, epoch_, /*per_epoch=*/false});
      if (!step_.several_writers()) report.step = count;
    } else if (name == "samples") {
      const double count = samples_.add({value, {}, epoch_, /*per_epoch=*/false});
      if (!samples_.several_writers()) report.samples = count;
    } else if (name == "clock") {
      report.clock_s = value;
    } else {
      if (name == k_epoch && std::isfinite(value)) epoch_ = std::floor(value);
      set_metric(report, name, value);
    }
  }

  std::vector<MetricRegex> regexes_;
  CumulativeCounter step_;
  CumulativeCounter samples_;
  std::optional<double> epoch_;
};

Result<MetricRegex> compile(const MetricDefinition& definition) {
  const auto refuse = [&](std::string message, std::string hint = {}) {
    return fail(ErrorKind::usage,
                fmt::format("the regular expression of metric \"{}\" {}",
                            printable_line(definition.name, 60), message),
                {}, std::move(hint));
  };
  if (definition.name.empty() || definition.name.size() > k_max_metric_name_bytes) {
    return fail(ErrorKind::usage, fmt::format("a metric name has {} bytes; 1 to {} are allowed",
                                              definition.name.size(), k_max_metric_name_bytes));
  }
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(std::int64_t{1} << 20);
  // Output may not be UTF-8. In Latin-1 every byte is a character, so no byte prevents a match.
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  if (definition.name == k_phase_prefix) return refuse("names no phase: write phase:evaluation");
  auto regex = std::make_unique<re2::RE2>(definition.regex, options);
  if (!regex->ok()) {
    return refuse("is not valid: " + regex->error(),
                  "RE2 syntax: like Perl's, without look-around and back-references");
  }
  if (regex->NumberOfCapturingGroups() < 1) {
    return refuse("has no group for the number", "write for example loss: ([0-9.]+)");
  }
  return MetricRegex{definition.name, std::move(regex)};
}

}  // namespace

Result<std::unique_ptr<Preset>> make_metric_regexes(
    const std::vector<MetricDefinition>& definitions) {
  if (definitions.size() > k_max_metrics) {
    return fail(ErrorKind::usage, fmt::format("{} metrics are defined; at most {} are allowed",
                                              definitions.size(), k_max_metrics));
  }
  std::vector<MetricRegex> regexes;
  for (const MetricDefinition& definition : definitions) {
    auto regex = compile(definition);
    if (!regex) return tl::unexpected(regex.error());
    regexes.push_back(*std::move(regex));
  }
  // A line's counters belong to the epoch of the same line.
  std::ranges::stable_partition(regexes,
                                [](const MetricRegex& metric) { return metric.name == k_epoch; });
  return std::make_unique<MetricRegexes>(std::move(regexes));
}

}  // namespace steptune
