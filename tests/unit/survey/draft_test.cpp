// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/draft.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

const Facts k_facts = {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 31.2}};

std::string knob(const std::string& name, const std::string& today, const std::string& more = "") {
  return fmt::format(R"({{"event":"knob","knob":"{}","may":true,"today":{},"value":{}{}}})", name,
                     today, today, more);
}

std::string refused(const std::string& name, const std::string& why) {
  return fmt::format(R"({{"event":"knob","knob":"{}","may":false,"why":"{}"}})", name, why);
}

/// Returns a survey of a program with a loader, and 100 steps of 20 ms and 32 samples; data takes
/// 10 % of them.
Survey usual(const std::vector<std::string>& events, double data_share = 0.1) {
  Survey survey;
  survey.log.add(R"({"event":"patched","pid":1,"torch":"1.13.1","device":"cpu"})");
  for (const std::string& event : events)
    survey.log.add(event);
  Report first;
  first.step = 1.0;
  first.samples = 32.0;
  first.clock_s = 2.0;
  survey.first = first;
  Report last = first;
  last.step = 101.0;
  last.samples = 3232.0;
  last.clock_s = 4.0;
  last.parts = {{"data", 2.0 * data_share}, {"forward", 2.0 * (1.0 - data_share)}};
  last.metrics = {{"loss", 2.3}};
  survey.last = last;
  return survey;
}

std::vector<std::string> loader_knobs(const std::string& workers = "0") {
  return {knob("num_workers", workers), knob("prefetch_factor", "null"),
          knob("persistent_workers", "false"), refused("pin_memory", "there is no GPU")};
}

DraftOptions options() {
  DraftOptions options;
  options.name = "train";
  options.argv = {"python3", "train.py", "--json={a}"};
  options.facts = k_facts;
  return options;
}

Draft must_draft(const Survey& survey, const DraftOptions& wanted = options()) {
  auto draft = draft_study(survey, wanted);
  if (!draft) throw std::runtime_error(draft.error().text());
  return *std::move(draft);
}

StudySpec study_of(const Draft& draft) {
  auto study = study_from_json(draft.document, "/studies/train.study.json", k_facts);
  if (!study) throw std::runtime_error(study.error().text());
  return *std::move(study);
}

TEST(Draft, HasTheProgramsSettingsAsBaseline) {
  const Draft draft = must_draft(usual(loader_knobs()));
  const StudySpec study = study_of(draft);
  EXPECT_EQ(render_command(study, study.baseline).argv, options().argv);
  EXPECT_TRUE(render_command(study, study.baseline).hook->knobs.empty());
  EXPECT_EQ(study.baseline.text(), "num_workers=0");
  EXPECT_EQ(study.space.find("num_workers")->high, 512.0);
  EXPECT_EQ(study.space.find("num_workers")->scale, Scale::log);
  ASSERT_NE(study.space.find("prefetch_factor"), nullptr);
  EXPECT_EQ(study.space.find("prefetch_factor")->when, "num_workers > 0");
  EXPECT_EQ(study.space.find("pin_memory"), nullptr);
  EXPECT_EQ(study.measure.buffers->text(), "num_workers * prefetch_factor");
  EXPECT_TRUE(study.guards.empty());
  EXPECT_EQ(study.search.first_guesses, true);
  EXPECT_THAT(draft.tuned, IsSupersetOf({"num_workers 0..512, today 0", "prefetch_factor 2..16"}));
  EXPECT_THAT(draft.left_out, Contains("pin_memory: there is no GPU"));
}

TEST(Draft, KeepsLoadersIfDataTakesNoTime) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("num_threads", "4"));
  const Draft draft = must_draft(usual(events, 0.004));
  const StudySpec study = study_of(draft);
  EXPECT_EQ(study.space.parameters().size(), 1U);
  EXPECT_EQ(study.baseline.text(), "num_threads=4");
  EXPECT_THAT(draft.left_out,
              Contains("num_workers, prefetch_factor, persistent_workers: data takes 0.4 % of a "
                       "step"));
  EXPECT_FALSE(study.measure.buffers);
}

TEST(Draft, AProgramWithoutALoaderHasNoBuffers) {
  const StudySpec study = study_of(must_draft(usual({knob("num_threads", "4")}, 0.0)));
  ASSERT_TRUE(study.measure.buffers);
  EXPECT_EQ(study.measure.buffers->text(), "0");
}

