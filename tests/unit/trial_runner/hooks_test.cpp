// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/hooks/hook_log.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "trial_runner/hooks/python_hook.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Words = std::vector<std::string>;

Value text(const char* value) {
  return Value(std::string(value));
}

TEST(KnobTable, EveryKnobHasATypeAndAnEdit) {
  ASSERT_GE(python_knobs().size(), 20U);
  for (const Knob& knob : python_knobs()) {
    const auto type = knob.parameter.value("type", "");
    EXPECT_TRUE(type == "int" || type == "bool" || type == "categorical") << knob.name;
    EXPECT_TRUE(knob.edit.contains("call") || knob.edit.contains("lines") ||
                knob.edit.contains("shell"))
        << knob.name;
    EXPECT_EQ(knob.in_environment(), knob.edit.contains("shell")) << knob.name;
    if (!knob.in_environment()) continue;
    EXPECT_FALSE(knob.today.is_null()) << knob.name;
    for (const auto& [value, variables] : knob.environment.items()) {
      for (const auto& [variable, given] : variables.items())
        EXPECT_TRUE(given.is_string()) << knob.name << " " << value << " " << variable;
    }
  }
  EXPECT_EQ(find_python_knob("num_worker"), nullptr);
  EXPECT_EQ(find_python_knob("precision")->knob_class, KnobClass::numeric);
}

/// Returns the knobs of a family as `safe num_workers bitwise live`, in order.
Words knobs_of_table(const std::string& family) {
  const std::string folder = STEPTUNE_SOURCE_DIR "/trial_runner/hooks/python/steptune_hook/";
  std::map<std::string, Json> common;
  const Json common_table = Json::parse(read_file(folder + "knobs.json"));
  for (const Json& knob : common_table["knobs"])
    common[knob["name"]] = knob;
  Words knobs;
  const Json table = Json::parse(read_file(folder + family + "/knobs.json"));
  for (const Json& entry : table["knobs"]) {
    const Json& knob = entry.is_string() ? common.at(entry.get<std::string>()) : entry;
    const auto word = [&knob](const char* key) { return knob[key].get<std::string>(); };
    const std::string applied = word("applied") == "environment" ? "env" : word("applied");
    knobs.push_back(
        fmt::format("{} {} {} {}", word("class"), word("name"), word("losses"), applied));
  }
  return knobs;
}

TEST(KnobTable, EqualsTheTableInTheDocument) {
  const std::regex heading(R"(\| \*\*(\w+)\*\* \|.*)");
  const std::regex row(R"(\| `(\w+)` \|[^|]*\|[^|]*\| (\w+) \| (\w+) \|)");
  const std::map<std::string, std::string> families{{"### PyTorch", "pytorch"},
                                                    {"### Gradient boosting", "boosting"},
                                                    {"### JAX", "jax"},
                                                    {"### Keras and TensorFlow", "keras"}};
  std::map<std::string, Words> parsed;
  std::string family;
  std::string knob_class;
  std::istringstream page(read_file(STEPTUNE_SOURCE_DIR "/docs/hooks.md"));
  std::smatch found;
  for (std::string line; std::getline(page, line);) {
    if (const auto title = families.find(line); title != families.end()) {
      family = title->second;
    } else if (std::regex_match(line, found, heading)) {
      knob_class = found[1];
    } else if (std::regex_match(line, found, row)) {
      parsed[family].push_back(
          fmt::format("{} {} {} {}", knob_class, found[1].str(), found[2].str(), found[3].str()));
    }
  }
  for (const auto& [title, name] : families)
    EXPECT_EQ(parsed[name], knobs_of_table(name)) << title;
  EXPECT_EQ(parsed.size(), families.size());
}

