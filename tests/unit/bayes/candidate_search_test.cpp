// SPDX-License-Identifier: Apache-2.0
#include "search/searchers/bayes/candidate_search.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "search/searchers/bayes/feasibility_classifier.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using testing_spaces::choice;
using testing_spaces::create;
using testing_spaces::integer;
using testing_spaces::real;

constexpr std::size_t k_trials = 180;

SearchSpace wide_space() {
  return create({integer("a", 0, 15), choice("b", {"x", "y", "z"}), real("c", 0.0, 1.0),
                 real("d", 0.0, 1.0), integer("e", 0, 40)});
}

/// Random trials with one or two objectives. If `failures`, some of the trials fail.
struct Study {
  Study(const SearchSpace& wanted, std::size_t objectives, bool failures, bool risks = false)
      : space(wanted), feature_map(space), pool(space, feature_map) {
    const FeatureGroups& groups = feature_map.groups();
    for (std::size_t k = 0; k < objectives; ++k)
      learners.emplace_back(groups, groups.count - 1, true);
    FeasibilityLearner outcomes(groups, groups.count - 1);
    Rng rng(5, "study");
    std::vector<double> row(feature_map.width());
    for (std::size_t i = 0; i < k_trials; ++i) {
      const Point point = space.encode(*space.sample(rng));
      points.push_back(point);
      feature_map.write(point, row);
      outcomes.add(row, !failures || std::abs(point[2] - 0.35) > 0.2 || rng.uniform() < 0.2);
      for (std::size_t k = 0; k < objectives; ++k) {
        double value = 1.0 + 0.3 * std::sin(7.0 * row[0]) + 0.1 * row[1];
        for (const double feature : row)
          value += std::pow(feature - (k == 0 ? 0.3 : 0.8), 2.0);
        learners[k].add(row, value, 0.0);
      }
    }
    Acquisition::Inputs inputs;
    auto& member = inputs.ensemble.emplace_back();
    for (auto& learner : learners) {
      member.objectives.push_back(learner.models(Matrix(feature_map.width()), 1)[0]);
      auto& targets = member.feasible_targets.emplace_back();
      for (const double value : learner.values())
        targets.push_back(member.objectives.back().transform().forward(value));
    }
    if (failures) {
      inputs.feasibility = outcomes.classifier();
      inputs.feasibility_threshold = 0.5;
      inputs.takes_risks = risks;
    }
    acquisition.emplace(std::move(inputs));
  }

  [[nodiscard]] std::optional<BestCandidate> best(std::uint64_t seed, bool prune,
                                                  int threads = 1) const {
    CandidateSearch search{space, feature_map, pool,     *acquisition, {},
                           {},    {},          k_trials, threads,      prune};
    // a = 3 of 0 to 15 is encoded as 0.2.
    search.admissible = [](std::span<const double> point) { return point[0] != 0.2; };
    search.log_price = [](std::span<const double> point) { return 0.1 * point[0]; };
    search.promising.assign(points.begin(), points.begin() + 3);
    Rng rng(seed, "search");
    return find_best_candidate(search, rng);
  }

  [[nodiscard]] Candidates draw(std::uint64_t seed) const {
    Rng rng(seed, "candidates");
    return pool.draw(rng, 300);
  }
  [[nodiscard]] std::vector<double> scores(const Candidates& drawn,
                                           const std::vector<double>& floors = {}) const {
    std::vector<double> result(drawn.size());
    acquisition->score(drawn.features, 0, drawn.size(), floors, result);
    return result;
  }

  SearchSpace space;
  FeatureMap feature_map;
  CandidatePool pool;
  std::vector<Point> points;
  std::vector<ObjectiveLearner> learners;
  std::optional<Acquisition> acquisition;
};

class Pruning : public ::testing::TestWithParam<std::pair<std::size_t, bool>> {};

TEST_P(Pruning, FindsWhatScoringAllFinds) {
  const auto [objectives, failures] = GetParam();
  const Study study(wide_space(), objectives, failures);
  ASSERT_TRUE(study.acquisition->has_cheap_bounds());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto all = study.best(seed, false);
    const auto pruned = study.best(seed, true);
    const auto parallel = study.best(seed, true, 4);
    ASSERT_TRUE(all && pruned && parallel);
    EXPECT_EQ(pruned->point, all->point);
    EXPECT_NEAR(pruned->score, all->score, 1e-7);
    EXPECT_EQ(parallel->point, pruned->point);
    EXPECT_EQ(parallel->score, pruned->score);
  }
}

TEST_P(Pruning, BoundsLieAboveScoresAndExcludeBadCandidates) {
  const auto [objectives, failures] = GetParam();
  const Study study(wide_space(), objectives, failures);
  const Candidates drawn = study.draw(9);
  const std::vector<double> scores = study.scores(drawn);
  std::vector<double> bounds(drawn.size());
  study.acquisition->bound(drawn.features, 0, drawn.size(), bounds);
  const double best = *std::max_element(scores.begin(), scores.end());
  int left_out = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_GE(bounds[i], scores[i] - 1e-6 * (1.0 + std::abs(scores[i])));
    left_out += bounds[i] < best ? 1 : 0;
  }
  EXPECT_GT(left_out, 30);
}

TEST_P(Pruning, ScoresAboveTheirFloorAreExact) {
  const auto [objectives, failures] = GetParam();
  const Study study(wide_space(), objectives, failures);
  const Candidates drawn = study.draw(11);
  const std::vector<double> exact = study.scores(drawn);
  std::vector<double> sorted = exact;
  std::sort(sorted.begin(), sorted.end());
  for (const double floor : {sorted[30], sorted[150], sorted[290]}) {
    const auto scores = study.scores(drawn, std::vector<double>(drawn.size(), floor));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (exact[i] > floor) {
        EXPECT_NEAR(scores[i], exact[i], 1e-9 * (1.0 + std::abs(exact[i])));
      } else {
        EXPECT_LE(scores[i], floor);
      }
    }
  }
}

TEST(Acquisition, UnlikelyCandidatesComeLastUnlessRisksAreTaken) {
  const Study careful(wide_space(), 1, true);
  const Study daring(wide_space(), 1, true, true);
  const Candidates drawn = careful.draw(13);
  const std::vector<double> last = careful.scores(drawn);
  const std::vector<double> risked = daring.scores(drawn);
  int tried = 0;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i] > -1e6) {
      EXPECT_EQ(risked[i], last[i]);
    } else {
      tried += risked[i] > -1e3 ? 1 : 0;
    }
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(OneAndTwoObjectives, Pruning,
                         ::testing::Values(std::pair{std::size_t{1}, false},
                                           std::pair{std::size_t{1}, true},
                                           std::pair{std::size_t{2}, false}));

TEST(CandidateSearch, AnExhaustivePassFindsTheBestOfAll) {
  const SearchSpace space = create({integer("a", 0, 15), choice("b", {"x", "y", "z"})});
  const Study study(space, 1, false);
  const Candidates& all = *study.pool.all();
  std::vector<double> scores(all.size());
  study.acquisition->score(all.features, 0, all.size(), scores);
  double best = -1e300;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.point(i)[0] != 0.2) best = std::max(best, scores[i] - 0.1 * all.point(i)[0]);
  }
  const auto found = study.best(1, true);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->score, best, 1e-9 * std::abs(best));
}

}  // namespace
}  // namespace steptune::bayes