TEST(Draft, OffersTheLoaderThatWouldSoonLimitTheSteps) {
  const auto offers_workers = [](const std::string& workers, double waiting) {
    std::vector<std::string> events = loader_knobs(workers);
    events[1] = knob("prefetch_factor", "2");
    events.push_back(knob("num_threads", "4"));
    Survey survey = usual(events, 0.004);
    survey.last.metrics["loader_queue_depth"] = waiting;
    return study_of(must_draft(survey)).space.find("num_workers") != nullptr;
  };
  // Four of the eight batches ahead are still with the workers, so no worker is ever idle.
  EXPECT_TRUE(offers_workers("4", 4.0));
  EXPECT_FALSE(offers_workers("4", 7.5));
  EXPECT_FALSE(offers_workers("4", 8.0));
  EXPECT_TRUE(offers_workers("1", 2.0)) << "the worker may be busy for a whole step";
  EXPECT_FALSE(offers_workers("0", 0.0));
}

TEST(Draft, KeepsTheHostIfTheGpuNeverWaits) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("num_threads", "4"));
  events.push_back(knob("malloc", "null"));
  Survey survey = usual(events);
  survey.last.metrics["gpu_idle_share"] = 0.014;
  const Draft draft = must_draft(survey);
  EXPECT_EQ(study_of(draft).space.find("num_threads"), nullptr);
  EXPECT_THAT(draft.left_out,
              Contains("num_threads, malloc: between steps the GPU waits 1.4 % of the time for the "
                       "program"));
  survey.last.metrics["gpu_idle_share"] = 0.3;
  EXPECT_NE(study_of(must_draft(survey)).space.find("num_threads"), nullptr);
}

TEST(Draft, TunesTheGarbageCollectorIfItTakesTime) {
  const std::vector<std::string> events = {knob("num_threads", "4"), knob("gc", "\"auto\"")};
  Survey survey = usual(events);
  EXPECT_THAT(must_draft(survey).left_out,
              Contains("gc: the garbage collector's time is not known"));
  survey.last.metrics["gc_share"] = 0.013;
  EXPECT_THAT(must_draft(survey).left_out,
              Contains("gc: the garbage collector takes 1.3 % of a step"));
  survey.last.metrics["gc_share"] = 0.7;
  const Draft draft = must_draft(survey);
  EXPECT_THAT(draft.tuned, Contains("gc auto|freeze|every_50, today auto"));
  EXPECT_EQ(study_of(draft).space.parameters().front().name, "gc") << "gains most, so comes first";
  survey.last.metrics["gc_share"] = 0.03;
  EXPECT_EQ(study_of(must_draft(survey)).space.parameters().front().name, "num_threads");
}

TEST(Draft, TriesTheAllocatorFirstIfTheKernelWorksMuch) {
  Survey survey = usual({knob("num_threads", "4"), knob("malloc", "\"default\"")});
  const auto first = [&] { return study_of(must_draft(survey)).space.parameters().front().name; };
  survey.last.metrics["kernel_share"] = 0.02;
  EXPECT_EQ(first(), "num_threads");
  survey.last.metrics["kernel_share"] = 0.6;
  EXPECT_EQ(first(), "malloc");
}

TEST(Draft, KnowsTheQueueOfPersistentWorkers) {
  const auto loader = [](int line) {
    return fmt::format(R"({{"event":"loader","id":"{0}","where":"train.py:{0}","training":true}})",
                       line);
  };
  const auto buffers = [](std::vector<std::string> events) {
    events.push_back(knob("num_threads", "4"));
    return study_of(must_draft(usual(events, 0.004))).measure.buffers;
  };
  std::vector<std::string> events = loader_knobs("4");
  events.push_back(loader(9));
  EXPECT_EQ(buffers(events)->evaluate(Configuration{}), 8.0);
  events[1] = knob("prefetch_factor", "3");
  EXPECT_EQ(buffers(events)->evaluate(Configuration{}), 12.0);
  events[0] = knob("num_workers", "0");
  EXPECT_EQ(buffers(events)->evaluate(Configuration{}), 0.0);
  events[0] = knob("num_workers", "9223372036854775807");
  EXPECT_FALSE(buffers(events));
  events[0] = knob("num_workers", "4");
  events.push_back(loader(12));
  EXPECT_FALSE(buffers(events));
}

