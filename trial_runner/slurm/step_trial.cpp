// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/step_trial.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/clauses.hpp"
#include "common/numbers.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/output/out_of_memory.hpp"
#include "trial_runner/output/waiting_ranks.hpp"
#include "trial_runner/slurm/lost_nodes.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune::slurm {
namespace {

/// Largest number of stored lines that early tasks print before all tasks have started.
constexpr std::size_t k_most_early_lines = 10'000;

}  // namespace

Result<StepTrial> StepTrial::create(TrialSpec spec, AllocationSpec requested) {
  auto reader = ReportReader::create(spec.report_format);
  if (!reader) return tl::unexpected(reader.error());
  auto log = LogFile::create(spec.log_path, spec.limits.log_bytes);
  if (!log) return tl::unexpected(log.error());
  return StepTrial(std::move(spec), std::move(requested), *std::move(reader), *std::move(log));
}

void StepTrial::launch(StepLaunch launch, std::unique_ptr<Step> step) {
  marks_.emplace(launch.request.mark_word, launch.request.tasks);
  next_step_poll_s_ = launch.at_s + k_launch_patience_s * std::exp2(blocked_launches_);
  launch_ = std::move(launch);
  step_ = std::move(step);
  step_end_.reset();
  step_ended_s_.reset();
  early_lines_.clear();
  lost_nodes_.clear();
  // Drop the output of an earlier launch, because it does not explain how this launch ends.
  tail_ = {};
  lines_ = {};
  ++launches_;
}

void StepTrial::wait_again(double now_s, bool failed) {
  forget_step();
  launch_.reset();
  marks_.reset();
  step_end_.reset();
  step_ended_s_.reset();
  killed_ = false;
  if (blocked_) ++blocked_launches_;
  if (failed) ++failed_launches_;
  blocked_ = false;
  late_ = false;
  waits_since_s_ = now_s;
}

void StepTrial::report_start(double time_s, std::vector<TrialEvent>& events) {
  started_s_ = time_s;
  last_event_s_ = time_s;
  last_output_s_ = time_s;
  std::string hosts;
  for (const auto& [task, host] : marks_->hosts())
    hosts += (hosts.empty() ? "" : " ") + host;
  std::map<std::string, std::string> placement{{"allocation", launch_->request.allocation},
                                               {"step", marks_->step_id()},
                                               {"hosts", std::move(hosts)}};
  // List all CPU models and kernels, because the nodes of an allocation may differ.
  if (!marks_->cpus().empty())
    placement["cpu"] = fmt::format("{}", fmt::join(marks_->cpus(), ", "));
  if (!marks_->kernels().empty())
    placement["kernel"] = fmt::format("{}", fmt::join(marks_->kernels(), ", "));
  events.emplace_back(TrialStarted{key(), time_s, launch_->request.name, std::move(placement)});
  for (const auto& [line_s, line] : std::exchange(early_lines_, {}))
    take_line(line_s, line, events);
}

void StepTrial::keep_line(std::string_view line) {
  tail_.feed(line);
  tail_.feed("\n");
}

void StepTrial::take_line(double time_s, std::string_view line, std::vector<TrialEvent>& events) {
  if (!started_s_) {
    if (early_lines_.size() < k_most_early_lines) early_lines_.emplace_back(time_s, line);
    return;
  }
  keep_line(line);
  memory_kill_ = memory_kill_ || reports_memory_kill(line);
  cancelled_ = cancelled_ || reports_cancelling(line);
  node_lost_ = node_lost_ || reports_lost_node(line);
  port_taken_ = port_taken_ || (!has_progressed_ && reports_taken_port(line));
  last_event_s_ = std::max(last_event_s_, time_s);
  if (auto report = reader_.read_line(line, last_event_s_)) {
    mark_progress(tail_, *report);
    has_progressed_ = has_progressed_ || report->step || report->samples;
    events.emplace_back(TrialReported{key(), *std::move(report)});
  }
}

