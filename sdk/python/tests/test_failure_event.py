"""An exception that nobody caught is an event of the run, with its traceback."""

import unittest

from support import RUN_ID, SdkTest

FAILING = """
def step(token):
    raise ValueError("the loss is gone, token=hf_abcdefghijklmnopqrst")
run = svc.init()
run.log({"loss": 1.0})
step(1)
"""


class FailureEventTest(SdkTest):
    def events(self):
        return self.server.bodies_of("events")

    def test_an_uncaught_exception_fails_the_run_and_is_told_with_its_traceback(self):
        code, _, stderr = self.run_script(FAILING)
        (event,), (run,) = self.events(), self.server.runs.values()
        self.assertEqual((code, run["status"], event["severity"]), (1, "FAILED", "critical"))
        self.assertEqual(event["title"], "ValueError: the loss is gone, token=***")
        self.assertIn("in step\n", event["message"])
        self.assertTrue(event["message"].startswith("Traceback"))
        self.assertNotIn("hf_abc", event["message"])
        self.assertEqual(event["data"], {"exception": "ValueError"})
        self.assertIn("the loss is gone", stderr)

    def test_in_a_job_too(self):
        self.in_job()
        self.run_script(FAILING)
        self.assertEqual((len(self.events()), self.server.runs[RUN_ID]["status"]), (1, "FAILED"))

    def test_one_that_leaves_the_block_is_told_once(self):
        self.run_script("with svc.init():\n    raise KeyError('x')")
        (event,) = self.events()
        self.assertEqual(event["title"], "KeyError: 'x'")

    def test_an_exit_and_an_interrupt_are_no_failures(self):
        for code in ("sys.exit(3)", "raise KeyboardInterrupt"):
            self.run_script(f"svc.init()\n{code}")
        self.assertEqual(self.events(), [])

    def test_of_a_long_traceback_the_end_is_kept(self):
        self.run_script("svc.init()\ntry:\n    raise ValueError('x' * 50_000)\nfinally:\n    raise KeyError('last')")
        (event,) = self.events()
        self.assertTrue(event["message"].endswith("KeyError: 'last'"))
        self.assertLessEqual(len(event["message"]), 20_000)

    def test_an_exception_that_cannot_be_told_is_no_second_one(self):
        code = "class Bad(Exception):\n    def __str__(self): raise RuntimeError('no')\nsvc.init()\nraise Bad()"
        exit_code, _, stderr = self.run_script(code)
        (run,) = self.server.runs.values()
        self.assertEqual((exit_code, run["status"]), (1, "FAILED"))
        self.assertIn("Bad", stderr)


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(code):
    print("cell", shell.run_cell(code).success)
cell("import svc")
"""


class NotebookTest(SdkTest):
    """In IPython, as its kernel runs cells."""

    def setUp(self):
        super().setUp()
        try:
            import IPython  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("there is no IPython") from None

    def cells(self, *cells):
        code, out, err = self.run_script(NOTEBOOK + "".join(f"cell({cell!r})\n" for cell in cells))
        self.assertEqual(code, 0, err)
        return out

    def statuses(self):
        return [run["status"] for run in self.server.runs.values()]

    def test_running_the_cell_with_init_again_ends_the_last_run_and_begins_one(self):
        self.cells("run = svc.init(name='a'); run.log({'loss': 1})", "run = svc.init(name='a'); run.log({'loss': 2})")
        self.assertEqual(self.statuses(), ["SUCCEEDED", "SUCCEEDED"])
        self.assertEqual([self.server.values("loss", run) for run in self.server.runs], [[1], [2]])

    def test_a_failing_cell_is_told_and_leaves_the_run_open(self):
        self.cells("run = svc.init()", "1 / 0", "run.log({'loss': 1})")
        (event,) = self.server.bodies_of("events")
        self.assertEqual(event["title"], "ZeroDivisionError: division by zero")
        self.assertEqual(self.statuses(), ["SUCCEEDED"])
        self.assertEqual(self.server.values("loss", next(iter(self.server.runs))), [1])

    def test_a_run_whose_last_cell_failed_ends_as_failed(self):
        self.cells("run = svc.init()", "1 / 0")
        self.assertEqual(self.statuses(), ["FAILED"])
        self.cells("run = svc.init()", "1 / 0", "run = svc.init()")
        self.assertEqual(self.statuses()[1:], ["FAILED", "SUCCEEDED"])
