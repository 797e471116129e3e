// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/shared_config.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/aws/header_text.hpp"

namespace steptune::aws {
namespace {

std::string_view without_comment(std::string_view value) {
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) {
    value = value.substr(0, value.find(mark));
  }
  return trimmed(value);
}

class SharedFileParser {
 public:
  explicit SharedFileParser(const std::string& where) : where_(where) {}

  Result<void> read_line(std::string_view line) {
    ++number_;
    const std::string_view content = trimmed(line);
    if (content.empty() || content[0] == '#' || content[0] == ';') return {};
    if (content[0] == '[') return begin_section(content);
    const auto equals = content.find('=');
    if (section_ == nullptr || equals == std::string_view::npos) {
      return malformed("is neither a [section] nor key = value");
    }
    const std::string key = lower_case(trimmed(content.substr(0, equals)));
    const std::string value(without_comment(content.substr(equals + 1)));
    const bool indented = line[0] == ' ' || line[0] == '\t';
    if (indented && !outer_.empty()) {
      (*section_)[outer_ + "." + key] = value;
    } else {
      outer_ = value.empty() ? key : "";
      (*section_)[key] = value;
    }
    return {};
  }

  Sections sections;

 private:
  Result<void> begin_section(std::string_view content) {
    const auto end = content.find(']');
    if (end == std::string_view::npos) return malformed("has no closing bracket");
    section_ = &sections[std::string(trimmed(content.substr(1, end - 1)))];
    outer_.clear();
    return {};
  }

  // Report only the line's number, because the line may contain a secret.
  [[nodiscard]] Result<void> malformed(const char* what) const {
    return fail(ErrorKind::runner, what, fmt::format("{}:{}", where_, number_));
  }

  std::string where_;
  int number_ = 0;
  Section* section_ = nullptr;
  /// Latest key without a value. Its name is the prefix of the indented keys below it.
  std::string outer_;
};

Result<Sections> read_shared_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Sections{};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_shared_file(text, path.string());
}

/// Renames the sections `profile x` to `x`. `default`, `sso-session x` and `services x` keep their
/// names.
Sections with_profile_names(const Sections& sections) {
  Sections named;
  for (const auto& [name, section] : sections) {
    constexpr std::string_view k_prefix = "profile ";
    const bool prefixed = name.starts_with(k_prefix);
    named[prefixed ? std::string(trimmed(name.substr(k_prefix.size()))) : name] = section;
  }
  return named;
}

Result<Endpoint> parse_endpoint(const std::string& url, const std::string& where) {
  const auto colon = url.find("://");
  const std::string scheme = url.substr(0, colon);
  if (colon == std::string::npos || (scheme != "https" && scheme != "http")) {
    return fail(ErrorKind::runner, fmt::format("\"{}\" is not an http or https URL", url), where);
  }
  const std::string host = url.substr(colon + 3, url.find('/', colon + 3) - colon - 3);
  if (host.empty() || host.find('@') != std::string::npos) {
    return fail(ErrorKind::runner, "the URL has no host, or contains a user name", where);
  }
  return Endpoint{scheme, host};
}

}  // namespace

Result<Sections> parse_shared_file(std::string_view text, const std::string& where) {
  SharedFileParser parser(where);
  for (const std::string_view line : split_lines(text)) {
    if (auto read = parser.read_line(line); !read) return tl::unexpected(read.error());
  }
  return std::move(parser.sections);
}

std::optional<std::string> SharedConfig::setting(const std::string& profile_name,
                                                 const std::string& key) const {
  for (const Sections* sections : {&credentials, &config}) {
    const auto section = sections->find(profile_name);
    if (section == sections->end()) continue;
    const auto found = section->second.find(key);
    if (found != section->second.end() && !found->second.empty()) return found->second;
  }
  return std::nullopt;
}

bool SharedConfig::has_profile(const std::string& profile_name) const {
  return credentials.contains(profile_name) || config.contains(profile_name);
}

Result<SharedConfig> read_shared_config(const Environment& environment) {
  const std::filesystem::path folder = home_directory(environment).value_or("") / ".aws";
  const std::string config_path =
      environment("AWS_CONFIG_FILE").value_or((folder / "config").string());
  const std::string credentials_path =
      environment("AWS_SHARED_CREDENTIALS_FILE").value_or((folder / "credentials").string());
  SharedConfig shared;
  auto config = read_shared_file(config_path);
  if (!config) return tl::unexpected(config.error());
  auto credentials = read_shared_file(credentials_path);
  if (!credentials) return tl::unexpected(credentials.error());
  shared.config = with_profile_names(*std::move(config));
  shared.credentials = *std::move(credentials);
  auto profile = environment("AWS_PROFILE");
  if (!profile) profile = environment("AWS_DEFAULT_PROFILE");
  shared.profile = profile.value_or("default");
  if (profile && !shared.has_profile(shared.profile)) {
    return fail(ErrorKind::runner,
                fmt::format("the AWS profile \"{}\" is in neither {} nor {}", shared.profile,
                            config_path, credentials_path),
                {}, "correct AWS_PROFILE, or create the profile with `aws configure`");
  }
  return shared;
}

Result<std::string> resolve_region(const Environment& environment, const SharedConfig& config) {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = environment(name)) return *std::move(region);
  }
  if (auto region = config.setting(config.profile, "region")) return *std::move(region);
  return fail(ErrorKind::runner, "no AWS region is configured", {},
              "set AWS_REGION, or `region` in the profile of ~/.aws/config");
}

Result<Endpoint> resolve_endpoint(const Environment& environment, const SharedConfig& config,
                                  const std::string& service, const std::string& host_prefix,
                                  const std::string& region) {
  const bool ignore = environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").value_or("") == "true";
  if (!ignore) {
    for (const std::string& name :
         {"AWS_ENDPOINT_URL_" + service, std::string("AWS_ENDPOINT_URL")}) {
      if (const auto url = environment(name)) return parse_endpoint(*url, name);
    }
    const auto services = config.setting(config.profile, "services");
    const auto section =
        services ? config.config.find("services " + *services) : config.config.end();
    if (section != config.config.end()) {
      const auto url = section->second.find(lower_case(service) + ".endpoint_url");
      if (url != section->second.end()) return parse_endpoint(url->second, "services " + *services);
    }
    if (const auto url = config.setting(config.profile, "endpoint_url")) {
      return parse_endpoint(*url, "profile " + config.profile);
    }
  }
  const char* suffix = region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return Endpoint{"https", fmt::format("{}.{}.{}", host_prefix, region, suffix)};
}

}  // namespace steptune::aws
