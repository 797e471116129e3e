// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/study_import.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/unit/exports/export_fixture.hpp"
#include "tests/unit/search/random_spaces.hpp"

namespace steptune::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

StudySpec small_study(const std::vector<std::string>& metrics = {"time"}) {
  StudySpec spec =
      spec_of(space_of({integer("batch", 1, 64), boolean("amp"),
                        categorical("precision", {text("fp32"), text("bf16")}),
                        floating("rate", 0.0, 1.0), when(integer("prefetch", 1, 8), "batch > 8")},
                       {"batch < 64 or amp"}),
              metrics);
  spec.baseline = Configuration();
  spec.baseline.set("batch", whole(4));
  spec.baseline.set("amp", false);
  spec.baseline.set("precision", text("fp32"));
  spec.baseline.set("rate", 0.5);
  return spec;
}

ForeignTrial whole_row(const std::map<std::string, Json>& changed = {}) {
  ForeignTrial row = row_of({{"batch", "4"},
                             {"amp", "false"},
                             {"precision", "bf16"},
                             {"rate", "0.25"},
                             {"prefetch", "2"},
                             {"time", "1.5"}});
  for (const auto& [column, cell] : changed)
    row.cells[column] = cell;
  return row;
}

ImportedTrials imported_of(std::vector<ForeignTrial> rows, const ImportColumns& columns = {},
                           const std::vector<std::string>& metrics = {"time"}) {
  return must(
      translate_foreign_trials({"CSV", std::move(rows), {}}, small_study(metrics), columns));
}

std::string refusal_of(const ForeignTrials& foreign, const ImportColumns& columns = {},
                       const std::vector<std::string>& metrics = {"time"}) {
  const auto result = translate_foreign_trials(foreign, small_study(metrics), columns);
  EXPECT_FALSE(result);
  if (result) return "";
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  return result.error().text();
}

Value value_of(const Json& cell, const std::string& parameter) {
  const auto trials = imported_of({whole_row({{parameter, cell}}), whole_row()}).trials;
  const Value* value = trials[0].configuration.find(parameter);
  return value == nullptr ? Value(std::string("inactive")) : *value;
}

/// Returns why a row with these cells is skipped; empty if it is imported.
std::string why_left(const std::map<std::string, Json>& changed) {
  const auto imported = imported_of({whole_row(changed), whole_row()});
  return imported.left_out.empty() ? "" : imported.left_out.begin()->first;
}

TEST(StudyImport, EveryConfigurationOfASpaceIsReadBackFromItsText) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StudySpec spec = spec_of(random_space(seed));
    Rng rng(seed, "trials");
    ForeignTrials foreign{"CSV", {}, {}};
    std::vector<Configuration> configurations;
    for (int i = 0; i < 8; ++i) {
      const auto drawn = spec.space.sample(rng);
      ASSERT_TRUE(drawn);
      configurations.push_back(*drawn);
      ForeignTrial row = row_of({{"time", std::to_string(1 + i)}});
      const char* const prefixes[] = {"", "params_", "config/", "config_"};
      for (const auto& [name, value] : drawn->values())
        row.cells[prefixes[i % 4] + name] = i % 2 == 0 ? Json(to_text(value)) : to_json(value);
      foreign.trials.push_back(std::move(row));
    }
    const ImportedTrials imported = must(translate_foreign_trials(foreign, spec, {}));
    ASSERT_EQ(imported.trials.size(), configurations.size())
        << "seed " << seed << ": "
        << (imported.left_out.empty() ? "" : imported.left_out.begin()->first);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      EXPECT_EQ(imported.trials[i].configuration.text(), configurations[i].text());
      EXPECT_EQ(imported.trials[i].objectives, std::vector<double>{1.0 + static_cast<double>(i)});
    }
  }
}

