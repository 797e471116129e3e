// SPDX-License-Identifier: Apache-2.0
// A thousand tunings on a cluster under a virtual clock, each with faults drawn from its seed: lost
// answers, a controller that is away or forgets, preemption with and without a grace time, failing
// nodes, time limits, suspension, requeued jobs, stolen allocations, long queues, slow starts,
// limits on jobs, and killed tuners.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/outcome_text.hpp"
#include "tests/support/sanitized.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/job_names.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"
#include "trial_runner/slurm/virtual_cluster.hpp"

namespace steptune::slurm {
namespace {

constexpr std::uint64_t k_runs_per_test = 50;
constexpr int k_tests = k_sanitized ? 4 : 20;
constexpr int k_attempts = 12;
constexpr double k_longest_study_s = 10.0 * 86'400.0;
constexpr double k_price = 3.6;  ///< USD per node and hour: 0.001 per second

class SlurmFaultRun {
 public:
  explicit SlurmFaultRun(std::uint64_t seed) : rng_(seed, "fault run"), cluster_(clock_) {
    options_.parallel = 1 + static_cast<int>(rng_.below(3));
    options_.usd_per_node_hour = NodePrices(k_price);
    options_.default_time_s = 1500.0 + 3000.0 * rng_.uniform();
    trials_ = 4 + static_cast<std::int64_t>(rng_.below(6));
    kills_ = rng_.uniform() < 0.4 ? 1 + static_cast<int>(rng_.below(3)) : 0;
    most_jobs_ = rng_.uniform() < 0.2 ? 1 + static_cast<int>(rng_.below(2)) : 1000;
    set_misfortunes();
    make_runner();
  }

  void run() {
    for (std::int64_t number = 1; number <= trials_; ++number)
      waiting_[number] = 1;
    double next_kill_s = kills_ > 0 ? 600.0 * rng_.uniform() : k_longest_study_s;
    while (ended_.size() < static_cast<std::size_t>(trials_) &&
           clock_.now_s() < k_longest_study_s) {
      hand_over();
      if (testing::Test::HasFailure()) return;
      const auto events = runner_->wait(std::min(clock_.now_s() + 30.0, next_kill_s));
      if (!events) {
        // An outage of a quarter of an hour ends the tuner; its user runs the study again.
        ASSERT_TRUE(events.error().kind == ErrorKind::unavailable && silence_is_possible())
            << events.error().text();
        ++killed_;
        restart();
        continue;
      }
      for (const TrialEvent& event : *events)
        on_event(event);
      if (clock_.now_s() >= next_kill_s && kills_ > 0) {
        --kills_;
        ++killed_;
        next_kill_s = kills_ > 0 ? clock_.now_s() + 900.0 * rng_.uniform() : k_longest_study_s;
        restart();
      }
    }
    ASSERT_EQ(ended_.size(), static_cast<std::size_t>(trials_)) << "a trial was forgotten";
    const auto released = runner_->release(3600.0);
    ASSERT_TRUE(released) << released.error().text();
    usd_ += total_usd(runner_->take_unused());
  }

  void check() {
    EXPECT_EQ(cluster_.live_jobs(), 0) << "an allocation is left";
    std::set<TrialKey> run;
    for (const std::string& name : cluster_.programs_started()) {
      for (std::int64_t trial = 1; trial <= trials_; ++trial) {
        for (int attempt = 1; attempt <= k_attempts; ++attempt) {
          if (!launch_of(name, {trial, attempt})) continue;
          EXPECT_TRUE(run.insert({trial, attempt}).second) << name << " was run twice";
        }
      }
    }
    SCOPED_TRACE(jobs_text());
    const double audited_usd = cluster_.use().held_node_s * k_price / 3600.0;
    // The runner notices an end from outside when it next reads the queue, so not during an outage.
    double unseen_node_s = 5.0;
    for (const VirtualJob& job : cluster_.jobs())
      unseen_node_s +=
          job.nodes * (job.state == "CANCELLED" ? unseen_s_ : 4.0 * options_.poll_s + unseen_s_);
    for (const auto& [from_s, to_s] : cluster_.outages)
      unseen_node_s += 3.0 * options_.parallel * (to_s - from_s + 130.0);
    EXPECT_LE(usd_, audited_usd + unseen_node_s * k_price / 3600.0);
    // A killed tuner's unreported costs are unknown to the next one.
    if (killed_ == 0) {
      EXPECT_GE(usd_, audited_usd - strays_usd() - 0.005);
    }
  }

