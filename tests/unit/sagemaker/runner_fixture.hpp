// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/sagemaker/simulated_account/account_connection.hpp"

namespace steptune::simulated {

/// The runner on a simulated account. Tests change `account_options`, `options` and `program`
/// before the first call.
class RunnerOnAccountTest : public testing::Test {
 protected:
  RunnerOnAccountTest() {
    account_options.warm_pool_quota = {{"*", 8}};
    account_options.training_quota = {{"*", 8}};
    options.settings.role_arn = "arn:aws:iam::123456789012:role/training";
    options.settings.image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1";
    options.settings.output_s3_uri = "s3://bucket/out";
    options.prices.instances["ml.g5.xlarge"].usd_per_hour = 1.408;
    options.prices.instances["ml.m5.xlarge"].usd_per_hour = 0.23;
    options.prices.instances["ml.c5.xlarge"].usd_per_hour = 0.204;
    program.step_s = 1.0;
    program.ends_after_s = 60.0;
  }

  SimulatedAccount& account() { return connection().account(); }

  AccountConnection& connection() {
    if (!connection_) {
      connection_ = std::make_unique<AccountConnection>(
          clock, [this](const Json&) { return program; }, account_options);
    }
    return *connection_;
  }

  SageMakerRunner& runner() {
    if (!runner_) {
      runner_ = connection().make_runner(options);
      const auto begun = runner_->begin_study("study", "1");
      EXPECT_TRUE(begun) << begun.error().text();
    }
    return *runner_;
  }

  /// Destroys the tuner: its jobs continue, and its knowledge is lost.
  void kill_tuner() { runner_.reset(); }

  static TrialSpec trial(std::int64_t number, const std::string& type = "ml.g5.xlarge") {
    TrialSpec spec;
    spec.key = {number, 1};
    spec.study = "study";
    spec.argv = {"python3", "train.py"};
    spec.resources.instance_type = type;
    return spec;
  }

  void start(const TrialSpec& spec) {
    const auto started = runner().start(spec);
    ASSERT_TRUE(started) << started.error().text();
  }

  /// Advances the time and collects events.
  void run_for(double seconds) {
    const double until_s = clock.now_s() + seconds;
    while (clock.now_s() < until_s)
      collect(until_s);
  }

  /// Advances the time until this many trials have finished in all.
  void run_until_finished(std::size_t count) {
    const double limit_s = clock.now_s() + 86'400.0;
    while (outcomes.size() < count && clock.now_s() < limit_s && !HasFatalFailure())
      collect(limit_s);
    ASSERT_EQ(outcomes.size(), count);
  }

  void run_until_reported() {
    const double limit_s = clock.now_s() + 86'400.0;
    while (reports == 0 && clock.now_s() < limit_s && !HasFatalFailure())
      collect(limit_s);
    ASSERT_GT(reports, 0);
  }

  void collect(double deadline_s) {
    const auto events = runner().wait(deadline_s);
    ASSERT_TRUE(events) << events.error().text();
    for (const TrialEvent& event : *events) {
      if (const auto* start = std::get_if<TrialStarted>(&event)) starts.push_back(*start);
      if (std::holds_alternative<TrialReported>(event)) ++reports;
      if (const auto* end = std::get_if<TrialFinished>(&event)) outcomes.push_back(end->outcome);
    }
    for (Notice& notice : runner().take_notices())
      notices.push_back(std::move(notice.text));
  }

  void release() {
    const auto released = runner().release(240.0);
    ASSERT_TRUE(released) << released.error().text();
    for (Notice& notice : runner().take_notices())
      notices.push_back(std::move(notice.text));
  }

  /// Returns the billed US dollars according to the account itself.
  double audited_usd() {
    double usd = 0.0;
    const AccountAudit audit = account().audit();
    for (const JobAudit& job : audit.jobs) {
      for (const auto& [type, count] : job.instances)
        usd += job.billed_s * count * options.prices.instances.at(type).usd_per_hour / 3600.0;
    }
    for (const PoolAudit& pool : audit.pools) {
      usd += pool.retained_s * pool.instances *
             options.prices.instances.at(pool.instance_type).usd_per_hour / 3600.0;
    }
    return usd;
  }

  double reported_usd() {
    double usd = total_usd(runner().take_unused());
    for (const Outcome& outcome : outcomes)
      usd += outcome.billed_usd.value_or(0.0);
    return usd;
  }

  std::size_t jobs() { return account().audit().jobs.size(); }

  int available_pools() {
    const AccountAudit audit = account().audit();
    return static_cast<int>(std::ranges::count_if(
        audit.pools, [](const PoolAudit& pool) { return pool.status == "Available"; }));
  }

  VirtualClock clock{1'795'000'000.0};
  AccountOptions account_options;
  SageMakerOptions options;
  SimulatedProgram program;
  std::vector<TrialStarted> starts;
  std::vector<Outcome> outcomes;
  std::vector<std::string> notices;
  int reports = 0;

 private:
  std::unique_ptr<AccountConnection> connection_;
  std::unique_ptr<SageMakerRunner> runner_;
};

}  // namespace steptune::simulated
