// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/access.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace steptune {
namespace {

TEST(Access, TokensAreFreshAndFitIntoAddresses) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    EXPECT_EQ(token.size(), 32U);
    EXPECT_TRUE(is_token(token)) << token;
    EXPECT_TRUE(seen.insert(token).second);
  }
  for (const char* text : {"", "short", "0123456789abcde", "0123456789abcdef;", "0123456789abcde f",
                           "0123456789abcdef\r\nSet-Cookie: x=y", "0123456789abcd\xff\xfe"}) {
    EXPECT_FALSE(is_token(text)) << text;
  }
  EXPECT_FALSE(is_token(std::string(201, 'a')));
}

TEST(Access, ComparesWholeTokens) {
  EXPECT_TRUE(equal_in_constant_time("abcdef", "abcdef"));
  for (const char* other : {"", "abcde", "abcdeg", "Abcdef", "abcdefa"})
    EXPECT_FALSE(equal_in_constant_time("abcdef", other)) << other;
}

TEST(Access, KnowsTheHostsThatAreThisMachine) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:7417", "localhost", "localhost:8000", "LocalHost:1"}) {
    EXPECT_TRUE(is_local_host(host)) << host;
  }
  for (const char* host : {"",
                           ":7417",
                           "evil.example",
                           "evil.example:7417",
                           "127.0.0.1.evil.example",
                           "localhost.evil.example",
                           "127.0.0.1:",
                           "127.0.0.1:80:80",
                           "127.0.0.1:8o80",
                           "127.0.0.1:123456",
                           "127.0.0.2",
                           "0.0.0.0",
                           "[::1]",
                           "[::1]:7417",
                           "2130706433",
                           "0x7f.1",
                           "localhost:80@evil.example",
                           "localhost ",
                           " localhost",
                           "local host",
                           "127.0.0.1/evil"}) {
    EXPECT_FALSE(is_local_host(host)) << host;
  }
}

TEST(Access, ReadsCookies) {
  EXPECT_EQ(cookie_value("a=1; steptune_1=x; b=2", "steptune_1"), "x");
  EXPECT_EQ(cookie_value("steptune_1=x", "steptune_1"), "x");
  EXPECT_EQ(cookie_value("steptune_1==;", "steptune_1"), "=");
  EXPECT_EQ(cookie_value("xsteptune_1=x; steptune_12=y; ;; =; steptune_1", "steptune_1"),
            std::nullopt);
  EXPECT_EQ(cookie_value("", "steptune_1"), std::nullopt);
}

}  // namespace
}  // namespace steptune
