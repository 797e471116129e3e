// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/first_guesses.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/knobs/counted_parameter.hpp"

namespace steptune {
namespace {

SearchSpace space_of(const std::vector<std::string>& constraints = {}) {
  Parameter batch = counted("batch_size", 8, 1024, Scale::log2);
  batch.memory = MemoryEffect::increases;
  Parameter precision;
  precision.name = "precision";
  precision.kind = ParameterKind::categorical;
  precision.choices = {std::string("fp32"), std::string("bf16")};
  Parameter prefetch = counted("prefetch", 1, 8);
  prefetch.when = "workers > 0";
  return *SearchSpace::create(
      {batch, counted("workers", 0, 32), prefetch, precision, counted("threads", 1, 32),
       counted("accumulation", 1, 16), counted("momentum", 0, 9)},
      constraints, {});
}

Configuration today() {
  Configuration configuration;
  configuration.set("batch_size", Value(std::int64_t{16}));
  configuration.set("workers", Value(std::int64_t{0}));
  configuration.set("precision", Value(std::string("fp32")));
  configuration.set("threads", Value(std::int64_t{1}));
  configuration.set("accumulation", Value(std::int64_t{4}));
  configuration.set("momentum", Value(std::int64_t{3}));
  return configuration;
}

Observation seen(const Configuration& configuration, double value,
                 ObservationKind kind = ObservationKind::complete) {
  Observation observation;
  observation.configuration = configuration;
  observation.kind = kind;
  if (kind == ObservationKind::complete) observation.values = {value};
  return observation;
}

constexpr GuessMachine k_gpu_machine{8, 1, true};

TEST(FirstGuesses, BeginWithWhatUsuallyHelpsAllAtOnce) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  const std::vector<Observation> baseline = {seen(today(), 1.0)};
  const auto first = guesses.next(baseline, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(
      first->text(),
      "accumulation=4 batch_size=128 momentum=3 precision=bf16 prefetch=4 threads=1 workers=8");
  // While that one runs, another is tried.
  const std::vector<Configuration> running = {*first};
  const auto second = guesses.next(baseline, running);
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
}

TEST(FirstGuesses, FitTheMachine) {
  const SearchSpace space = space_of();
  // Without hardware for it there is no bfloat16, and CPUs that compute are shared with workers.
  const auto guess = FirstGuesses(space, today(), {16, 0, false}).next({}, {});
  ASSERT_TRUE(guess);
  EXPECT_EQ(to_text(*guess->find("precision")), "fp32");
  EXPECT_EQ(to_text(*guess->find("workers")), "4");
  EXPECT_EQ(to_text(*guess->find("threads")), "4");
  const auto folder = std::filesystem::path(testing::TempDir()) / "guess_machine";
  std::filesystem::create_directories(folder / "proc");
  std::ofstream(folder / "proc/cpuinfo") << "flags\t\t: fpu avx2 amx_bf16 amx_tile\n";
  EXPECT_TRUE(guess_machine(SystemFiles{folder}, 4, 0).computes_bfloat16);
  std::ofstream(folder / "proc/cpuinfo") << "flags\t\t: fpu avx2 avx512f\n";
  EXPECT_FALSE(guess_machine(SystemFiles{folder}, 4, 0).computes_bfloat16);
}

TEST(FirstGuesses, ReachTheEndOfALongRange) {
  Configuration baseline;
  baseline.set("batch_size", Value(std::int64_t{16}));
  const SearchSpace whole = *SearchSpace::create({counted("batch_size", 1, 65536)}, {}, {});
  EXPECT_EQ(FirstGuesses(whole, baseline, k_gpu_machine).next({}, {})->text(), "batch_size=65536");
  Parameter batch = counted("batch_size", 1, 65536);
  batch.memory = MemoryEffect::increases;
  const SearchSpace careful = *SearchSpace::create({batch}, {}, {});
  EXPECT_EQ(FirstGuesses(careful, baseline, k_gpu_machine).next({}, {})->text(), "batch_size=1024");
}

TEST(GuessMachine, TellsGpusWithoutBfloat16FromThoseOfLikeNames) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "guess_gpu";
  const auto gpu = folder / "proc/driver/nvidia/gpus/0000:01:00.0";
  std::filesystem::create_directories(gpu);
  std::filesystem::create_directories(folder / "dev");
  std::ofstream(folder / "dev/nvidia0");
  const auto computes = [&](const std::string& model) {
    std::ofstream(gpu / "information") << "Model: \t\t " << model << "\n";
    return guess_machine(SystemFiles{folder}, 4, 1).computes_bfloat16;
  };
  for (const char* model : {"NVIDIA GeForce RTX 2080 Ti", "NVIDIA GeForce RTX 2060", "Tesla T4",
                            "Quadro RTX 6000", "Tesla V100-SXM2-16GB", "NVIDIA TITAN V", "TITAN Xp",
                            "Quadro P4000", "NVIDIA T1000", "NVIDIA GeForce MX450", "Tesla M10"}) {
    EXPECT_FALSE(computes(model)) << model;
  }
  for (const char* model : {"NVIDIA RTX 2000 Ada Generation", "NVIDIA GeForce RTX 2050",
                            "NVIDIA GeForce RTX 3090", "NVIDIA H100 80GB HBM3", "NVIDIA RTX A4000",
                            "NVIDIA GeForce MX570", "NVIDIA A100-PCIE-40GB", "NVIDIA L4"}) {
    EXPECT_TRUE(computes(model)) << model;
  }
}

TEST(FirstGuesses, FollowTheRolesThatAreDeclared) {
  const SearchSpace space = space_of();
  // Momentum is what loads data here, and "workers" has nothing to do with it.
  const KnobRoles declared = {{"momentum", KnobRole::workers}, {"precision", std::nullopt}};
  const auto guess = FirstGuesses(space, today(), k_gpu_machine, declared).next({}, {});
  ASSERT_TRUE(guess);
  EXPECT_NE(*guess->find("momentum"), *today().find("momentum"));
  EXPECT_EQ(*guess->find("workers"), *today().find("workers"));
  EXPECT_EQ(*guess->find("precision"), *today().find("precision"));
}

/// The space with a second machine to rent.
SearchSpace space_with_instances() {
  Parameter batch = counted("batch_size", 8, 1024, Scale::log2);
  batch.memory = MemoryEffect::increases;
  Parameter instance;
  instance.name = "instance_type";
  instance.kind = ParameterKind::categorical;
  instance.choices = {std::string("small"), std::string("large")};
  return *SearchSpace::create({batch, instance}, {}, {});
}

Configuration rented(std::int64_t batch_size, const std::string& instance) {
  Configuration configuration;
  configuration.set("batch_size", Value(batch_size));
  configuration.set("instance_type", Value(instance));
  return configuration;
}

TEST(FirstGuesses, LeaveTheInstanceToTheSearch) {
  const SearchSpace space = space_with_instances();
  const FirstGuesses guesses(space, rented(16, "large"), k_gpu_machine);
  std::vector<Observation> known = {seen(rented(16, "large"), 1.0)};
  const auto first = guesses.next(known, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, rented(128, "large"));
  // What another machine has no memory for may fit here.
  known.push_back(seen(rented(32, "small"), 0.0, ObservationKind::out_of_memory));
  EXPECT_EQ(guesses.next(known, {}), first);

  Parameter instance;
  instance.name = "instance";
  instance.kind = ParameterKind::categorical;
  instance.choices = {std::string("small"), std::string("large")};
  const SearchSpace only = *SearchSpace::create({instance}, {}, {});
  EXPECT_FALSE(FirstGuesses(only, rented(16, "small"), k_gpu_machine).knows_anything());
}

TEST(FirstGuesses, HalveTheBatchThatRanOutOfMemory) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  std::vector<Observation> known = {seen(today(), 1.0)};
  const auto first = guesses.next(known, {});
  ASSERT_TRUE(first);
  known.push_back(seen(*first, 0.0, ObservationKind::out_of_memory));
  const auto second = guesses.next(known, {});
  ASSERT_TRUE(second);
  EXPECT_LT(to_number(*second->find("batch_size")), to_number(*first->find("batch_size")));
  EXPECT_EQ(to_text(*second->find("precision")), "bf16");
}

