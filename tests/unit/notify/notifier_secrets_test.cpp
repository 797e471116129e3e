// SPDX-License-Identifier: Apache-2.0
// Tests that no message contains the secrets of an address or a command, and that each target is
// notified separately.
#include <cctype>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/pause.hpp"
#include "common/rng.hpp"
#include "common/unique_fd.hpp"
#include "tests/support/must.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/notify/hook_command.hpp"
#include "tuner/notify/notifier.hpp"
#include "tuner/notify/secret_names.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Nobody listens at this address.
constexpr const char* k_closed = "http://127.0.0.1:1";

std::vector<std::string> warnings_of(const std::vector<std::string>& targets) {
  const SystemClock clock;
  return must(Notifier::create(targets, clock)).tell({"failed", "no trial ran", Json::object()});
}

TEST(NotifierSecrets, OnlyTheOriginOfAnAddressIsNamed) {
  for (const char* rest : {"/hunter2", "/?key=hunter2", "?hunter2", "#hunter2", "/a/b/hunter2/"}) {
    const auto warnings = warnings_of({k_closed + std::string(rest)});
    ASSERT_EQ(warnings.size(), 1U) << rest;
    EXPECT_THAT(warnings[0], HasSubstr(std::string("\"") + k_closed + "\" of \"failed\""));
    EXPECT_THAT(warnings[0], Not(HasSubstr("hunter2")));
  }
}

TEST(NotifierSecrets, OnlyTheFirstWordOfACommandIsNamed) {
  const std::pair<const char*, const char*> commands[] = {
      {"false --token hunter2", "false"},
      {"  false\thunter2", "false"},
      {"false\n#hunter2", "false"},
      {"TOKEN=hunter2 false", "TOKEN"},
      {"A=1 TOKEN='x hunter2' false", "A"},
      {"TOKEN='hunter2 ';false", "TOKEN"},
      {"false;TOKEN='hunter2 ';false", "false;TOKEN"}};
  for (const auto& [command, name] : commands) {
    EXPECT_THAT(warnings_of({command}), ElementsAre("could not notify \"" + std::string(name) +
                                                    "\" of \"failed\": ended with exit status 1"))
        << command;
  }
}

TEST(NotifierSecrets, AddressesWithAUserAreRefusedWithoutRepeatingThem) {
  const SystemClock clock;
  for (const char* address :
       {"https://me:hunter2@host/x", "https://hunter2@host", "slack+https://me:hunter2@host"}) {
    const auto made = Notifier::create({address}, clock);
    ASSERT_FALSE(made) << address;
    EXPECT_THAT(made.error().text(), Not(HasSubstr("hunter2")));
    EXPECT_THAT(made.error().text(), HasSubstr("without a user name"));
  }
}

TEST(NotifierTargets, AFailedTargetDoesNotStopOthers) {
  const TemporaryFolder folder("notify");
  const std::string file = (folder.path() / "notified").string();
  const auto warnings =
      warnings_of({"exit 3", k_closed, "echo first >> " + file, "exit 4", "echo last >> " + file});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("exit status 3"), HasSubstr(k_closed),
                                    HasSubstr("exit status 4")));
  EXPECT_EQ(read_file(file), "first\nlast\n");
}

TEST(NotifierTargets, NoTargetsAreNoError) {
  EXPECT_THAT(warnings_of({}), IsEmpty());
}

TEST(NotifierTargets, AnInvalidTargetRefusesAll) {
  const TemporaryFolder folder("notify");
  const SystemClock clock;
  EXPECT_FALSE(
      Notifier::create({"touch " + (folder.path() / "notified").string(), "http://"}, clock));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NotifierTargets, SchemesAreAddressesInAnyCase) {
  for (const char* address : {"HTTP://127.0.0.1:1/x", "Slack+Http://127.0.0.1:1/x"})
    EXPECT_THAT(warnings_of({address}), ElementsAre(HasSubstr("127.0.0.1:1\" of"))) << address;
}

/// Each reading advances it by ten seconds.
class HurriedClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override { return now_s_ += 10.0; }
  [[nodiscard]] double wall_time_s() const override { return now_s_; }

 private:
  mutable double now_s_ = 0.0;
};

TEST(HookCommand, AHangingCommandIsKilledWithItsChildren) {
  const TemporaryFolder folder("notify");
  const std::string fifo = (folder.path() / "alive").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const UniqueFd alive(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const HurriedClock clock;
  const auto command_result =
      run_hook_command("exec 9> " + fifo + "; sleep 300 & sleep 300", "failed", "{}", clock);
  ASSERT_FALSE(command_result);
  EXPECT_EQ(command_result.error().message, "did not end within 30 s");
  // The target's last process holds the pipe's other end until it exits.
  char byte = 0;
  for (int i = 0; i < 200 && ::read(alive.get(), &byte, 1) != 0; ++i)
    pause_thread(0.01);
  EXPECT_EQ(::read(alive.get(), &byte, 1), 0) << "the command's background program continues";
}

TEST(HookCommand, HasTheEventOfThisNoticeAndNotOfAnother) {
  const TemporaryFolder folder("notify");
  const std::string file = (folder.path() / "environment").string();
  ASSERT_EQ(::setenv("STEPTUNE_EVENT", "older", 1), 0);
  const SystemClock clock;
  EXPECT_TRUE(run_hook_command("env | grep ^STEPTUNE_EVENT= > " + file, "improved", "", clock));
  ::unsetenv("STEPTUNE_EVENT");
  EXPECT_EQ(read_file(file), "STEPTUNE_EVENT=improved\n");
}

TEST(HookCommand, ReadsTheWholeDocumentHoweverLong) {
  const TemporaryFolder folder("notify");
  const std::string file = (folder.path() / "size").string();
  const SystemClock clock;
  EXPECT_TRUE(run_hook_command("wc -c > " + file, "improved", std::string(3'000'000, 'x'), clock));
  EXPECT_EQ(std::stol(read_file(file)), 3'000'000);
}

TEST(SecretVariables, APasswordInAnyAddressMakesThemSecret) {
  for (const char* value :
       {"amqp://a/,amqp://me:hunter2@b/", "http://a http://me:hunter2@b", "a://x;b://u:p@y"})
    EXPECT_TRUE(is_secret_variable("BROKERS", value)) << value;
  for (const char* value :
       {"amqp://a/,amqp://b/", "http://a,me:x@b", "://", "a://", "://:@", "http://me@b"}) {
    EXPECT_EQ(is_secret_variable("BROKERS", value), std::string_view(value) == "://:@") << value;
  }
}

TEST(SecretVariables, AreSecretInAnyCaseAndWithAnyPrefix) {
  Rng rng(1, "names");
  for (const std::string secret : {"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL"}) {
    for (int i = 0; i < 50; ++i) {
      std::string name;
      for (std::uint64_t k = rng.below(5); k > 0; --k)
        name += static_cast<char>('A' + rng.below(26));
      name += secret;
      for (char& c : name)
        if (rng.below(2) == 0) c = static_cast<char>(std::tolower(c));
      EXPECT_TRUE(is_secret_variable(name, "x")) << name;
    }
  }
}

}  // namespace
}  // namespace steptune
