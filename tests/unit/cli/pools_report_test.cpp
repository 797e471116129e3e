// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/pools_report.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WarmPools final : public HeldMachinesService {
 public:
  [[nodiscard]] std::string region_help() const override { return {}; }
  [[nodiscard]] std::string kept_name(bool several) const override {
    return several ? "warm pools" : "warm pool";
  }
  [[nodiscard]] std::string end_command() const override { return "aws stop --name JOB"; }
  [[nodiscard]] Result<HeldMachinesReport> list(
      const Clock& /*clock*/, const HeldMachinesRequest& /*request*/) const override {
    return HeldMachinesReport{};
  }
};

HeldMachinesReport pool_and_job() {
  HeldMachines pool;
  pool.job = "resnet-nightly-0a1b2c3d-t7-a1";
  pool.owner = JobOwner{"resnet-nightly", {7, 1}, 1};
  pool.holding = Holding::kept;
  pool.resources.instance_type = "ml.m5.large";
  pool.since_wall_s = 96.0;
  pool.left_s = 2996.0;
  pool.usd_so_far = 0.00013;
  pool.usd_per_hour = 0.12;
  HeldMachines job = pool;
  job.job = "resnet-nightly-0a1b2c3d-t8-a1-r2";
  job.owner->key.trial = 8;
  job.holding = Holding::running;
  job.status = "Training";
  job.left_s.reset();
  job.usd_per_hour.reset();
  HeldMachinesReport report;
  report.region = "us-east-1";
  report.now_wall_s = 100.0;
  report.machines = {pool, job};
  return report;
}