TEST(FirstGuesses, BuildOnTheBestAndNotOnWhatWasSlower) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  std::vector<Observation> known = {seen(today(), 1.0)};
  const auto first = guesses.next(known, {});
  ASSERT_TRUE(first);
  known.push_back(seen(*first, 0.5));
  const auto better = guesses.next(known, {});
  ASSERT_TRUE(better);
  EXPECT_EQ(to_text(*better->find("batch_size")), "256");
  EXPECT_EQ(to_text(*better->find("workers")), "8");
  known.back() = seen(*first, 2.0);
  const auto otherwise = guesses.next(known, {});
  ASSERT_TRUE(otherwise);
  EXPECT_LT(to_number(*otherwise->find("batch_size")), 128.0);
  // A configuration that violated a guard is not built upon either.
  known.back() = seen(*first, 0.0, ObservationKind::infeasible);
  EXPECT_LT(to_number(*guesses.next(known, {})->find("batch_size")), 128.0);
}

TEST(FirstGuesses, KeepTheSamplesOfAStepThatAConstraintHolds) {
  const SearchSpace space = space_of({"batch_size * accumulation == 64"});
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  std::vector<Observation> known = {seen(today(), 1.0)};
  for (int i = 0; i < 3; ++i) {
    const auto guess = guesses.next(known, {});
    if (!guess) break;
    EXPECT_TRUE(space.contains(*guess)) << guess->text();
    known.push_back(seen(*guess, 1.0 / (i + 2)));
  }
  EXPECT_GT(known.size(), 1U);
}

TEST(FirstGuesses, GiveWayToTheSearcher) {
  const SearchSpace space = space_of();
  SearcherOptions options;
  const auto searcher = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                           k_gpu_machine, options.objectives);
  std::vector<std::string> origins;
  Configuration configuration = today();
  for (std::int64_t trial = 1; trial < 7; ++trial) {
    searcher->observe(seen(configuration, 1.0 / static_cast<double>(trial)));
    const auto suggestion = searcher->suggest({trial + 1, {}, {}});
    ASSERT_TRUE(suggestion && *suggestion);
    configuration = (*suggestion)->configuration;
    origins.push_back((*suggestion)->origin);
  }
  EXPECT_EQ(origins,
            (std::vector<std::string>{"expert", "expert", "expert", "random", "random", "random"}));
  // A metric that is not a time is no engineer's business.
  const auto metric = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                         k_gpu_machine, {ObjectiveTraits{false}});
  EXPECT_EQ((*metric->suggest({1, {}, {}}))->origin, "random");
  // What an earlier study has measured tells more.
  const auto taught = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                         k_gpu_machine, options.objectives);
  taught->observe_earlier(0, seen(today(), 1.0));
  EXPECT_EQ((*taught->suggest({1, {}, {}}))->origin, "random");
}

}  // namespace
}  // namespace steptune
