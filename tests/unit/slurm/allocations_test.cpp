// SPDX-License-Identifier: Apache-2.0
//
// Tests an allocation's life: requested, seen in the queue, held, paid for, given back.
#include "trial_runner/slurm/allocations.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/notice_texts.hpp"
#include "tests/unit/slurm/scripted_host.hpp"

namespace steptune::slurm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double k_uptime_s = 100.0;  // machine's uptime at the start of a study
constexpr double k_began_wall_s = 1'795'000'000.0;
constexpr const char* k_study = "steptune.a.12345678.";

class AllocationsTest : public testing::Test {
 protected:
  AllocationsTest() { clock_.advance_to(k_uptime_s); }

  Allocations& allocations() {
    if (!allocations_) {
      allocations_.emplace(clock_, host_, notices_, options_);
      const auto begun = allocations_->begin(k_study);
      EXPECT_TRUE(begun) << begun.error().text();
    }
    return *allocations_;
  }
  /// Advances the time and does what is due.
  void pass(double seconds) {
    const double until_s = clock_.now_s() + seconds;
    for (int step = 0; step < 100'000; ++step) {
      const auto advanced = allocations().advance();
      if (!advanced) fault_ = advanced.error().text();
      host_.poll();
      if (clock_.now_s() >= until_s || !advanced) return;
      clock_.advance_to(
          std::min(until_s, std::max(clock_.now_s() + 0.01, allocations().next_due_s())));
    }
    ADD_FAILURE() << "something is due all the time";
  }
  /// Requests an allocation; the queue lists its job.
  Allocation& ask(const AllocationSpec& requested = {}) {
    allocations().submit(requested, "");
    host_.poll();
    Allocation& allocation = allocations().all().back();
    host_.queue.push_back({.name = allocation.name, .submit_wall_s = wall_s()});
    return allocation;
  }
  /// Requests an allocation whose job then runs for an hour.
  Allocation& hold(const AllocationSpec& requested = {}) {
    Allocation& allocation = ask(requested);
    ListedJob& job = host_.queue.back();
    job.state = "RUNNING";
    job.reason = "None";
    job.nodes = requested.nodes;
    job.start_wall_s = wall_s();
    job.end_wall_s = wall_s() + 3600.0;
    pass(2.0);
    EXPECT_EQ(allocation.state, AllocationState::running);
    return allocation;
  }
  [[nodiscard]] double wall_s() const { return clock_.wall_time_s(); }
  [[nodiscard]] std::vector<std::string> setbacks() {
    std::vector<std::string> texts;
    for (const AllocationSetback& setback : allocations().take_setbacks())
      texts.push_back(fmt::format("{} {}", static_cast<int>(setback.setback), setback.why));
    return texts;
  }
  [[nodiscard]] static std::string of(Setback setback) {
    return std::to_string(static_cast<int>(setback));
  }

  VirtualClock clock_{k_began_wall_s - k_uptime_s};
  ScriptedHost host_{clock_};
  Notices notices_;
  SlurmOptions options_;
  std::string fault_;

 private:
  std::optional<Allocations> allocations_;
};

TEST_F(AllocationsTest, AreRequestedUnderUniqueNamesWithALease) {
  const std::string first = ask().name;
  const std::string second = ask().name;
  EXPECT_NE(first, second) << "within one second";
  EXPECT_TRUE(first.starts_with(std::string(k_study) + allocation_kind({}, options_) + ".p"));
  EXPECT_THAT(host_.commands.back(), Contains("--job-name=" + second));
  EXPECT_DOUBLE_EQ(host_.leases.at(first), k_began_wall_s + options_.keep_alive_s);
  EXPECT_THAT(allocations().take_accepted(),
              ElementsAre(allocation_kind({}, options_), allocation_kind({}, options_)));
  EXPECT_THAT(allocations().take_accepted(), IsEmpty());
}

TEST_F(AllocationsTest, OneKindHoldsEqualResources) {
  EXPECT_EQ(allocation_kind({1, {"mem=8G"}}, options_), allocation_kind({1, {"mem=8G"}}, options_));
  const std::string plain = allocation_kind({}, options_);
  EXPECT_NE(plain, allocation_kind({2, {}}, options_));
  EXPECT_NE(plain, allocation_kind({1, {"mem=8G"}}, options_));
  SlurmOptions other = options_;
  other.exclusive = false;
  EXPECT_NE(plain, allocation_kind({}, other));
  other = options_;
  other.default_time_s += 60.0;
  EXPECT_NE(plain, allocation_kind({}, other));
}

