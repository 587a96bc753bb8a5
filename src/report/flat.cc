#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "report/report.h"

namespace ridgeline::report {
namespace {

constexpr std::array<std::string_view, 7> kRates = {"flops", "useful_flops", "hbm_bw", "algbw",
                                                    "busbw", "host_bw",      "op_rate"};

struct FlatTable {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;  // scalars; null where there is no value
};

using Row = std::vector<std::pair<std::string, Json>>;

void AddInterval(Row& row, const std::string& name, const Interval* interval) {
  row.emplace_back(name, interval ? Number(interval->value) : Json(nullptr));
  row.emplace_back(name + "_lo", interval ? Number(interval->lo) : Json(nullptr));
  row.emplace_back(name + "_hi", interval ? Number(interval->hi) : Json(nullptr));
}

void AddRate(Row& row, const Measurement& m, std::string_view name) {
  const auto it = std::ranges::find(m.rates, name, &Rate::name);
  const Rate* rate = it == m.rates.end() ? nullptr : &*it;
  AddInterval(row, std::string(name), rate ? &rate->value : nullptr);
  row.emplace_back(fmt::format("{}_of_reference", name),
                   rate ? Number(rate->of_reference) : Json(nullptr));
}

std::string Warnings(const Measurement& m) {
  std::vector<std::string> texts;
  for (const AuditLine& line : m.audit) {
    if (line.level == "warning" || line.level == "refused") texts.push_back(line.text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

Row FlatRow(const Measurement& m, const std::set<std::string>& other_rates,
            const std::set<std::string>& params) {
  const Interval* time = m.time_s ? &*m.time_s : nullptr;
  const Interval* launch = m.launch_s ? &*m.launch_s : nullptr;
  Row row = {{"id", m.id},
             {"component", Name(m.component)},
             {"bench", m.bench},
             {"dtype", m.dtype},
             {"executed_as", m.executed_as},
             {"devices", m.devices},
             {"scope", Name(m.scope)},
             {"status", Name(m.status)},
             {"reason", m.reason},
             {"data_mode", m.data_mode},
             {"memory_kind", m.memory_kind}};
  AddInterval(row, "time_s", time);
  AddInterval(row, "launch_s", launch);
  row.emplace_back("launch_resolved", launch ? Json(m.launch_resolved) : Json(nullptr));
  row.emplace_back("compile_s", Number(m.compile_s));
  for (const std::string_view name : kRates) AddRate(row, m, name);
  row.emplace_back("alpha_s", m.alpha_beta ? Number(m.alpha_beta->alpha_s) : Json(nullptr));
  row.emplace_back("bytes_per_s", m.alpha_beta ? Number(m.alpha_beta->bytes_per_s) : Json(nullptr));
  row.emplace_back("half_size_bytes",
                   m.alpha_beta ? Number(m.alpha_beta->half_size_bytes) : Json(nullptr));
  row.emplace_back("work_matrix_flops", Number(m.work.total_matrix_flops()));
  row.emplace_back("work_vector_flops", Number(m.work.total_vector_flops()));
  row.emplace_back("work_transcendentals", Number(m.work.transcendentals));
  row.emplace_back("work_useful_flops",
                   m.work.useful_flops ? Number(m.work.useful_flops->value) : Json(nullptr));
  row.emplace_back("work_hbm_bytes", Number(m.work.hbm_bytes));
  row.emplace_back("work_wire_bytes", Number(m.work.wire_bytes));
  row.emplace_back("work_host_bytes", Number(m.work.host_bytes));
  row.emplace_back("working_set_bytes", m.working_set_bytes);
  row.emplace_back("r2", m.fit ? Number(m.fit->r2) : Json(nullptr));
  row.emplace_back("blocks", m.fit ? Json(m.fit->blocks) : Json(nullptr));
  row.emplace_back("floor_s", m.fit ? Number(m.fit->floor_s) : Json(nullptr));
  row.emplace_back("check", m.check_status);
  row.emplace_back("check_detail", m.check_detail);
  row.emplace_back("labels", fmt::format("{}", fmt::join(m.labels, "; ")));
  row.emplace_back("warnings", Warnings(m));
  row.emplace_back("program_hash", m.program_hash);
  row.emplace_back("seed", m.seed);
  row.emplace_back("simulated", m.simulated);
  row.emplace_back("predicted", m.predicted);
  row.emplace_back("wall_s", Number(m.wall_s));
  row.emplace_back("timed_s", Number(m.timed_s));
  row.emplace_back("passes", m.fit ? Json(m.fit->passes_s.size()) : Json(nullptr));
  row.emplace_back("audit_s", Number(m.audit_s));
  row.emplace_back("check_s", Number(m.check_s));
  for (const std::string& name : other_rates) AddRate(row, m, name);
  for (const std::string& name : params) {
    const auto it = m.params.values().find(name);
    Json value = nullptr;
    if (it != m.params.values().end()) {
      std::visit([&value](const auto& v) { value = v; }, it->second);
    }
    row.emplace_back("param_" + name, std::move(value));
  }
  return row;
}

bool IsNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string CsvField(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return DumpLine(value);
  std::string text = value.get<std::string>();
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string::npos &&
      !IsNumber(text)) {
    text.insert(0, 1, '\'');
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string CsvLine(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

FlatTable Flatten(std::span<const Measurement> measurements) {
  std::set<std::string> params;
  std::set<std::string> other_rates;
  for (const Measurement& m : measurements) {
    for (const auto& [name, value] : m.params.values()) params.insert(name);
    for (const Rate& rate : m.rates) {
      if (std::ranges::find(kRates, rate.name) == kRates.end()) other_rates.insert(rate.name);
    }
  }
  FlatTable table;
  for (const auto& [name, value] : FlatRow(Measurement(), other_rates, params)) {
    table.columns.push_back(name);
  }
  for (const Measurement& m : measurements) {
    std::vector<Json> cells;
    for (auto& [name, value] : FlatRow(m, other_rates, params)) cells.push_back(std::move(value));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::string Csv(std::span<const Measurement> measurements) {
  const FlatTable table = Flatten(measurements);
  std::vector<std::string> fields;
  for (const std::string& column : table.columns) fields.push_back(CsvField(column));
  std::string text = CsvLine(fields);
  for (const std::vector<Json>& row : table.rows) {
    fields.clear();
    for (const Json& value : row) fields.push_back(CsvField(value));
    text += CsvLine(fields);
  }
  return text;
}

Json FlatJson(std::span<const Measurement> measurements) {
  const FlatTable table = Flatten(measurements);
  Json list = Json::array();
  for (const std::vector<Json>& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = row[i];
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace ridgeline::report
