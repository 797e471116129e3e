// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/unit_name.hpp"

#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using testing::sound;
using testing::study_document;

TEST(UnitName, HasASingularAndARate) {
  EXPECT_EQ(UnitName().plural, "samples");
  EXPECT_EQ(UnitName().singular(), "sample");
  EXPECT_EQ(UnitName{"boosting rounds"}.singular(), "boosting round");
  EXPECT_EQ(UnitName{"batches"}.singular(), "batch");
  EXPECT_EQ(UnitName{"passes"}.singular(), "pass");
  EXPECT_EQ(UnitName{"percent"}.singular(), "percent");
  EXPECT_EQ(UnitName{"epochs"}.per_second(), "epochs/s");
}

TEST(UnitName, IsReadFromTheStudyAndItsDocument) {
  Json document = study_document();
  EXPECT_EQ(unit_name(sound(document)).plural, "samples");
  document["unit"] = "epochs";
  const StudySpec study = sound(document);
  EXPECT_EQ(unit_name(study).plural, "epochs");
  EXPECT_EQ(unit_name(study.document).plural, "epochs");
  EXPECT_EQ(study.fingerprint, sound(study_document()).fingerprint)
      << "the name of the unit changes no measurement";
}

TEST(UnitName, IsRefusedUnlessItFitsIntoASentence) {
  for (const char* wrong :
       {"", "Epochs", "epochs/s", " epochs", "rounds of a booster that is huge"}) {
    Json document = study_document();
    document["unit"] = wrong;
    EXPECT_FALSE(testing::read(document)) << wrong;
  }
  Json document = study_document();
  document["unit"] = "Epochs";
  EXPECT_NE(testing::read(document).error().text().find("use small letters, such as \"epochs\""),
            std::string::npos);
}

}  // namespace
}  // namespace steptune
