// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/memory_rule.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using testing_spaces::create;
using testing_spaces::integer;

Parameter of_memory(Parameter parameter, MemoryEffect effect) {
  parameter.memory = effect;
  return parameter;
}

/// Returns a space in which larger batches and more workers need more memory, and more accumulation
/// less.
SearchSpace memory_space() {
  Parameter prefetch = of_memory(integer("prefetch", 1, 8), MemoryEffect::increases);
  prefetch.when = "workers > 0";
  return create({of_memory(integer("batch", 1, 64), MemoryEffect::increases),
                 of_memory(integer("accumulation", 1, 8), MemoryEffect::decreases),
                 of_memory(integer("workers", 0, 8), MemoryEffect::increases), prefetch,
                 integer("threads", 1, 8)});
}

/// Returns a configuration with 4 threads and, if it has workers, with `prefetch`.
Configuration with(std::int64_t batch, std::int64_t accumulation, std::int64_t workers = 0,
                   std::int64_t prefetch = 2) {
  Configuration configuration;
  configuration.set("batch", batch);
  configuration.set("accumulation", accumulation);
  configuration.set("workers", workers);
  if (workers > 0) configuration.set("prefetch", prefetch);
  configuration.set("threads", std::int64_t{4});
  return configuration;
}

class MemoryRuleTest : public testing::Test {
 protected:
  void runs_out(const Configuration& configuration) { rule_.add(space_.encode(configuration)); }
  [[nodiscard]] bool excludes(const Configuration& configuration) const {
    return rule_.excludes(space_.encode(configuration));
  }

 private:
  SearchSpace space_ = memory_space();
  MemoryRule rule_{space_};
};

TEST_F(MemoryRuleTest, ExcludesConfigurationsThatNeedAtLeastAsMuch) {
  EXPECT_FALSE(excludes(with(32, 4)));
  runs_out(with(32, 4));
  EXPECT_TRUE(excludes(with(32, 4)));
  EXPECT_TRUE(excludes(with(33, 4)));
  EXPECT_TRUE(excludes(with(32, 3)));
  EXPECT_TRUE(excludes(with(64, 1)));
  EXPECT_FALSE(excludes(with(31, 4)));
  EXPECT_FALSE(excludes(with(32, 5)));
  EXPECT_FALSE(excludes(with(64, 5)))
      << "one parameter saves memory, which may make up for the other";
  EXPECT_FALSE(excludes(with(31, 1)));
}

TEST_F(MemoryRuleTest, IsSilentIfAnotherParameterDiffers) {
  runs_out(with(32, 4));
  Configuration other = with(64, 4);
  other.set("threads", std::int64_t{5});
  EXPECT_FALSE(excludes(other));
}

TEST_F(MemoryRuleTest, IgnoresParametersThatAreActiveInOneConfigurationOnly) {
  runs_out(with(32, 4, 0));
  EXPECT_FALSE(excludes(with(32, 4, 2)));
  runs_out(with(16, 4, 2, 4));
  EXPECT_TRUE(excludes(with(16, 4, 3, 4)));
  EXPECT_TRUE(excludes(with(16, 4, 2, 5)));
  EXPECT_FALSE(excludes(with(16, 4, 2, 3)));
  EXPECT_FALSE(excludes(with(16, 4, 0)));
}

TEST(MemoryRule, ExcludesNothingWithoutADeclaration) {
  const SearchSpace space = create({integer("batch", 1, 64)});
  MemoryRule rule(space);
  Configuration configuration;
  configuration.set("batch", std::int64_t{32});
  rule.add(space.encode(configuration));
  EXPECT_FALSE(rule.excludes(space.encode(configuration)));
}

}  // namespace
}  // namespace steptune::bayes
