import { failureRule } from '../failure-rule.js';

export const gpuMemoryError = failureRule({
  name: 'gpu-memory-error',
  title: 'The GPU reported an error of its hardware',
  cause: 'The driver reported a hardware error of the GPU, such as an uncorrectable memory (ECC) error.',
  fixes: [
    'Drain the node, reset the GPU or restart the host, and look for pending page retirements in nvidia-smi -q.',
    'Run the job on another node.',
  ],
  confidence: 0.95,
  remedy: 'retry',
  patterns: [
    /\buncorrectable ECC error\b/,
    // Other numbers, as 13, 31 and 43, are errors of the program.
    /\bXid \(PCI:[\w:.]{1,40}\): (?:48|62|63|64|74|92|94|95|119|120)\b/,
    /\bcudaErrorECCUncorrectable\b|\bCUDA_ERROR_ECC_UNCORRECTABLE\b/,
  ],
  explainsKill: true,
});
