import type { Job, NodeRecord } from '@svc/contract';
import { expect } from 'chai';
import { toPendingHelp } from '../src/components/pending-help.js';
import { job, node, slot } from './browser/harness/records.js';

const ORIGIN = 'http://gpu-server:8600';

describe('what would help a job that waits', () => {
  const cases: [string, Partial<Job>, NodeRecord[], RegExp, string | undefined, boolean][] = [
    ['no node', {}, [], /^Start an agent/, `svc agent --url ${ORIGIN}`, false],
    [
      'no node that is online',
      {},
      [node(1, { status: 'OFFLINE' })],
      /the agent on node-1 again/,
      undefined,
      false,
    ],
    [
      'no node of its label',
      { node_selector: { zone: 'b' } },
      [node(1)],
      /No online node has zone=b/,
      undefined,
      true,
    ],
    [
      'drained nodes',
      {},
      [node(1, { status: 'DRAINING', name: 'a b' })],
      /drained/,
      "svc undrain 'a b'",
      false,
    ],
    ['no node with its runner', { runner: 'docker' }, [node(1)], /runner docker/, undefined, true],
    [
      'too few GPUs',
      { resources: { gpu: 4, cpu_only: false } },
      [node(1)],
      /with 4 GPUs, or ask for at most 2/,
      undefined,
      true,
    ],
    [
      'too few GPUs of the model',
      { resources: { gpu: 2, cpu_only: false }, node_selector: { gpu_model: 'A100' } },
      [node(1, { slots: [slot(0), slot(1, { model: 'A100' })] })],
      /at most 1/,
      undefined,
      true,
    ],
    ['no GPU at all', {}, [node(1, { slots: [] })], /ask for none/, undefined, true],
    ['no room now', { priority: 3 }, [node(1)], /starts by itself.*above 3/, undefined, true],
  ];
  for (const [what, changes, nodes, text, command, resubmit] of cases) {
    it(`where there is ${what}`, () => {
      const [help] = toPendingHelp(job(1, { status: 'QUEUED', ...changes }), nodes, ORIGIN, true);
      expect(help!.text).to.match(text);
      expect(help!.command).to.equal(command);
      expect(help!.resubmit ?? false).to.equal(resubmit);
    });
  }

  it('where there is no room now, a token that can only read is not told to submit and to cancel', () => {
    const [help] = toPendingHelp(job(1, { status: 'QUEUED' }), [node(1)], ORIGIN, false);
    expect(help!.text).to.equal('It starts by itself as soon as there is room.');
  });
});
