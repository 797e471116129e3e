// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ctime>
#include <string>

#include <httplib.h>

#include "common/clock.hpp"

namespace steptune {

/// A client's connection with limits on time and size: 10 s and 64 KiB for the request. While it
/// sends the answer, it waits for the client for at most one minute in total. Does not own the
/// descriptor. The descriptor must be non-blocking.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, const Clock& clock);

  // Each version of cpp-httplib has only some of these functions, so none is marked `override`.
  // NOLINTBEGIN(modernize-use-override, clang-diagnostic-inconsistent-missing-override)
  /// False if the client has closed the connection. An endless answer checks this before it sends
  /// each piece.
  [[nodiscard]] bool is_writable() const;
  [[nodiscard]] bool wait_writable() const { return is_writable(); }
  [[nodiscard]] bool is_readable() const { return true; }
  [[nodiscard]] bool wait_readable() const { return true; }
  [[nodiscard]] time_t duration() const { return 0; }
  // NOLINTEND(modernize-use-override, clang-diagnostic-inconsistent-missing-override)
  /// Returns -1 if the client took too long or sent too much, or the connection broke.
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return fd_; }

  /// Reads the remaining input, so that closing the connection does not discard the answer.
  void discard_input();

 private:
  [[nodiscard]] bool wait_for(short events, double seconds) const;

  int fd_;
  const Clock& clock_;
  double request_deadline_s_;
  std::size_t request_bytes_left_;
  double write_wait_left_s_;
};

}  // namespace steptune
