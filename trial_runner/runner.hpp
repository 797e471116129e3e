// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "common/machine/process_activity.hpp"
#include "common/numbers.hpp"
#include "trial_runner/launch/launch.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/measure/half_widths.hpp"
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

/// Limits of a trial. Times are seconds of the runner's clock, sizes are bytes.
struct TrialLimits {
  /// Longest run time, from the trial's start; a trial that exceeds it ends as `timed_out`.
  double wall_s = 3600.0;
  /// Longest silence outside phases; a trial that exceeds it ends as `hung`.
  double idle_s = 600.0;
  double grace_s = 10.0;  ///< between SIGTERM and SIGKILL
  /// Limit of the resident memory of all the trial's processes together.
  std::optional<double> memory_bytes;
  /// Largest allowed share of a GPU's memory, or of the part that its processes may use. A trial
  /// that exceeds it continues, but its configuration is infeasible. 1: no limit.
  double memory_share = 0.9;
  /// Size limit of the stored output: the first and the last half of this many bytes.
  std::uint64_t log_bytes = std::uint64_t{4} << 20;
};

/// State of the page cache when a trial starts. All trials read the same first files, so later
/// trials find them in memory. A long run reads new files and may be slower.
enum class PageCache {
  warm,       ///< keep the pages that earlier trials have read
  cold,       ///< drop the data's pages before each trial
  automatic,  ///< cold if the data is larger than the memory that could cache it
};

/// Data of a trial that may be measured in a running program, in turns with the baseline
/// (trial_runner/live). Trial and baseline differ only in knobs of PyTorch's hook that can be
/// switched between two steps.
struct LiveTrial {
  /// The trial's knobs that differ from the program's own settings.
  std::map<std::string, Value> knobs;
  /// The baseline's knobs that differ from the program's own settings.
  std::map<std::string, Value> baseline_knobs;
  /// The baseline's measured time per sample, training steps only. nullopt: the trial runs without
  /// turns. The baseline's first trial must run this way.
  std::optional<double> baseline_seconds_per_sample;
  std::optional<double> samples_per_step;  ///< replaces the hook's own count of samples
};

/// Name of an entry in `TrialStarted::placement`: the round of an interleaved trial.
inline constexpr const char* k_interleaved_fact = "interleaved";

/// Name of an entry in a recorded placement: `Outcome::left_behind`.
inline constexpr const char* k_left_behind_fact = "left_behind";

/// Name of an entry in `TrialStarted::placement`: how the process started. Its value is `k_forked`
/// if the process was forked.
inline constexpr const char* k_start_fact = "start";
inline constexpr const char* k_forked = "forked";

/// Limit beyond which a trial's own reports show that it is clearly slower than the best trial. The
/// trial is too slow if two successive windows each take more than `seconds_per_sample`. The first
/// window begins no earlier than `after_s`. A window spans at least `window_s` and four reports. A
/// reported phase restarts the window and the count. Times are on the program's clock, from its
/// first report.
struct SlowLimit {
  double after_s = 0.0;
  double window_s = 0.0;
  double seconds_per_sample = 0.0;
  friend bool operator==(const SlowLimit&, const SlowLimit&) = default;
};

/// Name of an entry in a placement: `k_warm_cache`, or `k_cold_cache` if the runner dropped the
/// trial's data from memory. Absent if the study names no data or the runner ignores
/// `TrialSpec::page_cache`.
inline constexpr const char* k_page_cache_placement = "page_cache";
inline constexpr const char* k_warm_cache = "warm";
inline constexpr const char* k_cold_cache = "cold";
/// Further entries with `k_cold_cache`, in this order: number and size of the dropped files, for
/// people; their bytes, as a number; the first file that could not be dropped and the reason, for
/// people (absent if there is none).
inline constexpr const char* k_dropped_placement = "page_cache_dropped";
inline constexpr const char* k_data_bytes_placement = "data_bytes";
inline constexpr const char* k_not_dropped_placement = "page_cache_not_dropped";