 private:
  [[nodiscard]] bool silence_is_possible() const {
    return !cluster_.outages.empty() && answers_are_lost_;
  }
  [[nodiscard]] std::string jobs_text() const {
    std::string text = fmt::format("poll {} parallel {}", options_.poll_s, options_.parallel);
    for (const VirtualJob& job : cluster_.jobs()) {
      text += fmt::format("\n{} {} nodes {} from {:.1f} to {:.1f}, submitted {:.1f}{}", job.name,
                          job.state, job.nodes, job.starts_s, job.ended_s, job.submitted_s,
                          lost_answers_.contains(job.name) ? ", answer lost" : "");
    }
    for (const auto& [from_s, to_s] : cluster_.outages)
      text += fmt::format("\naway from {:.1f} to {:.1f}", from_s, to_s);
    return text;
  }
  /// Returns the cost of jobs whose submission got no answer. The runner may have given them up
  /// before it saw them in the queue.
  [[nodiscard]] double strays_usd() const {
    double node_s = 0.0;
    for (const VirtualJob& job : cluster_.jobs()) {
      const double held_s = std::max(0.0, job.ended_s - job.starts_s);
      node_s += job.nodes * std::min(held_s, lost_answers_.contains(job.name) ? 1e9 : 0.0);
    }
    return node_s * k_price / 3600.0;
  }

  void set_misfortunes() {
    const double lost_share = rng_.uniform() < 0.4 ? 0.3 : 0.0;
    answers_are_lost_ = lost_share > 0.0;
    // Each lost answer of the queue delays the notice of an end.
    unseen_s_ = lost_share > 0.0 ? 160.0 : 40.0;
    const double fate_share = 0.5 * rng_.uniform();
    const double refused_share = rng_.uniform() < 0.2 ? 0.3 : 0.0;
    cluster_.program = [this](const StepRequest& request) { return program_of(request); };
    cluster_.fate = [this, fate_share](const VirtualJob&) { return fate_of(fate_share); };
    cluster_.lose_answer =
        [this, lost_share](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
      if (rng_.uniform() >= lost_share) return std::nullopt;
      if (argv.front() == "sbatch") lost_answers_.insert(argv[3].substr(argv[3].find('=') + 1));
      if (rng_.uniform() < 0.3) return CommandResult{137, false, {}, {}};
      if (rng_.uniform() < 0.3) return CommandResult{0, true, {}, {}};
      return CommandResult{1, false, {}, "slurm: error: Socket timed out on send/recv operation\n"};
    };
    cluster_.refuse = [this, refused_share](
                          const std::vector<std::string>& argv) -> std::optional<CommandResult> {
      if (argv.front() != "sbatch") return std::nullopt;
      if (cluster_.live_jobs() >= most_jobs_) {
        return CommandResult{1,
                             false,
                             {},
                             "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job "
                             "submission failed: Job violates accounting/QOS policy\n"};
      }
      if (rng_.uniform() >= refused_share) return std::nullopt;
      return CommandResult{1, false, {}, "sbatch: error: Unable to contact slurm controller\n"};
    };
    for (double at_s = 0.0; rng_.uniform() < 0.3;) {
      at_s += 900.0 * rng_.uniform();
      cluster_.outages.emplace_back(at_s, at_s + 400.0 * rng_.uniform());
      at_s = cluster_.outages.back().second;
    }
  }

  JobFate fate_of(double share) {
    JobFate fate;
    fate.queue_s = rng_.uniform() < 0.3 ? 600.0 * rng_.uniform() : 3.0 * rng_.uniform();
    if (rng_.uniform() < 0.05 * share) fate.is_forgotten = true;
    if (rng_.uniform() >= share) return fate;
    fate.ends_after_s = 120.0 + 600.0 * rng_.uniform();
    fate.ends_as = k_job_ends.at(rng_.below(k_job_ends.size()));
    if (fate.ends_as == "PREEMPTED" && rng_.uniform() < 0.6) fate.grace_s = 60.0;
    return fate;
  }

  /// Some trials end by themselves, some fail, and most continue until they are stopped.
  VirtualProgram program_of(const StepRequest& request) {
    std::int64_t number = 0;
    for (std::int64_t trial = 1; trial <= trials_; ++trial) {
      if (request.name.starts_with(fmt::format("t{}-", trial))) number = trial;
    }
    VirtualProgram program;
    program.starts_after_s = rng_.uniform() < 0.1 ? 100.0 * rng_.uniform() : 0.2;
    program.status_after_sigterm = static_cast<int>(rng_.below(3)) == 0 ? 0 : 1;
    if (number % 3 == 0) program.ends_after_s = 30.0;
    if (number % 5 == 0) {
      program.ends_after_s = 15.0;
      program.exit_status = 3;
    }
    return program;
  }

