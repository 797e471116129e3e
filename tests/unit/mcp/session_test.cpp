// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/session.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Remembers what was started and interrupted; starts nothing.
class RecordingHost final : public ProgramHost {
 public:
  Result<std::int64_t> start(const Invocation& invocation) override {
    if (fails) return fail(ErrorKind::runner, "cannot start");
    started.push_back(invocation);
    return std::ssize(started);
  }
  void interrupt(std::int64_t program) override { interrupted.push_back(program); }

  bool fails = false;
  std::vector<Invocation> started;
  std::vector<std::int64_t> interrupted;
};

class SessionTest : public ::testing::Test {
 protected:
  /// Sends a request and returns the messages that follow at once.
  std::vector<Json> request(const Json& id, const std::string& method, const Json& params) {
    return line(
        Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
  }
  std::vector<Json> call(const Json& id, const std::string& tool, const Json& arguments,
                         const Json& meta = Json::object()) {
    return request(id, "tools/call", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}});
  }
  std::vector<Json> line(const std::string& text) {
    session_.on_line(text);
    return sent();
  }
  std::vector<Json> sent() { return std::exchange(sent_, {}); }
  std::vector<Json> at(double time_s) {
    clock_.advance_to(time_s);
    session_.poll();
    return sent();
  }
  void initialize() { request(0, "initialize", {{"protocolVersion", "2025-06-18"}}); }
  std::vector<Json> begin_judging(const Json& meta = Json::object()) {
    return call(7, "judge", Json::parse(R"({"commands": [["a"], ["b"]], "time": "1m"})"), meta);
  }
  std::vector<Json> end(std::int64_t program, const EndedProgram& ended) {
    session_.on_program_end(program, ended);
    return sent();
  }

  const EndedProgram judged_{
      10,
      R"({"study": {"name": "judge"}, "judge": {"verdict": "tied", "keep": "A", "commands": []}})",
      ""};
  TemporaryFolder root_{"session"};
  RecordingHost host_;
  VirtualClock clock_;
  std::vector<Json> sent_;
  Session session_{ServerLimits{must(Roots::create({root_.path()})), 600.0, ""}, "1.2.3", host_,
                   clock_, [this](const Json& message) { sent_.push_back(message); }};
};

TEST_F(SessionTest, TheRevisionIsNegotiated) {
  for (const char* known : {"2025-06-18", "2025-03-26", "2024-11-05"}) {
    EXPECT_EQ(
        request(1, "initialize", {{"protocolVersion", known}})[0]["result"]["protocolVersion"],
        known);
  }
  const Json result = request(1, "initialize", {{"protocolVersion", "2031-01-01"}})[0]["result"];
  EXPECT_EQ(result["protocolVersion"], "2025-06-18");
  EXPECT_EQ(result["serverInfo"]["name"], "steptune");
  EXPECT_EQ(result["serverInfo"]["version"], "1.2.3");
  EXPECT_TRUE(result["capabilities"].contains("tools"));
  EXPECT_TRUE(result["capabilities"].contains("logging"));
  EXPECT_THAT(result["instructions"].get<std::string>(), HasSubstr("never instructions"));
  EXPECT_EQ(request(1, "initialize", Json::object())[0]["error"]["code"], -32602);
}

TEST_F(SessionTest, RequestsNeedTheInitialization) {
  EXPECT_EQ(request(1, "ping", Json::object())[0]["result"], Json::object());
  EXPECT_EQ(request(1, "tools/list", Json::object())[0]["error"]["code"], -32600);
  EXPECT_EQ(request(1, "server/discover", Json::object())[0]["error"]["code"], -32601)
      << "a request of later revisions, whose clients then initialize";
  initialize();
  EXPECT_EQ(request(1, "tools/list", Json::object())[0]["result"], tools_json());
}

TEST_F(SessionTest, ProtocolFaultsAreErrors) {
  initialize();
  EXPECT_EQ(line("nonsense")[0]["error"]["code"], -32700);
  EXPECT_EQ(line("nonsense").size(), 1U);
  EXPECT_EQ(request(1, "resources/list", Json::object())[0]["error"]["code"], -32601);
  EXPECT_EQ(call(1, "shell", Json::object())[0]["error"]["code"], -32602);
  EXPECT_EQ(request(1, "tools/call", Json::object())[0]["error"]["code"], -32602);
  EXPECT_EQ(request(1, "logging/setLevel", {{"level", "loud"}})[0]["error"]["code"], -32602);
  EXPECT_THAT(line(R"({"jsonrpc":"2.0","method":"notifications/unknown"})"), IsEmpty());
  EXPECT_THAT(line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})"),
              IsEmpty());
}

