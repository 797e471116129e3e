// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/local_runner.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/memory.hpp"
#include "common/numbers.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/local/forked_starts.hpp"
#include "trial_runner/local/interleaving.hpp"
#include "trial_runner/local/launch_preparation.hpp"
#include "trial_runner/local/local_trial.hpp"
#include "trial_runner/local/orphaned_trials.hpp"
#include "trial_runner/local/placement.hpp"
#include "trial_runner/local/signal_scope.hpp"
#include "trial_runner/local/subreaper.hpp"
#include "trial_runner/local/trial_process.hpp"
#include "trial_runner/local/watchdog.hpp"

namespace steptune::local {
namespace {

/// If a wait returns this much too late, or the work after it takes this long, the machine or this
/// process was suspended or stopped.
constexpr double k_standstill_s = 2.0;
constexpr const char* k_stopped_before = "stopped before it started";
/// Largest number of fork servers. Each has an interpreter with PyTorch in memory, 100 to 200 MB.
constexpr std::size_t k_most_fork_servers = 4;

class LocalRunner final : public Runner {
 public:
  LocalRunner(const Clock& clock, LocalRunnerOptions options, std::vector<Slot> slots,
              bool has_gpus, Environment environment, Watchdog watchdog)
      : clock_(clock),
        options_(std::move(options)),
        preparation_(options_.run_tag, std::move(environment)),
        slots_(std::move(slots)),
        watchdog_(std::move(watchdog)),
        nvml_(has_gpus ? Nvml::open() : nullptr),
        uses_gpus_(has_gpus && options_.gpus_per_trial != 0) {
    subreaper_.add_helper(watchdog_.pid());
  }
  LocalRunner(const LocalRunner&) = delete;
  LocalRunner& operator=(const LocalRunner&) = delete;
  ~LocalRunner() override;

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return static_cast<int>(slots_.size()); }
  [[nodiscard]] bool interleaves() const override { return slots_.size() == 1 && !uses_gpus_; }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

 private:
  [[nodiscard]] Result<void> check_startable(const TrialSpec& spec) const;
  [[nodiscard]] Result<void> ensure_watchdog();
  [[nodiscard]] const Slot& free_slot() const;
  [[nodiscard]] CountersAtStart counters_now(const Slot& slot) const {
    return {clock_.now_s(), read_cpu_time(slot.cpus), oom_counters_.read()};
  }
  /// Prepares the trial for a slot that no other trial uses. Trials that run in turns share one
  /// slot.
  [[nodiscard]] Result<Launching> prepare(const TrialSpec& spec) {
    return preparation_.prepare(spec, spec.interleaved_round > 0 ? slots_.front() : free_slot());
  }
  /// Requests a start from a fork server. Returns false if the trial needs a new interpreter.
  [[nodiscard]] bool begin_forked(const Launching& launching) {
    const auto request = fork_request(launching);
    return request && forked_starts_.begin(*request, clock_.now_s());
  }
  [[nodiscard]] Result<void> start_fresh(Launching launching);
  /// `spared_s`: start-up that a fork saved, in seconds (`TrialStarted::program_startup_s`).
  void begin_trial(Launching launching, TrialProcess process, double spared_s);
  void take_forked();
  void advance_turns();
  void end_unstarted(TrialKey key, OutcomeKind kind, std::string why);
  void drop_launching(const std::function<bool(TrialKey)>& which);
  /// Sleeps until a descriptor is ready or a timer is due, at most until `deadline_s`. Returns true
  /// if a signal arrived.
  bool poll_until(double deadline_s);
  /// Excludes this time from the limits of all trials if it is a standstill (`k_standstill_s`).
  void exclude_standstill(double late_s);
  void advance_trials();

