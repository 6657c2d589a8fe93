import { pushTargetOptions, strict, type PushTarget } from '@svc/contract';
import { BootError, definePlugin, describeConfig, resolveConfig } from '@svc/kernel';
import { createTestKernel, until } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { push, pushRef } from '@svc/plugin-push';
import { expect } from 'chai';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Type } from 'typebox';
import { append } from './targets.js';

const VARIABLE = 'SVC_TEST_PUSH_TOKEN';
const SECRET = 'tk_hunter2';

describe('the targets of a push plugin', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'svc-push-'));
  });
  afterEach(() => {
    delete process.env[VARIABLE];
    rmSync(dir, { recursive: true });
  });

  const pushTest = definePlugin({
    name: 'push-test',
    requires: ['push'],
    options: strict({ targets: Type.Array(strict(pushTargetOptions), { default: [] }) }),
    setup(ctx, { targets }) {
      for (const target of targets)
        ctx.use(pushRef).addTarget(ctx, target, ({ title }) => ({ headers: {}, body: title }));
    },
  });
  const plugins = (...targets: unknown[]) => [
    events(),
    push(),
    pushTest({ targets: targets as PushTarget[] }),
  ];
  const target = (more: Record<string, unknown> = {}) => ({
    name: 'a',
    url: 'http://127.0.0.1:1/t',
    ...more,
  });
  function write(text: string, mode = 0o600): string {
    const file = path.join(dir, 'secret');
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }
  async function refusal(...targets: unknown[]): Promise<string> {
    const error: unknown = await createTestKernel({ plugins: plugins(...targets) }).then(
      (kernel) => kernel.close(),
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(BootError);
    expect((error as Error).message).to.not.contain('hunter2');
    return (error as Error).message;
  }
  it('may have their address and token in files or variables', async () => {
    const received: unknown[] = [];
    const receiver = createServer(({ url, headers }, response) => {
      received.push([url, headers.authorization]);
      response.end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    process.env[VARIABLE] = ` ${SECRET}\n`;
    const file = write(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/T/B/x\n`);
    const kernel = await createTestKernel({
      plugins: plugins(target({ url: { file }, token: { env: VARIABLE } })),
    });
    await append(kernel, {});
    await until(() => received.length > 0);
    expect(received).to.deep.equal([['/T/B/x', `Bearer ${SECRET}`]]);
    await kernel.close();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  it('do not show a token in the configuration that is printed, nor in the log', async () => {
    process.env[VARIABLE] = SECRET;
    const lines: string[] = [];
    const kernel = await createTestKernel({
      plugins: plugins(
        target({ token: { env: VARIABLE } }),
        target({ name: 'b', token: { file: write(SECRET) } }),
      ),
      logLevel: 'trace',
      writeLog: (line) => lines.push(line),
    });
    await append(kernel, {});
    await kernel.close();
    const config = resolveConfig({ plugins: plugins(target({ token: { env: VARIABLE } })) }, { env: {} });
    const printed = JSON.stringify(await describeConfig(config));
    expect(printed).to.contain(VARIABLE);
    expect(printed + lines.join('')).to.not.contain('hunter2');
  });

  it('do not show the user and the query of an address in the configuration that is printed', async () => {
    const urls = [
      'https://ntfy.example.org/gpu?auth=hunter2',
      { file: '/etc/svc/slack-url' },
      'https://hunter2:@ntfy.example.org/gpu',
    ];
    const targets = urls.map((url, index) => target({ name: `t${index}`, url }));
    const { plugins: shown } = await describeConfig(
      resolveConfig({ plugins: plugins(...targets) }, { env: {} }),
    );
    expect(JSON.stringify(shown)).to.not.contain('hunter2');
    const { options } = (shown as { name: string; options: { targets: PushTarget[] } }[]).at(-1)!;
    expect(options.targets.map(({ url }) => url)).to.deep.equal([
      'https://ntfy.example.org/gpu?***',
      { file: '/etc/svc/slack-url' },
      'https://***@ntfy.example.org/gpu',
    ]);
  });

  it('whose secret other users can read are warned of', async () => {
    const lines: string[] = [];
    const kernel = await createTestKernel({
      plugins: plugins(
        target({ token: { file: write(SECRET, 0o644) } }),
        target({ name: 'b', types: ['OOOM'] }),
      ),
      logLevel: 'warn',
      writeLog: (line) => lines.push(line),
    });
    await kernel.close();
    expect(lines).to.have.length(2);
    expect(lines[0]).to.contain('other users can read the token of target \\"a\\"');
    expect(lines[1]).to.contain('OOOM');
  });

  const refused: [string, unknown[], RegExp][] = [
    ['a token in the configuration itself', [target({ token: SECRET })], /targets\[0\]\.token: must be/],
    [
      'an address that is none',
      [target({ url: 'ntfy.example.org/t' })],
      /targets\[0\]\.url: is malformed: an http or https address/,
    ],
    [
      'an address with a password',
      [target({ url: 'https://ada:hunter2@example.org/t' })],
      /url of target "a" must not hold a password/,
    ],
    ['an unknown severity', [target({ min_severity: 'fatal' })], /min_severity: must be/],
    ['a malformed type', [target({ types: ['loss nan'] })], /types\[0\]: is malformed: a type of events/],
    ['an unknown way of delivery', [target({ delivery: 'exactly-once' })], /delivery: must be/],
    ['an unknown field', [target({ topic: 'x' })], /topic/],
    ['a target without a name', [{ url: 'http://127.0.0.1:1' }], /name: is required/],
    ['a name with a space', [target({ name: 'a b' })], /name: is malformed: letters/],
    ['two targets of one name', [target(), target()], /notifier "a" of plugin "push-test" is already added/],
    [
      'a variable that is not set',
      [target({ token: { env: VARIABLE } })],
      new RegExp(`the token of target "a" is missing: the variable ${VARIABLE} is empty`),
    ],
    [
      'a file that is not there',
      [target({ token: { file: '/no/such/file' } })],
      /cannot be read from \/no\/such\/file \(ENOENT\)/,
    ],
    [
      'a relative path',
      [target({ token: { file: 'token' } })],
      /token\.file: is malformed: an absolute path/,
    ],
  ];
  for (const [what, targets, message] of refused)
    it(`are refused with ${what}`, async () => expect(await refusal(...targets)).to.match(message));

  it('are refused with a secret that is empty, long or more than one word', async () => {
    for (const [text, message] of [
      [' \n', /is empty/],
      [`${SECRET} ${SECRET}`, /white space/],
      ['tk_äöü', /beyond ASCII/],
      ['x'.repeat(5000), /longer than 4096 bytes/],
    ] as const)
      expect(await refusal(target({ token: { file: write(text) } }))).to.match(message);
    expect(await refusal(target({ url: { file: write('ftp://hunter2.example.org') } }))).to.match(
      /http:\/\/ or https/,
    );
    expect(await refusal(target({ url: { file: write('hunter2') } }))).to.match(/is no address/);
  });
});
