// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include <poll.h>
#include <sys/socket.h>

namespace steptune {
namespace {

constexpr double k_request_s = 10.0;
constexpr std::size_t k_request_bytes = 64U << 10U;
constexpr double k_write_wait_s = 60.0;

}  // namespace

Connection::Connection(int fd, const Clock& clock)
    : fd_(fd),
      clock_(clock),
      request_deadline_s_(clock.now_s() + k_request_s),
      request_bytes_left_(k_request_bytes),
      write_wait_left_s_(k_write_wait_s) {}

bool Connection::wait_for(short events, double seconds) const {
  if (seconds < 0.0) return false;
  pollfd socket{fd_, events, 0};
  const int ready = ::poll(&socket, 1, static_cast<int>(std::ceil(seconds * 1000.0)));
  return ready > 0 || (ready < 0 && errno == EINTR);
}

bool Connection::is_writable() const {
  pollfd socket{fd_, POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) <= 0;
}

ssize_t Connection::read(char* data, std::size_t size) {
  size = std::min(size, request_bytes_left_);
  if (size == 0) return -1;
  while (true) {
    const ssize_t got = ::recv(fd_, data, size, 0);
    if (got >= 0) {
      request_bytes_left_ -= static_cast<std::size_t>(got);
      return got;
    }
    if (errno != EAGAIN && errno != EINTR) return -1;
    if (!wait_for(POLLIN, request_deadline_s_ - clock_.now_s())) return -1;
  }
}

ssize_t Connection::write(const char* data, std::size_t size) {
  while (true) {
    const ssize_t sent = ::send(fd_, data, size, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno != EAGAIN && errno != EINTR) return -1;
    const double begun_s = clock_.now_s();
    const bool ready = wait_for(POLLOUT, write_wait_left_s_);
    write_wait_left_s_ -= clock_.now_s() - begun_s;
    if (!ready) return -1;
  }
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  // The server is bound only to this address.
  ip = "127.0.0.1";
  port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = "127.0.0.1";
  port = 0;
}

void Connection::discard_input() {
  std::array<char, 4096> rest{};
  for (std::size_t taken = 0; taken < k_request_bytes;) {
    const ssize_t got = ::recv(fd_, rest.data(), rest.size(), 0);
    if (got <= 0) return;
    taken += static_cast<std::size_t>(got);
  }
}

}  // namespace steptune
