// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/virtual_cluster.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/leases.hpp"
#include "trial_runner/slurm/queue.hpp"
#include "trial_runner/slurm/virtual_step.hpp"

namespace steptune::slurm {
namespace {

constexpr double k_min_job_age_s = 60.0;  ///< time for which the queue shows an ended job

std::string option_of(const std::vector<std::string>& argv, std::string_view option) {
  for (const std::string& word : argv) {
    if (word.starts_with(option)) return word.substr(option.size());
  }
  return {};
}

}  // namespace

int VirtualCluster::live_jobs() const {
  return static_cast<int>(std::ranges::count_if(jobs_, &VirtualJob::is_live));
}

ClusterUse VirtualCluster::use() const {
  ClusterUse use;
  for (const VirtualJob& job : jobs_) {
    if (!job.has_started) continue;
    const double held_s = (job.is_live() ? clock_.now_s() : job.ended_s) - job.starts_s;
    ++use.allocations;
    use.held_node_s += job.nodes * held_s;
    use.held_usd += usage_usd(job.usd_per_hour, held_s);
  }
  for (const auto& step : steps_) {
    if (!step->begun) continue;
    const VirtualJob* job = find_job(step->job);
    const double ran_s = step->ends_s.value_or(clock_.now_s()) - step->starts_s();
    ++use.steps;
    if (job != nullptr) use.step_usd += usage_usd(job->usd_per_hour, ran_s);
  }
  return use;
}

double VirtualCluster::next_training_report_s() const {
  double next_s = k_infinity;
  for (const auto& step : steps_) {
    if (step->begun && !step->srun_status && step->program.training)
      next_s = std::min(next_s, step->next_report_s);
  }
  return next_s;
}

bool VirtualCluster::is_away(double time_s) const {
  return std::ranges::any_of(outages, [time_s](const auto& outage) {
    return time_s >= outage.first && time_s < outage.second;
  });
}

CommandResult VirtualCluster::obey(const std::vector<std::string>& argv) {
  if (argv.front() == "sbatch") return {0, false, submit(argv), {}};
  if (argv.front() == "scancel") {
    cancel(argv);
    return {};
  }
  const bool steps = std::ranges::find(argv, "--steps") != argv.end();
  return {0, false, steps ? list_steps(argv) : list_jobs(), {}};
}

std::string VirtualCluster::submit(const std::vector<std::string>& argv) {
  VirtualJob job;
  job.id = ++last_id_;
  job.name = option_of(argv, "--job-name=");
  job.nodes = leading_number(option_of(argv, "--nodes="));
  job.partition = option_of(argv, "--partition=");
  job.submitted_s = clock_.now_s();
  job.limit_s = time_limit_s(option_of(argv, "--time=")).value_or(k_infinity);
  AllocationSpec requested;
  for (const std::string& word : argv) {
    if (word.starts_with("--")) requested.options.push_back(word.substr(2));
  }
  job.usd_per_hour = job.nodes * usd_per_node_hour.of(requested).value_or(0.0);
  job.fate = fate(job);
  job.limit_s = job.fate.limit_s.value_or(job.limit_s);
  job.starts_s = job.submitted_s + job.fate.queue_s;
  if (job.fate.is_forgotten) {
    job.state = "FORGOTTEN";
    job.ended_s = job.starts_s = clock_.now_s();
  }
  jobs_.push_back(std::move(job));
  return fmt::format("{}\n", last_id_);
}

std::string VirtualCluster::list_jobs() const {
  std::string text = "squeue: a site's greeting\nJOBID|STATE|REASON\n";
  const double to_wall_s = clock_.wall_time_s() - clock_.now_s();
  for (const VirtualJob& job : jobs_) {
    if (job.state == "FORGOTTEN") continue;
    if (!job.is_live() && clock_.now_s() - job.ended_s > k_min_job_age_s) continue;
    const bool pending = job.state == "PENDING";
    const double end_s = !job.is_live()    ? job.ended_s
                         : job.got_sigterm ? job.starts_s + *job.fate.ends_after_s
                                           : job.starts_s + job.limit_s;
    text += fmt::format(
        "{}|{}|{}|{}|{}|{:.0f}|{}|{}|{}|{}\n", job.id, job.state,
        pending ? job.fate.reason : "None",
        pending ? "N/A" : fmt::format("{:.0f}", to_wall_s + job.restarted_s.value_or(job.starts_s)),
        pending ? "N/A" : fmt::format("{:.0f}", to_wall_s + end_s), to_wall_s + job.submitted_s,
        job.nodes, 4 * job.nodes, pending ? "" : "n[1-9]", job.name);
  }
  return text;
}

std::string VirtualCluster::list_steps(const std::vector<std::string>& argv) const {
  std::string text;
  const std::string job = option_of(argv, "--jobs=");
  for (const auto& step : steps_) {
    if (step->srun_status || (!job.empty() && std::to_string(step->job) != job)) continue;
    text += fmt::format("{}.{}|{}\n", step->job, step->number, step->request.name);
  }
  return text;
}

const VirtualJob* VirtualCluster::find_job(int id) const {
  const auto job = std::ranges::find(jobs_, id, &VirtualJob::id);
  return job == jobs_.end() ? nullptr : &*job;
}

VirtualJob* VirtualCluster::find_job(int id) {
  const auto job = std::ranges::find(jobs_, id, &VirtualJob::id);
  return job == jobs_.end() ? nullptr : &*job;
}

void VirtualCluster::cancel(const std::vector<std::string>& argv) {
  const std::string& what = argv.back();
  const std::size_t dot = what.find('.');
  const int id = leading_number(what);
  if (dot == std::string::npos) {
    VirtualJob* job = find_job(id);
    const std::string name = option_of(argv, "--name=");
    if (job != nullptr && job->is_live() && (name.empty() || job->name == name)) {
      end_job(*job, "CANCELLED");
    }
    return;
  }
  const int number = leading_number(std::string_view(what).substr(dot + 1));
  for (const auto& step : steps_) {
    if (step->job != id || step->number != number || step->srun_status) continue;
    if (option_of(argv, "--signal=") == "TERM") {
      step->got_sigterm = true;
      step->end(clock_.now_s(), step->program.status_after_sigterm);
    } else {
      step->end(clock_.now_s(), std::nullopt);
    }
  }
}

void VirtualCluster::end_job(VirtualJob& job, const std::string& state) {
  if (job.state == "PENDING") job.starts_s = clock_.now_s();
  job.state = state;
  job.ended_s = clock_.now_s();
  for (const auto& step : steps_) {
    if (step->job != job.id || step->srun_status) continue;
    if (state == "NODE_FAIL" && step->begun && step->request.tasks > 1) {
      // The task on the first node fails, because the other nodes are gone.
      step->mark(clock_.now_s(), "exit 0 1");
      step->print(clock_.now_s(), "srun: error: Node failure on n2\n");
    }
    step->end(clock_.now_s(), std::nullopt);
  }
}

double VirtualCluster::next_event_s(const VirtualJob& job) const {
  if (job.state == "PENDING") return job.starts_s;
  if (!job.runs()) return k_infinity;
  double next_s = job.starts_s + job.limit_s;
  if (job.fate.ends_after_s) {
    const double end_s = job.starts_s + *job.fate.ends_after_s;
    next_s = std::min(next_s, job.got_sigterm ? end_s : end_s - job.fate.grace_s);
  }
  const auto lease = leases_.find(job.name);
  const double wall_to_clock_s = clock_.now_s() - clock_.wall_time_s();
  next_s = std::min(next_s, lease == leases_.end() ? job.starts_s + k_longest_blind_s
                                                   : lease->second + wall_to_clock_s);
  return std::max(next_s, job.starts_s);
}

void VirtualCluster::advance_job(VirtualJob& job) {
  const double now_s = clock_.now_s();
  if (next_event_s(job) > now_s) return;
  if (job.state == "PENDING") {
    job.state = "RUNNING";
    job.has_started = true;
    return;
  }
  if (job.fate.ends_after_s && now_s >= job.starts_s + *job.fate.ends_after_s) {
    if (job.fate.ends_as == "SUSPENDED") {
      job.state = job.fate.ends_as;
      job.fate.ends_after_s.reset();
    } else if (job.fate.ends_as == "RESTARTED") {
      // The tasks' shells live long enough to mark the ends of the programs.
      for (const auto& step : steps_) {
        if (step->job == job.id) step->end(now_s, k_sigkill_status);
      }
      job.restarted_s = now_s;
      job.fate.ends_after_s.reset();
    } else {
      end_job(job, job.fate.ends_as);
    }
    return;
  }
  if (!job.got_sigterm && job.fate.grace_s > 0.0 && job.fate.ends_after_s &&
      now_s >= job.starts_s + *job.fate.ends_after_s - job.fate.grace_s) {
    job.got_sigterm = true;
    for (const auto& step : steps_) {
      if (step->job != job.id || step->srun_status || !step->begun) continue;
      step->got_sigterm = true;
      step->end(now_s, step->program.status_after_sigterm);
    }
    return;
  }
  end_job(job, now_s >= job.starts_s + job.limit_s ? "TIMEOUT" : "COMPLETED");
}

void VirtualCluster::advance_step(StepState& step) {
  const double now_s = clock_.now_s();
  if (step.srun_status) return;
  VirtualJob* job = find_job(step.job);
  if (job == nullptr || !job->runs()) {
    if (step.program.is_stuck) return;
    step.print(now_s, "srun: error: Unable to create step: Job/step already completed\n");
    step.end(now_s, std::nullopt);
    return;
  }
  if (!step.begun && now_s >= step.starts_s()) {
    step.begun = true;
    started_.push_back(step.request.name);
    for (int task = 0; task < step.tasks_that_run(); ++task) {
      step.mark(step.starts_s(), fmt::format("node {} 6.1.{} EPYC 7763", task, task + 1));
      step.mark(step.starts_s(),
                fmt::format("start {} n{} {}.{}", task, task + 1, step.job, step.number));
    }
    step.next_report_s = step.first_report_s();
  }
  if (!step.begun || job->state == "SUSPENDED") return;
  const double end_s =
      step.program.ends_after_s ? step.starts_s() + *step.program.ends_after_s : k_infinity;
  while (step.next_report_s <= std::min(now_s, end_s))
    step.report();
  if (now_s < end_s) return;
  if (!step.program.last_words.empty()) step.print(end_s, step.program.last_words + "\n");
  step.end(end_s, step.program.exit_status);
}

void VirtualCluster::pass_to(double time_s) {
  while (true) {
    double next_s = time_s;
    const auto consider = [&](double event_s) {
      if (event_s > clock_.now_s()) next_s = std::min(next_s, event_s);
    };
    for (const VirtualJob& job : jobs_)
      consider(next_event_s(job));
    for (const auto& step : steps_) {
      if (step->srun_status) continue;
      consider(step->begun ? step->next_report_s : step->starts_s());
      if (step->program.ends_after_s) consider(step->starts_s() + *step->program.ends_after_s);
    }
    clock_.advance_to(next_s);
    for (const auto& step : steps_)
      advance_step(*step);
    for (VirtualJob& job : jobs_) {
      while (next_event_s(job) <= clock_.now_s())
        advance_job(job);
    }
    if (next_s >= time_s) return;
  }
}

}  // namespace steptune::slurm
