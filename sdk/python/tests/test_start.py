import argparse
import dataclasses
import json
import os
import time
from pathlib import Path

import svc
from support import JOB_ID, RUN_ID, TOKEN, SdkTest
from svc import notices
from svc.settings import load_settings

NOBODY = "http://127.0.0.1:9"  # the discard port: refused at once


@dataclasses.dataclass
class Config:
    lr: float
    path: Path


class StartTest(SdkTest):
    def test_inside_a_job_the_first_init_attaches_and_describes_the_run(self):
        self.in_job()
        run = svc.init(config={"lr": 0.1}, max_steps=100)
        run.flush()
        self.assertEqual((run.id, run.is_attached), (RUN_ID, True))
        (_, method, path, body), (*_, snapshot) = self.server.requests
        self.assertEqual((method, path), ("PATCH", f"/api/v1/runs/{RUN_ID}"))
        self.assertEqual(set(snapshot), {"environment"})
        self.assertEqual(set(body), {"config", "environment", "max_steps"})
        self.assertEqual((body["config"], body["max_steps"]), ({"lr": 0.1}, 100))
        self.assertEqual(set(body["environment"]) >= {"python", "hostname", "command", "svc_sdk"}, True)

    def test_a_second_init_makes_a_further_run_of_the_job_with_a_token_of_its_own(self):
        first = self.attach()
        second = svc.init(name="fold 2", project="elsewhere", config={"fold": 2}, reinit="new")
        second.log({"loss": 2.0})
        first.log({"loss": 1.0})
        second.finish()
        first.flush()
        (body,) = self.server.bodies("/runs")
        self.assertEqual((body["job_id"], body["name"], body["source"]), (JOB_ID, "fold 2", "sdk"))
        self.assertNotIn("project", body)
        self.assertFalse(second.is_attached)
        self.assertEqual(self.server.values("loss"), [1.0])
        self.assertEqual(self.server.values("loss", second.id), [2.0])
        self.assertEqual(self.server.runs[second.id]["status"], "SUCCEEDED")
        self.assertEqual(self.server.runs[RUN_ID]["status"], "RUNNING")

    def test_outside_a_job_a_run_is_made(self):
        run = svc.init(
            project="vision", experiment="digits", name="mlp", config={"lr": 1}, max_steps=5, tags=["a", "a"]
        )
        (body,) = self.server.bodies("/runs")
        self.assertEqual((body["project"], body["experiment"], body["name"]), ("vision", "digits", "mlp"))
        self.assertEqual((body["tags"], body["max_steps"]), (["a"], 5))
        self.assertNotIn("job_id", body)
        run.finish("CANCELLED")
        self.assertEqual(self.server.runs[run.id]["status"], "CANCELLED")

    def test_init_waits_out_a_server_that_is_starting(self):
        self.server.fail("/runs", 503)
        run = svc.init()
        self.assertFalse(run.is_offline)
        self.assertEqual(len(self.server.bodies("/runs")), 2)

    def test_config_may_be_a_dataclass_or_a_namespace(self):
        for config in (Config(0.1, Path("/data")), argparse.Namespace(lr=0.1, path=Path("/data"))):
            svc.init(config=config).finish()
        self.assertEqual([body["config"] for body in self.server.bodies("/runs")], [{"lr": 0.1, "path": "/data"}] * 2)

    def test_a_config_too_large_for_the_server_is_left_out(self):
        with self.assertLogs("svc", "WARNING"):
            svc.init(config={"blob": "x" * 600_000})
        self.assertNotIn("config", self.server.bodies("/runs")[0])

    def test_other_ranks_do_not_describe_the_run(self):
        self.set(RANK="3", SVC_ALL_RANKS="1")
        run = self.attach()
        run.log({"loss": 1.0})
        run.flush()
        self.assertEqual([path for _, _, path, _ in self.server.requests], [f"/api/v1/runs/{RUN_ID}/metrics:batch"])

    def test_without_a_server_the_run_is_recorded_with_exactly_one_warning(self):
        self.set(SVC_URL=NOBODY)
        with self.assertLogs("svc", "WARNING") as logs:
            run = svc.init(name="my run", project="vision", config={"lr": 0.1})
            run.log({"loss": 1.0, "bad/value": float("nan")}, step=1)
            run.event("hello")
            run.checkpoint("out/checkpoint-1", step=1)
            run.finish()
            svc.init().finish()
        self.assertIn(str(run.offline_path), logs.output[0])
        self.assertEqual([line for line in logs.output if "offline" in line], logs.output[:1])
        folder = run.offline_path.name
        self.assertEqual(
            (run.id, run.is_offline, run.offline_path.parent), (None, True, self.directory / "svc-offline")
        )
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl", folder)], [1.0, "NaN"])
        self.assertEqual(self.offline_lines("events.jsonl", folder)[0]["title"], "hello")
        checkpoint = self.offline_lines("checkpoints.jsonl", folder)[0]
        self.assertEqual(checkpoint["path"], str(self.directory / "out/checkpoint-1"))

    def test_a_hung_or_refusing_server_means_offline_too(self):
        self.set(SVC_INIT_TIMEOUT_S="0.3")
        for fault in ("hang", 401, 422, 503, "cut"):
            with self.subTest(fault=fault), self.assertLogs("svc", "WARNING") as logs:
                notices.forget()
                self.server.fail("/runs", *[fault] * 3)
                run = svc.init()
                self.assertTrue(run.is_offline)
                self.assertEqual(fault == 401, f"svc login {self.server.url} saves a valid one" in logs.output[0])
                self.server._faults.clear()

    def test_a_server_that_answers_byte_by_byte_holds_init_no_longer_than_allowed(self):
        self.set(SVC_INIT_TIMEOUT_S="0.3")
        for fault in ("trickle-head", "trickle-body"):
            with self.subTest(fault=fault), self.assertLogs("svc", "WARNING"):
                notices.forget()
                self.server.fail("/runs", fault)
                started = time.monotonic()
                self.assertTrue(svc.init().is_offline)
                self.assertLess(time.monotonic() - started, 3)

    def test_a_second_try_has_only_what_the_first_left_of_the_time(self):
        self.set(SVC_INIT_TIMEOUT_S="3")
        self.server.fail("/runs", (503, 2), "hang")
        started = time.monotonic()
        with self.assertLogs("svc", "WARNING"):
            self.assertTrue(svc.init().is_offline)
        self.assertLess(time.monotonic() - started, 4.5)

    def test_offline_by_choice_asks_no_server_and_remembers_the_run(self):
        self.in_job()
        self.set(SVC_MODE="offline")
        with self.assertLogs("svc", "WARNING") as logs:
            run = svc.init(config={"lr": 0.1})
            run.log({"loss": 1.0})
            run.finish()
        self.assertEqual(len(logs.output), 1)
        self.assertEqual(self.server.requests, [])
        metadata = self.offline_metadata()
        self.assertEqual((metadata["run_id"], metadata["job_id"], metadata["attempt"]), (RUN_ID, JOB_ID, 1))
        self.assertEqual((metadata["config"], metadata["status"]), ({"lr": 0.1}, "SUCCEEDED"))

    def test_disabled_does_nothing(self):
        self.set(SVC_MODE="disabled")
        with svc.init(name="x") as run:
            run.log({"loss": 1.0})
            run.checkpoint("x")
            run.event("x")
            self.assertTrue(run.flush())
            run.finish()
        self.assertEqual(self.server.requests, [])
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_folder_that_cannot_be_written_is_warned_about_and_nothing_more(self):
        (self.directory / "svc-offline").write_text("in the way")
        self.set(SVC_MODE="offline")
        with self.assertLogs("svc", "WARNING") as logs:
            run = svc.init()
            run.log({"loss": 1.0})
            run.finish()
        self.assertEqual(sum("cannot write" in line for line in logs.output), 1)


