import { failureRule } from '../failure-rule.js';

export const shapeMismatch = failureRule({
  name: 'shape-mismatch',
  title: 'Tensors had shapes that do not fit',
  cause: 'An operation got tensors whose shapes do not fit together.',
  fixes: [
    'Print the shapes before the line that the traceback names.',
    'Check the sizes of layers, the last incomplete batch, and the order of the dimensions.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /mat1 and mat2 shapes cannot be multiplied/,
    /The size of tensor a \(\d+\) must match the size of tensor b/,
    /shape '\[.{0,200}?\]' is invalid for input of size|Sizes of tensors must match/,
    /\b[Ee]xpected .{0,80}?(?:channels|dimensional|\dD)\b.{0,80}?\b(?:got|but)\b/,
    /operands could not be broadcast together|\bshapes? .{0,80}? not aligned\b|mismatch in its core dimension/,
    /Target size \(.{0,200}?must be the same as input size|Expected input batch_size|stack expects each tensor to be equal size|Dimension out of range/,
  ],
});
