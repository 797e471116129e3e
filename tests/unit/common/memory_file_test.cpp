// SPDX-License-Identifier: Apache-2.0
#include "common/memory_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace steptune {
namespace {

TEST(MemoryFile, ContainsAllWrittenBytes) {
  const UniqueFd file = memory_file("first ");
  ASSERT_TRUE(file);
  EXPECT_GT(file.get(), STDERR_FILENO) << "a child's standard streams take the places below";
  char byte = 0;
  ASSERT_EQ(::read(file.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'f');
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_END), 6);
  ASSERT_EQ(::write(file.get(), "second", 6), 6);
  EXPECT_EQ(text_of(file), "first second") << "the read position does not matter";
}

TEST(MemoryFile, MayBeEmptyOrLarge) {
  EXPECT_EQ(text_of(memory_file()), "");
  const std::string large(300'000, 'x');
  EXPECT_EQ(text_of(memory_file(large)), large);
  EXPECT_EQ(text_of(UniqueFd()), "");
}

}  // namespace
}  // namespace steptune
