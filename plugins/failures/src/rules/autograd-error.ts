import { failureRule } from '../failure-rule.js';

export const autogradError = failureRule({
  name: 'autograd-error',
  title: 'The gradient could not be computed',
  cause:
    'The backward pass failed: a tensor was changed in place, the graph was used twice, or nothing requires a gradient.',
  fixes: [
    'Avoid in-place operations (+=, relu_) on tensors that the gradient needs.',
    'Detach what is carried from one step to the next (.detach()).',
    'Check that parameters have requires_grad=True.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /has been modified by an inplace operation/,
    /Trying to backward through the graph a second time/,
    /does not require grad and does not have a grad_fn/,
    /Expected to have finished reduction in the prior iteration/,
  ],
});
