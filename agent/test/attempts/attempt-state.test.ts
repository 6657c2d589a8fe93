import { expect } from 'chai';
import {
  ATTEMPT_STATES,
  ATTEMPT_TRANSITIONS,
  AttemptLife,
  type AttemptState,
  type AttemptTrigger,
} from '../../src/attempts/attempt-state.js';

const TRIGGERS = Object.keys(ATTEMPT_TRANSITIONS) as AttemptTrigger[];

const lifeAfter = (...triggers: AttemptTrigger[]): AttemptLife => {
  const life = new AttemptLife();
  triggers.forEach((trigger) => life.move(trigger));
  return life;
};
const isDone = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);

describe('agent: states of an attempt', () => {
  it('can all be reached, and each but the last can end', () => {
    const reached = Object.values(ATTEMPT_TRANSITIONS).flatMap((transitions) => Object.values(transitions));
    expect([...new Set<AttemptState>(['preparing', ...reached])]).to.have.members(
      Object.keys(ATTEMPT_STATES),
    );
    expect([...Object.keys(ATTEMPT_TRANSITIONS.ended), 'ended']).to.have.members(Object.keys(ATTEMPT_STATES));
  });

  it('are never left once it has ended', () => {
    for (const trigger of TRIGGERS) expect(lifeAfter('ended', trigger).state).to.equal('ended');
  });

  it('allow a start after acceptance and `start`, in whatever order they come', async () => {
    for (const life of [lifeAfter('prepared', 'authorized'), lifeAfter('authorized', 'prepared')]) {
      expect(life.state).to.equal('starting');
      expect(await life.startAuthorized).to.equal(true);
    }
  });

  it('allow no start after a stop, and no stop to undo a start', async () => {
    for (const life of [
      lifeAfter('stopped', 'prepared', 'authorized'),
      lifeAfter('prepared', 'stopped', 'launched'),
    ]) {
      expect(life.state).to.equal('cancelled');
      expect(await life.startAuthorized).to.equal(false);
    }
    expect(await lifeAfter('prepared', 'authorized', 'stopped').startAuthorized).to.equal(true);
    expect(await lifeAfter('authorized', 'stopped', 'prepared').startAuthorized).to.equal(true);
  });

  it('are settled while nothing is under way', async () => {
    const life = lifeAfter();
    const settled: [AttemptState, boolean][] = [];
    for (const trigger of ['prepared', 'authorized', 'launched', 'ended'] as const) {
      settled.push([life.state, await isDone(life.settled)]);
      life.move(trigger);
    }
    expect(settled).to.deep.equal([
      ['preparing', false],
      ['accepted', true],
      ['starting', false],
      ['running', true],
    ]);
    expect([await isDone(life.settled), await isDone(life.ended)]).to.deep.equal([true, true]);
  });
});
