// SPDX-License-Identifier: Apache-2.0
#include "search/space/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <set>

#include <gmock/gmock.h>

#include "tests/support/neighbours.hpp"
#include "tests/unit/search/spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string space_fault(std::vector<Parameter> parameters,
                        const std::vector<std::string>& constraints = {}) {
  const auto space = SearchSpace::create(std::move(parameters), constraints, {{"cpus", 2.0}});
  EXPECT_FALSE(space);
  return space ? "" : space.error().text();
}

Configuration loader_configuration() {
  return Configuration({{"batch_size", whole(64)},
                        {"workers", whole(2)},
                        {"prefetch", whole(4)},
                        {"precision", text("bf16")},
                        {"threads", whole(2)}});
}

std::string objection(const SearchSpace& space, const Configuration& configuration) {
  const auto checked = space.check(configuration);
  EXPECT_FALSE(checked);
  return checked ? "" : checked.error().text();
}

TEST(SearchSpace, AcceptsValidConfigurationsAndExplainsRefusals) {
  const SearchSpace space = loader_space();
  Configuration configuration = loader_configuration();
  EXPECT_TRUE(space.check(configuration));

  configuration.set("batch_size", whole(48));
  EXPECT_EQ(objection(space, configuration),
            "/batch_size: 48 is not a value of batch_size: 16 to 512, powers of two");
  configuration = loader_configuration();
  configuration.set("thread", whole(1));
  EXPECT_THAT(objection(space, configuration), HasSubstr("did you mean \"threads\""));
  configuration = loader_configuration();
  configuration.erase("prefetch");
  EXPECT_THAT(objection(space, configuration), HasSubstr("a value for prefetch is missing"));
  configuration.set("workers", whole(0));
  EXPECT_TRUE(space.check(configuration));
  configuration.set("prefetch", whole(1));
  EXPECT_THAT(objection(space, configuration), HasSubstr("\"workers > 0\" is false"));
  configuration = loader_configuration();
  configuration.set("workers", whole(3));
  EXPECT_THAT(objection(space, configuration), HasSubstr("workers + threads <= 2 * cpus"));
}

TEST(SearchSpace, EnumeratesEachConfigurationOnce) {
  const SearchSpace space = loader_space();
  EXPECT_EQ(space.product_size(), 6u * 5 * 8 * 2 * 4);
  const auto all = space.enumerate(10'000);
  ASSERT_TRUE(all);
  std::size_t expected = 0;
  for (int workers = 0; workers <= 4; ++workers) {
    for (int threads = 1; threads <= 4; ++threads) {
      for (const bool bf16 : {false, true}) {
        if (workers + threads <= 4 && !(bf16 && threads > 3)) expected += workers > 0 ? 48 : 6;
      }
    }
  }
  EXPECT_EQ(all->size(), expected);
  const std::set<Configuration> distinct(all->begin(), all->end());
  EXPECT_EQ(distinct.size(), all->size());
  for (const Configuration& configuration : *all) {
    EXPECT_TRUE(space.contains(configuration)) << configuration.text();
    EXPECT_EQ(space.decode(space.encode(configuration)), configuration);
  }
  const auto points = space.enumerate_points(10'000);
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), all->size() * 5);
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Point point(points->begin() + static_cast<std::ptrdiff_t>(5 * i),
                      points->begin() + static_cast<std::ptrdiff_t>(5 * i + 5));
    EXPECT_EQ(point, space.encode((*all)[i]));
  }
  EXPECT_FALSE(space.enumerate(100));
  EXPECT_FALSE(space.enumerate_points(expected - 1));
}

TEST(SearchSpace, EnumeratesTightSpacesFarBelowTheirProduct) {
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    parameters.push_back(integer(name, 1, 64, Scale::linear));
  }
  const SearchSpace space =
      space_of(std::move(parameters), {"a == b", "b == c", "c == d", "d == e", "e == f"});
  EXPECT_EQ(space.product_size(), std::uint64_t{1} << 36);
  const auto points = space.enumerate_points(10'000);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 64u * 6);
  Rng rng(1, "tight");
  const auto drawn = space.sample(rng, 10);
  ASSERT_TRUE(drawn) << "falls back on enumeration";
  EXPECT_TRUE(space.contains(*drawn));
}

