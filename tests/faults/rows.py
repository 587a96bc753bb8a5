"""The fault table: what is injected, and what has to come out of a run of all_reduce, gemm and host_to_device."""
import dataclasses


@dataclasses.dataclass
class Row:
    name: str
    script: str
    code: int                 # exit code
    states: dict              # bench -> (status, words of its reason); every other case is measured
    words: str = ""           # on stderr
    cases: str = ""           # other than the usual three
    args: tuple = ()
    records: int = 3
    hang_timeout: float = 0.5
    labels: dict = dataclasses.field(default_factory=dict)  # bench -> words of its audit or labels
    env: dict = dataclasses.field(default_factory=dict)


def error(entry, call="", code="INTERNAL", more=""):
    return f'{entry}{call} error code={code} text="injected words"{more}'


# Without these there is no client: the run ends with exit code 3 and the entry's name.
START = ["Plugin_Initialize", "Client_Create", "Client_PlatformName", "Client_Devices", "Device_GetDescription",
         "Device_IsAddressable", "Device_AddressableMemories", "Memory_Kind", "DeviceDescription_Id",
         "DeviceDescription_Kind", "DeviceDescription_ProcessIndex"]
# These only tell more, or free what nobody needs any longer.
EXTRAS = ["Client_PlatformVersion", "Plugin_Attributes", "DeviceDescription_Attributes", "Device_DefaultMemory",
          "Device_MemoryStats", "Event_Destroy", "Event_IsReady", "Buffer_Destroy", "Executable_Destroy",
          "LoadedExecutable_Destroy", "Client_Destroy"]
# The first call of these costs the first case: all_reduce.
CASE = ["Client_Compile", "LoadedExecutable_GetExecutable", "Executable_NumOutputs", "Client_BufferFromHostBuffer",
        "Buffer_ReadyEvent", "Event_Await", "LoadedExecutable_Execute", "Buffer_ToHostBuffer", "Buffer_ElementType",
        "Buffer_Dimensions"]

ROWS = []

ROWS += [Row(f"error in {e}", error(e), 3, {}, f"PJRT_{e}: injected words", records=0) for e in START]
ROWS += [Row(f"error in {e}", error(e), 0, {}) for e in EXTRAS]
ROWS += [Row(f"error in {e}", error(e, "#1"), 4, {"all_reduce": ("failed", f"PJRT_{e}: injected words")}) for e in CASE]
ROWS += [
    Row("error in Executable_OptimizedProgram", error("Executable_OptimizedProgram", "#1"), 0, {},
        labels={"all_reduce": "does not give the compiled program back: injected words"}),
    Row("error in Buffer_UnsafePointer", error("Buffer_UnsafePointer"), 0, {},
        labels={"host_to_device": "cannot tell whether"}),
]

# Success without a result.
ROWS += [Row(f"NULL from {e}", f"{e} null", 3, {}, f"PJRT_{e}: .*gave no|the plugin sees no device", records=0)
         for e in ("Client_Create", "Client_PlatformName", "Client_Devices", "Device_GetDescription", "Memory_Kind",
                   "DeviceDescription_Kind")]
ROWS += [Row(f"NULL from {e}", f"{e} null", 0, {})
         for e in ("Plugin_Initialize", "Client_PlatformVersion", "Plugin_Attributes", "DeviceDescription_Attributes",
                   "DeviceDescription_ProcessIndex", "Device_AddressableMemories", "Device_DefaultMemory",
                   "Device_MemoryStats", "Event_Destroy", "Buffer_Destroy", "Executable_Destroy",
                   "LoadedExecutable_Destroy", "Client_Destroy")]
ROWS += [Row(f"NULL from {e}", f"{e}#1 null", 4, {"all_reduce": ("failed", f"PJRT_{e}: .*(gave no|has no results|type 0|Type 0)")})
         for e in ("Client_Compile", "LoadedExecutable_GetExecutable", "Executable_NumOutputs",
                   "Client_BufferFromHostBuffer", "Buffer_ReadyEvent", "LoadedExecutable_Execute",
                   "Buffer_ToHostBuffer", "Buffer_ElementType")]
