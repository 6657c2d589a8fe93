import { expect } from 'chai';
import { progressOf } from '../src/agent/checkpoint-name.js';

describe('the name of a checkpoint', () => {
  const CASES: Record<string, object> = {
    'checkpoint-500': { step: 500 },
    'epoch=3-step=1200.ckpt': { step: 1200, epoch: 3 },
    'model_step_100.pt': { step: 100 },
    global_step2000: { step: 2000 },
    'ckpt_000123.pth': { step: 123 },
    'model-7.safetensors': { step: 7 },
    'iter_0004000.pth': { step: 4000 },
    'resnet_epoch_12.pth': { epoch: 12 },
    'best.pt': {},
    'resnet50.pt': {},
    'last.ckpt': {},
    'multistep.pt': {},
    'checkpoint-99999999999999999999': {},
  };
  for (const [name, progress] of Object.entries(CASES))
    it(`${name} says ${JSON.stringify(progress)}`, () => expect(progressOf(name)).to.deep.equal(progress));
});
