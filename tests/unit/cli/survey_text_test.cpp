// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/survey_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::HasSubstr;

std::string text_of_survey(std::initializer_list<const char*> events) {
  Survey survey;
  for (const char* event : events)
    survey.log.add(event);
  return draft_text(survey, Draft()) + "\n";
}

TEST(SurveyText, NamesFrameworkAndDeviceAndStep) {
  EXPECT_THAT(text_of_survey({R"({"event":"patched","torch":"2.6.0","device":"cuda"})"}),
              HasSubstr("found   PyTorch 2.6.0 on cuda\n"));
  EXPECT_THAT(text_of_survey(
                  {R"({"event":"patched","family":"jax","frameworks":"JAX 0.12.0","device":"cpu"})",
                   R"({"event":"program","counts":"call of train_step","samples_by":"rows"})"}),
              HasSubstr("found   JAX 0.12.0 on cpu; steps by call of train_step\n"));
}

}  // namespace
}  // namespace steptune
