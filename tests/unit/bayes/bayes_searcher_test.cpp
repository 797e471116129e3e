// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/bayes_searcher.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using testing_spaces::batch_space;
using testing_spaces::create;
using testing_spaces::integer;
using testing_spaces::mixed_space;
using testing_spaces::real;

using Objective = std::function<std::vector<double>(const Configuration&)>;

Observation observation_of(std::int64_t trial, const Configuration& configuration,
                           const Objective& objective) {
  Observation observation;
  observation.trial = trial;
  observation.configuration = configuration;
  observation.values = objective(configuration);
  observation.standard_errors.assign(observation.values.size(), 0.0);
  if (observation.values.empty()) observation.kind = ObservationKind::failed;
  return observation;
}

std::optional<Suggestion> ask(Searcher& searcher, std::int64_t trial,
                              std::span<const Configuration> running = {}) {
  SuggestRequest request;
  request.trial = trial;
  request.running = running;
  auto suggestion = searcher.suggest(request);
  EXPECT_TRUE(suggestion) << suggestion.error().text();
  return suggestion.value_or(std::nullopt);
}

std::vector<Observation> run(Searcher& searcher, const Objective& objective, int trials,
                             int first = 1) {
  std::vector<Observation> history;
  for (int trial = first; trial < first + trials; ++trial) {
    const auto suggestion = ask(searcher, trial);
    if (!suggestion) break;
    history.push_back(observation_of(trial, suggestion->configuration, objective));
    searcher.observe(history.back());
  }
  return history;
}

double number(const Configuration& configuration, const char* name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? 0.0 : to_number(*value);
}

/// Step time of a made-up trainer, whose best configuration has many workers, bf16 and a medium
/// batch.
std::vector<double> step_time(const Configuration& configuration) {
  const double batch = std::log2(number(configuration, "batch"));
  const double workers = number(configuration, "workers");
  const auto& precision = std::get<std::string>(*configuration.find("precision"));
  const double compute = (precision == "bf16" ? 1.0 : 1.8) * (1.0 + 0.2 * std::abs(batch - 7.0));
  const double data = 4.0 / (1.0 + workers) / (1.0 + 0.2 * number(configuration, "prefetch"));
  return {std::max(compute, data) + 0.02 * workers};
}

SearcherOptions options(std::uint64_t seed, int threads = 1, std::size_t objectives = 1) {
  SearcherOptions result;
  result.seed = seed;
  result.threads = threads;
  result.objectives.assign(objectives, ObjectiveTraits{true});
  return result;
}

/// Reports random earlier trials of the space, on a machine half as fast.
void observe_earlier_study(Searcher& searcher, const SearchSpace& space, int trials) {
  Rng rng(5, "earlier");
  for (int i = 0; i < trials; ++i) {
    Observation observation = observation_of(i + 1, *space.sample(rng), step_time);
    observation.values[0] *= 2.0;
    searcher.observe_earlier(0, observation);
  }
}

TEST(BayesSearcher, FirstTrialsVaryTwoLevelParametersSeparately) {
  constexpr int k_parameters = 12;
  std::vector<Parameter> parameters;
  for (int i = 0; i < k_parameters; ++i)
    parameters.push_back(integer("p" + std::to_string(i), 0, 1));
  const SearchSpace space = create(parameters);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    BayesSearcher searcher(space, options(seed));
    const auto first = run(
        searcher, [](const Configuration&) { return std::vector{1.0}; }, 10);
    ASSERT_EQ(first.size(), 10U);
    const auto level = [&](std::size_t trial, int parameter) {
      return number(first[trial].configuration, ("p" + std::to_string(parameter)).c_str());
    };
    for (int one = 0; one < k_parameters; ++one) {
      int upper = 0;
      for (std::size_t trial = 0; trial < 10; ++trial)
        upper += level(trial, one) > 0.0 ? 1 : 0;
      EXPECT_EQ(upper, 5) << "seed " << seed << ", parameter " << one;
      for (int other = 0; other < one; ++other) {
        int equal = 0;
        for (std::size_t trial = 0; trial < 10; ++trial)
          equal += level(trial, one) == level(trial, other) ? 1 : 0;
        EXPECT_GT(equal, 0) << "seed " << seed << ", parameters " << other << " and " << one;
        EXPECT_LT(equal, 10) << "seed " << seed << ", parameters " << other << " and " << one;
      }
    }
  }
}

