// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "trial_runner/reports/report_reader.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/init/study_guess.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<fs::path> space_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(STEPTUNE_SOURCE_DIR) / "configs/spaces"))
    files.push_back(entry.path());
  return files;
}

ReadySpace must_read(const fs::path& file) {
  auto space = read_ready_space(file);
  if (!space) throw std::runtime_error(space.error().text());
  return *std::move(space);
}

/// Returns a program with all options of a space, each with a default.
ProgramFacts program_of(const ReadySpace& space) {
  ProgramFacts program;
  program.argv = {"train", "data"};
  program.options = declared_options(space);
  for (const SpaceKnob& knob : space.knobs) {
    for (const KnobSetting& setting : knob.settings) {
      for (std::size_t i = 0; i < setting.args.size(); ++i) {
        if (!setting.args[i].starts_with('-')) continue;
        const bool has_value = i + 1 < setting.args.size() && !setting.args[i + 1].starts_with('-');
        ProgramOption option;
        option.name = setting.args[i];
        option.form = has_value ? OptionForm::separate : OptionForm::flag;
        program.options.push_back(option);
      }
    }
    for (ProgramOption& option : program.options) {
      if (option.name != knob.option) continue;
      option.default_value = !knob.default_value.empty() ? knob.default_value
                             : knob.type == "int"        ? knob.low == "1" ? "1" : "2"
                             : knob.type == "bool"       ? "false"
                                                         : knob.choices.front();
      if (knob.default_value == "cpus") option.default_value.reset();
    }
  }
  return program;
}

/// Returns a configuration file with all keys of a space, each with a value.
std::string config_of(const ReadySpace& space) {
  Json config = Json::object();
  for (const SpaceKnob& knob : space.knobs) {
    std::string pointer = "/" + knob.option;
    std::ranges::replace(pointer, '.', '/');
    config[Json::json_pointer(pointer)] = knob.type == "int" ? Json(2) : Json(false);
  }
  return config.dump();
}

class ReadySpaces : public testing::TestWithParam<fs::path> {};

/// Returns numbers for those facts of a space that a command usually states.
Facts given_facts(const ReadySpace& space) {
  const Facts usual = {{"heads", 32.0},  {"groups", 8.0},      {"layers", 32.0},
                       {"experts", 8.0}, {"sequence", 4096.0}, {"global_batch", 64.0}};
  Facts given;
  for (const SpaceFact& fact : space.facts) {
    const auto number = usual.find(fact.name);
    if (number != usual.end() && !fact.options.empty()) given.insert(*number);
  }
  return given;
}

/// Returns settings without which the space would leave some knobs alone, and an empty one.
std::set<std::string> further_settings(const ReadySpace& space) {
  std::set<std::string> settings{""};
  for (const SpaceKnob& knob : space.knobs) {
    if (!knob.only_with.empty()) settings.insert(knob.only_with.front() + "=1");
  }
  return settings;
}

/// Makes a study of a program with all options of a space, and a further setting, which may be
/// empty. Returns the names of its parameters.
std::set<std::string> valid_study(const ReadySpace& space, const std::string& setting,
                                  double gpus) {
  GuessInput input;
  input.name = "demo";
  input.program = program_of(space);
  input.space = &space;
  input.given_facts = given_facts(space);
  input.reading = OutputReading{};
  input.reading->metrics = {{"loss", 1}};
  if (!setting.empty()) input.program.argv.push_back(setting);
  const TemporaryFolder folder("space");
  if (space.is_of_a_file()) {
    folder.write("conf.json", config_of(space));
    input.reading->samples_per_step = 4.0;
    input.program.argv.emplace_back("conf.json");
    input.program.configs = configs_of(input.program.argv, folder.path());
  }
  input.machine = {{"cpus", 8.0}, {"gpus", gpus}, {"memory_gb", 31.0}};
  const auto guess = guess_study(input);
  if (!guess) throw std::runtime_error(guess.error().text());
  const auto study =
      study_from_json(guess->document, folder.path() / "demo.study.json", input.machine);
  if (!study) throw std::runtime_error(study.error().text() + study_text(guess->document));
  EXPECT_EQ(render_command(*study, study->baseline).argv[0], "train");
  std::set<std::string> names;
  for (const GuessedKnob& knob : guess->tuned)
    names.insert(knob.parameter);
  return names;
}

TEST_P(ReadySpaces, OfferEveryKnobOnAMachineWithGpus) {
  const ReadySpace space = must_read(GetParam());
  std::set<std::string> offered;
  for (const std::string& setting : further_settings(space))
    offered.merge(valid_study(space, setting, 4.0));
  std::set<std::string> knobs;
  for (const SpaceKnob& knob : space.knobs)
    knobs.insert(knob.parameter);
  EXPECT_EQ(offered, knobs);
}

