// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/slurm_runner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/slurm/job_names.hpp"

namespace steptune {

using slurm::Allocation;
using slurm::AllocationState;
using slurm::EndCause;
using slurm::Need;
using slurm::StepTrial;

namespace {

constexpr double k_least_wait_s = 0.005;
/// Limits of trials are looked at so often.
constexpr double k_timers_look_s = 1.0;
/// An end is judged by the marks alone if the controller has not answered by then.
constexpr double k_longest_judging_s = 30.0;
/// For the controller to make up its mind about a job that is ending.
constexpr double k_settling_s = 10.0;
/// After force: until the allocation is given up, and until the trial is.
constexpr double k_allocation_given_up_s = 20.0;
constexpr double k_trial_given_up_s = 60.0;
constexpr const char* k_restarted = "REQUEUED";
constexpr int k_most_launches = 3;
/// For the first sign of a launch, before the list of steps is asked; twice as long each time.
constexpr double k_least_patience_s = 5.0;
constexpr double k_longest_patience_s = 120.0;
/// Launches of a trial that are given up because Slurm has not made a step of them.
constexpr int k_most_blocked = 4;
constexpr double k_commands_end_s = 30.0;

std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// Below the ephemeral ports, and another for each launch.
int port_of(const std::string& word) {
  constexpr int k_first = 20'000;
  constexpr int k_ports = 10'000;
  int sum = 0;
  for (const char c : sha256_hex(word).substr(0, 7))
    sum = (sum * 16 + (c <= '9' ? c - '0' : c - 'a' + 10)) % k_ports;
  return k_first + sum;
}

/// torchrun starts a node's processes itself.
int tasks_per_node(const TrialSpec& spec, const slurm::SlurmOptions& options) {
  if (!spec.launch) {
    const double tasks = options.tasks_per_node.evaluate(spec.configuration);
    return tasks >= 1.0 && tasks <= slurm::k_most_tasks_per_node ? static_cast<int>(tasks) : 1;
  }
  return spec.launch->with == Launcher::srun ? spec.launch->processes_per_node : 1;
}

std::vector<std::string> srun_command(const TrialSpec& spec, const Need& need,
                                      const slurm::SlurmOptions& options,
                                      const Allocation& allocation, const std::string& name) {
  const int tasks = tasks_per_node(spec, options);
  std::vector<std::string> words{"srun",
                                 "--jobid=" + allocation.id,
                                 "--job-name=" + name,
                                 fmt::format("--nodes={}", need.nodes),
                                 fmt::format("--ntasks={}", need.nodes * tasks),
                                 fmt::format("--ntasks-per-node={}", tasks),
                                 "--kill-on-bad-exit=1",
                                 "--unbuffered",
                                 "--input=none",
                                 "--export=ALL",
                                 "--chdir=/"};
  const double asked =
      options.cpus_per_task ? options.cpus_per_task->evaluate(spec.configuration) : 0.0;
  constexpr double k_most_cpus = 1e6;
  int cpus = asked >= 1.0 && asked <= k_most_cpus ? static_cast<int>(asked) : 0;
  if (cpus == 0 && options.exclusive && allocation.nodes > 0) {
    cpus = std::max(1, allocation.cpus / allocation.nodes / tasks);
  }
  // srun itself would give each task one, and loaders would starve.
  if (cpus > 0) words.push_back(fmt::format("--cpus-per-task={}", cpus));
  if (!need.value_of("mem")) words.emplace_back("--mem=0");
  // What is held is not seen by a step that does not ask for it.
  for (const char* option : {"gpus", "gpus-per-node", "gpus-per-task", "gres"}) {
    if (const auto value = need.value_of(option))
      words.push_back(fmt::format("--{}={}", option, *value));
  }
  for (const document::StringTemplate& option : options.step_options) {
    const std::string word = option.render(spec.configuration).value_or("");
    if (!word.empty() && !word.ends_with('=')) words.push_back(word);
  }
  if (spec.launch && spec.launch->with == Launcher::srun) {
    words.insert(words.end(), spec.launch->options.begin(), spec.launch->options.end());
  }
  return words;
}

}  // namespace

SlurmRunner::SlurmRunner(const Clock& clock, std::unique_ptr<slurm::SubmitHost> host,
                         slurm::SlurmOptions options)
    : clock_(clock),
      options_(std::move(options)),
      host_(std::move(host)),
      allocations_(clock_, *host_, notices_, options_),
      grants_({options_.queue_wait_s, options_.longest_outage_s}) {}

int SlurmRunner::backlog() const {
  return 2 * options_.parallel + trials_in_queue();
}

int SlurmRunner::open_places() const {
  const int handed_over = static_cast<int>(trials_.size());
  return std::max(0, options_.parallel + trials_in_queue() - handed_over);
}

std::string SlurmRunner::kind_of(const StepTrial& trial) const {
  return slurm::allocation_kind(trial.need(), options_);
}

Result<void> SlurmRunner::begin_study(const std::string& name, const std::string& identity) {
  if (auto first = admission_.check_no_study(); !first) return first;
  prefix_ = slurm::study_prefix(name, identity);
  if (auto opened = host_->open_folder(prefix_.substr(0, prefix_.size() - 1)); !opened)
    return opened;
  if (auto begun = allocations_.begin(prefix_); !begun) return begun;
  admission_.begin_study(name);
  return {};
}

Result<void> SlurmRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> under_way;
  for (const StepTrial& trial : trials_)
    under_way.push_back(trial.key());
  if (auto admitted = admission_.check_start(spec.key, under_way, backlog()); !admitted) {
    return admitted;
  }
  auto need = slurm::need_of(spec.resources);
  if (!need) {
    return fail(ErrorKind::usage,
                fmt::format("{} does not describe nodes of a cluster", to_text(spec.resources)));
  }
  auto trial = StepTrial::create(spec, *std::move(need));
  if (!trial) return tl::unexpected(trial.error());
  trial->set_waits_since(clock_.now_s());
  allocations_.know(trial->need());
  trials_.push_back(*std::move(trial));
  return {};
}

