// Compares text with a file of tests/report/golden. RIDGELINE_APPROVE=1 renews the files; look at
// the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace ridgeline::report {

inline void ExpectGolden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(RIDGELINE_SOURCE_DIR) + "/tests/report/golden/" + name;
  if (std::getenv("RIDGELINE_APPROVE") != nullptr) std::ofstream(path) << actual;
  std::ifstream in(path);
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "in " << path;
}

}  // namespace ridgeline::report
