// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "benchmarks/parallel_plans/simulated_search.hpp"

namespace steptune::parallel_plans {
namespace {

Configuration with(const PlanStudy& plan, const std::string& parameter, Value value) {
  Configuration configuration = plan.study.baseline;
  configuration.set(parameter, std::move(value));
  return configuration;
}

class ParallelPlans : public testing::Test {
 protected:
  static const PlanStudy& plan() {
    static const PlanStudy k_plan =
        plan_study(training_jobs()[0],
                   std::filesystem::path(STEPTUNE_SOURCE_DIR) / "configs/spaces")
            .value();
    return k_plan;
  }
};

TEST_F(ParallelPlans, AreThoseThatInitFindsLegal) {
  EXPECT_EQ(plan().study.baseline.text(),
            "cp=1 distributed_optimizer=true flash_attention=true micro_batch=1 "
            "overlap_gather=false overlap_reduce=false pp=1 recompute=full "
            "sequence_parallel=true tp=8");
  EXPECT_GT(plan().plans, 1000U);
  EXPECT_LT(plan().fitting, plan().plans);
  EXPECT_LT(plan().best_s, 0.8 * *launch(plan().job, plan().study.baseline).step_s);
  EXPECT_FALSE(plan().study.space.contains(with(plan(), "tp", std::int64_t{16})));
  EXPECT_FALSE(plan().study.space.contains(with(plan(), "pp", std::int64_t{4})));
  EXPECT_FALSE(plan().study.space.contains(with(plan(), "overlap_gather", true)));
}

TEST_F(ParallelPlans, NeedMoreMemoryForWhatIsKept) {
  const double today = launch(plan().job, plan().study.baseline).peak_bytes;
  EXPECT_GT(launch(plan().job, with(plan(), "recompute", std::string("none"))).peak_bytes, today);
  EXPECT_GT(launch(plan().job, with(plan(), "micro_batch", std::int64_t{4})).peak_bytes, today);
  EXPECT_GT(launch(plan().job, with(plan(), "distributed_optimizer", false)).peak_bytes, today);
  EXPECT_LT(launch(plan().job, with(plan(), "pp", std::int64_t{2})).peak_bytes, today);
}

TEST_F(ParallelPlans, AreFoundByEverySearcher) {
  for (const Arm& arm : arms()) {
    const auto result = simulated_search(plan(), arm, 1, 60);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_LT(result->best_s, *launch(plan().job, plan().study.baseline).step_s) << arm.name;
  }
}

}  // namespace
}  // namespace steptune::parallel_plans