TEST(KnobTable, SaysWhichTypeAKnobTakes) {
  const auto why = [](const char* knob, const Value& value) {
    return why_not_value_of(*find_python_knob(knob), value).value_or("");
  };
  EXPECT_EQ(why("num_workers", Value(std::int64_t{4})), "");
  EXPECT_EQ(why("num_workers", text("4")), "num_workers is a whole number, not \"4\"");
  EXPECT_EQ(why("pin_memory", Value(true)), "");
  EXPECT_EQ(why("pin_memory", Value(std::int64_t{1})), "pin_memory is true or false, not 1");
  EXPECT_EQ(why("pin_memory", text("true")), "pin_memory is true or false, not \"true\"");
  EXPECT_EQ(why("precision", text("bf16")), "");
  EXPECT_THAT(why("precision", text("bf17")), HasSubstr("one of fp32, bf16, fp16, not bf17"));
  EXPECT_EQ(why("cuda_alloc_conf", text("max_split_size_mb:64")), "") << "its table takes any";
  EXPECT_THAT(why("nccl_protocol", text("ll128")), HasSubstr("one of default, simple, without_"))
      << "LL128 corrupts data where NCCL does not choose it itself";
}

TEST(PythonHook, IsRequestedByVariables) {
  PythonHookRequest request;
  request.knobs = {{"num_workers", Value(std::int64_t{4})},
                   {"pin_memory", Value(true)},
                   {"precision", text("bf16")},
                   {"openblas_threads", Value(std::int64_t{2})},
                   {"malloc", text("keep")},
                   {"omp_wait_policy", text("default")},
                   {"nccl_algorithm", text("tree")},
                   {"cuda_alloc_conf", text("backend:cudaMallocAsync")}};
  request.events = "/logs/trial-1.log.hook";
  const auto variables = hook_variables(request);
  EXPECT_THAT(variables,
              UnorderedElementsAre(
                  Pair("STEPTUNE_PYTHON",
                       R"({"v":1,"mode":"report","knobs":{"num_workers":4,"pin_memory":true,)"
                       R"("precision":"bf16"},"events":"/logs/trial-1.log.hook"})"),
                  Pair("OPENBLAS_NUM_THREADS", "2"), Pair("MALLOC_MMAP_THRESHOLD_", "1073741824"),
                  Pair("MALLOC_TRIM_THRESHOLD_", "2147483647"), Pair("MALLOC_TOP_PAD_", "67108864"),
                  Pair("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync"),
                  Pair("NCCL_ALGO", "allreduce:tree")));
  std::map<std::string, std::string> environment{{"GLIBC_TUNABLES", "glibc.rtld.nns=8"}};
  request.knobs = {{"malloc", text("hugepages")}};
  set_hook_variables(request, environment);
  EXPECT_THAT(environment["GLIBC_TUNABLES"],
              StartsWith("glibc.rtld.nns=8:glibc.malloc.hugetlb=1:"));
  EXPECT_EQ(environment["MALLOC_CONF"], "thp:always");
  request = {};
  request.mode = HookMode::apply;
  request.interval_s = 1.0;
  request.samples_per_step = 96.0;
  EXPECT_THAT(hook_variables(request),
              ElementsAre(Pair("STEPTUNE_PYTHON",
                               R"({"v":1,"mode":"apply","knobs":{},"samples_per_step":96.0,)"
                               R"("interval_s":1.0})")));
  request = {};
  request.mode = HookMode::survey;
  request.replay = HookReplay{5.0, 19.0};
  EXPECT_THAT(hook_variables(request),
              ElementsAre(Pair("STEPTUNE_PYTHON",
                               R"({"v":1,"mode":"survey","knobs":{},)"
                               R"("replay_batches":{"after_s":5.0,"after_steps":19.0}})")));
  request = {};
  request.mode = HookMode::live;
  request.channel = "/tmp/x/tuner";
  EXPECT_THAT(hook_variables(request),
              ElementsAre(Pair("STEPTUNE_PYTHON",
                               R"({"v":1,"mode":"live","knobs":{},"channel":"/tmp/x/tuner"})")));
}

