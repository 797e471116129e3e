// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/raw_client.hpp"

#include <array>
#include <chrono>
#include <stdexcept>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace steptune::golden {

RawClient::RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
}

bool RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string RawClient::all(double seconds) const {
  return until("", seconds);
}

std::string RawClient::until(std::string_view text, double seconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::string answer;
  while (text.empty() || answer.find(text) == std::string::npos) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd socket{socket_.get(), POLLIN, 0};
    if (::poll(&socket, 1, static_cast<int>(left.count())) <= 0) break;
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

std::string raw_exchange(int port, std::string_view request) {
  const RawClient client(port);
  // If the server refuses early, its answer has arrived anyway.
  client.send(request);
  return client.all();
}

int status_of(const std::string& answer) {
  if (!answer.starts_with("HTTP/1.1 ") || answer.size() < 12) return 0;
  return std::stoi(answer.substr(9, 3));
}

}  // namespace steptune::golden
