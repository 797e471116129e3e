// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/json_rpc.hpp"

#include <utility>

#include "common/json_fields.hpp"

namespace steptune::mcp {
namespace {

constexpr const char* k_version = "2.0";

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

}  // namespace

tl::expected<std::optional<RpcMessage>, RpcFault> parse_message(std::string_view line) {
  auto json = parse_json(line, "message");
  if (!json) {
    return tl::unexpected(RpcFault{RpcCode::parse_error, json.error().message, nullptr});
  }
  const auto refuse = [&](const std::string& why) {
    const Json id = json->is_object() ? json->value("id", Json(nullptr)) : Json(nullptr);
    return tl::unexpected(RpcFault{RpcCode::invalid_request, why, is_id(id) ? id : Json(nullptr)});
  };
  if (json->is_array()) return refuse("batches are not supported: send one message on each line");
  if (!json->is_object()) return refuse("a message is a JSON object");
  if (text_at(*json, "jsonrpc") != k_version) return refuse("\"jsonrpc\" is not \"2.0\"");
  const bool is_response = json->contains("result") || json->contains("error");
  if (is_response && !json->contains("method")) return std::nullopt;
  RpcMessage message;
  message.method = text_at(*json, "method");
  if (message.method.empty()) return refuse("\"method\" is missing");
  if (json->contains("id")) {
    message.id = (*json)["id"];
    if (!is_id(message.id)) return refuse("\"id\" is neither a string nor an integer");
  }
  if (json->contains("params")) {
    message.params = std::move((*json)["params"]);
    if (!message.params.is_object()) {
      return tl::unexpected(
          RpcFault{RpcCode::invalid_params, "\"params\" is not an object", message.id});
    }
  }
  return message;
}

Json rpc_result(const Json& id, Json result) {
  return {{"jsonrpc", k_version}, {"id", id}, {"result", std::move(result)}};
}

Json rpc_error(const RpcFault& fault) {
  return {{"jsonrpc", k_version},
          {"id", fault.id},
          {"error", {{"code", static_cast<int>(fault.code)}, {"message", fault.message}}}};
}

Json rpc_notification(const std::string& method, Json params) {
  return {{"jsonrpc", k_version}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace steptune::mcp
