import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { PLUGINS, installPackages, toConfigText, toFactory, writeConfig } from '../support/configuration.js';
import { ROOT, startProgram, type Ended } from '../support/program.js';
import { createWorkplace, submit, type Workplace } from '../support/workplace.js';

const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: 'ES2022',
    lib: ['ES2023'],
    module: 'NodeNext',
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  },
  include: ['svc-plugin-hello'],
};

describe('a plugin of a third party, in a folder outside the repository', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  /** The plugin that docs/plugins.md shows, as it stands there. */
  let source: string;

  before(() => {
    workplace = createWorkplace();
    installPackages(workplace.dir);
    const docs = readFileSync(path.join(ROOT, 'docs', 'plugins.md'), 'utf8');
    source = /```ts\n\/\/ svc-plugin-hello\/index\.ts\n([^]*?)```/.exec(docs)?.[1] ?? '';
    mkdirSync(path.join(workplace.dir, 'svc-plugin-hello'));
    writeFileSync(path.join(workplace.dir, 'package.json'), '{"type": "module"}');
    writeFileSync(path.join(workplace.dir, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  });
  after(() => workplace.close());

  function checkTypes(text: string): Promise<Ended> {
    writeFileSync(path.join(workplace.dir, 'svc-plugin-hello', 'index.ts'), text);
    const env = { PATH: process.env['PATH'] };
    return startProgram(process.execPath, [TSC, '-p', 'tsconfig.json'], env, workplace.dir).ended;
  }

  it('is shown in the docs', () => {
    expect(source).to.contain('definePlugin');
  });

  it('does not compile when it reaches for what is not exported, or calls a hook', async () => {
    const wrong = source
      .replace('let changes = 0;', 'let changes = 0;\n    void ctx.hooks.routes.collect;')
      .replace(`from '@svc/contract';`, `from '@svc/contract/src/index.js';`);
    const { stdout } = await checkTypes(wrong);
    expect(stdout).to.match(/Cannot find module '@svc\/contract\/src/);
    expect(stdout).to.match(/Property 'collect' does not exist/);
  });

  it('compiles against the exported types alone', async () => {
    const { status, stdout } = await checkTypes(source);
    expect(stdout).to.equal('');
    expect(status).to.equal(0);
  });

  it('adds a route that is validated, authorised and described, and sees jobs change', async () => {
    await checkTypes(source);
    const calls = [
      ...PLUGINS.map((name) => `${toFactory(name)}()`),
      `helloPlugin({ greeting: 'good morning' })`,
    ];
    const text = `import { helloPlugin } from './svc-plugin-hello/index.ts';\n${toConfigText(calls)}`;
    const server = await workplace.startServer({ args: ['--config', writeConfig(workplace.dir, text)] });
    const { url, client } = server;
    const headers = { authorization: `Bearer ${client.connection.token}` };
    const get = async (pathname: string, init: RequestInit = { headers }) => {
      const response = await fetch(`${url}/api/v1${pathname}`, init);
      return { status: response.status, body: (await response.json()) as Record<string, never> };
    };

    expect(await get('/hello')).to.deep.equal({
      status: 200,
      body: { greeting: 'good morning', changes: 0 },
    });
    expect((await get('/hello', {})).status).to.equal(401);
    expect((await get('/hello?loud=1')).status).to.equal(422);
    expect((await get('/openapi.json')).body['paths']).to.have.property('/hello');

    const job = await submit(client, { command: ['true'] });
    await until(async () => (await get('/hello')).body['changes'] === 1);
    await until(() => server.stderr.includes(job.id) && server.stderr.includes('job changed'));
  });
});