class SettingsTest(SdkTest):
    def settings(self, **env):
        return load_settings({"SVC_DATA_DIR": str(self.directory), "XDG_CONFIG_HOME": str(self.directory), **env})

    def leave_server(self, url="http://127.0.0.1:8600", **changes):
        ticks = int(Path("/proc/self/stat").read_text("latin-1").rpartition(")")[2].split()[19])
        server = {"url": url, "pid": os.getpid(), "start_ticks": ticks, **changes}
        (self.directory / "server.json").write_text(json.dumps(server))
        (self.directory / "token").write_text(TOKEN + "\n")

    def test_without_an_environment_the_server_of_the_local_data_directory_and_its_token_are_taken(self):
        self.leave_server()
        settings = self.settings()
        self.assertEqual((settings.url, settings.token), ("http://127.0.0.1:8600", TOKEN))
        self.assertEqual((settings.mode, settings.flush_timeout_s, settings.queue_points), ("online", 10.0, 100_000))

    def test_without_one_that_lives_no_address_is_guessed(self):
        self.assertEqual(self.settings().url, "")
        for changes in ({"pid": 2**30}, {"start_ticks": 1}, {"pid": "x"}):
            self.leave_server(**changes)
            self.assertEqual((self.settings().url, self.settings().token), ("", ""))
        self.set(SVC_DATA_DIR=str(self.directory), SVC_URL="")
        with self.assertLogs("svc", "WARNING") as logs:
            svc.init().finish()
        self.assertIn("no server runs on this host", logs.output[0])
        self.assertEqual(self.server.requests, [])

    def test_the_local_servers_token_goes_to_that_server_alone(self):
        self.leave_server()
        self.assertEqual(self.settings(SVC_URL="http://127.0.0.1:8600/").token, TOKEN)
        for url in ("http://gpu-cluster:8600", "http://localhost:8600", "http://127.0.0.1:1", "http://[::1]:8600"):
            self.assertEqual(self.settings(SVC_URL=url).token, "")
        self.leave_server(start_ticks=1)
        self.assertEqual(self.settings(SVC_URL="http://127.0.0.1:8600").token, "")

    def test_values_that_make_no_sense_are_warned_about(self):
        with self.assertLogs("svc", "WARNING") as logs:
            settings = self.settings(
                SVC_MODE="maybe", SVC_FLUSH_TIMEOUT_S="soon", SVC_QUEUE_POINTS="-1", SVC_TOKEN="tök\nen"
            )
        self.assertEqual((settings.mode, settings.flush_timeout_s, settings.queue_points), ("online", 10.0, 100_000))
        self.assertEqual((settings.token, len(logs.output)), ("", 4))
