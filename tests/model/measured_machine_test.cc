// Result files -> measured machines: which case gives a figure, and which gives none.
#include "model/measured_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::model {
namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

Measurement Case(Component component, std::string bench, std::string id, std::string rate,
                 double value) {
  Measurement m;
  m.component = component;
  m.bench = std::move(bench);
  m.id = std::move(id);
  m.dtype = "f32";
  m.rates = {{std::move(rate), "B/s", {value, 0.99 * value, 1.01 * value}, {}}};
  return m;
}

Measurement Gemm(std::string id, double flops, std::string dtype = "bf16") {
  Measurement m = Case(Component::kCompute, "gemm", std::move(id), "flops", flops);
  m.dtype = std::move(dtype);
  m.work.matrix_flops[DType::kBF16] = 1;
  return m;
}

Measurement Stream(std::string bench, int64_t mebibytes, double gigabytes_per_s) {
  Measurement m = Case(Component::kHbm, bench, bench + "/" + std::to_string(mebibytes), "hbm_bw",
                       gigabytes_per_s * 1e9);
  m.working_set_bytes = mebibytes * kMiB;
  m.params.Set("bytes", m.working_set_bytes);
  return m;
}

Measurement Collective(std::string bench, int64_t bytes, double seconds, double busbw) {
  Measurement m =
      Case(Component::kNetwork, bench, bench + "/" + std::to_string(bytes), "busbw", busbw);
  m.devices = 4;
  m.mesh = {{"axes", {{"x", 4}}}, {"group", "all"}};
  m.params.Set("bytes", bytes);
  m.time_s = Interval{seconds, seconds, seconds};
  return m;
}

Machine Of(std::vector<Measurement> measurements, std::optional<double> cache = 32.0 * kMiB,
           const Machine* spec = nullptr) {
  store::ResultFile file;
  file.header = {{"devices", {{{"kind", "Chip"}}, {{"kind", "Chip"}}}}};
  file.measurements = std::move(measurements);
  return MeasuredMachine(file, {.file_name = "a.jsonl", .spec = spec, .last_cache_bytes = cache});
}

const Figure* Peak(const Machine& machine, std::string_view dtype = "bf16") {
  return machine.Peak(ComputeUnit::kMatrix, dtype);
}

TEST(MeasuredMachine, TheSurestHighFigureCounts) {
  Measurement noisy = Gemm("gemm/noisy", 150);
  noisy.rates[0].value.lo = 50;
  const Machine machine = Of({Gemm("gemm/low", 90), noisy, Gemm("gemm/best", 100)});
  ASSERT_NE(Peak(machine), nullptr);
  EXPECT_EQ(Peak(machine)->value, 100);
  EXPECT_EQ(Peak(machine)->source, "gemm/best");
  EXPECT_EQ(Peak(machine)->as_of, "a.jsonl");
  EXPECT_EQ(Peak(machine)->kind, FigureKind::kMeasured);
  EXPECT_EQ(machine.devices, 2);
  EXPECT_EQ(machine.title, "Chip");
}

// reports.md E3 and the rest: such cases say nothing about the machine.
TEST(MeasuredMachine, E3OnlyWhatWasReallyComputedIsARoof) {
  const std::vector<void (*)(Measurement&)> faults = {
      [](Measurement& m) { m.status = CaseStatus::kEmulated; },
      [](Measurement& m) { m.executed_as = "f32"; },
      [](Measurement& m) { m.status = CaseStatus::kFailed; },
      [](Measurement& m) { m.status = CaseStatus::kWrongResult; },
      [](Measurement& m) { m.status = CaseStatus::kSuspect; },
      [](Measurement& m) { m.check_status = "failed"; },
      [](Measurement& m) { m.simulated = true; },
      [](Measurement& m) { m.predicted = true; },
      [](Measurement& m) { m.data_mode = "zeros"; },
      [](Measurement& m) { m.rates[0].value.value = 0; },
      [](Measurement& m) { m.rates.clear(); }};
  for (size_t i = 0; i < faults.size(); ++i) {
    Measurement fast = Gemm("gemm/fast", 1000);
    faults[i](fast);
    EXPECT_EQ(Peak(Of({fast})), nullptr) << i;
    EXPECT_EQ(Peak(Of({fast, Gemm("gemm/real", 100)}))->value, 100) << i;
  }
}

