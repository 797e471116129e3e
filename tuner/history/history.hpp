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
#include "trial_runner/runner.hpp"
#include "trial_runner/unused_time.hpp"
#include "tuner/history/gc_plan.hpp"
#include "tuner/history/trial_record.hpp"
#include "tuner/history/trial_trace.hpp"

namespace steptune {

/// One run of the tuner on a study.
struct SessionRecord {
  double started_wall_s = 0.0;
  MachineDescription machine;  ///< machine of the trials, and the tuner's version as `steptune`
};

/// A decision about a study as a whole, with the numbers behind it.
struct StudyDecision {
  double at_wall_s = 0.0;
  std::string kind{};      ///< docs/history.md lists the names, which must not change
  std::int64_t trial = 0;  ///< number of the trial that the decision is about; 0: none
  std::string text{};      ///< text for people; may be empty
  /// An object of numbers, texts and booleans by name. A number that is not finite reads back as
  /// null.
  Json numbers = Json::object();
};

/// One night of re-tuning. `tuner/retune` defines the members of `record`.
struct NightRow {
  std::int64_t night = 0;  ///< 1, 2, 3, ... of its study
  double started_wall_s = 0.0;
  std::string status;  ///< `running`, `kept`, `improved`, `regressed`, `failed`
  Json record;         ///< an object of all other fields
};

/// State of a study as a whole. The database contains the names, so they must not change.
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
  double overhead_usd = 0.0;  ///< cost of machines that were kept but not used by a trial
  /// Number of consecutive latest suggestions that probably cost more than they save
  /// (`PaybackRule`).
  int unpaid_suggestions = 0;
  std::string stop_reason;
  Json recommendation;  ///< null until the study has one
  /// Unused machine time that raised `overhead_usd` and is not recorded yet. If it continues a
  /// recorded period, that period's end moves.
  std::vector<UnusedTime> unused;
  std::vector<StudyDecision> decisions;  ///< not recorded yet, in order
};

/// Billed time and cost of all trials of a study so far. Running trials count as last recorded.
struct StudySpending {
  double billed_s = 0.0;
  double usd = 0.0;
  std::int64_t relaunches = 0;  ///< number of attempts after the first one, over all trials
};

/// Process that has a database open for writing, according to its lock file.
struct Owner {
  std::string host;
  std::int64_t pid = 0;
};

/// Longest wait of a statement for another program's lock, in seconds.
inline constexpr double k_lock_wait_s = 10.0;

/// The trial database (SQLite, WAL, synchronous=FULL). Every writing method except `compact` is one
/// IMMEDIATE transaction, committed on return. A database has one writer, guarded by `flock` on
/// `<path>.lock`, and any number of readers at any time. Not thread safe. Faults of the file
/// (damaged, locked, disk full, no permission) are errors of kind `store`. They name the file, the
/// reason and what the user can do. A failed writing method has changed nothing and may be called
/// again.
///
/// Open or copy the database's files only through SQLite: closing any descriptor of them drops the
/// locks of the whole process. Make copies with VACUUM INTO.
class History {
 public:
  /// Opens a database for writing. Creates the file (mode 0600) and its folder if they are missing.
  /// Migrates an older version after a backup (`<path>.v<N>.bak`), and refuses a newer version. For
  /// a symbolic link, lock and backup are beside the file that it points to. `clock` outlives the
  /// history.
  ///
  /// Fails with `conflict`, naming host and pid, if another process has the database open for
  /// writing. Fails with `store` on a file system to which another host may write: NFS, SMB, AFS,
  /// Ceph, Lustre, GPFS, BeeGFS. Neither lock nor WAL would protect the database there. On FUSE and
  /// 9p, which containers and WSL use, only warns.
  [[nodiscard]] static Result<History> open_for_writing(const std::filesystem::path& path,
                                                        const Clock& clock,
                                                        double busy_timeout_s = k_lock_wait_s);
  /// Opens a database for reading; never writes or migrates. Fails with `not_found` if the file is
  /// missing or empty, and with `store` if its schema is older or newer than this program's.
  [[nodiscard]] static Result<History> open_for_reading(const std::filesystem::path& path,
                                                        double busy_timeout_s = k_lock_wait_s);

