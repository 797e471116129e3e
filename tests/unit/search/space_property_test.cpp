// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/neighbours.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

constexpr std::uint64_t k_drawn_spaces = 80;
constexpr std::uint64_t k_most_listed = 20'000;

/// Returns random configurations of the space, drawn with this seed.
std::vector<Configuration> drawn_from(const SearchSpace& space, std::uint64_t seed, int count) {
  Rng rng(seed, "draws");
  std::vector<Configuration> drawn;
  for (int i = 0; i < count; ++i) {
    auto configuration = space.sample(rng);
    EXPECT_TRUE(configuration);
    if (configuration) drawn.push_back(*std::move(configuration));
  }
  return drawn;
}

TEST(AnySpace, GivesAConfigurationBackFromItsPoint) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    for (const Configuration& configuration : drawn_from(space, seed, 20)) {
      Point point = space.encode(configuration);
      EXPECT_EQ(space.decode(point).text(), configuration.text()) << "seed " << seed;
      const Point before = point;
      EXPECT_TRUE(space.snap(point));
      EXPECT_EQ(point, before) << "a point of the space is not moved";
      for (std::size_t i = 0; i < point.size(); ++i) {
        const bool active = configuration.contains(space.parameters()[i].name);
        EXPECT_EQ(point[i] == k_inactive, !active);
      }
    }
  }
}

TEST(AnySpace, ListsExactlyWhatItContains) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    const auto all = space.enumerate(k_most_listed);
    if (!all) continue;
    std::set<std::string> listed;
    for (const Configuration& configuration : *all) {
      EXPECT_TRUE(space.contains(configuration)) << configuration.text();
      listed.insert(configuration.text());
    }
    EXPECT_EQ(listed.size(), all->size()) << "each once";
    for (const Configuration& configuration : drawn_from(space, seed, 30))
      EXPECT_TRUE(listed.contains(configuration.text())) << configuration.text();
    const auto points = space.enumerate_points(k_most_listed);
    ASSERT_TRUE(points);
    EXPECT_EQ(points->size(), all->size() * space.parameters().size()) << "coordinates";
  }
}

TEST(AnySpace, RefusesMissingAndSurplusParametersAndForeignValues) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    for (const Configuration& configuration : drawn_from(space, seed, 5)) {
      for (const Parameter& parameter : space.parameters()) {
        Configuration changed = configuration;
        if (configuration.contains(parameter.name)) {
          changed.erase(parameter.name);
        } else {
          changed.set(parameter.name, parameter.at_position(0.0));
        }
        const auto wrong = space.check(changed);
        ASSERT_FALSE(wrong) << changed.text();
        EXPECT_NE(wrong.error().message.find(parameter.name), std::string::npos);
        const bool is_missing = configuration.contains(parameter.name);
        EXPECT_EQ(wrong.error().where, is_missing ? "" : "/" + parameter.name)
            << "a missing parameter has no place in the configuration";
        changed = configuration;
        changed.set(parameter.name, Value{std::string("no value of any parameter")});
        EXPECT_FALSE(space.contains(changed));
      }
      Configuration more = configuration;
      more.set("unheard_of", Value{std::int64_t{1}});
      ASSERT_FALSE(space.check(more));
      EXPECT_EQ(space.check(more).error().where, "/unheard_of");
    }
  }
}

TEST(AnySpace, NeighboursAreOtherConfigurationsEachOnce) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    for (const Configuration& configuration : drawn_from(space, seed, 4)) {
      std::set<std::string> texts;
      const auto neighbours = neighbours_of(space, configuration);
      for (const Configuration& neighbour : neighbours) {
        EXPECT_TRUE(space.contains(neighbour)) << neighbour.text();
        EXPECT_NE(neighbour.text(), configuration.text());
        texts.insert(neighbour.text());
        std::size_t changed = 0;
        for (const Parameter& parameter : space.parameters()) {
          const Value* before = configuration.find(parameter.name);
          const Value* after = neighbour.find(parameter.name);
          if (before != nullptr && after != nullptr && *before != *after) ++changed;
        }
        EXPECT_LE(changed, 1U) << configuration.text() << " and " << neighbour.text();
      }
      EXPECT_EQ(texts.size(), neighbours.size());
    }
  }
}

