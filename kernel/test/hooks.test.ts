import { Type } from 'typebox';
import { expect } from 'chai';
import { authenticate, decision, observation, type PluginContext } from '../src/index.js';
import { createTestKernel } from '../testing/index.js';
import { failureOf, plugin, quietKernel } from './support.js';

const greet = decision.waterfall<[words: string]>('owner.greet');
const greeted = observation<[words: string]>('owner.greeted');
const runner = (name: string) =>
  ({ name, optionsSchema: Type.Object({}), placement: 'slots', plan: () => ({}) }) as const;

async function contextWith(...setups: ((ctx: PluginContext) => void)[]) {
  const plugins = setups.map((setup, index) => plugin(`p${index}`, setup));
  const { ctx, close } = await createTestKernel({ plugins });
  return { ctx, close };
}

describe('hooks', () => {
  describe('of a plugin', () => {
    it('are declared and fired by it, and tapped by who requires it', async () => {
      const seen: string[] = [];
      let fire!: PluginContext['fire'];
      const owner = plugin('owner', (ctx) => {
        ctx.declare(greet);
        ctx.declare(greeted);
        fire = ctx.fire;
      });
      const tapping = plugin(
        'tapping',
        (ctx) => {
          ctx.tap(greet, (words) => `${words}, world`);
          ctx.tap(greeted, (words) => void seen.push(words));
        },
        { requires: ['owner'] },
      );
      const { close } = await createTestKernel({ plugins: [tapping, owner] });
      await fire(greeted, await fire(greet, 'hello'));
      expect(seen).to.deep.equal(['hello, world']);
      await close();
    });

    it('are not tapped by others, nor after setup', async () => {
      const owner = plugin('owner', (ctx) => ctx.declare(greeted));
      const stranger = plugin('stranger', (ctx) => ctx.tap(greeted, () => undefined));
      expect((await failureOf(() => quietKernel([owner, stranger]).start())).message).to.equal(
        `plugin "stranger" taps the hook "owner.greeted"; add 'owner' to requires (or to uses) of "stranger"`,
      );
      const { ctx, close } = await createTestKernel({ plugins: [owner] });
      expect(() => ctx.tap(greeted, () => undefined)).to.throw('after its setup: do it in setup()');
      await close();
    });

    it('of the kernel are tapped by every plugin', async () => {
      const auth = plugin('auth', (ctx) => {
        ctx.tap(authenticate, () => undefined);
      });
      const { close, request } = await createTestKernel({ plugins: [auth] });
      expect((await request('GET', '/nothing', { token: 'read' })).status).to.equal(404);
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
});
