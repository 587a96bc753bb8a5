"""Every row of rows.py through the real `ridgeline run`; prints the table of what came out.

usage: fault_table_test.py RIDGELINE FAULTY_PLUGIN [WORD of the rows to run]
"""
import concurrent.futures
import math
import os
import re
import sys

import faulty
import rows


def numbers(value):
    """Every number inside a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, float) else []


def letters(text):
    """Text without what a table may change: blanks, line ends, escapes."""
    return re.sub(r"[^A-Za-z0-9]", "", re.sub(r"[\x00-\x1f]|\\x[0-9a-f]{2}", "", text))


def judge(row, outcome, shown):
    """What is wrong with the outcome of a row, in words."""
    problems = []
    if outcome.code != row.code:
        problems.append(f"exit code {outcome.code}, expected {row.code}")
    if not re.search(row.words, faulty.plain(outcome.err)):
        problems.append(f"stderr lacks {row.words!r}: {outcome.err!r}")
    ids = [m["id"] for m in outcome.records]
    if len(ids) != row.records or len(set(ids)) != len(ids):
        problems.append(f"{len(ids)} records, expected {row.records}: {ids}")
    for m in outcome.records:
        status, words = row.states.get(m["bench"], (None, ""))
        if status is None and m["status"] not in faulty.MEASURED:
            problems.append(f"{m['id']} was not hit but is {m['status']}: {m['reason']}")
        if status is not None and not re.fullmatch(status, m["status"]):
            problems.append(f"{m['id']} is {m['status']}, expected {status}: {m['reason']}")
        if status is not None and not re.search(words, m["reason"]):
            problems.append(f"the reason of {m['id']} lacks {words!r}: {m['reason']!r}")
        said = " ".join(m["labels"] + [a["text"] for a in m["audit"]])
        if not re.search(row.labels.get(m["bench"], ""), said):
            problems.append(f"{m['id']} lacks the words {row.labels[m['bench']]!r}: {said!r}")
        # What is not measured has no figure, and what is measured has passed its check.
        if m["status"] not in (*faulty.MEASURED, "emulated") and (m["time_s"] or m["rates"]):
            problems.append(f"{m['id']} is {m['status']} and has figures")
        if m["status"] in faulty.MEASURED and m["check"]["status"] != "passed":
            problems.append(f"{m['id']} is {m['status']} with check {m['check']['status']}")
        if not all(map(math.isfinite, numbers(m))):
            problems.append(f"{m['id']} holds a number that is none")
        # In the table too, in words.
        if status is not None and letters(m["reason"])[:30] not in letters(shown):
            problems.append(f"`ridgeline show` lacks the reason {m['reason']!r}")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown):
        problems.append("`ridgeline show` prints control characters")
    return problems


def try_row(place, row):
    name = re.sub(r"\W+", "_", row.name)
    outcome = place.run(name, row.script, args=row.args, env=row.env, hang_timeout=row.hang_timeout, **({"cases": row.cases} if row.cases else {}))
    shown = place.show(name) if outcome.records else ""
    return outcome, judge(row, outcome, shown)


def said(row, outcome):
    """The one line that a user would look at."""
    hit = [m for m in outcome.records if m["bench"] in row.states]
    if hit:
        return "; ".join(sorted({f"{m['status']}: {faulty.plain(m['reason'])}" for m in hit}))
    if row.labels and outcome.records:
        texts = [t for m in outcome.records for t in m["labels"] + [a["text"] for a in m["audit"]]]
        return "measured; " + next((t for t in texts if any(re.search(w, t) for w in row.labels.values())), "-")
    return "measured" if outcome.records else faulty.plain(outcome.err.replace("ridgeline: ", ""))


def main():
    place = faulty.Faulty(sys.argv[1], sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    table = [row for row in rows.ROWS if wanted in row.name]
    assert len({row.name for row in table}) == len(table), "two rows of one name"
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, (outcome, problems) in zip(table, pool.map(lambda r: try_row(place, r), table)):
            print(f"{row.name:<52} exit {outcome.code}  {len(outcome.records)} records  {said(row, outcome)[:150]}")
            for problem in problems:
                print(f"    WRONG: {problem[:700]}")
            failed += bool(problems)
    place.close()
    print(f"{len(table)} faults, {failed} of them not met as they should be")
    return 1 if failed or not table else 0


if __name__ == "__main__":
    sys.exit(main())