/// Description of one trial for its runner.
struct TrialSpec {
  TrialKey key;
  std::string study;
  Configuration configuration;
  std::vector<std::string> argv;  ///< no shell; argv[0] is looked up in PATH
  /// The processes of the trial's program. Either `argv` starts them, or the runner starts them
  /// from `argv` (`launch_words.hpp`). nullopt: one process on each machine.
  std::optional<Launch> launch;
  std::map<std::string, std::string> environment;  ///< added to the tuner's own environment
  /// Folder of PyTorch's hook on the tuner's machine; empty: no hook. The runner adds this folder,
  /// or a copy of it on the trial's machine, at the front of PYTHONPATH. Used if
  /// `RunnerTraits::takes_hooks`.
  std::filesystem::path python_path;
  /// File contents by absolute path. The runner writes these files before the trial starts, on the
  /// machine where the trial runs. Used by runners whose trials cannot see this machine's files.
  std::map<std::string, std::string> files;
  /// Set OMP_NUM_THREADS and similar variables to the CPU count of each process of the trial,
  /// unless `environment` sets them. Used by runners whose trials run on the tuner's machine.
  bool set_thread_counts = true;
  std::filesystem::path working_directory;
  /// File for the trial's output, limited in size; empty: not kept.
  std::filesystem::path log_path;
  /// True: the trial's standard streams are a pseudo-terminal, instead of a pipe and /dev/null.
  /// `terminal` and `standard_input` are used if `RunnerTraits::gives_streams`.
  bool terminal = false;
  std::filesystem::path standard_input;  ///< a file; empty: /dev/null, or the pseudo-terminal
  ReportFormat report_format;
  /// Set if the study measures its trials in a running program.
  std::optional<LiveTrial> live;
  /// Set if the study allows forked trials and this trial may be forked (trial_runner/forked). The
  /// trial's process is then forked from an interpreter that has imported PyTorch and these
  /// modules, in this order. Modules that cannot be imported are skipped. Used by runners whose
  /// trials run on the tuner's machine.
  std::optional<std::vector<std::string>> forked_modules;
  Resources resources;
  TrialLimits limits;
  /// Seconds after which the trial has reported enough. Used only if one job runs several trials in
  /// turn, because the tuner then cannot stop a single trial. The job ends the trial after this
  /// time. Infinite: unknown.
  double time_to_measure_s = k_infinity;
  /// Limit at which the job also ends the trial, because the trial is clearly slower than the best
  /// one. Used under the same condition as `time_to_measure_s`. Needs mkfifo, tee and awk on the
  /// machine. Reports must follow Steptune's protocol and have the program's clock.
  std::optional<SlowLimit> slow_limit;
  /// Trials with the same round (above 0) are interleaved: while one runs, the others are paused.
  /// Used if `Runner::interleaves`. 0: the trial runs by itself.
  int interleaved_round = 0;
  /// Used by runners whose trials run on the tuner's machine.
  PageCache page_cache = PageCache::warm;
  /// Files to drop from the page cache, and folders with all files in them.
  std::vector<std::filesystem::path> data;
};

enum class OutcomeKind {
  completed,      ///< exit status 0
  stopped,        ///< ended because `stop` was called
  failed,         ///< non-zero exit status, or a signal that the runner did not send
  out_of_memory,  ///< killed for lack of memory, or its last output reports that
  timed_out,      ///< wall limit
  hung,           ///< idle limit, or its last output reports ranks that waited for each other
  not_started,    ///< the program could not be started at all
  lost,           ///< the runner lost contact (the machine or the tuner died)
};

/// Disturbance of a trial by other programs while it ran. All values but counts and flags are
/// shares in [0, 1]. Load and steal are shares of the CPU time of the trial's CPUs, or of all CPUs
/// if the trial is not bound; NaN if they are unknown.
struct Disturbance {
  double other_load = 0.0;  ///< CPU time used by processes outside the trial
  double steal = 0.0;       ///< CPU time that the hypervisor gave to other virtual machines
  /// Most processes outside the trial that were on its GPUs at one time.
  int other_gpu_processes = 0;
  double memory_pressure = 0.0;   ///< share of the time in which some program waited for memory
  double storage_pressure = 0.0;  ///< share of the time in which some program waited for storage
  /// Share of their CPU time for which threads waited, because the container's quota was used up.
  double quota_wait = 0.0;
  bool clocks_throttled = false;  ///< heat lowered CPU clocks
};
/// True if the disturbance makes the measured speed doubtful. Ignores waiting for memory, storage
/// and quota: the trial itself may cause such waiting, and then a long run also waits.
[[nodiscard]] constexpr bool is_disturbing(const Disturbance& disturbance) {
  constexpr double k_other_load = 0.10;
  return disturbance.other_load > k_other_load || disturbance.steal > k_noticeable_difference ||
         disturbance.other_gpu_processes > 0 || disturbance.clocks_throttled;
}