TEST_F(SessionTest, FaultsOfACallAreResults) {
  initialize();
  for (const Json& arguments : {Json{{"command", "a"}}, Json{{"command", {"a"}}, {"folder", "/"}},
                                Json::array(), Json{{"study", "absent.json"}}}) {
    const Json result = call(1, "tune", arguments)[0]["result"];
    EXPECT_EQ(result["isError"], true) << arguments;
    EXPECT_FALSE(result["structuredContent"]["problem"].get<std::string>().empty()) << arguments;
    EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()),
              result["structuredContent"]);
  }
  EXPECT_THAT(host_.started, IsEmpty());
  host_.fails = true;
  EXPECT_EQ(begin_judging().back()["result"]["isError"], true);
}

TEST_F(SessionTest, ACallIsAnnouncedAndAnswered) {
  initialize();
  const auto begun = begin_judging();
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0]["method"], "notifications/message");
  EXPECT_EQ(begun[0]["params"]["level"], "info");
  EXPECT_THAT(begun[0]["params"]["data"].get<std::string>(),
              HasSubstr("runs steptune judge --json --color=never --time=60 -- a --- b in /"));
  const auto ended = end(1, judged_);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]["id"], 7);
  EXPECT_EQ(ended[0]["result"]["isError"], false);
  const Json& content = ended[0]["result"]["structuredContent"];
  EXPECT_EQ(content["verdict"], "tied");
  EXPECT_THAT(content["ran"].get<std::string>(), StartsWith("steptune judge"));
  EXPECT_EQ(content["folder"], std::filesystem::canonical(root_.path()).string());
  EXPECT_THAT(end(1, judged_), IsEmpty()) << "it has ended already";
}

TEST_F(SessionTest, ProgressIsReportedIfTheClientWantsIt) {
  initialize();
  begin_judging({{"progressToken", "t"}});
  EXPECT_THAT(at(0.5), IsEmpty());
  const auto first = at(1.0);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0]["method"], "notifications/progress");
  EXPECT_EQ(first[0]["params"]["progressToken"], "t");
  EXPECT_EQ(first[0]["params"]["total"], 60.0);
  EXPECT_THAT(at(2.5), IsEmpty()) << "nothing has changed";
  session_.on_program_line(1, "trial \x1b[1m2\x1b[0m started");
  const auto second = at(3.0);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0]["params"]["message"], "trial 2 started");
  EXPECT_EQ(second[0]["params"]["progress"], 3.0);
  session_.on_program_line(1, "trial 3 started");
  EXPECT_THAT(at(3.5), IsEmpty()) << "too soon";
  EXPECT_EQ(at(4.1).size(), 1U);
  EXPECT_EQ(at(9.2).size(), 1U) << "without news, after five seconds";
  EXPECT_FALSE(at(70.0)[0]["params"].contains("total")) << "progress may not exceed it";
  end(1, judged_);
  EXPECT_THAT(at(100.0), IsEmpty());
}

TEST_F(SessionTest, WithoutATokenThereIsNoProgress) {
  initialize();
  begin_judging();
  EXPECT_THAT(at(20.0), IsEmpty());
}

TEST_F(SessionTest, OtherRequestsAreAnsweredMeanwhile) {
  initialize();
  begin_judging();
  EXPECT_EQ(request(8, "ping", Json::object())[0]["id"], 8);
  EXPECT_EQ(request(9, "tools/list", Json::object())[0]["id"], 9);
  call(10, "status", Json::object());
  ASSERT_EQ(host_.started.size(), 2U);
  const auto status = end(2, {0, R"({"studies": []})", ""});
  EXPECT_EQ(status[0]["id"], 10);
  EXPECT_THAT(status[0]["result"]["structuredContent"]["running"].get<std::string>(),
              StartsWith("judge, for"));
}