Result<std::vector<TrialKey>> SlurmRunner::adopt(std::span<const Orphan> orphans) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  std::vector<slurm::EarlierStep> steps = host_->find_steps();
  Trials found;
  for (const Orphan& orphan : orphans) {
    slurm::EarlierStep* latest = nullptr;
    int launches = 0;
    for (slurm::EarlierStep& step : steps) {
      const auto launch = slurm::launch_of(step.request.name, orphan.spec.key);
      if (!step.step || !launch || *launch < launches) continue;
      launches = *launch;
      latest = &step;
    }
    auto need = slurm::need_of(orphan.spec.resources);
    if (latest == nullptr || !need) continue;
    auto trial = StepTrial::create(orphan.spec, *std::move(need));
    if (!trial) return tl::unexpected(trial.error());
    allocations_.know(trial->need());
    const slurm::StepRequest& request = latest->request;
    trial->set_launches(launches - 1);
    slurm::StepLaunch launch{request.name,  request.allocation,  request.job_id, request.mark_word,
                             request.tasks, trial->need().nodes, clock_.now_s()};
    if (Allocation* allocation = allocations_.find(request.allocation)) {
      launch.held_nodes = std::max(allocation->nodes, launch.held_nodes);
      launch.allocation_start_wall_s = allocation->start_wall_s;
      allocations_.set_user(*allocation, orphan.spec.key, longest_s(orphan.spec));
    }
    trial->launch(std::move(launch), std::move(latest->step));
    found.push_back(*std::move(trial));
  }
  for (slurm::EarlierStep& left : steps) {
    if (std::ranges::any_of(found, [&](const StepTrial& trial) {
          return trial.step_launch().name == left.request.name;
        })) {
      continue;
    }
    // On another machine its supervisor cannot be asked: the allocation goes, and all in it.
    Allocation* allocation = allocations_.find(left.request.allocation);
    if (!left.step && allocation != nullptr) allocations_.give_back(*allocation);
    if (!left.step) continue;
    left.step->kill();
    left.step->forget();
  }
  std::vector<TrialKey> adopted;
  for (const StepTrial& trial : found)
    adopted.push_back(trial.key());
  trials_.splice(trials_.end(), found);
  return adopted;
}