/// GPU use of a trial, sampled about once a second.
struct GpuUse {
  double peak_memory_bytes = 0.0;  ///< of the GPU with the highest use
  double peak_memory_share = 0.0;  ///< of that GPU's memory
  double utilisation = 0.0;        ///< share of the time in which a kernel ran, mean over GPUs
  double sm_clock_hz = 0.0;        ///< mean
  double slowed_share = 0.0;       ///< share of samples with clocks lowered by heat or power
  /// Most processes outside the trial that were on its GPUs at one time.
  int most_other_processes = 0;
};

/// How a trial ended.
struct Outcome {
  OutcomeKind kind = OutcomeKind::completed;
  int exit_code = 0;        ///< exit status, or 128 + signal
  bool had_enough = false;  ///< `stopped` because of `TrialSpec::time_to_measure_s` or `slow_limit`
  /// `stopped` because of `TrialSpec::slow_limit`; `had_enough` is set, too.
  bool was_slow = false;
  /// Set if the trial failed and its last output names a missing stream.
  LackedStream lacked_stream = LackedStream::none;
  /// Files and shared memory that the trial left behind and the runner did not remove, for people.
  std::string left_behind{};
  std::string detail{};   ///< reason for people: last lines of output, or the exceeded limit
  double duration_s = 0;  ///< from start to end
  /// Seconds to pay for. Local: the duration. If trials start side by side, each pays for its
  /// share.
  double billed_s = 0;
  /// The provider's charge in US dollars, if the runner knows it. Covers all launches of the trial
  /// and the time that machines were kept for it.
  std::optional<double> billed_usd{};
  std::optional<double> peak_memory_bytes{};
  /// Peak memory without file pages, which the kernel frees when memory is short.
  std::optional<double> peak_unreclaimable_bytes{};
  /// Memory that the trial's processes may use: the machine's, or the limit of its control groups
  /// if that is less. Set if the runner knows it.
  std::optional<double> usable_memory_bytes{};
  std::optional<Disturbance> disturbance{};
  /// Share of the CPU time of the trial's CPUs that its processes used, from its first report on.
  std::optional<double> cpu_busy{};
  /// Threads, CPU use and waiting times of the trial's processes in its last seconds. Set if the
  /// runner can see them.
  std::optional<ProcessActivity> activity{};
  /// Samples of the machine, in order; denser in short trials. Empty if the runner cannot see them.
  std::vector<MachineSecond> machine{};
  /// Bytes that all processes of the trial read from storage. 0: all data came from the page cache.
  std::optional<double> storage_read_bytes{};
  std::optional<GpuUse> gpu{};  ///< NVIDIA GPUs only; needs the driver's library
};

/// A trial has started. By `token`, which the history stores unchanged, a later tuner can find the
/// trial again (`Runner::adopt`).
struct TrialStarted {
  TrialKey key;
  double time_s = 0.0;
  std::string token;
  /// Facts to record: cpus, gpus, thread variables that apply.
  std::map<std::string, std::string> placement;
  /// Seconds of start-up that a long run spends but the trial did not. A trial in a shared program
  /// saves the program's start (its reports then contain no start-up). A forked trial saves the
  /// imports.
  double program_startup_s = 0.0;
};
struct TrialReported {
  TrialKey key;
  Report report;
};
/// Other programs used so much of the machine for a second or two that the trial's speed in that
/// time is not representative. Sent only if the runner can see the machine.
struct TrialDisturbed {
  TrialKey key;
  double from_s = 0.0;  ///< runner's clock
  double to_s = 0.0;
  Disturbance disturbance;  ///< in that time
};
/// Message: an interleaved trial was paused because another one runs, or was resumed. The pauses
/// are removed from the times of the trial's reports, disturbances and outcome.
struct TrialPaused {
  TrialKey key;
  double time_s = 0.0;    ///< runner's clock
  bool resumes = false;   ///< true: the trial resumes; false: it is paused now
  double paused_s = 0.0;  ///< total of all completed pauses
  /// The trial printed while it was paused. Some of its processes therefore still run, and the
  /// trial cannot be interleaved.
  bool prints_while_paused = false;
};
/// The trial and all its descendants are gone. The last event of a launch.
struct TrialFinished {
  TrialKey key;
  double time_s = 0.0;
  Outcome outcome;
};
using TrialEvent =
    std::variant<TrialStarted, TrialReported, TrialDisturbed, TrialPaused, TrialFinished>;
