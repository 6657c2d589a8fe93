import unittest

from support import RUN_ID, SdkTest


class ForkTest(SdkTest):
    def setUp(self):
        super().setUp()
        self.in_job()

    def check(self, code, expected):
        exit_code, _, stderr = self.run_script(code)
        self.assertEqual(exit_code, 0, stderr)
        self.assertEqual(sorted(self.server.values("loss")), expected)
        self.assertEqual(self.server.duplicates, 0)
        self.assertEqual(self.server.runs[RUN_ID]["status"], "RUNNING")

    def test_a_forked_child_sends_its_own_points_and_none_of_its_parents(self):
        code = """
run = svc.init()
run.flush()
run.log({"loss": 1.0})
pid = os.fork()
if pid == 0:
    run.log({"loss": 2.0})
    assert run.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
run.log({"loss": 3.0})
"""
        self.check(code, [1.0, 2.0, 3.0])

    def test_a_child_that_exits_leaves_the_run_to_its_parent(self):
        code = """
run = svc.init(name="further") and svc.init(name="own")
pid = os.fork()
if pid == 0:
    sys.exit(1)
os.waitpid(pid, 0)
run.log({"after": 1.0})
run.finish()
"""
        self.check(code, [])
        (own,) = [run for run in self.server.runs.values() if run["id"] != RUN_ID]
        self.assertEqual((own["status"], self.server.values("after", own["id"])), ("SUCCEEDED", [1.0]))

    def test_workers_of_multiprocessing_are_flushed_at_their_end(self):
        code = """
import multiprocessing
context = multiprocessing.get_context("fork")
run = svc.init()
workers = [context.Process(target=run.log, args=({"loss": float(n)},)) for n in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert [worker.exitcode for worker in workers] == [0] * 4
"""
        self.check(code, [0.0, 1.0, 2.0, 3.0])

    def test_a_worker_is_terminated_as_if_the_sdk_were_not_there(self):
        code = """
import multiprocessing
context = multiprocessing.get_context("fork")
run = svc.init()
worker = context.Process(target=signal.pause)
worker.start()
worker.terminate()
worker.join()
assert worker.exitcode == -15, worker.exitcode
run.log({"loss": 1.0})
"""
        self.check(code, [1.0])

    def test_a_forked_rank_attaches_to_the_run_of_the_job(self):
        code = """
import multiprocessing
def rank(): svc.init().log({"loss": 2.0})
run = svc.init()
worker = multiprocessing.get_context("fork").Process(target=rank)
worker.start()
worker.join()
run.log({"loss": 1.0})
"""
        self.check(code, [1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
