// SPDX-License-Identifier: Apache-2.0
#include "common/sha256.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

// FIPS 180-2, appendix B.1, and the digest of the empty message.
TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(HexDigits, EncodeAnyBytes) {
  EXPECT_EQ(hex_digits(std::string_view("\x00\x0f\xff", 3)), "000fff");
}

}  // namespace
}  // namespace steptune
