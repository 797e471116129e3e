// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/slurm_runner.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/slurm/job_names.hpp"
#include "trial_runner/slurm/step_words.hpp"

namespace steptune {

using slurm::Allocation;
using slurm::StepTrial;

namespace {

/// Shortest wait, in seconds, so that a virtual clock advances.
constexpr double k_least_wait_s = 0.005;

std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// Returns a port from 20000 to 29999, which is below the ephemeral range. The port depends on
/// `word`, so two launches rarely get the same port.
int port_of(const std::string& word) {
  int sum = 0;
  for (const char c : sha256_hex(word).substr(0, 7))
    sum = (sum * 16 + (c <= '9' ? c - '0' : c - 'a' + 10)) % 10'000;
  return 20'000 + sum;
}

}  // namespace

SlurmRunner::SlurmRunner(const Clock& clock, std::unique_ptr<slurm::SubmitHost> host,
                         slurm::SlurmOptions options)
    : clock_(clock),
      options_(std::move(options)),
      host_(std::move(host)),
      allocations_(clock_, *host_, notices_, options_),
      backoff_(options_) {}

int SlurmRunner::backlog() const {
  return 2 * options_.parallel + trials_in_queue();
}

int SlurmRunner::open_places() const {
  const int handed_over = static_cast<int>(trials_.size());
  return std::max(0, options_.parallel + trials_in_queue() - handed_over);
}

std::string SlurmRunner::kind_of(const StepTrial& trial) const {
  return slurm::allocation_kind(trial.allocation_spec(), options_);
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
  if (auto admitted = admission_.check_start(spec.key, keys_of(trials_), backlog()); !admitted) {
    return admitted;
  }
  auto requested = slurm::allocation_spec_of(spec.resources);
  if (!requested) {
    return fail(ErrorKind::usage,
                fmt::format("{} does not describe nodes of a cluster", to_text(spec.resources)));
  }
  auto trial = StepTrial::create(spec, *std::move(requested));
  if (!trial) return tl::unexpected(trial.error());
  trial->set_waits_since(clock_.now_s());
  allocations_.know(trial->allocation_spec());
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
    auto requested = slurm::allocation_spec_of(orphan.spec.resources);
    if (latest == nullptr || !requested) continue;
    auto trial = StepTrial::create(orphan.spec, *std::move(requested));
    if (!trial) return tl::unexpected(trial.error());
    allocations_.know(trial->allocation_spec());
    trial->set_launches(launches - 1);
    slurm::StepLaunch launch{latest->request, trial->allocation_spec().nodes, clock_.now_s()};
    if (Allocation* allocation = allocations_.find(latest->request.allocation)) {
      launch.held_nodes = std::max(allocation->nodes, launch.held_nodes);
      launch.allocation_start_wall_s = allocation->start_wall_s;
      allocations_.set_user(*allocation, orphan.spec.key, longest_s(orphan.spec));
    }
    trial->launch(std::move(launch), std::move(latest->step));
    found.push_back(*std::move(trial));
  }
  for (slurm::EarlierStep& left : steps) {
    if (std::ranges::any_of(found, [&](const StepTrial& trial) {
          return trial.step_launch().request.name == left.request.name;
        })) {
      continue;
    }
    // This machine cannot end a step that was started from another machine, so give back its
    // allocation.
    Allocation* allocation = allocations_.find(left.request.allocation);
    if (!left.step && allocation != nullptr) allocations_.give_back(*allocation);
    if (!left.step) continue;
    left.step->kill();
    left.step->forget();
  }
  std::vector<TrialKey> adopted = keys_of(found);
  trials_.splice(trials_.end(), found);
  return adopted;
}

int SlurmRunner::running_trials() const {
  return static_cast<int>(
      std::ranges::count_if(trials_, [](const StepTrial& trial) { return !trial.waits(); }));
}

void SlurmRunner::stop(TrialKey key) {
  const auto trial = std::ranges::find(trials_, key, &StepTrial::key);
  if (trial == trials_.end()) return;
  ask_to_end(*trial, StopCause::caller, false);
}

