import type { FakeAgent } from '@svc/agent/testing';
import { AgentFrame, newId, routes, type AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import fc from 'fast-check';
import { SEED } from './fuzz-seed.js';
import { openLab, type Lab } from './lab.js';
import { mutate, mutations } from './mutate.js';
import { expectAgentsWork, runOn } from './rows/frames.js';
import { valuesOf, type Known, type Schema } from './schema-arbitrary.js';

const FRAMES = 5_000;
const FRAMES_A_CONNECTION = 25;

describe('5 000 random agent frames', function () {
  this.timeout(300_000);
  let lab: Lab;
  before(async () => (lab = await openLab()));
  after(() => lab.close());

  it(`break nothing, and change no job of others (seed ${SEED})`, async () => {
    const { agent: honest, key } = await runOn(lab, 'honest');
    const liar = lab.agent('liar');
    const conversations = fc.array(frameOf(key, liar), {
      minLength: FRAMES_A_CONNECTION,
      maxLength: FRAMES_A_CONNECTION,
    });
    const property = fc.asyncProperty(conversations, fc.boolean(), async (frames, saysHello) => {
      const speak = () => converse(liar, frames, saysHello);
      let measured = await lab.probe.beside(speak);
      if (measured.longestWaitMs > lab.probe.budgetMs) measured = await lab.probe.beside(speak);
      expect(measured.answers).to.have.all.keys('200');
      expect(measured.longestWaitMs, 'the longest wait of /health in ms').to.be.at.most(lab.probe.budgetMs);
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: FRAMES / FRAMES_A_CONNECTION,
      endOnFailure: true,
      includeErrorInReport: true,
      interruptAfterTimeLimit: 240_000,
      markInterruptAsFailure: true,
    });
    const { status, attempt, node_id } = await lab.server.client.call(routes.getJob, { params: key });
    expect({ status, attempt, node_id }).to.deep.equal({
      status: 'RUNNING',
      attempt: 1,
      node_id: honest.nodeId,
    });
    expect((await lab.server.client.call(routes.tailLogs, { params: key })).lines).to.deep.equal([]);
    expect(honest.closed).to.equal(null);
    await expectAgentsWork(lab);
  });
});

/** Until the server has read all of it, or has had enough. */
async function converse(agent: FakeAgent, frames: readonly string[], saysHello: boolean): Promise<void> {
  await agent.open();
  if (saysHello) agent.send(agent.toHello());
  for (const frame of frames) agent.sendRaw(frame);
  await agent.close();
}

/** Frames of the protocol about a job that another node has, mutated. */
function frameOf(key: AttemptKey, agent: FakeAgent): fc.Arbitrary<string> {
  const known: Known = {
    job_id: [key.job_id, newId('job')],
    attempt: [key.attempt, 2],
    node_id: [agent.nodeId],
    protocol: [1],
    node_secret: [null],
    from: [0],
    to: [5],
    lines: [['lie'], [{ to: 4, text: '{}' }]],
    attempts: [
      [],
      [{ ...key, state: 'ended', pid: 1, started_at: 1, exit: { kind: 'exited', code: 1 }, finished_at: 2 }],
    ],
  };
  const frames = valuesOf(AgentFrame as Schema, known);
  const text = fc.tuple(frames, mutations()).map(([frame, all]) => JSON.stringify(mutate(frame, all)));
  return fc.oneof({ weight: 20, arbitrary: text }, fc.string({ unit: 'binary', maxLength: 200 }));
}
