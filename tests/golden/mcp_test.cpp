// SPDX-License-Identifier: Apache-2.0
// Tests the server for agents with real programs.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/counting_program.hpp"
#include "tests/golden/mcp_client.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Mcp : public testing::Test {
 protected:
  Mcp() {
    sandbox_.write("steps.sh", k_counting_program);
    script_ = (std::filesystem::canonical(sandbox_.folder()) / "steps.sh").string();
  }

  /// Returns the arguments of a comparison of two equal programs, which takes its whole time.
  [[nodiscard]] Json long_judgement() const {
    return {{"commands", {{"/bin/sh", script_, "0.03"}, {"/bin/sh", script_, "0.030"}}},
            {"margin", "0.01%"},
            {"time", "5m"}};
  }
  /// Waits until a program of the comparison runs. The tuner's own command line has the same words,
  /// so a second process is needed.
  [[nodiscard]] bool runs() const {
    return until([&] { return processes_with(script_) > 1; });
  }
  [[nodiscard]] bool is_gone() const {
    return until([&] { return processes_with(script_) == 0; });
  }
  template <typename Condition>
  static bool until(const Condition& condition) {
    for (int i = 0; i < 400; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  Sandbox sandbox_;
  std::string script_;
};

TEST_F(Mcp, AFasterCommandIsNamed) {
  McpClient client(sandbox_, {});
  const Json server = client.initialize();
  EXPECT_EQ(server["protocolVersion"], "2025-06-18");
  EXPECT_EQ(server["serverInfo"]["name"], "steptune");
  client.request(1, "tools/list", Json::object());
  std::vector<std::string> names;
  const Json list = client.response(1);
  for (const Json& tool : list["result"]["tools"])
    names.push_back(tool["name"]);
  EXPECT_THAT(names, ElementsAre("survey", "tune", "judge", "status", "explain", "stop"));

  client.call(2, "judge",
              {{"commands", {{"/bin/sh", "steps.sh", "0.06"}, {"/bin/sh", "steps.sh", "0.02"}}},
               {"time", "60s"}});
  const Json announced = client.notification("notifications/message");
  EXPECT_THAT(announced["params"]["data"].get<std::string>(),
              HasSubstr("runs steptune judge --json --color=never --time=60 -- /bin/sh steps.sh"));
  const Json progress = client.notification("notifications/progress");
  EXPECT_EQ(progress["params"]["progressToken"], 2);
  EXPECT_GT(progress["params"]["progress"].get<double>(), 0.0);
  EXPECT_EQ(progress["params"]["total"], 60.0);
  client.request(3, "ping", Json::object());
  EXPECT_EQ(client.response(3)["result"], Json::object());
  client.call(4, "tune", {{"command", {"/bin/sh", "steps.sh", "0.02"}}});
  EXPECT_EQ(client.response(4)["result"]["isError"], true) << "one at a time";

  const Json result = client.response(2)["result"];
  EXPECT_EQ(result["isError"], false) << result;
  const Json& judged = result["structuredContent"];
  EXPECT_EQ(judged["verdict"], "faster") << judged;
  EXPECT_EQ(judged["keep"], "B");
  EXPECT_GT(judged["commands"][1]["speed_up"]["low_95"].get<double>(), 1.0);
  EXPECT_EQ(judged["folder"], std::filesystem::canonical(sandbox_.folder()).string());
  EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()), judged);
  EXPECT_LE(judged.dump().size(), 2000U);

  client.call(5, "status", Json::object());
  const Json status = client.response(5)["result"]["structuredContent"];
  EXPECT_EQ(status["studies"][0]["name"], "judge") << status;
  client.call(6, "explain", {{"about", "output"}, {"trial", 1}});
  EXPECT_THAT(client.response(6)["result"]["structuredContent"]["output_end"].dump(),
              HasSubstr("samples"));
  client.call(7, "status", {{"campaign", "loader"}});
  EXPECT_EQ(client.response(7)["result"]["structuredContent"]["problem"],
            "there is no campaign loader");
  client.close_input();
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(Mcp, AStudyIsTuned) {
  sandbox_.write("study.json", quick_study());
  sandbox_.write("quick.sh", quick_trial());
  McpClient client(sandbox_, {"--root", sandbox_.folder().string()});
  client.initialize();
  client.call(1, "tune", {{"study", "study.json"}});
  const Json tuned = client.response(1)["result"]["structuredContent"];
  EXPECT_EQ(tuned["changes"][0]["advised"], "fast") << tuned;
  EXPECT_GT(tuned["speed_up"]["ratio"].get<double>(), 2.0) << tuned;
  EXPECT_THAT(tuned["next"].get<std::string>(), HasSubstr("steptune exec quick")) << tuned;
  client.call(2, "status", {{"study", "quick"}});
  const Json board = client.response(2)["result"]["structuredContent"];
  EXPECT_EQ(board["best_first"][0]["configuration"], "speed=fast") << board;
  client.call(3, "explain", {{"about", "trial"}, {"trial", 1}});
  EXPECT_EQ(client.response(3)["result"]["structuredContent"]["configuration"], "speed=slow");
}