TEST(PythonKnobs, KnobsThatActBetweenStepsAreSwitchable) {
  for (const char* name : {"num_workers", "prefetch_factor", "num_threads", "channels_last"})
    EXPECT_TRUE(find_python_knob(name)->switchable) << name;
  for (const char* name : {"persistent_workers", "num_interop_threads", "malloc", "batch_size"})
    EXPECT_FALSE(find_python_knob(name)->switchable) << name;
}

TEST(PythonHook, IsFirstInPythonsPath) {
  EXPECT_EQ(with_python_path("/hook", ""), "/hook");
  EXPECT_EQ(with_python_path("/hook", "/a:/b"), "/hook:/a:/b");
}

TEST(HookFiles, AreTheInstalledOnes) {
  const auto files = read_hook_files(*python_hook_folder());
  ASSERT_TRUE(files) << files.error().text();
  for (const char* path : {"sitecustomize.py", "steptune_hook/pytorch/knobs.json",
                           "steptune_hook/pytorch/knobs/loader.py"})
    EXPECT_TRUE(files->contains(path)) << path;
  for (const auto& [path, text] : *files) {
    EXPECT_TRUE(path.ends_with(".py") || path.ends_with(".json")) << path;
    EXPECT_FALSE(text.empty()) << path;
  }
  EXPECT_EQ(read_hook_files("/nonexistent/hook").error().kind, ErrorKind::runner);
}

TEST(HookFiles, AreThoseOfTheFamiliesThatTheRequestNames) {
  PythonHookRequest request;
  request.families = {"keras"};
  const auto files = read_hook_files(*python_hook_folder(), hook_variables(request));
  ASSERT_TRUE(files) << files.error().text();
  for (const char* path : {"sitecustomize.py", "steptune_hook/knobs.json",
                           "steptune_hook/knobs/collector.py", "steptune_hook/keras/hook.py"})
    EXPECT_TRUE(files->contains(path)) << path;
  for (const auto& [path, text] : *files) {
    for (const char* family : {"boosting", "jax", "pytorch"})
      EXPECT_FALSE(path.starts_with(std::string("steptune_hook/") + family)) << path;
  }
  request.families.clear();
  EXPECT_EQ(*read_hook_files(*python_hook_folder(), hook_variables(request)),
            *read_hook_files(*python_hook_folder()));
}

TEST(HookFiles, OfOneFamilyLeaveRoomInARequest) {
  for (const std::string& family : python_families()) {
    PythonHookRequest request;
    request.families = {family};
    const auto files = read_hook_files(*python_hook_folder(), hook_variables(request));
    ASSERT_TRUE(files) << files.error().text();
    // SageMaker allows 100 hyperparameters; the study gets the rest.
    EXPECT_LT(packed_text(*files).size(), (family == "pytorch" ? 58U : 20U) * 2500U) << family;
  }
}

TEST(PythonKnobs, NameTheirFamilies) {
  EXPECT_EQ(families_of_knobs({"num_workers", "gc"}), (std::set<std::string>{"pytorch"}));
  EXPECT_EQ(families_of_knobs({"jit_compile", "matmul_precision"}),
            (std::set<std::string>{"jax", "keras"}));
  EXPECT_TRUE(families_of_knobs({"gc", "malloc"}).empty()) << "all families share them";
  EXPECT_TRUE(families_of_knobs({}).empty());
}

TEST(HookFiles, BecomeOneTextOfPlainCharacters) {
  const auto files = read_hook_files(*python_hook_folder());
  ASSERT_TRUE(files);
  const std::string text = packed_text(*files);
  EXPECT_EQ(text, packed_text(*files));
  EXPECT_THAT(text, ::testing::MatchesRegex("[A-Za-z0-9+/]+=*"));
  EXPECT_LT(text.size(), 72U * 2500U);
}