TEST(Draft, IncludesTheCurrentValueAndAvailableChoices) {
  std::vector<std::string> events = loader_knobs("12");
  events[1] = knob("prefetch_factor", "3");
  events.push_back(
      knob("optimizer_implementation", "\"loop\"", R"(,"choices":["loop","foreach"])"));
  const StudySpec study = study_of(must_draft(usual(events)));
  EXPECT_EQ(study.space.find("num_workers")->high, 512.0);
  EXPECT_EQ(
      study_of(must_draft(usual({knob("num_threads", "12")}))).space.find("num_threads")->high,
      12.0);
  EXPECT_EQ(study.space.find("prefetch_factor")->scale, Scale::log);
  EXPECT_EQ(study.space.find("optimizer_implementation")->choices.size(), 2U);
  EXPECT_EQ(study.baseline.text(),
            "num_workers=12 optimizer_implementation=loop persistent_workers=false "
            "prefetch_factor=3");
}

/// Returns the activity of a program over 10 s on eight CPUs.
ProcessActivity activity(double trainer_cpu_s, double runnable_threads = 1.0) {
  ProcessActivity seen;
  seen.span_s = 10.0;
  seen.cpus = 8;
  seen.computing_threads = 1;
  seen.trainer_cpu_s = trainer_cpu_s;
  seen.mean_runnable_threads = runnable_threads;
  return seen;
}

TEST(Draft, GoesBeyondTheCpusWithWorkersOnlyIfLoadingWaits) {
  const auto most_workers = [](const Survey& survey) {
    return study_of(must_draft(survey)).space.find("num_workers")->high;
  };
  Survey survey = usual(loader_knobs(), 0.8);
  survey.activity = activity(2.0);
  EXPECT_EQ(most_workers(survey), 512.0) << "the CPU is idle while the program waits for data";
  survey.activity = activity(9.5);
  EXPECT_EQ(most_workers(survey), 16.0) << "decoding keeps a CPU busy";
  std::vector<std::string> events = loader_knobs("4");
  events[1] = knob("prefetch_factor", "2");
  survey = usual(events, 0.8);
  survey.activity = activity(2.0);
  survey.activity->child_processes = 4;
  survey.activity->children_cpu_s = 4.0;
  EXPECT_EQ(most_workers(survey), 512.0) << "each worker is busy for a tenth of the time";
  survey.activity->children_cpu_s = 36.0;
  EXPECT_EQ(most_workers(survey), 16.0);
  survey.last.metrics["loader_worker_cpu_share"] = 0.05;
  EXPECT_EQ(most_workers(survey), 512.0) << "the busy child processes are not workers";
  survey.activity->mean_runnable_threads = 24.0;
  EXPECT_EQ(most_workers(survey), 16.0) << "workers wait for CPUs";
  survey.last.metrics["loader_worker_cpu_share"] = 0.9;
  survey.activity.reset();
  EXPECT_EQ(most_workers(survey), 16.0);
}

TEST(Draft, ReportsTheLargestGainOfLoading) {
  EXPECT_EQ(must_draft(usual(loader_knobs(), 0.78)).ceiling,
            "data loading costs 78 % of a step: at most 4.5 times as fast without it");
}

TEST(Draft, TakesTheCeilingThatCachedBatchesShow) {
  const auto replayed = [](double ceiling, const std::string& device, double worth = 0.05) {
    Survey survey = usual(loader_knobs(), 0.3);
    survey.log.add(fmt::format(R"({{"event":"patched","pid":1,"device":"{}"}})", device));
    survey.log.add(R"({"event":"replay_begun"})");
    survey.log.add(
        fmt::format(R"({{"event":"replay_ended","steps":30,"step_s":0.01,"before_step_s":{}}})",
                    0.01 * ceiling));
    survey.log.add(knob("num_threads", "4"));
    DraftOptions wanted = options();
    wanted.worth = worth;
    return must_draft(survey, wanted);
  };
  EXPECT_EQ(replayed(5.0, "cpu").ceiling,
            "data loading costs 80 % of a step: at most 5.0 times as fast without it (measured "
            "with cached batches)");
  const Draft hidden = replayed(1.02, "cuda");
  EXPECT_EQ(hidden.ceiling,
            "data loading costs 2 % of a step: at most 1.02 times as fast without it (measured "
            "with cached batches)");
  EXPECT_THAT(hidden.left_out, Contains("num_workers, prefetch_factor, persistent_workers: cached "
                                        "batches make a step 1.02 times as fast"));
  EXPECT_NE(study_of(replayed(1.06, "cuda")).space.find("num_workers"), nullptr);
  EXPECT_EQ(study_of(replayed(1.25, "cuda")).loading_ceiling, 1.25) << "the study keeps it";
  EXPECT_NE(study_of(replayed(0.7, "cpu")).space.find("num_workers"), nullptr)
      << "waiting takes 30 % of a step, and other load slowed the replay down";
  EXPECT_EQ(study_of(replayed(1.06, "cuda", 0.1)).space.find("num_workers"), nullptr)
      << "a gain of 6 % is below the study's worth";
}

