"""Signs of life: outside a job a run that writes nothing says that it is there."""

import time
from unittest import mock

import svc
from support import RUN_ID, SdkTest
from svc import notices, sender

EVERY_S = 0.05


class SignsTest(SdkTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(sender, "SIGN_EVERY_S", EVERY_S)
        patch.start()
        self.addCleanup(patch.stop)

    def signs(self):
        return len(self.server.bodies("/alive"))

    def test_outside_a_job_an_idle_run_gives_them_with_its_own_token(self):
        run = svc.init()
        self.server.until(lambda: self.signs() >= 3)
        paths = {path for _, _, path, _ in self.server.requests if path.endswith("/alive")}
        self.assertEqual(paths, {f"/api/v1/runs/{run.id}/alive"})
        run.finish()
        ended_with = self.signs()
        time.sleep(4 * EVERY_S)
        self.assertEqual(self.signs(), ended_with)

    def test_a_write_is_one_too(self):
        with mock.patch.object(sender, "SIGN_EVERY_S", 5.0):
            run = svc.init()
            for step in range(20):
                run.log({"loss": 1.0}, step=step)
                self.assertTrue(run.flush())
        self.assertEqual(self.signs(), 0)

    def test_in_a_job_there_are_none(self):
        self.attach().flush()
        svc.init(reinit="new").flush()
        time.sleep(4 * EVERY_S)
        self.assertEqual(self.signs(), 0)

    def test_a_run_that_has_ended_elsewhere_gives_no_more(self):
        run = svc.init()
        self.server.until(self.signs)
        self.server.runs[run.id]["status"] = "CANCELLED"
        before = self.signs()
        time.sleep(6 * EVERY_S)
        self.assertLessEqual(self.signs(), before + 1)

    def test_a_server_that_does_not_know_them_is_asked_once(self):
        self.server.fail("/alive", 404)
        run = svc.init()
        self.server.until(self.signs)
        time.sleep(6 * EVERY_S)
        self.assertEqual(self.signs(), 1)
        run.log({"loss": 1.0})
        self.assertTrue(run.flush())

    def test_one_that_does_not_arrive_is_nothing_to_tell(self):
        self.server.fail("/alive", "cut", 503, 500)
        with mock.patch.object(notices.logger, "warning") as warning:
            run = svc.init()
            self.server.until(lambda: self.signs() >= 5)
            run.log({"loss": 1.0})
            self.assertTrue(run.flush())
        warning.assert_not_called()
        self.assertEqual(self.server.values("loss", run.id), [1.0])

    def test_one_that_hangs_holds_up_neither_log_nor_the_end_for_long(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.3")
        self.server.fail("/alive", "hang")
        run = svc.init()
        self.server.until(self.signs)
        started = time.monotonic()
        run.log({"loss": 1.0})
        with self.assertLogs("svc", "WARNING"):
            run.finish()
        self.assertLess(time.monotonic() - started, 3)
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl")], [1.0])

    def test_offline_and_disabled_runs_give_none(self):
        for mode in ("offline", "disabled"):
            self.set(SVC_MODE=mode)
            svc.init()
        time.sleep(4 * EVERY_S)
        self.assertEqual(self.server.requests, [])

    def test_a_forked_worker_gives_none(self):
        code = f"""
import time
svc.sender.SIGN_EVERY_S = {EVERY_S}
run = svc.init()
if os.fork() == 0:
    run.log({{"loss": 1.0}})
    run.flush()
    time.sleep({10 * EVERY_S})
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""
        self.run_script(code)
        run_id = next(iter(self.server.runs))
        self.server.until(lambda: self.server.values("loss", run_id))
        self.assertNotEqual(run_id, RUN_ID)
        before = self.signs()
        time.sleep(6 * EVERY_S)
        self.assertEqual(self.signs(), before)