  const Clock& clock_;
  LocalRunnerOptions options_;
  Admission admission_;
  LaunchPreparation preparation_;
  std::vector<Slot> slots_;
  Watchdog watchdog_;
  std::unique_ptr<Nvml> nvml_;  ///< null: no NVIDIA driver
  bool uses_gpus_;
  std::string boot_ = boot_id();
  OomKillCounters oom_counters_;
  SignalScope signals_;
  Subreaper subreaper_;
  ForkedStarts forked_starts_{subreaper_, std::max(k_most_fork_servers, slots_.size())};
  std::vector<Launching> launching_;  ///< trials that wait for a fork
  std::vector<LocalTrial> trials_;
  Interleaving interleaving_{static_cast<std::size_t>(std::max(1, slots_.front().cpu_count))};
  std::vector<TrialEvent> events_;
};

LocalRunner::~LocalRunner() {
  kill_all();
  while (!trials_.empty()) {
    poll_until(k_infinity);
    advance_trials();
  }
}

Result<void> LocalRunner::begin_study(const std::string& name, const std::string& /*identity*/) {
  if (auto first = admission_.check_no_study(); !first) return first;
  admission_.begin_study(name);
  return {};
}

Result<void> LocalRunner::check_startable(const TrialSpec& spec) const {
  if (spec.argv.empty()) {
    return fail(ErrorKind::usage, "the trial has no command",
                fmt::format("trial {}", spec.key.trial));
  }
  std::vector<TrialKey> running;
  for (const LocalTrial& trial : trials_)
    running.push_back(trial.key());
  for (const Launching& launching : launching_)
    running.push_back(launching.spec.key);
  for (const TrialSpec& waiting : interleaving_.waiting())
    running.push_back(waiting.key);
  const bool joins = running.empty() || interleaving_.round() == spec.interleaved_round;
  const int places = joins ? Admission::places_for(spec, running, *this) : capacity();
  return admission_.check_start(spec.key, running, places);
}

const Slot& LocalRunner::free_slot() const {
  std::size_t number = 0;
  const auto has_slot = [&](const Launching& launching) { return launching.slot.number == number; };
  while (std::ranges::find(trials_, number, &LocalTrial::slot) != trials_.end() ||
         std::ranges::any_of(launching_, has_slot))
    ++number;
  return slots_[number];
}

Result<void> LocalRunner::ensure_watchdog() {
  if (watchdog_.alive()) return {};
  auto watchdog = Watchdog::start(options_.watchdog_program, options_.run_tag);
  if (!watchdog) return tl::unexpected(watchdog.error());
  subreaper_.remove_helper(watchdog_.pid());
  watchdog_ = *std::move(watchdog);
  subreaper_.add_helper(watchdog_.pid());
  for (const LocalTrial& trial : trials_) {
    watchdog_.watch(trial.main());
    std::ranges::for_each(trial.escaped(), [&](const ProcessId& id) { watchdog_.watch(id); });
  }
  return {};
}

Result<void> LocalRunner::start(const TrialSpec& spec) {
  if (auto startable = check_startable(spec); !startable) return startable;
  if (auto watched = ensure_watchdog(); !watched) return watched;
  if (spec.interleaved_round > 0 && interleaves()) {
    interleaving_.add(spec);
    return {};
  }
  auto launching = prepare(spec);
  if (!launching) return tl::unexpected(launching.error());
  if (begin_forked(*launching)) {
    launching_.push_back(*std::move(launching));
    return {};
  }
  return start_fresh(*std::move(launching));
}

Result<void> LocalRunner::start_fresh(Launching launching) {
  launching.at_start = counters_now(launching.slot);
  auto process = start_trial_process(launching.spec, launching.slot.cpus, launching.environment);
  if (!process) {
    if (process.error().kind == ErrorKind::unavailable) return tl::unexpected(process.error());
    end_unstarted(launching.spec.key, OutcomeKind::not_started, process.error().text());
    return {};
  }
  begin_trial(std::move(launching), *std::move(process), 0.0);
  return {};
}

void LocalRunner::begin_trial(Launching launching, TrialProcess process, double spared_s) {
  const ProcessId main = process.main;
  const double started_s = launching.at_start.started_s;
  watchdog_.watch(main);
  subreaper_.add_trial(main.pid, std::move(launching.tags));
  events_.emplace_back(TrialStarted{launching.spec.key, started_s,
                                    to_text(TrialToken{main, boot_, options_.run_tag}),
                                    std::move(launching.placed), spared_s});
  // The study's environment may select GPUs.
  GpuWatch gpus(nvml_.get(), visible_gpus(SystemFiles{}, launching.environment), started_s);
  trials_.emplace_back(std::move(launching), std::move(process), std::move(gpus), subreaper_,
                       events_);
}

void LocalRunner::end_unstarted(TrialKey key, OutcomeKind kind, std::string why) {
  events_.emplace_back(
      TrialFinished{key, clock_.now_s(), {.kind = kind, .detail = std::move(why)}});
}

void LocalRunner::take_forked() {
  for (ForkedStartAnswer& answer : forked_starts_.advance(clock_.now_s())) {
    const auto asked = std::ranges::find(launching_, answer.key,
                                         [](const Launching& held) { return held.spec.key; });
    if (asked == launching_.end()) continue;
    Launching launching = std::move(*asked);
    launching_.erase(asked);
    if (answer.process) {
      launching.placed[k_start_fact] = k_forked;
      launching.at_start = counters_now(launching.slot);
      begin_trial(std::move(launching), *std::move(answer.process), answer.import_s);
      continue;
    }
    const TrialKey key = launching.spec.key;
    if (const auto started = start_fresh(std::move(launching)); !started) {
      end_unstarted(key, OutcomeKind::not_started, started.error().text());
    }
  }
}

bool LocalRunner::poll_until(double deadline_s) {
  const double now_s = clock_.now_s();
  double wake_s = std::max(deadline_s, now_s);
  std::vector<pollfd> descriptors;
  descriptors.reserve(2 * trials_.size() + launching_.size());
  forked_starts_.add_descriptors(descriptors);
  wake_s = std::min(wake_s, std::max(forked_starts_.next_timer_s(), now_s));
  wake_s = std::min(wake_s, std::max(interleaving_.next_timer_s(now_s, trials_), now_s));
  for (const LocalTrial& trial : trials_) {
    wake_s = std::min(wake_s, std::max(trial.next_timer_s(now_s), now_s));
    for (const int fd : {trial.exit_fd(), trial.output_fd(now_s)}) {
      if (fd >= 0) descriptors.push_back({fd, POLLIN, 0});
    }
  }
  const bool interrupted = signals_.poll(descriptors, wake_s - now_s);
  exclude_standstill(clock_.now_s() - wake_s);
  return interrupted;
}

void LocalRunner::exclude_standstill(double late_s) {
  if (late_s <= k_standstill_s) return;
  for (LocalTrial& trial : trials_)
    trial.exclude_standstill(late_s);
}

void LocalRunner::advance_turns() {
  const auto free_bytes = [this] {
    double allowed_bytes = usable_memory_bytes(SystemFiles{});
    for (const LocalTrial& trial : trials_)
      allowed_bytes -= trial.peak_memory_bytes();
    return std::min(allowed_bytes, read_memory_info(SystemFiles{}).available_bytes.value_or(0.0));
  };
  auto spec = interleaving_.advance(clock_.now_s(), trials_, free_bytes);
  if (!spec) return;
  auto launching = prepare(*spec);
  const auto started = launching ? start_fresh(*std::move(launching))
                                 : Result<void>(tl::unexpected(launching.error()));
  if (!started) end_unstarted(spec->key, OutcomeKind::not_started, started.error().text());
}

void LocalRunner::advance_trials() {
  take_forked();
  advance_turns();
  const double now_s = clock_.now_s();
  std::erase_if(trials_, [&](LocalTrial& trial) {
    const bool has_ended = trial.advance(now_s);
    for (const ProcessId& escaped : trial.take_newly_escaped())
      watchdog_.watch(escaped);
    if (!has_ended) return false;
    Outcome outcome = trial.finish(now_s, oom_counters_);
    subreaper_.remove_trial(trial.main().pid);
    watchdog_.forget(trial.main());
    std::ranges::for_each(trial.escaped(), [&](const ProcessId& id) { watchdog_.forget(id); });
    events_.emplace_back(TrialFinished{trial.key(), now_s, std::move(outcome)});
    return true;
  });
}

Result<std::vector<TrialEvent>> LocalRunner::wait(double deadline_s) {
  bool interrupted = false;
  while (true) {
    // If events are pending, poll without waiting, to collect signals and further events.
    interrupted = poll_until(events_.empty() ? deadline_s : clock_.now_s());
    const double polled_s = clock_.now_s();
    advance_trials();
    exclude_standstill(clock_.now_s() - polled_s);
    if (!events_.empty() || interrupted || clock_.now_s() >= deadline_s) break;
  }
  return std::exchange(events_, {});
}

void LocalRunner::stop(TrialKey key) {
  const auto trial = std::ranges::find(trials_, key, &LocalTrial::key);
  if (trial != trials_.end()) trial->stop(clock_.now_s());
  drop_launching([&](TrialKey other) { return other == key; });
}

void LocalRunner::drop_launching(const std::function<bool(TrialKey)>& which) {
  for (const TrialKey key : interleaving_.cancel(which))
    end_unstarted(key, OutcomeKind::stopped, k_stopped_before);
  std::erase_if(launching_, [&](const Launching& launching) {
    if (!which(launching.spec.key)) return false;
    forked_starts_.cancel(launching.spec.key);
    end_unstarted(launching.spec.key, OutcomeKind::stopped, k_stopped_before);
    return true;
  });
}

void LocalRunner::kill_all() {
  for (LocalTrial& trial : trials_)
    trial.end(OutcomeKind::stopped, clock_.now_s(), 0.0);
  drop_launching([](TrialKey) { return true; });
}

Result<std::vector<TrialKey>> LocalRunner::adopt(std::span<const Orphan> orphans) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  if (const auto ended = end_orphaned_trials(orphans, clock_); !ended) {
    return tl::unexpected(ended.error());
  }
  return std::vector<TrialKey>{};
}

}  // namespace
}  // namespace steptune::local

