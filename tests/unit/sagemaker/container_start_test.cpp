// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/container_start.hpp"

#include <array>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/shell_quote.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Launch k_over_three{Launcher::torchrun, 3, 8};

/// Returns the output of the entry point's program, with `ml` in place of /opt/ml.
std::string printed(const ContainerStart& entry, const std::string& ml) {
  std::string command = "env";
  for (const auto& [name, value] : entry.environment)
    command += " " + posix_quoted(name + "=" + value);
  for (std::string word : entry.words) {
    const std::string place = "/opt/ml";
    for (std::size_t at = 0; (at = word.find(place, at)) != std::string::npos; at += ml.size())
      word.replace(at, place.size(), ml);
    command += " " + posix_quoted(word);
  }
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 512> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
    output += buffer.data();
  ::pclose(pipe);
  return output;
}

TEST(ContainerStart, IsTheCommandItselfWithoutChannelAndLaunch) {
  const ContainerStart entry = entry_point({"a", "b c"}, false, Launch{Launcher::torchrun, 1, 8});
  EXPECT_THAT(entry.words, ElementsAre("a", "b c"));
  EXPECT_THAT(entry.environment, IsEmpty());
  EXPECT_THAT(entry_point({}, true, k_over_three).words, IsEmpty());
}

TEST(ContainerStart, GivesTorchrunTheRankOfEachInstance) {
  const TemporaryFolder ml{"ml"};
  std::filesystem::create_directories(ml.path() / "input/config");
  std::filesystem::create_directories(ml.path() / "input/data/code");
  const ContainerStart entry = entry_point(
      {"/bin/sh", "-c", "echo $PET_MASTER_ADDR:$PET_MASTER_PORT $PET_NODE_RANK ${PWD##*/} \"$1\"",
       "x", "it's  $HOME"},
      true, k_over_three);
  for (const auto& [host, rank] : {std::pair{"algo-1", 0}, std::pair{"algo-3", 2}}) {
    // Blanks and line breaks are irregular, since the entry point must not depend on them.
    std::ofstream(ml.path() / "input/config/resourceconfig.json") << fmt::format(
        R"({{"current_group_name":"homogeneousCluster","current_host": "{}",)"
        "\n"
        R"("hosts":["algo-1", "algo-2","algo-3"],"instance_groups":[{{"hosts":["algo-9"]}}]}})",
        host);
    EXPECT_EQ(printed(entry, ml.path().string()),
              fmt::format("algo-1:7777 {} code it's  $HOME\n", rank));
  }
}

TEST(ContainerStart, WritesFilesBeforeTheProgramStarts) {
  const TemporaryFolder folder{"carried"};
  const std::string path = folder.path() / "some where/ds.json";
  const std::string text = "{\"it's\": \"$HOME\",\n \"ü\": \"" + std::string(3000, 'x') + "\"}\n";
  const ContainerStart entry =
      entry_point({"/bin/cat", path}, false, std::nullopt, false, {{path, text}});
  EXPECT_EQ(printed(entry, "/none"), text);
  EXPECT_THAT(entry.words, Each(SizeIs(::testing::Le(256U))));
  for (const auto& [name, value] : entry.environment)
    EXPECT_LE(value.size(), 512U) << name;
}

TEST(ContainerStart, KeepsToTheServicesLimits) {
  const ContainerStart entry = entry_point({"train"}, true, k_over_three);
  EXPECT_THAT(entry.words, Each(SizeIs(::testing::Le(256U))));
  for (const auto& [name, value] : entry.environment)
    EXPECT_LE(value.size(), 512U) << name;
}

}  // namespace
}  // namespace steptune