TEST_F(AllocationsTest, AnUnreadableQueueFailsTheStart) {
  for (const CommandResult& listing :
       {CommandResult{1, false, "", "squeue: error: slurm_load_jobs"},
        CommandResult{0, false, "", ""}}) {
    host_.listing = listing;
    Allocations fresh(clock_, host_, notices_, options_);
    const auto begun = fresh.begin(k_study);
    ASSERT_FALSE(begun);
    EXPECT_THAT(begun.error().text(), HasSubstr("cannot read Slurm's queue"));
    EXPECT_THAT(begun.error().text(), HasSubstr("steptune doctor"));
  }
}

TEST_F(AllocationsTest, OnlyAllocationsOfAnEarlierTunerAreAdopted) {
  host_.queue = {{.name = std::string(k_study) + "kind.p5",
                  .id = "41",
                  .state = "RUNNING",
                  .start_wall_s = k_began_wall_s - 100.0,
                  .end_wall_s = k_began_wall_s + 100.0},
                 {.name = std::string(k_study) + "kind.p6", .id = "42", .state = "COMPLETED"},
                 {.name = "steptune.other.12345678.kind.p7", .id = "43", .state = "RUNNING"}};
  ASSERT_EQ(allocations().all().size(), 1U);
  const Allocation& allocation = allocations().all().front();
  EXPECT_TRUE(allocation.former);
  EXPECT_EQ(allocation.kind, "kind");
  EXPECT_EQ(allocation.id, "41");
  EXPECT_EQ(allocation.state, AllocationState::running);
  pass(1.0);
  EXPECT_GE(host_.leases.at(allocation.name), k_began_wall_s + options_.keep_alive_s)
      << "kept alive at once";
}

TEST_F(AllocationsTest, AnAdoptedJobThatIsCancelledInTheQueueIsNoticed) {
  host_.queue = {{.name = std::string(k_study) + "kind.p5", .id = "41"}};
  ASSERT_EQ(allocations().all().size(), 1U);
  host_.queue.front().state = "CANCELLED";
  pass(60.0);
  EXPECT_TRUE(allocations().empty()) << "trials would wait for it for ever";
}

TEST_F(AllocationsTest, AreFreeForTrialsOfTheirKindThatEndInTime) {
  Allocation& allocation = hold();
  const std::string kind = allocation.kind;
  EXPECT_EQ(allocations().free_for(kind, 3000.0), &allocation);
  EXPECT_EQ(allocations().free_for(kind, 3700.0), nullptr)
      << "the allocation ends before that time";
  EXPECT_EQ(allocations().free_for("other", 10.0), nullptr);
  allocations().set_user(allocation, {1, 1}, 600.0);
  EXPECT_EQ(allocations().free_for(kind, 10.0), nullptr);
  allocations().set_free(allocation);
  EXPECT_EQ(allocations().free_for(kind, 10.0), &allocation);
  allocations().give_back(allocation);
  EXPECT_EQ(allocations().free_for(kind, 10.0), nullptr);
}

TEST_F(AllocationsTest, ATrialsLeaseLastsAsLongAsTheTrialMay) {
  Allocation& allocation = hold();
  allocations().set_user(allocation, {1, 1}, 2000.0);
  const double until_wall_s = wall_s() + 2000.0;
  EXPECT_DOUBLE_EQ(host_.leases.at(allocation.name), until_wall_s)
      << "the lease if the tuner dies now";
  pass(100.0);
  EXPECT_DOUBLE_EQ(host_.leases.at(allocation.name), until_wall_s) << "never shortened";
  // A step that an earlier tuner left behind ends only now, and its supervisor shortens the lease.
  host_.leases.at(allocation.name) = wall_s() + options_.keep_alive_s;
  pass(0.5 * options_.keep_alive_s);
  EXPECT_DOUBLE_EQ(host_.leases.at(allocation.name), until_wall_s);
  allocations().set_free(allocation);
  pass(1.0);
  EXPECT_NEAR(host_.leases.at(allocation.name), wall_s() + options_.keep_alive_s, 2.0);
}

