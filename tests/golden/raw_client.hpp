// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/unique_fd.hpp"

namespace steptune::golden {

/// A connection to a port of this machine that sends what it is told, be it HTTP or not.
class RawClient {
 public:
  explicit RawClient(int port);

  /// False once the server has closed the connection.
  bool send(std::string_view bytes) const;
  /// What arrives until the server closes the connection, `seconds` at most.
  [[nodiscard]] std::string all(double seconds = 10.0) const;
  /// What arrives until it contains `text`, `seconds` at most.
  [[nodiscard]] std::string until(std::string_view text, double seconds = 10.0) const;

 private:
  UniqueFd socket_;
};

/// Sends `request` and returns all that is answered; empty if nothing is.
[[nodiscard]] std::string raw_exchange(int port, std::string_view request);

/// The three digits of an answer's first line; 0 without one.
[[nodiscard]] int status_of(const std::string& answer);

}  // namespace steptune::golden