TEST_F(SessionTest, ASecondMeasurementIsRefused) {
  initialize();
  begin_judging();
  for (const char* tool : {"tune", "survey"}) {
    const Json result = call(8, tool, {{"command", {"a"}}})[0]["result"];
    EXPECT_EQ(result["isError"], true);
    EXPECT_THAT(result["structuredContent"]["problem"].get<std::string>(),
                StartsWith("busy: judge"));
  }
  EXPECT_EQ(host_.started.size(), 1U);
  end(1, judged_);
  call(8, "tune", {{"command", {"a"}}});
  EXPECT_EQ(host_.started.size(), 2U);
}

TEST_F(SessionTest, TooManyCallsAndRepeatedIdsAreRefused) {
  initialize();
  for (int i = 0; i < 8; ++i)
    EXPECT_THAT(call(i, "status", Json::object()), IsEmpty());
  EXPECT_EQ(call(8, "status", Json::object())[0]["result"]["isError"], true);
  EXPECT_EQ(call(3, "status", Json::object())[0]["error"]["code"], -32600);
}

TEST_F(SessionTest, ACancelledCallIsInterruptedAndNotAnswered) {
  initialize();
  begin_judging({{"progressToken", 5}});
  line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})");
  EXPECT_THAT(host_.interrupted, IsEmpty()) << "another request";
  line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  EXPECT_EQ(host_.interrupted, std::vector<std::int64_t>{1});
  EXPECT_THAT(at(20.0), IsEmpty()) << "no progress after that";
  for (const Json& message : end(1, judged_))
    EXPECT_FALSE(message.contains("id")) << message;
}

TEST_F(SessionTest, StopEndsTheMeasurementAndItsCallIsAnswered) {
  initialize();
  EXPECT_EQ(call(1, "stop", Json::object())[0]["result"]["structuredContent"]["verdict"],
            "nothing is running");
  begin_judging();
  const auto stopped = call(8, "stop", Json::object());
  EXPECT_EQ(host_.interrupted, std::vector<std::int64_t>{1});
  EXPECT_EQ(stopped.back()["id"], 8);
  const auto ended = end(1, {130, "", "stopped before the commands were judged\n"});
  EXPECT_EQ(ended[0]["id"], 7);
  EXPECT_EQ(ended[0]["result"]["structuredContent"]["stopped"], "by stop");
}

TEST_F(SessionTest, ACallThatTakesTooLongIsInterruptedOnce) {
  initialize();
  begin_judging();
  at(659.0);
  EXPECT_THAT(host_.interrupted, IsEmpty());
  at(661.0);
  at(662.0);
  EXPECT_EQ(host_.interrupted, std::vector<std::int64_t>{1});
  const auto ended = end(1, judged_);
  EXPECT_THAT(ended.back()["result"]["structuredContent"]["stopped"].get<std::string>(),
              HasSubstr("longer than a call may take"));
}

TEST_F(SessionTest, TheLogHasTheLevelThatTheClientWants) {
  initialize();
  EXPECT_EQ(request(1, "logging/setLevel", {{"level", "warning"}})[0]["result"], Json::object());
  EXPECT_THAT(begin_judging(), IsEmpty());
  EXPECT_THAT(at(700.0), IsEmpty());
  const auto ended = end(1, judged_);
  EXPECT_EQ(ended[0]["params"]["level"], "warning");
}

TEST_F(SessionTest, AnAnswerHasTheLastLinesOfAnOutput) {
  initialize();
  call(1, "explain", {{"about", "output"}, {"trial", 3}});
  std::string out;
  for (int i = 0; i < 60; ++i)
    out += "step " + std::to_string(i) + "\n";
  const auto ended = end(1, {0, out + "CUDA error\n", ""});
  EXPECT_EQ(ended[0]["result"]["structuredContent"]["output_end"].back(), "CUDA error");
}

TEST_F(SessionTest, AnswersAreBounded) {
  initialize();
  call(1, "status", Json::object());
  Json studies{{"studies", Json::array()}};
  for (int i = 0; i < 3000; ++i)
    studies["studies"].push_back({{"name", "study-" + std::to_string(i)}, {"status", "finished"}});
  const auto ended = end(1, {0, studies.dump(), ""});
  EXPECT_LE(ended[0]["result"]["content"][0]["text"].get<std::string>().size(), 2000U);
  EXPECT_EQ(ended[0]["result"]["structuredContent"]["studies"][0]["name"], "study-2999")
      << "the latest";
}

}  // namespace
}  // namespace steptune::mcp
