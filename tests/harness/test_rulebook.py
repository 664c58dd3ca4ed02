"""The rule book: every rule of the document, and who carries it."""

from __future__ import annotations

import json
import re

from front_door import ROOT

from gangproof import rulebook


def test_every_id_that_begins_a_row_or_a_paragraph_is_a_rule():
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    first_cells = re.findall(r"(?m)^\| *\**([A-Z]+-\d\d[a-z]?)\b", text)
    sentences = re.findall(r"(?m)^([A-Z]+-\d\d[a-z]?)\. ", text)
    assert len(first_cells) > 500
    assert len(sentences) > 20
    assert {*first_cells, *sentences} == set(rulebook.rules())


def test_the_document_of_the_package_is_the_one_of_the_repository():
    assert rulebook.document() == (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")


def test_text_by_column():
    rule = rulebook.rules()["API-12"]
    assert rule.section == "1.2 Workload"
    assert dict(rule.cells)["field"] == "`spec.podGroupTemplates`"
    assert "at most **8**" in dict(rule.cells)["validation"]
    assert "|All(g)| ≥ min(g)" in rulebook.rules()["LIVE-01"].text, "escaped bars are text"


def test_citations_with_ranges_and_series():
    assert rulebook.cited("QUEUE-01 to QUEUE-03 and CYCLE-41…43") == {
        "QUEUE-01", "QUEUE-02", "QUEUE-03", "CYCLE-41", "CYCLE-42", "CYCLE-43",
    }  # fmt: skip
    assert rulebook.cited("INV-02, 03, 28; QUEUE-19b.") == {"INV-02", "INV-03", "INV-28", "QUEUE-19b"}
    assert rulebook.cited("CYCLE-24a, QUEUE-06a") == {"CYCLE-24", "QUEUE-06a"}
    assert rulebook.cited("UTF-8 and RFC-3339") == frozenset()


def test_who_carries_the_quorum():
    standing = rulebook.standing("GANG-03")
    assert "gangproof.impl.members.quorum" in standing.implemented
    assert "INV-01 all or nothing decision" in rulebook.standing("CYCLE-26").proved
    assert any(place.startswith("tests/") for place in rulebook.standing("THM-01").tested)


def test_every_id_that_the_code_names_exists():
    """A docstring that names a rule which the document does not have is a mistake."""
    unknown = set(rulebook.implementations()) - set(rulebook.rules())
    assert unknown == set()


def test_every_rule_that_an_invariant_cites_exists():
    assert set(rulebook.proofs()) - set(rulebook.rules()) == set()


def test_the_command(gangproof_command):
    result = gangproof_command("rules", "cycle-26")
    assert result.exit_code == 0
    assert "gangproof.impl.cycle.verdict" in result.stdout
    family = gangproof_command("rules", "GANG").stdout
    assert [line.split()[0] for line in family.splitlines() if line.startswith("  GANG-")] == [
        name for name in rulebook.rules() if name.startswith("GANG-")
    ]
    document = json.loads(gangproof_command("rules", "-o", "json").stdout)
    assert (document["apiVersion"], document["kind"]) == ("gangproof/v1", "RuleList")
    assert [rule["id"] for rule in document["rules"]] == list(rulebook.rules())


SECTIONS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14}
"""The sections whose rules must be carried by code and held by something, or have a reason."""


def test_every_rule_of_the_modelled_sections_has_an_answer():
    asked = [
        rulebook.standing(name)
        for name, rule in rulebook.rules().items()
        if int(re.match(r"\d+", rule.section).group()) in SECTIONS
    ]
    assert len(asked) > 250
    assert [one.rule.id for one in asked if not one.kept and not one.reason] == []
    assert [one.rule.id for one in asked if one.kept and rulebook.reasons().get(one.rule.id)] == [], (
        "the reason is out of date"
    )


def test_every_promise_is_judged_or_proved_and_would_be_missed():
    """The invariants, the liveness properties and the theorems."""
    asked = [rulebook.standing(name) for name in rulebook.rules()]
    promised = [one for one in asked if one.promised]
    assert len(promised) == 74
    assert [one.rule.id for one in promised if not one.kept] == []


def test_who_judges():
    assert "gangproof.properties.judges.evictions.useful" in rulebook.standing("INV-18").judged
    assert "gangproof.properties.theorems.victims.in_vain" in rulebook.standing("THM-12").judged
    assert rulebook.standing("THM-02").tested == ("tests/properties/test_theorems.py",)
    assert rulebook.standing("DEV-38").tested == ("scenario SOP-12-shipped",)
    assert rulebook.standing("DEV-04").reason == "same: the limit is part of INV-31"


def test_every_reason_is_about_a_rule():
    assert set(rulebook.reasons()) - set(rulebook.rules()) == set()


def test_rows_of_the_table_of_scenarios():
    rules = rulebook.rules()
    assert rulebook.rows(rules["GANG-03"]) == ("GS-08", "GS-09", "PG-02")
    assert rulebook.rows(rules["CYCLE-26"]) == ("SOP-08", "SOP-12")
    assert rulebook.rows(rules["PREEMPT-11"]) == ("SOP-03", "SOP-04", "SOP-05", "SOP-45", "SOP-46")
    assert "scenario PGP-34" in rulebook.standing("PREEMPT-10").tested
    assert not any(place == "scenario ADM-02" for place in rulebook.standing("ADM-02").tested)


def test_a_reason_is_shown(gangproof_command):
    assert "reason: nothing to do: a controller remembers" in gangproof_command("rules", "ACT-31").stdout
