import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import { Type } from 'typebox';
import {
  BootError,
  createKernel,
  describeConfig,
  loadConfig,
  resolveConfig,
  type Config,
} from '../src/index.js';
import { failureOf, plugin, temporaryDirectory } from './support.js';

const plugins = [plugin('jobs')];
const resolved = (config: Partial<Config> = {}, env = {}, flags = {}) =>
  resolveConfig({ plugins, ...config }, { env, flags });
const refusal = (...args: Parameters<typeof resolved>) =>
  failureOf(() => resolved(...args)).then(({ message }) => message);

describe('configuration', () => {
  it('has defaults for everything but the plugins', () => {
    expect(resolved()).to.deep.include({
      host: '127.0.0.1',
      port: 8600,
      dataDir: join(homedir(), '.svc'),
      database: { client: 'sqlite', filename: join(homedir(), '.svc', 'svc.db') },
      allowedHosts: null,
      allowedOrigins: [],
      logLevel: 'info',
      shutdownGraceMs: 5000,
    });
  });

  it('takes flags over the environment over the file', () => {
    const env = { SVC_PORT: '2', SVC_HOST: '0.0.0.0', SVC_DATA_DIR: '/data', SVC_LOG_LEVEL: '' };
    const { port, host, dataDir, logLevel } = resolved({ port: 1, logLevel: 'warn' }, env, { port: 3 });
    expect([port, host, dataDir, logLevel]).to.deep.equal([3, '0.0.0.0', '/data', 'warn']);
    expect(resolved({}, { SVC_ALLOWED_HOSTS: 'a, b', SVC_ALLOWED_ORIGINS: 'https://c' })).to.deep.include({
      allowedHosts: ['a', 'b'],
      allowedOrigins: ['https://c'],
    });
  });

  it('changes the database by one line', () => {
    const url = 'postgres://svc:pw@db/svc';
    expect(resolved({}, { SVC_DATABASE_URL: url }).database).to.deep.equal({ client: 'postgres', url });
    expect(resolved({ database: { client: 'postgres', url } }).database).to.deep.equal({
      client: 'postgres',
      url,
    });
    const sqlite = resolved({ dataDir: '/data' }, { SVC_DATABASE_URL: 'sqlite:other.db' }).database;
    expect(sqlite).to.deep.equal({ client: 'sqlite', filename: '/data/other.db' });
  });

  const refused: [string, Parameters<typeof resolved>, string][] = [
    ['an unknown key', [{ prot: 1 } as object], 'prot: unknown field; did you mean "port"?'],
    ['a wrong type', [{ port: '8600' as never }], 'port: must be an integer, not a string'],
    ['a port out of range', [{ port: 65_536 }], 'port: must be at most 65535'],
    [
      'an origin with a path',
      [{ allowedOrigins: ['https://a/b'] }],
      'allowedOrigins[0]: is malformed: as in https://lab.example',
    ],
    [
      'another database',
      [{ database: { client: 'mysql' } as never }],
      "database: must be { client: 'sqlite', filename? } or",
    ],
    [
      'a database without its url',
      [{ database: { client: 'postgres' } as never }],
      'database.url: is required',
    ],
    [
      'a port that is no number',
      [{}, { SVC_PORT: '80x' }],
      'SVC_PORT: must be a number from 0 to 65535, not "80x"',
    ],
    [
      'a URL of another database',
      [{}, { SVC_DATABASE_URL: 'mysql://x' }],
      'SVC_DATABASE_URL: must begin with postgres:// or',
    ],
    [
      'a factory that was not called',
      [{ plugins: [(() => plugins[0]) as never] }],
      'plugins[0] is a factory: call it',
    ],
    [
      'what is no plugin',
      [{ plugins: [{ name: 'x' } as never] }],
      'plugins[0] is no plugin: make it with definePlugin',
    ],
  ];
  for (const [what, args, expected] of refused) {
    it(`refuses ${what}`, async () => expect(await refusal(...args)).to.contain(expected));
  }

  it('is shown with the defaults of the plugins, and without its secrets', async () => {
    const database = { client: 'postgres', url: 'postgres://svc:hunter2@db/svc' } as const;
    const secretive = {
      ...plugin('push'),
      optionsSchema: Type.Object({
        topic: Type.String(),
        access_token: Type.String(),
        nested: Type.Array(Type.Object({ apiKey: Type.String() })),
        every_s: Type.Integer({ default: 30 }),
      }),
      options: { topic: 'gpu', access_token: 'hunter2', nested: [{ apiKey: 'hunter2' }] },
    };
    const shown = await describeConfig(resolved({ database, plugins: [secretive] }));
    expect(JSON.stringify(shown)).not.to.contain('hunter2');
    expect(shown).to.deep.include({
      database: { client: 'postgres', url: 'postgres://svc:***@db/svc' },
      port: 8600,
      file: null,
    });
    expect(shown['plugins']).to.deep.equal([
      {
        name: 'push',
        options: { topic: 'gpu', access_token: '***', nested: [{ apiKey: '***' }], every_s: 30 },
      },
    ]);
  });

  describe('file', () => {
    let directory: string;
    let count = 0;
    before(() => {
      directory = temporaryDirectory();
      mkdirSync(join(directory, 'node_modules/@svc'), { recursive: true });
      symlinkSync(resolve('kernel'), join(directory, 'node_modules/@svc/kernel'));
    });
    after(() => rmSync(directory, { recursive: true }));

    function write(text: string): string {
      const file = join(directory, `svc-${(count += 1)}.config.ts`);
      writeFileSync(file, text);
      return file;
    }
    const failureWith = async (text: string) => {
      const file = write(text);
      const { message } = await failureOf(async () => {
        const config = await loadConfig(file, {
          env: {},
          flags: { dataDir: directory, port: 0, logLevel: 'silent' },
        });
        const kernel = createKernel(config);
        await kernel.start().then(() => kernel.close());
      });
      return message.replace(file, 'svc.config.ts');
    };
    const withPlugins = (...lines: string[]) =>
      [
        `import { defineConfig, definePlugin } from '@svc/kernel';`,
        `const jobs = definePlugin({ name: 'jobs', setup: () => undefined });`,
        `const semantic = definePlugin({ name: 'semantic', requires: ['metrics'], setup: () => undefined });`,
        'export default defineConfig({',
        ...lines,
        '});',
      ].join('\n');

    it('is TypeScript, and shares our modules', async () => {
      const file = write(
        `import { BootError, defineConfig, definePlugin } from '@svc/kernel';
         const port: number = 8601;
         const x = definePlugin({ name: 'x', setup() {} });
         export default { ...defineConfig({ port, plugins: [] }), plugins: [x({ BootError })] };`,
      );
      const config = await loadConfig(file, { env: {} });
      expect(config.port).to.equal(8601);
      expect((config.plugins[0]!.options as { BootError: unknown }).BootError).to.equal(BootError);
    });

    it('does so with plain Node and built packages too, and says the line that throws', () => {
      const built = join(directory, 'built');
      const names = ['contract', 'validation', 'hooks', 'http', 'kernel'];
      buildInto(built, Object.fromEntries(names.map((name) => [name, resolve(name)])));
      const good = `import { BootError, definePlugin } from '@svc/kernel';
        const x = definePlugin({ name: 'x', setup() {} });
        export default { plugins: [x({ BootError } as object)] };`;
      writeFileSync(join(built, 'svc.config.ts'), good);
      writeFileSync(
        join(built, 'bad.config.ts'),
        `const a: number = 1;\n\nthrow new Error('SVC_SECRET is not set');\n`,
      );
      writeFileSync(
        join(built, 'main.mjs'),
        `import { BootError, loadConfig } from '@svc/kernel';
         const { plugins } = await loadConfig('svc.config.ts', { env: {} });
         const failure = await loadConfig('bad.config.ts').catch((error) => error.message);
         console.log(plugins[0].options.BootError === BootError, failure);`,
      );
      const output = execFileSync(process.execPath, ['main.mjs'], {
        cwd: built,
        env: { PATH: process.env['PATH'] },
      });
      expect(String(output).trim()).to.equal('true bad.config.ts:3:7: SVC_SECRET is not set');
    });

    it('that is missing, or exports nothing of use, is said', async () => {
      expect((await failureOf(() => loadConfig(join(directory, 'none.ts')))).message).to.contain(
        'there is no ',
      );
      expect(await failureWith('export const a = 1;')).to.contain(
        'svc.config.ts: must have export default defineConfig',
      );
    });

    it('with a syntax error is refused, naming line and column', async () => {
      expect(await failureWith('export default {\n  plugins: [,\n  port: }\n};')).to.match(
        /^svc\.config\.ts:3(:\d+)?: \w/,
      );
    });

    it('that fails shows no password that is in it, however the error is printed', async () => {
      const url = 'postgres://svc:hunter2@db';
      for (const text of [
        `export default { plugins: [], database: { url: '${url}' oops } };`,
        `export default { plugins: [], database: { url: ${url} } };`,
        `export default { plugins: [], database: { url: new URL('${url}:port').href } };`,
      ]) {
        const error = await failureOf(() => loadConfig(write(text)));
        expect(error.message).to.match(/\.config\.ts:1(:\d+)?: \w/);
        expect(inspect(error)).to.not.contain('hunter2');
      }
    });

    it('with an unknown key points at its line', async () => {
      expect(await failureWith(withPlugins('plugins: [],', 'prot: 1'))).to.equal(
        'svc.config.ts:6: prot: unknown field; did you mean "port"?',
      );
    });

    it('with a missing requirement points at the plugin', async () => {
      expect(await failureWith(withPlugins('plugins: [', 'jobs(),', 'semantic(),', '],'))).to.equal(
        'svc.config.ts:7: plugin "semantic" requires "metrics", which is not in svc.config.ts; add metrics() to plugins',
      );
    });

    it('with an unknown plugin option points at the option', async () => {
      expect(await failureWith(withPlugins('plugins: [', 'jobs({', 'tick: 5,', '}),', ']'))).to.equal(
        'svc.config.ts:7: plugin "jobs", option tick: unknown field; there are none',
      );
    });

    it('with a plugin twice points at the second', async () => {
      expect(await failureWith(withPlugins('plugins: [', 'jobs(),', 'jobs(),', ']'))).to.match(
        /^svc\.config\.ts:7: plugin "jobs" is there twice/,
      );
    });
  });
});

/** Our packages as production has them: plain JavaScript in dist, and no sources in reach. */
function buildInto(directory: string, packages: Record<string, string>): void {
  for (const [name, from] of Object.entries(packages)) {
    const target = join(directory, 'node_modules/@svc', name);
    mkdirSync(target, { recursive: true });
    execFileSync('cp', [join(from, 'package.json'), target]);
    const sources = String(
      execFileSync('find', [join(from, 'src'), '-name', '*.ts', '-not', '-name', '*.d.ts']),
    )
      .trim()
      .split('\n');
    const bin = resolve('node_modules/.bin/esbuild');
    execFileSync(bin, [
      ...sources,
      `--outdir=${join(target, 'dist')}`,
      `--outbase=${join(from, 'src')}`,
      '--log-level=error',
    ]);
  }
  for (const name of [
    '@koa',
    'ajv',
    'ajv-formats',
    'better-sqlite3',
    'jiti',
    'knex',
    'koa',
    'koa-sse-stream',
    'pg',
    'pino',
    'tapable',
    'typebox',
    'ulid',
    'ws',
  ]) {
    symlinkSync(resolve('node_modules', name), join(directory, 'node_modules', name));
  }
}
