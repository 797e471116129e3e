// SPDX-License-Identifier: Apache-2.0
#include "tuner/knobs/first_guesses.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/unit/knobs/counted_parameter.hpp"

namespace steptune {
namespace {

SearchSpace space_of(const std::vector<std::string>& constraints = {}) {
  Parameter batch = counted("batch_size", 8, 1024, Scale::log2);
  batch.memory = MemoryEffect::increases;
  Parameter prefetch = counted("prefetch", 1, 8);
  prefetch.when = "workers > 0";
  return *SearchSpace::create(
      {batch, counted("workers", 0, 512, Scale::log), prefetch,
       chosen("precision", {std::string("fp32"), std::string("bf16")}), counted("threads", 1, 32),
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

Configuration one_value(const char* name, std::int64_t value) {
  Configuration configuration;
  configuration.set(name, Value(value));
  return configuration;
}

Observation seen(const Configuration& configuration, double value, double error = 0.0,
                 ObservationKind kind = ObservationKind::complete) {
  Observation observation;
  observation.configuration = configuration;
  observation.kind = kind;
  if (kind == ObservationKind::complete) {
    observation.values = {value};
    observation.standard_errors = {error};
  }
  return observation;
}

double number_at(const Configuration& configuration, const char* name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? 0.0 : to_number(*value);
}

using Law = std::function<double(const Configuration&)>;

/// Returns all moves of an expert on a program that takes `seconds`, the baseline first. A negative
/// value means out of memory.
std::vector<Observation> moves_on(const FirstGuesses& guesses, const Configuration& baseline,
                                  const Law& seconds, double error = 0.0) {
  std::vector<Observation> known = {seen(baseline, seconds(baseline), error * seconds(baseline))};
  while (const auto guess = guesses.next(known, {})) {
    const double value = seconds(*guess);
    known.push_back(value < 0.0 ? seen(*guess, 0.0, 0.0, ObservationKind::out_of_memory)
                                : seen(*guess, value, error * value));
    if (known.size() > 200) break;
  }
  return known;
}

std::vector<double> values_of(const std::vector<Observation>& known, const char* name) {
  std::vector<double> values;
  for (const Observation& observation : known)
    values.push_back(number_at(observation.configuration, name));
  return values;
}

constexpr GuessMachine k_two_cpus{2, 0, false};
constexpr GuessMachine k_gpu_machine{8, 1, true};

/// A lever is a setting, or settings that are changed together (`levers_of`).
TEST(FirstGuesses, ChangeOneLeverOfTheBestAtATime) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  // Only the batch and bfloat16 pay off.
  const auto known = moves_on(guesses, today(), [](const Configuration& its) {
    const double precision = to_text(*its.find("precision")) == "bf16" ? 0.5 : 1.0;
    return precision * (1.0 + 16.0 / number_at(its, "batch_size"));
  });
  Configuration best = today();
  double least = known[0].values[0];
  for (std::size_t i = 1; i < known.size(); ++i) {
    const Configuration& move = known[i].configuration;
    int changed = 0;
    for (const char* name : {"batch_size", "workers", "precision", "threads"})
      changed += move.find(name) == nullptr || *move.find(name) != *best.find(name) ? 1 : 0;
    EXPECT_EQ(changed, 1) << move.text() << " after " << best.text();
    if (known[i].values[0] < 0.98 * least) {
      best = move;
      least = known[i].values[0];
    }
  }
  EXPECT_EQ(best.text(),
            "accumulation=4 batch_size=1024 momentum=3 precision=bf16 threads=1 workers=0");
}

TEST(FirstGuesses, KnowTheFirstMoveBeforeAnyResult) {
  for (const char* name : {"workers", "threads", "batch_size"}) {
    const SearchSpace space = *SearchSpace::create({counted(name, 1, 64)}, {}, {});
    EXPECT_TRUE(FirstGuesses(space, one_value(name, 4), k_two_cpus).next({}, {})) << name;
  }
}

/// `steps_per_execution` of Keras: fewer calls, until steps take nearly all of the time.
TEST(FirstGuesses, RaiseANumberOfRoleOtherAsLongAsItPays) {
  const SearchSpace space =
      *SearchSpace::create({counted("steps_per_execution", 1, 64, Scale::log2)}, {}, {});
  const FirstGuesses guesses(space, one_value("steps_per_execution", 1), k_two_cpus,
                             {{"steps_per_execution", KnobRole::other}});
  const auto known = moves_on(guesses, one_value("steps_per_execution", 1), [](const auto& its) {
    return 1.0 + 4.0 / number_at(its, "steps_per_execution");
  });
  const auto values = values_of(known, "steps_per_execution");
  ASSERT_GE(values.size(), 4U);
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 4),
            (std::vector<double>{1.0, 4.0, 16.0, 64.0}));
}

TEST(FirstGuesses, MoveOrderedChoices) {
  Parameter calls = chosen("calls", {std::int64_t{1}, std::int64_t{4}, std::int64_t{16}});
  Parameter level = chosen("level", {std::string("low"), std::string("high")});
  calls.kind = level.kind = ParameterKind::ordinal;
  const SearchSpace space = *SearchSpace::create({calls, level}, {}, {});
  Configuration baseline = one_value("calls", 1);
  baseline.set("level", Value(std::string("low")));
  const FirstGuesses guesses(space, baseline, k_two_cpus,
                             {{"calls", KnobRole::other}, {"level", KnobRole::other}});
  const Law law = [](const Configuration& its) { return 1.0 / number_at(its, "calls"); };
  const auto known = moves_on(guesses, baseline, law);
  ASSERT_EQ(known.size(), 4U);
  EXPECT_EQ(known[1].configuration.text(), "calls=4 level=low");
  EXPECT_EQ(known[2].configuration.text(), "calls=16 level=low");
  EXPECT_EQ(known[3].configuration.text(), "calls=16 level=high");
}

TEST(FirstGuesses, NeverTryAValueOfALeverTwice) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_two_cpus);
  const auto known = moves_on(guesses, today(), [](const Configuration& its) {
    return number_at(its, "threads") > 1.0 ? 3.0 : 1.0 / number_at(its, "batch_size");
  });
  for (const char* name : {"workers", "threads"}) {
    std::vector<double> moved;
    for (const double value : values_of(known, name))
      if (value != number_at(today(), name)) moved.push_back(value);
    std::ranges::sort(moved);
    EXPECT_EQ(std::ranges::adjacent_find(moved), moved.end()) << name;
    EXPECT_FALSE(moved.empty()) << name;
  }
}