std::size_t columns_of(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

TEST(PoolsText, HasAllColumnsIfTheyFit) {
  const std::string text = pools_text(pool_and_job(), WarmPools(), 0);
  const std::string titles = text.substr(0, text.find('\n'));
  for (const char* title : {"job", "study", "trial", "machines", "state", "for", "left", "so far"})
    EXPECT_THAT(titles, HasSubstr(title));
  EXPECT_EQ(pools_text(pool_and_job(), WarmPools(), 200), text);
}

TEST(PoolsText, KeepsJobsAndPricesOnATerminal) {
  const std::string text = pools_text(pool_and_job(), WarmPools(), 80);
  EXPECT_LE(columns_of(text), 80U) << text;
  EXPECT_THAT(text, HasSubstr("resnet-nightly-0a1b2c3d-t8-a1-r2  1 ml.m5.large  job: Training"))
      << "the name holds study and trial";
  EXPECT_THAT(text, HasSubstr("per hour\n"));
  EXPECT_THAT(text, Not(HasSubstr("so far")));
  EXPECT_THAT(text, HasSubstr("give warm pools back:   steptune pools --release\n"));
}

TEST(PoolsText, CutsJobNamesLast) {
  const std::string text = pools_text(pool_and_job(), WarmPools(), 50);
  EXPECT_LE(columns_of(text), 50U) << text;
  EXPECT_THAT(text, HasSubstr("\nresnet-nigh...b2c3d-t7-a1  warm pool"));
  EXPECT_THAT(text, Not(HasSubstr("machines  ")));
}

TEST(PoolsText, SpotPricesAreUpperBounds) {
  HeldMachinesReport report = pool_and_job();
  report.machines[1].usd_per_hour = 0.2;
  EXPECT_THAT(pools_text(report, WarmPools(), 0),
              HasSubstr("1 warm pool and 1 running job: $0.32 per hour\n"));
  report.machines[1].spot = true;
  const std::string text = pools_text(report, WarmPools(), 0);
  EXPECT_THAT(text, HasSubstr("spot, <= $0.20  spot, price table\n"));
  EXPECT_THAT(text, HasSubstr("1 warm pool and 1 running job: at most $0.32 per hour\n"));
  report.machines[0].usd_per_hour.reset();
  EXPECT_THAT(pools_text(report, WarmPools(), 0),
              HasSubstr(": about $0.20 per hour, and 1 of unknown price\n"));
}

TEST(PoolsText, SaysWhatAPriceIsMadeOf) {
  HeldMachinesReport report = pool_and_job();
  EXPECT_THAT(pools_text(report, WarmPools(), 0), HasSubstr("$0.12  on demand, price table\n"));
  report.machines[0].study_price = PriceParts{0.15, 0.03, 0.0};
  EXPECT_THAT(pools_text(report, WarmPools(), 0), HasSubstr("$0.12  on demand, 20 % off\n"));
  HeldMachines& job = report.machines[1];
  job.study_price = PriceParts{2.0, 0.5, 0.1};
  job.usd_per_hour = 1.6;
  job.spot = true;
  job.spot_share = 0.25;
  const std::string text = pools_text(report, WarmPools(), 0);
  EXPECT_THAT(text, HasSubstr("spot, <= $1.60  spot, about $0.40 by spot_share 0.25, 25 % off, "
                              "volume $0.10\n"));
  EXPECT_THAT(text, HasSubstr(": at most $1.72 per hour, about $0.52 expected\n"));
  EXPECT_THAT(pools_text(report, WarmPools(), 110), Not(HasSubstr("spot_share")))
      << "the price's parts are dropped before the price";
}

TEST(PoolsJson, SaysWhatAPriceIsMadeOf) {
  HeldMachinesReport report = pool_and_job();
  Json json = pools_json(report);
  EXPECT_EQ(json["machines"][0]["price"]["from"], "price_table");
  EXPECT_EQ(json["machines"][0]["price"]["list_usd_per_hour"], 0.12);
  EXPECT_EQ(json["machines"][0]["price"]["volume_usd_per_hour"], nullptr) << "not known, not 0";
  EXPECT_EQ(json["machines"][0]["price"]["expected_usd_per_hour"], 0.12);
  EXPECT_EQ(json["machines"][1]["price"], nullptr);
  EXPECT_EQ(json["expected_usd_per_hour"], nullptr);
  HeldMachines& job = report.machines[1];
  job.study_price = PriceParts{2.0, 0.5, 0.1};
  job.usd_per_hour = 1.6;
  job.spot = true;
  EXPECT_EQ(pools_json(report)["machines"][1]["price"]["expected_usd_per_hour"], nullptr)
      << "the spot price is unknown";
  job.spot_share = 0.25;
  json = pools_json(report);
  EXPECT_EQ(json["machines"][1]["price"], (Json{{"from", "study"},
                                                {"market", "spot"},
                                                {"list_usd_per_hour", 2.0},
                                                {"discount_usd_per_hour", 0.5},
                                                {"volume_usd_per_hour", 0.1},
                                                {"spot_share", 0.25},
                                                {"expected_usd_per_hour", 0.4}}));
  EXPECT_DOUBLE_EQ(json["expected_usd_per_hour"].get<double>(), 0.52);
}

TEST(PoolsText, WithoutPricesCountsMachineHours) {
  HeldMachinesReport report = pool_and_job();
  for (HeldMachines& held : report.machines) {
    held.usd_so_far.reset();
    held.usd_per_hour.reset();
    held.machine_hours = 0.25;
  }
  report.machines[1].machine_hours = 1.5;
  const std::string text = pools_text(report, WarmPools(), 0);
  EXPECT_THAT(text, HasSubstr("so far\n"));
  EXPECT_THAT(text, HasSubstr("0.25 machine-hours\n"));
  EXPECT_THAT(text, HasSubstr("1 warm pool and 1 running job: 1.75 machine-hours so far\n"));
  EXPECT_THAT(text, Not(HasSubstr("unknown")));
  report.releases.push_back({report.machines.front(), ReleaseOutcome::released});
  EXPECT_THAT(pools_text(report, WarmPools(), 0), HasSubstr(", 0.25 machine-hours\n"));
  EXPECT_EQ(pools_json(report)["machines"][1]["machine_hours"], 1.5);
  EXPECT_FALSE(pools_json(pool_and_job())["machines"][0].contains("machine_hours"));
}

TEST(PoolsText, SaysWhenNothingIsHeld) {
  HeldMachinesReport none;
  none.region = "us-east-1";
  EXPECT_EQ(pools_text(none, WarmPools(), 80), "no job holds machines in us-east-1\n");
}

}  // namespace
}  // namespace steptune
