// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/node_prices.hpp"

#include <gtest/gtest.h>

namespace steptune::slurm {
namespace {

TEST(NodePrices, AreFoundByPartitionConstraintAndTypeOfGpu) {
  EXPECT_FALSE(NodePrices().are_given());
  EXPECT_EQ(NodePrices().of({}), std::nullopt);
  EXPECT_EQ(NodePrices(3.0).of({2, {"partition=any"}}), 3.0);

  const NodePrices prices({{"gpu", 12.0}, {"h100", 30.0}, {"ib&nvlink", 20.0}});
  EXPECT_EQ(prices.of({1, {"partition=gpu", "gres=gpu:h100:4"}}), 12.0)
      << "the partition's price has priority over the GPU's";
  EXPECT_EQ(prices.of({1, {"partition=other", "constraint=ib&nvlink"}}), 20.0);
  EXPECT_EQ(prices.of({1, {"partition=other", "gpus-per-node=h100:4"}}), 30.0);
  EXPECT_EQ(prices.of({1, {"partition=other"}}), std::nullopt);
  EXPECT_EQ(prices.highest(), 30.0);
  EXPECT_EQ(prices.of({1, {"partition=gpu,h100"}}), 30.0)
      << "Slurm chooses the partition, so the highest price counts";
  EXPECT_EQ(prices.of({1, {"partition=h100,gpu"}}), 30.0);
  EXPECT_EQ(prices.of({1, {"partition=other", "constraint=gpu|h100"}}), 30.0);
}

}  // namespace
}  // namespace steptune::slurm
