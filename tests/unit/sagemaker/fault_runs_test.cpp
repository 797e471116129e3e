// SPDX-License-Identifier: Apache-2.0
// Five hundred tunings on a simulated account, each with faults drawn from its seed: bursts of
// throttling, server errors, lost and truncated answers, expired credentials, no capacity, internal
// failures, reclaimed spot capacity, stolen pools, missing quotas, and killed tuners.
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/sanitized.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune::simulated {
namespace {

constexpr std::uint64_t k_runs_per_test = k_sanitized ? 20 : 100;
constexpr int k_attempts = 4;
constexpr double k_longest_study_s = 10.0 * 86'400.0;

class FaultRun {
 public:
  explicit FaultRun(std::uint64_t seed)
      : rng_(seed, "fault run"),
        connection_(
            clock_, [this](const Json& input) { return program_of(input); },
            account_options(seed)) {
    options_.settings.role_arn = "arn:aws:iam::123456789012:role/training";
    options_.settings.image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1";
    options_.settings.output_s3_uri = "s3://bucket/out";
    options_.settings.spot = rng_.uniform() < 0.2;
    options_.settings.checkpoint_s3_uri = options_.settings.spot ? "s3://bucket/checkpoints" : "";
    options_.settings.max_wait_s = 86'400.0;
    options_.prices.instances["ml.g5.xlarge"].usd_per_hour = 1.408;
    options_.prices.instances["ml.m5.xlarge"].usd_per_hour = 0.23;
    options_.parallel = 1 + static_cast<int>(rng_.below(3));
    options_.backlog = options_.parallel + static_cast<int>(rng_.below(4));
    options_.trials_per_job = rng_.uniform() < 0.5 ? 1 : 2 + static_cast<int>(rng_.below(4));
    options_.capacity_wait_s = 20.0;
    trials_ = 4 + static_cast<std::int64_t>(rng_.below(5));
    kills_ = rng_.uniform() < 0.5 ? static_cast<int>(rng_.below(3)) + 1 : 0;
    runner_ = connection_.make_runner(options_);
  }

  void run() {
    begin();
    for (std::int64_t number = 1; number <= trials_; ++number)
      waiting_[number] = 1;
    double next_kill_s = kills_ > 0 ? 600.0 * rng_.uniform() : k_longest_study_s;
    while (ended_.size() < static_cast<std::size_t>(trials_) &&
           clock_.now_s() < k_longest_study_s) {
      hand_over();
      if (testing::Test::HasFailure()) return;
      const auto events = runner_->wait(std::min(clock_.now_s() + 30.0, next_kill_s));
      ASSERT_TRUE(events) << events.error().text();
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
    const auto released = runner_->release(240.0);
    ASSERT_TRUE(released) << released.error().text();
    usd_ += total_usd(runner_->take_unused());
  }

  void check() {
    const AccountAudit audit = connection_.account().audit();
    double audited_usd = 0.0;
    for (const PoolAudit& pool : audit.pools) {
      EXPECT_NE(pool.status, "Available") << "pool of " << pool.job;
      audited_usd += pool.retained_s * price(pool.instance_type);
    }
    std::map<std::string, int>
        useful;  // jobs by trial and attempt that were not the service's fault
    for (const JobAudit& job : audit.jobs) {
      EXPECT_TRUE(job.status == "Completed" || job.status == "Failed" || job.status == "Stopped")
          << job.name << " is " << job.status;
      const bool excused = job.failure_reason.find("CapacityError") != std::string::npos ||
                           job.failure_reason.find("InternalServerError") != std::string::npos;
      const std::string attempt = job.name.substr(0, job.name.find("-r"));
      const std::string prefix = job.name.substr(0, job.name.rfind("-t"));
      for (const TrialKey key : job.trials_over) {
        const std::string name = fmt::format("{}-t{}-a{}", prefix, key.trial, key.attempt);
        EXPECT_EQ(++useful[name], 1) << name << " was paid twice";
      }
      if (!excused && !job.pack) {
        EXPECT_EQ(++useful[attempt], 1) << attempt << " was paid twice";
      }
      audited_usd += job.billed_s * price(job.instances.front().first);
    }
    for (const auto& [number, attempts] : attempts_) {
      int jobs = 0;
      for (const auto& [name, count] : useful)
        jobs += name.find(fmt::format("-t{}-a", number)) != std::string::npos ? count : 0;
      EXPECT_LE(jobs, 1) << "trial " << number << " was paid twice in " << attempts << " attempts";
    }
    const auto limits = account_request_rates();
    for (const auto& [operation, most] : audit.most_per_second) {
      const auto limit = limits.find(operation);
      if (limit == limits.end()) continue;
      EXPECT_LE(most, limit->second) << operation;
    }
    // A killed tuner's unreported costs are unknown to the next one.
    if (killed_ == 0) {
      EXPECT_NEAR(usd_, audited_usd, 0.002);
    } else {
      EXPECT_LE(usd_, audited_usd + 0.002);
    }
  }

 private:
  [[nodiscard]] double price(const std::string& type) const {
    return options_.prices.instances.at(type).usd_per_hour / 3600.0;
  }

  AccountOptions account_options(std::uint64_t seed) {
    AccountOptions account;
    account.seed = seed;
    account.stages.jitter = 0.3;
    account.logs.jitter_s = 10.0;
    account.training_quota = {{"*", 1 + static_cast<int>(rng_.below(4))}};
    account.warm_pool_quota = {{"*", static_cast<int>(rng_.below(4))}};
    const auto burst = [&](FaultKind kind, const char* operation, double chance) {
      if (rng_.uniform() >= chance) return;
      Fault fault{kind, operation};
      fault.nth = 1 + static_cast<int>(rng_.below(12));
      fault.times = 1 + static_cast<int>(rng_.below(6));
      account.faults.push_back(fault);
    };
    for (const char* operation : {"CreateTrainingJob", "DescribeTrainingJob", "ListTrainingJobs",
                                  "StopTrainingJob", "UpdateTrainingJob", "FilterLogEvents"}) {
      burst(FaultKind::throttle, operation, 0.3);
      burst(FaultKind::internal_error, operation, 0.2);
      burst(FaultKind::drop_response, operation, 0.3);
      burst(FaultKind::truncate, operation, 0.2);
      burst(FaultKind::no_connection, operation, 0.1);
      // If new credentials are refused as expired, too, the fault is not transient.
      burst(FaultKind::expired_credentials, operation, 0.1);
      if (!account.faults.empty() && account.faults.back().kind == FaultKind::expired_credentials) {
        account.faults.back().times = 1;
      }
    }
    const auto chance = [&](FaultKind kind, double probability) {
      Fault fault{kind};
      fault.after_s = 40.0 * rng_.uniform();
      fault.probability = probability;
      if (rng_.uniform() < 0.5) account.faults.push_back(fault);
    };
    chance(FaultKind::capacity, 0.15);
    chance(FaultKind::internal, 0.15);
    chance(FaultKind::spot_interruption, 0.3);
    chance(FaultKind::steal_pool, 0.3);
    return account;
  }

  /// Some trials end by themselves, some fail, and most continue until they are stopped.
  SimulatedProgram program_of(const Json& input) {
    const auto number = std::stol(input["HyperParameters"]["number"].get<std::string>());
    SimulatedProgram program;
    program.step_s = 1.0;
    if (number % 3 == 0) program.ends_after_s = 30.0;
    if (number % 5 == 0) {
      program.ends_after_s = 15.0;
      program.exit_code = 1;
      program.failure = "RuntimeError";
    }
    return program;
  }

  [[nodiscard]] TrialSpec trial(std::int64_t number, int attempt) const {
    TrialSpec spec;
    spec.key = {number, attempt};
    spec.study = "faults";
    spec.argv = {"train"};
    spec.configuration.set("number", number);
    spec.time_to_measure_s = 60.0;
    spec.resources.instance_type = number % 2 == 0 ? "ml.g5.xlarge" : "ml.m5.xlarge";
    return spec;
  }

  void begin() {
    const auto begun = runner_->begin_study("faults", "1");
    ASSERT_TRUE(begun) << begun.error().text();
  }

  void hand_over() {
    while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(runner_->backlog())) {
      const auto [number, attempt] = *waiting_.begin();
      const auto started = runner_->start(trial(number, attempt));
      ASSERT_TRUE(started) << started.error().text();
      waiting_.erase(waiting_.begin());
      running_[number] = attempt;
      attempts_[number] = attempt;
    }
  }

  void on_event(const TrialEvent& event) {
    if (const auto* report = std::get_if<TrialReported>(&event)) {
      if (report->report.step.value_or(0.0) > 20.0) runner_->stop(report->key);
    }
    const auto* end = std::get_if<TrialFinished>(&event);
    if (end == nullptr) return;
    usd_ += end->outcome.billed_usd.value_or(0.0);
    running_.erase(end->key.trial);
    if (end->outcome.kind == OutcomeKind::lost && end->key.attempt < k_attempts) {
      waiting_[end->key.trial] = end->key.attempt + 1;
      return;
    }
    EXPECT_TRUE(ended_.insert(end->key.trial).second)
        << "trial " << end->key.trial << " ended twice";
  }

  void restart() {
    runner_.reset();
    clock_.advance_to(clock_.now_s() + 5.0 + 300.0 * rng_.uniform());
    runner_ = connection_.make_runner(options_);
    begin();
    std::vector<Runner::Orphan> orphans;
    for (const auto& [number, attempt] : running_)
      orphans.push_back({trial(number, attempt), ""});
    auto adopted = runner_->adopt(orphans);
    // The service may be away for longer than requests are repeated.
    for (int i = 0; i < 3 && !adopted; ++i)
      adopted = runner_->adopt(orphans);
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
  SageMakerOptions options_;
  AccountConnection connection_;
  std::unique_ptr<SageMakerRunner> runner_;
  std::int64_t trials_ = 0;
  std::map<std::int64_t, int> waiting_;   // trial to attempt
  std::map<std::int64_t, int> running_;   // trial to attempt
  std::map<std::int64_t, int> attempts_;  // latest attempt that was started
  std::set<std::int64_t> ended_;
  double usd_ = 0.0;
  int kills_ = 0;
  int killed_ = 0;
};

class FaultRuns : public testing::TestWithParam<int> {};

TEST_P(FaultRuns, NoJobIsPaidTwiceForgottenOrKept) {
  for (std::uint64_t run = 0; run < k_runs_per_test; ++run) {
    const auto seed = static_cast<std::uint64_t>(GetParam()) * k_runs_per_test + run;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    FaultRun faults(seed);
    faults.run();
    if (!HasFailure()) faults.check();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Hundreds, FaultRuns, testing::Range(0, k_sanitized ? 1 : 5));

}  // namespace
}  // namespace steptune::simulated
