"""Which processes of a distributed training report."""

import sys
import types
from unittest import mock

import svc
from support import RUN_ID, SdkTest
from svc.ranks import is_secondary_rank


class RankTest(SdkTest):
    def test_the_variables_of_the_launchers_are_known(self):
        firsts = [{}, {"RANK": "0"}, {"SLURM_PROCID": "0"}, {"LOCAL_RANK": "0", "NODE_RANK": "0"}, {"RANK": "x"}]
        others = [
            {"RANK": "3"},
            {"SLURM_PROCID": "1"},
            {"OMPI_COMM_WORLD_RANK": "2"},
            {"PMI_RANK": "1"},
            {"LOCAL_RANK": "1"},
            {"LOCAL_RANK": "0", "NODE_RANK": "1"},
        ]
        self.assertEqual([is_secondary_rank(env) for env in firsts], [False] * len(firsts))
        self.assertEqual([is_secondary_rank(env) for env in others], [True] * len(others))
        self.assertFalse(is_secondary_rank({"RANK": "0", "LOCAL_RANK": "5", "SLURM_PROCID": "2"}))

    def test_torch_knows_it_best_once_it_has_begun(self):
        for is_begun, expected in ((True, True), (False, False)):
            distributed = types.SimpleNamespace(
                is_available=lambda: True, is_initialized=lambda begun=is_begun: begun, get_rank=lambda: 1
            )
            with mock.patch.dict(sys.modules, {"torch.distributed": distributed}):
                self.assertEqual(is_secondary_rank({"RANK": "0"}), expected)

    def test_another_rank_is_silent_in_a_job_and_elsewhere(self):
        self.set(RANK="1")
        for begin in (svc.init, self.attach):
            run = begin()
            run.log({"loss": 1.0})
            run.event("x")
            run.config.update(lr=1)
            self.assertEqual((run.summary["loss"], run.config.lr, run.flush()), (1.0, 1, True))
            run.finish()
        self.assertEqual(self.server.requests, [])

    def test_it_reports_when_it_is_asked_to(self):
        self.set(RANK="1")
        self.in_job()
        run = svc.init(all_ranks=True)
        run.log({"loss": 1.0})
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [1.0])

    def test_four_processes_report_once(self):
        self.in_job()
        code = "run = svc.init()\nrun.log({'loss': float(os.environ['RANK'])})\nrun.flush()"
        processes = []
        for rank in range(4):
            self.set(RANK=str(rank), WORLD_SIZE="4")
            processes.append(self.script(code))
        for process in processes:
            process.communicate(timeout=30)
        self.assertEqual([process.returncode for process in processes], [0] * 4)
        self.assertEqual(self.server.values("loss", RUN_ID), [0.0])