ROWS += [
    Row("NULL from Buffer_Dimensions", "Buffer_Dimensions#1 null", 4,
        {"all_reduce": ("failed", "takes 4 bytes of host memory, 4096 were given")}),
    Row("NULL from Executable_OptimizedProgram", "Executable_OptimizedProgram null program=dot_general", 0,
        {"gemm": ("suspect", "cannot be read: not a serialized HLO module: it is empty")}),
    Row("NULL from DeviceDescription_Id", "DeviceDescription_Id null", 3, {}, "gives two devices the id 0", records=0),
    Row("NULL from Buffer_UnsafePointer", "Buffer_UnsafePointer null", 0, {},
        labels={"host_to_device": "cannot tell whether"}),
    Row("NULL from Event_Await", "LoadedExecutable_Execute#3+ late ms=30 program=dot_general; Event_Await null", 4,
        # The others' events may be there in time or not; what is measured passes its check in any case.
        {b: ("failed|ok|unconverged|suspect", "") for b in ("all_reduce", "host_to_device")} |
        {"gemm": ("failed", "PJRT_Event_Await: the plugin's wait was over before its event was there")}),
    Row("NULL from Event_IsReady", "Event_IsReady#1 null", 4,
        {"all_reduce": ("failed", "the plugin's wait was over before its event was there")}),
    Row("no devices that are addressable", "Device_IsAddressable null", 3, {}, "sees no device", records=0),
    Row("no event for the end of a run", "LoadedExecutable_Execute#1 drop", 4,
        {"all_reduce": ("failed", "gave no event for the end of the run")}),
    Row("no event for a copy to the host", "Buffer_ToHostBuffer#1 drop", 4,
        {"all_reduce": ("failed", "gave no event to wait for")}),
    Row("no event for a ready buffer", "Buffer_ReadyEvent#1 drop", 4,
        {"all_reduce": ("failed", "gave no event to wait for")}),
    Row("no event for the host's buffer", "Client_BufferFromHostBuffer drop", 0, {}),
]

# Older plugins (reports.md F4).
ROWS += [Row(f"no {e} in the table", f"{e} missing; api version value=0.38", 3, {},
             fr"plugin lacks PJRT_{e} \(API 0.38\)", records=0)
         for e in ("Client_Create", "Client_PlatformName", "Client_Devices", "Device_GetDescription",
                   "DeviceDescription_Id", "DeviceDescription_Kind", "DeviceDescription_ProcessIndex",
                   "Device_IsAddressable")]
ROWS += [Row(f"no {e} in the table", f"{e} missing", 0, {})
         for e in ("Plugin_Initialize", "Client_PlatformVersion", "Plugin_Attributes", "DeviceDescription_Attributes",
                   "Device_DefaultMemory", "Device_MemoryStats", "Device_AddressableMemories", "Memory_Kind",
                   "Buffer_Destroy", "Event_Destroy", "Executable_Destroy", "LoadedExecutable_Destroy",
                   "Client_Destroy", "Event_IsReady", "Event_OnReady")]
ALL = ("all_reduce", "gemm", "host_to_device")
ROWS += [Row(f"no {e} in the table", f"{e} missing; api version value=0.38", 0,
             {bench: ("unsupported", fr"plugin lacks PJRT_{e} \(API 0.38\)") for bench in hit})
         for e, hit in (("Client_Compile", ALL[:2]), ("LoadedExecutable_GetExecutable", ALL[:2]),
                        ("Executable_NumOutputs", ALL[:2]), ("LoadedExecutable_Execute", ALL[:2]),
                        ("Buffer_ElementType", ALL[:2]), ("Buffer_Dimensions", ALL[:2]),
                        ("Client_BufferFromHostBuffer", ALL), ("Buffer_ReadyEvent", ALL), ("Event_Await", ALL),
                        ("Buffer_ToHostBuffer", ALL))]
