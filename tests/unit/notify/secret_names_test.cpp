// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/secret_names.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SecretNames, NamesOfCredentialsAreSecret) {
  for (const char* name :
       {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "GITHUB_TOKEN", "HF_TOKEN", "WANDB_API_KEY",
        "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "client_secret", "SSH_KEY", "APIKEY",
        "GOOGLE_APPLICATION_CREDENTIALS", "NPM_AUTH", "AZURE_CLIENT_ID", "VAULT_ADDR"}) {
    EXPECT_TRUE(is_secret_variable(name, "x")) << name;
  }
  for (const char* name : {"PATH", "HOME", "LANG", "PWD", "OLDPWD", "MONKEY", "KEYBOARD",
                           "STEPTUNE_DB", "CUDA_VISIBLE_DEVICES", "AUTHOR"}) {
    EXPECT_FALSE(is_secret_variable(name, "x")) << name;
  }
}

TEST(SecretNames, AddressesWithAPasswordAreSecretWhateverTheirName) {
  EXPECT_TRUE(is_secret_variable("DATABASE_URL", "postgres://me:hunter2@db/x"));
  EXPECT_TRUE(is_secret_variable("HTTPS_PROXY", "http://me:hunter2@proxy:3128"));
  EXPECT_FALSE(is_secret_variable("HTTPS_PROXY", "http://proxy:3128"));
  EXPECT_FALSE(is_secret_variable("PAGE", "https://example.org/a:b@c"));
}

TEST(SecretNames, AreLeftOutOfTheEnvironment) {
  ASSERT_EQ(setenv("STEPTUNE_TEST_TOKEN", "hunter2", 1), 0);
  ASSERT_EQ(setenv("STEPTUNE_TEST_PLAIN", "seen", 1), 0);
  const auto environment = environment_without_secrets();
  EXPECT_THAT(environment, Each(Not(StartsWith("STEPTUNE_TEST_TOKEN"))));
  EXPECT_THAT(environment, Contains("STEPTUNE_TEST_PLAIN=seen"));
  unsetenv("STEPTUNE_TEST_TOKEN");
  unsetenv("STEPTUNE_TEST_PLAIN");
}

}  // namespace
}  // namespace steptune