int SlurmRunner::running_trials() const {
  return static_cast<int>(
      std::ranges::count_if(trials_, [](const StepTrial& trial) { return !trial.waits(); }));
}

void SlurmRunner::finish(StepTrial& trial, Outcome outcome) {
  const bool launched = !trial.waits();
  const std::string held = launched ? trial.step_launch().allocation : "";
  events_.emplace_back(trial.finish(clock_.now_s(), std::move(outcome),
                                    options_.usd_per_node_hour.of(trial.need())));
  if (!launched) return;
  trial.forget_step();
  Allocation* allocation = allocations_.find(held);
  if (allocation != nullptr && allocation->user == trial.key()) {
    allocations_.set_free(*allocation);
    allocation->failed_launches = 0;
  }
}

void SlurmRunner::ask_to_end(StepTrial& trial, EndCause cause, bool by_force) {
  const double now_s = clock_.now_s();
  const bool first = trial.cause() == EndCause::none;
  trial.set_cause(cause, now_s);
  if (trial.waits() || trial.step_ended_s()) return;
  const std::string& step = trial.marks().step_id();
  if (by_force || !trial.has_started() || step.empty() || trial.spec().limits.grace_s <= 0.0) {
    if (!trial.was_killed()) trial.kill();
    if (by_force && !step.empty()) host_->run({"scancel", step}, {}, [](const auto&) {});
  } else if (first) {
    host_->run({"scancel", "--signal=TERM", step}, {}, [](const auto&) {});
  }
}

void SlurmRunner::stop(TrialKey key) {
  const auto trial = std::ranges::find(trials_, key, &StepTrial::key);
  if (trial == trials_.end()) return;
  ask_to_end(*trial, EndCause::caller, false);
}

void SlurmRunner::kill_all() {
  for (StepTrial& trial : trials_)
    ask_to_end(trial, EndCause::caller, true);
}

void SlurmRunner::push_towards_end(StepTrial& trial) {
  const double asked_for_s = clock_.now_s() - trial.asked_s();
  const double grace_s = trial.spec().limits.grace_s;
  if (asked_for_s < grace_s) return;
  if (!trial.was_killed()) ask_to_end(trial, trial.cause(), true);
  Allocation* allocation = allocations_.find(trial.step_launch().allocation);
  if (asked_for_s > grace_s + k_allocation_given_up_s && allocation != nullptr &&
      allocation->state == AllocationState::running) {
    notices_.add(fmt::format("the step of trial {} does not end: its allocation {} is given back",
                             trial.key().trial, allocation->id));
    allocations_.give_back(*allocation);
    trial.kill();
  }
}

void SlurmRunner::hold_to_limits(StepTrial& trial) {
  const double now_s = clock_.now_s();
  if (trial.cause() != EndCause::none) {
    push_towards_end(trial);
    return;
  }
  const auto [limit_s, cause] = trial.next_limit();
  if (now_s >= limit_s) {
    ask_to_end(trial, cause, false);
    return;
  }
  Allocation* allocation = allocations_.find(trial.step_launch().allocation);
  if (allocation != nullptr && !allocation->user_started && trial.has_started()) {
    allocations_.set_paid_by_trial(*allocation, true);
  }
  if (trial.was_killed()) return;
  // The step of an allocation that is gone, or back in the queue, ends by itself; srun may not have
  // noticed.
  const bool gone =
      allocation == nullptr || (allocation->state != AllocationState::running &&
                                (allocation->given_back || allocation->job_state != "COMPLETING"));
  const bool late =
      !trial.has_started() && now_s > trial.step_launch().at_s + options_.launch_limit_s;
  if (late) trial.set_late();
  if (gone || late) {
    trial.kill();
  } else if (trial.marks().started() == 0 && now_s >= trial.next_step_look_s()) {
    look_for_step(trial);
  }
}

