// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/support/temporary_folder.hpp"
#include "trial_runner/report.hpp"

namespace steptune::test {

/// End and output of a program.
struct Ended {
  int exit_status = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

/// A child process with a pipe for its standard output and a file for its standard error. Waits
/// without a limit; CTest's timeout ends a hanging test.
class Program {
 public:
  /// `inside_tuner` sets STEPTUNE_TRIAL, as a runner does.
  Program(const std::vector<std::string>& argv, bool inside_tuner);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Reads standard output until it contains `text` or ends.
  void read_until(const std::string& text);
  void send(int signal) const;
  [[nodiscard]] Ended wait();

 private:
  bool read_some();

  pid_t process_ = -1;
  int output_ = -1;
  TemporaryFolder folder_{"program"};
  std::filesystem::path error_file_ = folder_.path() / "errors";
  std::string out_;
};

/// Runs a program to its end.
[[nodiscard]] Ended run(const std::vector<std::string>& argv, bool inside_tuner = false);

/// Returns the reports of the output's `[steptune]` lines, in order. Fails the test if the reader
/// refuses one.
[[nodiscard]] std::vector<Report> reports_in(const std::string& out);

}  // namespace steptune::test
