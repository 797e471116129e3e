// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

std::vector<std::string> differing_parameters(const std::vector<TrialRecord>& trials,
                                              const std::vector<std::string>& parameter_order) {
  std::vector<std::string> names;
  for (const std::string& name : parameter_order) {
    const bool differs = std::ranges::any_of(trials, [&](const TrialRecord& trial) {
      const Value* value = trial.configuration.find(name);
      const Value* first = trials.front().configuration.find(name);
      return value == nullptr || first == nullptr ? value != first : *value != *first;
    });
    if (differs) names.push_back(name);
  }
  return names;
}

/// A table with a cell for each trial in each row. Leaves out rows whose cells are all empty.
class ComparisonTable {
 public:
  explicit ComparisonTable(const std::vector<TrialRecord>& trials)
      : trials_(&trials), table_(columns_for(trials)) {}

  void add(const std::string& name, const std::function<std::string(const TrialRecord&)>& cell) {
    std::vector<std::string> cells{name};
    for (const TrialRecord& trial : *trials_)
      cells.push_back(cell(trial));
    if (std::any_of(cells.begin() + 1, cells.end(), [](const auto& c) { return !c.empty(); })) {
      table_.add_row(std::move(cells));
    }
  }
  /// Adds a row whose cells are empty for trials that were not measured.
  void add_measured(const std::string& name,
                    const std::function<std::string(const Measurement&)>& cell) {
    add(name, [&](const TrialRecord& trial) {
      return trial.measurement ? cell(*trial.measurement) : std::string();
    });
  }
  [[nodiscard]] TextTable take() && { return std::move(table_); }

 private:
  static std::vector<TextTable::Column> columns_for(const std::vector<TrialRecord>& trials) {
    std::vector<TextTable::Column> columns{{"trial", Align::left}};
    for (const TrialRecord& trial : trials)
      columns.push_back({std::to_string(trial.number), Align::right});
    return columns;
  }
  const std::vector<TrialRecord>* trials_;
  TextTable table_;
};

std::string share_text(double part, double whole) {
  return whole > 0.0 && part >= 0.0 ? format_percent(part / whole) : std::string();
}

/// Adds rows with shares of the time. There is a row for each part of a step that the program
/// reports, and one for the time between steps.
void add_time_shares(ComparisonTable& table, const std::vector<TrialRecord>& trials) {
  std::set<std::string> parts;
  for (const TrialRecord& trial : trials) {
    if (!trial.measurement) continue;
    for (const auto& [name, seconds] : trial.measurement->parts)
      parts.insert(name);
  }
  for (const std::string& name : parts) {
    table.add_measured("  " + printable_line(name, 30), [&](const Measurement& m) {
      const auto part = m.parts.find(name);
      return part == m.parts.end() ? std::string() : share_text(part->second, m.seconds_per_sample);
    });
  }
  const bool any_phases = std::ranges::any_of(trials, [](const TrialRecord& trial) {
    return trial.measurement && !trial.measurement->phases.empty();
  });
  if (!any_phases) return;
  table.add_measured("  phases and stalls", [](const Measurement& m) {
    return share_text(m.seconds_per_sample - m.step_seconds_per_sample, m.seconds_per_sample);
  });
}

std::string ratio_text(const Estimate& ratio) {
  if (!std::isfinite(ratio.mean)) return {};
  if (!std::isfinite(ratio.low)) return format_ratio(ratio.mean);
  return fmt::format("{} ({}-{})", format_ratio(ratio.mean), format_factor(ratio.low),
                     format_factor(ratio.high));
}

}  // namespace

Estimate ratio_between(const ObjectiveView& view, const TrialRecord& reference,
                       const TrialRecord& other, std::size_t objective) {
  if (objective >= reference.objectives.size() || objective >= other.objectives.size()) {
    return {k_nan, k_nan, k_nan};
  }
  const double from = reference.objectives[objective];
  const double to = other.objectives[objective];
  const double ratio = view.gain(from, to);
  const double from_half_width = half_width_95(reference, objective);
  const double to_half_width = half_width_95(other, objective);
  // A half-width of 0 means that the interval is unknown, so the ratio's interval is unknown, too.
  if (!std::isfinite(ratio) || !(from_half_width > 0.0) || !(to_half_width > 0.0)) {
    return {ratio, k_nan, k_nan};
  }
  const double half_width = std::hypot(from_half_width / from, to_half_width / to);
  return {ratio, ratio * std::exp(-half_width), ratio * std::exp(half_width)};
}

