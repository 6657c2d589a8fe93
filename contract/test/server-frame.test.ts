import { ServerFrame as ServerFrameSchema, type ServerFrame } from '../src/index.js';
import { expect } from 'chai';
import { Value } from 'typebox/value';
import { parseServerFrame } from '../src/protocol/server-frame.js';

const KEY = { job_id: 'job_1', attempt: 1 };
const POSITION = { ...KEY, stream: 'stdout', offset: 0, lines: 0 } as const;
const FRAMES: { readonly [T in ServerFrame['type']]: Extract<ServerFrame, { type: T }> } = {
  welcome: {
    type: 'welcome',
    protocol: 1,
    node_id: 'node_1',
    node_secret: 's',
    server_version: '1',
    heartbeat_ms: 25_000,
    verdicts: [{ ...KEY, verdict: 'keep' }],
    log_positions: [POSITION],
  },
  refused: { type: 'refused', code: 'x', message: 'y' },
  dispatch: {
    type: 'dispatch',
    job_type: 'EVALUATE',
    ...KEY,
    run_id: null,
    name: 'train',
    runner: 'process',
    plan: { command: ['true'] },
    env: { A: 'b' },
    working_dir: '/tmp',
    gpu_indices: [0],
    kill_grace_ms: 0,
  },
  start: { type: 'start', ...KEY },
  node_metrics_ack: { type: 'node_metrics_ack', ts: 5 },
  stop: { type: 'stop', ...KEY, grace_ms: 0 },
  forget: { type: 'forget', ...KEY },
  logs_ack: { type: 'logs_ack', ...POSITION },
  spool_ack: {
    type: 'spool_ack',
    ...KEY,
    file: 'a.jsonl',
    offset: 7,
    refused: [{ to: 7, reason: 'no JSON' }],
  },
  channel_ack: { type: 'channel_ack', channel: 'a.b', file: 'a.jsonl', offset: 7, refused: [] },
};

describe('frames of the server', () => {
  for (const frame of Object.values(FRAMES)) {
    it(`takes ${frame.type} as the contract has it`, () => {
      expect(Value.Check(ServerFrameSchema, frame)).to.equal(true);
      expect(parseServerFrame(JSON.stringify(frame))).to.deep.equal(frame);
    });

    for (const field of Object.keys(frame).filter((name) => name !== 'type')) {
      it(`refuses ${frame.type} without ${field}, and with a wrong one`, () => {
        const { [field as 'type']: _, ...without } = frame;
        const wrong = { ...frame, [field]: field === 'plan' ? undefined : { not: 'this' } };
        const message = `a ${frame.type} frame with a wrong ${field}`;
        for (const bad of [without, field === 'env' ? { ...frame, env: { A: 1 } } : wrong]) {
          expect(() => parseServerFrame(JSON.stringify(bad))).to.throw(TypeError, message);
        }
      });
    }
  }

  it('refuses names of jobs that would leave the directory of jobs', () => {
    for (const job_id of ['', '..', '../x', 'a/b', 'a\0b', '.', 'x'.repeat(65)]) {
      expect(() => parseServerFrame(JSON.stringify({ type: 'forget', job_id, attempt: 1 }))).to.throw(
        TypeError,
      );
    }
    for (const attempt of [0, -1, 1.5, '1', null]) {
      expect(() => parseServerFrame(JSON.stringify({ type: 'forget', job_id: 'job_1', attempt }))).to.throw(
        TypeError,
      );
    }
  });

  it('answers null for a type that it does not know', () => {
    expect(parseServerFrame('{"type":"party"}')).to.equal(null);
    expect(parseServerFrame('{"type":"constructor"}')).to.equal(null);
  });

  it('refuses what is no frame at all', () => {
    for (const text of ['', '{', '1', 'null', '[]', '{}', '{"type":1}']) {
      expect(() => parseServerFrame(text), text).to.throw();
    }
  });
});
