// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.hpp"
#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "common/machine/description.hpp"
#include "search/observation.hpp"
#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/unused_time.hpp"
#include "tuner/history/gc_plan.hpp"
#include "tuner/history/trial_trace.hpp"

namespace steptune {

/// Why a trial exists. Persistent names.
enum class TrialPurpose {
  baseline,
  hint,
  search,
  sentinel,  ///< the baseline again, while the search goes on: tells whether the machine drifts
  confirm_incumbent,
  confirm_baseline
};
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
  interrupted,  ///< ended by the user before it was measured; will be launched again
};
[[nodiscard]] std::string to_text(TrialPurpose purpose);
[[nodiscard]] std::string to_text(TrialStatus status);
[[nodiscard]] std::optional<TrialPurpose> trial_purpose_from_text(std::string_view text);
[[nodiscard]] std::optional<TrialStatus> trial_status_from_text(std::string_view text);
/// True for the states that never change again.
[[nodiscard]] bool is_final(TrialStatus status);
/// True for the states whose objective values may be ranked.
[[nodiscard]] bool is_ranked(TrialStatus status);
/// True for those and for what violates a guard or a limit: trials that keep what they measured.
[[nodiscard]] bool was_measured(TrialStatus status);
/// True for the fresh runs that only confirm what the search has found.
[[nodiscard]] bool is_confirmation(TrialPurpose purpose);

/// True for the trials that are compared with each other and may be recommended: baseline, hints
/// and search.
[[nodiscard]] bool is_compared(TrialPurpose purpose);
/// True for those of them that are not the baseline.
[[nodiscard]] bool is_searched(TrialPurpose purpose);

/// How much longer everything took on the machine at some time of a study than when the baseline
/// ran, as far as is known.
struct MachineLevel {
  double log_ratio = 0.0;       ///< natural logarithm; 0: no drift has been seen
  double standard_error = 0.0;  ///< of the logarithm
};

/// More objectives than this are not stored.
inline constexpr std::size_t k_max_objectives = 2;

struct TrialRecord {
  std::int64_t number = 0;  ///< 1, 2, 3, ... within the study
  TrialPurpose purpose = TrialPurpose::search;
  int confirm_pair = 0;  ///< confirmation trials: 1, 2, ...
  std::string origin;    ///< `baseline`, `try`, `sobol`, `bayes`, ...
  Configuration configuration;
  TrialStatus status = TrialStatus::launching;
  int attempt = 1;    ///< the latest
  std::string token;  ///< of the latest attempt, for `Runner::adopt`
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  double spent_s = 0.0;  ///< billed seconds, summed over attempts
  double spent_usd = 0.0;
  /// Of these, what attempts before the latest took: nothing that the trial's length tells.
  double earlier_s = 0.0;
  double earlier_usd = 0.0;
  std::optional<Measurement> measurement;
  /// What it had measured on its way, as the searcher is told; kept with the measurement.
  std::vector<Milestone> milestones;
  /// The same at the rungs of `asha`, which other trials are compared at.
  std::vector<Milestone> rungs;
  /// As the study states them (not negated); empty if none. A value that is not finite is stored as
  /// NULL, reads back as NaN and is never ranked.
  std::vector<double> objectives;
  std::vector<double> standard_errors;  ///< same unit and length; not finite reads back as infinite
  std::optional<double> peak_memory_bytes;
  /// As `Outcome`'s; kept with the measurement.
  std::optional<double> peak_unreclaimable_bytes;
  std::optional<Disturbance> disturbance;
  double disturbed_s = 0.0;        ///< seconds in which others took much of the machine
  std::optional<double> cpu_busy;  ///< as `Outcome`'s; kept with the measurement
  /// In the measured window, or over the trial where it has none; kept with the measurement.
  std::optional<CpuClock> cpu_clock;
  std::optional<double> storage_read_bytes;
  std::optional<GpuUse> gpu;
  /// Of the first objective over the best so far, as the searcher expected it when it proposed the
  /// trial, as a share; kept with the measurement.
  std::optional<double> expected_improvement;
  /// As it was believed to be when the trial was launched: what searcher and scheduler compare it
  /// by, so that a study that goes on compares as before; kept with the measurement.
  MachineLevel level;
  /// How long its first step was waited for, where it was ended because none came in the time that
  /// a start may take; kept with the measurement.
  std::optional<double> awaited_start_s;
  /// What a hook told of the program (`HookLog::to_json`), of the baseline; kept with the
  /// measurement. Null: nothing.
  Json hook;
  std::string failure;  ///< for people: why it failed, was stopped or is infeasible
  std::map<std::string, std::string> placement;
  std::filesystem::path log_path;
};