TEST(BayesSearcher, AnEarlierStudyGuidesTheFirstTrials) {
  const SearchSpace space = mixed_space();
  const auto best_of_ten = [&](int earlier_trials) {
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      BayesSearcher searcher(space, options(seed));
      observe_earlier_study(searcher, space, earlier_trials);
      double best = 1e9;
      for (const Observation& observation : run(searcher, step_time, 8))
        best = std::min(best, observation.values[0]);
      sum += best;
    }
    return sum / 4;
  };
  EXPECT_LT(best_of_ten(60), best_of_ten(0));
}

TEST(BayesSearcher, ConfigurationsOfEarlierStudiesMayBeTriedAgain) {
  const SearchSpace space = create({integer("x", 0, 9)});
  BayesSearcher searcher(space, options(1));
  const Objective distance = [](const Configuration& c) {
    return std::vector{1.0 + std::abs(number(c, "x") - 7.0)};
  };
  for (int x = 0; x < 10; ++x) {
    Configuration configuration;
    configuration.set("x", std::int64_t{x});
    searcher.observe_earlier(0, observation_of(x + 1, configuration, distance));
  }
  const auto history = run(searcher, distance, 20);
  ASSERT_EQ(history.size(), 10U) << "the whole space, each once";
  const auto first_best = std::find_if(history.begin(), history.end(),
                                       [](const Observation& o) { return o.values[0] == 1.0; });
  EXPECT_LE(first_best - history.begin(), 2) << "right after the two space-filling points";
}

TEST(BayesSearcher, ReportsOnceThatNothingCouldBeMeasured) {
  const SearchSpace space = mixed_space();
  BayesSearcher searcher(space, options(1));
  const Objective failing = [](const Configuration&) { return std::vector<double>{}; };
  run(searcher, failing, 3);
  EXPECT_TRUE(searcher.take_warnings().empty()) << "bad luck so far";
  run(searcher, failing, 7, 4);
  const auto warnings = searcher.take_warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].find("nothing-measured: all 10 trials"), 0U) << warnings[0];
  run(searcher, failing, 1, 11);
  EXPECT_TRUE(searcher.take_warnings().empty());
}

TEST(BayesSearcher, MeasuredPeaksLimitTheBatch) {
  // Memory grows with the batch and is exhausted at 48; speed grows, too. No memory effect is
  // declared.
  const SearchSpace space = create({integer("batch", 1, 128), integer("workers", 0, 7)});
  const auto tried = [&](std::int64_t trial, const Configuration& configuration) {
    Observation observation = observation_of(trial, configuration, [](const Configuration& c) {
      return std::vector{1.0 + 10.0 / number(c, "batch") +
                         0.01 * std::abs(number(c, "workers") - 3.0)};
    });
    if (number(configuration, "batch") > 48) {
      observation.kind = ObservationKind::out_of_memory;
      observation.values.clear();
      observation.standard_errors.clear();
    } else {
      observation.peak_memory_bytes = 1e9 + 2e8 * number(configuration, "batch");
    }
    return observation;
  };
  BayesSearcher searcher(space, options(3));
  std::int64_t trial = 0;
  for (const std::int64_t batch : {2, 8, 20, 30, 40, 12, 5, 100, 70}) {
    Configuration configuration;
    configuration.set("batch", batch);
    configuration.set("workers", batch % 8);
    searcher.observe(tried(++trial, configuration));
  }
  int failures = 0;
  double largest = 0.0;
  for (int i = 0; i < 8; ++i) {
    const auto suggestion = ask(searcher, ++trial);
    const Observation observation = tried(trial, suggestion->configuration);
    const double batch = number(observation.configuration, "batch");
    if (observation.values.empty()) {
      ++failures;
      EXPECT_LT(batch, 70) << "as large as the batch that ran out of memory";
    } else {
      largest = std::max(largest, batch);
    }
    searcher.observe(observation);
  }
  EXPECT_LE(failures, 3);
  EXPECT_GT(largest, 40) << "larger than any batch that was seen to fit";
}

