// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/text.hpp"
#include "program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::test {

namespace {

/// Returns the values of `key=` in an output, in order.
std::vector<double> values_of(const std::string& key, const std::string& out) {
  std::vector<double> values;
  const std::string mark = " " + key + "=";
  for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = out.find_first_of(" \n", begin);
    const auto value = parse_finite(std::string_view(out).substr(begin, end - begin));
    EXPECT_TRUE(value) << out.substr(at, 40);
    values.push_back(value.value_or(0.0));
  }
  return values;
}

TEST(PytorchResnet, PrintsItsProgressAndLearns) {
  const Ended ended =
      run({"/usr/bin/python3", STEPTUNE_SOURCE_DIR "/examples/pytorch_resnet/train.py", "--images",
           "96", "--size", "64", "--epochs", "8", "--batch-size", "16", "--workers", "1", "--amp",
           "--channels-last", "--log-every", "4"});
  ASSERT_EQ(ended.exit_status, 0) << ended.err;
  // Eight epochs of 96 pictures are 48 steps of 16 pictures. Every fourth step prints a line.
  const std::vector<double> losses = values_of("loss", ended.out);
  ASSERT_EQ(losses.size(), 12U);
  EXPECT_LT(losses.back(), 0.8 * losses.front());
  EXPECT_EQ(values_of("step", ended.out).back(), 48.0);
  EXPECT_EQ(values_of("samples", ended.out).back(), 768.0);
}

TEST(PytorchResnet, ValidatesAndWritesItsWeightsAfterEachEpoch) {
  const TemporaryFolder folder("pytorch-resnet");
  const std::filesystem::path weights = folder.path() / "weights.pt";
  const Ended ended =
      run({"/usr/bin/python3", STEPTUNE_SOURCE_DIR "/examples/pytorch_resnet/train.py", "--images",
           "64", "--size", "64", "--epochs", "2", "--batch-size", "16", "--validate", "24",
           "--checkpoint", weights.string()});
  ASSERT_EQ(ended.exit_status, 0) << ended.err;
  EXPECT_EQ(values_of("val_loss", ended.out).size(), 2U);
  EXPECT_GT(std::filesystem::file_size(weights), 10'000U);
}

}  // namespace

}  // namespace steptune::test
