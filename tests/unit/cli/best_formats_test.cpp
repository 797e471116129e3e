// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/best_formats.hpp"

#include <gtest/gtest.h>

#include "common/environment.hpp"

namespace steptune {
namespace {

TEST(ExecWords, NameTheTrialIfItIsNotTheRecommendedOne) {
  Console console(process_environment());
  const SystemClock clock;
  const CommandContext context{console, clock, "a b.db", "auto", false, false, {}};
  BestChoice choice;
  choice.requested_study = "demo";
  choice.trial.number = 7;
  EXPECT_EQ(exec_words(context, choice), "steptune exec demo --db 'a b.db'");
  choice.objective = "cost";
  EXPECT_EQ(exec_words(context, choice), "steptune exec demo --db 'a b.db' --trial 7");
}

}  // namespace
}  // namespace steptune
