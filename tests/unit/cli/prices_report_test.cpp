// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/prices_report.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/must.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RentalList : public PriceListService {
 public:
  [[nodiscard]] std::string name() const override { return "rental"; }
  [[nodiscard]] std::string region_help() const override { return ""; }
  [[nodiscard]] std::string region_fault(const std::string& /*region*/) const override {
    return "";
  }
  [[nodiscard]] Result<std::string> default_region() const override { return "north"; }
  [[nodiscard]] std::string heading() const override { return "machines to rent"; }
  [[nodiscard]] std::string description() const override { return "Machines."; }
  [[nodiscard]] std::string source() const override { return "the list"; }
  [[nodiscard]] Result<ListedPrices> list(const Clock& /*clock*/,
                                          const std::string& /*region*/) const override {
    return fail(ErrorKind::unavailable, "not here");
  }
};

PriceSource prices_of(const std::string& region,
                      const std::map<std::string, InstanceType>& instances) {
  return {{region, "2026-01-02", instances}, "/prices/" + region + ".json", "the list"};
}

const RentalList& rental() {
  static const RentalList list;
  return list;
}

PriceSource north() {
  return prices_of(
      "north",
      {{"g.big", {4.5, 16, 64.0, 2}}, {"g.small", {0.5, 4, 15.5, 0}}, {"old", {9.0, 0, 0.0, 0}}});
}

TEST(PricesReport, ShowsADashForUnlistedPrices) {
  EXPECT_EQ(prices_text(north(), rental(), {}, 0),
            "machines to rent, north, 2026-01-02\n"
            "/prices/north.json\n"
            "the list\n"
            "instance type  USD/h  vCPUs   GiB  GPUs\n"
            "g.big            4.5     16    64     2\n"
            "g.small          0.5      4  15.5     -\n"
            "old                9      -     -     -\n");
}

TEST(PricesReport, AnyOfSeveralPartsOfANameFindsAType) {
  const std::string text = prices_text(north(), rental(), {"small", "old"}, 0);
  EXPECT_THAT(text, HasSubstr("g.small"));
  EXPECT_THAT(text, HasSubstr("\nold "));
  EXPECT_THAT(text, Not(HasSubstr("g.big")));
  const Json json = prices_json(north(), rental(), {"big"});
  EXPECT_EQ(json["instances"].size(), 1U);
  EXPECT_EQ(json["file"], "/prices/north.json");
  EXPECT_EQ(prices_json(north(), rental(), {})["instances"].size(), 3U);
}

TEST(PricesReport, ATableAsJsonIsReadBackAsItWas) {
  const PriceSource before = north();
  const PriceTable after =
      must(price_table_from_json(price_table_json(before, rental()), "north.json"));
  EXPECT_EQ(after.region, "north");
  EXPECT_EQ(after.date, "2026-01-02");
  ASSERT_EQ(after.instances.size(), before.table.instances.size());
  for (const auto& [name, type] : before.table.instances) {
    const InstanceType& read = after.instances.at(name);
    EXPECT_EQ(read.usd_per_hour, type.usd_per_hour) << name;
    EXPECT_EQ(read.vcpus, type.vcpus) << name;
    EXPECT_EQ(read.memory_gib, type.memory_gib) << name;
    EXPECT_EQ(read.gpus, type.gpus) << name;
  }
}

TEST(PriceChanges, AreSortedByHowMuchAPriceHasChangedUpOrDown) {
  const PriceTable before = {
      "r", "d", {{"a", {1.0}}, {"b", {1.0}}, {"c", {1.0}}, {"same", {3.0}}, {"gone", {1.0}}}};
  const PriceTable now = {
      "r", "e", {{"a", {1.5}}, {"b", {0.25}}, {"c", {3.0}}, {"same", {3.0}}, {"new", {1.0}}}};
  const PriceChanges changes = compare_prices(before, now);
  std::vector<std::string> types;
  for (const PriceChange& change : changes.changed)
    types.push_back(change.type);
  EXPECT_THAT(types, ElementsAre("b", "c", "a")) << "a quarter is more than three times";
  EXPECT_THAT(changes.added, ElementsAre("new"));
  EXPECT_THAT(changes.gone, ElementsAre("gone"));
  EXPECT_EQ(changes.changed[0].usd_before, 1.0);
  EXPECT_EQ(changes.changed[0].usd_now, 0.25);
}

