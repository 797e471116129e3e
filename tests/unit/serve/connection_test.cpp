// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/connection.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "common/unique_fd.hpp"

namespace steptune {
namespace {

/// Both ends of a connection, and the server's object for its side.
struct Line {
  Line() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    server = UniqueFd(ends[0]);
    client = UniqueFd(ends[1]);
  }
  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  UniqueFd server;
  UniqueFd client;
};

/// Reads to the end of the input.
std::string all_of(Connection& connection) {
  std::string text;
  std::array<char, 1000> piece{};
  for (;;) {
    const ssize_t got = connection.read(piece.data(), piece.size());
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

TEST(Connection, ReadsWhatWasSentToItsEnd) {
  Line line;
  const VirtualClock clock;
  Connection connection(line.server.get(), clock);
  line.send("GET / HTTP/1.1\r\n\r\n");
  ::shutdown(line.client.get(), SHUT_WR);
  EXPECT_EQ(all_of(connection), "GET / HTTP/1.1\r\n\r\n");
}

TEST(Connection, ASilentClientIsDroppedAfterTenSeconds) {
  Line line;
  VirtualClock clock;
  Connection connection(line.server.get(), clock);
  line.send("GET");
  std::array<char, 10> piece{};
  EXPECT_EQ(connection.read(piece.data(), piece.size()), 3);
  clock.advance_to(10.5);
  EXPECT_EQ(connection.read(piece.data(), piece.size()), -1) << "without waiting";
  line.send(" /");
  EXPECT_EQ(connection.read(piece.data(), piece.size()), 2) << "available input is read";
}

TEST(Connection, TakesARequestOf64KiBAtMost) {
  Line line;
  const VirtualClock clock;
  Connection connection(line.server.get(), clock);
  std::string text;
  for (int i = 0; i < 80; ++i) {
    line.send(std::string(1024, 'x'));
    std::array<char, 1024> piece{};
    const ssize_t got = connection.read(piece.data(), piece.size());
    if (got < 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(text.size(), std::size_t{64} << 10);
}

TEST(Connection, WritingToAClosedConnectionFails) {
  Line line;
  const VirtualClock clock;
  Connection connection(line.server.get(), clock);
  EXPECT_EQ(connection.write("answer", 6), 6);
  line.client.reset();
  EXPECT_EQ(connection.write("more", 4), -1) << "and no signal ends the program";
}

TEST(Connection, KnowsThatTheClientHasGone) {
  Line line;
  const VirtualClock clock;
  const Connection connection(line.server.get(), clock);
  EXPECT_TRUE(connection.is_writable());
  line.client.reset();
  EXPECT_FALSE(connection.is_writable());
}

TEST(Connection, DiscardsUnreadInput) {
  Line line;
  const VirtualClock clock;
  Connection connection(line.server.get(), clock);
  line.send(std::string(10'000, 'x'));
  connection.discard_input();
  line.send("next");
  std::array<char, 10> piece{};
  EXPECT_EQ(connection.read(piece.data(), piece.size()), 4);
}

TEST(Connection, ReportsThisMachineAsItsPeer) {
  Line line;
  const VirtualClock clock;
  const Connection connection(line.server.get(), clock);
  std::string address;
  int port = -1;
  connection.get_remote_ip_and_port(address, port);
  EXPECT_EQ(address, "127.0.0.1");
}

}  // namespace
}  // namespace steptune
