// SPDX-License-Identifier: Apache-2.0
//
// Tests AWS's shared files, as the AWS CLI writes them and as people edit them.
#include "trial_runner/sagemaker/aws/shared_config.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/aws/credentials_fixture.hpp"

namespace steptune::aws {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Sections sections_of(const std::string& text) {
  const auto sections = parse_shared_file(text, "config");
  EXPECT_TRUE(sections) << sections.error().text();
  return sections.value_or(Sections{});
}

std::string fault_in(const std::string& text) {
  const auto sections = parse_shared_file(text, "config");
  return sections ? "" : sections.error().text();
}

TEST(SharedFileLines, CommentsAndBlankLinesAreNoSettings) {
  const auto sections = sections_of("# one\n; two\n\n \t\n[a]\n # three\nkey = v\n;last = x");
  EXPECT_THAT(sections, ElementsAre(Pair("a", ElementsAre(Pair("key", "v")))));
}

TEST(SharedFileLines, ACommentBehindAValueNeedsABlankBeforeIt) {
  const auto a = sections_of("[a]\nk1 = v # c\nk2 = v\t; c\nk3 = v#1;2\nk4 = # c\n").at("a");
  EXPECT_THAT(a,
              ElementsAre(Pair("k1", "v"), Pair("k2", "v"), Pair("k3", "v#1;2"), Pair("k4", "")));
}

TEST(SharedFileLines, NamesAreReadWithoutRegardToCaseAndValuesKeepIt) {
  EXPECT_THAT(sections_of("[A b]\nRegion=EU\n").at("A b"), ElementsAre(Pair("region", "EU")));
}

TEST(SharedFileLines, LineEndsOfWindowsAndAMissingLastOneDoNoHarm) {
  EXPECT_THAT(sections_of("[a]\r\nk = v\r\nl = w").at("a"),
              ElementsAre(Pair("k", "v"), Pair("l", "w")));
}

TEST(SharedFileLines, AValueMayContainEqualSigns) {
  EXPECT_THAT(sections_of("[a]\naws_secret_access_key = ab/c+d==\n").at("a"),
              ElementsAre(Pair("aws_secret_access_key", "ab/c+d==")));
}

TEST(SharedFileLines, TheLastOfTwoEqualNamesCounts) {
  EXPECT_THAT(sections_of("[a]\nk = 1\n[b]\n[a]\nk = 2\n").at("a"), ElementsAre(Pair("k", "2")));
}

TEST(SharedFileLines, IndentedSettingsBelongToTheEmptySettingAbove) {
  const auto section = sections_of(
      "[services s]\ns3 =\n  endpoint_url = http://a\n\tregion = x\nsts = \n endpoint_url = "
      "http://b\n"
      "plain = 1\n  indented = 2\n[other]\n  first = 3\n");
  EXPECT_THAT(section.at("services s"),
              ElementsAre(Pair("indented", "2"), Pair("plain", "1"), Pair("s3", ""),
                          Pair("s3.endpoint_url", "http://a"), Pair("s3.region", "x"),
                          Pair("sts", ""), Pair("sts.endpoint_url", "http://b")));
  EXPECT_THAT(section.at("other"), ElementsAre(Pair("first", "3")));
}

TEST(SharedFileLines, MalformedLinesAreReportedByNumber) {
  EXPECT_THAT(fault_in("key = before any section\n"), HasSubstr("config:1"));
  EXPECT_THAT(fault_in("[a]\n\n[b\n"), HasSubstr("config:3"));
  EXPECT_THAT(fault_in("[a]\n\n[b\n"), HasSubstr("no closing bracket"));
  EXPECT_THAT(fault_in("[a]\nsecret\n"), HasSubstr("config:2"));
  EXPECT_EQ(fault_in(""), "");
}

TEST(SharedFileLines, WrittenLinesAreReadBack) {
  constexpr std::string_view k_bytes = "abcXYZ019/+=:._-@[]";
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, "shared_file");
    const auto word = [&](std::size_t bytes) {
      std::string text;
      for (std::size_t i = 0; i < bytes; ++i)
        text += k_bytes[rng.below(bytes == 1 ? 3 : k_bytes.size())];
      return text;
    };
    Sections written;
    std::string text;
    for (std::uint64_t s = 1 + rng.below(4); s > 0; --s) {
      const std::string name = "profile p" + std::to_string(s);
      text += "[" + name + "]\n";
      written[name];
      for (std::uint64_t k = rng.below(5); k > 0; --k) {
        const std::string key = "key" + std::to_string(k);
        written[name][key] = word(1 + rng.below(30));
        text += key + std::string(rng.below(3), ' ') + "=" + std::string(rng.below(3), ' ') +
                written[name][key] + (rng.below(2) == 0 ? "" : " # note") + "\n";
      }
    }
    EXPECT_EQ(sections_of(text), written) << text;
  }
}

