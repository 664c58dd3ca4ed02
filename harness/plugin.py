"""The pytest plugin: every document of a `*.scenario.yaml` file is a test.

A test is named `file::scenario-id[profile]`; its failure text is the explanation of the counterexample, and
what the model does not support yet is skipped with the reason. Nothing of gangproof is imported before a
scenario file is collected or a fixture asked for, so a run without either pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gangproof.checking import Options
    from gangproof.properties.scenarios.document import Scenario
    from gangproof.report import Report

SUFFIXES = (".scenario.yaml", ".scenario.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options `--gangproof-profile` and `--gangproof-max-states`."""
    group = parser.getgroup("gangproof", "PodGroup scheduling scenarios")
    group.addoption(
        "--gangproof-profile",
        default="intended",
        metavar="PROFILE",
        help="whose behaviour scenario files are judged by (default: intended)",
    )
    group.addoption(
        "--gangproof-max-states",
        type=int,
        default=20_000,
        metavar="N",
        help="states that one scenario may take before it is inconclusive (default: 20000)",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A collector for a scenario file, None for any other file."""
    if file_path.name.endswith(SUFFIXES):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


class ScenarioFile(pytest.File):
    """A scenario file; unreadable input is a collection error with file, line and field."""

    def collect(self) -> Iterable[pytest.Item]:
        from gangproof.errors import InputError
        from gangproof.load import load_scenarios

        try:
            documents = load_scenarios(str(self.path))
        except InputError as error:
            raise self.CollectError(str(error)) from None
        profile = self.config.getoption("--gangproof-profile")
        for document in documents:
            name = f"{document.id}[{document.profile or profile}]"
            yield ScenarioItem.from_parent(self, name=name, document=document)


class ScenarioItem(pytest.Item):
    """One scenario document, judged in one profile."""

    def __init__(self, *, document: Scenario, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.document = document

    def runtest(self) -> None:
        from gangproof.checking import check_scenarios
        from gangproof.properties.verdict import Verdict
        from gangproof.report import Report

        options = _options(self.config)
        results = check_scenarios([self.document], options)
        if not results or results[0].stop == "interrupted":
            raise KeyboardInterrupt  # the search kept it to itself, but it is meant for the whole run
        (result,) = results
        if result.verdict in (Verdict.NOT_SUPPORTED, Verdict.NOTHING_CHECKED):
            pytest.skip(result.why_not)
        report = Report(profile=options.profile, scenarios=(result,))
        if report.exit_code:
            raise ScenarioFailedError(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ScenarioFailedError):
            return str(excinfo.value.report)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, max(self.document.line - 1, 0), self.name


class ScenarioFailedError(AssertionError):
    """A scenario that was not found to hold; carries the report."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def _options(config: pytest.Config) -> Options:
    from gangproof.checking import Options

    return Options(
        profile=str(config.getoption("--gangproof-profile")),
        max_states=config.getoption("--gangproof-max-states"),
    )


class Gangproof:
    """What the fixture `gangproof` gives: checks with the options of the pytest run, failing the test."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def check_text(self, text: str) -> Report:
        """The report on a scenario's or manifests' text, whatever its verdict. Raises InputError."""
        from gangproof.api import check_text_with

        report = check_text_with(text, self.options)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    def assert_holds(self, text: str) -> Report:
        """The report on the text; the test fails with the explanation unless the verdict is `holds`."""
        report = self.check_text(text)
        if report.exit_code:
            raise ScenarioFailedError(report)
        return report


@pytest.fixture(scope="session")
def gangproof(pytestconfig: pytest.Config) -> Gangproof:
    """Checks of scenario or manifest text, with the profile and the budget of this pytest run."""
    return Gangproof(_options(pytestconfig))
