import { failureRule } from '../failure-rule.js';

export const cudaIllegalMemoryAccess = failureRule({
  name: 'cuda-illegal-memory-access',
  title: 'A CUDA kernel accessed memory that is not its own',
  cause:
    'A CUDA kernel read or wrote an illegal address. This is a defect of a custom kernel or of a library, or a sign of faulty hardware.',
  fixes: [
    'Run with CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer to find the kernel.',
    'Update PyTorch, CUDA and the extension libraries (flash-attn, xformers, apex) to versions that match.',
    'If it happens in one node alone, test the hardware of that node.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /\ban illegal memory access was encountered\b/,
    /\bCUDA_ERROR_ILLEGAL_ADDRESS\b|\bcudaErrorIllegalAddress\b/,
    /\bCUDA error: (?:misaligned address|unspecified launch failure)\b/,
    /\bXid \(PCI:[\w:.]{1,40}\): (?:13|31)\b/,
  ],
});