ROWS += [
    Row("no Executable_OptimizedProgram in the table", "Executable_OptimizedProgram missing", 0, {},
        labels={"gemm": "does not give the compiled program back: plugin lacks"}),
    Row("no Buffer_UnsafePointer in the table", "Buffer_UnsafePointer missing", 0, {},
        labels={"host_to_device": "cannot tell whether"}),
    Row("no copy and no way to tell", "Buffer_UnsafePointer missing", 0,
        {"host_to_device": ("suspect", "cannot tell whether")},
        cases="  - {bench: host_to_device, bytes: 4KiB, semantics: zero_copy}\n", records=1),
    Row("no error functions in the table",
        "Error_Message missing; Error_GetCode missing; " + error("LoadedExecutable_Execute", "#1"), 4,
        {"all_reduce": ("failed", "the plugin gave no message")}),
    Row("no code in an error", "Error_GetCode null; " + error("LoadedExecutable_Execute", "#1"), 4,
        {"all_reduce": ("failed", "injected words")}),
    Row("no way to free an error", "Error_Destroy missing; " + error("LoadedExecutable_Execute", "#1"), 4,
        {"all_reduce": ("failed", "injected words")}),
    Row("an error about the error", error("Error_GetCode") + "; " + error("LoadedExecutable_Execute", "#1"), 4,
        {"all_reduce": ("failed", "injected words")}),
    Row("no message in an error", "Error_Message null; " + error("LoadedExecutable_Execute", "#1"), 4,
        {"all_reduce": ("failed", "the plugin gave no message")}),
    Row("API 0.38, table ends before Device_MemoryStats", "api version value=0.38; api size before=Device_MemoryStats",
        0, {b: ("unsupported", r"plugin lacks PJRT_\w+ \(API 0.38\)") for b in ALL}),
    Row("API 0.38, table ends before Buffer_CopyRawToHost",
        "api version value=0.38; api size before=Buffer_CopyRawToHost", 0, {}),
    Row("API 1.0", "api version value=1.0", 3, {}, r"speaks PJRT API 1.0, ridgeline speaks 0.x", records=0),
    Row("table without functions", "api size before=Error_Destroy", 3, {}, "plugin lacks PJRT_Client_Create", records=0),
    Row("no table", "api null", 3, {}, "gave no PJRT function table", records=0),
]

# Codes of errors, at compile and at run.
ROWS += [Row(f"{code} from Client_Compile", error("Client_Compile", "#1", code), exit_code,
             {"all_reduce": (status, "injected words")})
         for code, status, exit_code in (
             ("UNIMPLEMENTED", "unsupported", 0), ("INVALID_ARGUMENT", "unsupported", 0), ("UNKNOWN", "failed", 4),
             ("ABORTED", "failed", 4), ("UNAVAILABLE", "failed", 4), ("DEADLINE_EXCEEDED", "failed", 4),
             ("FAILED_PRECONDITION", "failed", 4), ("RESOURCE_EXHAUSTED", "skipped", 0))]
ROWS += [Row(f"{code} from LoadedExecutable_Execute", error("LoadedExecutable_Execute", "#2", code), exit_code,
             {"all_reduce": (status, "injected words")})
         for code, status, exit_code in (
             ("FAILED_PRECONDITION", "failed", 4), ("OUT_OF_RANGE", "failed", 4), ("DATA_LOSS", "failed", 4),
             ("UNAVAILABLE", "failed", 4), ("CANCELLED", "failed", 4), ("RESOURCE_EXHAUSTED", "skipped", 0))]