  /// True if a program has the database open for writing now. Does not hinder a program that is
  /// about to open it. False if there is no lock file, or if the lock file may not be opened.
  [[nodiscard]] static bool has_writer(const std::filesystem::path& path);

  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  /// Returns warnings about opening for writing: a migration, a doubtful file system.
  [[nodiscard]] const std::vector<std::string>& warnings() const;

  /// Returns the studies in order of creation. For readers, a study is `interrupted` if its tuner
  /// died without recording an end.
  [[nodiscard]] Result<std::vector<StudyRecord>> studies() const;
  /// Returns the study. An empty name means the study created last. If there is none, fails with
  /// `not_found` and names the nearest name.
  [[nodiscard]] Result<StudyRecord> study(const std::string& name) const;
  /// Returns all trials of a study in order of number.
  [[nodiscard]] Result<std::vector<TrialRecord>> trials(
      std::int64_t study_id, Milestones milestones = Milestones::read) const;
  [[nodiscard]] Result<TrialRecord> trial(std::int64_t study_id, std::int64_t number) const;

  /// Returns the trace of a trial's latest attempt; nullopt if none is stored, for example before
  /// the attempt's end or after `remove_traces`.
  [[nodiscard]] Result<std::optional<TrialTrace>> trace(std::int64_t study_id,
                                                        std::int64_t number) const;
  /// Calls `use` with each stored trace of a study's trials, in order of number.
  [[nodiscard]] Result<void> traces(std::int64_t study_id,
                                    const std::function<void(std::int64_t, TrialTrace)>& use) const;
  /// Returns the ended launches of a trial, in order. Returns none if the first launch gave the
  /// final state, because the trial's record then describes that launch.
  [[nodiscard]] Result<std::vector<AttemptRecord>> attempts(std::int64_t study_id,
                                                            std::int64_t number) const;
  /// Returns the tuner's runs of a study, in order.
  [[nodiscard]] Result<std::vector<SessionRecord>> sessions(std::int64_t study_id) const;

  /// Returns the times in which machines were kept but not used, in order.
  [[nodiscard]] Result<std::vector<UnusedTime>> unused_times(std::int64_t study_id) const;

  /// Returns the decisions in order.
  [[nodiscard]] Result<std::vector<StudyDecision>> decisions(std::int64_t study_id) const;

  /// Returns the nights of the study of that name, in order.
  [[nodiscard]] Result<std::vector<NightRow>> nights(const std::string& study) const;

  /// Returns the best trials by their first objective, best first, at most `limit`. They are
  /// baselines, hints and trials of the search in a ranked state with a finite value. Reads little
  /// more than it returns, however many trials there are. Here and in the next two methods, trials
  /// come without milestones and rungs.
  [[nodiscard]] Result<std::vector<TrialRecord>> ranked_trials(std::int64_t study_id,
                                                               std::size_t limit,
                                                               bool largest_first = false) const;
  /// Returns the trials that decide which trial leads a study (`Standing`), in order of number: its
  /// baselines, sentinels and confirming runs. Adds the best completed hints and trials of the
  /// search by their first objective, at most `limit`. Reads few other rows.
  [[nodiscard]] Result<std::vector<TrialRecord>> standing_trials(std::int64_t study_id,
                                                                 std::size_t limit,
                                                                 bool largest_first = false) const;
  /// Returns the trials of one state with the highest numbers, latest first.
  [[nodiscard]] Result<std::vector<TrialRecord>> latest_trials(std::int64_t study_id,
                                                               TrialStatus status,
                                                               std::size_t limit) const;
  /// Returns the number of trials in each state, sentinels and confirming runs included. Leaves out
  /// states without trials.
  [[nodiscard]] Result<std::map<TrialStatus, std::int64_t>> status_counts(
      std::int64_t study_id) const;

  /// Returns billed time and cost so far. Reads all trials of the study.
  [[nodiscard]] Result<StudySpending> spending(std::int64_t study_id) const;
  /// Returns a number that changes when another program writes to the database. Numbers of
  /// different `History` objects cannot be compared.
  [[nodiscard]] Result<std::int64_t> change_counter() const;

