import { defineAgentConfig } from '@svc/agent';
import checkpointWatcher from '@svc/plugin-checkpoint-watcher/agent';
import evaluations from '@svc/plugin-evaluations/agent';
import eventFiles from '@svc/plugin-event-files/agent';
import gpuAmd from '@svc/plugin-gpu-amd/agent';
import gpuApple from '@svc/plugin-gpu-apple/agent';
import gpuNvidia from '@svc/plugin-gpu-nvidia/agent';
import oomEvidence from '@svc/plugin-oom-evidence/agent';
import pythonSdk from '@svc/plugin-python-sdk/agent';
import runnerDocker from '@svc/plugin-runner-docker/agent';
import runnerProcess from '@svc/plugin-runner-process/agent';
import snapshots from '@svc/plugin-snapshots/agent';

// The plugins of an agent. An agent without a configuration file uses this list.
export default defineAgentConfig({
  plugins: [
    runnerProcess(), // runner that starts a command as a process group
    runnerDocker(), // runner that starts a command in a container, where there is an engine
    snapshots(), // brings the source files of a job to the host
    pythonSdk(), // `import svc` works in the jobs of that runner without an installation
    gpuNvidia(), // NVIDIA GPUs: slots, their health, and metrics
    gpuAmd(), // AMD GPUs: slots and metrics
    gpuApple(), // GPUs of Macs: slots and metrics
    evaluations(), // an evaluation succeeds only with a valid result
    eventFiles(), // scalars of a training from its TensorBoard event files
    checkpointWatcher(), // checkpoints that a training writes
    oomEvidence(), // a failure whose log ends in an out-of-memory error is reported as OOM
  ],
});
