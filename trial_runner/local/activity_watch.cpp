// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/activity_watch.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "trial_runner/local/pressure_watch.hpp"
#include "trial_runner/measure/report_times.hpp"

namespace steptune::local {
namespace {

/// Seconds covered by the kept samples: long enough for five samples (at least one is taken each
/// second), and shorter than the training that a survey watches.
constexpr double k_window_s = 5.0;

/// Threads with less than this share of the busiest thread's CPU time do not compute. They are, for
/// example, timers, or write logs or pin memory.
constexpr double k_computing_share = 0.1;

double cpu_share(const ProcessStat& before, const ProcessStat& after, double span_s) {
  return std::max(0.0, after.own_cpu_s - before.own_cpu_s) / span_s;
}

int size_of(const std::vector<ThreadStat>& threads) {
  return static_cast<int>(threads.size());
}

}  // namespace

const ActivityWatch::Process* ActivityWatch::Sample::find(pid_t pid) const {
  const auto found =
      std::ranges::find(processes, pid, [](const Process& one) { return one.stat.id.pid; });
  return found == processes.end() ? nullptr : &*found;
}

std::vector<const ActivityWatch::Process*> ActivityWatch::Sample::children_of(pid_t pid) const {
  std::vector<const Process*> children;
  for (const Process& process : processes) {
    if (process.stat.parent == pid) children.push_back(&process);
  }
  return children;
}

int ActivityWatch::Sample::threads() const {
  int sum = 0;
  for (const Process& process : processes)
    sum += size_of(process.threads);
  return sum;
}

int ActivityWatch::Sample::runnable_threads() const {
  std::ptrdiff_t sum = 0;
  for (const Process& process : processes)
    sum += std::ranges::count_if(process.threads, &ThreadStat::is_runnable);
  return static_cast<int>(sum);
}

void ActivityWatch::sample(double now_s, std::span<const ProcessStat> processes) {
  Sample sample;
  sample.at_s = now_s;
  for (const ProcessStat& stat : processes) {
    std::error_code fault;
    const auto program = std::filesystem::read_symlink(
        files_.root / fmt::format(FMT_COMPILE("proc/{}/exe"), stat.id.pid), fault);
    sample.processes.push_back({stat, program.string(), threads_of(files_, stat.id.pid)});
  }
  if (const auto text = files_.text("proc/stat")) sample.cpu = cpu_time_of(*text, cpus_);
  sample.storage_wait_s = storage_stall_s(files_);
  if (!sample.storage_wait_s && sample.cpu) sample.storage_wait_s = sample.cpu->iowait_s;
  samples_.push_back(std::move(sample));

  // Keep one sample at or before the window's start, from which differences are computed.
  const double begin_s = std::max(now_s - k_window_s, training_start_s_);
  while (samples_.size() > 2 && samples_[1].at_s <= begin_s)
    samples_.pop_front();
}

std::optional<ProcessActivity> ActivityWatch::activity() const {
  if (samples_.size() < 2) return std::nullopt;
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  ProcessActivity activity;
  activity.span_s = last.at_s - first.at_s;
  if (activity.span_s < k_least_span_s) return std::nullopt;
  activity.cpus = std::max(1, cpu_count_);
  double runnable = 0.0;
  for (const Sample& sample : samples_) {
    const int now = sample.runnable_threads();
    activity.processes = std::max(activity.processes, static_cast<int>(sample.processes.size()));
    activity.threads = std::max(activity.threads, sample.threads());
    activity.peak_runnable_threads = std::max(activity.peak_runnable_threads, now);
    runnable += now;
  }
  activity.mean_runnable_threads = runnable / static_cast<double>(samples_.size());
  if (first.cpu && last.cpu && last.cpu->total_s > first.cpu->total_s) {
    const double used_s =
        last.cpu->busy_s - first.cpu->busy_s + last.cpu->steal_s - first.cpu->steal_s;
    activity.idle_cpu_share =
        std::clamp(1.0 - used_s / (last.cpu->total_s - first.cpu->total_s), 0.0, 1.0);
  }
  if (first.storage_wait_s && last.storage_wait_s) {
    activity.storage_wait_s = std::max(0.0, *last.storage_wait_s - *first.storage_wait_s);
  }
  add_trainer(activity);
  return activity;
}

pid_t ActivityWatch::trainer() const {
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  pid_t trainer = main_;
  while (true) {
    const Process* before = first.find(trainer);
    const Process* after = last.find(trainer);
    const auto children = last.children_of(trainer);
    if (before == nullptr || after == nullptr || children.size() != 1) return trainer;
    const bool is_same_program = after->program == children.front()->program;
    const double share = cpu_share(before->stat, after->stat, last.at_s - first.at_s);
    // A process that uses hardly any CPU time is a wrapper that waits for its program.
    if (is_same_program || share >= k_negligible_share) return trainer;
    trainer = children.front()->stat.id.pid;
  }
}

void ActivityWatch::add_trainer(ProcessActivity& activity) const {
  const pid_t pid = trainer();
  for (const Sample& sample : samples_) {
    const Process* process = sample.find(pid);
    if (process == nullptr) continue;
    activity.trainer_threads = std::max(activity.trainer_threads, size_of(process->threads));
    // Ancestors of the trainer are wrappers; all other processes of the program are its children.
    int above = 1;
    for (const Process* parent = sample.find(process->stat.parent); parent != nullptr;
         parent = sample.find(parent->stat.parent))
      ++above;
    activity.child_processes =
        std::max(activity.child_processes, static_cast<int>(sample.processes.size()) - above);
  }

  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  std::map<pid_t, ProcessStat> before;
  for (const Process& process : first.processes)
    before.emplace(process.stat.id.pid, process.stat);
  for (const Process& process : last.processes) {
    const auto known = before.find(process.stat.id.pid);
    const bool is_known = known != before.end() && known->second.id == process.stat.id;
    const ProcessStat& from = is_known ? known->second : ProcessStat{};
    const double own_s = std::max(0.0, process.stat.own_cpu_s - from.own_cpu_s);
    // When a child ends, the kernel adds its CPU time to the parent that waits for it.
    const double with_ended_s = std::max(own_s, process.stat.cpu_s - from.cpu_s);
    const bool is_trainer = process.stat.id.pid == pid;
    if (is_trainer) activity.trainer_cpu_s = own_s;
    activity.children_cpu_s += is_trainer ? with_ended_s - own_s : with_ended_s;
  }

  const Process* earlier = first.find(pid);
  const Process* later = last.find(pid);
  if (earlier == nullptr || later == nullptr) return;
  std::vector<double> spent_s;
  for (const ThreadStat& thread : later->threads) {
    const auto known = std::ranges::find(earlier->threads, thread.id, &ThreadStat::id);
    const bool is_new = known == earlier->threads.end();
    spent_s.push_back(thread.cpu_s - (is_new ? 0.0 : known->cpu_s));
    if (!thread.cpu_wait_s) continue;
    const double waited_s =
        *thread.cpu_wait_s - (is_new ? 0.0 : known->cpu_wait_s.value_or(*thread.cpu_wait_s));
    activity.trainer_cpu_wait_s =
        activity.trainer_cpu_wait_s.value_or(0.0) + std::max(0.0, waited_s);
  }
  const double most_s = spent_s.empty() ? 0.0 : std::ranges::max(spent_s);
  activity.computing_threads = static_cast<int>(std::ranges::count_if(
      spent_s, [&](double one) { return one > 0.0 && one >= k_computing_share * most_s; }));
}

}  // namespace steptune::local
