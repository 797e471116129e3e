// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/drafted_reading.hpp"

#include <functional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tuner/init/repeated_line.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

/// Returns twelve lines.
std::string drafted_output(const std::function<std::string(int)>& printed) {
  std::string output;
  for (int i = 1; i <= 12; ++i)
    output += printed(i) + "\n";
  return output;
}

double falling_loss(int i) {
  return 3.0 - 0.125 * i;
}

TEST(DraftedReading, ReadsALineWhoseCountIsCertain) {
  const std::string output = drafted_output([](int i) {
    return fmt::format("Train loss {} {:.3f} Grad Norm 1.{} 1.2s/it", i, falling_loss(i), i % 7);
  });
  const auto line = repeated_line(output);
  ASSERT_TRUE(line);
  const auto reading = drafted_reading(*line, output);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->progress, 12U);
  EXPECT_EQ(reading->last_count, 12.0);
  EXPECT_THAT(reading->metrics, ElementsAre(Key("loss")));
  EXPECT_EQ(reading->format.reports, reports_for(*line));
  EXPECT_EQ(reading->unit_name(), "steps");
}

TEST(DraftedReading, IsRefusedIfTheCountIsUncertain) {
  struct Uncertain {
    const char* name;
    std::function<std::string(int)> printed;
  };
  const Uncertain k_cases[]{
      {"samples", [](int i) { return fmt::format("<{}> seen, cost {:.3f}", 640 * i, 3.0 / i); }},
      {"two counts",
       [](int i) { return fmt::format("{} {} loss={:.3f}", 10 * i, 6400 * i, 3.0 / i); }},
      {"two counters of steps",
       [](int i) { return fmt::format("it {} nupdates {} loss {:.3f}", 40 * i, 10 * i, 3.0 / i); }},
      {"a total that grows",
       [](int i) {
         return fmt::format("At iteration {}/{}, cost {:.3f}", 10 * i, 12 * i, 3.0 / i);
       }},
      {"a validation's count",
       [](int i) { return fmt::format("gen {} val loss {:.3f}", i, 3.0 / i); }},
      {"Unix time",
       [](int i) { return fmt::format("[{}] loss {:.3f}", 1700000000 + 5 * i, 3.0 / i); }},
      {"after the loss", [](int i) { return fmt::format("loss {:.3f} <{}>", 3.0 / i, i); }},
      {"another name", [](int i) { return fmt::format("file {} loss {:.3f}", i, 3.0 / i); }},
      {"no loss", [](int i) { return fmt::format("<{}> of it", i); }},
      {"an evaluation", [](int i) { return fmt::format("test <{}> loss {:.3f}", i, 3.0 / i); }},
      {"uneven", [](int i) { return fmt::format("<{}> loss {:.3f}", i * i, 3.0 / i); }},
      {"few lines", [](int i) { return i > 4 ? "" : fmt::format("<{}> loss {:.3f}", i, 3.0 / i); }},
  };
  for (const Uncertain& uncertain : k_cases) {
    SCOPED_TRACE(uncertain.name);
    const std::string output = drafted_output(uncertain.printed);
    const auto line = repeated_line(output);
    ASSERT_TRUE(line);
    EXPECT_FALSE(drafted_reading(*line, output));
  }
}

TEST(DraftedReading, AddsALossThatAKnownFormatLacks) {
  const std::string output = drafted_output([](int i) {
    return fmt::format("Cost after iteration {}: {:.3f}", 100 * i, falling_loss(i));
  });
  auto known = best_reading(output_formats(), output);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->metrics.empty());
  const std::size_t progress = known->progress;
  const OutputReading completed = with_drafted_losses(*std::move(known), output);
  EXPECT_EQ(completed.progress, progress);
  EXPECT_THAT(completed.metrics, ElementsAre(Key("loss")));
  EXPECT_EQ(completed.format.reports["preset"], "key=value");
  EXPECT_EQ(completed.format.reports["metrics"][0]["name"], "loss");
}

TEST(DraftedReading, WordsMayStandBetweenTheLossAndItsNumber) {
  for (const char* format : {"Steps : {}, Gen Loss Total : {:.3f}, s/b : 1.160",
                             "iter {}: loss train (curr): {:.3f}, val: None"}) {
    const std::string output = drafted_output(
        [&](int i) { return fmt::format(fmt::runtime(format), i, falling_loss(i)); });
    auto known = best_reading(output_formats(), output);
    ASSERT_TRUE(known) << format;
    EXPECT_EQ(with_drafted_losses(*std::move(known), output).metrics.count("loss"), 1U) << format;
  }
}

TEST(DraftedReading, TheNumberAfterACommaIsNoLoss) {
  const std::string output = drafted_output([](int i) {
    return fmt::format(" {}: {:.3f} avg loss, 0.001 rate, 2.{} seconds", i, falling_loss(i), i % 7);
  });
  auto known = best_reading(output_formats(), output);
  ASSERT_TRUE(known);
  EXPECT_TRUE(with_drafted_losses(*std::move(known), output).metrics.empty());
}

TEST(DraftedReading, AnObjectiveThatMayBeMaximisedIsNoLoss) {
  for (const char* name : {"Objective", "ELBO"}) {
    const std::string output = drafted_output([&](int i) {
      return fmt::format("{} after iteration {}: {:.3f}", name, 100 * i, -falling_loss(i));
    });
    auto known = best_reading(output_formats(), output);
    ASSERT_TRUE(known);
    EXPECT_TRUE(with_drafted_losses(*std::move(known), output).metrics.empty()) << name;
  }
}

TEST(DraftedReading, AReadingWithItsLossIsKept) {
  const std::string output =
      drafted_output([](int i) { return fmt::format("step {} loss {:.3f}", i, falling_loss(i)); });
  auto known = best_reading(output_formats(), output);
  ASSERT_TRUE(known);
  EXPECT_EQ(with_drafted_losses(*std::move(known), output).format.reports, "key=value");
}

}  // namespace
}  // namespace steptune
