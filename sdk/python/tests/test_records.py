import math

import svc
from support import RUN_ID, SdkTest
from svc.records import Record
from svc.values import to_jsonable


class CheckpointTest(SdkTest):
    def test_a_checkpoint_is_registered_with_its_absolute_path_and_size(self):
        folder = self.directory / "out" / "checkpoint-5"
        (folder / "shards").mkdir(parents=True)
        (folder / "weights").write_bytes(b"x" * 1000)
        (folder / "shards" / "0").write_bytes(b"x" * 234)
        run = self.attach()
        run.log({"loss": 1.0}, step=5)
        run.checkpoint("out/checkpoint-5", epoch=2, metadata={"loss": math.nan, "path": folder})
        run.flush()
        (body,) = self.server.bodies_of("checkpoints")
        metadata = {"loss": "NaN", "path": str(folder)}
        self.assertEqual(body, {"path": str(folder), "step": 5, "epoch": 2, "size": 1234, "metadata": metadata})

    def test_metadata_too_large_for_the_server_is_left_out(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.checkpoint(self.directory, step=1, metadata={"blob": "x" * 65_536})
            run.flush()
        self.assertNotIn("metadata", self.server.bodies_of("checkpoints")[0])

    def test_secrets_do_not_leave_this_host(self):
        run = self.attach()
        run.checkpoint(self.directory, step=1, metadata={"hub": {"hf_token": "hunter2"}, "note": "API_KEY=hunter2"})
        run.event("password=hunter2", message="x" * 19_990 + " TOKEN=hunter2", data={"password": "hunter2"})
        run.flush()
        (checkpoint,), (event,) = self.server.bodies_of("checkpoints"), self.server.bodies_of("events")
        self.assertEqual(checkpoint["metadata"], {"hub": {"hf_token": "***"}, "note": "API_KEY=***"})
        self.assertEqual((event["title"], event["data"]), ("password=***", {"password": "***"}))
        self.assertNotIn("hunt", event["message"])
        self.assertLessEqual(len(event["message"]), 20_000)

    def test_a_file_is_a_checkpoint_too(self):
        (self.directory / "model.pt").write_bytes(b"x" * 10)
        run = self.attach()
        run.checkpoint(self.directory / "model.pt", step=1)
        run.flush()
        self.assertEqual(self.server.bodies_of("checkpoints")[0]["size"], 10)

    def test_a_server_without_checkpoints_is_told_of_once_and_they_are_kept(self):
        self.server.knows_checkpoints = False
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            for step in (1, 2):
                run.checkpoint(self.directory, step=step)
            self.assertTrue(run.flush())
        self.assertEqual(len(logs.output), 1)
        kept = self.offline_lines("checkpoints.jsonl", RUN_ID)
        self.assertEqual(
            [(line["step"], line["path"]) for line in kept], [(1, str(self.directory)), (2, str(self.directory))]
        )
        self.assertTrue(all(line["ts"] > 0 and "size" in line for line in kept))

    def test_a_checkpoint_that_is_not_there_is_warned_about(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.checkpoint("missing", step=1)
            run.flush()
        self.assertEqual(self.server.bodies_of("checkpoints"), [{"path": str(self.directory / "missing"), "step": 1}])

    def test_a_path_that_no_disk_takes_is_registered_and_what_follows_is_sent(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            for path in ("a\x00b", "a\ud800b"):
                run.checkpoint(path, step=1)
            run.log({"loss": 1.0}, step=1)
            self.assertTrue(run.flush(2))
            run.finish()
        self.assertEqual(len(self.server.bodies_of("checkpoints")), 2)
        self.assertEqual(self.server.values("loss"), [1.0])
        self.assertTrue(all("nothing at the checkpoint's path" in line for line in logs.output))

    def test_a_record_whose_slow_part_fails_goes_without_it(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            run._add(Record("checkpoint", {"path": "/weights", "step": 1}, 0, complete=lambda body: {"size": 1 // 0}))
            self.assertTrue(run.flush(2))
        self.assertEqual(self.server.bodies_of("checkpoints"), [{"path": "/weights", "step": 1}])
        self.assertEqual(len(logs.output), 1)


class UnwritableRecordTest(SdkTest):
    """A record that JSON has no form for, which the calls of a run do not let through, costs only itself."""

    def report(self, run):
        for title in ("before", object(), "between", object(), "behind"):
            run._add(Record("event", {"title": title}, 0))
        run.log({"loss": 1.0})

    def report_and_flush(self):
        run = svc.init()
        with self.assertLogs("svc", "WARNING") as logs:
            self.report(run)
            self.assertTrue(run.flush(2))
            run.finish()
        self.assertEqual(sum("is lost" in line for line in logs.output), 1)

    def titles(self, bodies):
        return [body["title"] for body in bodies]

    def test_of_what_is_sent(self):
        self.in_job()
        self.report_and_flush()
        self.assertEqual(self.titles(self.server.bodies_of("events")), ["before", "between", "behind"])
        self.assertEqual(self.server.values("loss"), [1.0])

    def test_of_what_is_spooled(self):
        self.in_job_with_spool()
        self.server.stop()
        self.report_and_flush()
        spooled = self.titles(record["body"] for record in self.spooled("event"))
        self.assertEqual((spooled, len(self.spooled_points())), (["before", "between", "behind"], 1))

    def test_of_what_is_recorded_offline(self):
        self.set(SVC_MODE="offline")
        self.report_and_flush()
        self.assertEqual(self.titles(self.offline_lines("events.jsonl")), ["before", "between", "behind"])
        self.assertEqual(len(self.offline_lines("points.jsonl")), 1)

    def test_of_what_is_left_at_the_end(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.2")
        run = self.attach()
        self.assertTrue(run.flush(5))
        self.server.fail("/events", *["hang"] * 10)
        with self.assertLogs("svc", "WARNING") as logs:
            self.report(run)
            run.finish("FAILED")
        self.assertEqual(sum("is lost" in line for line in logs.output), 1)
        self.assertEqual(self.titles(self.offline_lines("events.jsonl")), ["before", "between", "behind"])
        self.assertEqual(len(self.offline_lines("points.jsonl")), 1)
        self.assertEqual(self.offline_metadata()["status"], "FAILED")


class EventTest(SdkTest):
    def test_an_event_carries_what_it_was_given(self):
        run = self.attach()
        run.event("lr dropped", message="plateau", severity="warning", data={"lr": 0.1})
        run.event("t" * 600)
        run.flush()
        first, second = self.server.bodies_of("events")
        self.assertEqual(
            first, {"title": "lr dropped", "message": "plateau", "severity": "warning", "data": {"lr": 0.1}}
        )
        self.assertEqual((len(second["title"]), second["severity"]), (500, "info"))

    def test_an_unknown_severity_is_warned_about(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.event("x", severity="fatal")
        run.flush()
        self.assertEqual(self.server.bodies_of("events")[0]["severity"], "info")


class JsonableTest(SdkTest):
    def test_whatever_it_is_it_becomes_json(self):
        circle = {}
        circle["self"] = circle
        self.assertEqual(to_jsonable({1: (1, 2.5), "nul": "a\x00b", "set": {3}, "f": -math.inf, "none": None}),
                         {"1": [1, 2.5], "nul": "ab", "set": [3], "f": "-Infinity", "none": None})  # fmt: skip
        self.assertIn("self", to_jsonable(circle))
        self.assertEqual(to_jsonable("\ud800"), "?")
        self.assertIsInstance(to_jsonable(object()), str)
