// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/json.hpp"
#include "common/unique_fd.hpp"

namespace steptune {

/// The program's end of the connection: sends the hook's messages, at once and in any number.
class FakeHook {
 public:
  explicit FakeHook(const std::filesystem::path& path, int world_size = 1, int rank = 0)
      : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    say(fmt::format(R"({{"v":1,"hello":{{"pid":1,"rank":{},"world_size":{}}}}})", rank,
                    world_size));
  }

  void say(const std::string& packet) const {
    EXPECT_EQ(::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(packet.size()));
  }
  /// Makes steps of this many seconds each, with the latest settings. `more`: further keys.
  void make_steps(int count, double seconds, const std::string& more = "") {
    for (int i = 0; i < count; ++i) {
      step_ += 1;
      seconds_ += seconds;
      say(fmt::format(R"({{"step":{},"seconds":{},"samples":{},"configuration":{}{}}})", step_,
                      seconds_, 8 * step_, configuration_, more));
    }
  }
  /// Returns the tuner's messages since the last call, without signs of life.
  std::vector<Json> switches() {
    std::vector<Json> received;
    std::array<char, 4096> packet{};
    while (true) {
      const ssize_t size = ::recv(socket_.get(), packet.data(), packet.size(), 0);
      if (size <= 0) return received;
      const Json json =
          parse_json({packet.data(), static_cast<std::size_t>(size)}, "tuner").value();
      signs_of_life_ += json.contains("alive") ? 1 : 0;
      if (!json.contains("switch")) continue;
      received.push_back(json["switch"]);
      configuration_ = received.back()["configuration"].get<int>();
    }
  }
  /// Returns the number of signs of life of the tuner since the last call.
  int signs_of_life() {
    static_cast<void>(switches());
    return std::exchange(signs_of_life_, 0);
  }
  void leave() { socket_.reset(); }

 private:
  UniqueFd socket_;
  int step_ = 0;
  double seconds_ = 0.0;
  int configuration_ = 0;
  int signs_of_life_ = 0;
};

}  // namespace steptune