TEST(FirstGuesses, AddWorkersAsLongAsTheyPay) {
  const SearchSpace space =
      *SearchSpace::create({counted("num_workers", 0, 128, Scale::log)}, {}, {});
  const FirstGuesses guesses(space, one_value("num_workers", 0), k_two_cpus);
  // Each item waits; 32 workers hide all of it.
  const auto waiting = [](const Configuration& its) {
    return std::max(1.0 / 32.0, 1.0 / std::max(1.0, number_at(its, "num_workers")));
  };
  EXPECT_EQ(values_of(moves_on(guesses, one_value("num_workers", 0), waiting), "num_workers"),
            (std::vector<double>{0, 4, 16, 64, 128, 32}));
  // Decoding keeps both CPUs busy.
  const auto busy = [](const Configuration& its) {
    return number_at(its, "num_workers") < 2.0 ? 1.0 : 0.5 + 0.02 * number_at(its, "num_workers");
  };
  const auto known = moves_on(guesses, one_value("num_workers", 0), busy);
  EXPECT_EQ(values_of(known, "num_workers"), (std::vector<double>{0, 4, 8, 2}));
}

TEST(FirstGuesses, MoveAllThreadCountsTogether) {
  const SearchSpace space =
      *SearchSpace::create({counted("num_threads", 1, 8), counted("openblas_threads", 1, 2),
                            counted("omp_threads", 1, 8)},
                           {}, {});
  Configuration baseline = one_value("num_threads", 8);
  baseline.set("openblas_threads", Value(std::int64_t{2}));
  baseline.set("omp_threads", Value(std::int64_t{8}));
  const FirstGuesses guesses(space, baseline, k_two_cpus);
  const auto known = moves_on(guesses, baseline, [](const Configuration& its) {
    return number_at(its, "num_threads") + number_at(its, "openblas_threads");
  });
  ASSERT_EQ(known.size(), 3U);
  // There are more threads than CPUs: one thread is tried first, then as many as CPUs.
  EXPECT_EQ(known[1].configuration.text(), "num_threads=1 omp_threads=1 openblas_threads=1");
  EXPECT_EQ(known[2].configuration.text(), "num_threads=2 omp_threads=2 openblas_threads=2");
}

