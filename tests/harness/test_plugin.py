"""The pytest plugin: documents are tests, explanations are failure texts, what is not supported is skipped."""

from __future__ import annotations

import pytest
from front_door import FITS, NOT_THIS_PROFILE, TOO_SMALL

import gangproof.api  # loaded once, so that the runs below do not each load it anew  # noqa: F401

pytest_plugins = ["pytester"]


def test_each_document_is_a_test(pytester):
    pytester.path.joinpath("a.scenario.yaml").write_text("---\n".join([FITS, TOO_SMALL, NOT_THIS_PROFILE]))
    result = pytester.runpytest_inprocess("-v", "-rs", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "a.scenario.yaml::fits[[]intended[]] PASSED*",
            "a.scenario.yaml::too-small[[]intended[]] FAILED*",
            "a.scenario.yaml::shipped[[]v1.36.3[]] PASSED*",
            "*expected bound: [[]p1[]]*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_document_without_a_profile_is_judged_in_the_one_asked_for(pytester):
    pytester.path.joinpath("a.scenario.yaml").write_text(FITS)
    result = pytester.runpytest_inprocess("-v", "--gangproof-profile", "v1.36.3")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*fits[[]v1.36.3[]] PASSED*"])


def test_a_budget_that_is_too_small_is_no_success(pytester):
    pytester.path.joinpath("a.scenario.yaml").write_text(FITS)
    result = pytester.runpytest_inprocess("--gangproof-max-states", "1")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*inconclusive*"])


def test_a_ctrl_c_ends_the_whole_run(pytester):
    """The search that it comes into keeps it to itself, so the plugin has to pass it on."""
    pytester.path.joinpath("a.scenario.yaml").write_text("---\n".join([FITS, TOO_SMALL]))
    pytester.makeconftest("""
        import os, signal, pytest
        from gangproof.properties.scenarios import report

        followed = report.follow

        def follow(*case):
            os.kill(os.getpid(), signal.SIGINT)
            return followed(*case)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(item):
            report.follow = follow
            yield
            report.follow = followed
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes()
    result.stdout.no_fnmatch_line("*inconclusive*")


def test_bad_input_is_a_collection_error_with_its_line(pytester):
    pytester.path.joinpath("a.scenario.yaml").write_text(FITS.replace("gang: 2", "gangs: 2"))
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a.scenario.yaml:6*gangs*"])


def test_nothing_happens_without_scenario_files(pytester):
    pytester.path.joinpath("values.yaml").write_text("scenario: no\n")
    pytester.makepyfile("import sys\ndef test_it():\n    assert 'gangproof.checking' not in sys.modules\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_fixture_judges_text(pytester):
    pytester.makepyfile(
        f"""
        def test_holds(gangproof):
            assert gangproof.assert_holds({FITS!r}).exit_code == 0

        def test_tells(gangproof):
            assert gangproof.check_text({TOO_SMALL!r}).exit_code == 1

        def test_fails(gangproof):
            gangproof.assert_holds({TOO_SMALL!r})
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*ScenarioFailedError*"])