/// Billed seconds of the latest attempt: as long as a trial like it takes.
[[nodiscard]] double latest_attempt_s(const TrialRecord& trial);
/// What the latest attempt cost.
[[nodiscard]] double latest_attempt_usd(const TrialRecord& trial);
/// Makes the trial, whose latest attempt was cut off, ready for a further one.
void begin_further_attempt(TrialRecord& trial);

/// Whether milestones and rungs are read with a trial: they are half of what is stored of it, and
/// only those who search on need them.
enum class Milestones { leave, read };

/// Whether it is the baseline and was measured, be it that it violates a guard.
[[nodiscard]] bool is_measured_baseline(const TrialRecord& trial);
/// The first of `trials` that is; null if none is.
[[nodiscard]] const TrialRecord* baseline_of(std::span<const TrialRecord> trials);

/// One of several launches of a trial, once it has ended.
struct AttemptRecord {
  int attempt = 1;
  TrialStatus status = TrialStatus::interrupted;
  double started_wall_s = 0.0;
  double ended_wall_s = 0.0;
  double spent_s = 0.0;  ///< billed for this launch alone
  double spent_usd = 0.0;
  std::string failure;
};

/// One run of the tuner on a study.
struct SessionRecord {
  double started_wall_s = 0.0;
  MachineDescription machine;  ///< that trials ran on, and the version of the tuner as `steptune`
};

/// What was decided about a study as a whole, and the numbers behind it.
struct StudyDecision {
  double at_wall_s = 0.0;
  std::string kind{};      ///< persistent names: docs/history.md lists them
  std::int64_t trial = 0;  ///< that it is about; 0: none
  std::string text{};      ///< for people; may be empty
  /// An object of numbers, texts and truth values by name. A number that is not finite reads back
  /// as null.
  Json numbers = Json::object();
};

/// One night of re-tuning, as `tuner/retune` tells it.
struct NightRow {
  std::int64_t night = 0;  ///< 1, 2, 3, ... of its study
  double started_wall_s = 0.0;
  std::string status;  ///< `running`, `kept`, `improved`, `regressed`, `failed`
  Json record;         ///< all else, an object
};

/// What became of the study as a whole. Persistent names.
enum class StudyStatus { running, interrupted, finished };
[[nodiscard]] std::string to_text(StudyStatus status);
[[nodiscard]] std::optional<StudyStatus> study_status_from_text(std::string_view text);

struct StudyRecord {
  std::int64_t id = 0;
  std::string name;
  std::string fingerprint;
  Json document;
  std::uint64_t seed = 0;
  StudyStatus status = StudyStatus::running;
  double created_wall_s = 0.0;
  double elapsed_s = 0.0;     ///< tuning time, summed over all runs of the tuner
  double overhead_usd = 0.0;  ///< spent on no trial: machines that were kept and not used
  /// The latest ones in a row that were expected to cost more than they save (`PaybackRule`).
  int unpaid_suggestions = 0;
  std::string stop_reason;
  Json recommendation;  ///< null until the study has one
};

/// What a study has used up as a whole, so far.
struct StudyTotals {
  double elapsed_s = 0.0;
  double overhead_usd = 0.0;
  int unpaid_suggestions = 0;
  /// Not recorded yet: what `overhead_usd` has grown by. A time that is recorded already goes on.
  std::vector<UnusedTime> unused{};
  std::vector<StudyDecision> decisions{};  ///< not recorded yet, in order
};

/// What a trial under way has been billed for so far, attempts before this one included.
struct SpentSoFar {
  std::int64_t number = 0;
  double spent_s = 0.0;
  double spent_usd = 0.0;
};

/// What the trials of a study were billed for so far; of those under way as it was last recorded.
struct StudySpending {
  double billed_s = 0.0;
  double usd = 0.0;
  std::int64_t relaunches = 0;  ///< attempts beyond the first of each trial
};

/// Who holds a database for writing, as its lock file tells.
struct Owner {
  std::string host;
  std::int64_t pid = 0;
};

struct HistoryOptions {
  double busy_timeout_s = 10.0;  ///< how long a statement waits for another program's lock
};