TEST_F(AllocationsTest, LeasesAreRenewedBeforeTheyEnd) {
  const Allocation& allocation = hold();
  for (int minute = 0; minute < 30; ++minute) {
    pass(60.0);
    EXPECT_GT(host_.leases.at(allocation.name), wall_s() + 0.5 * options_.keep_alive_s);
  }
}

TEST_F(AllocationsTest, AnUnwritableFolderIsToleratedForAMinute) {
  (void)hold();
  host_.is_writable = false;
  pass(options_.keep_alive_s / 4.0 + 50.0);
  EXPECT_EQ(fault_, "");
  EXPECT_THAT(texts_of(notices_.take()), ElementsAre(HasSubstr("it is tried again")));
  pass(120.0);
  EXPECT_THAT(fault_, HasSubstr("cannot write the lease"));
}

TEST_F(AllocationsTest, ARequestWhoseLeaseCannotBeWrittenIsNotMade) {
  (void)allocations();
  host_.is_writable = false;
  allocations().submit({}, "");
  EXPECT_EQ(host_.count("sbatch"), 0);
  EXPECT_TRUE(allocations().empty());
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("cannot write the lease")));
}

TEST_F(AllocationsTest, ARefusedSubmissionIsASetback) {
  host_.submission = {1, false, "",
                      "sbatch: error: Batch job submission failed: Invalid account\n"};
  allocations().submit({}, "n3");
  host_.poll();
  EXPECT_TRUE(allocations().empty());
  EXPECT_EQ(host_.forgotten.size(), 1U);
  const auto refused = allocations().take_setbacks();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].setback, Setback::refused);
  EXPECT_TRUE(refused[0].avoids_nodes) << "perhaps for the nodes that it avoids";
  EXPECT_THAT(refused[0].why, HasSubstr("Invalid account"));
  host_.submission = {1, false, "", "sbatch: error: AssocMaxSubmitJobLimit\n"};
  allocations().submit({}, "");
  host_.poll();
  EXPECT_THAT(setbacks(), ElementsAre(testing::StartsWith(of(Setback::full))));
}

TEST_F(AllocationsTest, ASubmissionThatFailsIsLookedForInTheQueue) {
  host_.submission = {1, false, "", "sbatch: error: Socket timed out\n"};
  Allocation& found = ask();
  EXPECT_EQ(found.state, AllocationState::doubtful);
  EXPECT_THAT(texts_of(notices_.take()),
              ElementsAre(HasSubstr("looking for its job in the queue")));
  pass(5.0);
  EXPECT_EQ(found.state, AllocationState::pending);
  EXPECT_EQ(found.id, "100");
  EXPECT_THAT(setbacks(), IsEmpty());

  (void)ask();
  host_.queue.pop_back();
  pass(60.0);
  EXPECT_EQ(allocations().all().size(), 1U) << "there was no job";
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("Socket timed out")));
}

TEST_F(AllocationsTest, AJobThatIsMissingFromAListForAMomentIsStillHeld) {
  Allocation& allocation = hold();
  const ListedJob job = host_.queue.back();
  host_.queue.clear();
  EXPECT_EQ(allocations().state_after(allocation.name, clock_.now_s()), std::nullopt);
  pass(2.0);
  EXPECT_EQ(allocations().all().size(), 1U);
  host_.queue.push_back(job);
  pass(200.0);
  EXPECT_EQ(allocations().all().size(), 1U);
  EXPECT_EQ(allocations().state_after(allocation.name, 0.0), "RUNNING");
  const std::string name = allocation.name;
  host_.queue.clear();
  pass(200.0);
  EXPECT_TRUE(allocations().empty());
  EXPECT_EQ(allocations().state_after(name, 0.0), "GONE");
  EXPECT_TRUE(host_.forgotten.contains(name));
}

TEST_F(AllocationsTest, AJobsStateComesFromALaterQuery) {
  const Allocation& allocation = hold();
  pass(10.0);
  const double now_s = clock_.now_s();
  const std::string name = allocation.name;
  host_.queue.back().state = "PREEMPTED";
  EXPECT_EQ(allocations().state_after(name, now_s), std::nullopt) << "the state is being queried";
  pass(2.0);
  EXPECT_EQ(allocations().state_after(name, now_s - 1.0), "PREEMPTED")
      << "the last known state counts although the job is gone";
  EXPECT_EQ(allocations().state_after("steptune.a.12345678.kind.p0", now_s - 1.0), "GONE");
  EXPECT_EQ(allocations().state_after(name, now_s), std::nullopt)
      << "the latest query began at this time";
  EXPECT_TRUE(allocations().empty());
}