ROWS += [
    Row("out of memory from 8 KiB on", error("Client_BufferFromHostBuffer", "", "RESOURCE_EXHAUSTED", " min_bytes=8192"),
        0, {"gemm": ("skipped", "injected words; the case needs .*iB")}),
    Row("out of memory at the check", error("Buffer_ToHostBuffer", "#1", "RESOURCE_EXHAUSTED", " min_bytes=8192"),
        0, {"gemm": ("skipped", "injected words")}),
    Row("error in the middle of the samples", error("LoadedExecutable_Execute", "#9", more=" program=dot_general"), 4,
        {"gemm": ("failed", "run: PJRT_LoadedExecutable_Execute: injected words")}),
    Row("error of a late event", error("Event_Await", "#40"), 4, {"all_reduce": ("failed", "injected words")}),
    Row("words that are no UTF-8", 'LoadedExecutable_Execute#1 error code=INTERNAL text="lost \udcff\udcfe device"', 4,
        {"all_reduce": ("failed", "lost .* device")}),
    Row("words without end", f'LoadedExecutable_Execute#1 error code=INTERNAL text="begin {"x" * 100_000} end"', 4,
        {"all_reduce": ("failed", r"begin x+ … \(\d+ bytes in all\) … x+ end$")}),
    Row("words with control characters", 'LoadedExecutable_Execute#1 error code=INTERNAL text="a\\n\x1b[31m=1+1"', 4,
        {"all_reduce": ("failed", "a")}),
]

# The process.
DEATHS = [("abort", "signal 6"), ("segfault", "signal 11"), ("kill", "signal 9"), ("exit status=3", "exit code 3"),
          ("exit status=0", "exit code 0")]
ROWS += [Row(f"{action} in Client_Compile", f"Client_Compile#1 {action} program=dot_general", 4,
             {"gemm": ("failed", f"died in phase 'compile': {words}")}) for action, words in DEATHS]
ROWS += [Row(f"{action} in LoadedExecutable_Execute", f"LoadedExecutable_Execute#5 {action} program=all_reduce", 4,
             {"all_reduce": ("failed", f"died in phase '(calibrate|sample)': {words}")}) for action, words in DEATHS]
ROWS += [
    Row("abort in Buffer_ToHostBuffer", "Buffer_ToHostBuffer#1 abort program=dot_general", 4,
        {"gemm": ("failed", "died in phase 'check': signal 6")}),
    Row("segfault in Client_BufferFromHostBuffer", "Client_BufferFromHostBuffer#1 segfault", 4,
        {"all_reduce": ("failed", "died in phase 'load': signal 11")}),
    Row("abort in Event_Await", "Event_Await#30 abort", 4, {"all_reduce": ("failed", "signal 6")}),
    Row("abort in Buffer_Destroy", "Buffer_Destroy#9 abort", 4, {"all_reduce": ("failed", "signal 6")}),
    Row("abort in Executable_OptimizedProgram", "Executable_OptimizedProgram#1 abort", 4,
        {"all_reduce": ("failed", "died in phase 'compile': signal 6")}),
    Row("abort with last words", 'Client_Compile#1 say fd=2 text="Check failed: x == y"; Client_Compile#1 abort', 4,
        {"all_reduce": ("failed", "its last words: Check failed: x == y")}),
    Row("abort in Client_Create", "Client_Create abort", 3, {}, "the worker process dies at once: signal 6", records=0),
    Row("abort in Plugin_Initialize", "Plugin_Initialize abort", 3, {}, "dies at once: signal 6", records=0),
    Row("abort in Client_Destroy", "Client_Destroy abort", 0, {}),
    Row("hang in Client_Destroy", "Client_Destroy hang", 0, {}),
    Row("abort once in Client_Create", "Client_Create#1 abort", 0, {}),
    Row("abort in every case", "LoadedExecutable_Execute abort", 4,
        {b: ("failed", "signal 6") for b in ("all_reduce", "gemm")}),
    Row("abort that leaves a child", "LoadedExecutable_Execute#5 leave_child s=20; LoadedExecutable_Execute#5 abort", 4,
        {"all_reduce": ("failed", "signal 6")}),
    Row("words on the worker's own pipe", 'Client_Compile say fd=3 text="half a line"', 0, {}),
    Row("words on stdout", 'Client_Compile say fd=1 text="{\\"event\\":\\"end\\"}\\n"', 0, {}),
    Row("hang in Client_Compile", "Client_Compile#1 hang program=dot_general", 4,
        {"gemm": ("failed", "no sign of life in phase 'compile' beyond the limit; killed")}),
    Row("hang in LoadedExecutable_Execute", "LoadedExecutable_Execute#4 hang", 4,
        {"all_reduce": ("failed", "no sign of life in phase '(calibrate|sample)' beyond the limit; killed")}),
    Row("hang in Event_Await", "Event_Await#30 hang", 4, {"all_reduce": ("failed", "no sign of life")}),
    Row("hang in Buffer_ToHostBuffer", "Buffer_ToHostBuffer#1 hang", 4,
        {"all_reduce": ("failed", "no sign of life in phase 'check'")}),
    Row("hang until the time limit", "LoadedExecutable_Execute#4 hang program=dot_general", 4, {},
        "stopped: 1 cases done, 2 not run; go on with: ridgeline run", args=("--time-limit", "1"), hang_timeout=60,
        records=1),
    Row("hang in Buffer_Destroy", "Buffer_Destroy#3 hang", 4, {"all_reduce": ("failed", "no sign of life")}),
]