TEST(MeasuredMachine, UnitsAndDtypesAreKeptApart) {
  Measurement vector = Case(Component::kCompute, "vector", "vector/exp", "flops", 7);
  vector.work.vector_flops[DType::kF32] = 10;
  vector.work.transcendentals = 5;
  vector.rates.push_back({"op_rate", "op/s", {3, 3, 3}, {}});
  Measurement tf32 = Gemm("gemm/default", 500, "f32");
  tf32.params.Set("precision", std::string("default"));
  Measurement f32 = Gemm("gemm/highest", 50, "f32");
  f32.params.Set("precision", std::string("highest"));
  const Machine machine = Of({vector, Gemm("gemm/bf16", 100), tf32, f32});
  EXPECT_EQ(Peak(machine)->value, 100);
  EXPECT_EQ(Peak(machine, "f32")->value, 50) << "default precision may run in another type";
  EXPECT_EQ(machine.Peak(ComputeUnit::kVector, "f32")->value, 7);
  EXPECT_EQ(machine.Peak(ComputeUnit::kTranscendental, "f32")->value, 3);
  EXPECT_EQ(Peak(machine, "f16"), nullptr);
}

TEST(MeasuredMachine, OneDeviceAloneGoesBeforeAShareOfAll) {
  Measurement all = Gemm("gemm@all", 1000);
  all.scope = Scope::kAll;
  all.devices = 4;
  EXPECT_EQ(Peak(Of({all}))->value, 250);
  EXPECT_THAT(Peak(Of({all}))->note, HasSubstr("share of all at once"));
  EXPECT_EQ(Peak(Of({all, Gemm("gemm@device0", 200)}))->value, 200);
}

// reports.md C9: 880 and 300 GB/s are caches' rates; HBM is the plateau past four times the last.
TEST(MeasuredMachine, C9HbmIsThePlateauPastTheCaches) {
  const Machine machine = Of({Stream("copy", 8, 880), Stream("copy", 64, 300),
                              Stream("copy", 256, 265), Stream("copy", 1024, 262)});
  const MemoryLevel* hbm = machine.Level("hbm");
  EXPECT_EQ(hbm->bytes_per_s.at(Pattern::kSequential).value, 262e9);
  EXPECT_EQ(hbm->bytes_per_s.at(Pattern::kSequential).source, "copy/1024");
  EXPECT_EQ(hbm->note, "");
}

TEST(MeasuredMachine, C9NothingPastTheCachesIsNotHbm) {
  const Machine machine = Of({Stream("copy", 8, 880), Stream("copy", 64, 300)});
  EXPECT_TRUE(machine.Level("hbm")->bytes_per_s.empty());
  EXPECT_THAT(machine.Level("hbm")->note, HasSubstr("not measured past the last cache"));
  EXPECT_EQ(Of({}).Level("hbm")->note, "not measured");
}

// reports.md C10: levels are named by their working sets, as many as there are plateaus.
TEST(MeasuredMachine, C10LevelsAreNamedByTheirWorkingSets) {
  const Machine machine =
      Of({Stream("copy", 1, 900), Stream("copy", 2, 890), Stream("copy", 16, 400),
          Stream("copy", 24, 390), Stream("copy", 256, 100), Stream("copy", 512, 99)});
  ASSERT_EQ(machine.memory.size(), 3u);
  EXPECT_EQ(machine.memory[0].name, "hbm");
  EXPECT_EQ(machine.memory[1].name, "working sets 1 MiB..2 MiB");
  EXPECT_EQ(machine.memory[1].bytes_per_s.at(Pattern::kSequential).value, 890e9);
  EXPECT_EQ(machine.memory[2].name, "working sets 16 MiB..24 MiB");
  const Machine unknown = Of({Stream("copy", 256, 100), Stream("copy", 512, 99)}, std::nullopt);
  EXPECT_TRUE(unknown.Level("hbm")->bytes_per_s.empty());
  EXPECT_THAT(unknown.Level("hbm")->note, HasSubstr("cache level unresolved"));
}