TEST(FirstGuesses, MoveThreadCountsThatDifferToday) {
  const auto texts_of_moves = [](const SearchSpace& space, const Configuration& baseline) {
    const FirstGuesses guesses(space, baseline, k_two_cpus);
    std::vector<std::string> texts;
    for (const Observation& move : moves_on(guesses, baseline, [](const Configuration& its) {
           return 1.0 + std::abs(number_at(its, "num_threads") - 2.0);
         })) {
      texts.push_back(move.configuration.text());
    }
    return texts;
  };
  Configuration baseline = one_value("openblas_threads", 2);
  baseline.set("num_threads", Value(std::int64_t{8}));
  EXPECT_EQ(
      texts_of_moves(*SearchSpace::create(
                         {counted("openblas_threads", 1, 2), counted("num_threads", 1, 8)}, {}, {}),
                     baseline),
      (std::vector<std::string>{"num_threads=8 openblas_threads=2",
                                "num_threads=1 openblas_threads=1",
                                "num_threads=2 openblas_threads=2"}));
  baseline.set("num_threads", Value(std::int64_t{1}));
  EXPECT_EQ(
      texts_of_moves(*SearchSpace::create(
                         {counted("num_threads", 1, 2), counted("openblas_threads", 1, 2)}, {}, {}),
                     baseline),
      (std::vector<std::string>{"num_threads=1 openblas_threads=2",
                                "num_threads=2 openblas_threads=2",
                                "num_threads=1 openblas_threads=1"}));
}

TEST(FirstGuesses, TryOneThreadAndThePhysicalCores) {
  const SearchSpace space = *SearchSpace::create({counted("threads", 1, 64)}, {}, {});
  GuessMachine machine{64, 0, false};
  machine.cores = 32;
  const FirstGuesses guesses(space, one_value("threads", 64), machine);
  const auto known =
      moves_on(guesses, one_value("threads", 64), [](const Configuration&) { return 1.0; });
  EXPECT_EQ(values_of(known, "threads"), (std::vector<double>{64, 32, 1}));
}

TEST(FirstGuesses, KeepAMoveOnlyBeyondTheNoise) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  const auto law = [](const Configuration& its) {
    return to_text(*its.find("precision")) == "bf16" ? 0.9 : 1.0;
  };
  const auto kept = [&](double error) {
    const auto known = moves_on(guesses, today(), law, error);
    return to_text(*known.back().configuration.find("precision")) == "bf16";
  };
  EXPECT_TRUE(kept(0.01));
  EXPECT_FALSE(kept(0.1));
}

/// Two workers gain nothing while the training process keeps both CPUs busy.
TEST(FirstGuesses, LeaveCpusToTheFirstWorkers) {
  const SearchSpace space =
      *SearchSpace::create({counted("workers", 0, 8), counted("threads", 1, 2)}, {}, {});
  Configuration both = one_value("workers", 0);
  both.set("threads", Value(std::int64_t{2}));
  const auto seconds = [](const Configuration& its) {
    return number_at(its, "workers") > 0.0 && number_at(its, "threads") == 1.0 ? 0.7 : 1.0;
  };
  const auto has_found = [&](const GuessMachine& machine) {
    const FirstGuesses guesses(space, both, machine);
    return std::ranges::any_of(moves_on(guesses, both, seconds),
                               [](const Observation& its) { return its.values[0] < 1.0; });
  };
  EXPECT_TRUE(has_found(k_two_cpus));
  EXPECT_FALSE(has_found({2, 1, false})) << "a GPU computes, so threads do not compete";
}