TEST(Draft, BeginsWithThreadsIfCpusAreOverloaded) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("num_threads", "8"));
  Survey survey = usual(events, 0.4);
  const auto first = [&] { return study_of(must_draft(survey)).space.parameters().front().name; };
  EXPECT_EQ(first(), "num_workers");
  survey.activity = activity(79.0, 64.0);
  EXPECT_EQ(first(), "num_threads");
  events = loader_knobs("4");
  events.push_back(knob("num_threads", "1"));
  survey = usual(events, 0.8);
  EXPECT_EQ(first(), "num_workers");
  survey.activity = activity(10.0, 64.0);
  EXPECT_EQ(first(), "num_threads") << "each worker starts many threads";
}

TEST(Draft, OrdersParametersByTheirPossibleGain) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("num_threads", "8"));
  events.push_back(knob("malloc", "\"default\"", R"(,"choices":["default","keep"])"));
  const auto first = [&](double data_share) {
    const StudySpec study = study_of(must_draft(usual(events, data_share)));
    return study.space.parameters().front().name;
  };
  EXPECT_EQ(first(0.8), "num_workers");
  EXPECT_EQ(first(0.1), "num_threads");
  events[4] = knob("num_threads", "64");
  EXPECT_EQ(first(0.4), "num_threads") << "eight CPUs are oversubscribed";
}

TEST(Draft, ThreadsOfTheTrainingProcessActOnLoadingThatComputesThere) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("openblas_threads", "8"));
  const auto second = [&](double trainer_cpu_s) {
    Survey survey = usual(events, 0.8);
    survey.activity = activity(trainer_cpu_s);
    return study_of(must_draft(survey)).space.parameters()[1].name;
  };
  EXPECT_EQ(second(9.5), "openblas_threads") << "numpy computes the batches";
  EXPECT_EQ(second(2.0), "prefetch_factor") << "loading waits";
}

TEST(Draft, HasAsManyKnobsAsTheTimeHasTrialsFor) {
  std::vector<std::string> events = loader_knobs();
  events.push_back(knob("num_threads", "8"));
  events.push_back(knob("num_interop_threads", "8"));
  events.push_back(knob("set_to_none", "false"));
  events.push_back(knob("malloc", "\"default\"", R"(,"choices":["default","keep"])"));
  const auto names = [&](std::optional<double> trials) {
    DraftOptions wanted = options();
    wanted.trials = trials;
    std::vector<std::string> found;
    const Draft draft = must_draft(usual(events, 0.5), wanted);
    for (const auto& [name, parameter] : draft.document["parameters"].items())
      found.push_back(name);
    return found;
  };
  EXPECT_EQ(names(std::nullopt).size(), 7U);
  EXPECT_EQ(names(12.0).size(), 4U);
  EXPECT_EQ(names(1.0),
            (std::vector<std::string>{"num_workers", "num_threads", "prefetch_factor"}));
  DraftOptions wanted = options();
  wanted.trials = 12.0;
  EXPECT_THAT(must_draft(usual(events, 0.5), wanted).left_out,
              Contains(HasSubstr("num_interop_threads: the time allows 12 trials")));
}

TEST(Draft, MovesTheThreadsOfBlasWithThoseOfPytorch) {
  std::vector<std::string> events = {knob("num_threads", "8"), knob("openblas_threads", "8")};
  const Draft draft = must_draft(usual(events));
  const StudySpec study = study_of(draft);
  EXPECT_EQ(study.baseline.text(), "num_threads=8");
  EXPECT_TRUE(render_command(study, study.baseline).hook->knobs.empty());
  Configuration one;
  one.set("num_threads", Value(std::int64_t{1}));
  EXPECT_EQ(render_command(study, one).hook->knobs.size(), 2U);
  EXPECT_THAT(draft.left_out, Contains("openblas_threads: is set together with num_threads"));
  const Draft apart = must_draft(usual({knob("num_threads", "1"), knob("openblas_threads", "8")}));
  EXPECT_TRUE(study_of(apart).baseline.find("openblas_threads") != nullptr)
      << "one value cannot set two different numbers of threads";
  events[0] = refused("num_threads", "no");
  EXPECT_EQ(study_of(must_draft(usual(events))).baseline.text(), "openblas_threads=8");
}

