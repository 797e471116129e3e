// SPDX-License-Identifier: Apache-2.0
// Tests PyTorch's hook in a job's container. This machine's shells run the request as a container
// would.
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/shell_quote.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/training_job_form.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Prints what a program finds: the hook's files as seen by Python, and the hook's settings.
constexpr const char* k_program =
    "import json, os, sys, importlib.util as u\n"
    "place = u.find_spec('sitecustomize').origin\n"
    "folder = os.path.dirname(place)\n"
    "files = sorted(os.path.relpath(os.path.join(at, name), folder)\n"
    "               for at, _, names in os.walk(folder) for name in names if not "
    "name.endswith('.pyc'))\n"
    "texts = {name: open(os.path.join(folder, name), encoding='utf-8').read() for name in files}\n"
    "hp = os.environ['SAGEMAKER_BASE_DIR'] + '/input/config/hyperparameters.json'\n"
    "print('found ' + json.dumps({'files': texts, 'hook': os.environ.get('STEPTUNE_PYTHON'),\n"
    "    'path': os.environ['PYTHONPATH'].split(':')[1:], 'argv': sys.argv[1:], 'hp': "
    "json.load(open(hp))}))\n";

class CarriedHook : public testing::Test {
 protected:
  CarriedHook() {
    settings_.role_arn = "arn:aws:iam::123456789012:role/training";
    settings_.image = "image";
    settings_.output_s3_uri = "s3://bucket/output";
    PythonHookRequest asked;
    asked.families = {"pytorch"};
    files_ = read_hook_files(*python_hook_folder(), hook_variables(asked)).value();
    packed_ = packed_text(files_);
  }

  TrialSpec trial(std::int64_t number, std::vector<std::string> argv) const {
    PythonHookRequest asked;
    asked.families = {"pytorch"};
    // Settings longer than a job's variable may be.
    for (const char* name : {"num_workers", "prefetch_factor", "num_threads", "num_interop_threads",
                             "ddp_bucket_cap_mb", "batch_size"})
      asked.knobs.emplace(name, Value(number));
    asked.events = std::string(400, 'e');
    TrialSpec spec;
    spec.key = {number, 1};
    spec.argv = std::move(argv);
    spec.configuration.set("lr", Value(0.5));
    spec.environment = hook_variables(asked);
    spec.python_path = *python_hook_folder();
    spec.resources.instance_type = "ml.m5.large";
    return spec;
  }

  TrialSpec finder(std::int64_t number) const {
    return trial(number, {"python3", "-S", folder_.path() / "program.py", "it's $HOME"});
  }

  Json request(const std::vector<TrialSpec>& trials, bool packed) const {
    JobRequest job{"job", trials.front(), 0, {}, packed_};
    for (const TrialSpec& spec : trials) {
      if (packed) job.pack.push_back(&spec);
    }
    return create_training_job_input(settings_, job);
  }

  /// Returns the output of the job's container.
  std::string run(const Json& input) const {
    folder_.write("program.py", k_program);
    folder_.write("input/config/hyperparameters.json", dump_json(input["HyperParameters"]));
    std::vector<std::string> words{"env", "SAGEMAKER_BASE_DIR=" + folder_.path().string(),
                                   "TMPDIR=" + folder_.path().string()};
    for (const auto& [name, value] : input["Environment"].items())
      words.push_back(fmt::format("{}={}", name, value.get<std::string>()));
    for (const char* list : {"ContainerEntrypoint", "ContainerArguments"}) {
      for (const Json& word : input["AlgorithmSpecification"][list])
        words.push_back(word.get<std::string>());
    }
    std::FILE* pipe = ::popen((posix_quoted(words) + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
      output += buffer.data();
    ::pclose(pipe);
    return output;
  }

  static std::vector<Json> found_in(const std::string& output) {
    std::vector<Json> found;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("found ")) found.push_back(*parse_json(line.substr(6), "output"));
    }
    return found;
  }

  void expect_hook(const Json& found, std::int64_t number) const {
    EXPECT_EQ(found["files"], Json(files_)) << "byte by byte";
    const Json settings = *parse_json(found["hook"].get<std::string>(), "settings");
    EXPECT_EQ(settings["knobs"]["num_workers"], number);
    EXPECT_EQ(found["hp"], (Json{{"lr", "0.5"}})) << "the study's own hyperparameters";
  }