TEST_F(AllocationsTest, OnlyAnUnusedAllocationThatEndsIsASetback) {
  (void)hold();
  host_.queue.back().state = "NODE_FAIL";
  pass(200.0);
  EXPECT_THAT(setbacks(),
              ElementsAre(of(Setback::unused) + " job 100 is lost with a node that failed"));
  host_.queue.clear();
  Allocation& used = hold();
  allocations().set_user(used, {1, 1}, 60.0);
  allocations().set_paid_by_trial(used, clock_.now_s());
  EXPECT_TRUE(used.used);
  host_.queue.back().state = "NODE_FAIL";
  pass(200.0);
  EXPECT_THAT(setbacks(), IsEmpty());
  EXPECT_TRUE(allocations().empty());
}

TEST_F(AllocationsTest, AJobThatCannotStartIsReleasedWithSlurmsReason) {
  (void)ask();
  host_.queue.back().reason = "QOSMaxNodePerJobLimit";
  pass(5.0);
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("Slurm will not start it: QOSMaxNodePerJobLimit")));
  EXPECT_EQ(host_.count("scancel"), 1);
}

TEST_F(AllocationsTest, AJobThatWaitsTooLongIsReleased) {
  options_.queue_wait_s = 600.0;
  (void)ask();
  pass(590.0);
  EXPECT_THAT(setbacks(), IsEmpty());
  pass(60.0);
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("waited in the queue for 10 min (\"queue_wait\"): "
                                                "Resources")));
}

TEST_F(AllocationsTest, AHeldJobIsReportedOnceAndWaitedFor) {
  (void)ask();
  host_.queue.back().reason = "JobHeldAdmin";
  pass(300.0);
  EXPECT_THAT(texts_of(notices_.take()),
              ElementsAre(HasSubstr("job 100 is held in the queue (JobHeldAdmin): somebody must")));
  EXPECT_THAT(setbacks(), IsEmpty());
  host_.queue.back().state = "REQUEUE_HOLD";
  pass(60.0);
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("requeued and held")));
}

TEST_F(AllocationsTest, ASuspendedAllocationIsGivenBack) {
  (void)hold();
  host_.queue.back().state = "SUSPENDED";
  pass(200.0);
  EXPECT_THAT(texts_of(notices_.take()), ElementsAre(HasSubstr("was suspended and is given back")));
  EXPECT_THAT(setbacks(), ElementsAre(HasSubstr("job 100 is suspended")));
  EXPECT_GE(host_.count("scancel"), 1);
}

TEST_F(AllocationsTest, AReleaseIsRepeatedInGrowingGaps) {
  Allocation& allocation = hold();
  allocations().give_back(allocation);
  allocations().give_back(allocation);  // a second call changes nothing
  EXPECT_EQ(host_.count("scancel"), 1);
  EXPECT_THAT(host_.commands.back(), ElementsAre("scancel", "--name=" + allocation.name, "100"));
  EXPECT_DOUBLE_EQ(host_.leases.at(allocation.name), 0.0)
      << "the lease ends the job if scancel fails";
  pass(600.0);
  const int asked = host_.count("scancel");
  EXPECT_GE(asked, 4);
  EXPECT_LE(asked, 9);
  host_.queue.back().state = "COMPLETING";
  pass(600.0);
  EXPECT_EQ(host_.count("scancel"), asked) << "the allocation is already ending";
  host_.queue.back().state = "CANCELLED";
  pass(200.0);
  EXPECT_TRUE(allocations().empty());
  EXPECT_THAT(setbacks(), IsEmpty()) << "no trial needed it";
}

TEST_F(AllocationsTest, AnEarlyReleaseCancelsTheJobOnceKnown) {
  allocations().submit({}, "");
  Allocation& allocation = allocations().all().back();
  allocations().give_back(allocation);
  EXPECT_EQ(host_.count("scancel"), 0);
  host_.poll();
  EXPECT_EQ(host_.count("scancel"), 1);
  EXPECT_EQ(allocation.state, AllocationState::ending);
}