  /// Returns a study's space in the database, and when it was last used. The caller adds the logs.
  /// `is_written`: true if another program may be tuning (`has_writer`). It is false if the caller
  /// is the writer and does not tune. If nobody tunes, a study counts as running only while its
  /// open trials may still run, for at most 30 days.
  [[nodiscard]] Result<StudyUse> use_of(const StudyRecord& study, bool is_written,
                                        double now_wall_s) const;
  /// Returns the bytes of the database without its free space: its size after `compact`.
  [[nodiscard]] Result<std::int64_t> used_bytes() const;

  /// Continues the study of that name with its stored seed, or creates it. `document` replaces the
  /// stored document, because budgets may have changed. Fails with `conflict` if the fingerprints
  /// differ.
  [[nodiscard]] Result<StudyRecord> create_or_continue_study(const std::string& name,
                                                             const std::string& fingerprint,
                                                             const Json& document,
                                                             std::uint64_t seed);
  /// Adds a study that was run elsewhere, with trials in final states. From the record, stores only
  /// name, fingerprint, document, seed, status and stop reason. Its time of creation is now. Fails
  /// with `conflict` if the name exists.
  [[nodiscard]] Result<void> add_ended_study(const StudyRecord& ended,
                                             const std::vector<TrialRecord>& trials);
  /// Removes a study and its trials from the history. Its nights stay.
  [[nodiscard]] Result<void> remove_study(std::int64_t study_id);
  /// Removes the traces of a study's trials; their results stay.
  [[nodiscard]] Result<void> remove_traces(std::int64_t study_id);
  /// Returns free space to the file system. Temporarily needs the same space again.
  [[nodiscard]] Result<void> compact();
  /// Records that a run of the tuner on this study begins.
  [[nodiscard]] Result<void> record_session(std::int64_t study_id,
                                            const MachineDescription& machine);
  /// Adds a night, or replaces the stored night of the same number.
  [[nodiscard]] Result<void> record_night(const std::string& study, const NightRow& night);
  /// Records the intent to start a trial or its next attempt, and removes the earlier trace. Fails
  /// with `internal` for a trial in a final state, which is never overwritten. Here and in
  /// `record_ended`, `study` may be null. If it is not null, the same transaction replaces the
  /// study's stored totals (time, cost, unpaid suggestions), and adds `unused` and `decisions`.
  [[nodiscard]] Result<void> record_launching(std::int64_t study_id, const TrialRecord& trial,
                                              const StudyRecord* study = nullptr);
  [[nodiscard]] Result<void> record_running(std::int64_t study_id, std::int64_t number,
                                            const std::string& token,
                                            const std::map<std::string, std::string>& placement);
  /// Records the final (or interrupted) state with everything measured, and the trace.
  [[nodiscard]] Result<void> record_ended(std::int64_t study_id, const TrialRecord& trial,
                                          const StudyRecord* study = nullptr,
                                          const TrialTrace& trace = {});
  /// Records `spent_s` and `spent_usd` of running trials so far, and the study's time, so that a
  /// killed tuner loses neither. Does not change trials that are not running. The recorded time
  /// never decreases.
  [[nodiscard]] Result<void> record_spent(std::int64_t study_id,
                                          std::span<const TrialRecord> running, double elapsed_s);
  /// Replaces the study's stored state, totals, stop reason and recommendation. Adds `unused` and
  /// `decisions`.
  [[nodiscard]] Result<void> record_study(const StudyRecord& study);

 private:
  struct Store;
  explicit History(std::unique_ptr<Store> store);
  [[nodiscard]] tl::unexpected<Error> no_study(const std::string& name) const;
  [[nodiscard]] Result<void> put_trial(std::int64_t study_id, const TrialRecord& trial,
                                       const StudyRecord* study, const TrialTrace& trace);
  /// This function and all below must be called within a transaction.
  [[nodiscard]] Result<void> write_trial(std::int64_t study_id, const TrialRecord& trial,
                                         const TrialTrace& trace);
  /// Returns the new study's id.
  std::int64_t insert_study(const StudyRecord& study);
  /// Adds the study's `unused` and `decisions`.
  void put_additions(std::int64_t study_id, const StudyRecord& study);
  void put_details(std::int64_t study_id, const TrialRecord& trial, const TrialTrace& trace);
  std::unique_ptr<Store> store_;
};

}  // namespace steptune
