// SPDX-License-Identifier: Apache-2.0
//
// Tests credentials from the endpoint of a container or an instance, and which hosts get their
// token.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/aws/credentials_fixture.hpp"

namespace steptune::aws {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* k_keys = R"({"AccessKeyId":"KEYS","SecretAccessKey":"s","Token":"t"})";
const std::string k_instance = "169.254.169.254";
const std::string k_roles = "/latest/meta-data/iam/security-credentials/";

class MetadataCredentialsTest : public CredentialsTest {
 protected:
  /// Fakes an instance that has the role `role`.
  void on_instance() {
    variables_.erase("AWS_EC2_METADATA_DISABLED");
    transport_.routes["PUT " + k_instance + "/latest/api/token"] = "session";
    transport_.routes["GET " + k_instance + k_roles] = "role\nother\n";
    transport_.routes["GET " + k_instance + k_roles + "role"] = k_keys;
  }
};

TEST_F(MetadataCredentialsTest, ATokenGoesInClearTextToLocalAddressesOnly) {
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "bearer";
  for (const char* host : {"127.0.0.1", "127.8.9.10:81", "localhost", "localhost:8080", "[::1]",
                           "[::1]:81", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = std::string("http://") + host + "/k";
    transport_.routes[std::string("GET ") + host + "/k"] = k_keys;
    EXPECT_EQ(id(), "KEYS") << host;
  }
  transport_.requests.clear();
  for (const char* host :
       {"example.com", "127.example.com", "127.0.0.1.example.com", "localhost.example.com",
        "localhost@example.com", "localhost:80@example.com", "[::1]@example.com", "169.254.170.2.3",
        "10.0.0.1", "[::2]", "", "127.", "127.0.0.1?@example.com"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = std::string("http://") + host + "/k";
    EXPECT_THAT(id(), HasSubstr("neither https nor a local address")) << host;
  }
  EXPECT_TRUE(transport_.requests.empty()) << "a token was sent";
}

TEST_F(MetadataCredentialsTest, ATokenGoesToAnyAddressByHttps) {
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "https://keys.example.com";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "bearer";
  transport_.routes["GET keys.example.com/"] = k_keys;
  EXPECT_EQ(id(), "KEYS");
  EXPECT_EQ(transport_.requests.at(0).scheme, "https");
  EXPECT_THAT(transport_.requests.at(0).headers, Contains(Pair("Authorization", "bearer")));
}

TEST_F(MetadataCredentialsTest, ATokenInAFileIsReadWheneverItIsNeeded) {
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://169.254.170.23/k";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "old";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = (home_.path() / "token").string();
  transport_.routes["GET 169.254.170.23/k"] = k_keys;
  for (const char* token : {"first", "second"}) {
    write("token", std::string(token) + "\nnot of it\n");
    EXPECT_EQ(id(), "KEYS");
    EXPECT_THAT(transport_.requests.back().headers, Contains(Pair("Authorization", token)));
  }
}

TEST_F(MetadataCredentialsTest, TheRelativeUriRefersToTheContainersAddress) {
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/keys";
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://127.0.0.1/other";
  transport_.routes["GET 169.254.170.2/v2/keys"] = k_keys;
  EXPECT_EQ(id(), "KEYS");
  EXPECT_EQ(transport_.requests.at(0).url(), "http://169.254.170.2/v2/keys");
  EXPECT_THAT(transport_.requests.at(0).headers, Not(Contains(Key("Authorization"))));
}

TEST_F(MetadataCredentialsTest, AContainersEndpointThatDoesNotWorkIsAnError) {
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "nowhere";
  EXPECT_THAT(id(), HasSubstr("container endpoint: not a URL"));
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/k";
  EXPECT_THAT(id(), HasSubstr("no route"));
  transport_.routes["GET localhost/k"] = k_keys;
  transport_.statuses["GET localhost/k"] = 500;
  EXPECT_THAT(id(), HasSubstr("answered with HTTP status 500"));
  transport_.statuses.clear();
  for (const char* body : {"", "[]", "{}", "not JSON"}) {
    transport_.routes["GET localhost/k"] = body;
    EXPECT_THAT(id(), HasSubstr("container endpoint: the response")) << body;
  }
  for (const char* body :
       {R"({"AccessKeyId":"A"})", R"({"SecretAccessKey":"s"})", R"({"AccessKeyId":"A",
        "SecretAccessKey":7})"}) {
    transport_.routes["GET localhost/k"] = body;
    EXPECT_THAT(id(), HasSubstr("no complete AWS keys")) << body;
  }
  transport_.routes["GET localhost/k"] =
      R"({"AccessKeyId":"A","SecretAccessKey":"s","Expiration":"2026-11-21 09:00"})";
  EXPECT_THAT(id(), HasSubstr("not an ISO 8601 time"));
}

TEST_F(MetadataCredentialsTest, TheSessionTokenIsNamedInEitherWay) {
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/k";
  transport_.routes["GET localhost/k"] =
      R"({"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"one","Token":"two"})";
  EXPECT_EQ(get()->session_token.reveal(), "one");
  transport_.routes["GET localhost/k"] = k_keys;
  EXPECT_EQ(get()->session_token.reveal(), "t");
}