TEST(HookLog, TheLastOfEqualEventsCounts) {
  HookLog log;
  EXPECT_TRUE(log.empty());
  log.add(R"({"event":"patched","pid":7,"torch":"1.13.1","device":"cpu"})");
  log.add(
      R"({"event":"knob","knob":"num_workers","may":false,"today":0,"value":0,"why":"none yet"})");
  log.add(R"({"event":"knob","knob":"num_workers","may":true,"today":0,"value":4,
              "where":["train.py:9 DataLoader"],"choices":[0,4],"news":{}})");
  log.add(
      R"({"event":"loader","id":"1","where":"train.py:9","training":true,"dataset":"D","length":12})");
  log.add(R"({"event":"of the future"})");
  log.add("not json");
  log.add("[]");
  log.add(R"({"knob":"x"})");
  EXPECT_TRUE(log.patched());
  EXPECT_FALSE(log.armed());
  EXPECT_THAT(log.knobs(), ElementsAre(Key("num_workers")));
  const KnobState& state = log.knobs().at("num_workers");
  EXPECT_TRUE(state.may);
  EXPECT_EQ(state.value, Json(4));
  EXPECT_EQ(state.why, "");
  EXPECT_THAT(state.where, ElementsAre("train.py:9 DataLoader"));
  ASSERT_EQ(log.loaders().size(), 1U);
  EXPECT_EQ(log.loaders()[0].batches, 12);
  EXPECT_EQ(log.loaders()[0].training, true);
  EXPECT_EQ(log.event("patched")["torch"], "1.13.1");
  EXPECT_TRUE(log.event("program").is_null());

  const HookLog again = HookLog::from_json(log.to_json());
  EXPECT_EQ(again.to_json(), log.to_json());
  EXPECT_EQ(again.knobs().at("num_workers").value, Json(4));
}

TEST(HookLog, ReportsWhyAHookWithdrew) {
  HookLog log;
  EXPECT_FALSE(log.disabled());
  log.add(R"({"event":"disabled","why":"torch 0.4 is too old"})");
  EXPECT_EQ(log.disabled(), "torch 0.4 is too old");
}

TEST(HookLog, HasTheReasonForEndingTheProgram) {
  HookLog log;
  EXPECT_FALSE(log.gave_up());
  log.add(
      R"({"event":"gave_up","knob":"distributed_strategy","value":"ddp","why":"two\nmodules"})");
  EXPECT_EQ(log.gave_up(),
            "distributed_strategy=ddp does not work with this program: two | modules");
}

TEST(HookLog, ReportsTheTimesOfReplayedSteps) {
  const auto parsed = [](const std::string& event) {
    HookLog log;
    log.add(event);
    return log.replay();
  };
  EXPECT_FALSE(HookLog().replay());
  const auto replay =
      parsed(R"({"event":"replay_ended","steps":30,"step_s":0.02,"before_step_s":0.05})");
  ASSERT_TRUE(replay);
  EXPECT_DOUBLE_EQ(replay->ceiling(), 2.5);
  EXPECT_EQ(parsed(R"({"event":"replay_ended","step_s":0.02,"before_step_s":0.01})")->ceiling(),
            1.0);
  for (const char* event : {R"({"event":"replay_begun"})",
                            R"({"event":"replay_ended","why":"its batches hold a Graph"})",
                            R"({"event":"replay_ended","step_s":0,"before_step_s":0.05})",
                            R"({"event":"replay_ended","step_s":"1","before_step_s":0.05})",
                            R"({"event":"replay_ended","step_s":1e-300,"before_step_s":1e300})"}) {
    EXPECT_FALSE(parsed(event)) << event;
  }
}

TEST(HookLog, AFileOfEventsProvesAStartedInterpreter) {
  const TemporaryFolder folder("hooks");
  const auto file = folder.path() / "events";
  EXPECT_TRUE(read_hook_events(file).empty()) << "no file yet";
  std::ofstream(file) << R"({"event":"armed","pid":1})"
                      << "\n"
                      << R"({"v":1,"hook":{"event":"patched","pid":1}})"
                      << "\n"
                      << "{\"event\":\"kno";
  const HookLog log = read_hook_events(file);
  EXPECT_TRUE(log.armed());
  EXPECT_TRUE(log.patched());
}