TEST(FirstGuesses, TryMovesThatWereFasterWithinTheNoiseTogether) {
  const SearchSpace space =
      *SearchSpace::create({chosen("optimizer", {std::string("loop"), std::string("foreach")}),
                            chosen("malloc", {std::string("default"), std::string("keep")}),
                            chosen("policy", {std::string("default"), std::string("passive")})},
                           {}, {});
  Configuration baseline;
  baseline.set("optimizer", Value(std::string("loop")));
  baseline.set("malloc", Value(std::string("default")));
  baseline.set("policy", Value(std::string("default")));
  const KnobRoles roles = {
      {"optimizer", KnobRole::other}, {"malloc", KnobRole::other}, {"policy", KnobRole::other}};
  const FirstGuesses guesses(space, baseline, k_two_cpus, roles);
  const auto known = moves_on(
      guesses, baseline,
      [](const Configuration& its) {
        double seconds = 1.0;
        if (to_text(*its.find("optimizer")) == "foreach") seconds *= 0.85;
        if (to_text(*its.find("malloc")) == "keep") seconds *= 0.85;
        if (to_text(*its.find("policy")) == "passive") seconds *= 1.1;
        return seconds;
      },
      0.1);
  ASSERT_EQ(known.size(), 5U);
  EXPECT_EQ(known.back().configuration.text(), "malloc=keep optimizer=foreach policy=default");
}

TEST(FirstGuesses, AddWorkersAsLongAsMemorySuffices) {
  const SearchSpace space =
      *SearchSpace::create({counted("num_workers", 0, 128, Scale::log)}, {}, {});
  GuessMachine machine = k_two_cpus;
  machine.memory_bytes = 32e9;
  const FirstGuesses guesses(space, one_value("num_workers", 0), machine);
  std::vector<Observation> known;
  std::optional<Configuration> next = one_value("num_workers", 0);
  for (; next; next = guesses.next(known, {})) {
    const double workers = number_at(*next, "num_workers");
    known.push_back(seen(*next, 1.0 / (1.0 + workers)));
    known.back().peak_memory_bytes = 2e9 + 1e9 * workers;
  }
  // 2 GB plus 1 GB for each worker: 26 workers take nine tenths of 32 GB.
  EXPECT_EQ(std::ranges::count(values_of(known, "num_workers"), 26.0), 1);
  for (const double workers : values_of(known, "num_workers"))
    EXPECT_LE(workers, 26.0);
}

TEST(FirstGuesses, KeepABatchThatRanIfAnotherSettingExhaustsTheMemory) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_two_cpus);
  std::vector<Observation> known = {seen(today(), 1.0)};
  Configuration many_workers = today();
  many_workers.set("workers", Value(std::int64_t{512}));
  many_workers.set("prefetch", Value(std::int64_t{2}));
  known.push_back(seen(many_workers, 0.0, 0.0, ObservationKind::out_of_memory));
  const auto guess = guesses.next(known, {});
  ASSERT_TRUE(guess) << "the baseline ran at the same batch size";
  EXPECT_EQ(number_at(*guess, "batch_size"), 64.0);
  EXPECT_EQ(number_at(*guess, "workers"), 0.0);
}

TEST(FirstGuesses, HalveTheStepToABatchThatRanOutOfMemory) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_two_cpus);
  const auto known = moves_on(guesses, today(), [](const Configuration& its) {
    const double batch = number_at(its, "batch_size");
    return batch >= 200.0 ? -1.0 : 1.0 / batch;
  });
  const auto batches = values_of(known, "batch_size");
  EXPECT_EQ(std::vector<double>(batches.begin(), batches.begin() + 4),
            (std::vector<double>{16, 64, 256, 128}));
  for (std::size_t i = 4; i < batches.size(); ++i)
    EXPECT_EQ(batches[i], 128.0);
}

TEST(FirstGuesses, FitTheMachine) {
  const SearchSpace space = space_of();
  // Without hardware support, bfloat16 is not tried.
  const auto same = [](const Configuration&) { return 1.0; };
  for (const Observation& move : moves_on(FirstGuesses(space, today(), k_two_cpus), today(), same))
    EXPECT_EQ(to_text(*move.configuration.find("precision")), "fp32");
  const auto folder = std::filesystem::path(testing::TempDir()) / "guess_machine";
  std::filesystem::create_directories(folder / "proc");
  std::ofstream(folder / "proc/cpuinfo") << "flags\t\t: fpu avx2 amx_bf16 amx_tile\n";
  EXPECT_TRUE(guess_machine(SystemFiles{folder}, 4, 0).computes_bfloat16);
  EXPECT_EQ(guess_machine(SystemFiles{folder}, 4, 0).cores, 4);
  std::ofstream(folder / "proc/cpuinfo") << "flags\t\t: fpu avx2 avx512f\n";
  EXPECT_FALSE(guess_machine(SystemFiles{folder}, 4, 0).computes_bfloat16);
}

