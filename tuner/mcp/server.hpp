// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "tuner/mcp/child_programs.hpp"
#include "tuner/mcp/session.hpp"

namespace steptune::mcp {

/// Serves the client whose messages arrive on `in`, until its end, or until `should_end` returns
/// true. Then ends the children. A signal that ends a system call early makes it ask `should_end`.
void serve_client(int in, Session& session, ChildPrograms& children,
                  const std::function<bool()>& should_end);

}  // namespace steptune::mcp
