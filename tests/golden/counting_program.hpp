// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptune::golden {

/// A shell program whose steps take as many seconds as its first argument says. Its second
/// argument, if any, is the mean of its loss, in thousandths.
inline constexpr const char* k_counting_program = R"sh(i=0
while [ $i -lt 2000 ]; do
  i=$((i + 1))
  loss=
  if [ "$2" ]; then
    l=$(($2 + i * 7919 % 41 - 20))
    loss=",\"loss\":$((l / 1000)).$((l / 100 % 10))$((l / 10 % 10))$((l % 10))"
  fi
  echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$((i * 10))$loss}"
  sleep "$1"
done
)sh";

}  // namespace steptune::golden
