import type { Clock } from '@svc/hooks';
import type { HttpLimits } from '@svc/http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveConfig, type Config } from '../src/config/config.js';
import { createKernel, type Kernel } from '../src/kernel.js';
import { createLogger } from '../src/logger.js';
import { listTables } from '../src/owned-tables.js';
import { definePlugin, type Plugin, type PluginContext } from '../src/plugin.js';
import { createAnswerCheck } from './answer-check.js';
import type { TestDatabase } from './each-database.js';
import { openSse, type SseClient, type SseOptions } from './sse-client.js';
import { testAuth } from './test-auth.js';

export interface TestKernelOptions extends Partial<Omit<Config, 'plugins' | 'database'>> {
  readonly plugins: readonly Plugin[];
  /** Left out: SQLite in the data directory. */
  readonly database?: TestDatabase;
  readonly clock?: Clock;
  readonly limits?: Partial<HttpLimits>;
  /** Given each line of the server's log; say `logLevel` too. */
  readonly writeLog?: (line: string) => void;
}

export interface TestRequest {
  readonly token?: string;
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests reach into answers of every shape
  readonly body: any;
}

/** A real server on a port of its own, with a temporary data directory. */
export interface TestKernel extends Pick<Kernel, 'use' | 'db'> {
  readonly url: string;
  readonly dataDir: string;
  /** The context of a plugin of its own, for reaching hooks (`ctx.fire`), services and the database. */
  readonly ctx: PluginContext;
  /** `path` is relative to /api/v1. */
  request(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  sse(path: string, options?: SseOptions): Promise<SseClient>;
  /** Closes the server and removes what it wrote, unless the data directory was given. */
  close(): Promise<void>;
}

export async function createTestKernel(options: TestKernelOptions): Promise<TestKernel> {
  const { plugins, database, clock, limits, writeLog, dataDir = temporaryDirectory(), ...rest } = options;
  const probe = createProbe(plugins);
  const auth = plugins.some(({ name }) => name === 'auth') ? [] : [testAuth()];
  const config = resolveConfig(
    {
      port: 0,
      logLevel: 'silent',
      dataDir,
      plugins: [...auth, ...plugins, probe.plugin],
      ...(database && { database: await database.create() }),
      ...rest,
    },
    { env: {} },
  );
  const log = createLogger(config.logLevel, writeLog && { write: writeLog });
  const kernel = createKernel(config, { log, ...(clock && { clock }), ...(limits && { limits }) });
  const { url } = await kernel.start();
  await refuseUnowned(kernel, plugins, probe.ctx());
  const check = createAnswerCheck(probe.ctx().registered.routes.map(({ spec }) => spec));
  const urlOf = (path: string) => `${url}/api/v1${path}`;
  return {
    url,
    dataDir,
    ctx: probe.ctx(),
    get db() {
      return kernel.db;
    },
    use: (ref) => kernel.use(ref),
    async request(method, path, request) {
      const answer = await send(method, urlOf(path), request);
      check(method, path, answer.status, answer.body);
      return answer;
    },
    sse: (path, sseOptions) => openSse(urlOf(path), sseOptions),
    async close() {
      await kernel.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Rows of a table that nobody owns are never removed. Tables of a plugin that was configured before may be there. */
async function refuseUnowned(kernel: Kernel, plugins: readonly Plugin[], ctx: PluginContext): Promise<void> {
  const migrations: string[] = await kernel.db('svc_migrations').pluck('name');
  const isOfThese = (name: string) => plugins.some((plugin) => name.startsWith(`${plugin.name}/`));
  if (!migrations.every(isOfThese)) return;
  const owned = ['svc_migrations', ...ctx.registered.tables.map(({ table }) => table)];
  const tables = (await listTables(kernel.db)).filter((table) => !table.startsWith('sqlite_'));
  const unowned = tables.filter((table) => !owned.includes(table));
  if (unowned.length === 0) return;
  await kernel.close();
  throw new Error(`no plugin owns ${unowned.join(', ')}: whose migrations make it names it in ctx.owns`);
}

const temporaryDirectory = () => mkdtempSync(join(tmpdir(), 'svc-test-'));

function createProbe(plugins: readonly Plugin[]) {
  let ctx: PluginContext | undefined;
  const uses = plugins.map(({ name }) => name);
  const plugin = definePlugin({ name: 'test-probe', uses, setup: (given) => void (ctx = given) })();
  return { plugin, ctx: () => ctx! };
}

async function send(
  method: string,
  url: string,
  { token, body, headers }: TestRequest = {},
): Promise<TestAnswer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const answer = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json');
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
