// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/history/fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const MachineDescription& this_machine() {
  static const MachineDescription machine = {
      {"cpu", "Zen"}, {"cpus", "8"}, {"memory", "32 GiB"}, {"kernel", "6.1"}};
  return machine;
}

Json local_study() {
  return Json::parse(R"({
    "name": "s", "command": ["train", "{batch}"],
    "parameters": {"batch": {"type": "int", "low": 1, "high": 100}},
    "baseline": {"batch": 1},
    "objectives": ["time", "cost"],
    "runner": {"type": "local", "price_per_hour": 3.6}
  })");
}

class AuditTest : public HistoryFixture {
 protected:
  AuditTest() : history_(must(History::open_for_writing(path(), clock_))) { begin(local_study()); }

  void begin(const Json& document) {
    spec_ = must(study_from_json(document, "/studies/study.json",
                                 {{"cpus", 4}, {"gpus", 0}, {"memory_gb", 16}}));
    record_ = must(history_.create_or_continue_study(spec_.name, "f", spec_.document, 0));
  }
  /// Adds a trial that took `time_s`; its objectives are known within 1 %.
  TrialRecord add(std::int64_t number, double time_s, double cost_usd = 1.0) {
    TrialRecord trial;
    trial.number = number;
    trial.purpose = number == 1 ? TrialPurpose::baseline : TrialPurpose::search;
    trial.status = TrialStatus::completed;
    trial.origin = "sobol";
    trial.configuration.set("batch", number);
    trial.objectives = {time_s, cost_usd};
    trial.standard_errors = {0.01 * time_s, 0.01 * cost_usd};
    trial.started_wall_s = 100.0 * static_cast<double>(number);
    must(history_.record_ended(record_.id, trial));
    return trial;
  }
  [[nodiscard]] std::vector<AuditResult> audited(
      const TrialRecord& trial, const std::optional<Recommendation>& recommendation = {},
      const MachineDescription& here = this_machine()) const {
    auto record = must(history_.study(spec_.name));
    auto objectives = objective_views(record.document);
    const StoredStudy stored{must(History::open_for_reading(path())), std::move(record),
                             std::move(objectives)};
    return must(audit(stored, spec_, trial, recommendation, here));
  }
  [[nodiscard]] AuditResult check(const std::string& name, const TrialRecord& trial,
                                  const std::optional<Recommendation>& recommendation = {},
                                  const MachineDescription& here = this_machine()) const {
    for (const AuditResult& result : audited(trial, recommendation, here))
      if (result.check == name) return result;
    ADD_FAILURE() << "no check " << name;
    return {};
  }
  void begin_session(double wall_s, const MachineDescription& machine) {
    clock_.advance_to(wall_s);
    must(history_.record_session(record_.id, machine));
  }

  History history_;
  StudySpec spec_;
  StudyRecord record_;
};

Recommendation claimed(Claim claim, std::int64_t trial) {
  Recommendation recommendation;
  recommendation.incumbent_trial = trial;
  recommendation.claim = claim;
  return recommendation;
}

TEST_F(AuditTest, AlwaysMakesTheSameFiveChecksInOrder) {
  std::vector<std::string> checks;
  for (const AuditResult& result : audited(add(1, 200.0)))
    checks.push_back(result.check);
  EXPECT_THAT(checks,
              ElementsAre("complete", "feasible", "not_dominated", "above_noise", "measured_here"));
}

TEST_F(AuditTest, AConfigurationMustBeWholeAndInTheSpace) {
  TrialRecord trial = add(1, 200.0);
  EXPECT_EQ(check("complete", trial).holds, true);
  trial.configuration.set("batch", std::int64_t{101});
  EXPECT_EQ(check("complete", trial).holds, false);
  trial.configuration = {};
  EXPECT_EQ(check("complete", trial).holds, false);
  EXPECT_THAT(check("complete", trial).why, HasSubstr("batch"));
}