TEST(StudyImport, TakesTheSpellingsOfOtherPrograms) {
  EXPECT_EQ(value_of("4.0", "batch"), whole(4))
      << "pandas writes integers as 4.0 in a column with gaps";
  EXPECT_EQ(value_of(4.0, "batch"), whole(4));
  EXPECT_EQ(value_of("4e0", "batch"), whole(4));
  EXPECT_EQ(value_of("True", "amp"), Value(true));
  EXPECT_EQ(value_of("False", "amp"), Value(false));
  EXPECT_EQ(value_of(true, "amp"), Value(true));
  EXPECT_EQ(value_of("1", "amp"), Value(true));
  EXPECT_EQ(value_of(0, "amp"), Value(false));
  EXPECT_EQ(value_of("1", "rate"), Value(1.0));
}

TEST(StudyImport, ChoicesAreFoundByTheirTextOrTheirNumber) {
  const StudySpec spec =
      spec_of(space_of({categorical("depth", {whole(8), Value{0.5}, text("auto"), text("16")}),
                        categorical("amp", {Value{true}, Value{false}, text("auto")})}));
  const auto read = [&](const Json& depth, const Json& amp) -> std::string {
    const ForeignTrials foreign{"CSV",
                                {row_of({{"depth", depth}, {"amp", amp}, {"time", 1.0}}),
                                 row_of({{"depth", "auto"}, {"amp", "auto"}, {"time", 1.0}})},
                                {}};
    const auto trials = must(translate_foreign_trials(foreign, spec, {})).trials;
    return trials.size() == 2 ? trials[0].configuration.text() : "left";
  };
  EXPECT_EQ(read("8", "true"), "amp=true depth=8");
  EXPECT_EQ(read("8.0", false), "amp=false depth=8") << "8.0 equals 8";
  EXPECT_EQ(read(0.5, "auto"), "amp=auto depth=0.5");
  EXPECT_EQ(read("16", "true"), "amp=true depth=16");
  EXPECT_EQ(read("16.0", "true"), "left") << "\"16.0\" is another text than \"16\"";
  EXPECT_EQ(read("9", "true"), "left");
  EXPECT_EQ(read("8", "True"), "amp=true depth=8") << "as Python writes it";
  EXPECT_EQ(read("8", "False"), "amp=false depth=8");
}

TEST(StudyImport, RowsOutsideTheSpaceAreLeftOut) {
  EXPECT_EQ(why_left({}), "");
  for (const Json& cell : {Json("0"), Json("65"), Json("4.5"), Json("many"), Json(1e300),
                           Json("nan"), Json::object()}) {
    EXPECT_EQ(why_left({{"batch", cell}}), "\"batch\" is not in the study's space") << cell;
  }
  EXPECT_EQ(why_left({{"amp", "yes"}}), "\"amp\" is not in the study's space");
  EXPECT_EQ(why_left({{"amp", 2}}), "\"amp\" is not in the study's space");
  EXPECT_EQ(why_left({{"precision", "fp8"}}), "\"precision\" is not in the study's space");
  EXPECT_EQ(why_left({{"rate", "1.01"}}), "\"rate\" is not in the study's space");
  EXPECT_EQ(why_left({{"rate", "inf"}}), "\"rate\" is not in the study's space");
  EXPECT_EQ(why_left({{"batch", "64"}}), "not in the study's space, or against its constraints");
  EXPECT_EQ(why_left({{"batch", "64"}, {"amp", "True"}}), "");
}

TEST(StudyImport, InactiveValuesAreDroppedAndActiveOnesRequired) {
  const auto trials =
      imported_of({whole_row({{"batch", "8"}}), whole_row({{"batch", "9"}})}).trials;
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_FALSE(trials[0].configuration.contains("prefetch")) << "inactive, whatever the table says";
  EXPECT_EQ(*trials[1].configuration.find("prefetch"), whole(2));
  ForeignTrial without = whole_row({{"batch", "9"}});
  without.cells.erase("prefetch");
  EXPECT_THAT(imported_of({without, whole_row()}).left_out,
              ElementsAre(Pair("no value of \"prefetch\"", 1U)));
  without.cells["batch"] = "8";
  EXPECT_THAT(imported_of({without, whole_row()}).left_out, IsEmpty());
}