void SlurmRunner::kill_all() {
  for (StepTrial& trial : trials_)
    ask_to_end(trial, StopCause::caller, true);
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
  request.tasks = trial.allocation_spec().nodes * slurm::tasks_per_node(spec, options_);
  request.keep_s = options_.lease_s();
  for (const auto& [name, value] : spec.configuration.values())
    request.values.emplace(name, to_text(value));
  slurm::StepScript script{word,          trial.allocation_spec().nodes,
                           request.tasks, slurm::first_host(allocation.node_list),
                           port_of(word), options_.setup};
  const auto hook = shared_hook(spec);
  if (hook) script.python_path = hook->string();
  const auto text = hook ? slurm::step_script(spec, script) : tl::unexpected(hook.error());
  Result<std::unique_ptr<slurm::Step>> step = tl::unexpected(Error{});
  if (text) {
    request.argv = slurm::step_words(spec, trial.allocation_spec(), options_, allocation,
                                     host_->node_cpus(allocation.name).value_or(""), request.name);
    request.argv.insert(request.argv.end(), {"/bin/sh", "-c", *text});
    // Write the lease before the step starts, so that the trial survives if the tuner dies now.
    allocations_.set_user(allocation, spec.key, longest_s(spec));
    step = host_->start_step(request);
  }
  if (!step) {
    if (text) allocations_.set_free(allocation);
    finish(trial, {.kind = OutcomeKind::not_started,
                   .detail = text ? step.error().text() : text.error().text()});
    return false;
  }
  trial.launch({std::move(request), std::max(allocation.nodes, trial.allocation_spec().nodes),
                clock_.now_s(), allocation.start_wall_s},
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
  trials_.remove_if([this](StepTrial& trial) { return watch(trial); });
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
    // Check the trials' limits as often as a limit may lead to a request. `wait_until` returns
    // earlier if an event may have occurred.
    if (!trials_.empty() || host_->busy()) {
      due_s = std::min(due_s, now_s + slurm::k_least_request_gap_s);
    }
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
    text += fmt::format("trial {} continues in job {}: {}, for at most {}\n", trial.key().trial,
                        trial.step_launch().request.job_id,
                        price_text(trial.step_launch().held_nodes,
                                   options_.usd_per_node_hour.of(trial.allocation_spec())),
                        format_duration(trial.spec().limits.wall_s));
    kept.insert(trial.step_launch().request.allocation);
  }
  if (!text.empty()) {
    text += fmt::format("each job ends {} after its trial unless the study is run again\n",
                        format_duration(options_.lease_s()));
  }
  trials_.clear();
  events_.clear();
  for (Allocation& allocation : allocations_.all()) {
    if (!kept.contains(allocation.name)) allocations_.give_back(allocation);
  }
  // If sbatch still runs, wait for its answer, because only then can its allocation be given back.
  // The host kills commands that do not answer, so this wait ends.
  while (host_->busy())
    host_->wait_until(clock_.now_s() + slurm::k_least_request_gap_s);
  return text;
}

Result<void> SlurmRunner::release(double longest_s) {
  further_trials_ = 0;
  const double until_s = clock_.now_s() + longest_s;
  while (!trials_.empty() || !allocations_.empty()) {
    if (auto advanced = advance(); !advanced) {
      add_leftover_notices();
      return advanced;
    }
    const double now_s = clock_.now_s();
    if (trials_.empty() && allocations_.empty()) break;
    if (now_s >= until_s) {
      add_leftover_notices();
      break;
    }
    host_->wait_until(std::min(until_s, now_s + slurm::k_least_request_gap_s));
  }
  if (trials_.empty()) host_->remove_shared_files();
  shared_hook_.clear();
  events_.clear();
  return {};
}

void SlurmRunner::add_leftover_notices() {
  for (const Allocation& allocation : allocations_.all()) {
    notices_.add(
        fmt::format("job {} {}: {}; {}", allocation.id.empty() ? allocation.name : allocation.id,
                    allocation.user ? "still runs a trial" : "is still being given back",
                    price_text(allocation.nodes, allocations_.usd_per_node_hour(allocation)),
                    allocation.user ? "the next run of the study adopts it"
                                    : "`steptune pools --runner slurm` shows if it is gone"));
  }
}

}  // namespace steptune