namespace steptune {

const std::vector<LauncherSupport>& local_launchers() {
  // Port 0: torchrun takes a free port, so trials that run at the same time do not collide.
  static const std::vector<LauncherSupport> k_launchers{
      {Launcher::torchrun, false, {"--rdzv_backend=c10d", "--rdzv_endpoint=localhost:0"}},
      {Launcher::mpi}};
  return k_launchers;
}

Result<std::unique_ptr<Runner>> make_local_runner(const Clock& clock, LocalRunnerOptions options) {
  auto environment = process_variables();
  const auto resources = local::read_trial_resources(SystemFiles{}, environment);
  if (!resources) return tl::unexpected(resources.error());
  auto slots = local::divide_into_slots(*resources, options);
  if (!slots) return tl::unexpected(slots.error());

  if (options.run_tag.empty()) {
    const auto self = read_stat(::getpid());
    options.run_tag = fmt::format("{}-{}", ::getpid(), self ? self->id.start_ticks : 0);
  }
  if (options.watchdog_program.empty()) {
    auto found = local::find_watchdog_program();
    if (!found) return tl::unexpected(found.error());
    options.watchdog_program = *std::move(found);
  }
  auto watchdog = local::Watchdog::start(options.watchdog_program, options.run_tag);
  if (!watchdog) return tl::unexpected(watchdog.error());
  return std::make_unique<local::LocalRunner>(clock, std::move(options), *std::move(slots),
                                              !resources->gpus.empty(), std::move(environment),
                                              *std::move(watchdog));
}

}  // namespace steptune