/// Returns the key of the event's trial.
[[nodiscard]] inline TrialKey key_of(const TrialEvent& event) {
  return std::visit([](const auto& held) { return held.key; }, event);
}

class MachineHolder;

/// Seconds from `Runner::kill_all` after which all trials have finished, if the runner can end them
/// by force. If trials still run after this time, the loop assumes that the runner has failed.
inline constexpr double k_forced_end_s = 30.0;

/// Number of failures of one kind that show a lasting reason. One or two may be due to chance: to a
/// node, a preemption, a late line or a lost answer.
inline constexpr int k_lasting_failures = 3;

/// Starts trials and reports their events. One thread owns a runner and makes all calls.
///
/// Events of a trial: `TrialStarted` once, unless the trial never started; then any number of
/// `TrialReported`, `TrialDisturbed` and `TrialPaused`; last, exactly one `TrialFinished`, whatever
/// happens to the program, the machine or the network. An error of `wait` concerns the runner, not
/// a trial. If `start` accepted a trial that later cannot be started, the trial ends as
/// `not_started`.
///
/// Destruction: if trials run on this machine or in this process, the destructor ends running
/// trials and returns when they are gone. If the runner offers a `MachineHolder`, trials run
/// elsewhere and continue, as they do when the tuner is killed; a later runner adopts them. To end
/// them, call `kill_all` first and wait for each `TrialFinished`.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Sets the study to which all trials belong. Call this once, before `start` and `adopt`. `name`
  /// must not be empty. `identity` distinguishes studies of the same name in one account or queue;
  /// it is unchanged when a study continues. A second call returns `conflict` and changes nothing.
  /// After any other error the runner cannot work yet; the call may be repeated.
  [[nodiscard]] virtual Result<void> begin_study(const std::string& name,
                                                 const std::string& identity) = 0;

  /// Returns the number of trials that can run at the same time without disturbing each other. At
  /// least 1.
  [[nodiscard]] virtual int capacity() const = 0;

  /// True if trials with an `interleaved_round` may be started together, whatever the capacity, as
  /// long as no other trial runs. The value never changes.
  [[nodiscard]] virtual bool interleaves() const { return false; }

  /// Starts a trial. Its events follow through `wait`. On an error nothing was started and no event
  /// follows. The error is `internal` before `begin_study`, and `conflict` for a key that is under
  /// way. It is `unavailable` if all places are taken (`capacity`, or the backlog of a
  /// `MachineHolder`). Failures outside this program have other kinds. A missing program is not an
  /// error: the trial ends as `not_started`.
  [[nodiscard]] virtual Result<void> start(const TrialSpec& spec) = 0;

  /// Waits until an event occurs or the clock reaches `deadline_s`. Returns all events so far, in
  /// order. May return early without events (a signal arrived).
  [[nodiscard]] virtual Result<std::vector<TrialEvent>> wait(double deadline_s) = 0;

  /// Asks a trial to end: SIGTERM or similar, then force after the grace period. Returns at once;
  /// `TrialFinished` with `stopped` follows. Ignores keys that are not under way.
  virtual void stop(TrialKey key) = 0;

  /// Stops all trials, at once by force if the runner can.
  virtual void kill_all() = 0;

  /// A trial that a former tuner started, with its `TrialStarted::token`.
  struct Orphan {
    TrialSpec spec;
    std::string token;
  };
  /// Takes over trials of a former tuner after a restart, if they can be found by their tokens or
  /// keys. Their events follow as after `start`. Ends trials that it cannot take over. Returns the
  /// keys of the adopted trials. Returns `internal` before `begin_study`. After any other error
  /// nothing was adopted, and the call may be repeated.
  [[nodiscard]] virtual Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) = 0;

  /// Returns the same object on each call. By default, the object holds no machines between trials
  /// (`MachineHolder::holds_machines`).
  [[nodiscard]] virtual MachineHolder& machine_holder();
};

}  // namespace steptune
