// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <httplib.h>

#include "common/clock.hpp"
#include "common/error.hpp"

namespace steptune {

/// Fills in the answer to a request; called by many threads at once.
using AnswerRequest = std::function<void(const httplib::Request&, httplib::Response&)>;

/// HTTP/1.1 on 127.0.0.1, a request per connection. Requests are parsed and answers written by
/// cpp-httplib; threads, queue and deadlines are bounded here, so that clients that are slow, go
/// away or never ask cannot keep others from being answered: where connections wait for a thread,
/// those that have not asked within half a second are closed.
class HttpServer {
 public:
  /// `clock` outlives the server.
  HttpServer(const Clock& clock, AnswerRequest answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// Takes a port, any free one for 0, and returns it. `unavailable`: it is taken.
  [[nodiscard]] Result<int> bind(int port);

  /// Answers until `is_stopping`, which is asked four times a second and after each signal; then
  /// cuts all connections. `on_stop` ends answers that go on by themselves. Signals are left to the
  /// calling thread. `unavailable`, at once: its threads cannot be started.
  [[nodiscard]] Result<void> run(const std::function<bool()>& is_stopping,
                                 const std::function<void()>& on_stop);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace steptune
