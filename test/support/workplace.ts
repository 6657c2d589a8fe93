import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { routes, type Job, type JobSubmit } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { createClient, type Client } from '@svc/client';
import { checkedFetch } from './checked-fetch.js';
import { killMarked } from './processes.js';
import { startSvc, type Ended, type Program } from './program.js';

const START_PATIENCE_MS = 60_000;
const END_PATIENCE_MS = 60_000;

export interface Server extends Program {
  readonly url: string;
  /** With the operator's token of the first start. */
  readonly client: Client;
}

export interface ServerOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** As `startSvc` takes it. */
  readonly under?: readonly string[];
}

/** A temporary directory in which the real programs run; `close` ends everything that was started in it. */
export interface Workplace {
  readonly dir: string;
  readonly dataDir: string;
  /** All that were started, newest first. */
  readonly programs: readonly Program[];
  /** `svc ARGS...`, in the background. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv, under?: readonly string[]): Program;
  /** `svc ARGS...`, to its end. */
  svc(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  /** `svc server` on a port of its own; resolves when it answers. */
  startServer(options?: ServerOptions): Promise<Server>;
  /** `svc agent` with an agent token; resolves when its node is online. */
  startAgent(server: Server, args?: readonly string[]): Promise<Program>;
  /** Ends every program, and every process of theirs that outlives them. */
  end(): Promise<void>;
  /** Ends them and removes the directory. */
  close(): Promise<void>;
}

/** `isInstalled`: the programs are those that were installed into the directory, and run in it. */
export function createWorkplace({ isInstalled = false } = {}): Workplace {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-workplace-'));
  const dataDir = path.join(dir, 'data');
  const installation = isInstalled
    ? { program: path.join(dir, 'node_modules', '.bin', 'svc'), cwd: dir }
    : undefined;
  const programs: Program[] = [];

  const start: Workplace['start'] = (args, env = {}, under = []) => {
    const base = { PATH: process.env['PATH'], HOME: dir, TMPDIR: dir, SVC_DATA_DIR: dataDir };
    const program = startSvc(args, { ...base, ...env }, under, installation);
    programs.unshift(program);
    return program;
  };

  const startServer: Workplace['startServer'] = async ({ args = [], env = {}, under } = {}) => {
    const program = start(['server', '--port', '0', ...args], env, under);
    const url = await untilPrinted(program, /svc server listens on (http:\S+)/);
    const token = readFileSync(path.join(dataDir, 'token'), 'utf8').trim();
    return Object.create(program, {
      url: { value: url },
      client: { value: createClient({ url, token }, { fetch: checkedFetch }) },
    }) as Server;
  };

  const startAgent: Workplace['startAgent'] = async ({ url, client }, args = []) => {
    const { token } = await client.call(routes.createToken, { body: { name: 'agent', scope: 'agent' } });
    const stateDir = path.join(dir, 'agent');
    const program = start(['agent', '--state-dir', stateDir, ...args], { SVC_URL: url, SVC_TOKEN: token });
    await untilPrinted(program, /(connected)/, 'stderr');
    return program;
  };

  const end = async (): Promise<void> => {
    for (const program of programs) await endProgram(program);
    // Jobs and their shims outlive the agent; what they run carries the home that only this workplace has.
    killMarked('HOME', dir);
  };

  return {
    dir,
    dataDir,
    programs,
    start,
    svc: (args, env) => start(args, env).ended,
    startServer,
    startAgent,
    end,
    async close() {
      await end();
      // A shim writes its job's end down before it goes.
      await until(() => {
        rmSync(dir, { recursive: true, force: true });
        return true;
      });
    },
  };
}

async function endProgram(program: Program): Promise<void> {
  if (!program.isRunning) return;
  program.kill('SIGTERM');
  const timer = setTimeout(() => program.kill('SIGKILL'), END_PATIENCE_MS);
  await program.ended;
  clearTimeout(timer);
}

/** What the expression's first group matched in the program's output. Throws with that output when it ends before. */
export async function untilPrinted(
  program: Program,
  expression: RegExp,
  stream: 'stdout' | 'stderr' = 'stdout',
  timeoutMs = START_PATIENCE_MS,
): Promise<string> {
  await until(() => expression.test(program[stream]) || !program.isRunning, { timeoutMs }).catch(
    () => undefined,
  );
  const found = expression.exec(program[stream])?.[1];
  if (found !== undefined) return found;
  throw new Error(`${String(expression)} was not printed:\n${program.stdout}\n${program.stderr}`);
}

export async function submit(client: Client, job: JobSubmit): Promise<Job> {
  return client.call(routes.submitJob, { body: job });
}

/** The job once `condition` holds. */
export function untilJob(
  client: Client,
  id: string,
  condition: (job: Job) => boolean,
  timeoutMs = 60_000,
): Promise<Job> {
  const read = async (): Promise<Job | null> => {
    const job = await client.call(routes.getJob, { params: { job_id: id } });
    return condition(job) ? job : null;
  };
  return until(read, { timeoutMs, everyMs: 50 }) as Promise<Job>;
}