TEST(SearchSpace, DecodesAnyPointIntoActiveParametersOnly) {
  const SearchSpace space = loader_space();
  const Configuration idle = space.decode({0.5, 0.0, 0.7, 1.0, 0.3});
  EXPECT_EQ(idle.text(), "batch_size=128 precision=bf16 threads=2 workers=0");
  const Configuration busy = space.decode({2.0, 0.4, k_inactive, -5.0, NAN});
  EXPECT_EQ(busy.text(), "batch_size=512 precision=fp32 prefetch=1 threads=1 workers=2");
}

TEST(SearchSpace, SnapsToEncodedValues) {
  const SearchSpace space =
      space_of({integer("a", 1, 900, Scale::log), floating("b", 0.01, 3), boolean("c"),
                when(floating("d", 1e-5, 1e-1, Scale::log), "c && a > 4"), integer("e", 1, 1e6),
                when(categorical("f", {text("x"), text("y"), text("z")}), "b > 1 or e < 1000")},
               {"a * b < 2000", "f != 'z' or a > 2"});
  Rng rng(3, "snap");
  for (int i = 0; i < 2000; ++i) {
    Point point;
    for (int j = 0; j < 6; ++j)
      point.push_back(rng.uniform() * (j == 2 || j == 5 ? 2.5 : 1.0));
    const Configuration decoded = space.decode(point);
    const bool feasible = space.snap(point);
    EXPECT_EQ(point, space.encode(decoded));
    EXPECT_EQ(feasible, space.contains(decoded)) << decoded.text();
    Point again = point;
    EXPECT_EQ(space.snap(again), feasible);
    EXPECT_EQ(again, point);
  }
}

TEST(SearchSpace, SamplesLevelsEvenly) {
  const SearchSpace space = space_of({integer("a", 1, 4), categorical("b", {whole(1), whole(2)})});
  std::map<std::string, int> counts;
  Rng rng(1, "even");
  for (int i = 0; i < 8000; ++i)
    ++counts[space.sample(rng)->text()];
  ASSERT_EQ(counts.size(), 8u);
  for (const auto& [configuration, count] : counts)
    EXPECT_NEAR(count, 1000, 150) << configuration;
}

TEST(SearchSpace, NeighboursDifferInOneParameter) {
  const SearchSpace space = loader_space();
  const Configuration start = loader_configuration();
  const auto found = neighbours_of(space, start);
  std::set<std::string> texts;
  for (const Configuration& neighbour : found) {
    EXPECT_TRUE(space.contains(neighbour)) << neighbour.text();
    texts.insert(neighbour.text());
    int differing = 0;
    for (const auto& [name, value] : neighbour.values()) {
      if (name != "prefetch" && *start.find(name) != value) ++differing;
    }
    EXPECT_LE(differing, 1);
  }
  EXPECT_EQ(texts.size(), found.size()) << "each once";
  // 5 batch sizes, workers 0 and 1, 7 prefetch values, 1 precision, 1 thread
  EXPECT_EQ(found.size(), 5u + 2 + 7 + 1 + 1);
  EXPECT_TRUE(texts.contains("batch_size=64 precision=bf16 threads=2 workers=0"));

  Configuration idle = start;
  idle.set("workers", whole(0));
  idle.erase("prefetch");
  std::set<std::string> prefetches;
  for (const Configuration& neighbour : neighbours_of(space, idle)) {
    if (const Value* prefetch = neighbour.find("prefetch")) prefetches.insert(to_text(*prefetch));
  }
  EXPECT_EQ(prefetches, (std::set<std::string>{"1", "5", "8"})) << "first, middle, last";
}

/// Returns the neighbours of `value` of the only parameter `x`, in order.
std::vector<double> beside(const Parameter& parameter, const Value& value) {
  Configuration configuration;
  configuration.set("x", value);
  std::vector<double> numbers;
  for (const Configuration& neighbour : neighbours_of(space_of({parameter}), configuration))
    numbers.push_back(to_number(*neighbour.find("x")));
  std::ranges::sort(numbers);
  return numbers;
}

