"""Discovers and runs unittest suites: run_unittest.py COUNTS_FILE START_DIR. Writes the counts as JSON."""

import json
import sys
import unittest


def main(counts_file: str, start_dir: str) -> int:
    suite = unittest.defaultTestLoader.discover(start_dir)
    result = unittest.TextTestRunner(verbosity=1, buffer=True).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    # A class or module that cannot be set up is an error without a test of its own.
    passed = max(0, result.testsRun - failed - skipped)
    with open(counts_file, "w", encoding="utf-8") as file:
        json.dump({"passed": passed, "failed": failed, "skipped": skipped}, file)
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
