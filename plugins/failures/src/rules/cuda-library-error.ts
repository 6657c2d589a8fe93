import { failureRule } from '../failure-rule.js';

export const cudaLibraryError = failureRule({
  name: 'cuda-library-error',
  title: 'A CUDA library reported an error',
  cause:
    'cuDNN or cuBLAS reported an error. Common reasons are memory that is nearly full, versions that do not match, and input of a wrong shape or type.',
  fixes: [
    'Run with a smaller batch, to see whether memory is the reason.',
    'Check that the versions of PyTorch, CUDA and cuDNN match.',
    'Run with CUDA_LAUNCH_BLOCKING=1: then the traceback names the operation.',
  ],
  confidence: 0.8,
  remedy: 'change',
  patterns: [
    /\bCUDNN_STATUS_(?!SUCCESS)\w+/,
    /\bCUBLAS_STATUS_(?!SUCCESS|ALLOC_FAILED)\w+/,
    /\bCUSPARSE_STATUS_(?!SUCCESS)\w+/,
  ],
});