/// The trial database (SQLite, WAL, synchronous=FULL). Every writing method is one IMMEDIATE
/// transaction, committed on return. One writer per database, guarded by `flock` on `<path>.lock`;
/// any number of readers at any time. Not thread safe. Faults of the file (damaged, locked, disk
/// full, no permission) are errors of kind `store` that name the file, the reason and the way out;
/// a writing method that failed changed nothing and may be called again.
///
/// No program may open or copy the database's files but through SQLite: closing any descriptor of
/// them drops the locks of its whole process. Copies are made with VACUUM INTO.
class History {
 public:
  /// Creates the file (mode 0600) and its folder if need be, migrates older versions after a backup
  /// (`<path>.v<N>.bak`), refuses newer ones. `conflict` names the host and pid of the present
  /// owner. A symbolic link stands for its file: lock and backup lie beside that. `clock` outlives
  /// the history. `store` on a file system where another host may write at the same time (NFS, SMB,
  /// AFS, Ceph, Lustre, GPFS, BeeGFS): neither the lock nor the WAL would protect anything. FUSE
  /// and 9p, which containers and WSL stand on, only yield a warning.
  [[nodiscard]] static Result<History> open_for_writing(const std::filesystem::path& path,
                                                        const Clock& clock,
                                                        const HistoryOptions& options = {});
  /// `not_found` if there is no such file. Never writes, never migrates.
  [[nodiscard]] static Result<History> open_for_reading(const std::filesystem::path& path,
                                                        const HistoryOptions& options = {});

  /// Whether a program holds the database for writing now; looking hinders none that begins to.
  /// False where that cannot be told: there is no lock file, or it may not be opened.
  [[nodiscard]] static bool has_writer(const std::filesystem::path& path);

  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  /// What the user should know about opening for writing: a migration, a doubtful file system.
  [[nodiscard]] const std::vector<std::string>& warnings() const;

  /// In order of creation. To readers a study is `interrupted` whose tuner is gone without a word.
  [[nodiscard]] Result<std::vector<StudyRecord>> studies() const;
  /// `not_found` with the nearest name. An empty name means the only study, or the latest created.
  [[nodiscard]] Result<StudyRecord> study(const std::string& name) const;
  /// All trials of a study in order of number.
  [[nodiscard]] Result<std::vector<TrialRecord>> trials(
      std::int64_t study_id, Milestones milestones = Milestones::read) const;
  [[nodiscard]] Result<TrialRecord> trial(std::int64_t study_id, std::int64_t number) const;

  /// Course of a trial's latest attempt; nothing before its end.
  [[nodiscard]] Result<std::optional<TrialTrace>> trace(std::int64_t study_id,
                                                        std::int64_t number) const;
  /// The same of all trials of a study, one after the other in order of number.
  [[nodiscard]] Result<void> traces(std::int64_t study_id,
                                    const std::function<void(std::int64_t, TrialTrace)>& use) const;
  /// The launches of a trial that was launched several times, in order; else none.
  [[nodiscard]] Result<std::vector<AttemptRecord>> attempts(std::int64_t study_id,
                                                            std::int64_t number) const;
  /// In order.
  [[nodiscard]] Result<std::vector<SessionRecord>> sessions(std::int64_t study_id) const;

  /// When machines were kept and not used, in order of time.
  [[nodiscard]] Result<std::vector<UnusedTime>> unused_times(std::int64_t study_id) const;

  /// In order.
  [[nodiscard]] Result<std::vector<StudyDecision>> decisions(std::int64_t study_id) const;

  /// The nights of the study of that name, in order.
  [[nodiscard]] Result<std::vector<NightRow>> nights(const std::string& study) const;

  /// The best trials by their first objective, best first: ranked states with a finite value, no
  /// confirmations. Reads no more than `limit` rows of either state, however many there are. Here
  /// and in the next two, trials come without milestones and rungs.
  [[nodiscard]] Result<std::vector<TrialRecord>> ranked_trials(std::int64_t study_id,
                                                               std::size_t limit,
                                                               bool largest_first = false) const;
  /// What decides who leads a study (`Standing`): its baselines, sentinels, confirming runs and the
  /// `limit` best completed trials by their first objective, in order of number. Reads no more
  /// rows.
  [[nodiscard]] Result<std::vector<TrialRecord>> standing_trials(std::int64_t study_id,
                                                                 std::size_t limit,
                                                                 bool largest_first = false) const;
  /// The trials of one state with the highest numbers, latest first.
  [[nodiscard]] Result<std::vector<TrialRecord>> latest_trials(std::int64_t study_id,
                                                               TrialStatus status,
                                                               std::size_t limit) const;
  /// How many trials are in each state (absent: none), confirmations included.
  [[nodiscard]] Result<std::map<TrialStatus, std::int64_t>> status_counts(
      std::int64_t study_id) const;

