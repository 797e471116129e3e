// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/space_laws.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tuner/init/model_files.hpp"
#include "tuner/init/overrides.hpp"
#include "tuner/init/study_guess.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Words = std::vector<std::string>;

/// A program of a known trainer on a machine with 8 GPUs.
class SpaceLawsTest : public testing::Test {
 protected:
  GuessInput input_of(const std::string& space, Words argv) {
    space_ = read_ready_space(std::filesystem::path(STEPTUNE_SOURCE_DIR) / "configs/spaces" /
                              (space + ".json"))
                 .value();
    GuessInput input;
    input.name = "demo";
    input.folder = folder_.path();
    input.space = &space_;
    input.program.argv = std::move(argv);
    input.program.configs = configs_of(input.program.argv, folder_.path());
    input.program.options = declared_options(space_);
    input.program.options = with_overrides(std::move(input.program.options), input.program);
    input.machine = {{"cpus", 8.0}, {"gpus", 8.0}, {"memory_gb", 100.0}};
    return input;
  }

  StudyGuess must_guess(const GuessInput& input) {
    auto guess = guess_study(input);
    if (!guess) throw std::runtime_error(guess.error().text());
    const auto study =
        study_from_json(guess->document, folder_.path() / "demo.study.json", input.machine);
    if (!study) throw std::runtime_error(study.error().text() + study_text(guess->document));
    return *std::move(guess);
  }

  TemporaryFolder folder_{"laws"};
  ReadySpace space_;
};

Words megatron(const Words& further) {
  Words argv = {"torchrun",
                "--nproc_per_node",
                "8",
                "--nnodes",
                "2",
                "pretrain_gpt.py",
                "--num-layers",
                "24",
                "--seq-length",
                "4096",
                "--micro-batch-size",
                "2",
                "--global-batch-size",
                "64"};
  argv.insert(argv.end(), further.begin(), further.end());
  return argv;
}

TEST_F(SpaceLawsTest, BecomeConstraintsWithTheNumbersOfTheCommand) {
  const GuessInput input = input_of(
      "megatron", megatron({"--num-attention-heads", "16", "--tensor-model-parallel-size=2"}));
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.document["constraints"],
              IsSupersetOf({Json("16 % (tp * pp * cp) == 0"),
                            Json("64 % (micro_batch * 16 / (tp * pp * cp)) == 0"),
                            Json("8 % tp == 0"), Json("16 % tp == 0"), Json("24 % pp == 0"),
                            Json("cp == 1 or 4096 % (2 * cp) == 0")}));
  EXPECT_EQ(guess.document["parameters"]["tp"]["high"], 8);
  EXPECT_EQ(guess.document["parameters"]["tp"]["memory"], "decreases");
  EXPECT_EQ(guess.document["parameters"]["pp"]["high"], 16);
  EXPECT_EQ(guess.document["baseline"]["tp"], 2);
  EXPECT_EQ(guess.document["baseline"]["pp"], 1);
  EXPECT_THAT(guess.comments.at("/constraints"),
              HasSubstr("heads % tp == 0: each tensor-parallel rank has equally many attention "
                        "heads; heads 16 from --num-attention-heads in the command"));
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("experts > 1 is false")));
}

TEST_F(SpaceLawsTest, CountTheGpusOfTheMachineForAProcessOnEachGpu) {
  Words argv = megatron({"--num-attention-heads", "16"});
  argv[2] = "gpu";
  const StudyGuess guess = must_guess(input_of("megatron", argv));
  EXPECT_THAT(guess.document["constraints"], Contains(Json("16 % (tp * pp * cp) == 0")));
}

TEST_F(SpaceLawsTest, DeclareTheTermsOfMemory) {
  const StudyGuess guess =
      must_guess(input_of("megatron", megatron({"--num-attention-heads", "16"})));
  EXPECT_THAT(guess.document["search"]["memory_terms"],
              IsSupersetOf({Json("micro_batch / (tp * cp)"), Json("1 / (tp * pp)")}));
  // Without heads, tensor parallelism keeps its value of 1.
  const StudyGuess unknown = must_guess(input_of("megatron", megatron({})));
  EXPECT_THAT(unknown.document["search"]["memory_terms"], Contains("micro_batch / (1 * cp)"));
}

TEST_F(SpaceLawsTest, HoldInEveryConfigurationOfTheStudy) {
  const GuessInput input =
      input_of("megatron", megatron({"--num-attention-heads", "16", "--num-query-groups", "4"}));
  std::erase_if(space_.knobs, [](const SpaceKnob& knob) { return knob.parameter == "workers"; });
  const auto study = study_from_json(must_guess(input).document, "/tmp/s.json", input.machine);
  ASSERT_TRUE(study);
  const auto points = study->space.enumerate_points(2'000'000);
  ASSERT_TRUE(points);
  const std::size_t width = study->space.parameters().size();
  std::set<int> tensor;
  for (std::size_t row = 0; row < points->size(); row += width) {
    const Configuration each =
        study->space.decode(Point(points->begin() + static_cast<std::ptrdiff_t>(row),
                                  points->begin() + static_cast<std::ptrdiff_t>(row + width)));
    const auto number = [&](const char* name) {
      return static_cast<int>(to_number(*each.find(name)));
    };
    const int model = number("tp") * number("pp") * number("cp");
    ASSERT_EQ(16 % model, 0) << each.text();
    ASSERT_EQ(64 % (number("micro_batch") * (16 / model)), 0) << each.text();
    ASSERT_EQ(24 % number("pp"), 0) << each.text();
    tensor.insert(number("tp"));
  }
  EXPECT_EQ(tensor, (std::set<int>{1, 2, 4, 8}));
}

