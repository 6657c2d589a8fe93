import { failureRule } from '../failure-rule.js';

export const cudaDeviceAssert = failureRule({
  name: 'cuda-device-assert',
  title: 'A CUDA kernel failed an assertion',
  cause:
    'An index or a label was out of range on the GPU, most often a class label or a token id that is not smaller than the number of classes or embeddings.',
  fixes: [
    'Check that labels lie in 0..num_classes-1 and token ids in 0..vocab_size-1.',
    'Run once on the CPU, or with CUDA_LAUNCH_BLOCKING=1: then the traceback names the operation.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /\bdevice-side assert(?: triggered)?\b/,
    /\bcudaErrorAssert\b/,
    /block: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\] Assertion/,
  ],
});