TEST_F(AuditTest, OnlyACompletedTrialIsFeasible) {
  TrialRecord trial = add(1, 200.0);
  EXPECT_EQ(check("feasible", trial).holds, true);
  for (const TrialStatus status : {TrialStatus::failed, TrialStatus::stopped_early,
                                   TrialStatus::infeasible, TrialStatus::out_of_memory}) {
    trial.status = status;
    EXPECT_EQ(check("feasible", trial).holds, false) << to_text(status);
  }
  trial.failure = "loss above 2";
  EXPECT_EQ(check("feasible", trial).why, "trial 1 is out_of_memory: loss above 2");
}

TEST_F(AuditTest, AnotherTrialDominatesOnlyBeyondBothIntervals) {
  add(1, 200.0);
  const TrialRecord trial = add(2, 100.0, 1.0);
  EXPECT_EQ(check("not_dominated", trial).holds, true);
  add(3, 99.0, 1.0);
  EXPECT_EQ(check("not_dominated", trial).holds, true) << "by less than its noise";
  add(4, 50.0, 1.5);
  EXPECT_EQ(check("not_dominated", trial).holds, true) << "faster, but dearer";
  add(5, 50.0, 1.01);
  const AuditResult dominated = check("not_dominated", trial);
  EXPECT_EQ(dominated.holds, false);
  EXPECT_EQ(dominated.why,
            "by its measurement trial 5 is better in one objective and no worse in any");
}

TEST_F(AuditTest, ATrialOfTheSameConfigurationDominatesNothing) {
  const TrialRecord slow = add(1, 200.0);
  const TrialRecord trial = add(2, 100.0);
  TrialRecord again = trial;
  again.number = 3;
  again.objectives = {50.0, 1.0};
  again.standard_errors = {0.5, 0.01};
  must(history_.record_ended(record_.id, again));
  EXPECT_EQ(check("not_dominated", trial).holds, true);
  EXPECT_EQ(check("not_dominated", slow).holds, false);
}

TEST_F(AuditTest, FinalistsComparedInFreshRunsDoNotDominate) {
  add(1, 200.0);
  const TrialRecord winner = add(2, 100.0);
  add(3, 50.0);
  Recommendation recommendation = claimed(Claim::faster, 2);
  EXPECT_EQ(check("not_dominated", winner, recommendation).holds, false);
  recommendation.tied = {3};
  EXPECT_EQ(check("not_dominated", winner, recommendation).holds, true);
  recommendation.tied.clear();
  recommendation.finalists.emplace_back().trial = 3;
  EXPECT_EQ(check("not_dominated", winner, recommendation).holds, true);
  const AuditResult baseline = check("not_dominated", winner, claimed(Claim::nothing_faster, 2));
  EXPECT_FALSE(baseline.holds.has_value());
  EXPECT_EQ(baseline.why, "trial 3 was better in the search, but no fresh runs have shown it");
}

TEST_F(AuditTest, OnlyFreshRunsPutAClaimAboveTheNoise) {
  const TrialRecord trial = add(2, 200.0);
  EXPECT_EQ(check("above_noise", trial, claimed(Claim::faster, 2)).holds, true);
  EXPECT_EQ(check("above_noise", trial, claimed(Claim::feasible, 2)).holds, false);
  EXPECT_EQ(check("above_noise", trial, claimed(Claim::unconfirmed, 2)).holds, false);
  for (const auto& about_others :
       {std::optional<Recommendation>(), std::optional(claimed(Claim::faster, 3))}) {
    EXPECT_EQ(check("above_noise", trial, about_others).why,
              "trial 2 is from the search: no fresh runs have confirmed it");
  }
}

TEST_F(AuditTest, TheBaselineNeedsNoFreshRuns) {
  const TrialRecord baseline = add(1, 200.0);
  EXPECT_EQ(check("above_noise", baseline).holds, true);
  EXPECT_EQ(check("above_noise", baseline, claimed(Claim::nothing_faster, 1)).holds, true);
}

