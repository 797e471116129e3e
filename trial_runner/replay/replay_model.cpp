// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/replay/recorded_table.hpp"

namespace steptune {
namespace {

constexpr double k_median_step_s = 0.1;

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 8> k_units{{{"s", 1.0},
                                           {"ms", 1e-3},
                                           {"us", 1e-6},
                                           {"\u00b5s", 1e-6},
                                           {"ns", 1e-9},
                                           {"min", 60.0},
                                           {"h", 3600.0},
                                           {"seconds", 1.0}}};

/// Seconds in one unit of a column that is a time, from its unit or its name: `training_time`,
/// `compile_ms`.
std::optional<double> seconds_per_unit(const RecordedTable::Column& column) {
  const std::size_t mark = column.name.rfind('_');
  const std::string suffix = mark == std::string::npos ? "" : column.name.substr(mark + 1);
  for (const std::string& unit : {column.unit, suffix}) {
    const auto* found = std::find_if(k_units.begin(), k_units.end(),
                                     [&](const TimeUnit& known) { return known.name == unit; });
    if (found != k_units.end()) return found->seconds;
  }
  for (const std::string_view word : {"time", "seconds", "duration", "latency"}) {
    if (column.unit.empty() && column.name.find(word) != std::string::npos) return 1.0;
  }
  return std::nullopt;
}

struct TimeColumn {
  std::size_t index = 0;
  double seconds = 1.0;  ///< in one unit of the column
};

Result<TimeColumn> choose_time_column(const RecordedTable& table,
                                      const std::filesystem::path& json_file,
                                      const std::optional<std::string>& wanted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.measured().size(); ++i) {
    const RecordedTable::Column& column = table.measured()[i];
    names.push_back(column.name);
    const auto seconds = seconds_per_unit(column);
    // Whoever names a column may take any positive quantity for a time.
    if (wanted ? column.name == *wanted : seconds.has_value()) {
      return TimeColumn{i, seconds.value_or(1.0)};
    }
  }
  if (wanted) {
    return fail(
        ErrorKind::usage,
        fmt::format("has no measured column \"{}\"{}", *wanted, did_you_mean(*wanted, names)),
        json_file.string(), fmt::format("measured: {}", fmt::join(names, ", ")));
  }
  return fail(
      ErrorKind::usage, "has no column that is a time", json_file.string(),
      fmt::format("name the column to use with \"objective_column\": {}", fmt::join(names, ", ")));
}

double median_time_s(const RecordedTable& table, const TimeColumn& column) {
  std::vector<double> times;
  for (const auto& [key, row] : table.rows()) {
    const auto& cell = row[column.index];
    if (cell && *cell > 0.0) times.push_back(*cell * column.seconds);
  }
  if (times.empty()) return 0.0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

ReplayModel synthetic_replay_model(
    std::function<std::optional<double>(const Configuration&)> seconds_per_sample) {
  return [model = std::move(seconds_per_sample)](
             const TrialSpec& spec) -> tl::expected<ReplayBehaviour, std::string> {
    const auto seconds = model(spec.configuration);
    if (!seconds) return tl::unexpected("the model has no value for " + spec.configuration.text());
    if (!(*seconds > 0.0) || !std::isfinite(*seconds)) {
      return tl::unexpected(fmt::format("the model gives {} seconds per sample for {}", *seconds,
                                        spec.configuration.text()));
    }
    ReplayBehaviour behaviour;
    behaviour.seconds_per_sample = *seconds;
    behaviour.samples_per_step = spec.report_format.samples_per_step.value_or(1.0);
    return behaviour;
  };
}

Result<ReplayModel> table_replay_model(const std::filesystem::path& json_file,
                                       const std::optional<std::string>& time_column) {
  auto read = RecordedTable::read(json_file);
  if (!read) return tl::unexpected(read.error());
  const auto table = std::make_shared<const RecordedTable>(*std::move(read));
  const auto time = choose_time_column(*table, json_file, time_column);
  if (!time) return tl::unexpected(time.error());
  const double median_s = median_time_s(*table, *time);
  if (!(median_s > 0.0)) {
    return fail(
        ErrorKind::usage,
        fmt::format("has no positive number in \"{}\"", table->measured()[time->index].name),
        json_file.string());
  }
  return [table, time = *time, samples_per_step = k_median_step_s / median_s](
             const TrialSpec& spec) -> tl::expected<ReplayBehaviour, std::string> {
    const auto row = table->find(spec.configuration);
    if (!row) return tl::unexpected(row.error());
    const auto& value = (**row)[time.index];
    if (!value || !(*value > 0.0)) {
      return tl::unexpected("the recorded run of " + spec.configuration.text() + " failed");
    }
    ReplayBehaviour behaviour;
    behaviour.seconds_per_sample = *value * time.seconds;
    behaviour.samples_per_step = samples_per_step;
    for (std::size_t i = 0; i < (*row)->size(); ++i) {
      if (const auto& cell = (**row)[i]) behaviour.metrics[table->measured()[i].name] = *cell;
    }
    return behaviour;
  };
}

}  // namespace steptune