  /// Billed so far. Reads all trials of the study.
  [[nodiscard]] Result<StudySpending> spending(std::int64_t study_id) const;
  /// Another value than before once another program has written to the database; says nothing
  /// beside the values of another `History`.
  [[nodiscard]] Result<std::int64_t> change_counter() const;

  /// What a study takes in the database, and when it was used last; its logs are left to the
  /// caller. Where nobody writes (`is_written` false: `has_writer`, or the caller is the writer and
  /// tunes nothing), a study that is stored as running counts as running only while trials of it
  /// may go on: those that were open when its tuner ended, for 30 days.
  [[nodiscard]] Result<StudyUse> use_of(const StudyRecord& study, bool is_written,
                                        double now_wall_s) const;
  /// Bytes of the database that hold something: what it takes once it is compact.
  [[nodiscard]] Result<std::int64_t> used_bytes() const;

  /// Continues the study of that name if there is one, under its stored seed and with `document`
  /// replacing the stored one (budgets may have changed); `conflict` if its fingerprint differs.
  [[nodiscard]] Result<StudyRecord> create_or_continue_study(const std::string& name,
                                                             const std::string& fingerprint,
                                                             const Json& document,
                                                             std::uint64_t seed);
  /// Adds a study that was run elsewhere, with trials in final states, as a whole: its name,
  /// fingerprint, document, seed, status and stop reason are taken, its id and totals are not.
  /// `conflict` if there is one of that name.
  [[nodiscard]] Result<void> add_ended_study(const StudyRecord& ended,
                                             const std::vector<TrialRecord>& trials);
  /// Takes a study and its trials out of the history, for one that is worth nothing to anybody.
  [[nodiscard]] Result<void> remove_study(std::int64_t study_id);
  /// Takes what happened while its trials ran out of the history; their results stay.
  [[nodiscard]] Result<void> remove_traces(std::int64_t study_id);
  /// Gives the room of what was removed back to the file system. Needs as much again meanwhile.
  [[nodiscard]] Result<void> compact();
  /// A run of the tuner on this study begins.
  [[nodiscard]] Result<void> record_session(std::int64_t study_id,
                                            const MachineDescription& machine);
  /// Adds a night, or replaces what is stored of it.
  [[nodiscard]] Result<void> record_night(const std::string& study, const NightRow& night);
  /// Intent: the trial (or its next attempt) is about to be started. Inserts or updates by number;
  /// a trial in a final state is never overwritten (`internal`). Here and in `record_ended`,
  /// `totals` replace the study's in the same transaction.
  [[nodiscard]] Result<void> record_launching(std::int64_t study_id, const TrialRecord& trial,
                                              const std::optional<StudyTotals>& totals = {});
  [[nodiscard]] Result<void> record_running(std::int64_t study_id, std::int64_t number,
                                            const std::string& token,
                                            const std::map<std::string, std::string>& placement);
  /// The final (or interrupted) state with everything measured, and what happened meanwhile.
  [[nodiscard]] Result<void> record_ended(std::int64_t study_id, const TrialRecord& trial,
                                          const std::optional<StudyTotals>& totals = {},
                                          const TrialTrace& trace = {});
  /// What trials that run have taken by now, and the study's time, so that a kill loses neither.
  /// Trials that are not running stay as they are. What was recorded of the time does not shrink.
  [[nodiscard]] Result<void> record_spent(std::int64_t study_id,
                                          std::span<const SpentSoFar> running, double elapsed_s);
  /// Study-level state; its totals replace the stored ones. The others as in `StudyTotals`.
  [[nodiscard]] Result<void> record_study(const StudyRecord& study,
                                          std::span<const UnusedTime> unused = {},
                                          std::span<const StudyDecision> decisions = {});

 private:
  struct Store;
  explicit History(std::unique_ptr<Store> store);
  [[nodiscard]] tl::unexpected<Error> no_study(const std::string& name) const;
  [[nodiscard]] Result<void> put_trial(std::int64_t study_id, const TrialRecord& trial,
                                       const std::optional<StudyTotals>& totals,
                                       const TrialTrace& trace);
  /// Within a transaction, as the next four.
  [[nodiscard]] Result<void> write_trial(std::int64_t study_id, const TrialRecord& trial,
                                         const TrialTrace& trace);
  /// Its id.
  std::int64_t insert_study(const StudyRecord& study);
  void put_unused(std::int64_t study_id, std::span<const UnusedTime> unused);
  void put_decisions(std::int64_t study_id, std::span<const StudyDecision> decisions);
  void put_details(std::int64_t study_id, const TrialRecord& trial, const TrialTrace& trace);
  std::unique_ptr<Store> store_;
};

}  // namespace steptune