class SharedConfigTest : public CredentialsTest {
 protected:
  [[nodiscard]] SharedConfig config() const {
    auto config = read_shared_config(environment());
    EXPECT_TRUE(config) << config.error().text();
    return config.value_or(SharedConfig{});
  }
  [[nodiscard]] std::string host(const char* service = "STS", const char* region = "eu-west-1") {
    const auto endpoint = resolve_endpoint(environment(), config(), service, "sts", region);
    return endpoint ? endpoint->scheme + "://" + endpoint->host : endpoint.error().text();
  }
};

TEST_F(SharedConfigTest, MissingFilesAreEmpty) {
  EXPECT_THAT(config().config, IsEmpty());
  EXPECT_EQ(config().profile, "default");
}

TEST_F(SharedConfigTest, TheCredentialsFilePrecedesTheConfiguration) {
  home_.write(".aws/config", "[default]\nregion = config\nrole_arn = config\n");
  home_.write(".aws/credentials", "[default]\nregion = credentials\nrole_arn =\n");
  EXPECT_EQ(config().setting("default", "region"), "credentials");
  EXPECT_EQ(config().setting("default", "role_arn"), "config");
  EXPECT_EQ(config().setting("default", "output"), std::nullopt);
  EXPECT_EQ(config().setting("nobody", "region"), std::nullopt);
}

TEST_F(SharedConfigTest, ProfilesOfTheConfigFileMayHaveAPrefix) {
  home_.write(".aws/config",
              "[profile  work]\nregion = a\n[bare]\nregion = b\n"
              "[sso-session corp]\nsso_region = c\n");
  EXPECT_EQ(config().setting("work", "region"), "a");
  EXPECT_EQ(config().setting("bare", "region"), "b");
  EXPECT_EQ(config().setting("sso-session corp", "sso_region"), "c");
  EXPECT_FALSE(config().has_profile("corp")) << "a session is no profile";
}

TEST_F(SharedConfigTest, AProfileOfEitherFileMayBeNamed) {
  home_.write(".aws/credentials", "[keys]\naws_access_key_id = A\n");
  home_.write(".aws/config", "[profile work]\n");
  variables_["AWS_DEFAULT_PROFILE"] = "keys";
  EXPECT_EQ(config().profile, "keys");
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(config().profile, "work") << "before AWS_DEFAULT_PROFILE";
}

TEST_F(SharedConfigTest, OtherFilesMayBeNamed) {
  variables_["AWS_CONFIG_FILE"] = home_.write("c", "[default]\nregion = elsewhere\n").string();
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = home_.write("k", "[default\n").string();
  const auto broken = read_shared_config(environment());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text(), HasSubstr((home_.path() / "k").string() + ":1"));
  home_.write("k", "");
  EXPECT_EQ(resolve_region(environment(), config()), "elsewhere");
  variables_["AWS_CONFIG_FILE"] = home_.write("c", "x\n").string();
  EXPECT_THAT(read_shared_config(environment()).error().text(),
              HasSubstr((home_.path() / "c").string() + ":1"));
}

TEST_F(SharedConfigTest, TheRegionsOwnHostLiesInItsPartition) {
  EXPECT_EQ(host("STS", "eu-west-1"), "https://sts.eu-west-1.amazonaws.com");
  EXPECT_EQ(host("STS", "cn-north-1"), "https://sts.cn-north-1.amazonaws.com.cn");
}

TEST_F(SharedConfigTest, AnInvalidEndpointIsReportedWithItsPlace) {
  for (const char* url : {"localhost:4566", "ftp://localhost", "//localhost"}) {
    variables_["AWS_ENDPOINT_URL"] = url;
    EXPECT_THAT(host(), HasSubstr(url));
    EXPECT_THAT(host(), HasSubstr("AWS_ENDPOINT_URL"));
    EXPECT_THAT(host(), HasSubstr("is not an http or https URL"));
  }
  for (const char* url : {"http://", "http:///path", "https://user@host"}) {
    variables_["AWS_ENDPOINT_URL"] = url;
    EXPECT_THAT(host(), HasSubstr("no host, or contains a user name")) << url;
  }
  variables_.erase("AWS_ENDPOINT_URL");
  home_.write(".aws/config", "[default]\nendpoint_url = nowhere\n");
  EXPECT_THAT(host(), HasSubstr("profile default"));
}

TEST_F(SharedConfigTest, AServicesSectionKeepsOtherEndpointsOfTheProfile) {
  home_.write(".aws/config",
              "[default]\nservices = s\nendpoint_url = http://profile\n"
              "[services s]\ns3 =\n  endpoint_url = http://s3\n");
  EXPECT_EQ(host("STS"), "http://profile");
  EXPECT_EQ(host("S3"), "http://s3");
  home_.write(".aws/config", "[default]\nservices = missing\n");
  EXPECT_EQ(host("STS"), "https://sts.eu-west-1.amazonaws.com");
}

}  // namespace
}  // namespace steptune::aws
