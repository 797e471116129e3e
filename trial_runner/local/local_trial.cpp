// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/local_trial.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include "common/child_process.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/system_files.hpp"
#include "common/numbers.hpp"
#include "trial_runner/local/clean_up_time.hpp"
#include "trial_runner/local/ending.hpp"
#include "trial_runner/local/held_files.hpp"
#include "trial_runner/local/process_tags.hpp"
#include "trial_runner/local/usage.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/output/waiting_ranks.hpp"

namespace steptune::local {
namespace {

/// Shortest time between two reads of output, and between two searches for processes that an ended
/// trial has left, in seconds.
constexpr double k_gather_s = 0.005;
/// Longest time between two such searches, in seconds.
constexpr double k_slowest_sweep_s = 0.1;

/// Time for helpers such as Python's resource tracker to clean up. They end by themselves after the
/// main process.
constexpr double k_self_exit_s = 0.2;

/// Number of last lines of a failed trial's output in its outcome.
constexpr std::size_t k_detail_lines = 12;

/// True if the hook begins to replay batches (docs/internals/hooks-protocol.md, "Events").
bool begins_replay(const Report& report) {
  return std::ranges::any_of(report.hook_events, [](const std::string& event) {
    return event.find(R"("event":"replay_begun")") != std::string::npos;
  });
}

}  // namespace

LocalTrial::LocalTrial(Launching launching, TrialProcess process, GpuWatch gpus,
                       Subreaper& subreaper, std::vector<TrialEvent>& events)
    : subreaper_(&subreaper),
      events_(&events),
      key_(launching.spec.key),
      slot_(std::move(launching.slot)),
      limits_(launching.spec.limits),
      process_(std::move(process)),
      reader_(std::move(launching.reader)),
      log_(std::move(launching.log)),
      at_start_(launching.at_start),
      memory_(limits_.memory_bytes),
      activity_(process_.main.pid, slot_.cpus, slot_.cpu_count),
      leftovers_(std::move(launching.leftovers)),
      machine_(at_start_.started_s, at_start_.cpu, slot_.cpus),
      gpus_(std::move(gpus)),
      last_output_s_(at_start_.started_s),
      next_sample_s_(at_start_.started_s + k_child_poll_s),
      sample_interval_s_(k_child_poll_s),
      is_interleaved_(launching.spec.interleaved_round > 0),
      sweep_interval_s_(k_gather_s) {}

double LocalTrial::next_timer_s(double now_s) const {
  if (exited_s_) return next_sweep_s_;
  double next = process_.pidfd ? k_infinity : now_s + k_child_poll_s;
  if (now_s < next_read_s_) next = std::min(next, next_read_s_);
  if (give_up_at_s_) return std::min(next, *give_up_at_s_);
  if (kill_at_s_) return std::min(next, *kill_at_s_);
  if (pauses_.is_paused()) return next;
  return std::min(
      {next, next_sample_s_, at_start_.started_s + excluded_s_ + limits_.wall_s, idle_until_s()});
}

double LocalTrial::idle_until_s() const {
  return reader_.phase_under_way() ? k_infinity : last_output_s_ + limits_.idle_s;
}

bool LocalTrial::advance(double now_s) {
  read_output(now_s);
  if (!exited_s_ && main_has_exited()) {
    exited_s_ = now_s;
    next_sweep_s_ = now_s;
  }
  if (exited_s_) return now_s >= next_sweep_s_ && end_descendants(now_s);
  if (give_up_at_s_) {
    if (now_s < *give_up_at_s_) return false;
    survivors_.push_back(process_.main);
    return true;
  }
  if (kill_at_s_) {
    escalate(now_s);
    return false;
  }
  if (pauses_.is_paused()) return false;
  if (now_s >= next_sample_s_) look_at_processes(now_s);
  check_limits(now_s);
  return false;
}

void LocalTrial::read_output(double now_s) {
  std::array<char, 65'536> buffer;
  // Read little more than a full pipe holds, so that limits and other trials are checked again
  // soon.
  std::size_t taken = 0;
  while (process_.output && taken < std::size_t{k_pipe_bytes}) {
    const ssize_t got = ::read(process_.output.get(), buffer.data(), buffer.size());
    if (got > 0) {
      taken += static_cast<std::size_t>(got);
      take_output({buffer.data(), static_cast<std::size_t>(got)}, now_s);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      process_.output.reset();
    } else if (errno == EAGAIN) {
      if (taken > 0) next_read_s_ = now_s + k_gather_s;
      return;
    }
  }
}

void LocalTrial::take_output(std::string_view bytes, double now_s) {
  pauses_.on_output();
  last_output_s_ = now_s;
  log_.write(bytes);
  lines_.feed(bytes, pauses_.trial_time_s(now_s),
              [&](std::string_view line, double trial_s) { on_line(line, trial_s); });
}

void LocalTrial::on_line(std::string_view line, double trial_s) {
  tail_.feed(line);
  tail_.feed("\n");
  if (auto report = reader_.read_line(line, trial_s)) {
    if (!reported_) activity_.forget_start(trial_s);
    reported_ = true;
    is_replaying_ = is_replaying_ || begins_replay(*report);
    if (report->step || report->samples) ++progress_reports_;
    mark_progress(tail_, *report);
    if (is_interleaved_) report = pauses_.without_pauses(*std::move(report));
    events_->emplace_back(TrialReported{key_, *std::move(report)});
  }
}

void LocalTrial::suspend(double now_s) {
  if (pauses_.is_paused() || is_ending()) return;
  pauses_.stop([&] { return processes_now(); });
  read_output(now_s);
  pauses_.begin(now_s);
  events_->emplace_back(TrialPaused{key_, now_s, false, pauses_.paused_s()});
}

void LocalTrial::resume(double now_s) {
  if (!pauses_.is_paused()) return;
  read_output(now_s);
  const double gap_s = pauses_.end(now_s);
  extend_limits(gap_s);
  next_sample_s_ += gap_s;
  events_->emplace_back(
      TrialPaused{key_, now_s, true, pauses_.paused_s(), pauses_.are_ineffective()});
}

std::vector<ProcessStat> LocalTrial::processes_now() const {
  std::vector<ProcessStat> processes = process_tree(process_.main.pid);
  for (ProcessStat& orphan : subreaper_->orphans_of(process_.main.pid))
    processes.push_back(std::move(orphan));
  return processes;
}

void LocalTrial::check_limits(double now_s) {
  if (now_s >= at_start_.started_s + excluded_s_ + limits_.wall_s) {
    end(OutcomeKind::timed_out, now_s, limits_.grace_s);
  } else if (now_s >= idle_until_s()) {
    end(OutcomeKind::hung, now_s, limits_.grace_s);
  }
}

void LocalTrial::look_at_processes(double now_s) {
  const std::vector<ProcessStat> processes = processes_now();
  for (const ProcessStat& process : processes) {
    const bool has_left = process.group != process_.main.pid && !process.is_zombie();
    if (has_left && escaped_.insert(process.id).second) newly_escaped_.push_back(process.id);
  }
  // Allow no grace period. A program that allocates without bound could use up the machine's memory
  // in that time.
  if (memory_.sample(processes, now_s)) end(OutcomeKind::out_of_memory, now_s, 0.0);
  const double own_s =
      own_cpu_seconds(processes, subreaper_->reaped_usage(process_.main.pid).cpu_s);
  leftovers_.observe(processes);
  // Do not sample the machine of an interleaved trial. The load of the other trials in its round
  // would look like a neighbour's load, and shares of time would include its pauses.
  if (!is_interleaved_) look_at_machine(now_s, own_s, processes);
  // Sample often at first, because a small trial may grow fast. Later, sample more often only if
  // the trial has a memory limit.
  const double slowest = limits_.memory_bytes ? k_sample_interval_s / 4.0 : k_sample_interval_s;
  sample_interval_s_ = std::min(2 * sample_interval_s_, slowest);
  next_sample_s_ = now_s + sample_interval_s_;
}

void LocalTrial::look_at_machine(double now_s, double own_s,
                                 const std::vector<ProcessStat>& processes) {
  if (reported_) cpu_use_.sample(now_s, own_s);
  if (!is_replaying_) activity_.sample(now_s, processes);
  if (const auto others = gpus_.sample(now_s, processes); others.count > 0) {
    const Disturbance disturbance{.other_load = MachineSecond::k_unknown,
                                  .steal = MachineSecond::k_unknown,
                                  .other_gpu_processes = others.count};
    events_->emplace_back(TrialDisturbed{key_, others.from_s, now_s, disturbance});
  }
  if (const auto sample = machine_.sample(now_s, own_s, gpus_)) {
    seconds_.push_back(sample->second);
    if (sample->disturbance) {
      const double from_s = at_start_.started_s + sample->second.from_s;
      events_->emplace_back(TrialDisturbed{key_, from_s, now_s, *sample->disturbance});
    }
  }
}

void LocalTrial::end(OutcomeKind as, double now_s, double grace_s) {
  if (exited_s_ || give_up_at_s_) return;
  if (kill_at_s_) {
    kill_at_s_ = std::min(*kill_at_s_, now_s + grace_s);
  } else {
    if (main_has_exited()) return;
    pauses_.end(now_s);
    ended_as_ = as;
    kill_at_s_ = now_s + grace_s;
    leftovers_.observe_files(process_tree(process_.main.pid));
    if (grace_s > 0) {
      kill_group(SIGTERM);
      kill_group(SIGCONT);  // a stopped process would not receive SIGTERM
    }
  }
  escalate(now_s);
}

void LocalTrial::escalate(double now_s) {
  if (now_s < *kill_at_s_) return;
  kill_all_but_helpers();
  give_up_at_s_ = now_s + k_give_up_s;
}

void LocalTrial::kill_group(int signal) const {
  // The main process is not reaped yet, so the numbers of the process and of its group are still
  // valid. The process may have left that group.
  const auto stat = read_stat(process_.main.pid);
  if (stat && stat->group != process_.main.pid) ::kill(process_.main.pid, signal);
  ::kill(-process_.main.pid, signal);
}

void LocalTrial::kill_all_but_helpers() const {
  const std::vector<ProcessStat> processes = process_tree(process_.main.pid);
  const auto is_helper = [](const ProcessStat& process) {
    return cleans_up(SystemFiles{}, process.id.pid);
  };
  // Kill the group with one call, so that a program that forks constantly cannot escape.
  if (std::ranges::none_of(processes, is_helper)) return kill_group(SIGKILL);
  for (const ProcessStat& process : processes) {
    if (!is_helper(process)) send_signal(process.id, SIGKILL);
  }
}

bool LocalTrial::main_has_exited() const {
  siginfo_t info{};
  const auto id = static_cast<id_t>(process_.main.pid);
  // Any error means that the child no longer exists.
  return ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

bool LocalTrial::end_descendants(double now_s) {
  std::vector<ProcessId> left;
  for (const ProcessStat& orphan : subreaper_->orphans_of(process_.main.pid))
    left.push_back(orphan.id);
  const bool forced = give_up_at_s_.has_value();
  if (left.empty() && (left_descendants_ || forced)) {
    left = find_tagged_processes(subreaper_->tags_of(process_.main.pid), {&process_.main, 1});
  }
  if (left.empty()) return true;
  left_descendants_ = true;
  if (!forced && now_s >= *exited_s_ + k_self_exit_s) give_up_at_s_ = now_s + k_give_up_s;
  if (give_up_at_s_) {
    const bool may_clean_up = now_s < *exited_s_ + k_clean_up_s;
    for (const ProcessId& process : left) {
      if (!may_clean_up || !cleans_up(SystemFiles{}, process.pid)) send_signal(process, SIGKILL);
    }
    if (now_s >= *give_up_at_s_) {
      survivors_ = std::move(left);
      return true;
    }
  }
  next_sweep_s_ = now_s + sweep_interval_s_;
  sweep_interval_s_ = std::min(2 * sweep_interval_s_, k_slowest_sweep_s);
  return false;
}

void LocalTrial::extend_limits(double gap_s) {
  excluded_s_ += gap_s;
  last_output_s_ += gap_s;
  if (kill_at_s_) *kill_at_s_ += gap_s;
  if (give_up_at_s_) *give_up_at_s_ += gap_s;
}

Outcome LocalTrial::finish(double now_s, const OomKillCounters& oom_counters) {
  read_output(now_s);
  lines_.flush([&](std::string_view line, double trial_s) { on_line(line, trial_s); });
  process_.output.reset();
  log_.finish();

  rusage usage{};
  int wait_status = SIGKILL;  // if the process cannot be reaped
  Subreaper::ReapedUsage used = subreaper_->reaped_usage(process_.main.pid);
  if (::wait4(process_.main.pid, &wait_status, WNOHANG, &usage) == process_.main.pid) {
    used.cpu_s += cpu_seconds(usage);
    used.storage_read_bytes += storage_read_bytes(usage);
    memory_.add(usage);
  }

  Outcome outcome =
      ended_as_
          ? forced_ending(*ended_as_, wait_status, limits_)
          : own_ending(wait_status, oom_kills_between(at_start_.oom_kills, oom_counters.read()),
                       ended_out_of_memory(tail_), ended_with_waiting_ranks(tail_));
  if (outcome.kind == OutcomeKind::failed) outcome.lacked_stream = lacked_stream(tail_.text());
  outcome.detail = describe(outcome);
  outcome.left_behind = leftovers_.clear().text();
  outcome.duration_s = pauses_.trial_time_s(exited_s_.value_or(now_s)) - at_start_.started_s;
  outcome.billed_s = outcome.duration_s - others_part_s_;
  outcome.peak_memory_bytes = memory_.peak_bytes();
  outcome.peak_unreclaimable_bytes = memory_.peak_unreclaimable_bytes();
  const double usable_bytes = usable_memory_bytes(SystemFiles{});
  if (usable_bytes > 0.0) outcome.usable_memory_bytes = usable_bytes;
  const auto cpu = read_cpu_time(slot_.cpus);
  if (cpu && at_start_.cpu && !is_interleaved_)
    outcome.disturbance = disturbance_between(*at_start_.cpu, *cpu, used.cpu_s);
  outcome.cpu_busy = cpu_use_.busy_share(slot_.cpu_count);
  outcome.activity = activity_.activity();
  outcome.machine = std::move(seconds_);
  outcome.gpu = gpus_.use();
  if (outcome.disturbance && outcome.gpu)
    outcome.disturbance->other_gpu_processes = outcome.gpu->most_other_processes;
  outcome.storage_read_bytes = used.storage_read_bytes;
  return outcome;
}

std::string LocalTrial::describe(const Outcome& ended) const {
  std::vector<std::string> parts;
  if (!ended.detail.empty()) parts.push_back(ended.detail);
  if (auto advice = advice_for(ended.lacked_stream); !advice.empty())
    parts.push_back(std::move(advice));
  if (!log_.fault().empty()) parts.push_back(log_.fault());
  if (auto rejections = reader_.rejections(); !rejections.empty())
    parts.push_back(std::move(rejections));
  if (!survivors_.empty()) {
    std::vector<pid_t> pids;
    for (const ProcessId& survivor : survivors_)
      pids.push_back(survivor.pid);
    parts.push_back(fmt::format("processes that could not be ended: {}", fmt::join(pids, ", ")));
  }
  if (ended.kind != OutcomeKind::completed && ended.kind != OutcomeKind::stopped) {
    for (std::string& line : tail_.last_lines(k_detail_lines))
      parts.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace steptune::local
