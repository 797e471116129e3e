// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune {

/// Variable that names the folder in which JAX keeps compiled functions. Without it, each start
/// compiles them again. PyTorch and Triton have such folders by default, one for each user.
inline constexpr const char* k_compile_cache_variable = "JAX_COMPILATION_CACHE_DIR";

/// Name of that folder, beside the logs of a study's trials.
inline constexpr const char* k_compile_cache_folder = "jax-cache";

}  // namespace steptune
