// SPDX-License-Identifier: Apache-2.0
// Credentials from the metadata endpoint of a container or an instance.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/credentials_json.hpp"

namespace steptune::aws {
namespace {

struct Url {
  std::string scheme;
  std::string host;
  std::string path;
};

Result<Url> split_url(const std::string& url, const std::string& where) {
  const auto colon = url.find("://");
  if (colon == std::string::npos) return fail(ErrorKind::runner, "not a URL", where);
  const auto slash = url.find('/', colon + 3);
  return Url{url.substr(0, colon), url.substr(colon + 3, slash - colon - 3),
             slash == std::string::npos ? "/" : url.substr(slash)};
}

/// True if a token may be sent unencrypted to `host`.
bool is_local_host(const std::string& host) {
  constexpr std::array k_local{"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost",
                               "[::1]"};
  // Text before an `@` is a user name, even if it looks like a host.
  if (host.find('@') != std::string::npos) return false;
  const std::string name =
      host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  // Names such as `127.example.com` are not addresses.
  in_addr address{};
  const bool is_loopback =
      inet_pton(AF_INET, name.c_str(), &address) == 1 && name.starts_with("127.");
  return is_loopback || std::find(k_local.begin(), k_local.end(), name) != k_local.end();
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

HttpRequest get_request(const Url& url) {
  HttpRequest request;
  request.method = "GET";
  request.scheme = url.scheme;
  request.host = url.host;
  request.path = url.path;
  return request;
}

}  // namespace

Found container_credentials(const CredentialsParts& parts) {
  const auto relative = parts.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = parts.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) return std::nullopt;
  const std::string source = "container endpoint";
  const auto url = split_url(relative ? "http://169.254.170.2" + *relative : *full, source);
  if (!url) return tl::unexpected(url.error());
  if (url->scheme != "https" && !is_local_host(url->host)) {
    return fail(ErrorKind::runner,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor a local address", source);
  }
  HttpRequest request = get_request(*url);
  auto token = parts.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const auto file = parts.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    token = first_line_of(*file);
  }
  if (token) request.headers.emplace_back("Authorization", *token);
  const auto response = parts.transport.send(request, HttpTimeouts{2.0, 10.0});
  if (!response) return tl::unexpected(response.error());
  if (response->status != 200) {
    return fail(ErrorKind::runner, fmt::format("answered with HTTP status {}", response->status),
                source);
  }
  return optional_of(credentials_from_json(response->body, source));
}

Found instance_credentials(const CredentialsParts& parts) {
  if (parts.environment("AWS_EC2_METADATA_DISABLED").value_or("") == "true") return std::nullopt;
  const std::string base =
      parts.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
  const auto url = split_url(base, "instance metadata");
  if (!url) return tl::unexpected(url.error());
  // Wait at most one second for a connection, as botocore does, because nothing answers outside
  // EC2.
  const HttpTimeouts timeouts{1.0, 2.0};
  HttpRequest ask = get_request(*url);
  ask.method = "PUT";
  ask.path = "/latest/api/token";
  ask.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  const auto token = parts.transport.send(ask, timeouts);
  if (!token || token->status != 200) return std::nullopt;
  HttpRequest get = get_request(*url);
  get.headers = {{"X-aws-ec2-metadata-token", token->body}};
  get.path = "/latest/meta-data/iam/security-credentials/";
  const auto role = parts.transport.send(get, timeouts);
  if (!role || role->status != 200 || role->body.empty()) return std::nullopt;
  get.path += role->body.substr(0, role->body.find('\n'));
  const auto response = parts.transport.send(get, timeouts);
  if (!response || response->status != 200) {
    return fail(ErrorKind::runner, "the instance has a role but returned no keys",
                "instance metadata");
  }
  return optional_of(credentials_from_json(response->body, "instance role"));
}

}  // namespace steptune::aws