TEST(StudyImport, AMissingParameterHasTheBaselinesValue) {
  ForeignTrial row = whole_row();
  row.cells.erase("rate");
  row.cells["precision"] = nullptr;  // null counts as missing
  const auto imported = imported_of({row});
  ASSERT_EQ(imported.trials.size(), 1U);
  EXPECT_EQ(*imported.trials[0].configuration.find("rate"), Value(0.5));
  EXPECT_EQ(*imported.trials[0].configuration.find("precision"), text("fp32"));
  ASSERT_EQ(imported.notes.size(), 2U);
  EXPECT_THAT(imported.notes[0], HasSubstr("no column has \"precision\""));
  EXPECT_THAT(imported.notes[1], HasSubstr("no column has \"rate\""));
}

TEST(StudyImport, TrialsAreRenumberedAndTheirErrorsAreUnknown) {
  ForeignTrial broken = whole_row();
  broken.failed = true;
  ForeignTrial running = whole_row();
  running.why_left_out = "it was still running";
  const auto imported = imported_of({running, broken, whole_row()});
  ASSERT_EQ(imported.trials.size(), 2U);
  EXPECT_EQ(imported.trials[0].number, 1);
  EXPECT_EQ(imported.trials[0].status, TrialStatus::failed);
  EXPECT_EQ(imported.trials[0].failure, "failed in CSV");
  EXPECT_THAT(imported.trials[0].objectives, IsEmpty()) << "values of a failed trial do not count";
  EXPECT_THAT(imported.trials[0].standard_errors, IsEmpty());
  EXPECT_EQ(imported.trials[1].number, 2);
  EXPECT_EQ(imported.trials[1].status, TrialStatus::completed);
  EXPECT_EQ(imported.trials[1].origin, "import");
  EXPECT_THAT(imported.trials[1].standard_errors, ElementsAre(INFINITY));
  EXPECT_THAT(imported.left_out, ElementsAre(Pair("it was still running", 1U)));
}

TEST(StudyImport, ATrialNeedsEveryObjectiveUnlessItFailed) {
  ForeignTrial half = whole_row();
  ForeignTrial both = whole_row({{"loss", 0.25}});
  ForeignTrial failed = whole_row();
  failed.failed = true;
  const auto imported = imported_of({half, both, failed}, {}, {"time", "loss"});
  EXPECT_THAT(imported.left_out, ElementsAre(Pair("without a value of every objective", 1U)));
  ASSERT_EQ(imported.trials.size(), 2U);
  EXPECT_THAT(imported.trials[0].objectives, ElementsAre(1.5, 0.25));
  EXPECT_EQ(imported.trials[1].status, TrialStatus::failed);
  for (const Json& cell : {Json(0), Json("-1"), Json("fast"), Json("nan"), Json("inf"), Json(true),
                           Json::array({1}), Json(std::numeric_limits<double>::infinity())})
    EXPECT_EQ(why_left({{"time", cell}}), "without a value of every objective") << cell;
}

TEST(StudyImport, ColumnsMayHaveOtherNames) {
  ForeignTrial row = whole_row({{"bs", "16"}, {"params_seconds", "9"}, {"seconds", "2.5"}});
  const auto imported = imported_of({row}, {{"batch", "bs"}, {"time", "seconds"}});
  ASSERT_EQ(imported.trials.size(), 1U);
  EXPECT_EQ(*imported.trials[0].configuration.find("batch"), whole(16));
  EXPECT_THAT(imported.trials[0].objectives, ElementsAre(2.5))
      << "prefixes such as params_ belong to parameters, not to objectives";
  const ForeignTrials foreign{"CSV", {row}, {}};
  EXPECT_THAT(refusal_of(foreign, {{"batch", "gone"}}),
              HasSubstr("no column \"gone\" for \"batch\""));
  EXPECT_THAT(refusal_of(foreign, {{"time", "gone"}}),
              HasSubstr("no column \"gone\" for \"time\""));
  const std::string missing = refusal_of(foreign, {}, {"time", "loss"});
  EXPECT_THAT(missing, HasSubstr("no column has \"loss\""));
  EXPECT_THAT(missing, HasSubstr("--column loss=COLUMN"));
}