TEST_F(Mcp, FoldersOutsideAreRefused) {
  sandbox_.write("inside/note", "");
  McpClient client(sandbox_, {"--root", "inside"});
  client.initialize();
  const Json touch = Json::array({"touch", "started"});
  client.call(1, "judge", {{"commands", Json::array({touch, touch})}, {"folder", ".."}});
  const Json result = client.response(1)["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(result["structuredContent"]["problem"].get<std::string>(),
              HasSubstr("is outside of the folders"));
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "started"));
}

TEST_F(Mcp, ACancelledCallEndsItsProgramsAndIsNotAnswered) {
  McpClient client(sandbox_, {});
  client.initialize();
  client.call("long", "judge", long_judgement());
  ASSERT_TRUE(runs());
  client.send(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}})");
  EXPECT_TRUE(is_gone());
  const Json ended = client.next([](const Json& message) {
    return message.value("method", "") == "notifications/message" &&
           message.dump().find("ended after its cancellation") != std::string::npos;
  });
  EXPECT_FALSE(ended.is_null());
  client.call(2, "status", Json::object());
  EXPECT_FALSE(client.response(2).is_null());
  for (const Json& message : client.passed())
    EXPECT_NE(message.value("id", Json(nullptr)), "long") << message;
}

TEST_F(Mcp, StopKeepsWhatWasMeasured) {
  sandbox_.write("study.json", endless_study());
  sandbox_.write("trial.sh", endless_trial());
  McpClient client(sandbox_, {});
  client.initialize();
  client.call(1, "tune", {{"study", "study.json"}, {"time", "5m"}});
  ASSERT_TRUE(until([&] { return std::filesystem::exists(sandbox_.folder() / "started"); }));
  client.call(2, "stop", Json::object());
  EXPECT_THAT(client.response(2)["result"]["structuredContent"]["verdict"].get<std::string>(),
              HasSubstr("asked to end: tune"));
  const Json stopped = client.response(1)["result"]["structuredContent"];
  EXPECT_EQ(stopped["stopped"], "by stop") << stopped;
  EXPECT_EQ(stopped["study"], "endless") << stopped;
  EXPECT_THAT(stopped["next"].get<std::string>(), HasSubstr("is kept"));
  client.call(3, "status", Json::object());
  EXPECT_EQ(client.response(3)["result"]["structuredContent"]["studies"][0]["status"],
            "interrupted");
}

TEST_F(Mcp, MalformedInputIsAnsweredAndTheServerContinues) {
  McpClient client(sandbox_, {});
  client.send("{\"jsonrpc\":");
  EXPECT_EQ(client.response(nullptr)["error"]["code"], -32700);
  client.send("");
  client.send("[1]");
  EXPECT_EQ(client.response(nullptr)["error"]["code"], -32600);
  client.send(std::string(3U << 20U, '['));
  EXPECT_EQ(client.response(nullptr)["error"]["code"], -32700);
  client.request(1, "tools/list", Json::object());
  EXPECT_EQ(client.response(1)["error"]["code"], -32600) << "not initialized";
  EXPECT_EQ(client.initialize()["serverInfo"]["name"], "steptune");
}

TEST_F(Mcp, TheEndOfInputLeavesNoProcess) {
  McpClient client(sandbox_, {});
  client.initialize();
  client.call(1, "judge", long_judgement());
  ASSERT_TRUE(runs());
  const auto begin = std::chrono::steady_clock::now();
  client.close_input();
  EXPECT_EQ(client.wait(), 0);
  EXPECT_EQ(processes_with(script_), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(Mcp, ATerminatedServerLeavesNoProcess) {
  McpClient client(sandbox_, {});
  client.initialize();
  client.call(1, "judge", long_judgement());
  ASSERT_TRUE(runs());
  ::kill(client.pid(), SIGTERM);
  EXPECT_EQ(client.wait(), 143);
  EXPECT_EQ(processes_with(script_), 0);
}

TEST_F(Mcp, AKilledServerLeavesNoProcess) {
  McpClient client(sandbox_, {});
  client.initialize();
  client.call(1, "judge", long_judgement());
  ASSERT_TRUE(runs());
  ::kill(client.pid(), SIGKILL);
  EXPECT_EQ(client.wait(), 137);
  EXPECT_TRUE(is_gone());
}

TEST_F(Mcp, WrongOptionsAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (const auto& [arguments, expected] : std::vector<Case>{
           {{"mcp", "--root", "absent"}, "absent"},
           {{"mcp", "--root", "steps.sh"}, "is not a folder"},
           {{"mcp", "--most-time", "soon"}, "not a duration"},
           {{"mcp", "--most-time", "0"}, "greater than zero"},
       }) {
    const Ended ended = sandbox_.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace steptune::golden