# Devices that change while the run goes on: what was measured stays.
AGAIN = "LoadedExecutable_Execute#1 abort program=dot_general; "
ROWS += [
    Row("one device less after a restart", AGAIN + "Client_Devices#2+ count n=1", 3,
        {"gemm": ("failed", "signal 6")}, "asked for 2 devices, the plugin sees 1", records=2),
    Row("no device after a restart", AGAIN + "Client_Devices#2+ count n=0", 3, {"gemm": ("failed", "signal 6")},
        "the plugin sees no device", records=2),
    Row("no client after a restart", AGAIN + error("Client_Create", "#2+"), 3, {"gemm": ("failed", "signal 6")},
        "PJRT_Client_Create: injected words", records=2),
    Row("abort at every restart", AGAIN + "Client_Create#2+ abort", 3, {"gemm": ("failed", "signal 6")},
        "the worker process dies at once: signal 6", records=2),
]

# Answers that are wrong.
ROWS += [Row(f"wrong data: {how}, {bench}", f"Buffer_ToHostBuffer wrong how={how} program={text}", 4,
             {bench: ("wrong_result", "")})
         for bench, text in (("all_reduce", "all_reduce"), ("gemm", "dot_general"))
         for how in ("element", "stale", "nan")]
ROWS += [
    Row("wrong data: element, host_to_device", "Buffer_ToHostBuffer wrong how=element min_bytes=4096 device=9; "
        "Buffer_ToHostBuffer wrong how=element", 4, {b: ("wrong_result", "") for b in ALL}),
    Row("wrong data: swapped ranks", "Buffer_ToHostBuffer wrong how=swap", 4,
        {b: ("wrong_result", "elements wrong; first device 0") for b in ("all_to_all", "reduce_scatter")},
        cases="  - {bench: [all_to_all, reduce_scatter], bytes: 4KiB}\n", records=2),
    Row("maximum for sum", 'Client_Compile text from="stablehlo.add %x" to="stablehlo.maximum %x" program=all_reduce', 4,
        {"all_reduce": ("wrong_result", "sum over the group, .* elements wrong")}),
    Row("events that do not wait", "LoadedExecutable_Execute late ms=30 program=dot_general; "
        "LoadedExecutable_Execute early program=dot_general", 4,
        {"gemm": ("failed", "said that the run was over .* before its results were there")}, hang_timeout=5),
]

# The audit under attack: the program that runs is right, what the plugin says of it is changed.
LOOP = "  - {bench: %s}\n"
ATTACKED = {
    "gemm": ("dot_general", LOOP % "gemm, m: 64, n: 64, k: 64, dtype: f32"),
    "triad": ("stablehlo.multiply", LOOP % "triad, bytes: 64KiB"),
    "copy": ("ridgeline", LOOP % "copy, bytes: 64KiB"),
    "all_reduce": ("all_reduce", LOOP % "all_reduce, bytes: 4KiB"),
    "pair": ("collective_permute", LOOP % "pair, bytes: 4KiB, source: 0, target: 1"),
}


