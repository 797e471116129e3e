// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/lost_nodes.hpp"

#include <gtest/gtest.h>

namespace steptune::slurm {
namespace {

TEST(LostNode, IsNamedByLinesOfSrun) {
  EXPECT_EQ(lost_node_in("srun: error: Node failure on n2"), "n2");
  EXPECT_EQ(lost_node_in("srun: error: Node failure on n2\r"), "n2");
  EXPECT_FALSE(lost_node_in("srun: error: Node failure on "));
  EXPECT_FALSE(lost_node_in("srun: error: Node failure on $(id)"));
  EXPECT_FALSE(lost_node_in("step 7: loss 0.5"));
  EXPECT_FALSE(lost_node_in(""));
}

TEST(LostNodes, AreAvoidedForAnHour) {
  LostNodes nodes;
  EXPECT_EQ(nodes.to_avoid(0.0), "");
  nodes.add("n2", 100.0);
  nodes.add("n1", 200.0);
  EXPECT_EQ(nodes.to_avoid(300.0), "n1,n2");
  EXPECT_EQ(nodes.to_avoid(3700.0), "n1,n2");
  EXPECT_EQ(nodes.to_avoid(3701.0), "n1");
  nodes.add("n2", 3800.0);
  EXPECT_EQ(nodes.to_avoid(3900.0), "n2") << "the node was lost again";
  nodes.clear();
  EXPECT_EQ(nodes.to_avoid(3900.0), "");
}

}  // namespace
}  // namespace steptune::slurm
