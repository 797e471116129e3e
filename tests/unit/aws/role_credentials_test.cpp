// SPDX-License-Identifier: Apache-2.0
//
// Tests credentials for a role: the sources that assume it, and the reasons if there are none.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/credentials_fixture.hpp"

namespace steptune::aws {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* k_sts = "POST sts.eu-west-1.amazonaws.com/";
constexpr const char* k_portal = "GET portal.sso.us-east-1.amazonaws.com/federation/credentials";

class RoleCredentialsTest : public CredentialsTest {
 protected:
  /// Writes a profile with a role and the lines `settings`.
  void write_role(const std::string& settings) {
    write(".aws/config", "[default]\nrole_arn = arn:aws:iam::1:role/r\n" + settings);
  }
  void write_sso(const std::string& token) {
    write(".aws/config",
          "[default]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = a/b\n"
          "[sso-session corp]\nsso_region = us-east-1\n");
    write(".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json", token);
  }
};

TEST_F(RoleCredentialsTest, TheSourceMayBeTheEnvironment) {
  write_role("credential_source = Environment\n");
  EXPECT_THAT(id(), HasSubstr("credential_source Environment provides no credentials"));
  // If a profile is named, the environment's keys come first, too.
  transport_.routes[k_sts] = sts_answer("ROLE");
  variables_["AWS_ACCESS_KEY_ID"] = "ENV";
  variables_["AWS_SECRET_ACCESS_KEY"] = "x";
  const auto config = read_shared_config(environment());
  ASSERT_TRUE(config);
  const auto found = assumed_role_credentials(
      {environment(), *config, transport_, clock_, "eu-west-1", &process_output});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((**found).access_key_id, "ROLE");
  EXPECT_THAT(transport_.requests.at(0).headers,
              Contains(Pair("Authorization", HasSubstr("Credential=ENV/"))));
}

TEST_F(RoleCredentialsTest, TheSourceMayBeAContainerOrAnInstance) {
  transport_.routes[k_sts] = sts_answer("ROLE");
  write_role("credential_source = EcsContainer\n");
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/keys";
  transport_.routes["GET 169.254.170.2/v2/keys"] =
      R"({"AccessKeyId":"CONT","SecretAccessKey":"s","Token":"t"})";
  EXPECT_EQ(id(), "ROLE");
  EXPECT_THAT(transport_.requests.back().headers,
              Contains(Pair("Authorization", HasSubstr("Credential=CONT/"))));

  variables_.erase("AWS_EC2_METADATA_DISABLED");
  write_role("credential_source = Ec2InstanceMetadata\n");
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  transport_.routes["PUT 169.254.169.254/latest/api/token"] = "session";
  transport_.routes["GET 169.254.169.254" + roles] = "role";
  transport_.routes["GET 169.254.169.254" + roles + "role"] =
      R"({"AccessKeyId":"INST","SecretAccessKey":"s","Token":"t"})";
  EXPECT_EQ(id(), "ROLE");
  EXPECT_THAT(transport_.requests.back().headers,
              Contains(Pair("Authorization", HasSubstr("Credential=INST/"))));
}

TEST_F(RoleCredentialsTest, ARoleIsAssumedWithTheCredentialsOfAnother) {
  write(".aws/config",
        "[default]\nrole_arn = outer\nsource_profile = middle\nrole_session_name = nightly\n"
        "duration_seconds = 900\n"
        "[profile middle]\nrole_arn = inner\nsource_profile = base\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  transport_.routes[k_sts] = sts_answer("ROLE");
  EXPECT_EQ(id(), "ROLE");
  ASSERT_EQ(transport_.requests.size(), 2U);
  EXPECT_THAT(transport_.requests[0].body,
              AllOf(HasSubstr("RoleArn=inner"), HasSubstr("RoleSessionName=steptune"),
                    HasSubstr("DurationSeconds=3600"), HasSubstr("Version=2011-06-15")));
  EXPECT_THAT(transport_.requests[1].body,
              AllOf(HasSubstr("RoleArn=outer"), HasSubstr("RoleSessionName=nightly"),
                    HasSubstr("DurationSeconds=900"), Not(HasSubstr("ExternalId"))));
  EXPECT_THAT(transport_.requests[1].headers,
              AllOf(Contains(Pair("Authorization", HasSubstr("Credential=ROLE/"))),
                    Contains(Pair("X-Amz-Security-Token", "t")),
                    Contains(Pair("Content-Type", HasSubstr("x-www-form-urlencoded")))));
  EXPECT_EQ(transport_.requests[0].url(), "https://sts.eu-west-1.amazonaws.com/");
}

TEST_F(RoleCredentialsTest, AProfileMayBeItsOwnSourceOrHaveAProcess) {
  transport_.routes[k_sts] = sts_answer("ROLE");
  write_role("source_profile = default\naws_access_key_id = OWN\naws_secret_access_key = x\n");
  EXPECT_EQ(id(), "ROLE");
  EXPECT_THAT(transport_.requests.back().headers,
              Contains(Pair("Authorization", HasSubstr("Credential=OWN/"))));

  write("keys.json", R"({"Version":1,"AccessKeyId":"PROC","SecretAccessKey":"s"})");
  write_role("source_profile = tool\n[profile tool]\ncredential_process = cat " +
             (home_.path() / "keys.json").string() + "\n");
  EXPECT_EQ(id(), "ROLE");
  EXPECT_THAT(transport_.requests.back().headers,
              Contains(Pair("Authorization", HasSubstr("Credential=PROC/"))));
}

TEST_F(RoleCredentialsTest, MissingSettingsAreReportedWithTheirProfile) {
  write_role("");
  EXPECT_THAT(id(), AllOf(HasSubstr("role_arn without source_profile or credential_source"),
                          HasSubstr("profile default")));
  write_role("source_profile = nobody\n");
  EXPECT_THAT(id(), HasSubstr("source_profile nobody has no credentials"));
  write_role("source_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me\n");
  EXPECT_THAT(id(), AllOf(HasSubstr("MFA code"), HasSubstr("aws sts assume-role")));
  write_role("source_profile = tool\n[profile tool]\ncredential_process = false\n");
  EXPECT_THAT(id(), HasSubstr("credential_process of profile tool"));
}

TEST_F(RoleCredentialsTest, ARefusalNamesTheRequest) {
  write_role("source_profile = base\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  EXPECT_THAT(id(), HasSubstr("no route")) << "STS does not answer";
  transport_.routes[k_sts] = sts_answer("ROLE");
  transport_.statuses[k_sts] = 403;
  EXPECT_THAT(id(), AllOf(HasSubstr("AssumeRole was refused with HTTP status 403"),
                          HasSubstr("trust policy"), HasSubstr("profile default")));
}

TEST_F(RoleCredentialsTest, AnAnswerThatIsCutShortIsNoCredentials) {
  write_role("source_profile = base\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  const std::string whole = sts_answer("ROLE");
  for (const char* last : {"</AccessKeyId>", "</SecretAccessKey>", "</Credentials>"}) {
    transport_.routes[k_sts] = whole.substr(0, whole.find(last));
    EXPECT_THAT(id(), AllOf(HasSubstr("no complete AWS keys"), HasSubstr("profile default")))
        << last;
  }
  transport_.routes[k_sts] = "<html>busy</html>";
  EXPECT_THAT(id(), HasSubstr("no complete AWS keys"));
  transport_.routes[k_sts] =
      "<Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
      "<Expiration>soon</Expiration></Credentials>";
  EXPECT_THAT(id(), HasSubstr("the expiration is not an ISO 8601 time"));
}

TEST_F(RoleCredentialsTest, AWebIdentityMayStandInTheProfile) {
  write("token", "a.b+c");
  write_role("web_identity_token_file = " + (home_.path() / "token").string() + "\n");
  transport_.routes[k_sts] = sts_answer("WEB");
  EXPECT_EQ(id(), "WEB");
  EXPECT_THAT(transport_.requests.at(0).body,
              AllOf(HasSubstr("Action=AssumeRoleWithWebIdentity"),
                    HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"),
                    HasSubstr("WebIdentityToken=a.b%2Bc"), HasSubstr("RoleSessionName=steptune")));
  variables_["AWS_ROLE_SESSION_NAME"] = "pod";
  EXPECT_EQ(id(), "WEB");
  EXPECT_THAT(transport_.requests.back().body, HasSubstr("RoleSessionName=pod"));
  std::filesystem::remove(home_.path() / "token");
  EXPECT_THAT(id(), AllOf(HasSubstr("the web identity token cannot be read"),
                          HasSubstr((home_.path() / "token").string())));
}

TEST_F(RoleCredentialsTest, AWebIdentityNeedsBothTheTokenAndTheRole) {
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = (home_.path() / "missing").string();
  EXPECT_THAT(id(), HasSubstr("no AWS credentials")) << "no role";
}

TEST_F(RoleCredentialsTest, AnErrorNamesTheSettingThatAnSsoProfileLacks) {
  const std::string session = "[sso-session corp]\nsso_region = us-east-1\n";
  for (const std::string& profile :
       {std::string("sso_account_id = 1\n") + session, "sso_role_name = dev\n" + session,
        std::string("sso_account_id = 1\nsso_role_name = dev\n")}) {
    write(".aws/config", "[default]\nsso_session = corp\n" + profile);
    EXPECT_THAT(id(), AllOf(HasSubstr("sso_account_id, sso_role_name or sso_region is missing"),
                            HasSubstr("aws configure sso")))
        << profile;
  }
}

TEST_F(RoleCredentialsTest, AnUnreadableSsoTokenCountsAsExpired) {
  for (const char* token :
       {"", "[]", "{}", R"({"accessToken":5,"expiresAt":"2026-11-21T09:00:00Z"})",
        R"({"accessToken":"b"})", R"({"accessToken":"b","expiresAt":"later"})",
        R"({"accessToken":"b","expiresAt":"2026-11-21T09:00:00"})",
        R"({"accessToken":"b","expiresAt":1795251600})",
        R"({"accessToken":"b","expiresAt":"2026-11-21T08:00:00Z"})"}) {
    write_sso(token);
    EXPECT_THAT(id(), HasSubstr("aws sso login --profile default")) << token;
  }
  EXPECT_TRUE(transport_.requests.empty()) << "none was sent";
}

TEST_F(RoleCredentialsTest, SsoGivesTheRolesKeysOrAnError) {
  write_sso(R"({"accessToken":"bearer","expiresAt":"2026-11-21T09:00:00UTC"})");
  EXPECT_THAT(id(), HasSubstr("no route")) << "SSO does not answer";
  transport_.routes[k_portal] =
      R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t",
          "expiration":1795251600500}})";
  const auto credentials = get();
  ASSERT_TRUE(credentials) << credentials.error().text();
  EXPECT_EQ(credentials->expiration_wall_s, k_credentials_now_s + 3600.5);
  EXPECT_EQ(credentials->session_token.reveal(), "t");
  EXPECT_EQ(transport_.requests.back().url(),
            "https://portal.sso.us-east-1.amazonaws.com/federation/credentials"
            "?role_name=a%2Fb&account_id=1");
  EXPECT_THAT(transport_.requests.back().headers,
              AllOf(Contains(Pair("x-amz-sso_bearer_token", "bearer")),
                    Not(Contains(Key("Authorization")))));

  transport_.statuses[k_portal] = 401;
  EXPECT_THAT(id(), AllOf(HasSubstr("HTTP status 401"), HasSubstr("aws sso login")));
  transport_.statuses.clear();
  for (const char* body : {"", "[]", "{}", R"({"roleCredentials":[]})"}) {
    transport_.routes[k_portal] = body;
    EXPECT_THAT(id(), HasSubstr("SSO returned no credentials")) << body;
  }
  for (const char* keys : {R"({"accessKeyId":"A"})", R"({"secretAccessKey":"s"})"}) {
    transport_.routes[k_portal] = std::string(R"({"roleCredentials":)") + keys + "}";
    EXPECT_THAT(id(), HasSubstr("SSO returned no complete keys")) << keys;
  }
  transport_.routes[k_portal] =
      R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","expiration":"soon"}})";
  EXPECT_EQ(get()->expiration_wall_s, std::nullopt);
}

}  // namespace
}  // namespace steptune::aws
