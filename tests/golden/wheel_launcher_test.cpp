// SPDX-License-Identifier: Apache-2.0
// Tests the launcher of the wheel (cmake/wheel/launcher.c) with programs of the system.
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;

/// Returns the loader that started this test.
fs::path loader() {
  Dl_info info{};
  const auto base = ::getauxval(AT_BASE);
  return ::dladdr(reinterpret_cast<const void*>(base), &info) != 0 ? info.dli_fname : "";
}

/// Makes the folders of a wheel: `bin`, and a loader in `home/lib`.
class Wheel : public ::testing::Test {
 protected:
  Wheel() {
    for (const char* folder : {"bin", "home/bin", "home/lib", "home/programs"})
      fs::create_directories(sandbox_.folder() / folder);
    fs::copy_file(loader(), sandbox_.folder() / "home/lib/steptune-loader");
  }

  /// Compiles the launcher for a program of the system.
  void launch(const fs::path& program) {
    const std::string sources = STEPTUNE_SOURCE_DIR "/cmake/wheel/";
    const std::string name = program.filename().string();
    const std::string build = fmt::format(
        "g++ -x c -std=c11 -D_GNU_SOURCE -static '-DSTEPTUNE_HOME=\"../home\"' {0}launcher.c -o "
        "bin/{1} && "
        "g++ -x c -std=c11 -shared -fPIC {0}restore_environment.c "
        "-o home/lib/libsteptune-environment.so",
        sources, name);
    const Ended built = sandbox_.program({"/bin/sh", "-c", build});
    ASSERT_EQ(built.exit_code, 0) << built.err;
    fs::create_symlink(fs::canonical(program), sandbox_.folder() / "home/programs" / name);
  }

  Sandbox sandbox_;
};

TEST_F(Wheel, AProgramUnderItsLoaderFindsItsFilesBesideTheLoader) {
  sandbox_.write("home/bin/steptune-watchdog", "");
  const Ended ended = sandbox_.program({(sandbox_.folder() / "home/lib/steptune-loader").string(),
                                        steptune_program(), "doctor", "--json"});
  const auto json = parse_json(ended.out, "doctor");
  ASSERT_TRUE(json) << json.error().text() << ended.err;
  std::string watchdog;
  for (const Json& check : (*json)["checks"])
    if (check["name"] == "watchdog") watchdog = check["found"];
  EXPECT_EQ(watchdog, fs::canonical(sandbox_.folder()) / "home/bin/steptune-watchdog");
}

TEST_F(Wheel, ProgramsHaveTheUsersEnvironmentAndArguments) {
  launch("/usr/bin/env");
  const Ended ended = sandbox_.program(
      {"bin/env", "-u", "TERM"}, {.environment = {{"LD_LIBRARY_PATH", "/nothing"},
                                                  {"LD_PRELOAD", "/nothing/needs-a-newer-libc.so"},
                                                  {"PATH", "/bin"}}});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "") << "the loader was given LD_PRELOAD";
  EXPECT_EQ(ended.out,
            "LD_LIBRARY_PATH=/nothing\nLD_PRELOAD=/nothing/needs-a-newer-libc.so\nPATH=/bin\n");
}

TEST_F(Wheel, ProgramsHaveTheirOwnNames) {
  launch("/bin/cat");
  EXPECT_EQ(sandbox_.program({"bin/cat", "/proc/self/comm"}).out, "cat\n");
}

TEST_F(Wheel, AnIncompleteInstallationIsReportedWithWhatToDo) {
  launch("/bin/cat");
  fs::remove(sandbox_.folder() / "home/lib/steptune-loader");
  const Ended ended = sandbox_.program({"bin/cat"});
  EXPECT_EQ(ended.exit_code, 127);
  EXPECT_EQ(
      ended.err,
      fmt::format("steptune: cannot start {}/bin/../home/lib/steptune-loader: No such file or "
                  "directory; install steptune again\n",
                  fs::canonical(sandbox_.folder()).string()));
}

}  // namespace
}  // namespace steptune::golden