TEST_P(ReadySpaces, MakeAValidStudyWithoutGpus) {
  const ReadySpace space = must_read(GetParam());
  // All settings of this trainer concern several GPUs.
  if (space.name == "megatron-bridge") {
    EXPECT_THROW(valid_study(space, "", 0.0), std::runtime_error);
  } else {
    EXPECT_FALSE(valid_study(space, "", 0.0).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Space, ReadySpaces, testing::ValuesIn(space_files()),
                         [](const auto& each) { return each.param.stem().string(); });

TEST(ReadySpaceFiles, AreDistinguished) {
  std::vector<ReadySpace> spaces;
  for (const fs::path& file : space_files())
    spaces.push_back(must_read(file));
  EXPECT_GE(spaces.size(), 16U);
  std::set<std::string> names;
  for (const ReadySpace& space : spaces) {
    EXPECT_TRUE(names.insert(space.name).second) << space.name;
    ProgramFacts program;
    for (const std::string& name : space.options) {
      ProgramOption option;
      option.name = "--" + name;
      program.options.push_back(option);
    }
    if (space.options.empty()) continue;
    const ReadySpace* found = space_by_facts(spaces, program);
    ASSERT_NE(found, nullptr) << space.name;
    EXPECT_EQ(found->name, space.name);
  }
  const auto named = [&spaces](std::vector<std::string> argv) {
    const ReadySpace* found = space_by_command(spaces, argv);
    return found == nullptr ? std::string() : found->name;
  };
  EXPECT_EQ(named({"/usr/bin/yolo", "train", "data=coco8.yaml"}), "ultralytics");
  EXPECT_EQ(named({"python3", "examples/run_clm.py", "--do_train"}), "hf-trainer");
  EXPECT_EQ(named({"torchrun", "pretrain_gpt.py"}), "megatron");
  EXPECT_EQ(named({"torchrun", "-m", "torchtitan.train"}), "torchtitan");
  EXPECT_EQ(named({"llamafactory-cli", "train", "sft.yaml"}), "llama-factory");
  EXPECT_EQ(named({"env", "NPROC_PER_NODE=4", "llamafactory-cli", "train", "sft.yaml"}),
            "llama-factory");
  EXPECT_EQ(named({"python3", "train.py", "yolo"}), "");
}

/// Returns what a space reads from its program's output.
ReportFormat printed_format_of(const std::string& name) {
  const ReadySpace space =
      must_read(fs::path(STEPTUNE_SOURCE_DIR) / "configs/spaces" / (name + ".json"));
  std::vector<MetricDefinition> metrics;
  for (const Json& metric : space.reports.at("metrics")) {
    metrics.push_back(
        {metric.at("name").get<std::string>(), metric.at("regex").get<std::string>()});
  }
  return {.preset = {}, .metrics = metrics, .samples_per_step = {}};
}

/// Otherwise a guard would compare the last finite loss of a trial that has diverged.
TEST(ReadySpaceFiles, ReadALossThatIsNotFinite) {
  for (const auto& [name, printed] : std::vector<std::pair<const char*, const char*>>{
           {"maxtext", "completed step: 7, seconds: 0.500, total_weights: 8, loss: nan"},
           {"nanogpt", "iter 100: loss nan, time 12.34ms, mfu 3.00%"},
           {"timm", "Train: 0 [  50/100 ( 50%)]  Loss:    nan (nan)  Time: 0.5s"},
           {"torchtitan", "step: 10  loss:     nan  grad_norm:     nan  memory: 1.00GiB(1.00%)"},
           {"torchvision", "Epoch: [0]  [ 10/100]  eta: 0:00:10  lr: 0.1  loss: nan (nan)"}}) {
    auto reader = ReportReader::create(printed_format_of(name));
    ASSERT_TRUE(reader) << name;
    const auto report = reader->read_line(printed, 0.0);
    ASSERT_TRUE(report) << name;
    EXPECT_TRUE(report->not_finite.contains("loss")) << name;
  }
}

TEST(ReadySpaceFiles, ReadNoTrainingFromAValidation) {
  struct Lines {
    const char* space;
    const char* training;
    const char* validation;
  };
  for (const Lines& lines :
       {Lines{"torchtitan", "[titan] 10:00:00 - root - INFO - step: 50  loss:  7.50000  tps: 9",
              "[titan] 10:00:01 - root - INFO - validate step: 50  loss: 11.5000  tps: 9"},
        Lines{"timm", "Train: 0 [  50/100 ( 50%)]  Loss:   7.50 (7.61)  Time: 0.5s",
              "Test: [  50/100]  Time: 0.1 (0.1)  Loss:  11.5 (11.5)  Acc@1: 0.1 (0.1)"},
        Lines{"torchvision", "Epoch: [0]  [ 50/100]  eta: 0:00:10  lr: 0.1  loss: 7.50 (7.61)",
              "Test:   [ 50/100]  eta: 0:00:01  loss: 11.5 (11.5)  acc1: 0.1 (0.1)"}}) {
    auto reader = ReportReader::create(printed_format_of(lines.space));
    ASSERT_TRUE(reader) << lines.space;
    const auto report = reader->read_line(lines.training, 0.0);
    ASSERT_TRUE(report) << lines.space;
    EXPECT_EQ(report->step, 50.0) << lines.space;
    EXPECT_EQ(report->metrics.at("loss"), 7.5) << lines.space;
    EXPECT_FALSE(reader->read_line(lines.validation, 1.0)) << lines.space;
  }
}

TEST(ReadySpaceFiles, ReportEveryFault) {
  const TemporaryFolder folder("space");
  const fs::path file = folder.path() / "x.json";
  std::ofstream(file) << R"({"name": "x", "title": "X", "page": "", "form": "name:value",
      "facts": [{"name": "heads", "options": []}], "laws": [{"law": "head % 2 == 0", "why": "x"}],
      "knobs": [{"parameter": "a-b", "role": "speed", "type": "int", "low": 1}]})";
  const auto space = read_ready_space(file);
  ASSERT_FALSE(space);
  for (const char* part :
       {"/form", "/knobs/0/role", "not a valid parameter name", "either \"option\" or \"settings\"",
        "both \"low\" and \"high\"", "nothing identifies this program", "\"head\" is neither"}) {
    EXPECT_THAT(space.error().text(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace steptune
