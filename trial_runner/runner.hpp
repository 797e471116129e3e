// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "trial_runner/launch/launch.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/output/lacked_stream.hpp"
#include "trial_runner/report.hpp"
#include "trial_runner/reports/report_format.hpp"
#include "trial_runner/resources.hpp"

namespace steptune {

/// One launch of one trial.
struct TrialKey {
  std::int64_t trial = 0;
  int attempt = 1;
  auto operator<=>(const TrialKey&) const = default;
};

/// Bounds on a trial, all in seconds and bytes of the runner's clock and machine.
struct TrialLimits {
  double wall_s = 3600.0;              ///< from start; then the trial is ended as `timed_out`
  double idle_s = 600.0;               ///< without output outside phases; then ended as `hung`
  double grace_s = 10.0;               ///< between SIGTERM and SIGKILL
  std::optional<double> memory_bytes;  ///< resident memory of all the trial's processes together
  /// Of a GPU's memory, or of that which its processes may use: a trial that takes more is not
  /// ended, but its configuration is infeasible. 1: any may.
  double memory_share = 0.9;
  std::uint64_t log_bytes = std::uint64_t{4} << 20;  ///< of output kept: head and tail
};

/// What of its data a trial finds in this machine's memory when it begins. Every trial reads the
/// same first files, which earlier ones have left there; a long run may not be so lucky.
enum class PageCache {
  warm,       ///< what earlier trials left
  cold,       ///< nothing: the data's pages are dropped before each trial
  automatic,  ///< cold if the data is larger than the memory that could hold it
};

/// A trial that may be measured in a running program, beside the baseline (trial_runner/live): the
/// two differ in nothing but knobs of PyTorch's hook that can be switched between two steps.
struct LiveTrial {
  std::map<std::string, Value> knobs;  ///< the trial's; those that are not the program's own
  std::map<std::string, Value> baseline_knobs;  ///< likewise
  /// The baseline's, of training steps alone, as measured before; nothing: the trial is measured as
  /// it is, without turns, as the baseline's first has to be.
  std::optional<double> baseline_seconds_per_sample;
  std::optional<double> samples_per_step;  ///< in place of the hook's counting
};

/// In `TrialStarted::placement` of an interleaved trial: its round.
inline constexpr const char* k_interleaved_fact = "interleaved";

/// In a trial's recorded placement: `Outcome::left_behind`.
inline constexpr const char* k_left_behind_fact = "left_behind";

/// In `TrialStarted::placement` of a process that was forked.
inline constexpr const char* k_start_fact = "start";
inline constexpr const char* k_forked = "forked";

/// A trial whose process may be forked from one that has imported what its program imports
/// (trial_runner/forked), in place of a new interpreter.
struct ForkedStart {
  std::vector<std::string> modules{};  ///< imported after PyTorch, in this order, where they can be
};

/// When a trial is clearly slower than the best one known, by its own reports alone: two looks in a
/// row, the first not before `after_s`, found each sample to take more than `seconds_per_sample`. A
/// look goes over the reports of `window_s` at least, and over four of them; a phase that is
/// reported begins both anew. Times are those of the program's clock, from its first report.
struct SlowLimit {
  double after_s = 0.0;
  double window_s = 0.0;
  double seconds_per_sample = 0.0;
  friend bool operator==(const SlowLimit&, const SlowLimit&) = default;
};

/// In a trial's placement: `k_warm_cache`, or `k_cold_cache` if its data were to be dropped from
/// memory before. Absent if the study names no data or the runner does not heed it.
inline constexpr const char* k_page_cache_placement = "page_cache";
inline constexpr const char* k_warm_cache = "warm";
inline constexpr const char* k_cold_cache = "cold";
/// Beside `k_cold_cache`: number and size of the files that were dropped, for people; their bytes,
/// as a number; the file that could not be dropped and why, for people, absent if there is none.
inline constexpr const char* k_dropped_placement = "page_cache_dropped";
inline constexpr const char* k_data_bytes_placement = "data_bytes";
inline constexpr const char* k_not_dropped_placement = "page_cache_not_dropped";

/// Everything a runner needs to make one trial happen.
struct TrialSpec {
  TrialKey key;
  std::string study;
  Configuration configuration;
  std::vector<std::string> argv;  ///< no shell; argv[0] is looked up in PATH
  /// The processes that `argv` starts, or is started as (`launch_words.hpp`); nothing: one program
  /// on each machine.
  std::optional<Launch> launch;
  std::map<std::string, std::string> environment;  ///< in addition to the tuner's own
  /// PyTorch's hook: this folder of the tuner's machine, or a copy of it where the trial runs, in
  /// front of what PYTHONPATH is there; empty: nothing. Heeded by `RunnerTraits::takes_hooks`.
  std::filesystem::path python_path;
  /// Texts by absolute path, written before the trial starts where it runs. Heeded where trials do
  /// not see this machine's files.
  std::map<std::string, std::string> files;
  /// Set OMP_NUM_THREADS and its like to the CPU count of each of the trial's processes where
  /// `environment` does not. Heeded where trials run on the tuner's machine.
  bool set_thread_counts = true;
  std::filesystem::path working_directory;
  std::filesystem::path log_path;  ///< output of the trial, capped; empty: not kept
  /// Standard streams are a pseudo-terminal instead of a pipe and /dev/null. Heeded by
  /// `RunnerTraits::gives_streams`, as is `standard_input`.
  bool terminal = false;
  std::filesystem::path standard_input;  ///< a file; empty: /dev/null, or the pseudo-terminal
  ReportFormat report_format;
  /// Set if the study's trials are measured in a running program.
  std::optional<LiveTrial> live;
  /// Set where the study wants forked trials and this one may be one. Heeded where trials run on
  /// the tuner's machine.
  std::optional<ForkedStart> forked;
  Resources resources;
  TrialLimits limits;
  /// After so long it has told enough. Heeded where a trial cannot be asked to end (it is one of
  /// several that a job runs in turn): it is ended then. Infinite: not known.
  double enough_s = std::numeric_limits<double>::infinity();
  /// What is beyond it has told enough, too, and is ended. Heeded in the same place, where the
  /// machine has what it takes and the program reports by Steptune's protocol with its clock.
  std::optional<SlowLimit> slow_limit;
  /// Trials of the same round (above 0) are interleaved: while one of them runs, the others are
  /// stopped. Heeded by `Runner::interleaves`; 0: runs by itself.
  int interleaved_round = 0;
  PageCache page_cache = PageCache::warm;  ///< heeded where trials run on the tuner's machine
  std::vector<std::filesystem::path>
      data;  ///< what is dropped: files, and folders with all in them
};

enum class OutcomeKind {
  completed,      ///< exit status 0
  stopped,        ///< ended because `stop` was called
  failed,         ///< non-zero exit status or a signal of its own
  out_of_memory,  ///< killed for memory, or died saying so
  timed_out,      ///< wall limit
  hung,           ///< idle limit
  not_started,    ///< the program could not be started at all
  lost,           ///< the runner lost sight of it (machine or tuner died)
};

/// What disturbed a trial from outside while it ran, as shares in [0, 1]; load and steal are shares
/// of the CPU time of what the trial is bound to, or of the machine where it is not.
struct Disturbance {
  double other_load = 0.0;        ///< CPU time used by processes that are not the trial's
  double steal = 0.0;             ///< CPU time taken by the hypervisor
  int gpu_strangers = 0;          ///< processes that are not the trial's on its GPUs, at most
  double memory_pressure = 0.0;   ///< share of the time in which some program waited for memory
  double storage_pressure = 0.0;  ///< likewise for storage
  double quota_wait = 0.0;        ///< likewise for the next period of the container's CPU quota
  bool clocks_throttled = false;  ///< CPU clocks were held down for heat or power
};
/// Whether that is enough to make a measured speed doubtful. Waiting for memory, storage and the
/// quota may be the trial's own doing, which the long run will have as well.
[[nodiscard]] constexpr bool is_disturbing(const Disturbance& disturbance) {
  constexpr double k_other_load = 0.10;
  constexpr double k_steal = 0.05;
  return disturbance.other_load > k_other_load || disturbance.steal > k_steal ||
         disturbance.gpu_strangers > 0 || disturbance.clocks_throttled;
}

/// What a trial made of its GPUs, looked at about once a second.
struct GpuUse {
  double peak_memory_bytes = 0.0;  ///< of the GPU that was used most
  double peak_memory_share = 0.0;  ///< of that GPU's memory
  double utilisation = 0.0;        ///< share of the time in which a kernel ran, mean over GPUs
  double sm_clock_hz = 0.0;        ///< mean
  double slowed_share = 0.0;       ///< of the looks that found clocks held down by heat or power
  int most_strangers = 0;          ///< processes of others on the trial's GPUs at one time
};

/// How a trial ended.
struct Outcome {
  OutcomeKind kind = OutcomeKind::completed;
  int exit_code = 0;        ///< exit status, or 128 + signal
  bool had_enough = false;  ///< `stopped`, as `TrialSpec::enough_s` was over, or
  bool was_slow = false;    ///< `had_enough`, as it was beyond `TrialSpec::slow_limit`
  LackedStream lacked_stream = LackedStream::none;  ///< `failed`, as its last words tell
  /// Files and memory of the trial that outlived it and were not removed, for people.
  std::string left_behind{};
  std::string detail{};   ///< why, for people: last lines of output, limit that was hit
  double duration_s = 0;  ///< start to end
  double billed_s = 0;    ///< seconds that are paid for; local: the duration
  /// What the provider charges, US dollars, where the runner knows it: all launches of the trial,
  /// and the time that machines were kept for it.
  std::optional<double> billed_usd{};
  std::optional<double> peak_memory_bytes{};
  /// The same without pages of files, which are given back when memory is short.
  std::optional<double> peak_unreclaimable_bytes{};
  /// That its processes may use: the machine's, or the limit of its control groups where that is
  /// less; where the runner knows it.
  std::optional<double> usable_memory_bytes{};
  std::optional<Disturbance> disturbance{};
  /// Share of the time of the CPUs that it may use in which its processes computed, from its first
  /// report on.
  std::optional<double> cpu_busy{};
  /// Threads, CPU use and waiting of its processes in its last seconds, where the runner sees them.
  std::optional<ProcessActivity> activity{};
  /// In order, the shorter the trial the closer; empty where they are not told.
  std::vector<MachineSecond> machine{};
  /// What all its processes read from storage: 0 where everything came from the page cache.
  std::optional<double> storage_read_bytes{};
  std::optional<GpuUse> gpu{};  ///< NVIDIA's, where the driver's library is
};

/// A trial runs. `token` lets a later tuner find it again (`Runner::adopt`); it is stored as it is.
struct TrialStarted {
  TrialKey key;
  double time_s = 0.0;
  std::string token;
  std::map<std::string, std::string>
      placement;  ///< cpus, gpus, thread variables in force: recorded
  /// What the trial was spared: the start of the program that it shares, whose reports tell no
  /// start-up of their own then, or the imports of the one that it was forked from.
  double program_startup_s = 0.0;
};
struct TrialReported {
  TrialKey key;
  Report report;
};
/// Others took so much of the machine for a second or two that the trial's speed meanwhile says
/// little. Only where the runner can see the machine.
struct TrialDisturbed {
  TrialKey key;
  double from_s = 0.0;  ///< runner's clock
  double to_s = 0.0;
  Disturbance disturbance;  ///< in that time
};
/// An interleaved trial is stopped while another one runs, or goes on. Its reports, disturbances
/// and outcome tell times as if it had never been stopped.
struct TrialPaused {
  TrialKey key;
  double time_s = 0.0;    ///< runner's clock
  bool goes_on = false;   ///< otherwise it is stopped now
  double paused_s = 0.0;  ///< of all pauses that are over
  /// It prints while it is stopped, so that some of it runs elsewhere: it cannot be interleaved.
  bool in_vain = false;
};
/// The trial and all its descendants are gone. The last event of a launch.
struct TrialFinished {
  TrialKey key;
  double time_s = 0.0;
  Outcome outcome;
};
using TrialEvent =
    std::variant<TrialStarted, TrialReported, TrialDisturbed, TrialPaused, TrialFinished>;
/// Whose it is.
[[nodiscard]] inline TrialKey key_of(const TrialEvent& event) {
  return std::visit([](const auto& held) { return held.key; }, event);
}

class MachineHolder;

/// Makes trials happen. One thread owns a runner and makes all calls.
///
/// Events of a trial: `TrialStarted` once, unless it never started; then any number of
/// `TrialReported`, `TrialDisturbed` and `TrialPaused`; last, exactly one `TrialFinished`, whatever
/// happens to the program, the machine or the network. An error of `wait` concerns the runner, not
/// a trial: one that `start` has taken, and that cannot be started when its turn comes, ends as
/// `not_started`.
///
/// Destruction: where trials run on this machine or in this process, it ends what still runs and
/// returns once that is gone. Where the runner offers a `MachineHolder`, trials run elsewhere and
/// go on, as they do when the tuner is killed: a later runner adopts them. Whoever wants them ended
/// calls `kill_all` first and waits for their `TrialFinished`.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Whose trials are to come: called once, before `start` and `adopt`. `name` is not empty;
  /// `identity` tells apart equally named studies wherever their trials meet (accounts, queues),
  /// and stays the same when a study is continued. A second call is a `conflict` and changes
  /// nothing. Another error means that the runner cannot do its work; the call may be repeated.
  [[nodiscard]] virtual Result<void> begin_study(const std::string& name,
                                                 const std::string& identity) = 0;