TEST(Draft, ZeroTodayHasNoPlaceOnALogarithmicScale) {
  const StudySpec study = study_of(must_draft(usual({knob("ddp_bucket_cap_mb", "0")})));
  EXPECT_EQ(study.space.find("ddp_bucket_cap_mb")->low, 0.0);
  EXPECT_EQ(study.space.find("ddp_bucket_cap_mb")->scale, Scale::linear);
}

TEST(Draft, SettlesConditionsOnKnobsThatAreNotTuned) {
  const std::vector<std::string> with_workers = {
      R"({"event":"knob","knob":"num_workers","may":false,"today":4,"value":4,"why":"a sampler"})",
      knob("prefetch_factor", "2")};
  std::vector<std::string> with_loader = with_workers;
  with_loader.emplace_back(R"({"event":"loader","id":"9","where":"train.py:9","training":true})");
  const StudySpec study = study_of(must_draft(usual(with_loader)));
  EXPECT_FALSE(study.space.find("prefetch_factor")->when);
  EXPECT_EQ(study.measure.buffers->text(), "4 * prefetch_factor");
  std::vector<std::string> without = with_workers;
  without[0] =
      R"({"event":"knob","knob":"num_workers","may":false,"today":0,"value":0,"why":"a sampler"})";
  without.push_back(knob("num_threads", "1"));
  const Draft draft = must_draft(usual(without));
  EXPECT_THAT(draft.left_out,
              Contains("prefetch_factor: has no effect with the program's present settings"));
}

TEST(Draft, OmitsUnknownAndSingleValuedKnobs) {
  const std::vector<std::string> events = {
      knob("num_threads", "1"), knob("num_interop_threads", "null"),
      knob("sharing_strategy", "\"file_descriptor\""),
      knob("optimizer_implementation", "\"loop\"", R"(,"choices":["loop"])")};
  const Draft draft = must_draft(usual(events));
  EXPECT_EQ(study_of(draft).space.parameters().size(), 1U);
  EXPECT_THAT(draft.left_out, Contains("num_interop_threads: the program's value is not known"));
  EXPECT_THAT(draft.left_out, Contains("sharing_strategy: only helps against too many open files"));
  EXPECT_THAT(draft.left_out,
              Contains("optimizer_implementation: only one value is possible here"));
}

TEST(Draft, TrialsAreForkedByDefault) {
  EXPECT_EQ(study_of(must_draft(usual({knob("num_threads", "1")}))).trials, TrialsIn::forked);
}

TEST(Draft, TrialsOfAnotherFamilyThanPyTorchAreNotForked) {
  const std::string patched =
      R"({"event":"patched","family":"boosting","frameworks":"XGBoost 3.4.1","device":"cpu"})";
  const Draft draft = must_draft(usual(
      {patched, knob("cpu_threads", "2"), refused("histogram_layout", "XGBoost has no layout")}));
  const StudySpec study = study_of(draft);
  EXPECT_NE(study.trials, TrialsIn::forked);
  EXPECT_EQ(draft.document["hooks"]["python"], (Json{{"cpu_threads", "{cpu_threads}"}}));
  EXPECT_THAT(draft.left_out, Contains("histogram_layout: XGBoost has no layout"));
}

/// XGBoost with eight threads on two CPUs: knobs that families share have the place of its own
/// table.
TEST(Draft, OffersUnmeasuredKnobsInTheOrderOfTheFamily) {
  const std::string patched =
      R"({"event":"patched","family":"boosting","frameworks":"XGBoost 3.4.1","device":"cpu"})";
  Survey survey = usual({patched, knob("omp_wait_policy", "\"default\""),
                         knob("malloc", "\"default\""), knob("cpu_threads", "8")});
  survey.last.parts.clear();
  DraftOptions wanted = options();
  wanted.facts["cpus"] = 2;
  const StudySpec study = study_of(must_draft(survey, wanted));
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("cpu_threads", "omp_wait_policy", "malloc"));
}

