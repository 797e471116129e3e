// SPDX-License-Identifier: Apache-2.0
// Properties of first guesses after random measurements, over fixed seeds.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/searchers/basic_searchers.hpp"
#include "tests/unit/knobs/counted_parameter.hpp"
#include "tuner/knobs/first_guesses.hpp"

namespace steptune {
namespace {

SearchSpace training_knobs() {
  Parameter batch = counted("batch_size", 8, 1024, Scale::log2);
  batch.memory = MemoryEffect::increases;
  Parameter prefetch = counted("prefetch_factor", 1, 8);
  prefetch.when = "num_workers > 0";
  Parameter pin;
  pin.name = "pin_memory";
  pin.kind = ParameterKind::boolean;
  return *SearchSpace::create(
      {batch, counted("num_workers", 0, 32), prefetch, pin, counted("num_threads", 1, 32),
       chosen("precision", {std::string("fp32"), std::string("bf16"), std::string("fp16")}),
       chosen("instance_type", {std::string("small"), std::string("large")}),
       counted("hidden_layers", 1, 9)},
      {"num_workers + num_threads <= 40"}, {});
}

GuessMachine random_machine(Rng& rng) {
  return {static_cast<int>(1 + rng.below(64)), static_cast<int>(rng.below(3)), rng.below(2) == 0};
}

/// Successive suggestions, with random ends of the trials.
struct Course {
  Configuration baseline;
  std::vector<Observation> observations;
};

Course random_course(const SearchSpace& space, std::uint64_t seed) {
  Rng rng(seed, "guesses");
  Course course;
  course.baseline = *space.sample(rng);
  const FirstGuesses guesses(space, course.baseline, random_machine(rng));
  Configuration next = course.baseline;
  for (;;) {
    Observation observation;
    observation.trial = std::ssize(course.observations) + 1;
    observation.configuration = next;
    const std::uint64_t end = rng.below(6);
    observation.kind = end == 0   ? ObservationKind::out_of_memory
                       : end == 1 ? ObservationKind::failed
                                  : ObservationKind::complete;
    if (course.observations.empty()) observation.kind = ObservationKind::complete;
    if (observation.kind == ObservationKind::complete) {
      observation.values = {std::exp(rng.normal())};
      observation.standard_errors = {0.0};
    }
    course.observations.push_back(observation);
    const auto guess = guesses.next(course.observations, {});
    if (!guess) return course;
    next = *guess;
  }
}

TEST(AnyFirstGuess, IsANewConfigurationOfTheSpace) {
  const SearchSpace space = training_knobs();
  std::size_t guessed = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Course course = random_course(space, seed);
    EXPECT_LE(course.observations.size(), 60U) << seed;
    std::set<std::string> seen;
    for (const Observation& observation : course.observations) {
      EXPECT_TRUE(space.contains(observation.configuration))
          << seed << ": " << observation.configuration.text();
      EXPECT_TRUE(seen.insert(observation.configuration.text()).second) << seed;
    }
    guessed += course.observations.size() - 1;
  }
  EXPECT_GT(guessed, 200U);
}

TEST(AnyFirstGuess, KeepsUnknownParameters) {
  const SearchSpace space = training_knobs();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Course course = random_course(space, seed);
    for (const Observation& observation : course.observations) {
      for (const char* name : {"hidden_layers", "instance_type"})
        EXPECT_EQ(*observation.configuration.find(name), *course.baseline.find(name)) << seed;
    }
  }
}

/// True if one of the first `count` trials was measured, with the precision of `configuration` and
/// at least its batch size.
bool has_run_before(const std::vector<Observation>& all, std::size_t count,
                    const Configuration& configuration) {
  return std::any_of(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), [&](const Observation& its) {
        return its.kind == ObservationKind::complete &&
               *its.configuration.find("precision") == *configuration.find("precision") &&
               to_number(*its.configuration.find("batch_size")) >=
                   to_number(*configuration.find("batch_size"));
      });
}

TEST(AnyFirstGuess, NeedsLessMemoryThanTrialsThatRanOutOfIt) {
  const SearchSpace space = training_knobs();
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto& all = random_course(space, seed).observations;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != ObservationKind::out_of_memory) continue;
      for (std::size_t later = i + 1; later < all.size(); ++later) {
        const Configuration& guess = all[later].configuration;
        if (*guess.find("precision") != *all[i].configuration.find("precision")) continue;
        if (has_run_before(all, later, all[i].configuration)) continue;
        EXPECT_LT(to_number(*guess.find("batch_size")),
                  to_number(*all[i].configuration.find("batch_size")))
            << seed;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(AnyFirstGuess, IsTheSameForTheSameHistory) {
  const SearchSpace space = training_knobs();
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Course one = random_course(space, seed);
    const Course other = random_course(space, seed);
    ASSERT_EQ(one.observations.size(), other.observations.size());
    for (std::size_t i = 0; i < one.observations.size(); ++i)
      EXPECT_EQ(one.observations[i].configuration, other.observations[i].configuration);
  }
}

TEST(GuidedSearcher, HandsOverAfterItsGuessesAndRepeatsNone) {
  const SearchSpace space = training_knobs();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "guided");
    const Configuration baseline = *space.sample(rng);
    SearcherOptions options;
    options.seed = seed;
    const auto searcher = with_first_guesses(make_random_searcher(space, options), space, baseline,
                                             random_machine(rng), options.objectives);
    std::set<std::string> seen{baseline.text()};
    bool handed_over = false;
    Observation first;
    first.trial = 1;
    first.configuration = baseline;
    first.values = {1.0};
    first.standard_errors = {0.0};
    searcher->observe(first);
    for (std::int64_t trial = 2; trial < 60; ++trial) {
      const auto suggestion = searcher->suggest({trial, {}, {}});
      ASSERT_TRUE(suggestion && *suggestion) << seed;
      handed_over = handed_over || (*suggestion)->origin != "expert";
      EXPECT_TRUE(seen.insert((*suggestion)->configuration.text()).second) << seed;
      Observation observation = first;
      observation.trial = trial;
      observation.configuration = (*suggestion)->configuration;
      observation.values = {std::exp(rng.normal())};
      searcher->observe(observation);
    }
    EXPECT_TRUE(handed_over);
  }
}

}  // namespace
}  // namespace steptune