TEST(HookLog, ARefusalOfOneRankCounts) {
  HookLog log;
  const auto add = [&log](const char* fields) {
    log.add(fmt::format(R"({{"event":"knob","knob":"num_workers","today":0,{}}})", fields));
  };
  const auto why = [](const HookLog& of) {
    const KnobState& state = of.knobs().at("num_workers");
    return state.may ? "may" : state.why;
  };
  add(R"("rank":1,"may":false,"value":0,"why":"a worker was killed")");
  EXPECT_EQ(why(log), "on rank 1: a worker was killed");
  add(R"("may":true,"value":2)");
  EXPECT_EQ(why(log), "on rank 1: a worker was killed") << "whatever rank 0 says of itself";
  EXPECT_EQ(why(HookLog::from_json(log.to_json())), "on rank 1: a worker was killed");
  EXPECT_EQ(why_not_applied(log, {{"num_workers", Value(std::int64_t{2})}}),
            "num_workers=2 could not be set, it is 0: on rank 1: a worker was killed");
  add(R"("may":false,"value":0,"why":"its own")");
  EXPECT_EQ(why(log), "its own");
  add(R"("may":true,"value":2)");
  add(R"("rank":1,"may":true,"value":2)");
  EXPECT_EQ(why(log), "may");
  EXPECT_EQ(log.to_json().size(), 1U) << "nothing of rank 1 is left to keep";
}

TEST(HookLog, SaysWhichKnobDoesNotApply) {
  HookLog log;
  log.add(R"({"event":"knob","knob":"num_workers","may":true,"today":0,"value":4})");
  log.add(R"({"event":"knob","knob":"optimizer_implementation","may":true,"today":"foreach",
              "value":"foreach","why":"fused runs on a GPU only"})");
  log.add(R"({"event":"knob","knob":"pin_memory","may":false})");
  log.add(
      R"({"event":"knob","knob":"persistent_workers","may":false,"today":false,"value":false})");
  log.add(
      R"({"event":"knob","knob":"channels_last","may":false,"today":false,"value":true,"why":"it crashed"})");
  log.add(R"({"event":"knob","knob":"malloc","may":true,"today":"keep","value":"keep"})");
  log.add(R"({"event":"knob","knob":"openblas_threads","may":true,"today":8,"value":8})");
  const auto why = [&log](const std::map<std::string, Value>& asked) {
    return why_not_applied(log, asked).value_or("");
  };
  EXPECT_EQ(why({{"num_workers", Value(std::int64_t{4})},
                 {"optimizer_implementation", text("foreach")},
                 {"persistent_workers", Value(false)},
                 {"malloc", text("keep")}}),
            "");
  EXPECT_EQ(why({{"openblas_threads", Value(std::int64_t{2})}}),
            "openblas_threads=2 could not be set, it is 8");
  EXPECT_EQ(why({{"optimizer_implementation", text("fused")}}),
            "optimizer_implementation=fused could not be set, it is foreach: fused runs on a GPU "
            "only");
  EXPECT_EQ(why({{"pin_memory", Value(false)}}),
            "pin_memory=false could not be set, it is not known");
  EXPECT_EQ(why({{"channels_last", Value(true)}}),
            "channels_last=true could not be set, it is true: it crashed");
  EXPECT_EQ(why({{"tf32", Value(true)}}), "tf32=true could not be set: the hook did not report it");
}

