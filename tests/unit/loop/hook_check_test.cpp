// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/hook_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;

std::string why_silent(std::initializer_list<const char*> events) {
  HookLog log;
  for (const char* event : events)
    log.add(event);
  return why_hook_is_silent(log, {"python3", "train.py"}, "/nonexistent");
}

TEST(SilentHook, TheLastEventSaysWhy) {
  const char* armed = R"({"event":"armed","pid":1})";
  EXPECT_THAT(why_silent({}), HasSubstr("did not reach the program"));
  EXPECT_THAT(why_silent({armed}), HasSubstr("did not import PyTorch"));
  EXPECT_THAT(why_silent({armed, R"({"event":"imported","family":"pytorch"})"}),
              HasSubstr("the program imports PyTorch, but"));
  EXPECT_THAT(why_silent({armed, R"({"event":"imported","family":"jax"})"}),
              HasSubstr("begins a training, but no step"));
  EXPECT_THAT(why_silent({armed, R"({"event":"patched","family":"jax"})"}),
              HasSubstr("output does not arrive"));
}

}  // namespace
}  // namespace steptune
