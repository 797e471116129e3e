// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tuner/mcp/child_programs.hpp"
#include "tuner/mcp/session.hpp"

namespace steptune::mcp {

/// Serves the client whose messages arrive on `in`, until `in` ends or `should_end` returns true.
/// Then ends the children. Calls `should_end` at least about once a second and after signals.
void serve_client(int in, Session& session, ChildPrograms& children,
                  const std::function<bool()>& should_end);

}  // namespace steptune::mcp