  TemporaryFolder folder_{"carried hook"};
  JobSettings settings_;
  HookFiles files_;
  std::string packed_;
};

TEST_F(CarriedHook, IsFoundByTheProgramOfAJob) {
  TrialSpec spec = finder(3);
  spec.environment["PYTHONPATH"] = "/study/modules";
  const Json input = request({spec}, false);
  EXPECT_TRUE(check_training_job_input(input)) << check_training_job_input(input).error().text();
  const std::string output = run(input);
  const auto found = found_in(output);
  ASSERT_EQ(found.size(), 1U) << output;
  expect_hook(found[0], 3);
  EXPECT_EQ(found[0]["path"], (Json{"/study/modules"}));
  EXPECT_EQ(found[0]["argv"], (Json{"it's $HOME"}));
}

TEST_F(CarriedHook, IsFoundByEachTrialOfAPackWithItsOwnSettings) {
  std::vector<TrialSpec> trials{finder(1), finder(2), finder(3)};
  trials[1].environment["PYTHONPATH"] = "/study/its modules";
  const Json input = request(trials, true);
  EXPECT_TRUE(check_training_job_input(input)) << check_training_job_input(input).error().text();
  const std::string output = run(input);
  const auto found = found_in(output);
  ASSERT_EQ(found.size(), 3U) << output;
  for (std::size_t i = 0; i < found.size(); ++i)
    expect_hook(found[i], static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(found[0]["path"], Json::array());
  EXPECT_EQ(found[1]["path"], (Json{"/study/its modules"}));
}

TEST_F(CarriedHook, ADamagedHookLeavesTheProgramAlone) {
  Json input = request({trial(1, {"/bin/sh", "-c", "echo runs"})}, false);
  input["HyperParameters"]["steptune-hook-001"] = "damaged";
  const std::string output = run(input);
  EXPECT_THAT(output, HasSubstr("no Python here can unpack the hook"));
  EXPECT_THAT(output, HasSubstr("runs\n"));
}

TEST_F(CarriedHook, GoesAlongWithALongRunOnRentedMachines) {
  const TrialSpec spec = finder(4);
  LongRun wanted;
  wanted.argv = spec.argv;
  wanted.configuration = spec.configuration;
  wanted.environment = spec.environment;
  wanted.resources.instance_type = "ml.m5.large";
  wanted.python_path = spec.python_path;
  const TrainingJobForm form;
  EXPECT_TRUE(form.takes_files_along(wanted));
  const auto members = form.write(wanted);
  ASSERT_TRUE(members) << members.error().text();
  const Json& request = (*members)["CreateTrainingJob"];
  const std::string output = run(request);
  const auto found = found_in(output);
  ASSERT_EQ(found.size(), 1U) << output;
  expect_hook(found[0], 4);
  EXPECT_EQ(found[0]["argv"], (Json{"it's $HOME"}));

  const Json& estimator = (*members)["Estimator"];
  EXPECT_EQ(estimator["environment"], request["Environment"]);
  EXPECT_EQ(estimator["hyperparameters"].size(), request["HyperParameters"].size());
  const Json& words = request["AlgorithmSpecification"];
  EXPECT_EQ(estimator["container_entry_point"], words["ContainerEntrypoint"]);
  EXPECT_EQ(estimator["container_arguments"], words["ContainerArguments"]);

  // The words of the container also write the program's files.
  LongRun reader = wanted;
  reader.python_path.clear();
  reader.environment.clear();
  const auto plain = form.write(reader);
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_FALSE((*plain)["Estimator"].contains("container_entry_point"));
  reader.files = {{"/tmp/steptune/ds.json", "{}"}};
  const auto with_file = form.write(reader);
  ASSERT_TRUE(with_file) << with_file.error().text();
  EXPECT_TRUE((*with_file)["Estimator"].contains("container_entry_point"));

  // The hook needs the words of a container.
  wanted.resources = {};
  EXPECT_FALSE(form.takes_files_along(wanted));
}

TEST_F(CarriedHook, IsNotSentWithATrialThatHasNone) {
  TrialSpec spec = finder(1);
  spec.python_path.clear();
  spec.environment.clear();
  const Json input = request({spec}, false);
  EXPECT_EQ(input["HyperParameters"].size(), 1U);
  EXPECT_THAT(dump_json(input), Not(HasSubstr("STEPTUNE_HOOK")));
}

}  // namespace
}  // namespace steptune
