// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/sigv4.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sha256.hpp"

namespace steptune::aws {
namespace {

constexpr double k_suite_time_s = 1440938160.0;  // 2015-08-30T12:36:00Z

Credentials suite_credentials() {
  return {"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), {}, {}, "test"};
}

struct Vector {
  const char* name;  ///< of the published AWS Signature Version 4 test suite
  const char* method;
  const char* path;
  const char* query;
  Headers headers;
  const char* body;
  const char* signature;
};

class SigV4Suite : public testing::TestWithParam<Vector> {};

TEST_P(SigV4Suite, SignatureIsThePublishedOne) {
  const Vector& vector = GetParam();
  HttpRequest request;
  request.method = vector.method;
  request.host = "example.amazonaws.com";
  request.path = vector.path;
  request.query = vector.query;
  request.headers = vector.headers;
  request.body = vector.body;
  sign(request, suite_credentials(), {"us-east-1", "service", k_suite_time_s});
  const std::string& authorization = request.headers.back().second;
  EXPECT_THAT(authorization,
              testing::StartsWith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"
                                  "service/aws4_request, SignedHeaders="));
  EXPECT_THAT(authorization, testing::EndsWith(std::string("Signature=") + vector.signature));
}

INSTANTIATE_TEST_SUITE_P(
    Published, SigV4Suite,
    testing::Values(
        Vector{"get-vanilla",
               "GET",
               "/",
               "",
               {},
               "",
               "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        Vector{"get-vanilla-query-order-key-case",
               "GET",
               "/",
               "Param2=value2&Param1=value1",
               {},
               "",
               "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        Vector{"get-vanilla-query-order-value",
               "GET",
               "/",
               "Param1=value2&Param1=Value1",
               {},
               "",
               "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"},
        Vector{"get-vanilla-empty-query-key",
               "GET",
               "/",
               "Param1=value1",
               {},
               "",
               "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
        Vector{"get-unreserved",
               "GET",
               "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
               "",
               {},
               "",
               "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        Vector{"get-utf8",
               "GET",
               "/\xE1\x88\xB4",
               "",
               {},
               "",
               "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        Vector{"get-space",
               "GET",
               "/example space/",
               "",
               {},
               "",
               "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        Vector{"get-relative",
               "GET",
               "/example/..",
               "",
               {},
               "",
               "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        Vector{"get-slashes",
               "GET",
               "//example//",
               "",
               {},
               "",
               "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
        Vector{"get-header-key-duplicate",
               "GET",
               "/",
               "",
               {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
               "",
               "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        Vector{"get-header-value-trim",
               "GET",
               "/",
               "",
               {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
               "",
               "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        Vector{"post-vanilla",
               "POST",
               "/",
               "",
               {},
               "",
               "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        Vector{"post-header-value-case",
               "POST",
               "/",
               "",
               {{"My-Header1", "VALUE1"}},
               "",
               "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
        Vector{"post-x-www-form-urlencoded",
               "POST",
               "/",
               "",
               {{"Content-Type", "application/x-www-form-urlencoded"}},
               "Param1=value1",
               "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"}),
    [](const testing::TestParamInfo<Vector>& vector) {
      std::string name = vector.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(SigV4, SigningAgainReplacesTheFirstSignature) {
  HttpRequest request;
  request.host = "api.sagemaker.us-east-1.amazonaws.com";
  request.body = "{}";
  Credentials credentials = suite_credentials();
  credentials.session_token = Secret("token");
  sign(request, credentials, {"us-east-1", "sagemaker", k_suite_time_s});
  const HttpRequest first = request;
  sign(request, credentials, {"us-east-1", "sagemaker", k_suite_time_s});
  EXPECT_EQ(request.headers, first.headers);
  sign(request, credentials, {"us-east-1", "sagemaker", k_suite_time_s + 60});
  EXPECT_EQ(request.headers.size(), first.headers.size());
  EXPECT_NE(request.headers, first.headers);
}

TEST(SigV4, S3PathsAreSignedAsSent) {
  HttpRequest request;
  request.method = "PUT";
  request.host = "bucket.s3.us-east-1.amazonaws.com";
  request.path = "/a%20b//c";
  request.body = "data";
  const std::string canonical = canonical_request(request, "s3", sha256_hex(request.body));
  EXPECT_THAT(canonical, testing::StartsWith("PUT\n/a%20b//c\n\n"));
  sign(request, suite_credentials(), {"us-east-1", "s3", k_suite_time_s});
  EXPECT_THAT(request.headers,
              testing::Contains(testing::Pair("X-Amz-Content-Sha256", sha256_hex("data"))));
}

}  // namespace
}  // namespace steptune::aws
