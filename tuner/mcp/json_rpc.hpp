// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "common/json.hpp"

namespace steptune::mcp {

/// Error codes of JSON-RPC 2.0.
enum class RpcCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
};

/// A fault in a message. The server answers it with a JSON-RPC error.
struct RpcFault {
  RpcCode code = RpcCode::invalid_request;
  std::string message;
  Json id = nullptr;  ///< of the request; null if it cannot be read
};

/// A request or notification of JSON-RPC 2.0.
struct RpcMessage {
  Json id = nullptr;  ///< a string or an integer; null: a notification
  std::string method;
  Json params = Json::object();

  [[nodiscard]] bool is_request() const { return !id.is_null(); }
};

/// Parses one line. Returns nullopt for a response, because this server sends no requests. A batch
/// is a fault, because revision 2025-06-18 of the protocol has no batches.
[[nodiscard]] tl::expected<std::optional<RpcMessage>, RpcFault> parse_message(
    std::string_view line);

[[nodiscard]] Json rpc_result(const Json& id, Json result);
[[nodiscard]] Json rpc_error(const RpcFault& fault);
[[nodiscard]] Json rpc_notification(const std::string& method, Json params);

}  // namespace steptune::mcp