TEST(PriceChanges, HaveTheirShareInShortenedLists) {
  PriceSource now = prices_of("north", {{"a", {1.5}}});
  PriceSource before = prices_of("north", {{"a", {1.0}}});
  before.table.date = "2025-12-01";
  for (int i = 10; i < 22; ++i)
    now.table.instances["n" + std::to_string(i)] = {1.0, 0, 0.0, 0};
  const std::string text = refresh_text(now, &before, {"a"}, 0);
  EXPECT_EQ(text,
            "/prices/north.json: 13 prices of north, 2026-01-02\n"
            "1 listed at several prices, the highest is used: a\n"
            "1 changed since 2025-12-01 (/prices/north.json)\n"
            "  a  $1  -> $1.5  +50.0 %\n"
            "12 new: n10 n11 n12 n13 n14 n15 n16 n17 ...\n");
  const Json json = refresh_json(now, &before, {"a"});
  EXPECT_EQ(json["added"].size(), 12U) << "JSON has all of them";
  EXPECT_EQ(json["changed"][0]["usd_per_hour_before"], 1.0);
  EXPECT_EQ(json["changed"][0]["usd_per_hour"], 1.5);
  EXPECT_EQ(json["prices"], 13);
  EXPECT_THAT(json["ambiguous"], ElementsAre("a"));
}

TEST(PriceChanges, AFirstTableHasNoChanges) {
  const PriceSource now = north();
  EXPECT_THAT(refresh_text(now, nullptr, {}, 0),
              HasSubstr("there was no table for this region before"));
  const Json json = refresh_json(now, nullptr, {});
  EXPECT_TRUE(json["before"].is_null());
  EXPECT_THAT(json["changed"], IsEmpty());
  EXPECT_THAT(json["added"], IsEmpty());
}

TEST(PricesOfRegions, MarkTheLeastOfThoseThatDiffer) {
  const RegionPrices prices =
      compare_regions({prices_of("north", {{"a", {2.0}}, {"b", {3.0}}, {"c", {1.0}}}),
                       prices_of("south", {{"a", {1.6}}, {"b", {3.0}}}),
                       prices_of("west", {{"a", {1.6}}, {"d", {5.0}}})},
                      {});
  EXPECT_EQ(regions_text(prices, rental(), 0),
            "machines to rent\n"
            "north, 2026-01-02: /prices/north.json\n"
            "south, 2026-01-02: /prices/south.json\n"
            "west, 2026-01-02: /prices/west.json\n"
            "\n"
            "instance type  north  south   west  most over least\n"
            "a                  2  * 1.6  * 1.6          +25.0 %\n"
            "b                  3      3      -\n"
            "c                  1      -      -\n"
            "d                  -      -      5\n"
            "* least price per hour, in USD\n");
  const Json json = regions_json(prices);
  EXPECT_THAT(json["instances"]["a"]["cheapest_regions"], ElementsAre("south", "west"));
  EXPECT_THAT(json["instances"]["b"]["cheapest_regions"], ElementsAre("north", "south"));
  EXPECT_THAT(json["instances"]["d"]["cheapest_regions"], ElementsAre("west"));
  EXPECT_TRUE(json["instances"]["d"]["usd_per_hour"]["north"].is_null());
  EXPECT_EQ(json["instances"]["a"]["usd_per_hour"]["west"], 1.6);
}

TEST(PricesOfRegions, EqualPricesAreNotMarked) {
  const RegionPrices prices = compare_regions(
      {prices_of("north", {{"a", {2.0}}}), prices_of("south", {{"a", {2.0}}})}, {"a"});
  EXPECT_THAT(regions_text(prices, rental(), 0), Not(HasSubstr("*")));
}

TEST(PricesOfRegions, TablesFitAnyWidth) {
  Rng rng(3, "regions");
  std::vector<PriceSource> regions;
  for (int r = 0; r < 7; ++r) {
    std::map<std::string, InstanceType> types;
    for (int t = 0; t < 5; ++t)
      types["type-" + std::to_string(t)] = {static_cast<double>(1 + rng.below(900)) / 100.0, 0, 0.0,
                                            0};
    regions.push_back(prices_of("region-" + std::to_string(r), types));
  }
  const RegionPrices prices = compare_regions(regions, {});
  for (std::size_t width = 46; width <= 140; ++width) {
    std::istringstream lines(regions_text(prices, rental(), width));
    std::map<std::string, int> heads;
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), width);
      if (line.starts_with("type-0")) ++rows;
      if (!line.starts_with("instance type")) continue;
      std::istringstream words(line);
      for (std::string word; words >> word;)
        ++heads[word];
    }
    for (int r = 0; r < 7; ++r)
      EXPECT_EQ(heads["region-" + std::to_string(r)], 1) << "width " << width;
    EXPECT_EQ(heads["least"], 1) << "one comparison of all, beside the last regions";
    EXPECT_EQ(rows, static_cast<std::size_t>(heads["instance"]));
  }
}

}  // namespace
}  // namespace steptune
