// Parameters of a benchmark: declared once by the benchmark, read from suites, kept in results.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/json.h"

namespace ridgeline {

using ParamValue = std::variant<bool, int64_t, double, std::string>;
std::string ToString(const ParamValue& value);

enum class ParamType { kInteger, kBytes, kNumber, kBool, kText, kDType };

struct ParamSpec {
  std::string name;
  ParamType type = ParamType::kInteger;
  ParamValue fallback;                    // value when a suite does not name it
  std::string help;                       // with its unit
  std::vector<std::string> allowed = {};  // kText: the values; kDType: HLO names; empty: any
  double min = 1;                         // kInteger, kBytes, kNumber
  bool required = false;                  // a suite must name it
  bool names_device = false;              // kInteger: a position in the mesh
};

// Values for every ParamSpec of one benchmark, in canonical (name) order.
class Params {
 public:
  void Set(const std::string& name, ParamValue value) { values_[name] = std::move(value); }
  bool Has(const std::string& name) const { return values_.contains(name); }
  // The parameter exists and has that type: Resolve saw to it.
  int64_t Integer(const std::string& name) const;
  double Real(const std::string& name) const;
  bool Flag(const std::string& name) const;
  const std::string& Text(const std::string& name) const;
  DType Type(const std::string& name) const;
  const std::map<std::string, ParamValue>& values() const { return values_; }
  // "dtype=bf16,k=1024,m=1024": canonical, part of a case's id.
  std::string Canonical() const;
  bool operator==(const Params&) const = default;

 private:
  std::map<std::string, ParamValue> values_;
};

// Checks `given` against `specs` and fills the fallbacks. Text is converted to the declared type
// ("64KiB" to bytes, "int8" to "s8"). Unknown names, bad values and missing required ones are
// errors that name the value, what is allowed and the nearest name.
Result<Params> ResolveParams(std::span<const ParamSpec> specs,
                             const std::map<std::string, ParamValue>& given);

Json ToJson(const Params& params);
Result<Params> ParamsFromJson(const Json& json);

}  // namespace ridgeline
