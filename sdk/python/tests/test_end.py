import signal
import threading
import time
from unittest import mock

import svc
from support import JOB_ID, RUN_ID, SdkTest

FAILING = "raise RuntimeError('boom')"


class OwnRunTest(SdkTest):
    """A run that the process began ends as the process ends."""

    def status_after(self, code):
        exit_code, _, self.stderr = self.run_script(f"run = svc.init()\nrun.log({{'loss': 1.0}})\n{code}")
        (run,) = [run for run in self.server.runs.values() if run["id"] != RUN_ID]
        self.assertEqual(self.server.values("loss", run["id"]), [1.0])
        return exit_code, run["status"]

    def test_a_clean_exit_flushes_and_succeeds(self):
        self.assertEqual(self.status_after(""), (0, "SUCCEEDED"))
        self.assertEqual(self.stderr, "")

    def test_an_exception_fails_and_is_still_printed(self):
        self.assertEqual(self.status_after(FAILING), (1, "FAILED"))
        self.assertIn("RuntimeError: boom", self.stderr)

    def test_an_exit_code_fails(self):
        self.assertEqual(self.status_after("sys.exit(3)"), (3, "FAILED"))

    def test_an_exit_code_of_zero_succeeds(self):
        self.assertEqual(self.status_after("sys.exit()"), (0, "SUCCEEDED"))

    def test_an_interrupt_cancels(self):
        self.assertEqual(self.status_after("raise KeyboardInterrupt")[1], "CANCELLED")

    def test_an_exception_in_the_block_fails_even_when_it_is_caught_outside(self):
        code = f"try:\n  with run:\n    {FAILING}\nexcept RuntimeError: pass"
        self.assertEqual(self.status_after(code), (0, "FAILED"))

    def test_the_block_ends_the_run(self):
        with svc.init() as run:
            pass
        self.assertEqual(self.server.runs[run.id]["status"], "SUCCEEDED")

    def test_an_excepthook_that_was_there_is_called(self):
        hook = "sys.excepthook = lambda *error: print('mine', file=sys.stderr)\n"
        _, _, stderr = self.run_script(f"{hook}svc.init()\n{FAILING}")
        self.assertEqual(stderr, "mine\n")


class JobRunTest(SdkTest):
    """A run that belongs to a job's attempt is ended by the server, unless the process knows better."""

    def setUp(self):
        super().setUp()
        self.in_job()

    def after(self, code):
        result = self.run_script(f"run = svc.init()\nrun.log({{'loss': 1.0}})\n{code}")
        self.assertEqual(self.server.values("loss"), [1.0])
        return result[0], self.server.runs[RUN_ID]["status"]

    def test_a_clean_exit_only_flushes(self):
        self.assertEqual(self.after(""), (0, "RUNNING"))

    def test_an_exit_code_is_left_to_the_server(self):
        self.assertEqual(self.after("sys.exit(3)"), (3, "RUNNING"))

    def test_an_exception_fails_the_run(self):
        self.assertEqual(self.after(FAILING), (1, "FAILED"))

    def test_finish_is_sent_when_it_is_called(self):
        self.assertEqual(self.after("run.finish()"), (0, "SUCCEEDED"))

    def test_a_further_run_of_the_job_ends_with_the_process(self):
        self.after("svc.init()")
        (further,) = [run for run in self.server.runs.values() if run["id"] != RUN_ID]
        self.assertEqual((further["job_id"], further["status"]), (JOB_ID, "SUCCEEDED"))


