import { failureRule } from '../failure-rule.js';

export const deviceMismatch = failureRule({
  name: 'device-mismatch',
  title: 'Tensors were on different devices',
  cause: 'An operation got tensors on different devices, such as cpu and cuda:0.',
  fixes: [
    'Move the model and every input to one device with .to(device).',
    'Create new tensors on the device of an existing one (device=x.device).',
  ],
  confidence: 0.95,
  remedy: 'change',
  patterns: [
    /Expected all tensors to be on the same device/,
    /Input type \(torch\.(?:cuda\.)?\w+\) and weight type \(torch\.cuda\.\w+\) should be the same/,
    /Expected object of device type \w+ but got device type/,
  ],
});
