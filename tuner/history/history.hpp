// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Why a trial exists. Persistent names.
enum class TrialPurpose { baseline, hint, search, confirm_incumbent, confirm_baseline };
/// State of a trial. Persistent names. `launching` is the intent row, committed before anything is
/// started.
enum class TrialStatus {
  launching,
  running,
  completed,      ///< measured
  stopped_early,  ///< by the scheduler; measured as far as it went
  infeasible,     ///< measured, but violates a guard
  failed,         ///< crash, time limit, no reports, no steady state: see `failure`
  out_of_memory,
  interrupted,    ///< ended by the user before it was measured; will be launched again
};
[[nodiscard]] std::string to_text(TrialPurpose purpose);
[[nodiscard]] std::string to_text(TrialStatus status);
/// True for the states that never change again.
[[nodiscard]] bool is_final(TrialStatus status);
/// True for the states whose objective values may be ranked.
[[nodiscard]] bool is_ranked(TrialStatus status);

struct TrialRecord {
  std::int64_t number = 0;  ///< 1, 2, 3, ... within the study
  TrialPurpose purpose = TrialPurpose::search;
  int confirm_pair = 0;     ///< confirmation trials: 1, 2, ...
  std::string origin;       ///< `baseline`, `try`, `sobol`, `bayes`, ...
  Configuration configuration;
  TrialStatus status = TrialStatus::launching;
  int attempt = 1;          ///< the latest
  std::string token;        ///< of the latest attempt, for `Runner::adopt`
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  double spent_s = 0.0;     ///< billed seconds, summed over attempts
  double spent_usd = 0.0;
  std::optional<Measurement> measurement;
  std::vector<double> objectives;       ///< as the study states them (not negated); empty if none
  std::vector<double> standard_errors;  ///< same unit and length
  std::optional<double> peak_memory_bytes;
  std::optional<Disturbance> disturbance;
  std::string failure;      ///< for people: why it failed, was stopped or is infeasible
  std::map<std::string, std::string> placement;
  std::filesystem::path log_path;
};

/// What became of the study as a whole. Persistent names.
enum class StudyStatus { running, interrupted, finished };

struct StudyRecord {
  std::int64_t id = 0;
  std::string name;
  std::string fingerprint;
  Json document;
  std::uint64_t seed = 0;
  StudyStatus status = StudyStatus::running;
  double created_wall_s = 0.0;
  double elapsed_s = 0.0;  ///< tuning time, summed over all runs of the tuner
  std::string stop_reason;
  Json recommendation;     ///< null until the study has one
};

/// Who holds a database for writing.
struct Owner {
  std::string host;
  std::int64_t pid = 0;
};

/// The trial database (SQLite, WAL, synchronous=FULL). Every writing method is one IMMEDIATE
/// transaction, committed on return. One writer per database, guarded by `flock` on `<path>.lock`;
/// any number of readers at any time. Not thread safe.
class History {
 public:
  /// Creates the file and its folder if need be, migrates older versions after a backup
  /// (`<path>.v<N>.bak`), refuses newer ones. `conflict` names the host and pid of the present owner.
  [[nodiscard]] static Result<History> open_for_writing(const std::filesystem::path& path,
                                                        const Clock& clock);
  /// `not_found` if there is no such file.
  [[nodiscard]] static Result<History> open_for_reading(const std::filesystem::path& path);

  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  [[nodiscard]] Result<std::vector<StudyRecord>> studies() const;
  /// `not_found` with the nearest name. An empty name means the only study, or the latest.
  [[nodiscard]] Result<StudyRecord> study(const std::string& name) const;
  /// All trials of a study in order of number.
  [[nodiscard]] Result<std::vector<TrialRecord>> trials(std::int64_t study_id) const;
  [[nodiscard]] Result<TrialRecord> trial(std::int64_t study_id, std::int64_t number) const;

  /// Continues the study of that name if there is one; `conflict` if its fingerprint differs.
  [[nodiscard]] Result<StudyRecord> create_or_continue_study(const std::string& name,
                                                             const std::string& fingerprint,
                                                             const Json& document,
                                                             std::uint64_t seed);
  /// Intent: the trial (or its next attempt) is about to be started. Inserts or updates by number.
  [[nodiscard]] Result<void> record_launching(std::int64_t study_id, const TrialRecord& trial);
  [[nodiscard]] Result<void> record_running(std::int64_t study_id, std::int64_t number,
                                            const std::string& token,
                                            const std::map<std::string, std::string>& placement);
  /// The final (or interrupted) state with everything measured.
  [[nodiscard]] Result<void> record_ended(std::int64_t study_id, const TrialRecord& trial);
  /// Study-level state; `elapsed_s` replaces the stored one.
  [[nodiscard]] Result<void> record_study(const StudyRecord& study);

 private:
  struct Store;
  explicit History(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace steptune