  [[nodiscard]] static TrialSpec trial(std::int64_t number, int attempt) {
    TrialSpec spec;
    spec.key = {number, attempt};
    spec.argv = {"train"};
    spec.resources = to_resources({1 + static_cast<int>(number % 2), {}});
    spec.limits.wall_s = 300.0;
    return spec;
  }

  void make_runner() {
    runner_ = std::make_unique<SlurmRunner>(clock_, cluster_.make_host(), options_);
    Result<void> begun;
    // After an error, the call may be repeated.
    for (int tries = 0; tries < 100; ++tries) {
      begun = runner_->begin_study("faults", "1");
      if (begun) return;
      cluster_.pass_to(clock_.now_s() + 20.0);
    }
    ADD_FAILURE() << begun.error().text();
  }

  void hand_over() {
    while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(runner_->backlog())) {
      const auto [number, attempt] = *waiting_.begin();
      const auto started = runner_->start(trial(number, attempt));
      ASSERT_TRUE(started) << started.error().text();
      waiting_.erase(waiting_.begin());
      running_[number] = attempt;
    }
  }

  void on_event(const TrialEvent& event) {
    if (const auto* report = std::get_if<TrialReported>(&event)) {
      if (report->report.step.value_or(0.0) > 60.0) runner_->stop(report->key);
    }
    const auto* end = std::get_if<TrialFinished>(&event);
    if (end == nullptr) return;
    usd_ += end->outcome.billed_usd.value_or(0.0);
    const std::int64_t number = end->key.trial;
    running_.erase(number);
    const OutcomeKind kind = end->outcome.kind;
    // A trial must not be judged by faults of its allocation.
    const bool again = kind == OutcomeKind::lost || kind == OutcomeKind::not_started;
    if (again && end->key.attempt < k_attempts) {
      waiting_[number] = end->key.attempt + 1;
      return;
    }
    EXPECT_FALSE(again) << end->outcome.detail;
    // No tuner was running to stop it in time.
    const bool overran = killed_ > 0 && kind == OutcomeKind::timed_out;
    const OutcomeKind expected = overran           ? kind
                                 : number % 5 == 0 ? OutcomeKind::failed
                                 : number % 3 == 0 ? OutcomeKind::completed
                                                   : OutcomeKind::stopped;
    EXPECT_EQ(to_text(kind), to_text(expected))
        << "trial " << number << ": " << end->outcome.detail;
    EXPECT_TRUE(ended_.insert(number).second) << "trial " << number << " ended twice";
  }

  void restart() {
    runner_.reset();
    cluster_.pass_to(clock_.now_s() + 5.0 + 300.0 * rng_.uniform());
    make_runner();
    std::vector<Runner::Orphan> orphans;
    for (const auto& [number, attempt] : running_)
      orphans.push_back({trial(number, attempt), ""});
    const auto adopted = runner_->adopt(orphans);
    ASSERT_TRUE(adopted) << adopted.error().text();
    for (const Runner::Orphan& orphan : orphans) {
      const TrialKey key = orphan.spec.key;
      if (std::ranges::find(*adopted, key) != adopted->end()) continue;
      running_.erase(key.trial);
      waiting_[key.trial] = key.attempt + 1;
    }
  }

  VirtualClock clock_{1'795'000'000.0};
  Rng rng_;
  SlurmOptions options_;
  VirtualCluster cluster_;
  std::unique_ptr<SlurmRunner> runner_;
  std::int64_t trials_ = 0;
  int most_jobs_ = 1000;
  std::map<std::int64_t, int> waiting_;  // trial to attempt
  std::map<std::int64_t, int> running_;  // trial to attempt
  std::set<std::int64_t> ended_;
  std::set<std::string> lost_answers_;  // names of jobs
  bool answers_are_lost_ = false;
  double usd_ = 0.0;
  double unseen_s_ = 0.0;
  int kills_ = 0;
  int killed_ = 0;
};

class SlurmFaultRuns : public testing::TestWithParam<int> {};

TEST_P(SlurmFaultRuns, NoTrialIsLostRunTwiceOrKept) {
  for (std::uint64_t run = 0; run < k_runs_per_test; ++run) {
    const auto seed = static_cast<std::uint64_t>(GetParam()) * k_runs_per_test + run;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SlurmFaultRun faults(seed);
    faults.run();
    if (!HasFailure()) faults.check();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(AThousand, SlurmFaultRuns, testing::Range(0, k_tests));

}  // namespace
}  // namespace steptune::slurm
