// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/json_rpc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::mcp {
namespace {

using ::testing::HasSubstr;

TEST(RpcMessages, RequestsAndNotificationsAreRead) {
  const auto request =
      parse_message(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}})");
  ASSERT_TRUE(request && *request);
  EXPECT_TRUE((*request)->is_request());
  EXPECT_EQ((*request)->id, "a");
  EXPECT_EQ((*request)->method, "tools/call");
  EXPECT_EQ((*request)->params["name"], "x");
  const auto notification =
      parse_message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  ASSERT_TRUE(notification && *notification);
  EXPECT_FALSE((*notification)->is_request());
  EXPECT_TRUE((*notification)->params.is_object());
}

TEST(RpcMessages, ResponsesAreIgnored) {
  for (const char* line : {R"({"jsonrpc":"2.0","id":1,"result":{}})",
                           R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})"}) {
    const auto message = parse_message(line);
    ASSERT_TRUE(message) << line;
    EXPECT_FALSE(*message) << line;
  }
}

TEST(RpcMessages, FaultsHaveTheCodeAndTheIdIfItCanBeRead) {
  struct Case {
    const char* line;
    RpcCode code;
    Json id;
    const char* why;
  };
  for (const auto& [line, code, id, why] : {
           Case{"{", RpcCode::parse_error, nullptr, "not valid JSON"},
           Case{"\xff", RpcCode::parse_error, nullptr, "not valid JSON"},
           Case{R"({"id":1,"id":2})", RpcCode::parse_error, nullptr, "twice"},
           Case{"[]", RpcCode::invalid_request, nullptr, "batches"},
           Case{"7", RpcCode::invalid_request, nullptr, "object"},
           Case{R"({"id":7,"method":"ping"})", RpcCode::invalid_request, 7, "2.0"},
           Case{R"({"jsonrpc":"2.0","id":7})", RpcCode::invalid_request, 7, "method"},
           Case{R"({"jsonrpc":"2.0","id":null,"method":"ping"})", RpcCode::invalid_request, nullptr,
                "neither a string nor an integer"},
           Case{R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", RpcCode::invalid_request, nullptr,
                "neither a string nor an integer"},
           Case{R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[1]})", RpcCode::invalid_params,
                7, "not an object"},
       }) {
    const auto message = parse_message(line);
    ASSERT_FALSE(message) << line;
    EXPECT_EQ(message.error().code, code) << line;
    EXPECT_EQ(message.error().id, id) << line;
    EXPECT_THAT(message.error().message, HasSubstr(why)) << line;
  }
}

TEST(RpcMessages, AnswersHaveTheFormOfTheStandard) {
  EXPECT_EQ(rpc_result(3, {{"a", 1}}).dump(), R"({"jsonrpc":"2.0","id":3,"result":{"a":1}})");
  EXPECT_EQ(rpc_error({RpcCode::method_not_found, "no", "x"}).dump(),
            R"({"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}})");
  EXPECT_EQ(rpc_notification("n", {{"a", 1}}).dump(),
            R"({"jsonrpc":"2.0","method":"n","params":{"a":1}})");
}

}  // namespace
}  // namespace steptune::mcp