TEST(StudyImport, NoTrialLeftIsAnErrorThatCountsTheReasons) {
  ForeignTrial running = whole_row();
  running.why_left_out = "it was still running";
  const std::string refusal = refusal_of(
      {"CSV", {running, running, whole_row({{"batch", "99"}}), whole_row({{"time", "x"}})}, {}});
  EXPECT_THAT(refusal, HasSubstr("no trial can be imported"));
  EXPECT_THAT(refusal, HasSubstr("\n  2: it was still running"));
  EXPECT_THAT(refusal, HasSubstr("\n  1: \"batch\" is not in the study's space"));
  EXPECT_THAT(refusal, HasSubstr("\n  1: without a value of every objective"));
}

TEST(StudyImport, OptunasObjectivesAreTakenInTheirOrder) {
  ForeignTrial row = whole_row({{"value", 2.0}, {"value_1", 0.5}});
  row.cells.erase("time");
  const auto two =
      must(translate_foreign_trials({"Optuna", {row}, {Direction::minimize, Direction::minimize}},
                                    small_study({"time", "loss"}), {}));
  EXPECT_THAT(two.trials.at(0).objectives, ElementsAre(2.0, 0.5));
  row.cells = whole_row({{"values_0", "3"}, {"values_1", "0.25"}}).cells;
  const auto table = must(
      translate_foreign_trials({"Optuna's table", {row}, {}}, small_study({"time", "loss"}), {}));
  EXPECT_THAT(table.trials.at(0).objectives, ElementsAre(3.0, 0.25));
  row.cells = whole_row({{"value", "4"}}).cells;
  const auto one = must(translate_foreign_trials({"Optuna's table", {row}, {}}, small_study(), {}));
  EXPECT_THAT(one.trials.at(0).objectives, ElementsAre(4.0));
}

TEST(StudyImport, AnObjectiveOfTheOtherDirectionIsRefused) {
  ForeignTrial row = whole_row({{"value", 2.0}, {"value_1", 0.5}});
  const std::string refusal = refusal_of(
      {"Optuna", {row}, {Direction::minimize, Direction::maximize}}, {}, {"time", "loss"});
  EXPECT_THAT(refusal,
              HasSubstr("Optuna's objective 2 is maximized, but the study's \"loss\" is not"));
  EXPECT_TRUE(translate_foreign_trials(
      {"Optuna", {row}, {Direction::minimize, Direction::maximize}}, small_study(), {}))
      << "objectives that the study does not have may go in any direction";
  StudySpec accuracy = small_study({"accuracy"});
  accuracy.objectives[0].direction = Direction::maximize;
  const auto minimized =
      translate_foreign_trials({"Optuna", {row}, {Direction::minimize}}, accuracy, {});
  ASSERT_FALSE(minimized);
  EXPECT_THAT(minimized.error().text(),
              HasSubstr("is minimized, but the study's \"accuracy\" is not"));
  EXPECT_TRUE(translate_foreign_trials({"Optuna", {row}, {Direction::maximize}}, accuracy, {}));
}

TEST(StudyImport, WarnsOfIncomparableTimes) {
  const auto notes = [](const std::string& column, const std::string& other_batch) {
    ForeignTrial first = whole_row({{column, 1.0}});
    ForeignTrial second = whole_row({{column, 2.0}, {"batch", other_batch}});
    return imported_of({first, second}, {{"time", column}}).notes;
  };
  EXPECT_THAT(notes("step_time", "8"),
              ElementsAre(HasSubstr("\"batch\" varies: is \"step_time\" seconds per sample?")));
  EXPECT_THAT(notes("s_per_iter", "8"), ElementsAre(HasSubstr("\"batch\" varies")));
  EXPECT_THAT(notes("step_time", "4"), IsEmpty()) << "all rows have the same batch size";
  EXPECT_THAT(notes("seconds", "8"), IsEmpty());
  for (const char* column : {"time_total_s", "elapsed", "st_tuner_time", "timestamp"}) {
    EXPECT_THAT(notes(column, "4"),
                ElementsAre(HasSubstr("looks like the time since a trial began")));
  }
  ForeignTrial row = whole_row({{"loss", 1.0}, {"elapsed", 1.0}});
  EXPECT_THAT(imported_of({row}, {{"loss", "elapsed"}}, {"loss"}).notes, IsEmpty())
      << "only of an objective that is a time";
}

}  // namespace
}  // namespace steptune::testing
