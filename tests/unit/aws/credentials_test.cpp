// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/credentials.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/credentials_fixture.hpp"

namespace steptune::aws {
namespace {

using testing::HasSubstr;

TEST_F(CredentialsTest, MissingCredentialsSayWhatToDo) {
  EXPECT_THAT(id(), HasSubstr("no AWS credentials"));
  EXPECT_THAT(id(), HasSubstr("aws configure"));
}

TEST_F(CredentialsTest, TheEnvironmentComesFirst) {
  write(".aws/credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = x\n");
  EXPECT_EQ(id(), "FILE");
  variables_["AWS_ACCESS_KEY_ID"] = "ENV";
  EXPECT_THAT(id(), HasSubstr("AWS_SECRET_ACCESS_KEY is not"));
  variables_["AWS_SECRET_ACCESS_KEY"] = "x";
  EXPECT_EQ(id(), "ENV");
}

TEST_F(CredentialsTest, RenewedKeysAreReadAfterARefusal) {
  const auto write_keys = [this](const std::string& id) {
    write(".aws/credentials",
          "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = x\n");
  };
  write_keys("OLD");
  const auto config = read_shared_config(environment());
  ASSERT_TRUE(config);
  CredentialsChain chain(
      {environment(), *config, transport_, clock_, "eu-west-1", &process_output});
  EXPECT_EQ(chain.get()->access_key_id, "OLD");
  write_keys("NEW");
  EXPECT_EQ(chain.get()->access_key_id, "OLD") << "nothing has refused the old keys";
  EXPECT_EQ(chain.get(/*refresh=*/true)->access_key_id, "NEW");
  write(".aws/credentials", "[default\n");
  EXPECT_EQ(chain.get(/*refresh=*/true)->access_key_id, "NEW") << "the file is half written";
}

TEST_F(CredentialsTest, ProfilesAreReadFromBothFiles) {
  write(".aws/config",
        "[profile work]\nregion = eu-west-1\naws_access_key_id = CFG # comment\n"
        "aws_secret_access_key = y\n");
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(id(), "CFG");
  variables_["AWS_PROFILE"] = "wrok";
  EXPECT_THAT(id(), HasSubstr("the AWS profile \"wrok\" is in neither"));
}

TEST_F(CredentialsTest, AProcessMayProvideCredentials) {
  write("keys.json", std::string(R"({"Version":1,"AccessKeyId":"PROC","SecretAccessKey":"s",
        "Expiration":")") +
                         k_credentials_later + "\"}");
  write(".aws/config",
        "[default]\ncredential_process = cat '" + (home_.path() / "keys.json").string() + "'\n");
  const auto credentials = get();
  ASSERT_TRUE(credentials) << credentials.error().text();
  EXPECT_EQ(credentials->access_key_id, "PROC");
  EXPECT_EQ(credentials->expiration_wall_s, k_credentials_now_s + 3600);
}

TEST_F(CredentialsTest, AFailingProcessIsAnErrorThatQuotesNoOutput) {
  write("out", "sesame\n");
  write(".aws/config", "[default]\ncredential_process = sh -c 'cat " +
                           (home_.path() / "out").string() + "; exit 3'\n");
  EXPECT_THAT(id(), HasSubstr("exit status 3"));
  EXPECT_THAT(id(), testing::Not(HasSubstr("sesame")));
}

TEST_F(CredentialsTest, ARoleIsAssumedWithItsSourceProfile) {
  write(".aws/config",
        "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n"
        "external_id = e&1\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  transport_.routes["POST sts.eu-west-1.amazonaws.com/"] = sts_answer("ROLE");
  EXPECT_EQ(id(), "ROLE");
  const HttpRequest& request = transport_.requests.at(0);
  EXPECT_THAT(request.body, HasSubstr("Action=AssumeRole&"));
  EXPECT_THAT(request.body, HasSubstr("ExternalId=e%261"));
  EXPECT_THAT(request.headers,
              testing::Contains(testing::Pair("Authorization", HasSubstr("Credential=BASE/"))));
}

TEST_F(CredentialsTest, ACircleOfSourceProfilesIsAnError) {
  write(".aws/config",
        "[default]\nrole_arn = a\nsource_profile = b\n"
        "[profile b]\nrole_arn = b\nsource_profile = default\n");
  EXPECT_THAT(id(), HasSubstr("cycle"));
}

TEST_F(CredentialsTest, WebIdentityIsUnsigned) {
  write("token", "jwt");
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = (home_.path() / "token").string();
  variables_["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  transport_.routes["POST sts.eu-west-1.amazonaws.com/"] = sts_answer("WEB");
  EXPECT_EQ(id(), "WEB");
  EXPECT_THAT(transport_.requests.at(0).headers,
              testing::Not(testing::Contains(testing::Key("Authorization"))));
}

TEST_F(CredentialsTest, AnSsoSessionUsesTheCachedToken) {
  write(".aws/config",
        "[default]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = dev\n"
        "[sso-session corp]\nsso_region = us-east-1\n");
  EXPECT_THAT(id(), HasSubstr("aws sso login"));
  const std::string cache =
      ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";  // sha1 of "corp"
  // It is 08:00, so this token has expired.
  write(cache, R"({"accessToken":"bearer","expiresAt":"2026-11-21T07:00:00Z"})");
  EXPECT_THAT(id(), HasSubstr("aws sso login"));
  write(cache, R"({"accessToken":"bearer","expiresAt":"2026-11-21T09:00:00Z"})");
  transport_.routes["GET portal.sso.us-east-1.amazonaws.com/federation/credentials"] =
      R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t",
          "expiration":1795251600000}})";
  EXPECT_EQ(id(), "SSO");
  EXPECT_EQ(transport_.requests.back().query, "role_name=dev&account_id=1");
  transport_.routes["GET portal.sso.us-east-1.amazonaws.com/federation/credentials"] =
      R"({"roleCredentials":{"accessKeyId":5,"secretAccessKey":["s"],"sessionToken":null}})";
  EXPECT_THAT(id(), HasSubstr("SSO returned no complete keys"));
}

TEST_F(CredentialsTest, TemporaryKeysAreReplacedBeforeTheyExpire) {
  write(".aws/config", "[default]\nrole_arn = r\nsource_profile = base\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  transport_.routes["POST sts.eu-west-1.amazonaws.com/"] = sts_answer("ROLE");
  const auto config = read_shared_config(environment());
  ASSERT_TRUE(config);
  CredentialsChain chain(
      {environment(), *config, transport_, clock_, "eu-west-1", &process_output});
  ASSERT_TRUE(chain.get());
  ASSERT_TRUE(chain.get());
  EXPECT_EQ(transport_.requests.size(), 1U);
  // They expire after 3600 s.
  clock_.advance_to(3400);
  ASSERT_TRUE(chain.get());
  EXPECT_EQ(transport_.requests.size(), 2U);
  ASSERT_TRUE(chain.get(/*refresh=*/true));
  EXPECT_EQ(transport_.requests.size(), 3U);
}

TEST_F(CredentialsTest, ValidKeysOutlastAFailingProvider) {
  write(".aws/config", "[default]\nrole_arn = r\nsource_profile = base\n");
  write(".aws/credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = x\n");
  const std::string sts = "POST sts.eu-west-1.amazonaws.com/";
  transport_.routes[sts] = sts_answer("ROLE");
  const auto config = read_shared_config(environment());
  ASSERT_TRUE(config);
  CredentialsChain chain(
      {environment(), *config, transport_, clock_, "eu-west-1", &process_output});
  ASSERT_TRUE(chain.get());
  transport_.statuses[sts] = 503;
  clock_.advance_to(3299);
  EXPECT_TRUE(chain.get());
  EXPECT_EQ(transport_.requests.size(), 1U) << "five minutes and more are left";
  clock_.advance_to(3300);
  EXPECT_EQ(chain.get()->access_key_id, "ROLE");
  EXPECT_EQ(transport_.requests.size(), 2U) << "renewed in time, but without success";
  EXPECT_FALSE(chain.get(/*refresh=*/true)) << "the service has refused the stored credentials";
  clock_.advance_to(3600);
  EXPECT_FALSE(chain.get()) << "they have expired";
  transport_.statuses.clear();
  EXPECT_TRUE(chain.get());
}

TEST_F(CredentialsTest, TheEnvironmentsKeysMayHaveATokenAndAnEnd) {
  variables_["AWS_ACCESS_KEY_ID"] = "ENV";
  variables_["AWS_SECRET_ACCESS_KEY"] = "x";
  EXPECT_EQ(get()->expiration_wall_s, std::nullopt);
  variables_["AWS_SECURITY_TOKEN"] = "older";
  EXPECT_EQ(get()->session_token.reveal(), "older");
  variables_["AWS_SESSION_TOKEN"] = "newer";
  EXPECT_EQ(get()->session_token.reveal(), "newer");
  variables_["AWS_CREDENTIAL_EXPIRATION"] = "2026-11-21T09:00:00+00:00";
  EXPECT_EQ(get()->expiration_wall_s, k_credentials_now_s + 3600);
}

TEST_F(CredentialsTest, HalfAPairOfKeysIsIgnored) {
  write(".aws/credentials", "[default]\naws_access_key_id = FILE\n");
  EXPECT_THAT(id(), HasSubstr("no AWS credentials"));
  write(".aws/credentials", "[default]\naws_secret_access_key = x\n");
  EXPECT_THAT(id(), HasSubstr("no AWS credentials"));
  write(".aws/config", "[default]\naws_access_key_id = CFG\naws_secret_access_key = y\n");
  EXPECT_EQ(id(), "CFG");
}

TEST_F(CredentialsTest, AnErrorOfAProcessNamesItsProfile) {
  const auto with_output = [&](const std::string& output) {
    write("out", output);
    write(".aws/config",
          "[default]\ncredential_process = cat '" + (home_.path() / "out").string() + "'\n");
    return id();
  };
  for (const char* output : {"", "[]", "{\"AccessKeyId\":\"A\"}", "hello"})
    EXPECT_THAT(with_output(output), HasSubstr("credential_process of profile default")) << output;
  write(".aws/config", "[default]\ncredential_process = cat 'open\n");
  EXPECT_THAT(id(), HasSubstr("credential_process of profile default"));
  write(".aws/config", "[default]\ncredential_process = /no/such/program\n");
  EXPECT_THAT(id(), HasSubstr("credential_process of profile default"));
}

TEST_F(CredentialsTest, EndpointsCanBeRedirected) {
  write(".aws/config",
        "[default]\nservices = local\nendpoint_url = http://profile:1\n"
        "[services local]\nsagemaker =\n  endpoint_url = http://section:2\n");
  const auto host = [&](const char* service, const char* prefix) {
    const auto config = read_shared_config(environment());
    return resolve_endpoint(environment(), *config, service, prefix, "eu-west-1")->host;
  };
  EXPECT_EQ(host("SAGEMAKER", "api.sagemaker"), "section:2");
  EXPECT_EQ(host("S3", "s3"), "profile:1");
  variables_["AWS_ENDPOINT_URL"] = "http://127.0.0.1:3";
  variables_["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:4/";
  EXPECT_EQ(host("SAGEMAKER", "api.sagemaker"), "127.0.0.1:3");
  EXPECT_EQ(host("S3", "s3"), "127.0.0.1:4");
  variables_["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  EXPECT_EQ(host("SAGEMAKER", "api.sagemaker"), "api.sagemaker.eu-west-1.amazonaws.com");
}

TEST_F(CredentialsTest, TheEnvironmentsRegionPrecedesTheProfiles) {
  const auto region = [&] {
    const auto config = read_shared_config(environment());
    const auto resolved = resolve_region(environment(), *config);
    return resolved ? *resolved : resolved.error().text();
  };
  EXPECT_THAT(region(), HasSubstr("no AWS region"));
  write(".aws/config", "[default]\nregion = from-profile\n");
  EXPECT_EQ(region(), "from-profile");
  variables_["AWS_DEFAULT_REGION"] = "from-default";
  EXPECT_EQ(region(), "from-default");
  variables_["AWS_REGION"] = "from-region";
  EXPECT_EQ(region(), "from-region");
}

TEST(SharedFile, ABrokenLineIsNamedByNumberOnly) {
  const auto sections = parse_shared_file("[a]\nkey = v\nsecret-without-equals\n", "credentials");
  ASSERT_FALSE(sections);
  EXPECT_THAT(sections.error().text(), HasSubstr("credentials:3"));
  EXPECT_THAT(sections.error().text(), testing::Not(HasSubstr("secret-without")));
}

TEST(SplitWords, FollowsTheShellsQuoting) {
  const auto words = split_words(R"(a 'b c' "d\"e" f\ g '')");
  ASSERT_TRUE(words);
  EXPECT_THAT(*words, testing::ElementsAre("a", "b c", "d\"e", "f g", ""));
  EXPECT_FALSE(split_words("'open"));
}

TEST(SplitWords, BackslashesAreReadAsInAShell) {
  const auto words = [](const char* command) {
    const auto split = split_words(command);
    EXPECT_TRUE(split) << command;
    return split.value_or(std::vector<std::string>{});
  };
  EXPECT_THAT(words(R"(tool "a\d+\.x" "\\" "\$HOME")"),
              testing::ElementsAre("tool", R"(a\d+\.x)", R"(\)", "$HOME"));
  EXPECT_THAT(words(R"(tool 'a\b' a\'b end\)"),
              testing::ElementsAre("tool", R"(a\b)", "a'b", R"(end\)"));
}

TEST(SplitWords, BlanksAndTabsDivideAndQuotedPartsJoin) {
  const auto words = split_words("  a\t \t'b'\"c d\"e  ");
  ASSERT_TRUE(words);
  EXPECT_THAT(*words, testing::ElementsAre("a", "bc de"));
  EXPECT_THAT(*split_words(""), testing::IsEmpty());
  EXPECT_THAT(*split_words(" \t"), testing::IsEmpty());
  EXPECT_FALSE(split_words("a \"b"));
}

}  // namespace
}  // namespace steptune::aws