TEST(HookReach, SeesWhatKeepsAHookAway) {
  const TemporaryFolder folder("reach");
  std::ofstream(folder.path() / "isolated.py") << "#!/usr/bin/env -S python3 -I\nprint()\n";
  std::ofstream(folder.path() / "plain.py") << "#!/usr/bin/env python3\nprint()\n";
  const auto why = [&folder](const Words& argv) {
    return why_out_of_reach(argv, folder.path()).value_or("");
  };
  for (const Words& argv :
       {Words{"python3", "train.py", "-I"}, Words{"python3", "-u", "-O", "train.py"},
        Words{"python3", "-W", "ignore", "-m", "pkg", "-S"}, Words{"torchrun", "train.py"},
        Words{"python3", "-c", "print('-E')"}, Words{"./plain.py", "-E"},
        Words{"env", "A=1", "python3"}, Words{"./nothing-there"},
        Words{"bash", "train.sh", "python3", "-E"}, Words{"docker", "compose", "up"},
        Words{"docker", "run", "-e", "PYTHONPATH", "--env=STEPTUNE_PYTHON", "torch", "python3",
              "t.py"},
        Words{"podman", "run", "-ePYTHONPATH=/hook", "-e", "STEPTUNE_PYTHON", "torch", "t"},
        Words{"./train", "--lang", "python", "-E"}, Words{}}) {
    EXPECT_EQ(why(argv), "") << ::testing::PrintToString(argv);
  }
  EXPECT_EQ(why({"python3", "-I", "train.py"}), "\"python3 -I\" keeps PYTHONPATH away from Python");
  EXPECT_EQ(why({"/usr/bin/python3.11", "-uE", "train.py"}),
            "\"python3.11 -E\" keeps PYTHONPATH away from Python");
  EXPECT_EQ(why({"nice", "python3", "-X", "dev", "-S", "train.py"}),
            "\"python3 -S\" keeps sitecustomize away from Python");
  EXPECT_EQ(why({"srun", "--exclusive", "python3", "-I", "train.py"}),
            "\"python3 -I\" keeps PYTHONPATH away from Python");
  EXPECT_EQ(why({"env", "-i", "python3", "train.py"}),
            "\"env -i\" gives the program an empty environment");
  EXPECT_EQ(why({"docker", "run", "--rm", "-e", "PYTHONPATH", "torch", "python3", "train.py"}),
            "\"docker run\" starts the program in a separate environment, without "
            "STEPTUNE_PYTHON: docs/hooks.md, \"Containers\", says what to pass");
  EXPECT_THAT(why({"nice", "/usr/bin/podman", "exec", "box", "bash", "train.sh"}),
              HasSubstr("\"podman exec\" starts the program in a separate environment"));
  EXPECT_EQ(
      why({"docker", "run", "-e", "PYTHONPATH", "-e", "STEPTUNE_PYTHON", "torch", "python3", "-I"}),
      "\"python3 -I\" keeps PYTHONPATH away from Python");
  EXPECT_THAT(why({"sudo", "python3", "train.py"}), HasSubstr("sudo"));
  EXPECT_THAT(why({"./isolated.py"}),
              HasSubstr("in the first line of ./isolated.py, \"python3 -I\""));
}

TEST(HookReach, NativeExecutablesByTheirPathNeedNoHook) {
  const TemporaryFolder folder("native");
  namespace fs = std::filesystem;
  fs::copy_file("/bin/true", folder.path() / "train");
  fs::copy_file("/bin/true", folder.path() / "embeds");
  std::ofstream(folder.path() / "embeds", std::ios::app) << "libpython3.11.so.1.0";
  std::ofstream(folder.path() / "script") << "#!/bin/sh\npython3 train.py\n";
  const auto is_native = [&folder](const Words& argv) {
    return is_native_program(argv, folder.path());
  };
  for (const Words& argv :
       {Words{"./train", "--threads", "2"}, Words{"env", "OMP_NUM_THREADS=1", "./train"},
        Words{"env", "LD_PRELOAD=/usr/lib/libc.so.6", "nice", "-n", "10", "./train"},
        Words{"stdbuf", "-oL", (folder.path() / "train").string()}}) {
    EXPECT_TRUE(is_native(argv)) << ::testing::PrintToString(argv);
  }
  for (const Words& argv :
       {Words{}, Words{"train"}, Words{"./embeds"}, Words{"./script"}, Words{"/bin/true"},
        Words{"python3", "./train"}, Words{"bash", "./train"}, Words{"./missing"},
        Words{"nice", "launch", "./train"}}) {
    EXPECT_FALSE(is_native(argv)) << ::testing::PrintToString(argv);
  }
}

}  // namespace
}  // namespace steptune