void SlurmRunner::look_for_step(StepTrial& trial) {
  const slurm::StepLaunch& launch = trial.step_launch();
  const double waited_s = clock_.now_s() - launch.at_s;
  trial.set_next_step_look_s(clock_.now_s() +
                             std::clamp(waited_s, k_least_patience_s, k_longest_patience_s));
  host_->run({"squeue", "--noheader", "--steps", "--format=%i|%j", "--jobs=" + launch.job_id}, {},
             [this, own = launch.name](const slurm::CommandResult& listed) {
               if (listed.ok()) on_steps_listed(own, listed.out);
             });
}

void SlurmRunner::on_steps_listed(const std::string& own, const std::string& text) {
  const auto trial = std::ranges::find_if(trials_, [&own](const StepTrial& each) {
    return !each.waits() && each.step_launch().name == own;
  });
  if (trial == trials_.end() || trial->was_killed() || trial->step_ended_s()) return;
  std::vector<std::string> in_the_way;
  for (const auto& [id, name] : slurm::parse_steps(text)) {
    // It is under way: what is slow now is its start on the nodes.
    if (name == own) return;
    if (slurm::is_step_name(name)) in_the_way.push_back(id);
  }
  if (trial->blocked_launches() >= k_most_blocked) return;
  for (const std::string& id : in_the_way)
    host_->run({"scancel", id}, {}, [](const auto&) {});
  trial->give_up_launch();
  trial->kill();
}

void SlurmRunner::on_failed_launch(StepTrial& trial, const std::string& why, bool usable) {
  Allocation* allocation = allocations_.find(trial.step_launch().allocation);
  if (trial.launch_given_up() || !usable) {
    // Not the launch's fault. That allocations end so is counted with them.
    trial.wait_again(clock_.now_s(), false);
    if (allocation != nullptr) allocations_.set_free(*allocation);
    return;
  }
  if (trial.failed_launches() + 1 >= k_most_launches) {
    Outcome outcome;
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = fmt::format("{} launches failed: {}", k_most_launches, why);
    finish(trial, std::move(outcome));
    if (allocation != nullptr) allocations_.give_back(*allocation);
    return;
  }
  notices_.add(fmt::format("trial {}: {}; it is launched again", trial.key().trial, why));
  trial.wait_again(clock_.now_s(), true);
  if (allocation == nullptr) return;
  allocations_.set_free(*allocation);
  // Once may be chance: a node's daemon was being restarted.
  if (++allocation->failed_launches > 1) allocations_.give_back(*allocation);
}

bool SlurmRunner::decide_outcome(StepTrial& trial) {
  const double ended_s = *trial.step_ended_s();
  Allocation* allocation = allocations_.find(trial.step_launch().allocation);
  if (trial.has_started()) grants_.on_used(kind_of(trial));
  if (allocation != nullptr) {
    allocation->used = allocation->used || trial.has_started();
    allocations_.set_paid_by_trial(*allocation, false);
  }
  if (slurm::is_proven_success(trial.marks(), trial.cause())) {
    finish(trial, {});
    return true;
  }
  slurm::StepEvidence evidence = trial.evidence();
  const double judging_s = clock_.now_s() - ended_s;
  if (evidence.cause == EndCause::none) {
    const std::string& held = trial.step_launch().allocation;
    evidence.allocation_state = allocations_.state_after(held, ended_s);
    if (evidence.allocation_state && allocation != nullptr &&
        allocation->state == AllocationState::running &&
        trial.step_launch().allocation_start_wall_s > 0.0 &&
        allocation->start_wall_s > trial.step_launch().allocation_start_wall_s + 1.0) {
      // Its job runs, but was begun anew (the controller had forgotten its start): no step of the
      // former run is left.
      evidence.allocation_state = k_restarted;
    }
    if (!evidence.allocation_state && judging_s < k_longest_judging_s) return false;
    if (evidence.allocation_state == "COMPLETING" && judging_s < k_settling_s) return false;
  }
  for (const std::string& node : trial.lost_nodes())
    lost_nodes_.add(node, clock_.now_s());
  std::string why;
  auto outcome = slurm::step_outcome(trial.marks(), evidence, trial.spec().limits,
                                     trial.step_launch().tasks, why);
  const bool usable = !evidence.allocation_state ||
                      slurm::phase_of(*evidence.allocation_state) == slurm::JobPhase::usable;
  if (!outcome) {
    if (trial.is_late()) {
      why = fmt::format("not all tasks had started within {} (\"launch_limit\"): {}",
                        format_duration(options_.launch_limit_s), why);
    }
    if (trial.has_started()) {
      // Its start was told, for what it had printed: the next launch is another attempt's.
      Outcome lost;
      lost.kind = OutcomeKind::lost;
      lost.detail = why;
      finish(trial, std::move(lost));
      return true;
    }
    on_failed_launch(trial, why, usable);
    return trial.step_ended_s().has_value();
  }
  const bool ends_soon = evidence.cause == EndCause::none && trial.marks().told_to_end();
  finish(trial, *std::move(outcome));
  // Its programs were asked to end: so it goes before a preemption with a grace time.
  allocation = allocations_.find(trial.step_launch().allocation);
  if (ends_soon && allocation != nullptr) allocations_.give_back(*allocation);
  return true;
}

