import type { Job, JobDraft } from '@svc/contract';
import { Type } from 'typebox';
import { expect } from 'chai';
import { HttpError, Issues, type Caller, type PluginContext } from '../src/index.js';
import { createTestKernel } from '../testing/index.js';
import { failureOf, plugin, quietKernel } from './support.js';

const draft = { name: 'digits', priority: 0 } as JobDraft;
const caller: Caller = { token_id: 'tok_1', name: 'ada', scope: 'write', ingest: null };
const change = { before: null, after: { id: 'job_1' } as Job };
const runner = (name: string) =>
  ({ name, optionsSchema: Type.Object({}), placement: 'slots', plan: () => ({}) }) as const;

async function contextWith(...setups: ((ctx: PluginContext) => void)[]) {
  const plugins = setups.map((setup, index) => plugin(`p${index}`, setup));
  const { ctx, close } = await createTestKernel({ plugins });
  return { ctx, close };
}

describe('hooks', () => {
  describe('of decision', () => {
    it('hand a draft from tap to tap', async () => {
      const { ctx, close } = await contextWith(
        ({ hooks, name }) =>
          hooks.jobDraft.tapPromise(name, async (given) => ({ ...given, priority: given.priority + 1 })),
        ({ hooks, name }) =>
          hooks.jobDraft.tap(name, (given) => ({ ...given, name: `${given.name}-${given.priority}` })),
      );
      expect(await ctx.fire.jobDraft(draft, caller)).to.include({ name: 'digits-1', priority: 1 });
      await close();
    });

    it('gather every reason to refuse', async () => {
      const { ctx, close } = await contextWith(
        ({ hooks, name }) =>
          hooks.jobAdmit.tap(name, (_, __, issues) => issues.add('resources.gpu', 'no such node')),
        ({ hooks, name }) => hooks.jobAdmit.tap(name, (_, __, issues) => issues.add('image', 'is required')),
      );
      const issues = new Issues();
      await ctx.fire.jobAdmit(draft, caller, issues);
      expect(issues.list.map(({ path }) => path)).to.deep.equal(['resources.gpu', 'image']);
      expect(() => issues.throwIfAny()).to.throw('2 fields were refused');
      await close();
    });

    it('fail closed, naming plugin and hook, and let answers to the client through as they are', async () => {
      const { ctx, close } = await contextWith(({ hooks, name }) => {
        hooks.jobDraft.tapPromise(name, () => Promise.reject(new Error('boom')));
        hooks.jobOrder.tap(name, () => {
          throw new HttpError('unavailable', 'not now');
        });
      });
      const failure = await failureOf(() => ctx.fire.jobDraft(draft, caller));
      expect(failure.message).to.equal('plugin "p0" failed in hook "jobDraft": Error: boom');
      expect(failure.cause).to.be.instanceOf(Error);
      expect(await failureOf(() => ctx.fire.jobOrder([]))).to.include({
        code: 'unavailable',
        message: 'not now',
      });
      await close();
    });
  });

  describe('of observation', () => {
    it('go on when one tap throws, and never reject', async () => {
      const seen: string[] = [];
      const { ctx, close } = await contextWith(
        ({ hooks, name }) =>
          hooks.jobChanged.tap(name, () => {
            throw new Error('sync');
          }),
        ({ hooks, name }) => hooks.jobChanged.tapPromise(name, () => Promise.reject(new Error('async'))),
        ({ hooks, name }) => hooks.jobChanged.tapPromise(name, async ({ after }) => void seen.push(after.id)),
      );
      await ctx.fire.jobChanged(change);
      expect(seen).to.deep.equal(['job_1']);
      await close();
    });
  });

  describe('of registration', () => {
    it('collect what the plugins add, in plugin order', async () => {
      const { ctx, close } = await contextWith(
        ({ hooks, name }) => hooks.runners.tap(name, (runners) => runners.add(runner('process'))),
        ({ hooks, name }) => hooks.runners.tap(name, (runners) => runners.add(runner('docker'))),
      );
      expect([...ctx.registered.runners.keys()]).to.deep.equal(['process', 'docker']);
      await close();
    });

    it('refuse a name twice, naming both plugins', async () => {
      const twice = ({ hooks, name }: PluginContext) =>
        hooks.runners.tap(name, (runners) => runners.add(runner('docker')));
      const failure = await failureOf(() => quietKernel([plugin('a', twice), plugin('b', twice)]).start());
      expect(failure.message).to.equal('runner "docker" of plugin "b" is already added by "a"');
    });

    it('stop the boot when a tap throws', async () => {
      const broken = ({ hooks, name }: PluginContext) =>
        hooks.routes.tap(name, () => {
          throw new Error('boom');
        });
      const failure = await failureOf(() => quietKernel([plugin('a', broken)]).start());
      expect(failure.message).to.equal('plugin "a" failed in hook "routes": Error: boom');
    });

    it('are over after the boot', async () => {
      let kept: { add(entry: ReturnType<typeof runner>): void } | undefined;
      const { close } = await contextWith(({ hooks, name }) =>
        hooks.runners.tap(name, (runners) => void (kept = runners)),
      );
      expect(() => kept!.add(runner('late'))).to.throw('runner "late" of plugin "p0" comes after the boot');
      await close();
    });
  });

  describe('guard', () => {
    it('shows plugins no way to call', async () => {
      const { ctx, close } = await contextWith(() => undefined);
      expect(Object.keys(ctx.hooks.jobChanged)).to.deep.equal(['tap', 'tapPromise']);
      expect(Object.keys(ctx.hooks.routes)).to.deep.equal(['tap']);
      await close();
    });

    it('places a tap before that of a plugin that has tapped, or will', async () => {
      const append = (letter: string) => (given: JobDraft) => ({ ...given, name: given.name + letter });
      const { ctx, close } = await contextWith(
        ({ hooks, name }) => hooks.jobDraft.tap({ name, before: 'p2' }, append('a')),
        ({ hooks, name }) => hooks.jobDraft.tap(name, append('b')),
        ({ hooks, name }) => hooks.jobDraft.tap(name, append('c')),
        ({ hooks, name }) => hooks.jobDraft.tap({ name, before: 'p1' }, append('d')),
      );
      expect((await ctx.fire.jobDraft({ ...draft, name: '' }, caller)).name).to.equal('adbc');
      await close();
    });

    it('refuses a place that means nothing', async () => {
      const misplaced = plugin('a', ({ hooks, name }) =>
        hooks.jobDraft.tap({ name, before: 'jbos' }, (given) => given),
      );
      const failure = await failureOf(() => quietKernel([misplaced, plugin('jobs')]).start());
      expect(failure.message).to.equal(
        'plugin "a", hook "jobDraft": before names "jbos", which is no plugin; did you mean "jobs"?',
      );
      const unstaged = plugin('a', ({ hooks, name }) =>
        hooks.jobDraft.tap({ name, stage: 0.5 }, (given) => given),
      );
      expect((await failureOf(() => quietKernel([unstaged]).start())).message).to.contain(
        'stage must be an integer',
      );
    });

    it('lets nobody tap after setup, nor under a foreign name', async () => {
      const { ctx, close } = await contextWith(({ hooks }) => {
        hooks.jobOrder.tap('auth', () => {
          throw new Error('boom');
        });
      });
      expect((await failureOf(() => ctx.fire.jobOrder([]))).message).to.contain('plugin "p0"');
      expect(() => ctx.hooks.jobChanged.tap(ctx.name, () => undefined)).to.throw(
        '"test-probe" taps "jobChanged" after its setup',
      );
      await close();
    });
  });
});
