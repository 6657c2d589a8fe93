import { failureRule } from '../failure-rule.js';

export const cudaDriverMismatch = failureRule({
  name: 'cuda-driver-mismatch',
  title: 'The NVIDIA driver and the CUDA runtime do not fit together',
  cause:
    'The driver of the host is older than the CUDA runtime of the program needs, or was updated without a restart.',
  fixes: [
    'Update the driver of the node, or install a build of the framework for an older CUDA.',
    'After an update of the driver restart the host, so that the kernel module has the same version as the library.',
  ],
  confidence: 0.95,
  remedy: 'repair',
  patterns: [
    /CUDA driver version is insufficient for CUDA runtime version/,
    /The NVIDIA driver on your system is too old/,
    /Driver\/library version mismatch/,
    /forward compatibility was attempted on non supported HW/,
    /\bcudaErrorInsufficientDriver\b|\bCUDA_ERROR_SYSTEM_DRIVER_MISMATCH\b/,
  ],
});
