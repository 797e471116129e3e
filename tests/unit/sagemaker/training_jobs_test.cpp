// SPDX-License-Identifier: Apache-2.0
//
// Tests typed answers of the service: refusals that mean success, pages, and descriptions with
// missing or undocumented members.
#include "trial_runner/sagemaker/training_jobs.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/client_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

class TrainingJobsTest : public aws::JsonClientTest {
 protected:
  TrainingJobsTest() { answer(Json::object()); }

  void answer(const Json& body) { transport_.script = {aws::answer(200, body.dump())}; }
  void refuse(const std::string& code, const std::string& message = "no") {
    transport_.script = {aws::answer(400, Json{{"__type", code}, {"message", message}}.dump())};
  }
  [[nodiscard]] Json input_of(std::size_t request) const {
    return Json::parse(transport_.requests.at(request).body);
  }
  [[nodiscard]] Json last_input() const { return input_of(transport_.requests.size() - 1); }

  aws::JsonClient client_ = client();
  TrainingJobs jobs_{client_, k_service};
};

TEST_F(TrainingJobsTest, AnExistingJobMeansThatAnAnswerWasLost) {
  EXPECT_EQ(jobs_.create({{"TrainingJobName", "a"}}), true);
  refuse("ResourceInUse");
  EXPECT_EQ(jobs_.create({{"TrainingJobName", "a"}}), false);
  refuse("ResourceLimitExceeded", "The account-level service limit");
  const auto refused = jobs_.create({{"TrainingJobName", "a"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "ResourceLimitExceeded");
}

TEST_F(TrainingJobsTest, AJobThatIsNotThereIsNoError) {
  for (const auto& [code, message] :
       {std::pair{"ValidationException", "Requested resource not found."},
        {"ValidationException", "Could not find job a"},
        {"ResourceNotFound", "no"}}) {
    refuse(code, message);
    const auto described = jobs_.describe("a");
    ASSERT_TRUE(described) << message;
    EXPECT_FALSE(*described) << message;
    EXPECT_TRUE(jobs_.stop("a")) << message;
    EXPECT_EQ(jobs_.set_keep_alive("a", 60), false) << message;
  }
  refuse("ValidationException", "1 validation error detected");
  ASSERT_FALSE(jobs_.describe("a"));
  EXPECT_EQ(jobs_.describe("a").error().operation, "DescribeTrainingJob");
  EXPECT_FALSE(jobs_.stop("a"));
}

TEST_F(TrainingJobsTest, EndedJobsNeedNoStop) {
  refuse("ValidationException",
         "The request was rejected because the training job is in status Completed.");
  EXPECT_TRUE(jobs_.stop("a"));
}

TEST_F(TrainingJobsTest, OnlyAVanishedPoolIsNoError) {
  EXPECT_EQ(jobs_.set_keep_alive("a", 60), true);
  EXPECT_EQ(last_input()["ResourceConfig"]["KeepAlivePeriodInSeconds"], 60);
  refuse("ValidationException", "no warm pool");
  EXPECT_EQ(jobs_.set_keep_alive("a", 60), false);
  refuse("AccessDeniedException");
  const auto denied = jobs_.set_keep_alive("a", 60);
  ASSERT_FALSE(denied);
  EXPECT_THAT(denied.error().to_error().hint, HasSubstr("allow UpdateTrainingJob"));
}

TEST_F(TrainingJobsTest, AListContainsAllPages) {
  const auto page = [](const char* name, const char* next) {
    Json body{{"TrainingJobSummaries",
               Json::array({{{"TrainingJobName", name}, {"TrainingJobStatus", "InProgress"}}})}};
    if (*next != '\0') body["NextToken"] = next;
    return aws::answer(200, body.dump());
  };
  transport_.script = {page("a", "1"), aws::answer(200, R"({"NextToken":"2"})"), page("b", "")};
  const auto listed = jobs_.list({});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[0].name, "a");
  EXPECT_EQ((*listed)[1].name, "b") << "an empty page is not the end";
  EXPECT_FALSE(input_of(0).contains("NextToken"));
  EXPECT_EQ(input_of(1)["NextToken"], "1");
  EXPECT_EQ(input_of(2)["NextToken"], "2");
}

TEST_F(TrainingJobsTest, AListRequestsOnlyMatchingJobs) {
  ASSERT_TRUE(jobs_.list({}));
  EXPECT_FALSE(last_input().contains("NameContains"));
  EXPECT_FALSE(last_input().contains("CreationTimeAfter"));
  TrainingJobs::Query query;
  query.name_contains = "study-";
  query.pool_status = "Available";
  query.created_after_s = 5.0;
  ASSERT_TRUE(jobs_.list(query));
  EXPECT_EQ(last_input()["NameContains"], "study-");
  EXPECT_EQ(last_input()["WarmPoolStatusEquals"], "Available");
  EXPECT_EQ(last_input()["CreationTimeAfter"], 5.0);
}

TEST_F(TrainingJobsTest, MalformedSummariesAreIgnored) {
  answer(
      {{"TrainingJobSummaries", Json::array({"text",
                                             nullptr,
                                             7,
                                             Json::array(),
                                             {{"TrainingJobName", "a"},
                                              {"LastModifiedTime", "noon"},
                                              {"WarmPoolStatus", "Available"}},
                                             {{"TrainingJobName", "b"},
                                              {"LastModifiedTime", 12.5},
                                              {"WarmPoolStatus", {{"Status", "Available"}}}}})}});
  const auto listed = jobs_.list({});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[0].modified_wall_s, 0.0);
  EXPECT_FALSE((*listed)[0].pool);
  EXPECT_EQ((*listed)[1].modified_wall_s, 12.5);
  ASSERT_TRUE((*listed)[1].pool);
  EXPECT_EQ((*listed)[1].pool->status, "Available");
  answer({{"TrainingJobSummaries", "none"}});
  EXPECT_TRUE(jobs_.list({}));
}