TEST(GuessMachine, AgreesWithTheHookOnCpusThatComputeBfloat16) {
  const std::string hook =
      read_file(STEPTUNE_SOURCE_DIR "/trial_runner/hooks/python/steptune_hook/keras/knobs.py");
  std::smatch list;
  ASSERT_TRUE(std::regex_search(hook, list, std::regex(R"(_BFLOAT16_FLAGS = \(([^)]+)\))")));
  const auto folder = std::filesystem::path(testing::TempDir()) / "guess_bfloat16";
  std::filesystem::create_directories(folder / "proc");
  const auto computes = [&folder](const std::string& flag) {
    std::ofstream(folder / "proc/cpuinfo") << "flags\t\t: fpu " << flag << " avx2\n";
    return guess_machine(SystemFiles{folder}, 4, 0).computes_bfloat16;
  };
  const std::string flags = list[1];
  const std::regex word("\\w+");
  std::set<std::string> known;
  for (std::sregex_iterator at(flags.begin(), flags.end(), word), end; at != end; ++at)
    known.insert(at->str());
  for (const char* flag :
       {"avx512_bf16", "amx_bf16", "bf16", "svebf16", "avx_ne_convert", "avx512f", "amx_tile"})
    EXPECT_EQ(computes(flag), known.contains(flag)) << flag;
  EXPECT_EQ(known.size(), 4U);
}

TEST(GuessMachine, CountsPhysicalCores) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "guess_cores";
  std::filesystem::create_directories(folder / "proc");
  {
    std::ofstream cpuinfo(folder / "proc/cpuinfo");
    for (int cpu = 0; cpu < 8; ++cpu) {
      cpuinfo << "processor\t: " << cpu << "\nphysical id\t: " << cpu / 4
              << "\nsiblings\t: 4\ncore id\t\t: " << cpu % 2 << "\ncpu cores\t: 2\n\n";
    }
  }
  EXPECT_EQ(guess_machine(SystemFiles{folder}, 8, 0).cores, 4);
  EXPECT_EQ(guess_machine(SystemFiles{folder}, 4, 0).cores, 2);
}

TEST(GuessMachine, KnowsGpusWithoutBfloat16ByName) {
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
  // Here "momentum" loads data, and "workers" has nothing to do with it.
  const KnobRoles declared = {{"momentum", KnobRole::workers}, {"precision", std::nullopt}};
  const FirstGuesses guesses(space, today(), k_gpu_machine, declared);
  const auto known = moves_on(guesses, today(), [](const Configuration&) { return 1.0; });
  EXPECT_GT(std::ranges::max(values_of(known, "momentum")), 3.0);
  for (const Observation& move : known) {
    EXPECT_EQ(*move.configuration.find("workers"), *today().find("workers"));
    EXPECT_EQ(*move.configuration.find("precision"), *today().find("precision"));
  }
}

/// Returns the space with a second machine to rent.
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
  EXPECT_EQ(*first, rented(64, "large"));
  // The other machine has less memory.
  known.push_back(seen(rented(32, "small"), 0.0, 0.0, ObservationKind::out_of_memory));
  EXPECT_EQ(guesses.next(known, {}), first);

  Parameter instance;
  instance.name = "instance";
  instance.kind = ParameterKind::categorical;
  instance.choices = {std::string("small"), std::string("large")};
  const SearchSpace only = *SearchSpace::create({instance}, {}, {});
  EXPECT_FALSE(FirstGuesses(only, rented(16, "small"), k_gpu_machine).knows_anything());
}