TEST(MeasuredMachine, PatternsHaveTheirOwnSweeps) {
  const Machine machine =
      Of({Stream("triad", 256, 200), Stream("triad", 512, 199), Stream("gather", 256, 20),
          Stream("gather", 512, 21), Stream("strided", 512, 50), Stream("transpose", 512, 70)});
  const auto& rates = machine.Level("hbm")->bytes_per_s;
  EXPECT_EQ(rates.at(Pattern::kSequential).value, 199e9);
  EXPECT_EQ(rates.at(Pattern::kGather).value, 21e9);
  EXPECT_FALSE(rates.contains(Pattern::kStrided)) << "one size is no plateau";
}

Machine Spec() {
  Machine spec;
  spec.peaks[ComputeUnit::kMatrix]["bf16"] = Figure{.value = 13.45e12};
  spec.memory = {{.name = "hbm"}, {.name = "l2", .capacity_bytes = Figure{.value = 32.0 * kMiB}}};
  spec.memory[0].bytes_per_s[Pattern::kSequential] = Figure{.value = 288e9};
  NetworkAxis axis;
  axis.name = "node";
  axis.fabric = Fabric::kSwitch;
  axis.link_bytes_per_s = Figure{.value = 450e9};
  spec.axes = {axis};
  return spec;
}

// reports.md B7: 15.9 where the sheet says 13.45 keeps its value and is marked.
TEST(MeasuredMachine, B7AboveSpecIsMarkedAndKept) {
  const Machine spec = Spec();
  const Machine machine = Of({Gemm("gemm/fast", 15.9e12)}, std::nullopt, &spec);
  EXPECT_EQ(Peak(machine)->value, 15.9e12);
  EXPECT_THAT(Peak(machine)->note, HasSubstr("above spec (118"));
  EXPECT_THAT(machine.notes, testing::ElementsAre(HasSubstr("matrix bf16: above spec (118")));
  EXPECT_EQ(Peak(Of({Gemm("gemm/ok", 13e12)}, std::nullopt, &spec))->note, "");
}

// reports.md A5: over three times the spec is no measurement.
TEST(MeasuredMachine, A5ImpossibleFiguresAreLeftOut) {
  const Machine spec = Spec();
  const Machine machine = Of({Gemm("gemm/alone", 50e12)}, std::nullopt, &spec);
  EXPECT_EQ(Peak(machine), nullptr);
  EXPECT_THAT(machine.notes, testing::ElementsAre(HasSubstr("impossible, left out (gemm/alone)")));
}

TEST(MeasuredMachine, TheSpecsCachesDecideWhereHbmBegins) {
  const Machine spec = Spec();
  const std::vector<Measurement> sweep = {Stream("copy", 256, 265), Stream("copy", 1024, 262)};
  const Machine machine = Of(sweep, std::nullopt, &spec);
  EXPECT_EQ(machine.Level("hbm")->bytes_per_s.at(Pattern::kSequential).value, 262e9);
}

// reports.md A13: latency 4.55 us and 86.3 GB/s come back from a sweep over sizes.
TEST(MeasuredMachine, A13AxesHaveTheLawOfEachCollective) {
  std::vector<Measurement> sweep;
  for (const int64_t bytes : {1024, 16384, 1048576, 67108864}) {
    sweep.push_back(
        Collective("all_gather", bytes, 4.55e-6 + static_cast<double>(bytes) / 86.3e9, 60e9));
  }
  const Machine machine = Of(sweep);
  ASSERT_EQ(machine.axes.size(), 1u);
  const NetworkAxis& axis = machine.axes[0];
  EXPECT_EQ(axis.name, "x");
  EXPECT_EQ(axis.size, 4);
  const CollectiveLaw& law = axis.laws.at("all_gather");
  EXPECT_NEAR(law.alpha_s.value, 4.55e-6, 1e-10);
  EXPECT_NEAR(law.payload_bytes_per_s.value, 86.3e9, 1e6);
  EXPECT_EQ(law.alpha_s.source, "all_gather/67108864");
  EXPECT_EQ(machine.Egress(axis), 60e9);
}

