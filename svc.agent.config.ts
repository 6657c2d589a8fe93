import { defineAgentConfig } from '@svc/agent';
import evaluations from '@svc/plugin-evaluations/agent';
import gpuNvidia from '@svc/plugin-gpu-nvidia/agent';
import oomEvidence from '@svc/plugin-oom-evidence/agent';
import runnerProcess from '@svc/plugin-runner-process/agent';

// The list of an agent's plugins. An agent without a file of its own has this one built in.
export default defineAgentConfig({
  plugins: [
    runnerProcess(), // runs a command as a process group
    gpuNvidia(), // NVIDIA GPUs: slots, and what they do
    evaluations(), // an evaluation has succeeded with a valid result only
    oomEvidence(), // a failure whose log ends in an out-of-memory error
  ],
});
