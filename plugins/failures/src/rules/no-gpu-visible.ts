import { failureRule } from '../failure-rule.js';

export const noGpuVisible = failureRule({
  name: 'no-gpu-visible',
  title: 'The program found no GPU',
  cause:
    'The program asks for a GPU that it cannot see: the job has none, the index is too high, or the driver does not answer.',
  fixes: [
    'Request GPUs for the job (svc submit --gpu N).',
    'Use device indices from 0: CUDA_VISIBLE_DEVICES renumbers the GPUs of the job.',
    'A program that is to run without a GPU loads checkpoints with torch.load(..., map_location="cpu").',
    'Run nvidia-smi on the node to see whether the driver answers.',
  ],
  confidence: 0.93,
  remedy: 'change',
  patterns: [
    /\bNo CUDA GPUs are available\b/,
    /\bno CUDA-capable device is detected\b/,
    /\bCUDA error: invalid device ordinal\b/,
    /\bFound no NVIDIA driver on your system\b/,
    /Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False/,
    /\bNVIDIA-SMI has failed because it couldn't communicate\b/,
  ],
});
