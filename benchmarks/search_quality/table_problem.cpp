// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/table_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "common/csv.hpp"
#include "common/json.hpp"
#include "common/text.hpp"

namespace steptune::search_quality {
namespace {

struct Column {
  Parameter parameter;
  std::vector<std::string> texts;  ///< one for each level
};

struct Objective {
  std::string column;
  bool maximise = false;
};

using Key = std::vector<std::size_t>;
/// Values by levels of the parameters and fidelity; nullopt if the measurement failed.
using Measured = std::map<Key, std::vector<std::optional<std::vector<double>>>>;

Value value_of(const std::string& text) {
  const auto number = parse_finite(text);
  if (!number) return Value{text};
  if (*number == std::floor(*number) && std::abs(*number) < 1e15) {
    return Value{static_cast<std::int64_t>(*number)};
  }
  return Value{*number};
}

/// Returns a range parameter with exactly these numbers, if possible; otherwise an ordinal
/// parameter.
Parameter ordered_parameter(const std::string& name, const std::vector<std::string>& texts) {
  Parameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::ordinal;
  std::vector<double> numbers;
  bool numeric = true;
  bool whole = true;
  for (const std::string& text : texts) {
    parameter.choices.push_back(value_of(text));
    const double number = to_number(parameter.choices.back());
    numeric = numeric && !std::isnan(number);
    whole = whole && std::holds_alternative<std::int64_t>(parameter.choices.back());
    numbers.push_back(number);
  }
  if (!numeric || numbers.size() < 2) return parameter;
  Parameter range = parameter;
  range.kind = whole ? ParameterKind::integer : ParameterKind::floating;
  range.choices.clear();
  range.low = numbers.front();
  range.high = numbers.back();
  const auto fits = [&](const Parameter& candidate) {
    if (!candidate.check() || candidate.level_count() != numbers.size()) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (candidate.level_of(parameter.choices[i]) != i) return false;
    }
    return true;
  };
  range.step = numbers[1] - numbers[0];
  if (fits(range)) return range;
  range.step.reset();
  range.scale = Scale::log2;
  if (whole && fits(range)) return range;
  return parameter;
}

Result<Column> column_from(const Json& json, const std::string& where) {
  if (!json.contains("name") || !json.contains("values") || !json["values"].is_array()) {
    return fail(ErrorKind::usage, "a parameter needs name, kind and values", where + "#/params");
  }
  Column column;
  const std::string name = json["name"].get<std::string>();
  for (const Json& value : json["values"]) {
    column.texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (column.texts == std::vector<std::string>{"false", "true"}) {
    column.parameter.name = name;
    column.parameter.kind = ParameterKind::boolean;
  } else if (json.value("kind", "cat") == "cat") {
    column.parameter.name = name;
    column.parameter.kind = ParameterKind::categorical;
    for (const std::string& text : column.texts)
      column.parameter.choices.emplace_back(text);
  } else {
    column.parameter = ordered_parameter(name, column.texts);
  }
  if (auto checked = column.parameter.check(); !checked) {
    return fail(ErrorKind::usage, checked.error().message, where + "#/params/" + name);
  }
  return column;
}

std::optional<std::size_t> level_in(const Column& column, const std::string& text) {
  const auto found = std::find(column.texts.begin(), column.texts.end(), text);
  if (found != column.texts.end()) return static_cast<std::size_t>(found - column.texts.begin());
  const auto number = parse_finite(text);
  for (std::size_t i = 0; number && i < column.texts.size(); ++i) {
    if (parse_finite(column.texts[i]) == number) return i;
  }
  return std::nullopt;
}

class TableReader {
 public:
  TableReader(std::filesystem::path description, const TableOptions& options)
      : where_(std::move(description)), options_(options) {}

  Result<Problem> read() {
    auto json = read_json_file(where_);
    if (!json) return tl::unexpected(json.error());
    try {
      if (auto described = describe(*json); !described) return tl::unexpected(described.error());
      auto csv =
          read_csv_file(where_.parent_path() / json->value("csv", where_.stem().string() + ".csv"));
      if (!csv) return tl::unexpected(csv.error());
      if (auto filled = fill(*csv); !filled) return tl::unexpected(filled.error());
    } catch (const Json::exception& exception) {
      return fail(ErrorKind::usage, std::string("not a table description: ") + exception.what(),
                  where_.string());
    }
    return finish();
  }

 private:
  Result<void> describe(const Json& json) {
    problem_.name = json.value("name", where_.stem().string());
    problem_.kind = "table";
    for (const Json& parameter : json.at("params")) {
      auto column = column_from(parameter, where_.string());
      if (!column) return tl::unexpected(column.error());
      const bool fidelity = options_.fidelity && column->parameter.name == *options_.fidelity;
      if (fidelity) {
        fidelity_ = *std::move(column);
      } else {
        columns_.push_back(*std::move(column));
      }
    }
    if (options_.fidelity && !fidelity_) {
      return fail(ErrorKind::usage, "there is no parameter \"" + *options_.fidelity + '"',
                  where_.string());
    }
    objectives_.push_back({json.at("objective").get<std::string>(),
                           json.value("direction", "minimize").starts_with("max")});
    if (!options_.two_objectives) return {};
    if (options_.second) {
      const std::string& second = *options_.second;
      const auto colon = second.rfind(":max");
      objectives_.push_back({second.substr(0, colon), colon != std::string::npos});
      return {};
    }
    if (!json.contains("others") || json["others"].empty()) {
      return fail(ErrorKind::usage, "the table has no second measured column", where_.string());
    }
    objectives_.push_back({json["others"][0].get<std::string>(), false});
    return {};
  }

  Result<void> fill(const Csv& csv) {
    std::vector<std::size_t> places;
    for (const Column& column : columns_) {
      auto at = csv.column(column.parameter.name);
      if (!at) return tl::unexpected(at.error());
      places.push_back(*at);
    }
    std::vector<std::size_t> objective_places;
    for (const Objective& objective : objectives_) {
      auto at = csv.column(objective.column);
      if (!at) return tl::unexpected(at.error());
      objective_places.push_back(*at);
    }
    std::size_t fidelity_place = 0;
    if (fidelity_) {
      auto at = csv.column(fidelity_->parameter.name);
      if (!at) return tl::unexpected(at.error());
      fidelity_place = *at;
    }
    for (const auto& row : csv.rows) {
      Key key;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        auto level = level_in(columns_[i], row[places[i]]);
        if (!level) return unknown_value(columns_[i], row[places[i]]);
        key.push_back(*level);
      }
      std::size_t fidelity = 0;
      if (fidelity_) {
        const auto level = level_in(*fidelity_, row[fidelity_place]);
        if (!level) return unknown_value(*fidelity_, row[fidelity_place]);
        fidelity = *level;
      }
      auto& measured = measured_[key];
      measured.resize(fidelity_ ? fidelity_->texts.size() : 1);
      measured[fidelity] = values_of(row, objective_places);
    }
    return {};
  }

  Result<void> unknown_value(const Column& column, const std::string& text) const {
    return fail(ErrorKind::usage,
                fmt::format("the CSV file has {} = \"{}\", which the description does not list",
                            column.parameter.name, printable_line(text, 60)),
                where_.string());
  }

  [[nodiscard]] std::optional<std::vector<double>> values_of(
      const std::vector<std::string>& row, const std::vector<std::size_t>& places) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto value = parse_finite(row[places[i]]);
      if (!value) return std::nullopt;
      values.push_back(objectives_[i].maximise ? -*value : *value);
    }
    return values;
  }

  Result<Problem> finish() {
    if (fidelity_) {
      problem_.fidelities.clear();
      const auto highest = parse_finite(fidelity_->texts.back());
      for (const std::string& text : fidelity_->texts) {
        const auto resource = parse_finite(text);
        if (!resource || !highest || *resource <= 0.0) {
          return fail(ErrorKind::usage, "fidelities must be positive numbers", where_.string());
        }
        problem_.fidelities.push_back(*resource / *highest);
      }
    }
    std::vector<Parameter> parameters;
    for (const Column& column : columns_)
      parameters.push_back(column.parameter);
    auto space = SearchSpace::create(std::move(parameters), {}, {});
    if (!space) return tl::unexpected(space.error());
    problem_.space = std::make_shared<const SearchSpace>(*std::move(space));
    if (auto judged = judge(); !judged) return tl::unexpected(judged.error());
    problem_.evaluate = [space = problem_.space, measured = std::move(measured_)](
                            const Configuration& configuration,
                            std::size_t fidelity) -> std::optional<std::vector<double>> {
      Key key;
      for (const Parameter& parameter : space->parameters()) {
        key.push_back(
            static_cast<std::size_t>(*parameter.level_of(*configuration.find(parameter.name))));
      }
      const auto found = measured.find(key);
      if (found == measured.end()) return std::nullopt;
      return found->second[fidelity];
    };
    return std::move(problem_);
  }

  /// Finds the optimum, the reference point and the traits that a study file would state.
  Result<void> judge() {
    std::vector<std::vector<double>> full;
    for (const auto& [key, by_fidelity] : measured_) {
      if (by_fidelity.back()) full.push_back(*by_fidelity.back());
    }
    if (full.empty()) return fail(ErrorKind::usage, "nothing was measured", where_.string());
    bool all_positive = true;
    for (std::size_t i = 0; i < objectives_.size(); ++i) {
      std::vector<double> values;
      for (const auto& point : full)
        values.push_back(point[i]);
      std::sort(values.begin(), values.end());
      const bool positive = !objectives_[i].maximise && values.front() > 0.0;
      all_positive = all_positive && positive;
      problem_.objectives.push_back({positive});
      problem_.objective_names.push_back(objectives_[i].column);
      problem_.maximised.push_back(objectives_[i].maximise);
      problem_.reference.push_back(values[values.size() / 2]);
      if (i > 0) continue;
      problem_.optimum = values.front();
      problem_.typical = values[values.size() / 2];
    }
    problem_.relative_to_optimum = problem_.optimum != 0.0;
    if (objectives_.size() < 2) return {};
    problem_.log_volume = all_positive;
    if (all_positive) {
      for (double& value : problem_.reference)
        value = std::log(value);
    }
    problem_.max_volume = 1.0;
    problem_.max_volume = problem_.volume_share(full);
    if (!(problem_.max_volume > 0.0)) {
      return fail(ErrorKind::usage,
                  "no configuration is better than the medians of both objectives",
                  where_.string());
    }
    return {};
  }

  std::filesystem::path where_;
  const TableOptions& options_;
  Problem problem_;
  std::vector<Column> columns_;
  std::optional<Column> fidelity_;
  std::vector<Objective> objectives_;
  Measured measured_;
};

}  // namespace

Result<Problem> table_problem(const std::filesystem::path& description,
                              const TableOptions& options) {
  return TableReader(description, options).read();
}

}  // namespace steptune::search_quality