TEST(BayesSearcher, FindsTheBestOfAMixedConditionalSpace) {
  const SearchSpace space = mixed_space();
  const auto all = space.enumerate(100'000);
  ASSERT_TRUE(all);
  double optimum = 1e300;
  for (const auto& configuration : *all)
    optimum = std::min(optimum, step_time(configuration)[0]);
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    BayesSearcher searcher(space, options(seed));
    const auto history = run(searcher, step_time, 40);
    found += std::any_of(history.begin(), history.end(), [&](const Observation& observation) {
      return observation.values[0] <= 1.03 * optimum;
    });
  }
  EXPECT_GE(found, 4);
}

TEST(BayesSearcher, EverySuggestionIsInTheSpaceAndNew) {
  const SearchSpace space = mixed_space();
  BayesSearcher searcher(space, options(3));
  std::set<Configuration> seen;
  for (const Observation& observation : run(searcher, step_time, 60)) {
    EXPECT_TRUE(space.check(observation.configuration)) << observation.configuration.text();
    EXPECT_TRUE(seen.insert(observation.configuration).second);
  }
  EXPECT_EQ(seen.size(), 60U);
}

TEST(BayesSearcher, ExhaustsASmallSpaceAndSaysSo) {
  const SearchSpace space = create({integer("a", 0, 3), integer("b", 0, 4)}, {"a + b < 6"});
  BayesSearcher searcher(space, options(0));
  const auto history = run(
      searcher, [](const Configuration& c) { return std::vector{1.0 + number(c, "a")}; }, 100);
  EXPECT_EQ(history.size(), space.enumerate(1000)->size());
  EXPECT_EQ(searcher.why_done(), k_all_tried);
}

TEST(BayesSearcher, FindsTheFewConfigurationsThatConstraintsLeave) {
  const SearchSpace space = create({integer("a", 1, 700), integer("b", 1, 700)}, {"a * b == 400"});
  BayesSearcher searcher(space, options(0));
  const auto history = run(
      searcher, [](const Configuration& c) { return std::vector{1.0 + number(c, "a")}; }, 100);
  EXPECT_EQ(history.size(), 15U) << "the divisors of 400";
  EXPECT_EQ(searcher.why_done(), k_all_tried);
}

TEST(BayesSearcher, ReportsExcludedMemory) {
  const SearchSpace space = batch_space();
  BayesSearcher searcher(space, options(4));
  std::size_t trials = 0;
  for (; trials < 80; ++trials) {
    const auto suggestion = ask(searcher, static_cast<std::int64_t>(trials) + 1);
    if (!suggestion) break;
    Observation observation;
    observation.configuration = suggestion->configuration;
    observation.kind = ObservationKind::out_of_memory;
    searcher.observe(observation);
  }
  EXPECT_LT(trials, 80U);
  EXPECT_EQ(searcher.why_done(),
            "every configuration of the search space has been tried, except those that need at "
            "least as much memory as one that ran out of it");
}

std::vector<double> step_time_or_failure(const Configuration& c) {
  return number(c, "batch") * number(c, "workers") > 1500 ? std::vector<double>{} : step_time(c);
}

TEST(BayesSearcher, SuggestionsDoNotDependOnThreads) {
  const SearchSpace space = mixed_space();
  for (const auto& trial : {step_time, step_time_or_failure}) {
    BayesSearcher one(space, options(5, 1));
    BayesSearcher many(space, options(5, 8));
    const auto a = run(one, trial, 30);
    const auto b = run(many, trial, 30);
    ASSERT_EQ(a.size(), 30U);
    ASSERT_EQ(b.size(), 30U);
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(a[i].configuration, b[i].configuration) << i;
  }
}

TEST(BayesSearcher, ContinuesTheSameAfterARestart) {
  const SearchSpace space = mixed_space();
  BayesSearcher whole(space, options(8));
  const auto history = run(whole, step_time_or_failure, 45);
  ASSERT_EQ(history.size(), 45U);
  for (const std::size_t cut : {4U, 17U, 30U, 41U}) {
    BayesSearcher resumed(space, options(8));
    for (std::size_t i = 0; i < cut; ++i)
      resumed.observe(history[i]);
    const auto rest =
        run(resumed, step_time_or_failure, static_cast<int>(45 - cut), static_cast<int>(cut) + 1);
    ASSERT_EQ(rest.size(), 45 - cut);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      ASSERT_EQ(rest[i].configuration, history[cut + i].configuration) << cut << " + " << i;
    }
  }
}

