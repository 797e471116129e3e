// SPDX-License-Identifier: Apache-2.0
// Runs the seeds of the fuzzers, and edits of them, through the fuzzed functions. Inputs that a
// fuzzer found are added to the seeds, so that they stay tested.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/fuzz/targets.hpp"

namespace steptune::fuzz {
namespace {

struct Seed {
  std::string file;
  std::string text;
};

std::vector<Seed> seeds_of(const Target& target) {
  std::vector<Seed> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(STEPTUNE_SOURCE_DIR "/tests/fuzz/corpus") / target.name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.push_back({entry.path().string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::ranges::sort(seeds, {}, &Seed::file);
  return seeds;
}

/// Returns the text with bytes changed, cut, doubled, or taken from another seed.
std::string edited(const std::string& text, const std::string& other, std::uint64_t number) {
  Rng rng(2026, "corpus-fuzz", number);
  std::string result = text;
  for (std::uint64_t edits = 1 + rng.below(4); edits > 0 && !result.empty(); --edits) {
    const std::size_t at = rng.below(result.size());
    const std::size_t length = 1 + rng.below(16);
    switch (rng.below(4)) {
      case 0:
        result[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        result.erase(at, length);
        break;
      case 2:
        result.insert(at, result.substr(rng.below(result.size()), length));
        break;
      default:
        if (!other.empty()) result.insert(at, other.substr(rng.below(other.size()), length));
    }
  }
  return result;
}

class Corpus : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(Corpus, SeedsAndEditsOfThemKeepEveryPromise) {
  const std::vector<Seed> seeds = seeds_of(GetParam());
  ASSERT_GE(seeds.size(), 4U) << "a fuzzer without seeds finds little";
  for (const Seed& seed : seeds) {
    SCOPED_TRACE(seed.file);
    EXPECT_NO_THROW(GetParam().run(seed.text));
  }
  for (std::uint64_t number = 0; number < 400; ++number) {
    const std::string text = edited(seeds[number % seeds.size()].text,
                                    seeds[(number / seeds.size()) % seeds.size()].text, number);
    SCOPED_TRACE(text);
    EXPECT_NO_THROW(GetParam().run(text));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace steptune::fuzz
