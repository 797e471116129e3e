// SPDX-License-Identifier: Apache-2.0
#include "tuner/notify/secret_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "common/child_process.hpp"

namespace steptune {
namespace {

constexpr std::array<std::string_view, 3> k_beginnings = {"AWS_", "AZURE_", "VAULT_"};
constexpr std::array<std::string_view, 9> k_anywhere = {"TOKEN",      "SECRET",     "PASSWORD",
                                                        "PASSWD",     "PASSPHRASE", "APIKEY",
                                                        "CREDENTIAL", "COOKIE",     "NETRC"};
/// Words that a secret's name may end with. The ending must be a whole word, so that `MONKEY` does
/// not match.
constexpr std::array<std::string_view, 5> k_endings = {"KEY", "KEYS", "AUTH", "PAT", "PWD"};

/// True if the value contains an address with a password: `https://user:password@host`.
bool has_password(std::string_view value) {
  for (std::size_t scheme = value.find("://"); scheme != std::string_view::npos;
       scheme = value.find("://")) {
    value.remove_prefix(scheme + 3);
    const std::string_view authority = value.substr(0, value.find_first_of("/?#,; "));
    const std::size_t at = authority.find('@');
    if (at != std::string_view::npos &&
        authority.substr(0, at).find(':') != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool is_working_directory(std::string_view name) {
  return name == "PWD" || name == "OLDPWD";
}

}  // namespace

bool is_secret_variable(std::string_view name, std::string_view value) {
  if (is_working_directory(name)) return false;
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  const auto begins = [&](std::string_view text) { return upper.starts_with(text); };
  const auto holds = [&](std::string_view text) { return upper.find(text) != std::string::npos; };
  const auto ends = [&](std::string_view text) {
    return upper == text || upper.ends_with("_" + std::string(text));
  };
  return std::ranges::any_of(k_beginnings, begins) || std::ranges::any_of(k_anywhere, holds) ||
         std::ranges::any_of(k_endings, ends) || has_password(value);
}

std::vector<std::string> environment_without_secrets() {
  auto variables = process_variables();
  std::erase_if(variables, [](const auto& variable) {
    return is_secret_variable(variable.first, variable.second);
  });
  return assignments(variables);
}

}  // namespace steptune