void SlurmRunner::watch_trials() {
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    bool over = false;
    if (trial->waits()) {
      over = trial->cause() != EndCause::none;
      Outcome outcome;
      outcome.kind = OutcomeKind::stopped;
      if (over) finish(*trial, std::move(outcome));
    } else {
      trial->read(clock_.now_s(), events_);
      if (!trial->step_ended_s()) hold_to_limits(*trial);
      const bool given_up =
          trial->cause() != EndCause::none &&
          clock_.now_s() - trial->asked_s() > trial->spec().limits.grace_s + k_trial_given_up_s;
      if (trial->step_ended_s()) {
        over = decide_outcome(*trial);
      } else if (given_up) {
        Outcome outcome;
        outcome.kind = OutcomeKind::stopped;
        outcome.detail = "its step does not end; its allocation was given back";
        finish(*trial, std::move(outcome));
        over = true;
      }
    }
    trial = over ? trials_.erase(trial) : std::next(trial);
  }
}

Result<std::filesystem::path> SlurmRunner::shared_hook(const TrialSpec& spec) {
  if (spec.python_path.empty() || !shared_hook_.empty()) return shared_hook_;
  const auto files = read_hook_files(spec.python_path);
  if (!files) return tl::unexpected(files.error());
  auto shared = host_->share_files(*files);
  if (shared) shared_hook_ = *shared;
  return shared;
}

bool SlurmRunner::launch(StepTrial& trial, Allocation& allocation) {
  const std::string word = random_word();
  const TrialSpec& spec = trial.spec();
  slurm::StepRequest request;
  request.name = slurm::step_name(spec.key, trial.next_launch(), word.substr(0, 8));
  request.allocation = allocation.name;
  request.job_id = allocation.id;
  request.mark_word = word;
  request.tasks = trial.need().nodes * tasks_per_node(spec, options_);
  request.keep_s = std::max(120.0, options_.keep_alive_s);
  for (const auto& [name, value] : spec.configuration.values())
    request.values.emplace(name, to_text(value));
  slurm::StepScript script{word,          trial.need().nodes,
                           request.tasks, slurm::first_host(allocation.node_list),
                           port_of(word), options_.setup};
  const auto hook = shared_hook(spec);
  if (hook) script.python_path = hook->string();
  const auto text = hook ? slurm::step_script(spec, script) : tl::unexpected(hook.error());
  Result<std::unique_ptr<slurm::Step>> step = tl::unexpected(Error{});
  if (text) {
    request.argv = srun_command(spec, trial.need(), options_, allocation, request.name);
    request.argv.insert(request.argv.end(), {"/bin/sh", "-c", *text});
    // Before the step is there: a tuner that dies now leaves a lease that lasts for it.
    allocations_.set_user(allocation, spec.key, longest_s(spec));
    step = host_->start_step(request);
  }
  if (!step) {
    Outcome outcome;
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = text ? step.error().text() : text.error().text();
    if (text) allocations_.set_free(allocation);
    finish(trial, std::move(outcome));
    return false;
  }
  trial.launch(
      {request.name, request.allocation, request.job_id, word, request.tasks,
       std::max(allocation.nodes, trial.need().nodes), clock_.now_s(), allocation.start_wall_s},
      *std::move(step));
  return true;
}

