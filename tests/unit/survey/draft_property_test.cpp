// SPDX-License-Identifier: Apache-2.0
// For random reports of a hook over fixed seeds: a draft is a study that the reader accepts, or an
// error with advice.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

const Facts k_machines[] = {{{"cpus", 1}, {"gpus", 0}, {"memory_gb", 2}},
                            {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 31.2}},
                            {{"cpus", 96}, {"gpus", 8}, {"memory_gb", 768}}};

template <typename Item>
const Item& one_of(const std::vector<Item>& items, Rng& rng) {
  return items[rng.below(items.size())];
}

/// Returns a program's random value of a knob: one of the table's, one beyond it, or unknown.
Json random_today(const Knob& knob, Rng& rng) {
  const Json& parameter = knob.parameter;
  if (rng.below(8) == 0) return nullptr;
  if (parameter.contains("choices")) {
    if (rng.below(10) == 0) return "of the future";
    return parameter["choices"][rng.below(parameter["choices"].size())];
  }
  if (parameter["type"] == "bool") return rng.below(2) == 0;
  const std::vector<std::int64_t> wholes{0, 1, 2, 3, 4, 7, 16, 48, 100, 1024, 1'000'000};
  if (parameter["type"] == "int") return one_of(wholes, rng);
  return 0.01 * static_cast<double>(rng.below(400));
}

Survey random_survey(Rng& rng) {
  Survey survey;
  survey.log.add(Json{{"event", "patched"},
                      {"pid", 1},
                      {"torch", "2.4"},
                      {"device", rng.below(2) == 0 ? "cpu" : "cuda"}}
                     .dump());
  for (const Knob* each : python_knobs_of("pytorch")) {
    if (rng.below(4) == 0) continue;
    const Knob& knob = *each;
    const Json today = random_today(knob, rng);
    Json event{{"event", "knob"}, {"knob", knob.name}, {"today", today}, {"value", today}};
    event["may"] = rng.below(5) != 0;
    if (!event["may"].get<bool>()) event["why"] = "there is no GPU";
    if (knob.parameter.contains("choices") && rng.below(3) == 0) {
      event["choices"] = Json::array();
      for (const Json& choice : knob.parameter["choices"]) {
        if (rng.below(3) > 0) event["choices"].push_back(choice);
      }
    }
    survey.log.add(event.dump());
  }
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    survey.log.add(Json{{"event", "loader"},
                        {"id", std::to_string(i)},
                        {"where", "train.py:" + std::to_string(i)},
                        {"training", rng.below(3) > 0}}
                       .dump());
  }
  if (rng.below(10) == 0) return survey;
  Report first;
  first.step = 1.0;
  first.clock_s = 2.0;
  if (rng.below(2) == 0) first.samples = 32.0;
  survey.first = first;
  Report last = first;
  last.step = 101.0;
  if (last.samples) last.samples = 3232.0;
  last.clock_s = 2.0 + 10.0 * rng.uniform();
  for (const char* part : {"data", "transfer", "forward", "backward", "optimizer"}) {
    if (rng.below(2) == 0) last.parts[part] = rng.uniform() * rng.uniform();
  }
  if (rng.below(4) > 0) last.metrics["loss"] = 2.0 * rng.normal();
  if (rng.below(2) == 0) last.metrics["gpu_idle_share"] = 0.1 * rng.uniform();
  if (rng.below(2) == 0) last.metrics["loader_queue_depth"] = 10.0 * rng.uniform();
  survey.last = last;
  return survey;
}

DraftOptions random_wishes(Rng& rng, const Facts& facts) {
  DraftOptions wishes;
  wishes.name = "train";
  wishes.argv = {"python3", "train.py", "--json={\"a\": {}}", "--empty=", "%d {x} }{"};
  wishes.numeric = rng.below(2) == 0;
  wishes.semantic = rng.below(3) == 0;
  wishes.is_running = !wishes.semantic && rng.below(2) == 0;
  wishes.facts = facts;
  if (rng.below(2) == 0) wishes.planned_samples = 1e8 * rng.uniform();
  if (rng.below(2) == 0) wishes.samples_per_step = static_cast<double>(1 + rng.below(4096));
  if (wishes.planned_samples && rng.below(2) == 0) wishes.epoch_samples = 6e4;
  return wishes;
}

