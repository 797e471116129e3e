// SPDX-License-Identifier: Apache-2.0
#include "common/child_process.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory_file.hpp"
#include "common/unique_fd.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct EndedChild {
  int status = -1;
  std::string output;
};

/// Runs a script to its end. Streams other than stdout are those of `request`.
EndedChild run_script(const std::string& script, ChildRequest request = {}) {
  request.argv = {"sh", "-c", script};
  request.program = "/bin/sh";
  const UniqueFd out = memory_file("");
  request.out = out.get();
  const auto pid = start_child(request);
  EXPECT_TRUE(pid) << pid.error();
  EndedChild ended;
  if (!pid) return ended;
  while (::waitpid(*pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  ::lseek(out.get(), 0, SEEK_SET);
  char buffer[4096];
  for (ssize_t got = 1; got > 0;) {
    got = ::read(out.get(), buffer, sizeof buffer);
    if (got > 0) ended.output.append(buffer, static_cast<std::size_t>(got));
  }
  return ended;
}

TEST(ChildProcess, HasOnlyTheGivenEnvironment) {
  ASSERT_EQ(::setenv("STEPTUNE_TEST_PARENT", "1", 1), 0);
  ChildRequest request;
  request.environment = {"ONE=1", "TWO=a b=c"};
  const std::string output = run_script("env", request).output;
  EXPECT_THAT(output, HasSubstr("ONE=1\n"));
  EXPECT_THAT(output, HasSubstr("TWO=a b=c\n"));
  EXPECT_THAT(output, Not(HasSubstr("STEPTUNE_TEST_PARENT")));
  ::unsetenv("STEPTUNE_TEST_PARENT");
}

TEST(ChildProcess, StreamsAreConnectedToDevNullByDefault) {
  for (const char* stream : {"0", "2"}) {
    const std::string is_null = std::string("test /proc/self/fd/") + stream + " -ef /dev/null";
    EXPECT_EQ(run_script(is_null).status, 0) << "stream " << stream;
  }
  const UniqueFd input = memory_file("typed\n");
  ChildRequest request;
  request.in = input.get();
  EXPECT_EQ(run_script("cat", request).output, "typed\n");
}

TEST(ChildProcess, BeginsInTheRequestedFolder) {
  ChildRequest request;
  request.working_directory = "/";
  EXPECT_EQ(run_script("pwd", request).output, "/\n");
}

TEST(ChildProcess, InheritsNoDescriptorUnlessAskedFor) {
  const UniqueFd secret(::open("/dev/null", O_RDONLY));  // without FD_CLOEXEC
  ASSERT_GT(secret.get(), 2);
  const std::string look = "test -e /proc/self/fd/" + std::to_string(secret.get());
  EXPECT_NE(run_script(look).status, 0);
  ChildRequest request;
  request.keeps_descriptors = true;
  EXPECT_EQ(run_script(look, request).status, 0);
}

TEST(ChildProcess, BeginsWithDefaultSignalsAndNoneBlocked) {
  sigset_t blocked;
  sigset_t former;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &blocked, &former), 0);
  const auto former_usr1 = std::signal(SIGUSR1, SIG_IGN);
  const EndedChild terminated = run_script("kill -TERM $$; echo survived");
  const EndedChild interrupted = run_script("kill -USR1 $$; echo survived");
  std::signal(SIGUSR1, former_usr1);
  ::sigprocmask(SIG_SETMASK, &former, nullptr);
  EXPECT_TRUE(WIFSIGNALED(terminated.status) && WTERMSIG(terminated.status) == SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(interrupted.status) && WTERMSIG(interrupted.status) == SIGUSR1);
}

TEST(ChildProcess, RunsInTheRequestedGroupAndSession) {
  // Fields 5 and 6 of /proc/PID/stat.
  const auto ids = [](ChildScope scope) {
    ChildRequest request;
    request.scope = scope;
    const std::string output =
        run_script(
            "read -r pid name state parent group session rest < /proc/$$/stat; "
            "echo $(( pid == group )) $(( pid == session )) $group",
            request)
            .output;
    return output.substr(0, 3);
  };
  EXPECT_EQ(ids(ChildScope::same_group), "0 0");
  EXPECT_EQ(ids(ChildScope::own_group), "1 0");
  EXPECT_EQ(ids(ChildScope::own_session), "1 1");
}

TEST(ChildProcess, AFailedStartSaysWhy) {
  ChildRequest request;
  request.argv = {"/no/such/program"};
  EXPECT_EQ(start_child(request).error(), ENOENT);
  request.argv = {"/etc/passwd"};
  EXPECT_EQ(start_child(request).error(), EACCES);
  request.argv = {"/bin/true"};
  request.working_directory = "/no/such/folder";
  EXPECT_EQ(start_child(request).error(), ENOENT);
}

TEST(ProcessVariables, AreReadAndWrittenAsAssignments) {
  ASSERT_EQ(::setenv("STEPTUNE_TEST_EQUALS", "a=b=", 1), 0);
  ASSERT_EQ(::setenv("STEPTUNE_TEST_EMPTY", "", 1), 0);
  const auto variables = process_variables();
  EXPECT_EQ(variables.at("STEPTUNE_TEST_EQUALS"), "a=b=");
  EXPECT_EQ(variables.at("STEPTUNE_TEST_EMPTY"), "");
  ::unsetenv("STEPTUNE_TEST_EQUALS");
  ::unsetenv("STEPTUNE_TEST_EMPTY");
  EXPECT_THAT(assignments({{"B", "2"}, {"A", "x=y"}}), ElementsAre("A=x=y", "B=2"));
}

}  // namespace
}  // namespace steptune