class FinishTest(SdkTest):
    def test_the_finish_comes_after_everything_else(self):
        run = self.attach()
        for step in range(100):
            run.log({"loss": 1.0}, step=step)
        run.event("last words")
        run.finish()
        self.assertTrue(self.server.requests[-1][2].endswith("/finish"))
        self.assertEqual(len(self.server.values("loss")), 100)

    def test_finishing_again_and_logging_after_the_end_are_harmless(self):
        run = self.attach()
        run.finish()
        with self.assertLogs("svc", "WARNING") as logs:
            run.log({"loss": 1.0})
            run.event("too late")
            run.finish("FAILED")
        self.assertEqual(len(logs.output), 1)
        self.assertEqual(self.server.runs[RUN_ID]["status"], "SUCCEEDED")

    def test_a_status_that_does_not_exist_is_ignored(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.finish("done")
        run.log({"loss": 1.0})
        run.finish()
        self.assertEqual(self.server.values("loss"), [1.0])

    def test_a_run_that_the_server_has_ended_stays_as_it_is(self):
        run = self.attach()
        self.server.runs[RUN_ID]["status"] = "CANCELLED"
        with self.assertLogs("svc", "WARNING") as logs:
            run.finish()
        self.assertIn("had already ended", logs.output[0])
        self.assertFalse((self.directory / "svc-offline").exists())

    def test_a_checkpoint_whose_size_takes_long_does_not_hold_up_the_end(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.3")
        run = self.attach()
        self.assertTrue(run.flush(5))
        disk_answers, asked = threading.Event(), []

        def slow_size(path):
            asked.append(path)
            disk_answers.wait(8)
            return 1

        with mock.patch.object(svc.checkpoint_size, "_size_bytes", slow_size), self.assertLogs("svc", "WARNING"):
            run.checkpoint(self.directory, step=1)
            run.log({"loss": 1.0}, step=1)
            started = time.monotonic()
            run.finish()
            self.assertLess(time.monotonic() - started, 4)
            disk_answers.set()
            run._sender._thread.join(8)
        self.assertLessEqual(len(asked), 1)
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl")], [1.0])
        (kept,) = self.offline_lines("checkpoints.jsonl")
        self.assertEqual((kept["path"], "size" in kept), (str(self.directory), False))
        self.assertEqual(self.server.bodies("/checkpoints"), [])  # it is in one place, not in two


class SigtermTest(SdkTest):
    def test_it_flushes_and_still_kills(self):
        self.in_job()
        process = self.script(
            "run = svc.init()\nrun.flush()\nrun.log({'loss': 1.0})\n"
            "os.kill(os.getpid(), signal.SIGTERM)\nprint('survived')"
        )
        out, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (-signal.SIGTERM, ""))
        self.assertEqual(self.server.values("loss"), [1.0])
        self.assertEqual(self.server.runs[RUN_ID]["status"], "RUNNING")

    def test_it_comes_through_while_the_process_waits_for_a_hung_server(self):
        self.in_job()
        self.set(SVC_FLUSH_TIMEOUT_S="1")
        self.server.fail("metrics:batch", "hang")
        process = self.script("run = svc.init()\nrun.log({'loss': 1.0})\nrun.flush(60)")
        self.server.until(lambda: self.server.bodies("metrics:batch"))
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertLess(time.monotonic() - started, 5.0)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl")], [1.0])

    def test_it_leaves_all_in_the_spool_though_a_size_takes_long(self):
        self.in_job_with_spool()
        self.set(SVC_FLUSH_TIMEOUT_S="0.5")
        process = self.script(
            "import threading\nsvc.checkpoint_size._size_bytes = lambda _: threading.Event().wait(30)\n"
            "run = svc.init()\nrun.flush(5)\nrun.checkpoint('.', step=1)\nrun.log({'loss': 1.0}, step=1)\n"
            "os.kill(os.getpid(), signal.SIGTERM)"
        )
        self.addCleanup(process.kill)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual([record["kind"] for record in self.spooled()], ["points", "checkpoint"])

    def test_a_handler_of_the_user_is_left_alone(self):
        code = "handler = lambda *_: sys.exit(7)\nsignal.signal(signal.SIGTERM, handler)\nsvc.init()\n"
        exit_code, _, _ = self.run_script(code + "os.kill(os.getpid(), signal.SIGTERM)\nsignal.pause()")
        self.assertEqual(exit_code, 7)
