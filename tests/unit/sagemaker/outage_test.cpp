// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/outage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/notice_texts.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

aws::AwsError error(const char* code, int http_status = 400) {
  aws::AwsError error;
  error.code = code;
  error.message = "from a test";
  error.http_status = http_status;
  return error;
}

class OutageTest : public testing::Test {
 protected:
  VirtualClock clock_;
  Notices notices_;
  Outage outage_{clock_, notices_, 900.0};
};

TEST_F(OutageTest, IsWaitedOutAndNoticedOnce) {
  for (int minute = 0; minute <= 15; ++minute) {
    EXPECT_TRUE(outage_.on_failure(error("ThrottlingException"))) << minute;
    clock_.advance_to(clock_.now_s() + 60.0);
  }
  EXPECT_THAT(texts_of(notices_.take()), ElementsAre(HasSubstr("retrying for up to 15 min")));
  EXPECT_FALSE(outage_.on_failure(error("ThrottlingException"))) << "16 min";
}

TEST_F(OutageTest, EndsWithTheFirstSuccess) {
  EXPECT_TRUE(outage_.on_failure(error("InternalServerException", 500)));
  outage_.on_success();
  clock_.advance_to(3600.0);
  EXPECT_TRUE(outage_.on_failure(error("InternalServerException", 500))) << "a new one";
  EXPECT_EQ(notices_.take().size(), 2U);
}

TEST_F(OutageTest, CredentialsThatHaveExpiredCanBeRenewed) {
  EXPECT_TRUE(outage_.on_failure(error("ExpiredTokenException")));
  EXPECT_TRUE(outage_.on_failure(error("NoCredentials")));
}

TEST_F(OutageTest, PermanentErrorsAreErrorsAtOnce) {
  EXPECT_FALSE(outage_.on_failure(error("AccessDeniedException")));
  EXPECT_FALSE(outage_.on_failure(error("ValidationException")));
  EXPECT_THAT(texts_of(notices_.take()), IsEmpty());
}

}  // namespace
}  // namespace steptune