TEST(AnyDraft, IsAValidStudyOfTheUnchangedProgram) {
  int drafted = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed, "survey");
    const Facts& facts = k_machines[seed % std::size(k_machines)];
    const Survey survey = random_survey(rng);
    const DraftOptions wishes = random_wishes(rng, facts);
    const auto draft = draft_study(survey, wishes);
    if (!draft) {
      EXPECT_EQ(draft.error().kind, ErrorKind::usage) << seed;
      EXPECT_FALSE(draft.error().hint.empty()) << draft.error().text();
      continue;
    }
    ++drafted;
    const auto study = study_from_json(draft->document, "/studies/train.study.json", facts);
    EXPECT_TRUE(study) << seed << ": " << study.error().text();
    if (!study) continue;
    EXPECT_TRUE(study->space.contains(study->baseline)) << seed << ": " << study->baseline.text();
    const RenderedCommand today = render_command(*study, study->baseline);
    EXPECT_EQ(today.argv, wishes.argv) << seed;
    EXPECT_TRUE(today.hook->knobs.empty()) << seed << ": the baseline changes something";
    EXPECT_EQ(draft->tuned.size(), study->space.parameters().size()) << seed;
  }
  EXPECT_GT(drafted, 75) << "the seeds test something";
}

TEST(AnyDraft, AccountsForEachKnobOfTheHook) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, "survey");
    const Survey survey = random_survey(rng);
    const auto draft = draft_study(survey, random_wishes(rng, k_machines[1]));
    if (!draft) continue;
    for (const auto& [name, state] : survey.log.knobs()) {
      const bool is_tuned = draft->document["parameters"].contains(name);
      const bool is_left = std::ranges::any_of(draft->left_out, [&](const std::string& line) {
        return (", " + line.substr(0, line.find(':')) + ",").find(", " + name + ",") !=
               std::string::npos;
      });
      EXPECT_NE(is_tuned, is_left) << seed << ' ' << name;
      EXPECT_FALSE(is_tuned && !state.may) << seed << ' ' << name;
    }
  }
}

TEST(AnyDraft, UnsafeKnobsNeedARequestAndAGuard) {
  int guarded = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "survey");
    const Survey survey = random_survey(rng);
    const DraftOptions wishes = random_wishes(rng, k_machines[seed % std::size(k_machines)]);
    const auto draft = draft_study(survey, wishes);
    if (!draft) continue;
    bool changes_the_loss = false;
    for (const auto& [name, parameter] : draft->document["parameters"].items()) {
      const Knob& knob = *find_python_knob(name);
      EXPECT_TRUE(knob.knob_class != KnobClass::numeric || wishes.numeric) << name;
      EXPECT_TRUE(knob.knob_class != KnobClass::semantic || wishes.semantic) << name;
      EXPECT_TRUE(knob.switchable || !wishes.is_running) << name;
      changes_the_loss = changes_the_loss || knob.knob_class != KnobClass::safe;
    }
    EXPECT_EQ(draft->document.contains("guards"), changes_the_loss) << seed;
    guarded += changes_the_loss ? 1 : 0;
  }
  EXPECT_GT(guarded, 0);
}

TEST(CommandTemplate, RendersToTheCommandForAnyWords) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, "words");
    const std::vector<std::string> letters{"{",  "}",  "{{", "}}", "a",  " ",
                                           "\\", "\"", "$",  "%",  "{x}"};
    std::vector<std::string> argv{"python3"};
    for (std::uint64_t words = 1 + rng.below(4); words > 0; --words) {
      std::string word;
      for (std::uint64_t i = rng.below(8); i > 0; --i)
        word += one_of(letters, rng);
      argv.push_back(std::move(word));
    }
    const Json document{{"name", "s"},
                        {"command", command_template(argv)},
                        {"parameters", {{"n", {{"type", "int"}, {"low", 1}, {"high", 2}}}}},
                        {"env", {{"N", "{n}"}}},
                        {"baseline", {{"n", 1}}}};
    const auto study = study_from_json(document, "/studies/s.json", k_machines[0]);
    ASSERT_TRUE(study) << study.error().text();
    EXPECT_EQ(render_command(*study, study->baseline).argv, argv) << seed;
  }
}

TEST(StudyName, IsAlwaysOneThatAStudyMayHave) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "names");
    const std::vector<std::string> pieces{"train",
                                          ".py",
                                          "/",
                                          "-m",
                                          " ",
                                          "ä",
                                          "_",
                                          "-",
                                          ".",
                                          "{",
                                          "1",
                                          "run",
                                          "=",
                                          "torch.distributed.run",
                                          std::string(60, 'x')};
    std::vector<std::string> argv;
    for (std::uint64_t words = rng.below(4); words > 0; --words) {
      std::string word;
      for (std::uint64_t i = rng.below(4); i > 0; --i)
        word += one_of(pieces, rng);
      argv.push_back(std::move(word));
    }
    const Json document{{"name", study_name_of(argv)},
                        {"command", {"train", "{n}"}},
                        {"parameters", {{"n", {{"type", "int"}, {"low", 1}, {"high", 2}}}}},
                        {"baseline", {{"n", 1}}}};
    const auto study = study_from_json(document, "/studies/s.json", k_machines[0]);
    EXPECT_TRUE(study) << document["name"] << ": " << study.error().text();
  }
}

}  // namespace
}  // namespace steptune
