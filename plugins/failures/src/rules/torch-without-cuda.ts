import { failureRule } from '../failure-rule.js';

export const torchWithoutCuda = failureRule({
  name: 'torch-without-cuda',
  title: 'PyTorch was installed without CUDA',
  cause: 'The program asks for a GPU, and this build of PyTorch supports the CPU alone.',
  fixes: [
    'Install a build of PyTorch with CUDA in the environment of the job.',
    'Check that the job starts in the intended virtual environment.',
  ],
  confidence: 0.95,
  remedy: 'repair',
  patterns: [/Torch not compiled with CUDA enabled/],
});
