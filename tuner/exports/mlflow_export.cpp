// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "common/utf8.hpp"
#include "tuner/exports/study_export.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Writes MLflow's file store, which consists of folders with small files. Throws exceptions on
/// errors, because almost every line may fail.
class FileStoreWriter {
 public:
  /// `place` is the final folder of the experiment. Addresses in the files refer to this folder.
  FileStoreWriter(const StudyExport& study, std::string experiment, fs::path folder,
                  const fs::path& place)
      : study_(study),
        experiment_(std::move(experiment)),
        folder_(std::move(folder)),
        address_("file://" + place.string()) {}

  void write() {
    write_file(folder_ / "meta.yaml",
               {{"artifact_location", address_},
                {"creation_time", milliseconds(study_.record.created_wall_s)},
                {"experiment_id", experiment_},
                {"last_update_time", milliseconds(study_.record.created_wall_s)},
                {"lifecycle_stage", "active"},
                {"name", study_.record.name}});
    for (const TrialRecord& trial : study_.trials) {
      if (is_compared(trial.purpose)) write_run(trial);
    }
  }

 private:
  static std::int64_t milliseconds(double wall_time_s) {
    return static_cast<std::int64_t>(std::llround(wall_time_s * 1000.0));
  }

  static void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
      throw fs::filesystem_error("cannot be written", file,
                                 std::make_error_code(std::errc::io_error));
    }
  }

  /// Writes a YAML file. Values are JSON, which YAML reads in the same way.
  static void write_file(const fs::path& file, const Json& members) {
    std::string text;
    for (const auto& [key, value] : members.items())
      text += fmt::format("{}: {}\n", key, dump_json(value));
    put(file, text);
  }

  /// RunStatus of MLflow's protocol.
  enum class RunStatus { running = 1, finished = 3, failed = 4, killed = 5 };

  static RunStatus run_status(TrialStatus status) {
    switch (status) {
      case TrialStatus::launching:
      case TrialStatus::running:
        return RunStatus::running;
      case TrialStatus::completed:
        return RunStatus::finished;
      case TrialStatus::stopped_early:
      case TrialStatus::interrupted:
        return RunStatus::killed;
      case TrialStatus::infeasible:
      case TrialStatus::failed:
      case TrialStatus::out_of_memory:
        break;
    }
    return RunStatus::failed;
  }

  void write_run(const TrialRecord& trial) {
    // A run's id has 32 hexadecimal digits, as in MLflow.
    const std::string id =
        sha256_hex(fmt::format("{}/{}", experiment_, trial.number)).substr(0, 32);
    const std::string name = fmt::format("trial-{}", trial.number);
    const fs::path run = folder_ / id;
    Json end = trial.ended_wall_s > 0.0 ? Json(milliseconds(trial.ended_wall_s)) : Json(nullptr);
    write_file(run / "meta.yaml", {{"artifact_uri", fmt::format("{}/{}/artifacts", address_, id)},
                                   {"end_time", std::move(end)},
                                   {"entry_point_name", ""},
                                   {"experiment_id", experiment_},
                                   {"lifecycle_stage", "active"},
                                   {"run_id", id},
                                   {"run_name", name},
                                   {"run_uuid", id},
                                   {"source_name", ""},
                                   {"source_type", 4},  // LOCAL
                                   {"source_version", ""},
                                   {"start_time", milliseconds(trial.started_wall_s)},
                                   {"status", static_cast<int>(run_status(trial.status))},
                                   {"tags", Json::array()},
                                   {"user_id", ""}});
    fs::create_directories(run / "artifacts");
    for (const auto& [parameter, value] : trial.configuration.values())
      put(run / "params" / parameter, to_text(value));
    // A program may print invalid UTF-8; MLflow could then not read the run.
    const auto tag = [&](const std::string& key, const std::string& text) {
      put(run / "tags" / key, as_utf8(text));
    };
    tag("mlflow.runName", name);
    tag("steptune.status", to_text(trial.status));
    tag("steptune.purpose", to_text(trial.purpose));
    tag("steptune.origin", trial.origin);
    if (!trial.failure.empty()) tag("steptune.failure", trial.failure);
    write_metrics(trial, run / "metrics");
  }

  /// True if MLflow can store a metric of that name beside the existing metrics. `train/loss` is
  /// stored as a file `loss` in a folder `train`, so `train` cannot be a metric, too. False for
  /// names that lead out of `folder`.
  static bool is_free(const fs::path& folder, const fs::path& name) {
    const bool is_path =
        std::ranges::all_of(name, [](const fs::path& part) { return is_file_name(part.string()); });
    if (!is_path || fs::exists(folder / name)) return false;
    fs::path place = folder;
    return std::ranges::none_of(name.parent_path(), [&](const fs::path& part) {
      place /= part;
      return fs::is_regular_file(place);
    });
  }

  void write_metrics(const TrialRecord& trial, const fs::path& folder) const {
    const auto metric = [&](const std::string& name, double value) {
      // Skip a reported metric whose name is no file name, or is already used.
      if (!std::isfinite(value) || !is_free(folder, name)) return;
      put(folder / name,
          fmt::format("{} {} 0\n", milliseconds(trial.ended_wall_s), to_text(Value(value))));
    };
    metric("spent_s", trial.spent_s);
    metric("spent_usd", trial.spent_usd);
    if (trial.peak_memory_bytes) metric("peak_memory_bytes", *trial.peak_memory_bytes);
    const auto& objectives = study_.board.objectives;
    for (std::size_t i = 0; i < trial.objectives.size() && i < objectives.size(); ++i) {
      metric(objectives[i].objective.metric, trial.objectives[i]);
    }
    if (!trial.measurement) return;
    metric("seconds_per_sample", trial.measurement->seconds_per_sample);
    metric("samples_per_second", 1.0 / trial.measurement->seconds_per_sample);
    metric("startup_s", trial.measurement->startup_s);
    for (const auto& [name, value] : trial.measurement->metrics)
      metric(name, value);
  }

  const StudyExport& study_;
  std::string experiment_;
  fs::path folder_;
  std::string address_;
};

/// Returns an id of eighteen digits, like MLflow's own ids. The same study gets the same id
/// everywhere.
std::string experiment_id(const StudyExport& study) {
  constexpr std::uint64_t k_smallest = 100'000'000'000'000'000;
  const std::string hash = sha256_hex(
      fmt::format("{}/{}/{}", study.record.name, study.record.fingerprint, study.record.seed));
  // 14 hexadecimal digits are less than 0.73 of `k_smallest`, so the sum has eighteen digits.
  return std::to_string(k_smallest + std::stoull(hash.substr(0, 14), nullptr, 16));
}

}  // namespace

Result<void> write_mlflow_experiment(const StudyExport& study, const fs::path& folder) {
  const std::string experiment = experiment_id(study);
  std::error_code fault;
  fs::path part;
  try {
    const fs::path place = fs::absolute(folder) / experiment;
    if (fs::exists(fs::symlink_status(place))) {
      return fail(ErrorKind::conflict, "the study was exported to this place before",
                  place.string(), "remove that folder, or name another one");
    }
    // MLflow ignores folders whose names start with a dot.
    part = fs::absolute(folder) / fmt::format(".{}.{}.part", experiment, ::getpid());
    fs::create_directories(part);
    FileStoreWriter(study, experiment, part, place).write();
    fs::rename(part, place);
    return {};
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(part, fault);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot be written: {}", error.code().message()),
                error.path1().string());
  }
}

}  // namespace steptune
