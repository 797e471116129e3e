// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <httplib.h>

#include "common/clock.hpp"

namespace steptune {

/// A client's connection that bounds how long and how much it may take: 10 s from its begin and
/// 64 KiB for the request, and a minute in all of waiting for the client to take the answer. Does
/// not own the descriptor, which must not block.
class Connection final : public httplib::Stream {
 public:
  Connection(int fd, const Clock& clock);

  /// True unless the client has hung up; who answers without end asks before each piece.
  [[nodiscard]] bool is_writable() const override;
  [[nodiscard]] bool is_readable() const override { return true; }
  /// -1 where the client has taken too long or sent too much, or the connection broke.
  ssize_t read(char* data, std::size_t size) override;
  ssize_t write(const char* data, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  [[nodiscard]] socket_t socket() const override { return fd_; }

  /// Reads what has been sent and not asked for, so that closing does not take back the answer.
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