TEST(JobDescriptions, StatusesThatNeverChangeAgainAreEnds) {
  JobDescription state;
  for (const char* status : {"Completed", "Failed", "Stopped"}) {
    state.status = status;
    EXPECT_TRUE(state.ended()) << status;
  }
  for (const char* status : {"InProgress", "Stopping", "Deleting", "", "ALaterOne"}) {
    state.status = status;
    EXPECT_FALSE(state.ended()) << status;
  }
  EXPECT_FALSE(state.ending());
  state.secondary = "Uploading";
  EXPECT_TRUE(state.ending());
  state.secondary = "Training";
  EXPECT_FALSE(state.ending());
  state.status = "Stopping";
  EXPECT_TRUE(state.ending());
}

TEST(JobDescriptions, HaveTrainingDownloadsAndInterruptions) {
  const auto stage = [](const char* status, double start_s, std::optional<double> end_s) {
    Json transition{{"Status", status}, {"StartTime", start_s}};
    if (end_s) transition["EndTime"] = *end_s;
    return transition;
  };
  const JobDescription state = job_description_from_json(
      {{"SecondaryStatusTransitions", Json::array({stage("Starting", 0.0, 10.0),
                                                   stage("Downloading", 10.0, 30.0),
                                                   stage("Training", 30.0, 50.0),
                                                   stage("Interrupted", 50.0, 60.0),
                                                   stage("Downloading", 60.0, 65.0),
                                                   stage("Training", 65.0, std::nullopt),
                                                   "text",
                                                   {{"Status", "Training"}},
                                                   {{"Status", "Downloading"}}})}});
  EXPECT_EQ(state.training_since_wall_s, 65.0);
  EXPECT_EQ(state.training_until_wall_s, std::nullopt);
  EXPECT_EQ(state.downloading_s, 25.0);
  EXPECT_EQ(state.interruptions, 1);
}

TEST(JobDescriptions, MembersOfAnotherTypeStayEmptyWhateverTheyAre) {
  constexpr const char* k_members[] = {"TrainingJobName",
                                       "TrainingJobStatus",
                                       "SecondaryStatus",
                                       "FailureReason",
                                       "CreationTime",
                                       "TrainingStartTime",
                                       "TrainingEndTime",
                                       "WarmPoolStatus",
                                       "BillableTimeInSeconds",
                                       "Environment",
                                       "ResourceConfig",
                                       "EnableManagedSpotTraining",
                                       "SecondaryStatusTransitions"};
  const std::vector<Json> strange = {nullptr, Json::array(), Json::array({1, "a", nullptr}),
                                     Json{{"Status", Json::array()}},
                                     Json::array({Json::object()})};
  for (const char* member : k_members) {
    for (const Json& value : strange) {
      const JobDescription state = job_description_from_json({{member, value}});
      EXPECT_EQ(state.name, "");
      EXPECT_EQ(state.status, "");
      EXPECT_FALSE(state.spot);
      EXPECT_FALSE(state.billable_s) << member;
      EXPECT_FALSE(state.training_since_wall_s) << member;
      EXPECT_FALSE(state.price) << member;
      EXPECT_TRUE(state.trials.empty()) << member;
      EXPECT_TRUE(state.resources.is_object()) << member;
    }
  }
}

}  // namespace
}  // namespace steptune