/// Four ranks on GPUs whose backward takes half of a step.
TEST(Draft, OffersKnobsOfNcclOnGpusByTheirUsualGain) {
  const auto drafted = [](const std::string& device) {
    Survey survey =
        usual({fmt::format(R"({{"event":"patched","pid":1,"torch":"2.7","device":"{}"}})", device),
               knob("num_threads", "2"), knob("nccl_channels", "\"default\""),
               refused("nccl_protocol", "NCCL_PROTO is LL128, which is none of the knob's values"),
               knob("nccl_buffer", "\"default\""), knob("nccl_algorithm", "\"default\"")});
    survey.last.parts = {{"forward", 1.0}, {"backward", 1.0}};
    return must_draft(survey);
  };
  const Draft draft = drafted("cuda");
  std::vector<std::string> names;
  const StudySpec study = study_of(draft);
  for (const Parameter& parameter : study.space.parameters())
    if (parameter.name.starts_with("nccl_")) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("nccl_algorithm", "nccl_channels", "nccl_buffer"));
  EXPECT_TRUE(draft.document.contains("guards")) << "another algorithm rounds differently";
  EXPECT_THAT(draft.left_out, Contains(HasSubstr("nccl_protocol: NCCL_PROTO is LL128")));
  EXPECT_THAT(drafted("cpu").left_out,
              Contains("nccl_channels, nccl_buffer, nccl_algorithm: is worth trying on cuda only"));
}

TEST(Draft, ARunningProgramHasOnlyKnobsThatCanBeSwitched) {
  DraftOptions wanted = options();
  wanted.is_running = true;
  const Draft draft =
      must_draft(usual({knob("num_threads", "1"), knob("num_interop_threads", "1")}), wanted);
  const StudySpec study = study_of(draft);
  EXPECT_NE(study.space.find("num_threads"), nullptr);
  EXPECT_EQ(study.space.parameters().size(), 1U);
  EXPECT_THAT(draft.left_out, Contains(HasSubstr("num_interop_threads: cannot be switched")));
}

TEST(Draft, ARunThatMustContinueGetsNoKnobThatMayBreakIt) {
  const std::vector<std::string> events = {knob("num_threads", "1"), knob("set_to_none", "false"),
                                           knob("channels_last", "false")};
  DraftOptions wanted = options();
  wanted.is_running = true;
  EXPECT_EQ(study_of(must_draft(usual(events), wanted)).space.parameters().size(), 3U);
  wanted.must_not_fail = true;
  const Draft draft = must_draft(usual(events), wanted);
  EXPECT_EQ(study_of(draft).space.parameters().size(), 1U);
  EXPECT_THAT(draft.left_out, Contains(HasSubstr("set_to_none: may break programs that read")));
  EXPECT_THAT(draft.left_out,
              Contains(HasSubstr("channels_last: may break operations that take one")));
}

TEST(Draft, KnobsThatChangeRoundingHaveAGuard) {
  const std::vector<std::string> events = {
      knob("num_threads", "1"), knob("precision", "\"fp32\"", R"(,"choices":["fp32","bf16"])"),
      knob("batch_size", "32"), knob("activation_checkpointing", "false")};
  DraftOptions wanted = options();
  wanted.numeric = false;
  const Draft safe = must_draft(usual(events), wanted);
  EXPECT_EQ(study_of(safe).space.parameters().size(), 1U);
  EXPECT_THAT(safe.left_out, Contains("precision: may change the loss"));
  EXPECT_TRUE(study_of(safe).guards.empty());

  wanted = options();
  const Draft usually = must_draft(usual(events), wanted);
  EXPECT_THAT(usually.left_out, Contains(HasSubstr("batch_size: changes the training itself")));
  const StudySpec numeric = study_of(usually);
  EXPECT_EQ(numeric.space.find("precision")->choices.size(), 2U);
  ASSERT_EQ(numeric.guards.size(), 1U);
  EXPECT_EQ(numeric.guards[0].metric, "loss");
  EXPECT_EQ(numeric.guards[0].max_ratio_to_baseline, 1.02);
  // 5 s of 20 ms per step are 250 steps of 32 samples.
  EXPECT_EQ(numeric.guards[0].after_samples, 8000.0);

  wanted.semantic = true;
  const StudySpec semantic = study_of(must_draft(usual(events), wanted));
  EXPECT_EQ(semantic.space.find("batch_size")->low, 8.0);
  EXPECT_EQ(semantic.space.find("batch_size")->high, 256.0);
  EXPECT_EQ(semantic.space.find("batch_size")->memory, MemoryEffect::increases);
}

