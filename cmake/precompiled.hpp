// SPDX-License-Identifier: Apache-2.0
// Compiled once per target: the headers whose parsing takes most of the build.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>