TEST_F(SpaceLawsTest, KeepSettingsWhoseLawMentionsAnUnknownNumber) {
  const StudyGuess guess = must_guess(input_of("megatron", megatron({})));
  EXPECT_FALSE(guess.document["parameters"].contains("tp"));
  EXPECT_THAT(guess.left_out,
              Contains("--tensor-model-parallel-size: heads is not known: write "
                       "--num-attention-heads into the command, or call init with --fact "
                       "heads=NUMBER"));
  // Laws of the other settings have today's value in its place.
  EXPECT_THAT(guess.document["constraints"], Contains("16 % (1 * pp * cp) == 0"));
}

TEST_F(SpaceLawsTest, TakeFactsFromTheUser) {
  GuessInput input = input_of("megatron", megatron({}));
  input.given_facts = {{"heads", 16.0}};
  EXPECT_TRUE(check_facts(input.given_facts, input.space));
  EXPECT_THAT(must_guess(input).document["constraints"], Contains("16 % tp == 0"));
  const auto known = check_facts({{"head", 16.0}}, input.space);
  ASSERT_FALSE(known);
  EXPECT_THAT(known.error().hint, HasSubstr("Megatron-LM has gpus_per_node, nodes, world, heads"));
  EXPECT_FALSE(check_facts({{"heads", 16.0}}, nullptr));
}

TEST_F(SpaceLawsTest, KeepSettingsThatBreakALawToday) {
  const StudyGuess guess = must_guess(input_of(
      "megatron", megatron({"--num-attention-heads", "15", "--tensor-model-parallel-size", "2"})));
  EXPECT_FALSE(guess.document["parameters"].contains("tp"));
  EXPECT_THAT(guess.left_out,
              Contains(HasSubstr("today's values break a rule of Megatron-LM: heads % tp == 0")));
}

TEST_F(SpaceLawsTest, SetTheSamplesOfAStepThatTheProgramComputes) {
  Words argv = {"torchrun",         "--nproc-per-node=4", "-m",
                "torchtitan.train", "--job.config_file",  "llama.toml"};
  folder_.write("llama.toml",
                "[training]\nlocal_batch_size = 8\nseq_len = 4096\nsteps = 1000\n"
                "[parallelism]\ntensor_parallel_degree = 2\n[compile]\nenable = true\n");
  GuessInput input = input_of("torchtitan", argv);
  input.given_facts = {{"heads", 32.0}, {"layers", 16.0}};
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.document["command"], Contains("--training.global_batch_size=16"));
  EXPECT_THAT(guess.document["constraints"],
              Contains("16 % (micro_batch * 4 / (tp * pp * cp)) == 0"));
  EXPECT_THAT(guess.notes, Contains(HasSubstr("--training.global_batch_size=16")));
  EXPECT_EQ(guess.document["planned_run"]["samples"], 16000);
  EXPECT_EQ(guess.document["baseline"]["compile"], true);
  EXPECT_THAT(guess.document["command"],
              Contains(Json::parse(R"({"when": "not compile", "args": ["--compile.no-enable"]})")));

  argv.insert(argv.end(), {"--training.global_batch_size", "32"});
  GuessInput stated = input_of("torchtitan", argv);
  stated.given_facts = input.given_facts;
  EXPECT_THAT(must_guess(stated).document["constraints"],
              Contains("32 % (micro_batch * 4 / (tp * pp * cp)) == 0"));
}

TEST_F(SpaceLawsTest, ReadTheModelsConfiguration) {
  const std::string config = R"({"num_attention_heads": 24, "num_hidden_layers": 28})";
  folder_.write("sft.yaml",
                "model_name_or_path: acme/small\nper_device_train_batch_size: 4\n"
                "tensor_model_parallel_size: 2\ncutoff_len: 4096\n");
  const Words argv = {"llamafactory-cli", "train", "sft.yaml"};
  // The hub's model is not on this machine.
  const StudyGuess unknown = must_guess(input_of("llama_factory", argv));
  EXPECT_THAT(unknown.left_out, Contains(HasSubstr("heads is not known: call init with --fact")));
  // A folder beside the program.
  folder_.write("acme/small/config.json", config);
  EXPECT_THAT(must_guess(input_of("llama_factory", argv)).document["constraints"],
              IsSupersetOf({Json("8 % tp == 0 and 24 % tp == 0"), Json("28 % pp == 0"),
                            Json("micro_batch * accumulation * 8 / (tp * pp * 1) == 16")}));
  // The hub's cache.
  std::filesystem::remove_all(folder_.path() / "acme");
  folder_.write("hub/models--acme--small/snapshots/1a2b/config.json", config);
  GuessInput input = input_of("llama_factory", argv);
  input.model_cache = folder_.path() / "hub";
  EXPECT_THAT(must_guess(input).document["constraints"], Contains("28 % pp == 0"));
}