TEST(Draft, SamplesPerStepScaleWithTunedValues) {
  DraftOptions wanted = options();
  wanted.semantic = true;
  wanted.samples_per_step = 64.0;
  const std::string batch = knob("batch_size", "32");
  const auto size_of = [&](const std::vector<std::string>& events) {
    return must_draft(usual(events), wanted).document["planned_run"]["batch_size"];
  };
  EXPECT_EQ(size_of({batch}), "64 * batch_size / 32");
  EXPECT_EQ(size_of({knob("num_threads", "1")}), 64.0);
}

TEST(Draft, TunesMemorySettingsOnGpusOnly) {
  DraftOptions wanted = options();
  wanted.semantic = true;
  Survey survey = usual({knob("batch_size", "32"), knob("activation_checkpointing", "false")});
  const Draft on_cpu = must_draft(survey, wanted);
  EXPECT_EQ(study_of(on_cpu).space.find("activation_checkpointing"), nullptr);
  const char* left = "activation_checkpointing: is worth trying on cuda only";
  EXPECT_THAT(on_cpu.left_out, Contains(left));
  const auto safe = draft_study(survey, options());
  ASSERT_FALSE(safe) << "no other knob is offered";
  EXPECT_THAT(safe.error().text(), HasSubstr(left)) << "not that --semantic tunes it";
  survey.log.add(R"({"event":"patched","pid":1,"torch":"2.6","device":"cuda"})");
  const Draft on_gpu = must_draft(survey, wanted);
  EXPECT_NE(study_of(on_gpu).space.find("activation_checkpointing"), nullptr);
}

TEST(Draft, OffersToRunWithoutTheActivationCheckpointsOfTheProgram) {
  const std::string threads = knob("num_threads", "1");
  const auto has_it = [&](const char* today, const char* device) {
    Survey survey = usual({threads, knob("activation_checkpointing", today)});
    survey.log.add(fmt::format(R"({{"event":"patched","pid":1,"device":"{}"}})", device));
    const StudySpec study = study_of(must_draft(survey));
    EXPECT_TRUE(study.guards.empty());
    return study.space.find("activation_checkpointing") != nullptr;
  };
  EXPECT_TRUE(has_it("true", "cuda"));
  EXPECT_TRUE(has_it("true", "cpu"));
  EXPECT_FALSE(has_it("false", "cuda"));
}

TEST(Draft, InstalledAllocatorsAreOffered) {
  const auto choices_of = [](const std::string& more) {
    const StudySpec study = study_of(must_draft(usual({knob("malloc", "\"default\"", more)})));
    return study.space.find("malloc")->choices.size();
  };
  EXPECT_EQ(choices_of(R"(,"choices":["default","keep"])"), 2U);
  EXPECT_EQ(choices_of(R"(,"choices":["default","keep","tcmalloc"])"), 3U);
}

TEST(Draft, AGuardNeedsALossAboveZero) {
  Survey survey =
      usual({knob("num_threads", "1"), knob("precision", "\"fp32\""), knob("batch_size", "32")});
  survey.last.metrics["loss"] = -3.0;
  const Draft safe = must_draft(survey);
  EXPECT_EQ(study_of(safe).space.parameters().size(), 1U);
  EXPECT_THAT(safe.left_out,
              Contains("precision: may change the loss: a guard needs a loss above zero, "
                       "and the hook found none"));
  DraftOptions wanted = options();
  wanted.semantic = true;
  const auto draft = draft_study(survey, wanted);
  ASSERT_FALSE(draft);
  EXPECT_THAT(draft.error().text(), HasSubstr("leave --semantic out"));
}

TEST(Draft, ALossThatIsNoNumberIsReported) {
  Survey survey = usual({knob("num_threads", "1"), knob("precision", "\"fp32\"")});
  EXPECT_FALSE(is_diverged(survey));
  survey.last.metrics.erase("loss");
  survey.last.not_finite = {"loss"};
  EXPECT_TRUE(is_diverged(survey));
  EXPECT_THAT(must_draft(survey).left_out,
              Contains("precision: may change the loss: a guard needs a finite loss, and the "
                       "program's is NaN or infinite"));
}