TEST(BayesSearcher, DoesNotSuggestWhatIsRunning) {
  const SearchSpace space = create({integer("a", 0, 19), integer("b", 0, 4)});
  BayesSearcher searcher(space, options(1));
  const auto objective = [](const Configuration& c) {
    return std::vector{1.0 + std::abs(number(c, "a") - 11.0) + number(c, "b")};
  };
  run(searcher, objective, 20);
  std::vector<Configuration> running;
  for (int trial = 21; trial < 37; ++trial) {
    const auto suggestion = ask(searcher, trial, running);
    ASSERT_TRUE(suggestion);
    EXPECT_EQ(std::count(running.begin(), running.end(), suggestion->configuration), 0);
    running.push_back(suggestion->configuration);
  }
}

TEST(BayesSearcher, LearnsWhatFails) {
  const SearchSpace space = create({integer("a", 0, 31), integer("b", 0, 31)});
  const auto objective = [](const Configuration& c) {
    if (number(c, "a") + number(c, "b") > 31) return std::vector<double>{};
    return std::vector{100.0 - 2.0 * number(c, "a") - number(c, "b")};
  };
  BayesSearcher searcher(space, options(2));
  const auto history = run(searcher, objective, 60);
  const auto failed = [](const Observation& o) { return o.values.empty(); };
  EXPECT_LE(std::count_if(history.begin() + 10, history.end(), failed), 25);
  double best = 1e300;
  for (const auto& observation : history) {
    if (!failed(observation)) best = std::min(best, observation.values[0]);
  }
  EXPECT_LE(best, 40.0);
}

TEST(BayesSearcher, NeverExceedsABatchThatRanOutOfMemory) {
  const SearchSpace space = batch_space();
  BayesSearcher searcher(space, options(4));
  std::map<std::string, double> smallest_failed;  // by the configuration without the batch
  for (int trial = 1; trial <= 40; ++trial) {
    const auto suggestion = ask(searcher, trial);
    if (!suggestion) break;
    const double batch = number(suggestion->configuration, "batch");
    Configuration rest = suggestion->configuration;
    rest.erase("batch");
    const auto failed = smallest_failed.find(rest.text());
    if (failed != smallest_failed.end()) {
      EXPECT_LT(batch, failed->second) << suggestion->configuration.text();
    }
    Observation observation = observation_of(
        trial, suggestion->configuration,
        [](const Configuration& c) { return std::vector{1.0 / number(c, "batch")}; });
    if (batch > 8) {
      observation.kind = ObservationKind::out_of_memory;
      observation.values.clear();
      double& smallest = smallest_failed.try_emplace(rest.text(), batch).first->second;
      smallest = std::min(smallest, batch);
    }
    searcher.observe(observation);
  }
  EXPECT_FALSE(smallest_failed.empty());
}

/// Returns the number of the model's suggestions that start a cold machine, if that costs
/// `price_of_cold`.
int cold_suggestions(double price_of_cold) {
  const SearchSpace space =
      create({integer("a", 0, 40), testing_spaces::choice("machine", {"warm", "cold"})});
  const auto is_cold = [](const Configuration& c) {
    return std::get<std::string>(*c.find("machine")) == "cold";
  };
  BayesSearcher searcher(space, options(6));
  int cold = 0;
  for (int trial = 1; trial <= 12; ++trial) {
    SuggestRequest request;
    request.trial = trial;
    request.price = [&](const Configuration& c) { return is_cold(c) ? price_of_cold : 1.0; };
    const auto suggestion = searcher.suggest(request);
    if (!suggestion || !*suggestion) break;
    const Configuration& configuration = (*suggestion)->configuration;
    if ((*suggestion)->origin == "bayes" && is_cold(configuration)) ++cold;
    searcher.observe(observation_of(trial, configuration, [](const Configuration& c) {
      return std::vector{5.0 + std::abs(number(c, "a") - 23.0)};
    }));
  }
  return cold;
}

TEST(BayesSearcher, AvoidsWhatIsExpensiveToTry) {
  EXPECT_LT(2 * cold_suggestions(1e6), cold_suggestions(1.0));
  EXPECT_GE(cold_suggestions(1e-6), 7);
}