TEST_F(MetadataCredentialsTest, ExistOnlyOnAnInstanceWithARole) {
  on_instance();
  EXPECT_EQ(id(), "KEYS");
  EXPECT_THAT(transport_.requests.at(0).headers,
              Contains(Pair("X-aws-ec2-metadata-token-ttl-seconds", "21600")));
  EXPECT_THAT(transport_.requests.back().headers,
              Contains(Pair("X-aws-ec2-metadata-token", "session")));
  EXPECT_EQ(transport_.requests.at(0).scheme, "http");

  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_THAT(id(), HasSubstr("no AWS credentials"));
  variables_["AWS_EC2_METADATA_DISABLED"] = "false";
  EXPECT_EQ(id(), "KEYS");

  transport_.statuses["PUT " + k_instance + "/latest/api/token"] = 403;
  EXPECT_THAT(id(), HasSubstr("no AWS credentials")) << "no session";
  transport_.statuses.clear();
  transport_.statuses["GET " + k_instance + k_roles] = 404;
  EXPECT_THAT(id(), HasSubstr("no AWS credentials")) << "no role";
  transport_.statuses.clear();
  transport_.routes["GET " + k_instance + k_roles] = "";
  EXPECT_THAT(id(), HasSubstr("no AWS credentials")) << "no role's name";
  transport_.routes.erase("GET " + k_instance + k_roles);
  EXPECT_THAT(id(), HasSubstr("no AWS credentials")) << "no answer";
}

TEST_F(MetadataCredentialsTest, ARoleWithoutKeysIsAnErrorOfTheInstance) {
  on_instance();
  const std::string keys = "GET " + k_instance + k_roles + "role";
  transport_.statuses[keys] = 500;
  EXPECT_THAT(id(), HasSubstr("the instance has a role but returned no keys"));
  transport_.statuses.clear();
  transport_.routes[keys] = R"({"Code":"Failed"})";
  EXPECT_THAT(id(), HasSubstr("instance role: the response has no complete AWS keys"));
  transport_.routes.erase(keys);
  EXPECT_THAT(id(), HasSubstr("the instance has a role but returned no keys"));
}

TEST_F(MetadataCredentialsTest, TheServiceMayLieElsewhere) {
  on_instance();
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://[fd00:ec2::254]";
  EXPECT_THAT(id(), HasSubstr("no AWS credentials"));
  EXPECT_EQ(transport_.requests.at(0).host, "[fd00:ec2::254]");
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "here";
  EXPECT_THAT(id(), HasSubstr("instance metadata: not a URL"));
}

}  // namespace
}  // namespace steptune::aws