TEST_F(AllocationsTest, UnusedTimeIsOverhead) {
  options_.usd_per_node_hour = NodePrices(36.0);
  Allocation& allocation = hold({2, {}});
  allocations().know({2, {}});
  (void)allocations().take_unused();
  pass(100.0);
  const auto unused = allocations().take_unused();
  EXPECT_NEAR(total_usd(unused), 2 * 36.0 * 100.0 / 3600.0, 1e-6);
  ASSERT_EQ(unused.size(), 1U);
  EXPECT_EQ(unused[0].machine, allocation.name);
  EXPECT_NEAR(unused[0].to_wall_s, wall_s(), 1e-6);

  // The start and the end of a trial are seen late.
  allocations().set_user(allocation, {1, 1}, 600.0);
  pass(20.0);
  allocations().set_paid_by_trial(allocation, clock_.now_s() - 15.0);
  EXPECT_NEAR(total_usd(allocations().take_unused()), 2 * 36.0 * 5.0 / 3600.0, 1e-6);
  pass(100.0);
  EXPECT_NEAR(total_usd(allocations().take_unused()), 0.0, 1e-9);
  allocations().set_free(allocation, clock_.now_s() - 10.0);
  pass(50.0);
  EXPECT_NEAR(total_usd(allocations().take_unused()), 2 * 36.0 * 60.0 / 3600.0, 1e-6);
}

TEST_F(AllocationsTest, ALaunchThatFailsIsOverhead) {
  options_.usd_per_node_hour = NodePrices(36.0);
  Allocation& allocation = hold();
  (void)allocations().take_unused();
  allocations().set_user(allocation, {1, 1}, 600.0);
  pass(30.0);
  allocations().set_free(allocation);
  EXPECT_NEAR(total_usd(allocations().take_unused()), 36.0 * 30.0 / 3600.0, 1e-6);
}

TEST_F(AllocationsTest, NodesHeldBetweenTwoQueriesArePaidForToo) {
  options_.usd_per_node_hour = NodePrices(36.0);
  (void)ask();
  pass(1.0);
  ListedJob& job = host_.queue.back();
  job.state = "FAILED";
  job.start_wall_s = wall_s();
  job.end_wall_s = wall_s() + 20.0;
  clock_.advance_to(clock_.now_s() + 30.0);
  pass(5.0);
  EXPECT_NEAR(total_usd(allocations().take_unused()), 36.0 * 20.0 / 3600.0, 1e-6);
}

TEST_F(AllocationsTest, ARequeuedJobCostsNothing) {
  options_.usd_per_node_hour = NodePrices(36.0);
  Allocation& allocation = hold();
  (void)allocations().take_unused();
  host_.queue.back().state = "PENDING";
  host_.queue.back().start_wall_s.reset();
  host_.queue.back().end_wall_s.reset();
  pass(200.0);
  ASSERT_EQ(allocation.state, AllocationState::pending);
  (void)allocations().take_unused();
  pass(600.0);
  allocations().give_back(allocation);
  pass(600.0);
  EXPECT_THAT(allocations().take_unused(), IsEmpty());
}

TEST_F(AllocationsTest, CompletingAfterTheReleaseCostsNothing) {
  options_.usd_per_node_hour = NodePrices(36.0);
  Allocation& allocation = hold();
  allocations().give_back(allocation);
  host_.queue.back().state = "COMPLETING";
  pass(10.0);
  EXPECT_GT(total_usd(allocations().take_unused()), 0.0);
  pass(3600.0);
  EXPECT_EQ(allocations().all().size(), 1U) << "a silent node does not end the allocation";
  EXPECT_THAT(allocations().take_unused(), IsEmpty());
}

TEST_F(AllocationsTest, AnUnknownJobStateCountsAsRunning) {
  const Allocation& allocation = hold();
  for (const char* state : {"A_STATE_OF_A_LATER_SLURM", "RESIZING", "RUNNING"}) {
    host_.queue.back().state = state;
    pass(200.0);
    EXPECT_EQ(allocation.state, AllocationState::running) << state;
  }
}

TEST_F(AllocationsTest, AnUnknownAllocationHasTheHighestPrice) {
  Allocation stranger;
  stranger.kind = "kind";
  EXPECT_EQ(allocations().usd_per_node_hour(stranger), std::nullopt) << "no prices";
  options_.usd_per_node_hour = NodePrices({{"gpu", 8.0}, {"cpu", 1.0}});
  EXPECT_EQ(allocations().usd_per_node_hour(stranger), 8.0);
  const AllocationSpec requested{1, {"partition=cpu"}};
  stranger.kind = allocation_kind(requested, options_);
  EXPECT_EQ(allocations().usd_per_node_hour(stranger), 8.0);
  allocations().know(requested);
  EXPECT_EQ(allocations().usd_per_node_hour(stranger), 1.0);
}

