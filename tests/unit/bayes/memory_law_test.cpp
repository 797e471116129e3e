// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/searchers/bayes/memory_model.hpp"
#include "tests/unit/bayes/spaces.hpp"

namespace steptune::bayes {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
  Matrix matrix(rows[0].size());
  for (const std::vector<double>& row : rows)
    matrix.append_row(row);
  return matrix;
}

TEST(MemoryLaw, FindsTheCoefficientsOfALaw) {
  const Matrix terms = matrix_of({{1, 1, 0.5}, {1, 2, 0.5}, {1, 4, 0.25}, {1, 8, 1.0}, {1, 3, 1}});
  std::vector<double> values;
  for (std::size_t i = 0; i < terms.rows(); ++i)
    values.push_back(2e9 + 3e8 * terms(i, 1) + 4e9 * terms(i, 2));
  const std::vector<double> found = fit_non_negative(terms, values);
  EXPECT_THAT(found, ElementsAre(DoubleNear(2e9, 2e6), DoubleNear(3e8, 3e5), DoubleNear(4e9, 4e6)));
  EXPECT_NEAR(sum_of_terms(std::vector<double>{1, 16, 2}, found), 14.8e9, 2e7);
  EXPECT_THAT(left_out_ratios(terms, values), Each(DoubleNear(1.0, 2e-3)));
}

TEST(MemoryLaw, HasNoNegativeCoefficient) {
  // Values fall with the second term, so it explains nothing.
  const Matrix terms = matrix_of({{1, 1}, {1, 2}, {1, 4}});
  const std::vector<double> found = fit_non_negative(terms, std::vector<double>{9.0, 8.0, 6.0});
  EXPECT_GT(found[0], 6.0);
  EXPECT_DOUBLE_EQ(found[1], 0.0);
}

TEST(MemoryLaw, ComparesEachValueWithTheOthers) {
  const Matrix terms = matrix_of({{1.0}, {1.0}, {1.0}});
  const std::vector<double> ratios = left_out_ratios(terms, std::vector<double>{1.0, 1.0, 2.0});
  EXPECT_NEAR(ratios[2], 2.0, 1e-6);
  EXPECT_LT(ratios[0], 1.0);
}

TEST(MemoryTerms, AreThoseOfTheConfiguration) {
  const SearchSpace space = testing_spaces::mixed_space();
  const FeatureMap features(space);
  const MemoryTerms terms =
      memory_terms(space, features,
                   {[](const Configuration& each) { return to_number(*each.find("batch")); },
                    [](const Configuration& each) { return each.contains("prefetch") ? 1.0 : 0.0; },
                    [](const Configuration& each) {
                      return to_text(*each.find("precision")) == "bf16" ? 1 : -1;
                    }});
  ASSERT_TRUE(terms);
  Configuration configuration;
  configuration.set("batch", std::int64_t{64});
  configuration.set("workers", std::int64_t{0});
  configuration.set("precision", std::string("bf16"));
  configuration.set("threads", std::int64_t{3});
  std::vector<double> row(features.width());
  features.write(space.encode(configuration), row);
  EXPECT_THAT(terms(row), ElementsAre(1.0, 64.0, 0.0, 1.0));
  configuration.set("workers", std::int64_t{2});
  configuration.set("prefetch", std::int64_t{4});
  configuration.set("precision", std::string("tf32"));
  const Point point = space.encode(configuration);
  features.write(point, row);
  EXPECT_THAT(terms(row), ElementsAre(1.0, 64.0, 1.0, 0.0)) << "a negative term counts as 0";
  EXPECT_EQ(features.point_of(row), point);
  EXPECT_FALSE(memory_terms(space, features, {}));
}

}  // namespace
}  // namespace steptune::bayes
