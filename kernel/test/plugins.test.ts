import { expect } from 'chai';
import { Type } from 'typebox';
import {
  createKernel,
  definePlugin,
  resolveConfig,
  serviceRef,
  type Plugin,
  type PluginContext,
} from '../src/index.js';
import { createTestKernel } from '../testing/index.js';
import { failureOf, plugin, quietKernel } from './support.js';

const bootFailure = async (...plugins: Parameters<typeof quietKernel>[0]) =>
  (await failureOf(() => quietKernel(plugins).start())).message;

describe('plugins', () => {
  describe('order', () => {
    async function orderOf(
      ...plugins: { name: string; requires?: string[]; uses?: string[] }[]
    ): Promise<string> {
      const seen: string[] = [];
      const kernel = quietKernel(
        plugins.map(({ name, ...order }) => plugin(name, () => void seen.push(name), order)),
      );
      await kernel.start();
      await kernel.close();
      return seen.join(' ');
    }

    it('is that of the configuration where nothing else is asked for', async () => {
      expect(await orderOf({ name: 'b' }, { name: 'a' })).to.equal('b a');
    });

    it('sets up what is required, and what comes before, first', async () => {
      const order = await orderOf(
        { name: 'c', requires: ['b'], uses: ['missing'] },
        { name: 'b', uses: ['a'] },
        { name: 'a' },
      );
      expect(order).to.equal('a b c');
    });

    it('refuses a missing requirement, saying what to add', async () => {
      expect(await bootFailure(plugin('semantic', undefined, { requires: ['run-metrics'] }))).to.equal(
        'plugin "semantic" requires "run-metrics", which is not in svc.config.ts; add runMetrics() to plugins',
      );
    });

    it('refuses two plugins of one name', async () => {
      expect(await bootFailure(plugin('jobs'), plugin('jobs'))).to.equal(
        'plugin "jobs" is there twice; remove one jobs()',
      );
    });

    it('names a circle', async () => {
      const circle = [plugin('a', undefined, { requires: ['b'] }), plugin('b', undefined, { uses: ['a'] })];
      expect(await bootFailure(...circle)).to.contain('a -> b -> a');
    });
  });

  describe('options', () => {
    const options = Type.Object({
      tickMs: Type.Integer({ default: 2000, minimum: 1 }),
      labels: Type.Optional(Type.Array(Type.String())),
    });

    it('are checked and completed with their defaults', async () => {
      let given: unknown;
      const jobs = definePlugin({ name: 'jobs', options, setup: (_, complete) => void (given = complete) });
      const kernel = quietKernel([jobs({ labels: ['a'] })]);
      await kernel.start();
      await kernel.close();
      expect(given).to.deep.equal({ labels: ['a'], tickMs: 2000 });
    });

    it('that the plugin does not know are refused with the nearest that it knows', async () => {
      const jobs = definePlugin({ name: 'jobs', options, setup: () => undefined });
      expect(await bootFailure(jobs({ tickms: 5 } as object))).to.equal(
        'plugin "jobs", option tickms: unknown field; did you mean "tickMs"?',
      );
      expect(await bootFailure(jobs({ tickMs: 'soon' as never }))).to.contain(
        'tickMs: must be an integer, not a string',
      );
    });

    it('are refused of a plugin that takes none', async () => {
      const none = definePlugin({ name: 'none', setup: () => undefined });
      expect(await bootFailure(none({ a: 1 } as object))).to.contain(
        'plugin "none", option a: unknown field; there are none',
      );
    });
  });

  describe('services', () => {
    const greeter = serviceRef<{ greet(): string }>('greeter');

    it('reach the plugins that come after', async () => {
      const provider = plugin('greeter', (ctx) => ctx.provide(greeter, { greet: () => 'hello' }));
      const user = plugin('user', (ctx) => void expect(ctx.use(greeter).greet()).to.equal('hello'), {
        requires: ['greeter'],
      });
      const kernel = await createTestKernel({ plugins: [user, provider] });
      expect(kernel.use(serviceRef<{ greet(): string }>('greeter')).greet()).to.equal('hello');
      await kernel.close();
    });

    it('that nobody provides are refused, naming the plugin to add', async () => {
      const user = (order: { requires?: string[]; uses?: string[] }) =>
        plugin('user', (ctx) => void ctx.use(greeter), order);
      expect(await bootFailure(user({}), plugin('greeter'))).to.equal(
        `plugin "user" uses the service "greeter" of "greeter"; add 'greeter' to requires (or to uses) of "user"`,
      );
      expect(await bootFailure(user({ uses: ['greeter'] }))).to.contain('add greeter() to plugins');
      expect(await bootFailure(user({ requires: ['greeter'] }), plugin('greeter'))).to.contain(
        'does not provide it yet',
      );
    });

    it('are there or not, for who only uses them', async () => {
      const seen: boolean[] = [];
      const user = plugin('user', (ctx) => void seen.push(ctx.has(greeter)), { uses: ['greeter'] });
      const provider = plugin('greeter', (ctx) => ctx.provide(greeter, { greet: () => 'hello' }));
      await (await createTestKernel({ plugins: [user] })).close();
      await (await createTestKernel({ plugins: [user, provider] })).close();
      expect(seen).to.deep.equal([false, true]);
    });

    it('are provided once', async () => {
      const provider = (name: string) => plugin(name, (ctx) => ctx.provide(greeter, { greet: () => name }));
      expect(await bootFailure(provider('a'), provider('b'))).to.contain(
        'service "greeter" of plugin "b" is already added by "a"',
      );
    });
  });

  describe('life', () => {
    it('goes through setup, migrations, ready, listening and back, last in first out', async () => {
      const seen: string[] = [];
      const observer = (name: string) =>
        plugin(name, (ctx) => {
          seen.push(`${name} setup`);
          ctx.migrations([
            { name: '0001-init', up: () => Promise.resolve(void seen.push(`${name} migrates`)) },
          ]);
          ctx.ready(
            async () => void seen.push(`${name} ready ${(await ctx.db.raw('select 1 as one'))[0].one}`),
          );
          ctx.listening(
            ({ port }) =>
              void seen.push(`${name} listening ${port > 0 && ctx.config.url.endsWith(`:${port}`)}`),
          );
          ctx.onClose(() => void seen.push(`${name} closes ${ctx.signal.aborted}`));
        });
      const kernel = quietKernel([observer('a'), observer('b')]);
      await kernel.start();
      await kernel.close();
      expect(seen).to.deep.equal(
        ['a setup', 'b setup', 'a migrates', 'b migrates', 'a ready 1', 'b ready 1'].concat([
          'a listening true',
          'b listening true',
          'b closes true',
          'a closes true',
        ]),
      );
    });

    it('names the plugin and the phase that failed, and closes what was open', async () => {
      let closed = false;
      const first = plugin('first', (ctx) => ctx.onClose(() => void (closed = true)));
      const broken = plugin('broken', (ctx) => ctx.ready(() => Promise.reject(new Error('no GPU'))));
      expect(await bootFailure(first, broken)).to.equal('plugin "broken" failed in ready: Error: no GPU');
      expect(closed).to.equal(true);
    });

    it('ends a setup and a ready that hang, naming the plugin', async () => {
      const hung = () => new Promise<void>(() => undefined);
      const start = (stuck: Plugin) => quietKernel([stuck], {}, { bootStepMs: 20 }).start();
      expect((await failureOf(() => start(plugin('stuck', hung)))).message).to.equal(
        'plugin "stuck" failed in setup: Error: not done within 20 ms',
      );
      const inReady = plugin('stuck', (ctx) => ctx.ready(hung));
      expect((await failureOf(() => start(inReady))).message).to.contain('"stuck" failed in ready');
    });

    it('can be opened without plugins at work, and without listening', async () => {
      const seen: string[] = [];
      const greeting = plugin('greeter', (ctx) => {
        ctx.provide(serviceRef<string>('greeter'), 'hello');
        ctx.ready(() => void seen.push('ready'));
        ctx.onClose(() => void seen.push('closed'));
      });
      const kernel = quietKernel([greeting]);
      await kernel.open();
      expect(kernel.use(serviceRef<string>('greeter'))).to.equal('hello');
      expect(await kernel.db('svc_migrations').select()).to.deep.equal([]);
      await kernel.close();
      expect(seen).to.deep.equal(['closed']);
    });

    it('does not hand out the database before it is migrated', async () => {
      expect(await bootFailure(plugin('eager', (ctx) => void ctx.db))).to.contain(
        'plugin "eager": ctx.db is there from ready() on',
      );
    });

    it('leaves a plugin behind that does not close in time', async () => {
      let closed = false;
      const stuck = plugin('stuck', (ctx) => ctx.onClose(() => new Promise(() => undefined)));
      const first = plugin('first', (ctx) => ctx.onClose(() => void (closed = true)));
      const kernel = quietKernel([first, stuck], { shutdownGraceMs: 20 });
      await kernel.start();
      await kernel.close();
      expect(closed).to.equal(true);
    });

    it('can be closed while it boots, and twice', async () => {
      let go!: () => void;
      const slow = plugin('slow', (ctx) => ctx.ready(() => new Promise((resolve) => (go = resolve))));
      const kernel = quietKernel([plugin('first'), slow]);
      const starting = failureOf(() => kernel.start());
      while (!go) await new Promise(setImmediate);
      const closing = kernel.close();
      go();
      expect((await starting).message).to.contain('closed while it was starting');
      await Promise.all([closing, kernel.close()]);
    });

    it('finds a taken port, and says which setting to change', async () => {
      const first = quietKernel([]);
      const { port } = await first.start();
      const second = quietKernel([], { port });
      expect((await failureOf(() => second.start())).message).to.contain(
        `127.0.0.1:${port}: the port is taken; set another by SVC_PORT`,
      );
      await first.close();
    });
  });

  it('shares a data directory with no other server, also not after that one closed its files', async () => {
    const first = quietKernel([]);
    let info: PluginContext['config'] | undefined;
    const kernel = quietKernel([plugin('peek', (ctx) => void (info = ctx.config))]);
    await kernel.start();
    const config = resolveConfig(
      { port: 0, logLevel: 'silent', dataDir: info!.dataDir, plugins: [] },
      { env: {} },
    );
    for (let attempt = 0; attempt < 2; attempt++) {
      expect((await failureOf(() => createKernel(config).start())).message).to.contain(
        'a server is running on the data directory',
      );
    }
    await kernel.close();
    const next = createKernel(config);
    await next.start();
    await next.close();
    await first.close();
  });
});
