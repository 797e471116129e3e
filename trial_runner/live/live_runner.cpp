// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/live_runner.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/log.hpp"
#include "trial_runner/admission.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/hooks/pytorch_hook.hpp"
#include "trial_runner/live/loss_watch.hpp"
#include "trial_runner/live/paired_blocks.hpp"
#include "trial_runner/live/shared_trial.hpp"

namespace steptune::live {
namespace {

/// A program that has reported for so long and has not said hello cannot reach the socket.
constexpr double k_hello_s = 15.0;
/// Lines in the program's log, so that its idle limit works.
constexpr double k_lines_apart_s = 1.0;
constexpr double k_never_s = 1e9;
constexpr std::int64_t k_program_trial = 0;
constexpr std::string_view k_token_prefix = "live/";

/// The program that all live trials share.
struct Program {
  TrialKey key;
  LiveChannel channel;
  double started_s = 0.0;
  std::string token{};
  std::map<std::string, std::string> placement{};
  std::optional<double> first_line_s{};
  std::optional<double> startup_s{};  ///< to its first step
  bool said_hello = false;
  bool is_ending = false;  ///< asked to
  int world_size = 1;
  std::int64_t switches = 0;  ///< sent; also the number of the configuration in force then
  LiveStep last{};
  KnobValues baseline{};
  HookLog log{};
};

/// The trial that is measured in it.
struct Active : SharedTrial {
  std::vector<std::string> events{};  ///< of the hook, with its settings set; not told yet
};

/// Beside the trials' own.
std::string log_name(TrialKey program) {
  return fmt::format("live-{}.log", program.attempt);
}

class LiveRunner final : public Runner {
 public:
  LiveRunner(const Clock& clock, std::unique_ptr<Runner> fresh)
      : clock_(clock), fresh_(std::move(fresh)) {}

  [[nodiscard]] Result<void> begin_study(const std::string& name,
                                         const std::string& identity) override;
  [[nodiscard]] int capacity() const override { return 1; }
  [[nodiscard]] bool interleaves() const override { return fresh_->interleaves(); }
  [[nodiscard]] Result<void> start(const TrialSpec& spec) override;
  [[nodiscard]] Result<std::vector<TrialEvent>> wait(double deadline_s) override;
  void stop(TrialKey key) override;
  void kill_all() override;
  [[nodiscard]] Result<std::vector<TrialKey>> adopt(std::span<const Orphan> orphans) override;

 private:
  /// The program cannot do it whatever the value, as it told while the baseline was in force.
  [[nodiscard]] bool is_refused(const LiveTrial& trial);
  [[nodiscard]] Result<void> start_program();
  [[nodiscard]] Result<void> start_fresh(TrialSpec spec);
  /// As `start_fresh`, of a trial that was accepted before: if it cannot be started, it ends so.
  void start_accepted(TrialSpec spec);
  /// The trial under way is measured in a process of its own instead. It has not started yet.
  void give_to_fresh(const std::string& why);
  /// The trial under way goes on in another program, or ends where there can be none.
  void share_another_program();
  void end_program();
  void finish(Outcome outcome);
  void on_fresh_event(TrialEvent event);
  void on_program_event(const TrialEvent& event);
  void on_program_finished(const Outcome& outcome);
  void on_withdrawal(const std::string& why);
  void read_channel();
  void on_step(const LiveStep& step);
  void on_divergence(const std::set<TrialKey>& suspects);
  [[nodiscard]] bool begin_measuring();
  void take_turn();
  void report();

