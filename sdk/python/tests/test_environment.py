import subprocess
import sys
from unittest import mock

from support import SdkTest
from svc.environment import environment_snapshot, masked_command


class EnvironmentTest(SdkTest):
    def test_secrets_on_the_command_line_are_masked(self):
        command = ["train.py", "--api-key", "k1", "--hf_token=k2", "--password", "--verbose", "--PASSWD", "k3"]
        masked = ["train.py", "--api-key", "***", "--hf_token=***", "--password", "--verbose", "--PASSWD", "***"]
        self.assertEqual(masked_command(command), masked)

    def test_what_only_sounds_like_a_secret_is_not_masked(self):
        command = ["train.py", "--tokenizer", "gpt2", "--max-tokens=4096", "--key", "value", "secret.txt"]
        self.assertEqual(masked_command(command), command)

    def test_the_commit_and_whether_it_was_changed(self):
        script = self.directory / "train.py"
        script.write_text("pass")
        for command in (["init", "-q"], ["add", "train.py"], ["commit", "-q", "-m", "first"]):
            identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
            subprocess.run(["git", *identity, *command], cwd=self.directory, check=True)
        with mock.patch.object(sys.modules["__main__"], "__file__", str(script), create=True):
            clean = environment_snapshot()
            script.write_text("changed")
            changed = environment_snapshot()
        self.assertRegex(clean["git_commit"], "^[0-9a-f]{40}$")
        self.assertEqual((clean["git_dirty"], changed["git_dirty"]), (False, True))

    def test_without_git_the_rest_is_there(self):
        with mock.patch.dict("os.environ", {"PATH": ""}):
            snapshot = environment_snapshot()
        self.assertNotIn("git_commit", snapshot)
        self.assertTrue(snapshot["python"] and snapshot["hostname"])