/// A night may use another finalist than its study recommends.
TEST_F(AuditTest, FreshRunsCountIfAnotherTrialIsRecommended) {
  add(1, 200.0);
  const TrialRecord trial = add(2, 100.0);
  add(3, 50.0);
  Recommendation other = claimed(Claim::faster, 3);
  other.finalists = {{3, Verdict::faster, {}}, {2, Verdict::faster, {}}};
  EXPECT_EQ(check("above_noise", trial, other).holds, true);
  EXPECT_EQ(check("not_dominated", trial, other).holds, true);
  other.finalists.back().verdict = Verdict::not_faster;
  EXPECT_EQ(check("above_noise", trial, other).why,
            "no fresh runs have confirmed that it is faster than the baseline");
}

TEST_F(AuditTest, ChangesOfTheMachineAreListed) {
  begin_session(50.0, this_machine());
  const TrialRecord trial = add(1, 200.0);
  EXPECT_EQ(check("measured_here", trial).holds, true);
  MachineDescription other = this_machine();
  other["kernel"] = "6.6";
  EXPECT_EQ(check("measured_here", trial, {}, other).holds, true) << "the same hardware";
  other["cpus"] = "16";
  other.erase("memory");
  other["gpu"] = "H100";
  const AuditResult elsewhere = check("measured_here", trial, {}, other);
  EXPECT_EQ(elsewhere.holds, false);
  EXPECT_EQ(elsewhere.why, "cpus was 8, is 16; memory was 32 GiB, is none; gpu was none, is H100");
}

TEST_F(AuditTest, TheMachineComesFromTheSessionThatStartedTheTrial) {
  MachineDescription old = this_machine();
  old["cpu"] = "old";
  begin_session(50.0, old);
  const TrialRecord first = add(1, 200.0);
  const TrialRecord second = add(2, 100.0);
  begin_session(150.0, this_machine());
  EXPECT_EQ(check("measured_here", first).holds, false);
  EXPECT_EQ(check("measured_here", second).holds, true);
}

TEST_F(AuditTest, AnUnknownMachineGivesNoCheck) {
  TrialRecord trial = add(1, 200.0);
  EXPECT_FALSE(check("measured_here", trial).holds.has_value());
  trial.origin = k_import_origin;
  EXPECT_EQ(check("measured_here", trial).why,
            "trial 1 was imported: Steptune has not measured it");
  EXPECT_EQ(check("measured_here", trial).holds, false);
  Json replayed = local_study();
  replayed["name"] = "replayed";
  replayed["runner"] = {
      {"type", "replay"}, {"seconds_per_sample", "1 / batch"}, {"price_per_hour", 1}};
  begin(replayed);
  begin_session(50.0, this_machine());
  const AuditResult result = check("measured_here", add(1, 200.0));
  EXPECT_FALSE(result.holds.has_value());
  EXPECT_EQ(result.why, "its trials were replayed");
}

TEST(AuditText, WarnsOfFailedChecksOnly) {
  const std::vector<AuditResult> results = {{"complete", true},
                                            {"feasible", false, "trial 2 is failed"},
                                            {"not_dominated", false, "trial 3"},
                                            {"above_noise", false, "no fresh runs"},
                                            {"measured_here", std::nullopt, "replayed"}};
  EXPECT_THAT(audit_warnings(results),
              ElementsAre("not feasible: trial 2 is failed", "dominated: trial 3",
                          "not above the noise: no fresh runs"));
  EXPECT_THAT(audit_warnings({{"measured_here", false, "cpu was A, is B"}}),
              ElementsAre("not measured on this machine: cpu was A, is B"));
  EXPECT_THAT(audit_warnings({{"complete", true}}), IsEmpty());
  const Json json = json_of(results);
  EXPECT_EQ(json[0], Json({{"check", "complete"}, {"holds", true}, {"why", nullptr}}));
  EXPECT_EQ(json[1]["why"], "trial 2 is failed");
  EXPECT_TRUE(json[4]["holds"].is_null());
}

}  // namespace
}  // namespace steptune