def attack(how, bench, status, words, note=""):
    text, cases = ATTACKED[bench]
    other = LOOP % "host_to_device, bytes: 4KiB"  # what is not hit
    return Row(f"audit: {how}, {bench}", f"Executable_OptimizedProgram change how={how} program={text}",
               4 if status == "failed" else 0, {bench: (status, words)}, cases=cases + other, records=2,
               labels={bench: note or words})


for b in ATTACKED:
    ROWS += [
        attack("empty", b, "failed", "the work was optimised away: no .* in the loop body"),
        attack("hoist", b, "failed", "hoisted out of the loop: .* runs once a call, not once a round"),
        attack("copy", b, "failed", "also moves .* in the body|unrolled x2: the body holds 2 copy"),
        attack("trips", b, "failed", "the trip count was changed: .* the constant 7, not with parameter 0"),
        attack("step", b, "failed", "the trip count was changed: the counter of .* steps by 2"),
        attack("no_loop", b, "failed", "the loop is gone: no while runs in the compiled program"),
        attack("constant", b, "failed", "is a constant of .*iB: big arrays must be parameters"),  # reports.md C5
    ]
ROWS += [attack("twice", b, "failed", "unrolled x2: the body holds 2") for b in ("gemm", "all_reduce", "triad")]
ROWS += [attack("widen", b, "emulated", "f32 is computed as f64", "f32 computed as f64") for b in ("gemm", "all_reduce")]
ROWS += [
    attack("groups", "all_reduce", "failed", r"runs in groups \{\{0\}\{1\}\}, asked were \{\{0,1\}\}"),
    attack("groups", "pair", "failed", r"sends along \{\{1,0\}\}, asked were \{\{0,1\}\}"),
    attack("cut", "gemm", "suspect", "the compiled program cannot be read: not a serialized HLO module"),
    attack("garbage", "gemm", "suspect", "the compiled program cannot be read: not a serialized HLO module"),
]

# The program that is compiled is changed: what the compiler makes of it runs and is audited.
GEMM = ATTACKED["gemm"][1]
UNGUARD = "Client_Compile text from=%b#1 to=%a0; Client_Compile text from=%b#2 to=%a1"


def compiled(what, script, status, words, bench="gemm"):
    return Row(f"compiled: {what}", script, 4, {bench: (status, words)}, cases=ATTACKED[bench][1], records=1)


ROWS += [
    compiled("operands without their barrier (reports.md C4)", UNGUARD, "failed",
             "hoisted out of the loop|optimised away"),
    compiled("one operand for the other", "Client_Compile text from=%b#2 to=%b#1", "wrong_result", "elements wrong"),
    compiled("counter steps by two", 'Client_Compile text from="dense<1> : tensor<i32>" to="dense<2> : tensor<i32>"',
             "failed", "the trip count was changed: the counter of .* steps by 2"),
    compiled("constant operand",
             'Client_Compile text from="} do {" to="} do {\\n%k = stablehlo.constant dense<1.5> : tensor<64x64xf32>"; '
             'Client_Compile text from=%b#2 to=%k', "failed", "works on a constant|optimised away|big arrays"),
    compiled("each device for itself", 'Client_Compile text from="dense<[[0, 1]]> : tensor<1x2xi64>" '
             'to="dense<[[0], [1]]> : tensor<2x1xi64>"', "failed", "runs in groups|optimised away", "all_reduce"),
]


# Faults in one of three passes, each a worker process of its own (docs/adr/0009). `code` 0, and states of no figure as above.
def in_pass(what, script, code, states, words="", **more):
    return Row(f"passes: {what}", script, code, states, words, args=("--passes", "3"), **more)


