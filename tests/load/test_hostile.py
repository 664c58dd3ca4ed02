"""Hostile input: each case gets a clear message with file and line, and nothing but an `InputError`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gangproof.errors import InputError
from gangproof.load import load_manifests, load_manifests_text, load_scenarios_text

GROUP = "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\n"
NAMED = GROUP + "metadata: {name: g}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
SPEC = "spec: {schedulingPolicy: {gang: {minCount: 2}}}\n"
CONTAINERS = "spec: {containers: [{name: c}]}\n"
REQUESTING = POD + "spec: {containers: [{name: c, resources: {requests: {%s}}}]}\n"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)
MANY = "".join(f"- {i}\n" for i in range(30))

# Name, text, line of the first problem, a text in the message.
CORPUS: list[tuple[str, str, int, str]] = [
    ("malformed yaml", "a: b: c\n", 1, "mapping values are not allowed"),
    ("an unclosed quote", 'a: "b\n', 2, "unexpected end of stream"),
    ("a tab as indentation", "a:\n\tb: 1\n", 2, "cannot start any token"),
    ("an unclosed flow", "a: [1, 2\nb: 3\n", 2, "did not find expected"),
    ("malformed json", '{"a": 1,\n "b": }', 2, "(column 7: expecting value)"),
    ("truncated json", '{"a": [1, 2', 1, "(column 12: expecting ',' delimiter)"),
    ("a control character", "a: \x01\n", 1, "a character that YAML does not allow"),
    ("a null character", "\x00", 1, "a character that YAML does not allow"),
    ("half a surrogate pair", "a: \ud800\n", 1, "half of a surrogate pair"),
    ("a duplicate key in yaml", NAMED + "metadata: {name: h}\n", 4, '"metadata" a second time'),
    ("a duplicate key in json", '{"kind": "Pod",\n"kind": "Pod"}', 2, '"kind" a second time'),
    ("a duplicate key deep in json", '{"a": {"b": 1,\n"b": 2}}', 2, '"b" a second time'),
    ("an alias bomb", BOMB, 6, "aliases that expand without end"),
    ("an alias of itself", "a: &x [*x]\n", 1, "inside of what it stands for"),
    ("an alias of nothing", "a: *x\n", 1, "alias *x"),
    ("a merge of a number", "a:\n  <<: 3\n", 2, "a merge of something else"),
    ("a collection as a key", "? [1, 2]\n: 3\n", 1, "a collection as a key"),
    ("a tag", "a: !!python/object:os.system x\n", 1, "the tag"),
    ("a tag on a collection", "a: !thing {}\n", 1, "the tag"),
    ("yaml nested too deeply", "".join(f"{' ' * i}a:\n" for i in range(70)), 65, "nested too deeply"),
    ("flow nested too deeply", "a: " + "[" * 70, 1, "nested too deeply"),
    ("flow nested without end", "- " + "[" * 100_000, 1, "nesting"),
    ("json nested without end", '\n' + '{"a":\n' * 100_000, 66, "nested too deeply"),
    ("a number without end", "a: " + "1" * 5000, 1, "a number of 5000 digits"),
    ("a number without end in json", '{"a":\n' + "1" * 5000 + "}", 2, "an integer of 5000 digits"),
    ("not a number in json", '{"NaN":\n"NaN", "a":\nNaN}', 3, "NaN"),
    ("a list on top", "- 1\n- 2\n", 1, "found a list"),
    ("a scalar on top", "hello\n", 1, 'the string "hello"'),
    ("no kind", "apiVersion: v1\n", 1, "kind: found nothing"),
    ("no version", "kind: Pod\n", 1, "apiVersion: found nothing"),
    ("a kind of the wrong type", "apiVersion: v1\nkind: [Pod]\n", 2, "kind: found a list"),
    ("a scenario", "scenario: s\nsteps: []\n", 1, "this is a scenario"),
    ("items that are no list", "apiVersion: v1\nkind: List\nitems: 3\n", 3, "items: found the integer 3"),
    ("items that are no objects", f"apiVersion: v1\nkind: List\nitems:\n{MANY}", 4, "and 10 more"),
    ("v1alpha1", GROUP.replace("alpha2", "alpha1") + "metadata: {name: g}\n", 1, "v1alpha1 had no PodGroup"),
    ("v1beta1", GROUP.replace("alpha2", "beta1") + "metadata: {name: g}\n", 1, "that is of v1.37"),
    ("an old workload", "apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\n", 1, "podGroupTemplates"),
    ("a pod of another version", "apiVersion: v2\nkind: Pod\n", 1, "expected v1"),
    ("an old field", POD + "spec:\n  containers: [{name: c}]\n  workloadRef: {name: w}\n", 6, "schedulingGroup"),
    ("an unknown field", NAMED + "spec:\n  schedulingPolcy: {}\n", 5, "did you mean schedulingPolicy?"),
    ("a field in other case", POD + "spec:\n  Containers: []\n", 5, "did you mean containers?"),
    ("a field without end", NAMED + f"spec:\n  {'x' * 900}: 1\n", 5, "(900 characters)"),
    ("a wrong type", NAMED + 'spec: {schedulingPolicy: {gang: {minCount: "2"}}}\n', 4, "expected an integer"),
    ("a truth value", NAMED + "spec: {schedulingPolicy: {gang: {minCount: yes}}}\n", 4, "the boolean true"),
    ("a fraction", NAMED + "spec: {schedulingPolicy: {gang: {minCount: 1.5}}}\n", 4, "the number 1.5"),
    ("a label that is a number", POD.replace("p}", "p, labels: {a: 1}}"), 3, "quote it"),
    ("a list for a mapping", NAMED + "spec: [1]\n", 4, "found a list"),
    ("a mapping for a list", POD + "spec: {containers: {name: c}}\n", 4, "expected a list"),
    ("nothing in a list", POD + "spec: {containers: [null]}\n", 4, "found nothing"),
    ("no spec", NAMED, 1, "spec: found nothing"),
    ("no metadata", GROUP + SPEC, 1, "metadata: found nothing"),
    ("metadata that is text", GROUP + "metadata: g\n" + SPEC, 3, 'the string "g"'),
    ("a name that is a number", GROUP + "metadata: {name: 7}\n" + SPEC, 3, "the integer 7"),
    ("a hostile name", GROUP + r'metadata: {name: "\e[31m\0\n../x"}' + "\n" + SPEC, 3, r"\x1b[31m\x00\n../x"),
    ("a long name", GROUP + f"metadata: {{name: {'a' * 300}}}\n" + SPEC, 3, "(300 characters)"),
    ("an overflow", NAMED + "spec: {schedulingPolicy: {gang: {minCount: 2147483648}}}\n", 4, "at most 2147483647"),
    ("a negative quantity", REQUESTING % 'cpu: "-1"', 4, "at least 0"),
    ("a quantity beyond 63 bits", REQUESTING % "memory: 9Ei", 4, "at most 9223372036854775807"),
    ("infinity as a quantity", REQUESTING % "cpu: .inf", 4, "a quantity such as"),
    ("a time that is none", POD.replace("p}", "p, creationTimestamp: yesterday}") + CONTAINERS, 3, "a time such as"),
    ("an object twice", NAMED + SPEC + "---\n" + NAMED + SPEC.replace("2", "3"), 8, "the first is in x.yaml:3"),
    ("the same object twice", NAMED + SPEC + "---\n" + NAMED + SPEC, 8, "a second PodGroup default/g, expected each"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "message"), [case[1:] for case in CORPUS], ids=[c[0] for c in CORPUS]
)
def test_one_clear_message(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_manifests_text(text, "x.yaml" if not text.startswith("{") else "x.json")
    first = caught.value.problems[0]
    report = str(caught.value)
    assert message in report
    assert (first.line, first.file[:2]) == (line, "x.")
    assert first.found
    assert first.expected
    assert len(report) < 10_000
    report.encode()


@pytest.mark.parametrize("text", [case[1] for case in CORPUS], ids=[case[0] for case in CORPUS])
def test_the_same_error_every_time_and_for_scenarios_too(text: str) -> None:
    reports: set[str] = set()
    for load in (load_manifests_text, load_manifests_text, load_scenarios_text):
        with pytest.raises(InputError) as caught:
            load(text)
        if load is load_manifests_text:
            reports.add(str(caught.value))
    assert len(reports) == 1


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.yaml").write_bytes(b"a: 1\nb: \xff\n")
    for path, message in (
        ("absent.yaml", "no such file or directory"),
        ("empty", "a folder without manifests"),
        ("bad.yaml", "byte 0xff, which is no UTF-8"),
        ("a\0b", "a readable file"),
    ):
        with pytest.raises(InputError, match=message):
            load_manifests([tmp_path / path])


def test_every_bad_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: b: c")
    (tmp_path / "b.yaml").write_text(NAMED)
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(InputError) as caught:
        load_manifests([tmp_path])
    assert {Path(problem.file).name for problem in caught.value.problems} == {"a.yaml", "b.yaml", "c.json"}


def test_a_long_text_is_no_trouble() -> None:
    long = "x" * 10_000_000
    with pytest.raises(InputError) as caught:
        load_manifests_text(f'{NAMED}spec: {{disruptionMode: "{long}", schedulingPolicy: {{basic: {{}}}}}}\n')
    assert "(10000000 characters)" in str(caught.value)
    assert len(str(caught.value)) < 1000
    annotated = f'{GROUP}metadata: {{name: g, annotations: {{a: "{long}"}}}}\n{SPEC}'
    assert len(load_manifests_text(annotated).objects) == 1


def test_too_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangproof.load.manifests.MOST_OBJECTS", 100)
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}"}} for i in range(101)]
    with pytest.raises(InputError, match="more than 100 objects, expected at most 100"):
        load_manifests_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))


def test_nothing_unprintable_is_repeated() -> None:
    with pytest.raises(InputError) as caught:
        load_manifests_text(POD + 'spec: {"x\\e[31m": 1}\n')
    assert 'spec["x\\x1b[31m"]: found' in str(caught.value)
    loaded = load_manifests_text('apiVersion: v1\nkind: "A\\e[31m\\nB"\nmetadata: {name: x}\n')
    assert loaded.unmodelled[0].kind == '"A\\x1b[31m\\nB"'


def test_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangproof.load.text.LARGEST_YAML", 10)
    with pytest.raises(InputError, match="of YAML, expected at most 10; as JSON"):
        load_manifests_text(NAMED)


def test_twenty_problems_and_the_number_of_the_rest() -> None:
    spec = {"schedulingPolicy": {"gang": {"minCount": 0}}}
    items = [{**yaml.safe_load(GROUP), "metadata": {"name": f"g{i}"}, "spec": spec} for i in range(50)]
    with pytest.raises(InputError) as caught:
        load_manifests_text(yaml.safe_dump_all(items))
    assert (len(caught.value.problems), caught.value.more) == (20, 30)
    assert str(caught.value).endswith("\nand 30 more")
    assert [problem.line for problem in caught.value.problems[:3]] == [8, 17, 26]


def test_the_same_error_whatever_the_hash_seed(tmp_path: Path) -> None:
    text = "\n---\n".join(case[1] for case in CORPUS[35:] if "\x00" not in case[1])
    (tmp_path / "x.yaml").write_text(text)
    code = (
        "import sys; from gangproof.load import load_manifests; from gangproof.errors import InputError\n"
        "try: load_manifests(sys.argv[1])\nexcept InputError as error: print(error)"
    )
    reports = {
        subprocess.run(
            [sys.executable, "-c", code, tmp_path / "x.yaml"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(reports) == 1
    assert all(report.count("\n") > 15 for report in reports)