TEST(HubCache, IsTheFolderThatTheHubUses) {
  std::map<std::string, std::string> variables{{"HOME", "/home/me"}};
  const Environment environment = [&variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(hub_cache(environment).string(), "/home/me/.cache/huggingface/hub");
  variables["HF_HOME"] = "/data/hf";
  EXPECT_EQ(hub_cache(environment).string(), "/data/hf/hub");
  variables["HF_HUB_CACHE"] = "/models";
  EXPECT_EQ(hub_cache(environment).string(), "/models");
}

TEST_F(SpaceLawsTest, PreferTheModelsFileToTheProgramsFile) {
  folder_.write("configs/base.yml",
                "model_name: default\nbase_num_query_heads: 16\nbase_num_kv_heads: 16\n"
                "base_num_decoder_layers: 12\nper_device_batch_size: 4.0\n"
                "ici_fsdp_parallelism: -1\nmax_target_length: 2048\n");
  const Words argv = {"python3", "-m", "maxtext.trainers.pre_train.train", "configs/base.yml"};
  EXPECT_THAT(must_guess(input_of("maxtext", argv)).document["constraints"],
              Contains("16 % tp == 0 and 16 % tp == 0"));
  Words named = argv;
  named.emplace_back("model_name=large");
  EXPECT_THAT(must_guess(input_of("maxtext", named)).left_out,
              Contains(HasSubstr("ici_tensor_parallelism: heads is not known")));
  folder_.write("configs/models/large.yml",
                "base_num_query_heads: 32\nbase_num_kv_heads: 8\nbase_num_decoder_layers: 32\n");
  EXPECT_THAT(must_guess(input_of("maxtext", named)).document["constraints"],
              Contains("32 % tp == 0 and 8 % tp == 0"));
}

TEST_F(SpaceLawsTest, VaryOnlySettingsOfTheEngineInUse) {
  const Words argv = {"python3",
                      "-m",
                      "verl.trainer.main_ppo",
                      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
                      "actor_rollout_ref.rollout.n=5",
                      "trainer.n_gpus_per_node=8"};
  GuessInput input = input_of("verl", argv);
  input.given_facts = {{"heads", 32.0}, {"layers", 32.0}};
  const StudyGuess guess = must_guess(input);
  EXPECT_THAT(guess.document["constraints"],
              Contains("(256 * 5 * 1 * 1 * 1 * 1 / 8) % micro_batch == 0"));
  EXPECT_FALSE(guess.document["parameters"].contains("tp"));
  EXPECT_THAT(guess.left_out, Contains(HasSubstr("use_dynamic_bsz is not set")));
  Words packed = argv;
  packed.emplace_back("actor_rollout_ref.actor.use_dynamic_bsz=True");
  GuessInput dynamic = input_of("verl", packed);
  dynamic.given_facts = input.given_facts;
  const StudyGuess other = must_guess(dynamic);
  EXPECT_TRUE(other.document["parameters"].contains("tokens"));
  EXPECT_THAT(other.left_out, Contains(HasSubstr("use_dynamic_bsz is on")));
}

TEST_F(SpaceLawsTest, ReplaceAllOptionsOfASetting) {
  GuessInput input =
      input_of("megatron", megatron({"--recompute-granularity", "full", "--recompute-method",
                                     "uniform", "--recompute-num-layers", "1"}));
  for (const char* name : {"--recompute-activations", "--recompute-granularity",
                           "--recompute-method", "--recompute-num-layers"}) {
    ProgramOption option;
    option.name = name;
    option.form =
        option.name == "--recompute-activations" ? OptionForm::flag : OptionForm::separate;
    input.program.options.push_back(option);
  }
  const StudyGuess guess = must_guess(input);
  EXPECT_EQ(guess.document["baseline"]["recompute"], "full");
  EXPECT_THAT(guess.document["command"], Not(Contains("--recompute-method")));
  EXPECT_THAT(guess.document["command"],
              Contains(Json::parse(R"({"when": "recompute == 'full'", "args":
                  ["--recompute-granularity", "full", "--recompute-method", "uniform",
                   "--recompute-num-layers", "1"]})")));
}

TEST_F(SpaceLawsTest, OfferNoSettingOfWhichTheProgramLacksAnOption) {
  GuessInput input = input_of("megatron", megatron({}));
  for (const char* name : {"--recompute-activations", "--recompute-granularity"}) {
    ProgramOption option;
    option.name = name;
    input.program.options.push_back(option);
  }
  EXPECT_EQ(must_guess(input).document["parameters"]["recompute"]["choices"],
            Json::array({"none", "selective"}));
}

}  // namespace
}  // namespace steptune
