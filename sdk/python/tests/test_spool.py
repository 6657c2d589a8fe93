import os
import signal
import time

import svc
from support import RUN_ID, SdkTest


class SpoolTest(SdkTest):
    def setUp(self):
        super().setUp()
        self.spool = self.in_job_with_spool()

    def steps(self):
        return [point["step"] for point in self.spooled_points()]

    def go_away(self):
        self.server.stop()

    def come_back(self):
        self.server.start(self.server.port)

    def test_while_the_server_takes_it_nothing_is_spooled(self):
        run = svc.init()
        run.log({"loss": 1.0})
        run.event("hello")
        self.assertTrue(run.flush())
        run.finish()
        self.assertEqual(list(self.spool.iterdir()), [])

    def test_without_the_server_all_that_is_reported_lies_in_the_spool(self):
        run = svc.init(config={"lr": 1})
        self.assertTrue(run.flush())
        self.go_away()
        run.log({"loss": 1.0}, step=0)
        run.event("one", severity="warning")
        run.checkpoint("out/checkpoint-1", step=1)
        run.log({"loss": float("nan")}, step=1)
        self.assertTrue(run.flush())
        self.assertEqual([point["value"] for point in self.spooled_points()], [1.0, "NaN"])
        (event,) = self.spooled("event")
        self.assertEqual(event["body"], {"title": "one", "severity": "warning"})
        (checkpoint,) = self.spooled("checkpoint")
        self.assertEqual(checkpoint["body"], {"path": str(self.directory / "out/checkpoint-1"), "step": 1})
        now = time.time() * 1000
        self.assertTrue(all(record["run_id"] == RUN_ID for record in self.spooled()))
        self.assertTrue(all(now - 60_000 < record["ts"] <= now for record in (event, checkpoint)))
        run.finish("FAILED")
        self.assertEqual(self.spooled("finish")[0]["body"], {"status": "FAILED"})
        run._sender._thread.join(8)  # with it the file ends
        self.assertEqual(self.spooled()[-1], {"kind": "end"})
        self.assertFalse((self.directory / "svc-offline").exists())

    def test_what_describes_the_run_is_spooled_too(self):
        self.go_away()
        run = svc.init(config={"lr": 1}, max_steps=7)
        self.assertTrue(run.flush())
        update, snapshot = self.spooled("update")
        self.assertEqual((update["body"]["config"], update["body"]["max_steps"]), ({"lr": 1}, 7))
        self.assertIn("packages", snapshot["body"]["environment"])

    def test_what_has_been_flushed_outlives_kill_9(self):
        self.go_away()
        code = "run = svc.init()\nfor step in range(300): run.log({'loss': step})\n"
        status, _, _ = self.run_script(f"{code}assert run.flush()\nos.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(status, -signal.SIGKILL)
        self.assertEqual(self.steps(), list(range(300)))

    def test_the_end_of_a_process_leaves_nothing_behind(self):
        self.go_away()
        started_at = time.monotonic()
        status, _, err = self.run_script("run = svc.init()\nrun.log({'loss': 1})\nraise ValueError('x')")
        self.assertLess(time.monotonic() - started_at, 8)
        self.assertEqual(status, 1)
        self.assertEqual(self.steps(), [0])
        self.assertEqual(self.spooled("finish")[0]["body"], {"status": "FAILED"})
        self.assertEqual(err.count("cannot be reached"), 1, err)
        self.assertFalse((self.directory / "svc-offline").exists())

    def test_a_server_that_hangs_does_not_keep_the_end_from_the_spool(self):
        run = svc.init()
        self.assertTrue(run.flush())
        self.server.fail("metrics:batch", "hang")
        run.log({"loss": 1.0}, step=3)
        self.server.until(lambda: self.server.bodies("metrics:batch"))
        run.end(svc.process.Ending.CLEAN, 0.2)
        self.assertEqual(self.steps(), [3])

    def test_every_answer_that_may_pass_sends_to_the_spool(self):
        for status in (500, 503, 429, 408, "cut", "cut-after"):
            with self.subTest(status=status):
                run = svc.init()
                self.assertTrue(run.flush())
                self.server.fail("metrics:batch", status)
                run.log({"loss": 1.0}, step=9)
                self.assertTrue(run.flush())
                self.assertIn(self.server.bodies("metrics:batch")[-1]["points"][-1], self.spooled_points())
                run.finish()
                svc.start._attached_pid = None

    def test_a_token_that_is_no_longer_good_sends_to_the_spool(self):
        run = svc.init()
        self.assertTrue(run.flush())
        self.server.fail("metrics:batch", 401)
        self.server.fail("/events", 403)
        run.log({"loss": 1.0}, step=4)
        run.event("one")
        self.assertTrue(run.flush())
        self.assertEqual((self.steps(), len(self.spooled("event"))), ([4], 1))

    def test_what_is_wrong_in_itself_is_not_spooled(self):
        run = svc.init()
        self.assertTrue(run.flush())
        self.server.refused_names.add("bad")
        run.log({"bad": 1.0, "good": 2.0})
        self.assertTrue(run.flush())
        self.assertEqual(self.spooled(), [])
        self.assertEqual([point["name"] for point in self.offline_lines("points.jsonl")], ["bad"])

    def test_back_again_it_reports_directly_and_ends_the_file(self):
        run = svc.init()
        self.assertTrue(run.flush())
        self.go_away()
        run.log({"loss": 0.0}, step=0)
        self.assertTrue(run.flush())
        self.come_back()
        deadline = time.monotonic() + 20
        step = 0
        while not self.server.values("loss") and time.monotonic() < deadline:
            step += 1
            run.log({"loss": float(step)}, step=step)
            self.assertTrue(run.flush())
        self.assertEqual(self.spooled()[-1], {"kind": "end"})
        self.assertEqual(self.steps() + [int(value) for value in self.server.values("loss")], list(range(step + 1)))

    def test_while_it_keeps_failing_the_server_is_asked_less_and_less(self):
        run = svc.init()
        self.assertTrue(run.flush())
        self.server.fail("metrics:batch", *[503] * 100)
        for step in range(60):
            run.log({"loss": 1.0}, step=step)
            self.assertTrue(run.flush())
        self.assertLess(len(self.server.bodies("metrics:batch")), 10)
        self.assertEqual(self.steps(), list(range(60)))

    def test_past_its_bound_the_spool_takes_nothing_and_the_queue_does(self):
        self.set(SVC_SPOOL_BYTES="2000")
        run = svc.init()
        self.assertTrue(run.flush())
        self.go_away()
        for step in range(50):
            run.log({"loss": 1.0}, step=step)
            run.flush(0.02)
        size = sum(file.stat().st_size for file in self.spool.iterdir())
        self.assertLess(size, 2100)
        kept = self.steps()
        self.assertEqual(kept, list(range(len(kept))))
        self.assertGreater(len(kept), 0)
        self.come_back()
        self.assertTrue(run.flush())
        self.assertEqual(set(kept) | {point["step"] for point in self.server.points[RUN_ID].values()}, set(range(50)))

    def test_what_neither_server_nor_spool_take_is_kept_as_ever(self):
        self.set(SVC_SPOOL_BYTES="0", SVC_FLUSH_TIMEOUT_S="2")
        run = svc.init()
        self.assertTrue(run.flush())
        self.go_away()
        run.log({"loss": 1.0}, step=5)
        run.finish()
        self.assertEqual([point["step"] for point in self.offline_lines("points.jsonl")], [5])

    def test_a_disk_that_takes_no_more_leaves_whole_lines_alone(self):
        self.go_away()
        code = """
import resource
run = svc.init()
run.flush()
(file,) = os.scandir(os.environ["SVC_SPOOL_DIR"])
size = file.stat().st_size + 3000
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
for step in range(100):
    run.log({"loss": 1.0}, step=step)
    run.flush(0.02)
os._exit(0)
"""
        self.assertEqual(self.run_script(code)[0], 0)
        (file,) = self.spool.iterdir()
        self.assertTrue(file.read_bytes().endswith(b"}\n"))
        self.assertEqual(self.steps(), list(range(len(self.steps()))))
        self.assertGreater(len(self.steps()), 5)

    def test_a_long_outage_makes_files_that_can_be_removed_one_by_one(self):
        self.go_away()
        run = svc.init()
        svc.spool.FILE_BYTES, before = 500, svc.spool.FILE_BYTES
        self.addCleanup(setattr, svc.spool, "FILE_BYTES", before)
        for step in range(20):
            run.log({"loss": 1.0}, step=step)
            run.flush()
        files = list(self.spool.iterdir())
        self.assertGreater(len(files), 3)
        ended = [file for file in files if file.read_bytes().endswith(b'{"kind":"end"}\n')]
        self.assertGreaterEqual(len(ended), len(files) - 1)
        self.assertEqual(sorted(self.steps()), list(range(20)))

    def test_a_large_batch_is_many_lines(self):
        self.go_away()
        run = svc.init()
        name = "\N{MATHEMATICAL BOLD SMALL A}" * 250
        for step in range(450):
            run.log({name: 1.0}, step=step)
        self.assertTrue(run.flush())
        (file,) = self.spool.iterdir()
        self.assertTrue(file.name.startswith(f"{RUN_ID}-{os.getpid()}-"))
        self.assertLess(max(map(len, file.read_bytes().splitlines())), 1024 * 1024)
        self.assertEqual(self.steps(), list(range(450)))

    def test_a_forked_worker_has_a_file_of_its_own(self):
        self.go_away()
        code = """
run = svc.init()
run.log({"loss": 0.0}, step=0)
run.flush()
if os.fork() == 0:
    run.log({"loss": 1.0}, step=1)
    os._exit(0 if run.flush() else 1)
os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
        self.assertEqual(self.run_script(code)[0], 0)
        self.assertEqual(len(list(self.spool.iterdir())), 2)
        self.assertEqual(sorted(self.steps()), [0, 1])
        self.assertEqual(len({point["seq"] for point in self.spooled_points()}), 2)


class EventKeyTest(SdkTest):
    def test_an_event_sent_again_has_the_key_it_had(self):
        run = self.attach()
        run.flush()
        self.server.fail("/events", "cut-after", 503)
        run.event("one")
        run.event("two")
        self.assertTrue(run.flush())
        first, again, third, other = self.server.event_keys
        self.assertEqual((first, again), (third, third))
        self.assertNotEqual(first, other)

    def test_a_spooled_event_has_the_key_it_was_sent_with(self):
        self.in_job_with_spool()
        run = svc.init()
        run.flush()
        self.server.fail("/events", "cut-after")
        run.event("one")
        self.assertTrue(run.flush())
        self.assertEqual([record["key"] for record in self.spooled("event")], self.server.event_keys)
