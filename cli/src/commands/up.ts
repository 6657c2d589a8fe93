import { isTerminal, routes, type Job } from '@svc/contract';
import type { Command } from 'commander';
import { createClient, type Client } from '@svc/client';
import { loadToken } from '@svc/client/local-server';
import { Failure } from '../failure.js';
import { stopSignal, untilAborted } from '../lifetime.js';
import { note, printLines } from '../output/print.js';
import { createSignInLink } from '../sign-in-link.js';
import { ensureAgentToken } from '../up/agent-token.js';
import { startChild, type Child } from '../up/child.js';
import { requireExample, requirePython } from '../up/example.js';
import { addServerOptions, type ServerOptions } from './server.js';

const STOP_GRACE_MS = 15_000;
const STATUS_TIMEOUT_MS = 1_000;

export function addUpCommand(program: Command): void {
  addServerOptions(program.command('up'))
    .description('run the server, one local agent and the console in this terminal until Ctrl-C')
    .option('--example', 'also submit the example training, unless there is a job of it already')
    .addHelpText('after', '\nExamples:\n  svc up\n  svc up --example --port 9000 --data-dir /tmp/svc')
    .action(up);
}

interface UpOptions extends ServerOptions {
  readonly example?: boolean;
}

async function up(options: UpOptions): Promise<void> {
  if (options.example) requirePython();
  const stop = stopSignal();
  const children: Child[] = [];
  const start = (name: string, args: readonly string[], env = process.env): Child => {
    const child = startChild(name, args, env);
    children.unshift(child);
    return child;
  };
  let client: Client | null = null;
  try {
    const { url = '', dataDir = '' } = await start('server', ['server', ...toArguments(options)]).ready;
    client = createClient({ url, token: loadToken(dataDir) ?? process.env['SVC_TOKEN'] ?? null });
    await startAgent(start, client, dataDir);
    await announce(client, dataDir, options.example === true);
    await untilStopped(stop, children);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    await end(children, client);
  }
}

type Start = (name: string, args: readonly string[], env?: NodeJS.ProcessEnv) => Child;

function toArguments({ config, host, port, dataDir }: ServerOptions): string[] {
  const given = Object.entries({ config, host, port, 'data-dir': dataDir }).filter(
    ([, value]) => value !== undefined,
  );
  return given.flatMap(([name, value]) => [`--${name}`, String(value)]);
}

async function startAgent(start: Start, client: Client, dataDir: string): Promise<void> {
  const { url } = client.connection;
  const tokenFile = await ensureAgentToken(client, dataDir);
  const { SVC_TOKEN: _operators, ...env } = process.env;
  await start('agent', ['agent', '--state-dir', dataDir, '--token-file', tokenFile], { ...env, SVC_URL: url })
    .ready;
}

async function announce(client: Client, dataDir: string, withExample: boolean): Promise<void> {
  const example = withExample ? await requireExample(client) : null;
  const link = await createSignInLink(client);
  const { url } = client.connection;
  printLines([
    '',
    `server   ${url}, data in ${dataDir}`,
    ...(example ? [`example  ${describeExample(example)}`] : []),
    'Ctrl-C stops the server and the agent; running jobs continue, and the next svc up finds them',
    '',
    'console (this sign-in link works once, within ten minutes; svc console prints a new one):',
    link,
  ]);
}

function describeExample({ id, name, status }: Job): string {
  if (!isTerminal(status)) return `${name}: svc logs -f ${id}`;
  return `${name} has ended: svc logs ${id} shows its log, svc resubmit ${id} runs it again`;
}

/** Returns when asked to stop; throws when a part ends by itself. */
async function untilStopped(stop: AbortSignal, children: readonly Child[]): Promise<void> {
  const asked = untilAborted(stop).then(() => null);
  const ends = children.map(async ({ name, ended }) => `the ${name} ${await ended}`);
  const end = await Promise.race([asked, ...ends]);
  if (end !== null) throw new Failure(`${end}; svc up stops the rest and exits`);
}

/** Stops the agent before the server, so that the server records its disconnect. */
async function end(children: readonly Child[], client: Client | null): Promise<void> {
  const running = client && (await countRunning(client));
  for (const child of children) child.silence();
  for (const child of children) await child.stop(STOP_GRACE_MS);
  if (!running) return;
  const [jobs, them] = running === 1 ? ['job continues', 'it'] : ['jobs continue', 'them'];
  note(`${running} ${jobs} to run; the next svc up finds ${them} again`);
}

async function countRunning(client: Client): Promise<number> {
  try {
    const { running } = await client.call(routes.getStatus, {
      signal: AbortSignal.timeout(STATUS_TIMEOUT_MS),
    });
    return running.length;
  } catch {
    return 0;
  }
}