/// Returns the machines of the first suggestions, before any observation.
std::set<std::string> machines_of_first(int suggestions,
                                        const std::function<double(const Configuration&)>& price) {
  const SearchSpace space =
      create({integer("a", 0, 40), testing_spaces::choice("machine", {"one", "two", "three"})});
  BayesSearcher searcher(space, options(3));
  std::vector<Configuration> running;
  std::set<std::string> machines;
  for (int trial = 1; trial <= suggestions; ++trial) {
    SuggestRequest request;
    request.trial = trial;
    request.running = running;
    request.price = price;
    const auto suggestion = searcher.suggest(request);
    if (!suggestion || !*suggestion) break;
    EXPECT_EQ((*suggestion)->origin, "sobol");
    running.push_back((*suggestion)->configuration);
    machines.insert(std::get<std::string>(*running.back().find("machine")));
  }
  EXPECT_EQ(std::set(running.begin(), running.end()).size(), running.size()) << "none twice";
  return machines;
}

TEST(BayesSearcher, FirstPointsWithPricesAreOnTheCheapestMachine) {
  EXPECT_GT(machines_of_first(4, nullptr).size(), 1U);
  EXPECT_EQ(machines_of_first(4,
                              [](const Configuration& c) {
                                return std::get<std::string>(*c.find("machine")) == "two" ? 1.0
                                                                                          : 3.0;
                              }),
            std::set<std::string>{"two"});
}

TEST(BayesSearcher, ApproachesTheFrontOfTwoObjectives) {
  const SearchSpace space = create({integer("a", 0, 20), integer("b", 0, 20), integer("c", 0, 5)});
  const auto objective = [](const Configuration& c) {
    const double a = number(c, "a") / 20.0;
    const double g = 1.0 + number(c, "b") / 4.0 + number(c, "c");
    return std::vector{0.1 + a, g * (2.0 - std::sqrt(a / g))};
  };
  BayesSearcher searcher(space, options(7, 1, 2));
  std::vector<Pair> pairs;
  for (const auto& observation : run(searcher, objective, 40)) {
    pairs.push_back({observation.values[0], observation.values[1]});
  }
  const Pair reference{1.2, 6.0};
  std::vector<Pair> ideal;
  for (int a = 0; a <= 20; ++a)
    ideal.push_back({0.1 + a / 20.0, 2.0 - std::sqrt(a / 20.0)});
  EXPECT_GT(dominated_area(pareto_front(pairs), reference),
            0.9 * dominated_area(pareto_front(ideal), reference));
}

TEST(BayesSearcher, ExpectsLessTheMoreItKnows) {
  const SearchSpace space = create({integer("a", 0, 30), integer("b", 0, 30)});
  BayesSearcher searcher(space, options(9));
  std::vector<double> expected;
  for (int trial = 1; trial <= 45; ++trial) {
    const auto suggestion = ask(searcher, trial);
    ASSERT_TRUE(suggestion);
    if (suggestion->expected_improvement) expected.push_back(*suggestion->expected_improvement);
    searcher.observe(observation_of(trial, suggestion->configuration, [](const Configuration& c) {
      return std::vector{1.0 + std::pow(number(c, "a") / 30.0 - 0.4, 2) +
                         0.5 * number(c, "b") / 30.0};
    }));
  }
  ASSERT_GT(expected.size(), 20U);
  for (const double share : expected) {
    EXPECT_GE(share, 0.0);
    EXPECT_LE(share, 1.0);
  }
  EXPECT_LT(expected.back(), 0.01);
}

TEST(BayesSearcher, UsesObservationsThatItDidNotSuggest) {
  const SearchSpace space = mixed_space();
  Configuration foreign;
  foreign.set("batch", Value{std::int64_t{7}});
  foreign.set("unheard", Value{true});
  BayesSearcher searcher(space, options(1));
  Observation observation;
  observation.configuration = foreign;
  observation.values = {1.0};
  observation.standard_errors = {0.0};
  searcher.observe(observation);
  Rng rng(1, "hints");
  std::vector<Configuration> hints;
  for (int trial = 1; trial < 12; ++trial) {
    hints.push_back(*space.sample(rng));
    searcher.observe(observation_of(trial, hints.back(), step_time));
  }
  const auto suggestion = ask(searcher, 12);
  ASSERT_TRUE(suggestion);
  EXPECT_EQ(suggestion->origin, "bayes");
  EXPECT_EQ(std::count(hints.begin(), hints.end(), suggestion->configuration), 0);
}

}  // namespace
}  // namespace steptune::bayes