TEST(SearchSpace, ManyLevelsHaveAdjacentAndDistantNeighbours) {
  EXPECT_THAT(beside(integer("x", 0, 100), whole(50)),
              ElementsAre(18, 34, 42, 46, 48, 49, 51, 52, 54, 58, 66, 82));
  EXPECT_THAT(beside(integer("x", 0, 100), whole(0)), ElementsAre(1, 2, 4, 8, 16, 32, 64));
  EXPECT_THAT(beside(integer("x", 0, 100), whole(100)), ElementsAre(36, 68, 84, 92, 96, 98, 99));
  EXPECT_THAT(beside(integer("x", 1, 12), whole(5)),
              ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12))
      << "few levels: all of them";
}

TEST(SearchSpace, NeighboursOnAContinuousScaleLieInItsRange) {
  EXPECT_THAT(beside(floating("x", 0, 256), Value{128.0}),
              ElementsAre(64, 112, 124, 127, 129, 132, 144, 192));
  EXPECT_THAT(beside(floating("x", 0, 256), Value{0.0}), ElementsAre(1, 4, 16, 64));
  EXPECT_THAT(beside(floating("x", 0, 256), Value{256.0}), ElementsAre(192, 240, 252, 255));
}

TEST(SearchSpace, AnswersFromSeveralThreadsAtOnce) {
  const SearchSpace space = loader_space();
  const auto work = [&](std::uint64_t seed) {
    Rng rng(seed, "threads");
    std::size_t wrong = 0;
    for (int i = 0; i < 500; ++i) {
      const auto drawn = space.sample(rng);
      if (!drawn || !space.contains(*drawn)) ++wrong;
      for (const Configuration& neighbour : neighbours_of(space, *drawn)) {
        if (!space.contains(neighbour)) ++wrong;
      }
    }
    return wrong;
  };
  std::vector<std::future<std::size_t>> futures;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    futures.push_back(std::async(std::launch::async, work, seed));
  }
  for (auto& future : futures)
    EXPECT_EQ(future.get(), 0u);
}

TEST(SearchSpace, RefusesBadDefinitions) {
  EXPECT_THAT(space_fault({}), HasSubstr("no parameters"));
  EXPECT_THAT(space_fault({integer("a", 3, 2)}),
              HasSubstr("/parameters/a/low: the range is empty"));
  EXPECT_THAT(space_fault({integer("a", 0, 2), integer("a", 0, 2)}), HasSubstr("defined twice"));
  EXPECT_THAT(
      space_fault({when(integer("a", 0, 2), "b > 1"), integer("b", 0, 2)}),
      HasSubstr("/parameters/a/when: the condition of a mentions b, which is declared later"));
  EXPECT_THAT(space_fault({when(integer("a", 0, 2), "a > 1")}), HasSubstr("mentions itself"));
  EXPECT_THAT(space_fault({integer("a", 0, 2)}, {"a > 0", "aa < cpus"}),
              HasSubstr("/constraints/1: at character 1"));
}

TEST(SearchSpace, RefusesTextsThatNeverMatch) {
  const Parameter precision = categorical("precision", {text("fp32"), text("bf16")});
  EXPECT_THAT(space_fault({precision, when(integer("a", 0, 2), "precision == 'bf17'")}),
              HasSubstr("\"bf17\" is not a value of precision; did you mean \"bf16\"?"));
  EXPECT_THAT(space_fault({categorical("cores", {text("8"), text("16")})}, {"cores > 8"}),
              HasSubstr("without quotes"));
  EXPECT_THAT(space_fault({categorical("cores", {text("8"), text("16")})}, {"cores == 8"}),
              HasSubstr("without quotes"));
}

TEST(SearchSpace, RefusesConstraintsThatNothingSatisfies) {
  EXPECT_THAT(space_fault({integer("a", 0, 9), integer("b", 0, 9)}, {"a > 3", "a + b > 18"}),
              HasSubstr("/constraints/1: no configuration was found that satisfies the constraint "
                        "\"a + b > 18\""));
  EXPECT_THAT(space_fault({integer("a", 0, 9)}, {"a > 3", "a < 2"}),
              HasSubstr("satisfies all constraints together: the whole space"));
  EXPECT_THAT(space_fault({floating("a", 0, 1)}, {"a > 2"}),
              ::testing::AllOf(HasSubstr("drawn at random"), HasSubstr("narrow the ranges")));
  EXPECT_THAT(space_fault({integer("a", 0, 9)}, {"cpus > 64"}), HasSubstr("/constraints/0"));
}

}  // namespace
}  // namespace steptune::testing
