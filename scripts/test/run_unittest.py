"""Discovers and runs unittest suites: run_unittest.py STATE_FILE START_DIR [PATTERN]. Writes the counts and the running test as JSON."""

import faulthandler
import json
import signal
import sys
import unittest


class StateResult(unittest.TextTestResult):
    state_file = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.write(test.id())

    def write(self, running: str) -> None:
        failed = len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)
        skipped = len(self.skipped)
        # A class or module that cannot be set up is an error without a test of its own.
        passed = max(0, self.testsRun - (1 if running else 0) - failed - skipped)
        with open(self.state_file, "w", encoding="utf-8") as file:
            json.dump({"running": running, "passed": passed, "failed": failed, "skipped": skipped}, file)


def main(state_file: str, start_dir: str, pattern: str = "test*.py") -> int:
    # A late test process is asked for what it does.
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    StateResult.state_file = state_file
    suite = unittest.defaultTestLoader.discover(start_dir, pattern)
    result = unittest.TextTestRunner(verbosity=1, buffer=True, resultclass=StateResult).run(suite)
    result.write("")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