  /// How many trials may run at the same time without disturbing each other. At least 1.
  [[nodiscard]] virtual int capacity() const = 0;

  /// True where trials with an `interleaved_round` may be started beside each other, whatever the
  /// capacity, as long as no other trial runs. Always the same.
  [[nodiscard]] virtual bool interleaves() const { return false; }

  /// Starts a trial; its events follow through `wait`. An error means that nothing was started and
  /// no event will come for this call: `internal` before `begin_study`, `conflict` for a key that
  /// is under way, `unavailable` when all places are taken (`capacity`, or the backlog of a
  /// `MachineHolder`), others as the outside world makes them. A missing program is no error but a
  /// `not_started` outcome.
  [[nodiscard]] virtual Result<void> start(const TrialSpec& spec) = 0;

  /// Waits until something has happened or the clock reads `deadline_s`, and returns all that has
  /// happened, in order. May return early with nothing (a signal arrived).
  [[nodiscard]] virtual Result<std::vector<TrialEvent>> wait(double deadline_s) = 0;

  /// Asks a trial to end: SIGTERM or its like, then force after the grace period. Returns at once;
  /// `TrialFinished` with `stopped` follows. Keys that are not under way are ignored.
  virtual void stop(TrialKey key) = 0;

  /// `stop` for all, by force at once where the runner can.
  virtual void kill_all() = 0;

  /// After a restart: takes over trials that a former tuner started, as far as they can still be
  /// found from their tokens or keys; events follow as for `start`. Ends, and returns as not
  /// adopted, what cannot be taken over. Returns the keys that were adopted. `internal` before
  /// `begin_study`; after another error nothing was adopted, and the call may be repeated.
  struct Orphan {
    TrialSpec spec;
    std::string token;
  };
  [[nodiscard]] virtual Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) = 0;

  /// Always the same object. By default it holds no machines between trials
  /// (`MachineHolder::holds_machines`).
  [[nodiscard]] virtual MachineHolder& machine_holder();
};

}  // namespace steptune
