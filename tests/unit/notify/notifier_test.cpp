// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/notifier.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/must.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class NotifierTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (server_ > 0) {
      kill(server_, SIGKILL);
      waitpid(server_, nullptr, 0);
    }
  }

  /// Returns the content of a file of the test's folder.
  [[nodiscard]] std::string read(const std::string& name) const {
    return read_file(folder_.path() / name);
  }

  /// Starts the fake webhook; returns its address without a path.
  std::string serve() {
    const std::string program = STEPTUNE_SOURCE_DIR "/tests/fakes/webhook_server.py";
    std::string python = "python3", script = program;
    std::string requests = (folder_.path() / "requests").string();
    char* argv[] = {python.data(), script.data(), requests.data(), nullptr};
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    EXPECT_EQ(posix_spawnp(&server_, "python3", &actions, nullptr, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string port;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';)
      port += c;
    close(ends[0]);
    EXPECT_NE(port, "");
    return "http://127.0.0.1:" + port;
  }

  /// Returns the requests that the fake webhook has received.
  [[nodiscard]] std::vector<Json> requests() const {
    std::vector<Json> all;
    std::ifstream file(folder_.path() / "requests");
    for (std::string line; std::getline(file, line);)
      all.push_back(must(parse_json(line, "request")));
    return all;
  }

  /// Sends `notice_` to the target; returns the warnings.
  [[nodiscard]] std::vector<std::string> tell(const std::string& target) const {
    return must(Notifier::create({target}, clock_)).tell(notice_);
  }

  TemporaryFolder folder_{"notify"};
  SystemClock clock_;
  Notification notice_{"regressed", "resnet is 20 % slower than last week",
                       Json{{"study", "resnet"}}};
  pid_t server_ = -1;
};

TEST_F(NotifierTest, ACommandReadsTheEventFromStdinAndGetsNoSecretVariable) {
  ASSERT_EQ(setenv("MY_TOKEN", "hunter2", 1), 0);
  const std::string folder = folder_.path().string();
  EXPECT_THAT(tell(fmt::format("cat > {0}/event; env > {0}/environment; echo noise", folder)),
              IsEmpty());
  unsetenv("MY_TOKEN");
  const Json event = must(parse_json(read("event"), "event"));
  EXPECT_EQ(event["event"], "regressed");
  EXPECT_EQ(event["study"], "resnet");
  EXPECT_THAT(read("environment"), HasSubstr("STEPTUNE_EVENT=regressed\n"));
  EXPECT_THAT(read("environment"), Not(HasSubstr("hunter2")));
}

TEST_F(NotifierTest, OnlyACommandThatFailsGivesAWarning) {
  EXPECT_THAT(tell("true"), IsEmpty()) << "a command may ignore its input";
  notice_.body["long"] = std::string(1 << 20, 'x');
  EXPECT_THAT(tell("exit 0"), IsEmpty()) << "input that overflows the pipe unread does not block";
  EXPECT_THAT(tell("exit 3"), ElementsAre(HasSubstr("ended with exit status 3")));
  EXPECT_THAT(tell("kill -KILL $$"), ElementsAre(HasSubstr("killed by signal 9")));
  EXPECT_THAT(tell("/no/such/program"), ElementsAre(HasSubstr("exit status 127")));
}

TEST_F(NotifierTest, TextsOfTheEventAreNeverPartOfACommand) {
  notice_.event = "regressed";
  notice_.body["study"] = "$(touch " + (folder_.path() / "pwned").string() + ")";
  EXPECT_THAT(tell("cat > /dev/null"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "pwned"));
}

TEST_F(NotifierTest, AWebhookReceivesTheEventAsJsonByPost) {
  const std::string address = serve();
  EXPECT_THAT(tell(address + "/hook?x=1"), IsEmpty());
  ASSERT_EQ(requests().size(), 1U);
  EXPECT_EQ(requests()[0]["path"], "/hook?x=1");
  EXPECT_EQ(requests()[0]["type"], "application/json");
  EXPECT_EQ(requests()[0]["body"], (Json{{"event", "regressed"}, {"study", "resnet"}}));
}

TEST_F(NotifierTest, SlackReceivesTheTextAloneWithItsMarkupEscaped) {
  const std::string address = serve();
  EXPECT_THAT(tell("slack+" + address + "/services/T0/B0/secret"), IsEmpty());
  ASSERT_EQ(requests().size(), 1U);
  EXPECT_EQ(requests()[0]["body"], (Json{{"text", "resnet is 20 % slower than last week"}}));

  notice_.text = "torch 2.4.0 -> 2.5.1, <!channel> <https://x.example|here> &lt;";
  EXPECT_THAT(tell("slack+" + address + "/services/T0/B0/secret"), IsEmpty());
  ASSERT_EQ(requests().size(), 2U);
  EXPECT_EQ(requests()[1]["body"],
            (Json{{"text",
                   "torch 2.4.0 -&gt; 2.5.1, &lt;!channel&gt; &lt;https://x.example|here&gt; "
                   "&amp;lt;"}}))
      << "text from other programs cannot mention users";
}

TEST_F(NotifierTest, AFailedWebhookGivesOneWarningThatHidesThePathOfItsAddress) {
  const std::string address = serve();
  for (const char* path : {"/broken", "/moved"}) {
    const auto warnings = tell(address + path);
    ASSERT_EQ(warnings.size(), 1U) << path;
    EXPECT_THAT(warnings[0], HasSubstr("HTTP status"));
    EXPECT_THAT(warnings[0], Not(HasSubstr(path)));
  }
  EXPECT_EQ(requests().size(), 2U) << "a redirect is not followed";
  EXPECT_EQ(tell("http://127.0.0.1:1/hook").size(), 1U);
}

TEST_F(NotifierTest, InvalidAddressesAreRefused) {
  for (const char* target : {"", "  ", "http://", "https://me:secret@host/x", "slack+hooks"}) {
    const auto made = Notifier::create({target}, clock_);
    ASSERT_FALSE(made) << target;
    EXPECT_EQ(made.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace steptune