TEST(AnySpace, EveryAllowedOtherChoiceIsANeighbour) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    for (const Configuration& configuration : drawn_from(space, seed, 4)) {
      std::set<std::string> neighbours;
      for (const Configuration& neighbour : neighbours_of(space, configuration))
        neighbours.insert(neighbour.text());
      for (const Parameter& parameter : space.parameters()) {
        if (!parameter.unordered() || !configuration.contains(parameter.name)) continue;
        for (std::uint64_t level = 0; level < parameter.level_count().value(); ++level) {
          Configuration other = configuration;
          other.set(parameter.name, parameter.level(level));
          if (other == configuration || !space.contains(other)) continue;
          EXPECT_TRUE(neighbours.contains(other.text())) << other.text();
        }
      }
    }
  }
}

TEST(AnySpace, QuantilesGiveAConfigurationOfTheSpaceOrNone) {
  for (std::uint64_t seed = 0; seed < k_drawn_spaces; ++seed) {
    const SearchSpace space = random_space(seed);
    Rng rng(seed, "quantiles");
    for (int i = 0; i < 20; ++i) {
      std::vector<double> quantiles;
      for (std::size_t p = 0; p < space.parameters().size(); ++p)
        quantiles.push_back(i == 0 ? 0.0 : i == 1 ? 0.999999999 : rng.uniform());
      const auto point = space.point_at_quantiles(quantiles);
      if (point) {
        EXPECT_TRUE(space.contains(space.decode(*point)));
      }
      if (space.constraints().empty()) {
        EXPECT_TRUE(point);
      }
    }
  }
}

TEST(AnyParameter, LevelsPositionsAndValuesAgree) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, "parameter");
    const Parameter parameter = random_parameter(rng, "p");
    ASSERT_TRUE(parameter.check());
    if (const auto count = parameter.level_count()) {
      double before = -1.0;
      for (std::uint64_t level = 0; level < *count; ++level) {
        const Value value = parameter.level(level);
        EXPECT_EQ(parameter.level_of(value), level) << to_text(value);
        const double position = parameter.position_of(value);
        EXPECT_GT(position, before) << "positions rise with the levels";
        EXPECT_EQ(to_text(parameter.at_position(position)), to_text(value));
        before = position;
      }
      if (!parameter.unordered()) {
        EXPECT_LE(before, 1.0);
      }
      EXPECT_EQ(to_text(parameter.at_quantile(0.0)), to_text(parameter.level(0)));
      EXPECT_EQ(to_text(parameter.at_quantile(1.0 - 1e-9)), to_text(parameter.level(*count - 1)));
    }
    double before = -1.0;
    for (int i = 0; i < 50; ++i) {
      const Value value = parameter.at_quantile(static_cast<double>(i) / 50.0);
      const double position = parameter.position_of(value);
      ASSERT_FALSE(std::isnan(position)) << to_text(value) << " is one of its values";
      EXPECT_GE(position, before) << "values rise with the quantile";
      before = position;
    }
  }
}

TEST(AnyParameter, UniformQuantilesGiveEachLevelTheSameShare) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "shares");
    const Parameter parameter = random_parameter(rng, "p");
    const auto count = parameter.level_count();
    // On a log scale, equal factors have equal shares, but levels do not.
    if (!count || parameter.scale == Scale::log) continue;
    std::map<std::string, int> shares;
    const int draws = 400 * static_cast<int>(*count);
    for (int i = 0; i < draws; ++i)
      ++shares[to_text(parameter.at_quantile((i + 0.5) / draws))];
    ASSERT_EQ(shares.size(), *count);
    for (const auto& [value, share] : shares)
      EXPECT_NEAR(share, 400, 1) << value;
  }
}

}  // namespace
}  // namespace steptune::testing
