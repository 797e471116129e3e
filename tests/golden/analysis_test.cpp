// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// A study whose step times follow a formula of computing and loading, with enough trials to
/// analyse.
class Analysis : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    std::string study = replay_study();
    const auto replace = [&](const std::string& from, const std::string& to) {
      const std::size_t at = study.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      study.replace(at, from.size(), to);
    };
    replace("\"trials\": 12", "\"trials\": 40");
    replace("\"scheduler\": \"asha\"", "\"scheduler\": \"none\"");
    sandbox_->write("study.json", study);
    ASSERT_EQ(sandbox_->steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static Json json_of(const std::vector<std::string>& arguments) {
    const Ended ended = sandbox_->steptune(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_EQ(json["study"]["name"], "demo");
    return json;
  }
  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> Analysis::sandbox_;

TEST_F(Analysis, ImportanceShowsParametersAndThePathToTheBest) {
  const Ended ended = sandbox_->steptune({"importance"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(difference(R"(share of variance {{ +}}time, cost  by itself, in time
batch_size {{ +\d+ % \(\d+-\d+\)}}  16 to 256: {{2\.3\dx \(2\.[23]\d-2\.[34]\d\)}}
precision {{ +\d+ % \(\d+-\d+\)}}  fp32 to bf16: {{1\.6\dx \(1\.6\d-1\.[67]\d\)}}
workers {{ +\d+ % \(\d+-\d+\)}}  0 to 4: {{1\.3\dx \(1\.3\d-1\.[34]\d\)}}
{{...}}
time: {{\d+}} trials, of whose variance the model explains {{(99|100) %}}
cost: a fixed multiple of time
failure: no trial failed
from baseline (trial 1) to best (trial {{\d+}}), time: {{3\.\d\dx: .*precision 1\.6.*}}
  {{.* -> .*x \(.*\)}}  {{(measured|by the model)}}
{{...}}
)",
                       ended.out),
            "");
  EXPECT_EQ(sandbox_->steptune({"importance", "study.json"}).out, ended.out);
}

TEST_F(Analysis, ImportanceAgreesWithTheFormulaThatItWasMadeFrom) {
  // Time is proportional to (precision == bf16 ? 0.6 : 1) * (1 + 0.5 / (1 + workers)), with 0 to 4
  // workers.
  const Json json = json_of({"importance", "--json"})["importance"];
  const Json& time = json["objectives"][0];
  EXPECT_EQ(json["objectives"][1]["multiple_of"], "time");
  int compared = 0;
  for (const Json& parameter : time["parameters"]) {
    const double ratio = parameter["effect"]["ratio"]["mean"];
    if (parameter["parameter"] == "precision") {
      ++compared;
      EXPECT_NEAR(ratio, 1.0 / 0.6, 0.03);
      EXPECT_EQ(parameter["effect"]["value_at_least"], "bf16");
    }
    if (parameter["parameter"] == "workers") {
      ++compared;
      EXPECT_NEAR(ratio, 1.5 / 1.1, 0.03);
    }
  }
  EXPECT_EQ(compared, 2);
  double product = 1.0;
  for (const Json& step : time["ablation"]["steps"])
    product *= step["ratio"]["mean"].get<double>();
  EXPECT_NEAR(product, time["ablation"]["ratio"]["mean"].get<double>(), 0.05 * product);
}

TEST_F(Analysis, BottleneckWithoutPartsShowsTheGainOfEachParameter) {
  const Ended ended = sandbox_->steptune({"bottleneck", "demo", "--trial", "1"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(
      difference(
          R"(The program did not report parts of its steps; {{.*batch_size 32 -> .* gives .*}}.
Based on a model of the speed of {{\d+}} trials, at the configuration of trial 1.

parameter   acts on   now  best          gain left      worst to best
batch_size  - {{.*}}32 {{.*}}
precision   compute  fp32  bf16  1.6{{.*}}
workers     data {{.*}}0     4  1.3{{.*}}

{{...}}
start-up and warm-up: {{[\d.]+}} % of the planned run
)",
          ended.out),
      "");
  const Json json = json_of({"bottleneck", "--trial", "1", "--json"})["bottleneck"];
  EXPECT_EQ(json["trial"], 1);
  EXPECT_TRUE(json["stages"].empty());
  EXPECT_TRUE(json["unreported_share"].is_null());
  EXPECT_EQ(json["responses"].size(), 3U);
}

TEST_F(Analysis, BottleneckAnalysesTheBestTrialByDefault) {
  const Json best = json_of({"best", "--json"});
  EXPECT_EQ(json_of({"bottleneck", "--json"})["bottleneck"]["trial"], best["trial"]);
}

TEST_F(Analysis, MissingDataEndsWithAReason) {
  EXPECT_EQ(sandbox_->steptune({"bottleneck", "--trial", "99"}).exit_code, 1);
  EXPECT_EQ(sandbox_->steptune({"bottleneck", "--trial", "first"}).exit_code, 2);
  EXPECT_EQ(sandbox_->steptune({"importance", "dmo"}).exit_code, 1);
  const Sandbox failed;
  failed.write("failing.json", failing_study());
  EXPECT_EQ(failed.steptune({"run", "failing.json"}).exit_code, 3);
  const Ended none = failed.steptune({"bottleneck"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("no measured trial"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("'steptune leaderboard failing --all'"), std::string::npos) << none.err;
  const Ended importance = failed.steptune({"importance"});
  EXPECT_EQ(importance.exit_code, 0);
  EXPECT_NE(importance.out.find("time/1M samples: only 0 trials have a value; 8 are needed"),
            std::string::npos)
      << importance.out;
}

TEST_F(Analysis, FitsATerminalAndColoursThere) {
  for (const std::string command : {"importance", "bottleneck"}) {
    const Ended ended =
        sandbox_->on_terminal("stty cols 80; " + steptune_program() + " " + command);
    EXPECT_NE(ended.out.find("\x1b[1m"), std::string::npos) << ended.out;
    std::size_t width = 0;
    for (const char c :
         sandbox_->on_terminal("stty cols 80; NO_COLOR=1 " + steptune_program() + " " + command)
             .out) {
      width = c == '\n' || c == '\r' ? 0 : width + 1;
      ASSERT_LE(width, 80U);
    }
    EXPECT_EQ(sandbox_->steptune({command}).out.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace steptune::golden
