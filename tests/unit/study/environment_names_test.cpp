// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

using ::testing::HasSubstr;

TEST(DeniedVariable, TunedVariablesAreAllowed) {
  for (const char* name : {"OMP_NUM_THREADS", "LD_PRELOAD", "LD_LIBRARY_PATH", "MALLOC_CONF",
                           "PYTHONPATH", "path", "ENVIRONMENT", "STEPTUNER", ""})
    EXPECT_FALSE(denied_variable(name)) << name;
}

TEST(DeniedVariable, VariablesThatRunOtherCodeAreDenied) {
  for (const char* name : {"LD_AUDIT", "BASH_ENV", "ENV", "IFS", "PYTHONSTARTUP", "PROMPT_COMMAND"})
    EXPECT_THAT(denied_variable(name).value_or(""), HasSubstr("cannot be set by a study")) << name;
  EXPECT_THAT(denied_variable("PATH").value_or(""), HasSubstr("give the program's absolute path"));
  EXPECT_THAT(denied_variable("STEPTUNE_DB").value_or(""), HasSubstr("are reserved"));
}

TEST(DeniedVariable, SecretsAreRecognizedByTheirLastWord) {
  for (const char* name : {"TOKEN", "HF_TOKEN", "WANDB_API_KEY", "API_KEY", "DB_PASSWORD",
                           "AWS_SECRET_ACCESS_KEY", "SSH_PASSPHRASE"})
    EXPECT_THAT(denied_variable(name).value_or(""), HasSubstr("looks like a secret")) << name;
  for (const char* name :
       {"MAXTOKEN", "TOKENS", "TOKEN_COUNT", "KEY", "SORT_KEY", "_", "MY_TOKEN_"})
    EXPECT_FALSE(denied_variable(name)) << name;
}

}  // namespace
}  // namespace steptune::study
