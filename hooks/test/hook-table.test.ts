import { HttpError } from '@svc/validation';
import { expect } from 'chai';
import { HookTable, PluginGraph, decision, observation } from '../src/index.js';
import { failureOf } from '../testing/index.js';

type Draft = { readonly name: string; readonly priority: number };
const draft: Draft = { name: 'digits', priority: 0 };
const admit = decision<[draft: Draft, issues: string[]]>('jobs.admit');
const complete = decision.waterfall<[draft: Draft, caller: string]>('jobs.draft');
const find = decision.firstAnswer<[name: string], number>('jobs.find');
const count = decision.gather<[of: string], number>('jobs.count');
const changed = observation<[id: string]>('jobs.changed');
const ALL = [admit, complete, find, count, changed];

/** The owner `jobs` and four plugins that require it: p0 to p3. */
function tableOf(log: string[] = []) {
  const note = (_about: object, message: string) => void log.push(message);
  const tapping = ['p0', 'p1', 'p2', 'p3'].map((name) => ({ name, requires: ['jobs'], uses: ['missing'] }));
  const others = ['jobs', 'stranger'].map((name) => ({ name, requires: [], uses: [] }));
  const table = new HookTable(new PluginGraph([...others, ...tapping]), { warn: note, error: note });
  for (const ref of ALL) table.declare('jobs', ref);
  return table;
}

describe('hooks', () => {
  it('of decision are asked one after another, and each may refuse', async () => {
    const table = tableOf();
    table.tap('p0', admit, async (_draft, issues) => void issues.push('no such node'));
    table.tap('p1', admit, (_draft, issues) => void issues.push('no image'));
    const issues: string[] = [];
    await table.fire('jobs', admit, draft, issues);
    expect(issues).to.deep.equal(['no such node', 'no image']);
  });

  it('of decision fail closed, naming plugin and hook, and let answers to the client through as they are', async () => {
    const table = tableOf();
    table.tap('p0', complete, () => Promise.reject(new Error('boom')));
    table.tap('p1', find, () => {
      throw new HttpError('unavailable', 'not now');
    });
    const failure = await failureOf(() => table.fire('jobs', complete, draft, 'ada'));
    expect(failure.message).to.equal('plugin "p0" failed in hook "jobs.draft": Error: boom');
    expect(failure.cause).to.be.instanceOf(Error);
    expect(await failureOf(() => table.fire('jobs', find, 'x'))).to.include({ code: 'unavailable' });
  });

  it('of kind waterfall hand the first argument from tap to tap', async () => {
    const table = tableOf();
    table.tap('p0', complete, async (given) => ({ ...given, priority: given.priority + 1 }));
    table.tap('p1', complete, (given, caller) => ({
      ...given,
      name: `${given.name}-${given.priority}-${caller}`,
    }));
    expect(await table.fire('jobs', complete, draft, 'ada')).to.deep.equal({
      name: 'digits-1-ada',
      priority: 1,
    });
  });

  it('of kind firstAnswer end with the first tap that answers', async () => {
    const table = tableOf();
    const asked: string[] = [];
    const answering = (name: string, answer?: number) => () => (asked.push(name), answer);
    table.tap('p0', find, answering('p0'));
    table.tap('p1', find, answering('p1', 1));
    table.tap('p2', find, answering('p2', 2));
    expect(await table.fire('jobs', find, 'x')).to.equal(1);
    expect(asked).to.deep.equal(['p0', 'p1']);
  });

  it('of kind gather collect what the taps return', async () => {
    const table = tableOf();
    table.tap('p0', count, async () => 1);
    table.tap('p1', count, () => undefined);
    table.tap('p2', count, () => 0);
    expect(await table.fire('jobs', count, 'x')).to.deep.equal([1, 0]);
    expect(await table.fire('jobs', count, 'x')).to.deep.equal([1, 0]);
  });

  it('of observation go on when one tap throws, and never reject', async () => {
    const log: string[] = [];
    const table = tableOf(log);
    const seen: string[] = [];
    table.tap('p0', changed, () => {
      throw new Error('sync');
    });
    table.tap('p1', changed, () => Promise.reject(new Error('async')));
    table.tap('p2', changed, async (id) => void seen.push(id));
    await table.fire('jobs', changed, 'job_1');
    expect(seen).to.deep.equal(['job_1']);
    expect(log.join('\n')).to.contain('plugin "p0" failed in hook "jobs.changed"').and.to.contain('"p1"');
  });

  it('without a tap answer nothing', async () => {
    const table = tableOf();
    expect(await table.fire('jobs', complete, draft, 'ada')).to.equal(draft);
    expect(await table.fire('jobs', find, 'x')).to.equal(undefined);
    expect(await table.fire('jobs', count, 'x')).to.deep.equal([]);
    await table.fire('jobs', changed, 'job_1');
  });

  it('are declared and fired by their owner alone', async () => {
    const table = tableOf();
    const foreign = decision<[]>('jobs.foreign');
    expect(() => table.declare('p0', foreign)).to.throw('a plugin declares its own hooks');
    expect(() => table.declare('jobs', changed)).to.throw('twice; remove one ctx.declare');
    const message = 'cannot fire "jobs.changed": the plugin that declares it does';
    expect((await failureOf(() => table.fire('p0', changed, 'job_1'))).message).to.contain(message);
  });

  it('are tapped by who requires or uses their owner', async () => {
    const table = tableOf();
    expect(() => table.tap('stranger', changed, () => undefined)).to.throw(
      `plugin "stranger" taps the hook "jobs.changed"; add 'jobs' to requires (or to uses) of "stranger"`,
    );
    table.tap('p0', observation<[]>('missing.changed'), () => undefined);
    const misspelt = observation<[]>('jobs.chnaged');
    expect(() => table.tap('p0', misspelt, () => undefined)).to.throw('did you mean "jobs.changed"?');
  });

  it('are tapped during setup alone', () => {
    const table = tableOf();
    table.freeze();
    expect(() => table.tap('p0', changed, () => undefined)).to.throw(
      'plugin "p0" taps the hook "jobs.changed" after its setup: do it in setup()',
    );
  });

  it('place a tap before that of a plugin that has tapped, or will', async () => {
    const append = (letter: string) => (given: Draft) => ({ ...given, name: given.name + letter });
    const table = tableOf();
    table.tap('p0', complete, append('a'), { before: 'p2' });
    table.tap('p1', complete, append('b'));
    table.tap('p2', complete, append('c'));
    table.tap('p3', complete, append('d'), { before: 'p1' });
    expect((await table.fire('jobs', complete, { ...draft, name: '' }, 'ada')).name).to.equal('adbc');
  });

  it('refuse a place that means nothing', () => {
    const table = tableOf();
    expect(() => table.tap('p0', complete, (given) => given, { before: 'jbos' })).to.throw(
      'plugin "p0", hook "jobs.draft": before names "jbos", which is no plugin; did you mean "jobs"?',
    );
    expect(() => table.tap('p0', complete, (given) => given, { stage: 0.5 })).to.throw(
      'stage must be an integer',
    );
  });
});
