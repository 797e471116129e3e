// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/earlier_judgements.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/history/fixture.hpp"
#include "tests/unit/verdict/fixture.hpp"

namespace steptune {
namespace {

/// Histories with judgements of three pairs, whose log ratios have a standard deviation of 0.1.
class EarlierJudgementsTest : public HistoryFixture {
 protected:
  /// `first`: program of the first command. `more`: further keys of the study.
  void add(const std::string& name, const std::string& first, const Json& more = Json::object(),
           StudyStatus status = StudyStatus::finished) {
    Json document = parse_json(R"({
      "command": ["{command}"], "baseline": {"command": "A"},
      "parameters": {"command": {"type": "categorical", "choices": {"A": "a", "B": "b"}}},
      "search": {"searcher": "grid", "scheduler": "none", "worth": 0.02},
      "budget": {"time": "5m"}, "measure": {"confirm_all": true}, "runner": {"type": "local"}
    })",
                               "study")
                        .value();
    document["name"] = name;
    document["parameters"]["command"]["choices"]["A"] = first;
    document.update(more);
    const StudySpec study =
        must(study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}));
    StudyRecord record;
    record.name = name;
    record.fingerprint = study.fingerprint;
    record.document = study.document;
    record.status = status;
    const double far = std::exp(-0.1);
    ASSERT_TRUE(history_.add_ended_study(
        record,
        {run(1, TrialPurpose::baseline, 0, "A", 1.0), run(2, TrialPurpose::search, 0, "B", 1.0),
         run(3, TrialPurpose::confirm_incumbent, 1, "B", far),
         run(4, TrialPurpose::confirm_baseline, 1, "A", 1.0),
         run(5, TrialPurpose::confirm_baseline, 2, "A", 1.0),
         run(6, TrialPurpose::confirm_incumbent, 2, "B", 1.0),
         run(7, TrialPurpose::confirm_incumbent, 3, "B", 1.0 / far),
         run(8, TrialPurpose::confirm_baseline, 3, "A", 1.0)}));
  }
  [[nodiscard]] Scatter pairs(const std::string& first, const std::string& campaign = "") {
    return must(pairs_of_earlier_judgements(history_, {first}, campaign));
  }

 private:
  static TrialRecord run(std::int64_t number, TrialPurpose purpose, int round,
                         const std::string& command, double value) {
    TrialRecord trial = completed(number, value, 0.001);
    trial.configuration = {};
    trial.configuration.set("command", command);
    trial.purpose = purpose;
    trial.confirm_pair = round;
    return trial;
  }

  History history_ = open();
};

TEST_F(EarlierJudgementsTest, JudgementsOfTheSameFirstCommandCount) {
  EXPECT_DOUBLE_EQ(pairs("./train").degrees_of_freedom, 0.0);
  add("judge", "./train");
  add("judge-2", "./train");
  add("judge-3", "./other");
  add("judge-4", "./train", Json::object(), StudyStatus::running);
  const Scatter known = pairs("./train");
  EXPECT_DOUBLE_EQ(known.degrees_of_freedom, 4.0);
  EXPECT_NEAR(known.deviation(), 0.1, 1e-6);
}

TEST_F(EarlierJudgementsTest, JudgementsOfTheCampaignCountWhateverTheirFirstCommand) {
  add("fast", "./train", {{"campaign", {{"name", "fast"}}}});
  EXPECT_DOUBLE_EQ(pairs("./new").degrees_of_freedom, 0.0);
  EXPECT_DOUBLE_EQ(pairs("./new", "fast").degrees_of_freedom, 2.0);
}

TEST_F(EarlierJudgementsTest, OtherStudiesDoNotCount) {
  add("tuning", "./train", {{"measure", Json::object()}});
  EXPECT_DOUBLE_EQ(pairs("./train").degrees_of_freedom, 0.0);
}

}  // namespace
}  // namespace steptune
