// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/knob_role.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(KnobRole, IsKnownFromUsualNames) {
  EXPECT_EQ(role_of_name("per_device_train_batch_size"), KnobRole::batch);
  EXPECT_EQ(role_of_name("batch"), KnobRole::batch);
  EXPECT_EQ(role_of_name("gradient_accumulation_steps"), KnobRole::accumulation);
  EXPECT_EQ(role_of_name("dataloader_num_workers"), KnobRole::workers);
  EXPECT_EQ(role_of_name("prefetch_factor"), KnobRole::prefetch);
  EXPECT_EQ(role_of_name("omp_num_threads"), KnobRole::threads);
  EXPECT_EQ(role_of_name("host_threads"), KnobRole::threads);
  EXPECT_EQ(role_of_name("dtype"), KnobRole::precision);
  EXPECT_EQ(role_of_name("use_amp"), KnobRole::precision);
  EXPECT_EQ(role_of_name("persistent_workers"), KnobRole::other);
  for (const char* name : {"instance_type", "instance", "machine", "machine_type", "node_type"})
    EXPECT_EQ(role_of_name(name), KnobRole::instance) << name;
  EXPECT_EQ(to_text(KnobRole::accumulation), "accumulation");
}

TEST(KnobRole, NamesAreInItsOrder) {
  const std::vector<std::string> names = knob_role_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(to_text(static_cast<KnobRole>(i)), names[i]);
  EXPECT_EQ(names.back(), to_text(KnobRole::other));
}

TEST(KnobRole, OtherNamesHaveNoRole) {
  for (const char* name :
       {"", "learning_rate", "momentum", "batch_norm", "nrWorker", "eval_batch_size",
        "checkpointing", "cores", "machines", "instance_count", "instance_norm"}) {
    EXPECT_EQ(role_of_name(name), std::nullopt) << name;
  }
}

TEST(KnobRole, KnowsAllNamesOfPrecisions) {
  EXPECT_EQ(precision_of("torch.bfloat16"), "bf16");
  EXPECT_EQ(precision_of("bf16-mixed"), "bf16");
  EXPECT_EQ(precision_of("16"), "fp16");
  EXPECT_EQ(precision_of("no"), "fp32");
  EXPECT_EQ(precision_of("int8"), "");
}

}  // namespace
}  // namespace steptune
