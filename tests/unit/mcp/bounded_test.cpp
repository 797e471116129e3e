// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/bounded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::mcp {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Bounded, ShortAnswersStayUnchanged) {
  const Json json{{"verdict", "faster"}, {"changes", {{{"parameter", "workers"}, {"today", 0}}}}};
  EXPECT_EQ(bounded(json, 2000), json);
}

TEST(Bounded, LongTextsAndListsAreCut) {
  Json json{{"verdict", "faster"}, {"output", std::string(5000, 'x')}};
  json["rows"] = Json::array();
  for (int i = 0; i < 500; ++i)
    json["rows"].push_back({{"trial", i}, {"configuration", std::string(90, 'y')}});
  const Json shorter = bounded(json, 2000);
  EXPECT_LE(shorter.dump().size(), 2000U);
  EXPECT_EQ(shorter["verdict"], "faster");
  EXPECT_THAT(shorter["output"].get<std::string>(), EndsWith("..."));
  EXPECT_EQ(shorter["rows"][0]["trial"], 0);
  EXPECT_THAT(shorter["rows"].back().get<std::string>(), HasSubstr("more"));
}

TEST(Bounded, HostileDocumentsStayBelowTheLimit) {
  Json deep = "x";
  for (int i = 0; i < 50; ++i)
    deep = Json{{std::string(300, 'k'), deep}};
  EXPECT_LE(bounded(deep, 2000).dump().size(), 2000U);
  Json wide = Json::array();
  for (int i = 0; i < 50; ++i)
    wide.push_back(Json(std::vector<std::string>(50, std::string(100, '"'))));
  EXPECT_LE(bounded(wide, 2000).dump().size(), 2000U);
}

}  // namespace
}  // namespace steptune::mcp