  const Clock& clock_;
  std::unique_ptr<Runner> fresh_;
  Admission admission_;
  PairedBlocks blocks_;
  LossWatch loss_;
  std::optional<Program> program_;
  int programs_ = 0;
  std::optional<Active> active_;
  std::vector<TrialSpec> waiting_;  ///< for the program's end, to be started anew
  std::set<TrialKey> running_fresh_;
  std::set<std::string> refused_;  ///< knobs
  std::string unusable_;           ///< why no program can be shared; empty: it can
  std::vector<TrialEvent> events_;
};

Result<void> LiveRunner::begin_study(const std::string& name, const std::string& identity) {
  auto begun = fresh_->begin_study(name, identity);
  if (begun) admission_.begin_study(name);
  return begun;
}

Result<void> LiveRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> under_way;
  if (active_) under_way.push_back(active_->spec.key);
  for (const TrialSpec& waiting : waiting_)
    under_way.push_back(waiting.key);
  under_way.insert(under_way.end(), running_fresh_.begin(), running_fresh_.end());
  const int places = Admission::places_for(spec, under_way, *this);
  if (auto free = admission_.check_start(spec.key, under_way, places); !free) return free;
  if (!spec.live || !unusable_.empty() || is_refused(*spec.live)) return start_fresh(spec);
  active_ = Active{{spec, clock_.now_s()}};
  if (!program_) {
    if (auto started = start_program(); !started) {
      active_.reset();
      return started;
    }
    blocks_.restart();
  }
  begin_blocks(blocks_, *spec.live);
  if (program_->said_hello && blocks_.arm() == Arm::trial) take_turn();
  return {};
}

bool LiveRunner::is_refused(const LiveTrial& trial) {
  if (program_) {
    for (const auto& [name, state] : program_->log.knobs()) {
      if (!state.may) refused_.insert(name);
    }
  }
  return std::ranges::any_of(trial.knobs,
                             [&](const auto& knob) { return refused_.contains(knob.first); });
}

Result<void> LiveRunner::start_program() {
  auto channel = LiveChannel::open();
  if (!channel) return tl::unexpected(channel.error());
  TrialSpec spec = active_->spec;
  spec.key = {k_program_trial, ++programs_};
  PytorchHookRequest request;
  request.mode = HookMode::live;
  request.channel = channel->path();
  request.interval_s = k_lines_apart_s;
  request.samples_per_step = spec.live->samples_per_step;
  set_hook_variables(request, spec.environment);
  if (!spec.log_path.empty()) {
    spec.log_path = spec.log_path.parent_path() / log_name(spec.key);
  }
  // It runs as long as trials are measured in it; each of them has its own limit.
  spec.limits.wall_s = k_never_s;
  spec.live.reset();
  spec.forked.reset();
  if (auto started = fresh_->start(spec); !started) return started;
  program_.emplace(Program{spec.key, *std::move(channel), clock_.now_s()});
  loss_.restarted();
  program_->baseline = active_->spec.live->baseline_knobs;
  return {};
}

Result<void> LiveRunner::start_fresh(TrialSpec spec) {
  if (program_) {
    waiting_.push_back(std::move(spec));
    end_program();
    return {};
  }
  const TrialKey key = spec.key;
  auto started = fresh_->start(spec);
  if (started) running_fresh_.insert(key);
  return started;
}

void LiveRunner::start_accepted(TrialSpec spec) {
  const TrialKey key = spec.key;
  const auto started = start_fresh(std::move(spec));
  if (started) return;
  events_.emplace_back(TrialFinished{
      key, clock_.now_s(), {.kind = OutcomeKind::not_started, .detail = started.error().text()}});
}

void LiveRunner::give_to_fresh(const std::string& why) {
  log_line(LogLevel::info, "trial {} is measured in a process of its own: {}",
           active_->spec.key.trial, why);
  TrialSpec spec = std::move(active_->spec);
  active_.reset();
  blocks_.end_trial();
  start_accepted(std::move(spec));
}

void LiveRunner::share_another_program() {
  const auto started = start_program();
  if (started) return;
  finish({.kind = active_->started_s ? OutcomeKind::lost : OutcomeKind::not_started,
          .detail = started.error().text()});
}

void LiveRunner::end_program() {
  if (!program_ || program_->is_ending) return;
  program_->is_ending = true;
  fresh_->stop(program_->key);
}

void LiveRunner::finish(Outcome outcome) {
  const double now_s = clock_.now_s();
  outcome.duration_s = now_s - active_->asked_s;
  outcome.billed_s = outcome.duration_s;
  events_.emplace_back(TrialFinished{active_->spec.key, now_s, std::move(outcome)});
  active_.reset();
  const bool was_trial = blocks_.arm() == Arm::trial;
  blocks_.end_trial();
  if (was_trial && program_ && program_->said_hello) take_turn();
}

Result<std::vector<TrialEvent>> LiveRunner::wait(double deadline_s) {
  while (true) {
    read_channel();
    const double now_s = clock_.now_s();
    const double until_s = !events_.empty() ? now_s
                           : program_       ? std::min(deadline_s, now_s + k_between_looks_s)
                                            : deadline_s;
    auto heard = fresh_->wait(until_s);
    if (!heard) return tl::unexpected(heard.error());
    const bool interrupted = heard->empty() && clock_.now_s() < until_s;
    for (TrialEvent& event : *heard)
      on_fresh_event(std::move(event));
    if (!events_.empty() || interrupted || clock_.now_s() >= deadline_s) break;
  }
  return std::exchange(events_, {});
}

void LiveRunner::on_fresh_event(TrialEvent event) {
  const TrialKey key = key_of(event);
  if (key.trial == k_program_trial) {
    on_program_event(event);
    return;
  }
  if (std::holds_alternative<TrialFinished>(event)) running_fresh_.erase(key);
  events_.push_back(std::move(event));
}

void LiveRunner::on_program_event(const TrialEvent& event) {
  if (!program_) return;
  if (const auto* started = std::get_if<TrialStarted>(&event)) {
    program_->started_s = started->time_s;
    program_->token = started->token;
    program_->placement = started->placement;
  } else if (const auto* reported = std::get_if<TrialReported>(&event)) {
    if (!program_->first_line_s) program_->first_line_s = reported->report.received_s;
    const bool unreachable =
        !program_->said_hello && active_ && clock_.now_s() > *program_->first_line_s + k_hello_s;
    if (unreachable) {
      unusable_ = "the program cannot reach the tuner's socket: it may run in a container";
      give_to_fresh(unusable_);
    }
  } else if (const auto* finished = std::get_if<TrialFinished>(&event)) {
    on_program_finished(finished->outcome);
  }
}

void LiveRunner::on_program_finished(const Outcome& outcome) {
  // What it told before its end is still to be read.
  read_channel();
  const bool was_asked = program_->is_ending;
  const bool has_measured = blocks_.has_measured();
  program_.reset();
  blocks_.restart();
  if (!waiting_.empty()) {
    for (TrialSpec& spec : std::exchange(waiting_, {}))
      start_accepted(std::move(spec));
    return;
  }
  if (!active_) return;
  const bool by_itself = outcome.kind == OutcomeKind::completed;
  // A trial that was started while the program was being ended is measured in the next one, too.
  if (was_asked || (by_itself && has_measured)) {
    share_another_program();
    return;
  }
  // A process of its own tells what is wrong with it, or measures what was too short here.
  if (by_itself) unusable_ = "the program ended before both settings had been measured";
  if (!active_->started_s) {
    give_to_fresh(by_itself ? unusable_ : "the program failed: " + outcome.detail);
    return;
  }
  Outcome ended = outcome;
  if (by_itself) ended.kind = OutcomeKind::lost;
  finish(std::move(ended));
}

void LiveRunner::on_withdrawal(const std::string& why) {
  unusable_ = why;
  if (!active_) return;
  if (!active_->started_s) {
    give_to_fresh(unusable_);
    return;
  }
  finish({.kind = OutcomeKind::lost, .detail = unusable_});
}

void LiveRunner::read_channel() {
  if (!program_) return;
  for (const LiveMessage& message : program_->channel.receive()) {
    if (!program_) return;
    if (const auto* hello = std::get_if<LiveHello>(&message)) {
      if (program_->said_hello) {
        on_withdrawal("several processes train without ranks");
        continue;
      }
      program_->said_hello = true;
      program_->world_size = hello->world_size;
      take_turn();
    } else if (const auto* event = std::get_if<LiveHookEvent>(&message)) {
      program_->log.add(event->event);
    } else if (const auto* step = std::get_if<LiveStep>(&message)) {
      on_step(*step);
    } else if (program_->log.disabled() && !program_->is_ending) {
      on_withdrawal("the hook withdrew: " + *program_->log.disabled());
    }
  }
}

void LiveRunner::take_turn() {
  if (!program_) return;
  Program& program = *program_;
  const bool of_trial = active_ && blocks_.arm() == Arm::trial;
  const KnobValues& knobs = of_trial ? active_->spec.live->knobs : program.baseline;
  program.channel.send_switch(next_step_to_switch(program.last, program.world_size),
                              ++program.switches, knobs);
  if (knobs != program.baseline) loss_.switched(program.switches, active_->spec.key);
}

void LiveRunner::on_step(const LiveStep& step) {
  Program& program = *program_;
  program.last = step;
  if (!program.startup_s) program.startup_s = clock_.now_s() - program.started_s;
  const auto suspects = loss_.add(step);
  if (!suspects.empty() && !program.is_ending) {
    on_divergence(suspects);
    return;
  }
  // Steps made before the latest switch have counted already.
  if (step.configuration != program.switches || program.is_ending) return;
  if (active_ && blocks_.arm() == Arm::trial && !active_->started_s && !begin_measuring()) {
    const auto why = why_not_in_force(program.log, active_->spec.live->knobs);
    give_to_fresh(why.value_or("its settings are not in force"));
    return;
  }
  const bool of_trial = blocks_.arm() == Arm::trial;
  if (of_trial && active_ && active_->loses_settings(program.log)) {
    active_->events = hook_events(program.log);
  }
  if (blocks_.add(step)) {
    log_line(LogLevel::debug, "a block of the {} ends with step {:.0f}, {:.3f} s of training",
             of_trial ? "trial" : "baseline", step.step, step.seconds);
    take_turn();
  }
  report();
}

void LiveRunner::on_divergence(const std::set<TrialKey>& suspects) {
  log_line(LogLevel::warning, "the program that live trials share is ended: {}", k_diverged);
  const bool is_known = active_ && suspects == std::set{active_->spec.key};
  if (is_known && !active_->started_s) {
    give_to_fresh(std::string(k_diverged));
    return;
  }
  end_program();
  // One of several goes on in the next program, which tells whether it was that one.
  if (is_known) finish({.kind = OutcomeKind::failed, .detail = std::string(k_diverged)});
}

bool LiveRunner::begin_measuring() {
  if (why_not_in_force(program_->log, active_->spec.live->knobs)) return false;
  active_->started_s = clock_.now_s();
  active_->events = hook_events(program_->log);
  auto placement = program_->placement;
  placement[k_shared_program] = log_name(program_->key);
  events_.emplace_back(
      TrialStarted{active_->spec.key, *active_->started_s,
                   fmt::format("{}{}/{}", k_token_prefix, program_->key.attempt, program_->token),
                   std::move(placement), *program_->startup_s});
  return true;
}

void LiveRunner::report() {
  for (Report& report : blocks_.take()) {
    if (!active_ || !active_->started_s) continue;
    report.received_s += *active_->started_s;
    if (report.compared) {
      log_line(LogLevel::debug, "trial {}: {:.4g} s a sample +-{:.1f} %, {:.0f} steps, {:.1f} s",
               active_->spec.key.trial, report.compared->seconds_per_sample,
               100.0 * report.compared->half_width_s / report.compared->seconds_per_sample,
               report.step.value_or(0.0), clock_.now_s() - active_->asked_s);
    }
    report.hook_events = std::exchange(active_->events, {});
    events_.emplace_back(TrialReported{active_->spec.key, std::move(report)});
  }
}

void LiveRunner::stop(TrialKey key) {
  Outcome stopped{.kind = OutcomeKind::stopped};
  if (active_ && active_->spec.key == key) {
    finish(std::move(stopped));
  } else if (std::erase_if(waiting_, [&](const TrialSpec& spec) { return spec.key == key; }) > 0) {
    events_.emplace_back(TrialFinished{key, clock_.now_s(), std::move(stopped)});
  } else {
    fresh_->stop(key);
  }
}

void LiveRunner::kill_all() {
  if (active_) stop(active_->spec.key);
  while (!waiting_.empty())
    stop(waiting_.front().key);
  if (program_) program_->is_ending = true;
  fresh_->kill_all();
}

Result<std::vector<TrialKey>> LiveRunner::adopt(std::span<const Orphan> orphans) {
  std::vector<Orphan> processes(orphans.begin(), orphans.end());
  for (Orphan& orphan : processes) {
    // A live trial's process is the program that was shared.
    if (!orphan.token.starts_with(k_token_prefix)) continue;
    orphan.token.erase(0, k_token_prefix.size());
    const std::size_t slash = std::min(orphan.token.find('/'), orphan.token.size());
    int attempt = 0;
    std::from_chars(orphan.token.data(), orphan.token.data() + slash, attempt);
    orphan.spec.key = {k_program_trial, attempt};
    orphan.token.erase(0, std::min(slash + 1, orphan.token.size()));
  }
  return fresh_->adopt(processes);
}

}  // namespace
}  // namespace steptune::live

namespace steptune {

std::unique_ptr<Runner> make_live_runner(const Clock& clock, std::unique_ptr<Runner> fresh) {
  return std::make_unique<live::LiveRunner>(clock, std::move(fresh));
}

}  // namespace steptune
