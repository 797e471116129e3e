// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "common/csv.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/exports/study_import.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_trials = 1'000'000;
constexpr std::size_t k_max_result_bytes = std::size_t{16} << 20;

bool is_sqlite(const fs::path& file) {
  constexpr std::string_view k_magic("SQLite format 3\0", 16);
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 16> begin{};
  stream.read(begin.data(), begin.size());
  return stream && std::string_view(begin.data(), begin.size()) == k_magic;
}

/// A parameter of Optuna: a number as it is, a choice by its place in its distribution.
Json optuna_value(double stored, const std::string& distribution_text) {
  const auto distribution = parse_json(distribution_text, "distribution_json");
  if (!distribution || !distribution->is_object()) return number_or_null(stored);
  const std::string name = text_at(*distribution, "name");
  const auto attributes = distribution->find("attributes");
  if (name == "CategoricalDistribution" && attributes != distribution->end() &&
      attributes->contains("choices")) {
    const Json& choices = (*attributes)["choices"];
    const bool known =
        choices.is_array() && stored >= 0.0 && stored < static_cast<double>(choices.size());
    return known ? choices[static_cast<std::size_t>(stored)] : Json();
  }
  if (name.starts_with("Int") && std::abs(stored) < 1e15) {
    return static_cast<std::int64_t>(std::llround(stored));
  }
  return number_or_null(stored);
}

std::int64_t optuna_study_id(SQLite::Database& database, const std::string& study,
                             std::string& fault) {
  SQLite::Statement studies(database, "SELECT study_id, study_name FROM studies ORDER BY study_id");
  std::int64_t id = 0;
  std::vector<std::string> names;
  while (studies.executeStep()) {
    names.push_back(studies.getColumn(1).getString());
    if (study.empty() || study == names.back()) id = studies.getColumn(0).getInt64();
  }
  if (names.empty()) fault = "holds no study";
  if (study.empty() && names.size() > 1) {
    fault = fmt::format("holds {} studies; choose one with --from", names.size());
  }
  if (!study.empty() && id == 0) {
    fault = fmt::format("has no study \"{}\"{}", printable_line(study), did_you_mean(study, names));
  }
  return id;
}

Result<ForeignTrials> read_optuna(const fs::path& file, const std::string& study) {
  try {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    if (!database.tableExists("trial_params") || !database.tableExists("trial_values")) {
      return fail(ErrorKind::usage, "is an SQLite file, but not of Optuna", file.string());
    }
    std::string fault;
    const std::int64_t id = optuna_study_id(database, study, fault);
    if (!fault.empty()) return fail(ErrorKind::usage, fault, file.string());
    ForeignTrials foreign{"Optuna", {}};
    std::map<std::int64_t, std::size_t> places;
    SQLite::Statement trials(database,
                             "SELECT trial_id, state FROM trials WHERE study_id = ? AND state IN "
                             "('COMPLETE', 'FAIL') ORDER BY trial_id");
    trials.bind(1, id);
    while (trials.executeStep() && foreign.trials.size() < k_max_trials) {
      places[trials.getColumn(0).getInt64()] = foreign.trials.size();
      foreign.trials.push_back({{}, trials.getColumn(1).getString() == "FAIL"});
    }
    SQLite::Statement params(
        database, "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params");
    while (params.executeStep()) {
      const auto place = places.find(params.getColumn(0).getInt64());
      if (place == places.end()) continue;
      foreign.trials[place->second].cells[params.getColumn(1).getString()] =
          optuna_value(params.getColumn(2).getDouble(), params.getColumn(3).getString());
    }
    SQLite::Statement values(database, "SELECT trial_id, objective, value FROM trial_values");
    while (values.executeStep()) {
      const auto place = places.find(values.getColumn(0).getInt64());
      if (place == places.end() || values.getColumn(2).isNull()) continue;
      const int objective = values.getColumn(1).getInt();
      const std::string column = objective == 0 ? "value" : fmt::format("value_{}", objective);
      foreign.trials[place->second].cells[column] = values.getColumn(2).getDouble();
    }
    return foreign;
  } catch (const SQLite::Exception& exception) {
    return fail(ErrorKind::usage, fmt::format("cannot be read: {}", exception.what()),
                file.string());
  }
}