TEST(Draft, HalfPrecisionThatACpuEmulatesIsNotWorthItsTrials) {
  DraftOptions wanted = options();
  wanted.cpu_computes_bfloat16 = false;
  Survey survey = usual(
      {knob("num_threads", "1"), knob("precision", "\"fp32\"", R"(,"choices":["fp32","bf16"])")});
  EXPECT_THAT(must_draft(survey, wanted).left_out, Contains(HasSubstr("emulates bfloat16")));
  survey.log.add(R"({"event":"patched","pid":1,"torch":"2.6","device":"cuda"})");
  EXPECT_NE(study_of(must_draft(survey, wanted)).space.find("precision"), nullptr);
}

TEST(Draft, ARareGainAloneIsNotWorthTheTimeOfAGuard) {
  const std::vector<std::string> events = {knob("num_threads", "1"),
                                           knob("flush_denormal", "false")};
  const Draft alone = must_draft(usual(events));
  EXPECT_THAT(alone.left_out, Contains(HasSubstr("flush_denormal: needs a guard on the loss")));
  EXPECT_TRUE(study_of(alone).guards.empty());
  std::vector<std::string> more = events;
  more.push_back(knob("precision", "\"fp32\"", R"(,"choices":["fp32","bf16"])"));
  EXPECT_NE(study_of(must_draft(usual(more))).space.find("flush_denormal"), nullptr);
}

TEST(Draft, ReportsWhyNothingCanBeTuned) {
  const auto draft = draft_study(usual({refused("num_workers", "an iterable data set"),
                                        refused("num_threads", "a GPU does the work")}),
                                 options());
  ASSERT_FALSE(draft);
  EXPECT_THAT(draft.error().text(), HasSubstr("num_workers: an iterable data set"));
  EXPECT_THAT(draft.error().text(), HasSubstr("num_threads: a GPU does the work"));
  EXPECT_THAT(draft.error().text(), HasSubstr("docs/tutorial.md"));
}

TEST(Draft, TakesAPlanAndSamplesPerStepFromTheUser) {
  DraftOptions wanted = options();
  wanted.planned_samples = 1e8;
  wanted.samples_per_step = 96.0;
  const StudySpec study = study_of(must_draft(usual({knob("num_threads", "1")}), wanted));
  EXPECT_EQ(study.planned_run.samples, 1e8);
  EXPECT_EQ(render_command(study, study.baseline).hook->samples_per_step, 96.0);
}

TEST(Draft, TheEndOfAnEpochIsAPhaseOfThePlan) {
  DraftOptions wanted = options();
  wanted.planned_samples = 6e5;
  wanted.epoch_samples = 6e4;
  const StudySpec study = study_of(must_draft(usual({knob("num_threads", "1")}), wanted));
  EXPECT_EQ(study.planned_run.phases.at("epoch_end").every_samples, 6e4);
}

TEST(Draft, SamplesPerStepGrowWithATunedBatch) {
  DraftOptions wanted = options();
  wanted.semantic = true;
  wanted.samples_per_step = 48.0;  // 1.5 times the batch of 32
  const StudySpec study = study_of(must_draft(usual({knob("batch_size", "32")}), wanted));
  EXPECT_EQ(samples_per_step(study, study.baseline), 48.0);
  Configuration larger = study.baseline;
  larger.set("batch_size", Value(std::int64_t{128}));
  EXPECT_EQ(samples_per_step(study, larger), 192.0);
  EXPECT_EQ(render_command(study, larger).hook->samples_per_step, 192.0);
  wanted.samples_per_step = 1'048'577.0;
  const StudySpec tokens = study_of(must_draft(usual({knob("batch_size", "32")}), wanted));
  EXPECT_EQ(samples_per_step(tokens, tokens.baseline), 1'048'577.0);
}

TEST(StudyName, ComesFromTheScript) {
  const auto name = [](std::vector<std::string> argv) { return study_name_of(argv); };
  EXPECT_EQ(name({"python3", "-u", "src/train.py", "--out=x.py"}), "train");
  EXPECT_EQ(name({"python3", "-m", "package.trainer", "--lr", "1"}), "trainer");
  EXPECT_EQ(name({"python3", "-m", "torch.distributed.run", "--nproc-per-node=2", "fit.py"}),
            "fit");
  EXPECT_EQ(name({"torchrun", "train gpt.py"}), "train-gpt");
  EXPECT_EQ(name({"./train.sh"}), "train");
  EXPECT_EQ(name({"stdbuf", "-oL", "build/train", "--threads", "2"}), "train");
  EXPECT_EQ(name({"-x.py"}), "study-x");
}

}  // namespace
}  // namespace steptune
