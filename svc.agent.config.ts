import { defineAgentConfig } from '@svc/agent';
import evaluations from '@svc/plugin-evaluations/agent';
import gpuNvidia from '@svc/plugin-gpu-nvidia/agent';
import oomEvidence from '@svc/plugin-oom-evidence/agent';
import runnerProcess from '@svc/plugin-runner-process/agent';
import snapshots from '@svc/plugin-snapshots/agent';

// The plugins of an agent. An agent without a configuration file uses this list.
export default defineAgentConfig({
  plugins: [
    runnerProcess(), // runner that starts a command as a process group
    snapshots(), // brings the source files of a job to the host
    gpuNvidia(), // NVIDIA GPUs: slots and metrics
    evaluations(), // an evaluation succeeds only with a valid result
    oomEvidence(), // a failure whose log ends in an out-of-memory error is reported as OOM
  ],
});