void StepTrial::take_output(double time_s, std::string_view bytes,
                            std::vector<TrialEvent>& events) {
  marks_->feed(bytes, [&](std::string_view output) {
    log_.write(output);
    lines_.feed(output, time_s, [&](std::string_view line, double line_s) {
      if (auto node = lost_node_in(line)) lost_nodes_.insert(*std::move(node));
      take_line(line_s, line, events);
    });
  });
  last_output_s_ = std::max(last_output_s_, time_s);
  if (!started_s_ && marks_->all_started()) report_start(time_s, events);
}

void StepTrial::read(double now_s, std::vector<TrialEvent>& events) {
  if (!step_ || step_ended_s_) return;
  const std::vector<OutputChunk> chunks = step_->read();
  for (const OutputChunk& chunk : chunks)
    take_output(chunk.time_s, chunk.bytes, events);
  known_until_s_ = chunks.empty() ? now_s : last_output_s_;
  step_end_ = step_->end();
  if (!step_end_) return;
  step_ended_s_ = now_s;
  lines_.flush([&](std::string_view line, double line_s) { take_line(line_s, line, events); });
  // After an early failure, some tasks may never start. Report the output of the started tasks
  // anyway.
  if (!started_s_ && marks_->failure() && !marks_->only_ended()) report_start(now_s, events);
  if (started_s_) return;
  for (const auto& early : early_lines_)
    keep_line(early.second);
}

std::pair<double, StopCause> StepTrial::next_limit() const {
  if (!started_s_ || step_ended_s_) return {k_infinity, StopCause::wall_limit};
  const double wall_s = *started_s_ + spec_.limits.wall_s;
  const double idle_s =
      reader_.phase_under_way() ? k_infinity : last_output_s_ + spec_.limits.idle_s;
  return wall_s <= idle_s ? std::pair(wall_s, StopCause::wall_limit)
                          : std::pair(idle_s, StopCause::no_output);
}

void StepTrial::set_cause(StopCause cause, double now_s) {
  if (cause_) return;
  cause_ = cause;
  asked_s_ = now_s;
}

void StepTrial::kill() {
  if (step_) step_->kill();
  killed_ = true;
}

StepEvidence StepTrial::evidence() const {
  StepEvidence evidence;
  evidence.cause = cause_;
  evidence.says_memory_out = ended_out_of_memory(tail_);
  evidence.says_ranks_waited = ended_with_waiting_ranks(tail_);
  evidence.memory_kill = memory_kill_;
  evidence.cancelled = cancelled_;
  evidence.node_lost = node_lost_;
  evidence.port_taken =
      port_taken_ && !has_progressed_ && launch_ && has_rendezvous(spec_, launch_->request.tasks);
  evidence.tail = tail_.last_lines(k_explaining_lines);
  if (step_end_) {
    evidence.srun_status = step_end_->status;
    evidence.fault = step_end_->fault;
  }
  return evidence;
}

double StepTrial::ended_s(double now_s) const {
  const double seen_s = step_ended_s_.value_or(now_s);
  return std::min(seen_s, step_end_ ? step_end_->time_s.value_or(seen_s) : seen_s);
}

TrialFinished StepTrial::finish(double now_s, Outcome outcome,
                                std::optional<double> usd_per_node_hour) {
  const double end_s = std::max(now_s, last_event_s_);
  if (started_s_) {
    outcome.duration_s = std::max(0.0, ended_s(end_s) - *started_s_);
    outcome.billed_s = outcome.duration_s;
  }
  if (usd_per_node_hour) {
    outcome.billed_usd =
        started_s_ ? usage_usd(*usd_per_node_hour * launch_->held_nodes, outcome.billed_s) : 0.0;
  }
  log_.finish();
  add_clause(outcome.detail, reader_.rejections());
  add_clause(outcome.detail, log_.fault());
  return {key(), end_s, std::move(outcome)};
}

void StepTrial::forget_step() {
  if (step_) step_->forget();
  step_.reset();
}

}  // namespace steptune::slurm