namespace {

/// Returns a table of `trials`; the first trial is the reference. `differing` are the parameters to
/// show.
TextTable comparison_table(const std::vector<TrialRecord>& trials,
                           const std::vector<ObjectiveView>& objectives,
                           const std::vector<std::string>& differing) {
  ComparisonTable table(trials);
  table.add("status", [](const TrialRecord& trial) { return with_blanks(to_text(trial.status)); });
  for (const std::string& name : differing)
    table.add(name, [&](const TrialRecord& trial) {
      return value_or_dash(trial.configuration, name, 40);
    });
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    table.add(objectives[i].title(), [&](const TrialRecord& trial) {
      return i < trial.objectives.size() ? objectives[i].text(trial.objectives[i]) : std::string();
    });
    table.add("  times as good", [&](const TrialRecord& trial) {
      if (trial.number == trials.front().number) return std::string();
      return ratio_text(ratio_between(objectives[i], trials.front(), trial, i));
    });
  }
  table.add_measured(unit_of(objectives).per_second(), [](const Measurement& m) {
    return m.seconds_per_sample > 0.0 ? format_number(1.0 / m.seconds_per_sample) : std::string();
  });
  add_time_shares(table, trials);
  table.add_measured("start-up", [](const Measurement& m) { return format_duration(m.startup_s); });
  table.add_measured("warm-up", [](const Measurement& m) { return format_duration(m.warmup_s); });
  table.add("peak memory", [](const TrialRecord& trial) {
    return trial.peak_memory_bytes ? format_bytes(*trial.peak_memory_bytes) : std::string();
  });
  table.add("CPU clock", [](const TrialRecord& trial) {
    return trial.cpu_clock ? format_ghz(trial.cpu_clock->mean_hz) : std::string();
  });
  table.add("  slowest second", [](const TrialRecord& trial) {
    return trial.cpu_clock ? format_ghz(trial.cpu_clock->lowest_hz) : std::string();
  });
  table.add("spent", [](const TrialRecord& trial) {
    return format_duration(trial.spent_s) +
           (trial.spent_usd > 0.0 ? ", " + format_usd(trial.spent_usd) : "");
  });
  return std::move(table).take();
}

}  // namespace

std::string comparison_text(const std::vector<TrialRecord>& trials,
                            const std::vector<ObjectiveView>& objectives,
                            const std::vector<std::string>& parameter_order, std::size_t width) {
  const auto differing = differing_parameters(trials, parameter_order);
  std::string text;
  std::vector<TrialRecord> block{trials.front()};
  for (std::size_t i = 1; i < trials.size(); ++i) {
    block.push_back(trials[i]);
    if (width == 0 || block.size() <= 2 ||
        comparison_table(block, objectives, differing).width() <= width) {
      continue;
    }
    block.pop_back();
    text += comparison_table(block, objectives, differing).text() + "\n";
    block = {trials.front(), trials[i]};
  }
  return text + comparison_table(block, objectives, differing).text();
}

Json comparison_json(const std::vector<TrialRecord>& trials,
                     const std::vector<ObjectiveView>& objectives,
                     const std::vector<std::string>& parameter_order) {
  Json json;
  json["differing_parameters"] = differing_parameters(trials, parameter_order);
  json["trials"] = Json::array();
  for (const TrialRecord& trial : trials) {
    Json entry{{"trial", trial_json(trial, objectives)}, {"ratios_to_first", Json::array()}};
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const Estimate ratio = ratio_between(objectives[i], trials.front(), trial, i);
      entry["ratios_to_first"].push_back({{"metric", objectives[i].objective.metric},
                                          {"ratio", number_or_null(ratio.mean)},
                                          {"low_95", number_or_null(ratio.low)},
                                          {"high_95", number_or_null(ratio.high)}});
    }
    json["trials"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace steptune
