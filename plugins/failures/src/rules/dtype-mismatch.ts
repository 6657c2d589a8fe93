import { failureRule } from '../failure-rule.js';

export const dtypeMismatch = failureRule({
  name: 'dtype-mismatch',
  title: 'Tensors had types that do not fit',
  cause: 'An operation got tensors of different or unsupported types (such as float and half).',
  fixes: [
    'Convert with .to(dtype), or run the operation under torch.autocast.',
    'Loss functions of classes need labels of type long.',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /expected (?:scalar type|m1 and m2 to have the same dtype)|must have the same dtype/,
    /expected .{0,80}?\bdtype\b.{0,80}?\b(?:but|got)\b|Found dtype \w+ but expected/,
    /result type \w+ can't be cast to the desired output type/,
    /"\w{1,80}" not implemented for '(?:Half|BFloat16|Long|Int|Bool|Float|Byte)'/,
    /Input type \(\S{1,60}\) and (?:weight|bias) type \(\S{1,60}\) should be the same/,
  ],
});
