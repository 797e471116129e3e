// SPDX-License-Identifier: Apache-2.0
// Tests `pip install` of the Python reporter as in docs/reporting.md, without a network.
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int status = -1;
  std::string output;
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    ran.output.append(buffer.data(), count);
  }
  ran.status = pclose(pipe);
  return ran;
}

TEST(ReporterPackage, InstallsWithoutANetworkAndReports) {
  if (run(STEPTUNE_PYTHON " -c 'import setuptools, pip, wheel'").status != 0) {
    GTEST_SKIP() << "needs python3-pip, python3-setuptools and python3-wheel";
  }
  const fs::path folder = fs::path(::testing::TempDir()) / fmt::format("reporter-{}", getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  // pip builds in the given folder.
  fs::copy(STEPTUNE_SOURCE_DIR "/trial_runner/reporters", folder / "reporters",
           fs::copy_options::recursive);
  const Ran installed =
      run(fmt::format("cd '{}' && HOME='{}' " STEPTUNE_PYTHON
                      " -m pip install --no-build-isolation --no-index --target site ./reporters",
                      folder.string(), folder.string()));
  ASSERT_EQ(installed.status, 0) << installed.output;
  const Ran reported = run(
      fmt::format("cd / && PYTHONPATH='{}' STEPTUNE_TRIAL=1.1 " STEPTUNE_PYTHON
                  " -c 'import importlib.metadata, steptune; steptune.report(samples=8, loss=0.5); "
                  "print(importlib.metadata.version(\"steptune\"), steptune.__file__)'",
                  (folder / "site").string()));
  EXPECT_EQ(reported.status, 0) << reported.output;
  EXPECT_TRUE(reported.output.starts_with("[steptune] {\"v\":1,\"step\":1,\"samples\":8.0,"))
      << reported.output;
  EXPECT_NE(reported.output.find(fmt::format("\n" STEPTUNE_VERSION " {}/site/steptune/__init__.py",
                                             folder.string())),
            std::string::npos)
      << reported.output;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace steptune