void SlurmRunner::start_waiting() {
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    if (running_trials() >= options_.parallel) return;
    Allocation* allocation =
        trial->waits() ? allocations_.free_for(kind_of(*trial), longest_s(trial->spec())) : nullptr;
    const bool over = allocation != nullptr && !launch(*trial, *allocation);
    trial = over ? trials_.erase(trial) : std::next(trial);
  }
}

Result<void> SlurmRunner::advance() {
  host_->poll();
  if (auto advanced = allocations_.advance(); !advanced) return advanced;
  watch_trials();
  heed_setbacks();
  start_waiting();
  ask_for_allocations();
  give_back_surplus();
  return {};
}

Result<std::vector<TrialEvent>> SlurmRunner::wait(double deadline_s) {
  while (true) {
    if (admission_.check_study()) {
      if (auto advanced = advance(); !advanced) return tl::unexpected(advanced.error());
    }
    const double now_s = clock_.now_s();
    if (!events_.empty() || now_s >= deadline_s) break;
    double due_s = std::min(deadline_s, allocations_.next_due_s());
    // The host returns sooner where something may have happened.
    if (!trials_.empty() || host_->busy()) due_s = std::min(due_s, now_s + k_timers_look_s);
    host_->wait_until(std::max(due_s, now_s + k_least_wait_s));
  }
  return std::exchange(events_, {});
}

std::string SlurmRunner::price_text(int nodes, std::optional<double> usd_per_node_hour) {
  std::string held = fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s");
  if (!usd_per_node_hour) return held;
  return fmt::format("{}, {} per hour", held, format_usd(*usd_per_node_hour * nodes));
}

Result<std::string> SlurmRunner::detach() {
  std::string text;
  std::set<std::string> kept;
  for (const StepTrial& trial : trials_) {
    if (trial.waits()) continue;
    text += fmt::format(
        "trial {} goes on in job {}: {}, for at most {}\n", trial.key().trial,
        trial.step_launch().job_id,
        price_text(trial.step_launch().held_nodes, options_.usd_per_node_hour.of(trial.need())),
        format_duration(trial.spec().limits.wall_s));
    kept.insert(trial.step_launch().allocation);
  }
  if (!text.empty()) {
    text += fmt::format("each job ends {} after its trial unless the study is run again\n",
                        format_duration(std::max(120.0, options_.keep_alive_s)));
  }
  trials_.clear();
  events_.clear();
  for (Allocation& allocation : allocations_.all()) {
    if (!kept.contains(allocation.name)) allocations_.give_back(allocation);
  }
  // What a sbatch that is under way has asked for is given back when its answer comes.
  const double until_s = clock_.now_s() + k_commands_end_s;
  while (host_->busy() && clock_.now_s() < until_s)
    host_->wait_until(clock_.now_s() + k_timers_look_s);
  return text;
}

Result<void> SlurmRunner::release(double longest_s) {
  further_trials_ = 0;
  const double until_s = clock_.now_s() + longest_s;
  while (!trials_.empty() || !allocations_.empty()) {
    if (auto advanced = advance(); !advanced) return advanced;
    const double now_s = clock_.now_s();
    if (trials_.empty() && allocations_.empty()) break;
    if (now_s >= until_s) {
      tell_what_is_left();
      break;
    }
    host_->wait_until(std::min(until_s, now_s + k_timers_look_s));
  }
  if (trials_.empty()) host_->remove_shared_files();
  shared_hook_.clear();
  events_.clear();
  return {};
}

void SlurmRunner::tell_what_is_left() {
  for (const Allocation& allocation : allocations_.all()) {
    notices_.add(
        fmt::format("job {} {}: {}; {}", allocation.id.empty() ? allocation.name : allocation.id,
                    allocation.user ? "still runs a trial" : "is still being given back",
                    price_text(allocation.nodes, allocations_.usd_per_node_hour(allocation)),
                    allocation.user ? "the next run of the study adopts it"
                                    : "`steptune pools --runner slurm` tells whether it is gone"));
  }
}

}  // namespace steptune
