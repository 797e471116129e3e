// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/installation.hpp"

#include <SQLiteCpp/Database.h>

namespace steptune {

std::string sqlite_version() {
  return SQLite::getLibVersion();
}

}  // namespace steptune
