// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.hpp"
#include "tuner/mcp/condense.hpp"
#include "tuner/mcp/json_rpc.hpp"
#include "tuner/mcp/program_host.hpp"

namespace steptune::mcp {

/// Revision of the Model Context Protocol that this server offers.
inline constexpr const char* k_protocol_revision = "2025-06-18";

/// One client of the server. Answers the client's messages, starts programs for its calls, reports
/// the programs' progress and condenses their results. Used by one thread only.
class Session {
 public:
  using Send = std::function<void(const Json&)>;

  /// `host` and `clock` must outlive the session. `version` is this program's.
  Session(ServerLimits limits, std::string version, ProgramHost& host, const Clock& clock,
          Send send);

  /// Takes one line from the client.
  void on_line(std::string_view line);
  /// Takes a line that a program wrote to stderr.
  void on_program_line(std::int64_t program, std::string_view line);
  void on_program_end(std::int64_t program, const EndedProgram& ended);

  /// Reports progress and interrupts programs whose time is over. Call it at least each second
  /// while a program runs.
  void poll();

 private:
  /// A call whose program runs.
  struct Call {
    Json id;
    const Tool* tool = nullptr;
    std::string about;
    Json progress_token;  ///< null: the client wants no progress
    Invocation invocation;
    std::int64_t program = 0;
    double begin_s = 0.0;
    double next_report_s = 0.0;
    std::string latest_line;
    bool has_new_line = false;
    bool is_cancelled = false;
    bool was_stopped = false;
    bool is_too_long = false;
  };

  void on_request(const RpcMessage& message);
  void on_notification(const RpcMessage& message);
  void initialize(const RpcMessage& message);
  void list_tools(const RpcMessage& message);
  void set_log_level(const RpcMessage& message);
  void call_tool(const RpcMessage& message);
  void start(const RpcMessage& message, const Tool& tool, const Json& arguments);
  void stop(const Json& id);
  void interrupt(Call& call);
  void report_progress(Call& call, double now_s);

  [[nodiscard]] Call* call_of(std::int64_t program);
  /// Returns the running call that measures; null if there is none.
  [[nodiscard]] const Call* measuring() const;
  [[nodiscard]] std::optional<Error> why_busy(const Tool& tool) const;
  [[nodiscard]] std::string call_text(const Call& call) const;
  [[nodiscard]] static std::string command_text(const Invocation& invocation);

  void refuse(const Json& id, RpcCode code, const std::string& why);
  void answer(const Json& id, const Answer& answer);
  void log(std::string_view level, const std::string& text);

  const ServerLimits limits_;
  const std::string version_;
  ProgramHost& host_;
  const Clock& clock_;
  const Send send_;
  bool is_initialized_ = false;
  std::ptrdiff_t least_urgency_;
  std::list<Call> calls_;
};

}  // namespace steptune::mcp
