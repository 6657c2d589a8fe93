import { failureRule } from '../failure-rule.js';

export const gpuFellOffBus = failureRule({
  name: 'gpu-fell-off-bus',
  title: 'A GPU of the node fell off the bus',
  cause: 'The host lost contact with the GPU (Xid 79). This is a fault of hardware, power or cooling.',
  fixes: [
    'Drain the node, and restart or power-cycle the host.',
    'If it comes back, have the GPU, its power supply and its slot checked.',
    'Run the job on another node.',
  ],
  confidence: 0.96,
  remedy: 'retry',
  patterns: [
    /\bGPU has fallen off the bus\b/,
    /\bXid\b.{0,60}?: 79\b/,
    /\bGPU is lost\b/,
    /Unable to determine the device handle for (?:GPU|gpu)/,
  ],
  explainsKill: true,
});
