// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/unique_fd.hpp"

namespace steptune::golden {

/// Connection to a port of this machine that sends any bytes, valid HTTP or not.
class RawClient {
 public:
  explicit RawClient(int port);

  /// False once the server has closed the connection.
  bool send(std::string_view bytes) const;
  /// Returns all bytes until the server closes the connection, or for `seconds` at most.
  [[nodiscard]] std::string all(double seconds = 10.0) const;
  /// Returns the bytes until they contain `text`, or for `seconds` at most.
  [[nodiscard]] std::string until(std::string_view text, double seconds = 10.0) const;

 private:
  UniqueFd socket_;
};

/// Sends `request` and returns the whole answer, which may be empty.
[[nodiscard]] std::string raw_exchange(int port, std::string_view request);

/// Returns the three digits of an answer's first line; 0 without an answer.
[[nodiscard]] int status_of(const std::string& answer);

}  // namespace steptune::golden
