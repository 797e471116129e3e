// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/median.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/replay/recorded_table.hpp"

namespace steptune {
namespace {

/// Seconds of a replayed step if the recorded time is the table's median.
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
                                           {"h", k_hour_s},
                                           {"seconds", 1.0}}};

std::optional<double> seconds_in(std::string_view unit) {
  const auto* found = std::ranges::find(k_units, unit, &TimeUnit::name);
  return found == k_units.end() ? std::nullopt : std::optional(found->seconds);
}

/// Returns the end of a column's name that may be a unit: `ms` for `compile_ms`.
std::string_view suffix_of(std::string_view name) {
  const std::size_t mark = name.rfind('_');
  return mark == std::string_view::npos ? std::string_view() : name.substr(mark + 1);
}

/// Returns the seconds in one unit of a time column, from its unit or its name (`training_time`,
/// `compile_ms`). nullopt for columns without a time.
std::optional<double> seconds_per_unit(const RecordedTable::Column& column) {
  for (const std::string_view unit : {std::string_view(column.unit), suffix_of(column.name)}) {
    if (const auto seconds = seconds_in(unit)) return seconds;
  }
  for (const std::string_view word : {"time", "seconds", "duration", "latency"}) {
    if (column.unit.empty() && column.name.find(word) != std::string::npos) return 1.0;
  }
  return std::nullopt;
}

/// Returns the name of a part without its unit: `data` for the column `data_s`.
std::string part_name(const std::string& column) {
  const std::string_view unit = suffix_of(column);
  return seconds_in(unit) ? column.substr(0, column.size() - unit.size() - 1) : column;
}

struct TimeColumn {
  std::size_t index = 0;
  double seconds = 1.0;  ///< seconds in one unit of the column
};

Result<TimeColumn> choose_time_column(const RecordedTable& table,
                                      const std::filesystem::path& json_file,
                                      const std::optional<std::string>& wanted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.measured().size(); ++i) {
    const RecordedTable::Column& column = table.measured()[i];
    names.push_back(column.name);
    const auto seconds = seconds_per_unit(column);
    // A column that the study names may be any positive quantity.
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
  return median(std::move(times)).value_or(0.0);
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
    behaviour.samples_per_step = spec.report_format.samples_per_step.value_or(samples_per_step);
    for (std::size_t i = 0; i < (*row)->size(); ++i) {
      const auto& cell = (**row)[i];
      if (!cell) continue;
      const RecordedTable::Column& column = table->measured()[i];
      behaviour.metrics[column.name] = *cell;
      // Parts belong to the objective, so leave them out if another column is the time.
      if (!column.is_part || time.index != 0) continue;
      const double seconds = seconds_per_unit(column).value_or(time.seconds);
      behaviour.parts[part_name(column.name)] += *cell * seconds;
    }
    return behaviour;
  };
}

}  // namespace steptune