// reports.md A3: 479.9 GB/s on a link of 450 keeps its value and says so.
TEST(MeasuredMachine, A3AboveTheLinkIsMarked) {
  const Machine spec = Spec();
  const Machine machine =
      Of({Collective("all_reduce", 8000000000, 29.17e-3, 479.9e9)}, std::nullopt, &spec);
  ASSERT_EQ(machine.axes.size(), 1u);
  EXPECT_EQ(machine.axes[0].link_bytes_per_s->value, 479.9e9);
  EXPECT_THAT(machine.axes[0].link_bytes_per_s->note,
              HasSubstr("above spec (106.6 %): the network may reduce"));
  EXPECT_THAT(machine.notes, testing::ElementsAre(HasSubstr("bus bandwidth of x")));
}

TEST(MeasuredMachine, GroupsThatAreNoAxisAndBothWaysAreLeftOut) {
  Measurement halves = Collective("all_reduce", 1024, 1e-5, 1e9);
  halves.mesh["group"] = "halves";
  Measurement both = Collective("collective_permute", 1024, 1e-5, 2e9);
  both.params.Set("direction", std::string("both_ways"));
  Measurement pair = Collective("pair", 1024, 1e-5, 3e9);
  pair.mesh["group"] = nullptr;
  EXPECT_TRUE(Of({halves, both, pair}).axes.empty());
  // reports.md A4: nothing measured, no roof.
  EXPECT_TRUE(Of({}).axes.empty());
}

// reports.md D4: the best rate is the roof, and what large sizes leave of it is said.
TEST(MeasuredMachine, D4HostLinkSaysWhatLargeSizesLeave) {
  std::vector<Measurement> sweep;
  for (const auto& [mebibytes, rate] :
       {std::pair(1024, 25.1e9), std::pair(10240, 18.1e9), std::pair(20480, 16.5e9)}) {
    Measurement m = Case(Component::kHost, "host_to_device",
                         "host_to_device/" + std::to_string(mebibytes), "host_bw", rate);
    m.working_set_bytes = mebibytes * kMiB;
    m.memory_kind = "pinned";
    m.labels = {"host RAM, not a link"};
    sweep.push_back(m);
  }
  const Machine machine = Of(sweep);
  EXPECT_EQ(machine.host_to_device->value, 25.1e9);
  EXPECT_EQ(machine.host_to_device->note,
            "host RAM, not a link; 16.5 GB/s at the largest size, 20 GiB; pinned");
  EXPECT_FALSE(machine.device_to_host.has_value());
}

TEST(MeasuredMachine, LaunchIsTheLeastResolvedOne) {
  Measurement slow = Gemm("gemm/slow", 1);
  slow.launch_s = Interval{9e-6, 8e-6, 10e-6};
  slow.launch_resolved = true;
  Measurement quick = Gemm("gemm/quick", 1);
  quick.launch_s = Interval{5e-6, 4e-6, 6e-6};
  quick.launch_resolved = true;
  Measurement unresolved = Gemm("gemm/unresolved", 1);
  unresolved.launch_s = Interval{1e-6, -1e-6, 3e-6};
  const Machine machine = Of({slow, quick, unresolved});
  EXPECT_EQ(machine.launch_s->value, 5e-6);
  EXPECT_EQ(machine.launch_s->source, "gemm/quick");
  EXPECT_FALSE(Of({unresolved}).launch_s.has_value());
  // Starting four devices together is no figure of one, however quick it was once.
  Measurement together = Collective("all_gather", 1024, 1e-5, 1e9);
  together.launch_s = Interval{2e-6, 1e-6, 3e-6};
  together.launch_resolved = true;
  EXPECT_EQ(Of({slow, together}).launch_s->value, 9e-6);
  EXPECT_EQ(Of({together}).launch_s->value, 2e-6);
}

}  // namespace
}  // namespace ridgeline::model