TEST_F(AllocationsTest, TheExpectedStartFollowsEarlierWaits) {
  options_.expected_wait_s = 77.0;
  const std::string kind = allocation_kind({}, options_);
  EXPECT_DOUBLE_EQ(allocations().expected_start_s(kind), 77.0) << "nothing was seen";
  Allocation& first = ask();
  EXPECT_DOUBLE_EQ(allocations().expected_start_s(kind), 77.0);
  clock_.advance_to(clock_.now_s() + 300.0);
  EXPECT_NEAR(allocations().expected_start_s(kind), 300.0, 1e-6) << "the same time again";
  host_.queue.back().start_wall_s = wall_s() + 40.0;
  pass(2.0);
  EXPECT_NEAR(allocations().expected_start_s(kind), 38.0, 2.0) << "as Slurm says";
  host_.queue.back().state = "RUNNING";
  host_.queue.back().start_wall_s = wall_s();
  host_.queue.back().end_wall_s = wall_s() + 3600.0;
  pass(60.0);
  EXPECT_LT(allocations().expected_start_s(kind), 1.0) << "the allocation is held";
  allocations().set_user(first, {1, 1}, 600.0);
  EXPECT_NEAR(allocations().expected_start_s(kind), 302.0, 3.0)
      << "the wait of the first allocation";
  EXPECT_NEAR(allocations().expected_start_s("other"), 302.0, 3.0) << "nothing better is known";
}

TEST_F(AllocationsTest, OtherAllocationsCountIfTheyRunOrWereGrantedSoon) {
  const std::string kind = allocation_kind({}, options_);
  EXPECT_FALSE(allocations().has_others({}, 30.0));
  Allocation& allocation = hold();
  EXPECT_TRUE(allocations().has_others({}, 30.0));
  EXPECT_FALSE(allocations().has_others({kind}, 30.0)) << "the same kind is no other kind";
  allocations().give_back(allocation);
  EXPECT_TRUE(allocations().has_others({}, 30.0)) << "it was granted at once";
  EXPECT_FALSE(allocations().has_others({}, -1.0));
}

TEST_F(AllocationsTest, ARunningPlaceholderIsPolledAtOnce) {
  options_.poll_s = 600.0;
  Allocation& allocation = ask();
  pass(300.0);
  ASSERT_EQ(allocation.state, AllocationState::pending);
  host_.up.insert(allocation.name);
  host_.queue.back().state = "RUNNING";
  host_.queue.back().end_wall_s = wall_s() + 3600.0;
  pass(15.0);
  EXPECT_EQ(allocation.state, AllocationState::running);
}

TEST_F(AllocationsTest, AnOutageIsReportedAfterAMinute) {
  const Allocation& allocation = hold();
  host_.listing = CommandResult{1, false, "", "slurm_load_jobs error: Unable to contact"};
  pass(130.0);
  EXPECT_THAT(texts_of(notices_.take()), IsEmpty()) << "too short an outage for a notice";
  pass(200.0);
  EXPECT_THAT(texts_of(notices_.take()), ElementsAre(HasSubstr("does not answer")));
  EXPECT_EQ(allocation.state, AllocationState::running)
      << "a query without an answer changes nothing";
  host_.listing.reset();
  pass(200.0);
  EXPECT_THAT(texts_of(notices_.take()), ElementsAre("Slurm's controller answers again"));
  host_.listing = CommandResult{0, false, "", ""};
  pass(2000.0);
  EXPECT_THAT(fault_, HasSubstr("has not answered for"));
  EXPECT_THAT(fault_, HasSubstr("squeue has printed no list"));
  EXPECT_THAT(fault_, HasSubstr("running trials are taken over"));
}

TEST_F(AllocationsTest, TheQueueIsPolledSeldomWhileNothingHappens) {
  (void)hold();
  const int before = host_.count("squeue");
  pass(3600.0);
  EXPECT_LE(host_.count("squeue") - before, 32) << "every two minutes";
  EXPECT_GE(host_.count("squeue") - before, 25);
}

}  // namespace
}  // namespace steptune::slurm
