"""What was recorded offline comes in when a run next finds a server."""

import json
import os
import time

import svc
from support import RUN_ID, SdkTest


class DeliveryOfOfflineRunsTest(SdkTest):
    def record(self, end=True, **about):
        with self.assertLogs("svc", "WARNING"):
            svc.notices.forget()
            run = svc.init(mode="offline", reinit="new", **about)
        for step in range(50):
            run.log({"loss": float(step), "odd/nan": float("nan")}, step=step, epoch=step / 10)
        run.event("halfway", message="text", severity="warning")
        run.checkpoint(self.directory, step=7)
        run.define_metric("loss", direction="minimize")
        if end:
            run.finish("FAILED")
        return run

    def untouched(self, run):
        return (run.offline_path / "metadata.json").exists()

    def delivered(self, run):
        return self.directory / "svc-offline" / "delivered" / run.offline_path.name

    def run_named(self, name):
        return next(run for run in self.server.runs.values() if run["name"] == name)

    def wait_for(self, run):
        end = time.monotonic() + 8
        while not self.delivered(run).exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_the_next_online_start_brings_it_in_whole(self):
        offline = self.record(name="alone", project="p", config={"lr": 1}, tags=["t"])
        svc.init(name="next")
        self.wait_for(offline)
        run = self.run_named("alone")
        metadata = json.loads((self.delivered(offline) / "metadata.json").read_text())
        self.assertEqual((run["status"], run["config"], run["tags"]), ("FAILED", {"lr": 1}, ["t"]))
        self.assertEqual((run["started_at"], metadata["run_id"]), (metadata["created_at"], run["id"]))
        self.assertEqual(self.server.values("loss", run["id"]), [float(step) for step in range(50)])
        self.assertEqual(set(self.server.values("odd/nan", run["id"])), {"NaN"})
        self.assertEqual([body["title"] for body in self.server.bodies_of("events")], ["halfway"])
        self.assertEqual([body["step"] for body in self.server.bodies_of("checkpoints")], [7])
        self.assertEqual(run["metrics"]["loss"], {"direction": "minimize"})
        (finish,) = self.server.bodies_of("finish")
        self.assertEqual(finish, {"status": "FAILED", "finished_at": metadata["finished_at"]})

    def test_what_is_cut_off_goes_on_at_the_next_start_and_doubles_nothing(self):
        offline = self.record(name="alone")
        self.server.fail("/events", "cut-after")
        first = svc.init(name="next", reinit="new")
        self.server.until(lambda: self.server.bodies_of("events"))
        self.assertTrue(self.untouched(offline))
        while any(thread.name == "svc-delivery" for thread in svc.sender.threading.enumerate()):
            first.flush(0.01)
        svc.init(name="after", reinit="new")
        self.wait_for(offline)
        self.assertEqual(len([run for run in self.server.runs.values() if run["name"] == "alone"]), 1)
        self.assertEqual(len(self.server.points[self.run_named("alone")["id"]]), 100)
        first_key, second_key = self.server.event_keys
        self.assertEqual(first_key, second_key)

    def test_a_run_that_was_made_before_the_folder_could_say_so_is_made_once(self):
        offline = self.record(name="alone")
        self.server.fail("/runs", None, "cut-after")
        first = svc.init(name="next", reinit="new")
        while any(thread.name == "svc-delivery" for thread in svc.sender.threading.enumerate()):
            first.flush(0.01)
        svc.init(name="after", reinit="new")
        self.wait_for(offline)
        self.assertEqual(len([run for run in self.server.runs.values() if run["name"] == "alone"]), 1)
        self.assertEqual(len(self.server.points[self.run_named("alone")["id"]]), 100)

    def test_a_run_that_has_not_ended_and_one_of_a_job_stay(self):
        going_on = self.record(end=False, name="going on")
        ended = self.record(name="ended")
        svc.init(name="next", reinit="new")
        self.wait_for(ended)
        self.assertTrue(self.untouched(going_on))
        self.assertNotIn("going on", [run["name"] for run in self.server.runs.values()])

    def test_in_a_job_nothing_is_brought_in(self):
        offline = self.record()
        self.attach()
        svc.init(name="further", reinit="new").flush()
        self.assertTrue(self.untouched(offline))
        self.assertFalse(any(thread.name == "svc-delivery" for thread in svc.sender.threading.enumerate()))

    def test_a_torn_line_and_one_that_is_refused_cost_only_themselves(self):
        offline = self.record(name="torn")
        with open(offline.offline_path / "points.jsonl", "a") as file:
            file.write('{"seq":1,"name":"bad","value":1.0,"step":0,"ts":1}\n{"seq":2,"name":"lo')
        self.server.refused_names = {"bad"}
        svc.init(name="next")
        self.wait_for(offline)
        self.assertEqual(len(self.server.points[self.run_named("torn")["id"]]), 100)

    def test_bad_lines_are_counted_and_a_bad_folder_costs_only_itself(self):
        offline, later = self.record(name="a-lines"), self.record(name="b")
        broken = self.directory / "svc-offline" / "a-broken"
        broken.mkdir()
        (broken / "metadata.json").write_text("no json")
        for name in ("points", "events", "checkpoints", "metrics"):
            path = offline.offline_path / f"{name}.jsonl"
            path.write_text(f'no json\n[1]\n{path.read_text()}{{"value":NaN}}\n')
        with self.assertLogs("svc", "WARNING") as logs:
            svc.init(name="next")
            self.wait_for(later)
        told = "\n".join(logs.output)
        self.assertIn(f"recorded in {broken} could not be brought in", told)
        self.assertIn(f"12 lines in {self.delivered(offline)} hold no JSON object", told)
        for name in ("a-lines", "b"):
            self.assertEqual(len(self.server.points[self.run_named(name)["id"]]), 100)
        self.assertEqual(len(self.server.bodies_of("events")), 2)

    def test_a_folder_that_the_server_refuses_does_not_hold_up_the_next(self):
        refused, later = self.record(name="a"), self.record(name="b")
        self.server.fail("/runs", None, 422)
        with self.assertLogs("svc", "WARNING"):
            svc.init(name="next")
            self.wait_for(later)
        self.assertTrue(self.untouched(refused))

    def test_what_a_full_disk_takes_in_part_is_cut_off_again(self):
        code = (
            "import resource\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "run = svc.init(mode='offline')\n"
            "for _ in range(3): run.event('x' * 400)\n"
            "run.flush()\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, -1))\n"
            "for _ in range(3): run.event('y' * 400)\n"
            "run.flush()\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100000, -1))\n"
            "run.event('z')\n"
        )
        _, _, told = self.run_script(code)
        self.assertIn("cannot write to", told)
        self.assertEqual([line["title"][0] for line in self.offline_lines("events.jsonl")], ["x", "x", "x", "y", "z"])

    def test_a_short_script_waits_for_it_as_long_as_for_its_own_run(self):
        offline = self.record(name="alone")
        self.assertEqual(self.run_script("svc.init(name='next')")[0], 0)
        self.assertTrue(self.delivered(offline).exists())
        late = self.record(name="late")
        self.set(SVC_FLUSH_TIMEOUT_S="0.5")
        self.server.fail("/runs", None, "hang")
        self.assertIn("are still to come in", self.run_script("svc.init(name='next')")[2])
        self.assertTrue(self.untouched(late))

    def test_what_an_online_run_left_behind_goes_to_that_run(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.3")
        run = svc.init(name="cut off")
        self.assertTrue(run.flush(5))
        port = self.server.port
        self.server.stop()
        with self.assertLogs("svc", "WARNING"):
            run.log({"loss": 1.0}, step=1)
            run.finish()
        self.assertTrue(self.untouched(run))
        self.server.start(port)
        svc.init(name="next")
        self.wait_for(run)
        self.assertEqual(self.server.values("loss", run.id), [1.0])
        self.assertEqual(self.server.runs[run.id]["status"], "SUCCEEDED")

    def test_without_folders_nothing_happens(self):
        svc.init(name="next")
        self.assertEqual(os.listdir(self.directory), [])
        self.assertNotIn(RUN_ID, self.server.runs)
