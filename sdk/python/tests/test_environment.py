import importlib.metadata
import json
import os
import re
import subprocess
import sys
import threading
import time
from unittest import mock

import svc
from support import SdkTest
from svc import environment
from svc.environment import first_snapshot, installed_packages, whole_snapshot
from svc.values import encode_json

IDENTITY = ["-c", "user.name=t", "-c", "user.email=t@example.org"]


class EnvironmentTest(SdkTest):
    def git(self, *command: str) -> None:
        subprocess.run(["git", *IDENTITY, *command], cwd=self.directory, check=True, stdout=subprocess.DEVNULL)

    def commit(self, text: str = "x = 1\n") -> None:
        """A repository whose one commit has train.py with this text."""
        self.git("init", "-q", "-b", "trunk")
        self.write(text)
        self.git("add", "train.py")
        self.git("commit", "-q", "-m", "first")

    def write(self, text: str) -> None:
        (self.directory / "train.py").write_text(text, "utf-8")

    def whole(self):
        return whole_snapshot(first_snapshot(), str(self.directory))

    def program(self, name: str, code: str) -> None:
        """A program of that name in front of the others, that runs this shell code."""
        directory = self.directory / "bin"
        directory.mkdir()
        (directory / name).write_text(f"#!/bin/sh\n{code}")
        (directory / name).chmod(0o755)
        self.set(PATH=f"{directory}:{os.environ['PATH']}")

    def test_python_host_command_line_and_working_directory(self):
        with mock.patch.object(sys, "orig_argv", ["python", "train.py", "--api-key", "k", "x" * 5000], create=True):
            found = self.whole()
        self.assertEqual(found["command"][:4], ["python", "train.py", "--api-key", "***"])
        self.assertEqual(len(found["command"][4]), 2000)
        self.assertEqual(found["working_dir"], str(self.directory))
        self.assertTrue(found["python"] and found["hostname"] and found["platform"] and found["svc_sdk"])

    def test_the_packages_that_the_interpreter_knows(self):
        def normal(name: str) -> str:
            return re.sub("[-_.]+", "-", name).lower()

        known = {normal(one.metadata["Name"]) for one in importlib.metadata.distributions()}
        found = dict(package.split("==") for package in installed_packages())
        self.assertEqual(set(found), known)
        self.assertEqual(found["pip"], importlib.metadata.version("pip"))
        self.assertNotIn("***", json.dumps(self.whole()["packages"]))

    def test_the_commit_the_branch_and_that_nothing_was_changed(self):
        self.commit()
        git = self.whole()["git"]
        self.assertRegex(git.pop("commit"), "^[0-9a-f]{40}$")
        self.assertEqual(git, {"branch": "trunk", "dirty": False})

    def test_the_changes_staged_and_not_without_their_secrets(self):
        self.commit()
        self.write("x = 2\n")
        self.git("add", "train.py")
        self.write("x = 2\ntoken = 'abc'\nurl = 'https://u:p@host'\n")
        git = self.whole()["git"]
        self.assertTrue(git["dirty"])
        for line in ("-x = 1", "+x = 2", "+token = '***'", "+url = 'https://u:***@host'"):
            self.assertIn(line, git["diff"].splitlines())
        self.assertEqual(git["diff_cut_bytes"], 0)
        self.assertGreater(git["diff_bytes"], 100)

    def test_a_detached_head_has_no_branch(self):
        self.commit()
        self.git("checkout", "-q", "--detach")
        self.assertIsNone(self.whole()["git"]["branch"])

    def test_large_changes_are_cut_in_whole_lines_to_what_the_server_takes(self):
        self.commit()
        for line in ("value = 'ä\\\\\"'  # and more\n", "y" * 70 + "\n"):
            with self.subTest(line):
                self.write(line * 60_000)
                found = self.whole()
                git = found["git"]
                self.assertLess(len(encode_json({"environment": found})), 1024 * 1024)
                self.assertGreater(len(git["diff"].encode()), 500_000)
                self.assertTrue(git["diff"].endswith("\n"))
                self.assertEqual(len(git["diff"].encode()) + git["diff_cut_bytes"], git["diff_bytes"])

    def test_nothing_that_the_repository_configures_is_run(self):
        self.commit()
        self.write("x = 2\n")
        trap = f"touch {self.directory}/trapped #"
        for key in ("core.fsmonitor", "diff.external", "diff.py.textconv", "core.pager"):
            self.git("config", key, trap)
        (self.directory / ".gitattributes").write_text("*.py diff=py\n")
        self.assertIn("+x = 2", self.whole()["git"]["diff"])
        self.assertFalse((self.directory / "trapped").exists())

    def test_without_git_and_outside_a_repository_the_rest_is_there(self):
        self.assertNotIn("git", self.whole())
        self.set(PATH="")
        found = self.whole()
        self.assertNotIn("git", found)
        self.assertTrue(found["python"] and found["packages"])

    def test_the_gpus(self):
        self.program(
            "nvidia-smi", "echo '0, GPU-1, NVIDIA H200, 143771, 550.54.15'\necho '1, GPU-2, X, [N/A], 550.54.15'"
        )
        self.set(CUDA_VISIBLE_DEVICES="1", CUDA_VERSION="12.4.1")
        found = self.whole()
        self.assertEqual(found["cuda"], "12.4.1")
        devices = [
            {"index": 0, "uuid": "GPU-1", "name": "NVIDIA H200", "memory_total_mb": 143771},
            {"index": 1, "uuid": "GPU-2", "name": "X", "memory_total_mb": None},
        ]
        self.assertEqual(found["gpu"], {"driver": "550.54.15", "visible": "1", "devices": devices})
        self.set(CUDA_VISIBLE_DEVICES="")
        self.assertNotIn("gpu", self.whole())

    def test_the_cuda_of_a_torch_that_was_imported_and_no_import_of_it(self):
        torch = mock.Mock()
        torch.version.cuda = "12.6"
        with mock.patch.dict(sys.modules, {"torch": torch}):
            self.assertEqual(self.whole()["cuda"], "12.6")
        imported = "run = svc.init(); run.flush(); print([name for name in ('torch', 'numpy') if name in sys.modules])"
        self.assertEqual(self.run_script(imported)[1].strip(), "[]")

    def test_a_program_that_hangs_is_given_up(self):
        self.program("nvidia-smi", "exec sleep 60")
        before, environment.PROGRAMS_TIMEOUT_S = environment.PROGRAMS_TIMEOUT_S, 0.3
        self.addCleanup(setattr, environment, "PROGRAMS_TIMEOUT_S", before)
        started_at = time.monotonic()
        self.assertNotIn("gpu", self.whole())
        self.assertLess(time.monotonic() - started_at, 5)

    def test_init_does_not_wait_for_it_and_the_run_gets_it(self):
        gate = self.directory / "gate"
        os.mkfifo(gate)
        self.program("nvidia-smi", f"read line < {gate}\necho '0, GPU-1, H200, 1, 550'")
        self.in_job()
        run = svc.init(config={"api_key": "k"})
        self.server.until(lambda: self.server.bodies_of("update"))
        first = self.server.bodies_of("update")[0]
        self.assertEqual(first["config"], {"api_key": "***"})
        self.assertNotIn("gpu", first["environment"])
        threading.Thread(target=gate.write_text, args=("go\n",), daemon=True).start()
        run.flush()
        self.assertEqual(self.server.runs[run.id]["environment"]["gpu"]["driver"], "550")

    def test_a_run_outside_a_job_and_one_offline_have_it_too(self):
        run = svc.init()
        run.flush()
        self.assertIn("packages", self.server.runs[run.id]["environment"])
        self.set(SVC_MODE="offline")
        svc.init().finish()
        self.assertIn("packages", self.offline_metadata()["environment"])

    def test_another_rank_does_not_describe_the_run(self):
        self.in_job()
        self.set(RANK="1")
        svc.init().finish()
        self.assertEqual(self.server.bodies_of("update"), [])

    def test_a_snapshot_that_fails_leaves_the_first_one(self):
        with mock.patch.object(environment, "whole_snapshot", side_effect=RuntimeError("x")):
            run = svc.init()
            run.flush()
        self.assertIn("python", self.server.runs[run.id]["environment"])