GEMM_RUNS = " program=dot_general"
# One block a case: whether its times lie on a line is up to the machine.
HALF = ("unconverged|suspect", "the run ended after 1 of 3 passes")
for n in (2, 3):
    IN = f" process={n}"
    SAID = f"in pass {n} of 3: "
    ROWS += [
        in_pass(f"error in Client_Compile of pass {n}", error("Client_Compile", more=GEMM_RUNS + IN), 4,
                {"gemm": ("failed", SAID + "compile: PJRT_Client_Compile: injected words")}),
        in_pass(f"error in LoadedExecutable_Execute of pass {n}", error("LoadedExecutable_Execute", more=GEMM_RUNS + IN), 4,
                {"gemm": ("failed", SAID + "run: PJRT_LoadedExecutable_Execute: injected words")}),
        in_pass(f"out of memory in pass {n}",
                error("Client_BufferFromHostBuffer", "", "RESOURCE_EXHAUSTED", " min_bytes=8192" + IN), 0,
                {"gemm": ("skipped", SAID + "load: .*injected words; the case needs")}),
        in_pass(f"wrong data in pass {n}", f"Buffer_ToHostBuffer wrong how=element{GEMM_RUNS}{IN}", 4,
                {"gemm": ("wrong_result", SAID)}),
        in_pass(f"abort in pass {n}", f"LoadedExecutable_Execute#3 abort{GEMM_RUNS}{IN}", 4,
                {"gemm": ("failed", SAID + "the worker died in phase '(calibrate|sample)': signal 6")}),
        in_pass(f"kill in pass {n}", f"Client_Compile kill{GEMM_RUNS}{IN}", 4,
                {"gemm": ("failed", SAID + "the worker died in phase 'compile': signal 9")}),
        in_pass(f"hang in pass {n}", f"LoadedExecutable_Execute#3 hang{GEMM_RUNS}{IN}", 4,
                {"gemm": ("failed", SAID + "no sign of life in phase '(calibrate|sample)'")}),
        in_pass(f"refused audit in pass {n}", f"Executable_OptimizedProgram change how=hoist{GEMM_RUNS}{IN}", 4,
                {"gemm": ("failed", SAID + "audit: hoisted out of the loop")}),
        in_pass(f"events that do not wait in pass {n}",
                f"LoadedExecutable_Execute late ms=30{GEMM_RUNS}{IN}; LoadedExecutable_Execute early{GEMM_RUNS}{IN}", 4,
                {"gemm": ("failed", SAID + ".*said that the run was over")}, hang_timeout=5),
    ]
for n in (1, 2, 3):
    IN = f" process={n}"
    ROWS += [
        in_pass(f"another dtype in pass {n}", f"Executable_OptimizedProgram change how=widen{GEMM_RUNS}{IN}", 0,
                {"gemm": ("emulated", "f32 is computed as f64")}),
        in_pass(f"a program that cannot be read in pass {n}", f"Executable_OptimizedProgram change how=cut{GEMM_RUNS}{IN}", 0,
                {"gemm": ("suspect", "the compiled program cannot be read")}),
        in_pass(f"a program that is not given in pass {n}", error("Executable_OptimizedProgram", more=GEMM_RUNS + IN), 0, {},
                labels={"gemm": "does not give the compiled program back: injected words"}),
        in_pass(f"no way to tell a copy in pass {n}", error("Buffer_UnsafePointer", more=IN), 0, {},
                labels={"host_to_device": "cannot tell whether"}),
    ]
# The plugin is gone for the later passes: what one pass measured stays, and says that it is no more than that.
ROWS += [
    in_pass("one device less in pass 2", "Client_Devices count n=1 process=2", 3, {b: HALF for b in ALL},
            "asked for 2 devices, the plugin sees 1"),
    in_pass("no client in pass 2", error("Client_Create", more=" process=2"), 3, {b: HALF for b in ALL},
            "PJRT_Client_Create: injected words"),
    in_pass("abort at every start from pass 2 on", "Client_Create#2+ abort", 3, {b: HALF for b in ALL},
            "the worker process dies at once: signal 6"),
    in_pass("abort once at the start of pass 2", "Client_Create abort process=2", 0, {}),
    in_pass("abort at the end of pass 2", "Client_Destroy abort process=2", 0, {}),
    in_pass("abort at the third compile of every process", "Client_Compile#3+ abort", 4,
            {b: ("failed", "the worker died in phase 'compile': signal 6") for b in ALL[:2]}),
]