/// Syne Tune has a row per report; the latest one of a trial tells what became of it.
ForeignTrials last_of_each_trial(ForeignTrials reports) {
  ForeignTrials foreign{"Syne Tune", {}};
  std::map<std::string, std::size_t> places;
  for (ForeignTrial& report : reports.trials) {
    const auto status = report.cells.find("st_status");
    report.failed = status != report.cells.end() && plain_text(status->second) == "Failed";
    const auto id = report.cells.find("trial_id");
    if (id == report.cells.end()) continue;
    const auto [place, is_new] = places.emplace(plain_text(id->second), foreign.trials.size());
    if (is_new) foreign.trials.emplace_back();
    foreign.trials[place->second] = std::move(report);
  }
  return foreign;
}

Result<ForeignTrials> read_csv(const fs::path& file) {
  const auto csv = read_csv_file(file);
  if (!csv) return tl::unexpected(csv.error());
  ForeignTrials foreign{"CSV", {}};
  for (const auto& row : csv->rows) {
    ForeignTrial trial;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty()) trial.cells[csv->header[i]] = row[i];
    }
    foreign.trials.push_back(std::move(trial));
  }
  const auto tells = [&csv](const char* column) { return csv->column(column).has_value(); };
  return tells("trial_id") && tells("st_tuner_time") ? last_of_each_trial(std::move(foreign))
                                                     : foreign;
}

Result<ForeignTrials> read_syne_tune(const fs::path& folder) {
  const fs::path table = folder / "results.csv";
  std::error_code error;
  if (fs::exists(table, error)) return read_csv(table);
  return fail(ErrorKind::usage, "is packed", (folder / "results.csv.zip").string(),
              fmt::format("unzip it first: unzip -d {0} {0}/results.csv.zip",
                          printable_line(folder.string())));
}

/// The last whole line of a file of one result each.
std::optional<Json> last_result(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (error) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  if (bytes > k_max_result_bytes) {
    stream.seekg(static_cast<std::streamoff>(bytes - k_max_result_bytes));
  }
  std::optional<Json> last;
  for (std::string line; std::getline(stream, line);) {
    // A line that was being written when the trial ended is none.
    if (stream.eof() && !line.ends_with('}')) break;
    if (!line.empty()) {
      auto json = parse_json(line, file.string());
      if (json && json->is_object()) last = *std::move(json);
    }
  }
  return last;
}

Result<ForeignTrials> read_ray(const fs::path& folder) {
  ForeignTrials foreign{"Ray Tune", {}};
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& trial_folder : folders) {
    const auto result = last_result(trial_folder / "result.json");
    const auto params = read_json_file(trial_folder / "params.json");
    if (!result && !params) continue;
    ForeignTrial trial;
    trial.failed = !result || fs::exists(trial_folder / "error.txt", error);
    if (params && params->is_object()) {
      for (const auto& [name, value] : params->items())
        trial.cells["config/" + name] = value;
    }
    if (result) {
      for (const auto& [name, value] : result->items()) {
        if (!value.is_structured()) trial.cells[name] = value;
        if (name != "config" || !value.is_object()) continue;
        for (const auto& [parameter, set] : value.items())
          trial.cells["config/" + parameter] = set;
      }
    }
    foreign.trials.push_back(std::move(trial));
  }
  if (foreign.trials.empty()) {
    return fail(ErrorKind::usage, "holds no folder with a trial's result.json or params.json",
                folder.string(), "name the folder of one experiment of Ray Tune or Syne Tune");
  }
  return foreign;
}

}  // namespace

Result<ForeignTrials> read_foreign_trials(const fs::path& path, const std::string& study) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const bool of_syne_tune =
        fs::exists(path / "results.csv", error) || fs::exists(path / "results.csv.zip", error);
    return of_syne_tune ? read_syne_tune(path) : read_ray(path);
  }
  if (!fs::is_regular_file(path, error)) {
    return fail(ErrorKind::usage, "is no file and no folder", path.string());
  }
  return is_sqlite(path) ? read_optuna(path, study) : read_csv(path);
}

}  // namespace steptune
