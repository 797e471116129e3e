// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/access.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>

#include <openssl/crypto.h>
#include <sys/random.h>

#include "common/sha256.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string random_token() {
  std::array<char, 128 / 8> bytes{};  // 128 bits cannot be guessed
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return hex_digits({bytes.data(), bytes.size()});
}

bool is_token(std::string_view text) {
  return text.size() >= 16 && text.size() <= 200 && std::ranges::all_of(text, [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                  c == '_';
         });
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool is_local_host(std::string_view host) {
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.size() > 5 || !std::ranges::all_of(port, is_digit)) return false;
    host = host.substr(0, colon);
  }
  const std::string name = lower_case(host);
  return name == "127.0.0.1" || name == "localhost";
}

std::optional<std::string> cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (!pair.empty() && pair.front() == ' ')
      pair.remove_prefix(1);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return std::string(pair.substr(equals + 1));
    }
  }
  return std::nullopt;
}

}  // namespace steptune