TEST(FirstGuesses, KeepSamplesPerStepFixedByAConstraint) {
  const SearchSpace space = space_of({"batch_size * accumulation == 64"});
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  const auto known = moves_on(guesses, today(), [](const Configuration& its) {
    return 1.0 / number_at(its, "batch_size");
  });
  EXPECT_EQ(number_at(known[1].configuration, "batch_size"), 64.0);
  for (const Observation& move : known)
    EXPECT_TRUE(space.contains(move.configuration)) << move.configuration.text();
}

TEST(FirstGuesses, WaitForALeverThatIsUnderWay) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  const std::vector<Observation> baseline = {seen(today(), 1.0)};
  const auto first = guesses.next(baseline, {});
  ASSERT_TRUE(first);
  const std::vector<Configuration> running = {*first};
  const auto second = guesses.next(baseline, running);
  ASSERT_TRUE(second);
  EXPECT_EQ(number_at(*first, "workers"), number_at(today(), "workers"));
  EXPECT_EQ(number_at(*second, "batch_size"), number_at(today(), "batch_size"));
}

TEST(FirstGuesses, KeepASearcherNearTheWorkersThatHavePaid) {
  const SearchSpace space = space_of();
  const FirstGuesses guesses(space, today(), k_gpu_machine);
  std::vector<Observation> known = {seen(today(), 1.0)};
  EXPECT_EQ(guesses.reach(known)->most, 16.0) << "twice the CPUs";
  Configuration more = today();
  more.set("workers", Value(std::int64_t{64}));
  more.set("prefetch", Value(std::int64_t{2}));
  known.push_back(seen(more, 0.5));
  EXPECT_EQ(guesses.reach(known)->most, 128.0) << "twice the best number so far";
  EXPECT_TRUE(guesses.reach(known)->contains(more));
  known.back() = seen(more, 1.5);
  EXPECT_FALSE(guesses.reach(known)->contains(more));
}

TEST(FirstGuesses, KeepSearchersWithoutAModelNearThoseWorkers) {
  const SearchSpace space = space_of();
  for (const char* name : {"random", "sobol"}) {
    SearcherOptions options;
    const auto searcher = with_first_guesses(*make_searcher(name, space, options), space, today(),
                                             k_gpu_machine, options.objectives);
    Configuration configuration = today();
    int handed_over = 0;
    for (std::int64_t trial = 1; trial < 50; ++trial) {
      searcher->observe(seen(configuration, 1.0));
      const auto suggestion = searcher->suggest({trial + 1, {}, {}});
      ASSERT_TRUE(suggestion && *suggestion) << name;
      configuration = (*suggestion)->configuration;
      if ((*suggestion)->origin == "expert") continue;
      ++handed_over;
      EXPECT_LE(number_at(configuration, "workers"), 16.0) << name;
    }
    EXPECT_GT(handed_over, 10) << name;
  }
}

TEST(FirstGuesses, GiveWayToTheSearcher) {
  const SearchSpace space = space_of();
  SearcherOptions options;
  const auto searcher = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                           k_gpu_machine, options.objectives);
  Configuration configuration = today();
  std::vector<std::string> origins;
  for (std::int64_t trial = 1; trial < 30; ++trial) {
    searcher->observe(seen(configuration, 1.0));
    const auto suggestion = searcher->suggest({trial + 1, {}, {}});
    ASSERT_TRUE(suggestion && *suggestion);
    configuration = (*suggestion)->configuration;
    origins.push_back((*suggestion)->origin);
  }
  EXPECT_EQ(origins.front(), "expert");
  const auto handed_over = std::ranges::find(origins, "random");
  ASSERT_NE(handed_over, origins.end());
  EXPECT_EQ(std::find(handed_over, origins.end(), "expert"), origins.end());
  // First guesses apply only to times.
  const auto metric = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                         k_gpu_machine, {ObjectiveTraits{false}});
  EXPECT_EQ((*metric->suggest({1, {}, {}}))->origin, "random");
  // The trials of an earlier study know more than first guesses.
  const auto taught = with_first_guesses(*make_searcher("random", space, options), space, today(),
                                         k_gpu_machine, options.objectives);
  taught->observe_earlier(0, seen(today(), 1.0));
  EXPECT_EQ((*taught->suggest({1, {}, {}}))->origin, "random");
}

}  // namespace
}  // namespace steptune
