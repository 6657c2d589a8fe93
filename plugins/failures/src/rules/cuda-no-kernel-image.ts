import { failureRule } from '../failure-rule.js';

export const cudaNoKernelImage = failureRule({
  name: 'cuda-no-kernel-image',
  title: 'The program has no code for this GPU',
  cause: 'The framework or an extension was built without code for the architecture of this GPU.',
  fixes: [
    'Install a build that supports the compute capability of the GPU.',
    'Build extensions again with TORCH_CUDA_ARCH_LIST set for the GPU.',
    'Choose a node with another GPU model (node selector gpu_model).',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /no kernel image is available for execution on the device/,
    /is not compatible with the current PyTorch installation/,
    /\bcudaErrorNoKernelImageForDevice\b/,
  ],
});
