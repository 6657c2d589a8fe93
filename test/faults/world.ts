import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { CALLS, installPackages, toConfigText, writeConfig } from '../support/configuration.js';
import type { Program } from '../support/program.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';
import { createCuttingProxy, type CuttingProxy } from './cutting-proxy.js';
import { NODES } from './schedule.js';

const SLOTS_PER_NODE = 2;
const CPU_JOBS_PER_NODE = 3;
const DISK_MB = 48;
const PATIENCE_MS = 60_000;

/** Times short enough that a round sees all that follows from them. In seconds. */
export const TIMES = { heartbeat: 0.4, offlineAfter: 2.5, killGrace: 1, lostRetryAfter: 1 } as const;
const OPTIONS: Readonly<Record<string, string>> = {
  'nodes()': `nodes({ heartbeat_s: ${TIMES.heartbeat}, offline_after_s: ${TIMES.offlineAfter} })`,
  'jobs()': `jobs({ tick_s: 0.2, ack_timeout_s: 1.5, kill_grace_s: ${TIMES.killGrace}, lost_retry_after_s: ${TIMES.lostRetryAfter}, retry_backoff_s: 0.2, retry_backoff_max_s: 1 })`,
};

export interface AgentPlace {
  readonly stateDir: string;
  readonly proxy: CuttingProxy;
  program: Program;
  nodeId: string;
}

export interface Wholeness {
  /** Last words of programs that ended by themselves. */
  readonly ended: readonly string[];
  /** False: an agent did not come back in time. */
  readonly isWhole: boolean;
}

/** A server and two agents, each behind a proxy of its own, for as many rounds as one likes. */
export interface World {
  readonly workplace: Workplace;
  readonly agents: readonly AgentPlace[];
  /** Whether disks can be filled here: each is a small file system then. */
  readonly canFillDisks: boolean;
  server: Server;
  startServer(): Promise<void>;
  startAgent(node: number): void;
  /** Sends a signal to the server or an agent. A program that has already ended by itself is noted for `whole`. */
  signal(program: Program, signal: NodeJS.Signals): void;
  /** Takes all the room that is left there; undone by `freeDisk`. */
  fillDisk(dir: string): void;
  freeDisk(dir: string): void;
  /** Starts again what has ended by itself, until server and agents run and know each other. */
  whole(): Promise<Wholeness>;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const workplace = createWorkplace();
  const stateDirs = Array.from({ length: NODES }, (_, node) => path.join(workplace.dir, `agent-${node}`));
  const disks = [workplace.dataDir, ...stateDirs];
  const canFillDisks = mountAll(disks);
  installPackages(workplace.dir);
  const config = writeConfig(workplace.dir, toConfigText(CALLS.map((call) => OPTIONS[call] ?? call)));
  const serverArgs = ['--config', config];

  const server = await workplace.startServer({ args: serverArgs });
  const { token } = await server.client.call(routes.createToken, {
    body: { name: 'agents', scope: 'agent' },
  });
  const startAgentProgram = (node: number, url: string): Program =>
    workplace.start(
      [
        'agent',
        '--name',
        `node-${node}`,
        '--state-dir',
        stateDirs[node]!,
        '--virtual-gpus',
        String(SLOTS_PER_NODE),
        '--max-cpu-jobs',
        String(CPU_JOBS_PER_NODE),
      ],
      { SVC_URL: url, SVC_TOKEN: token },
    );
  const agents: AgentPlace[] = [];
  for (const [node, stateDir] of stateDirs.entries()) {
    const proxy = await createCuttingProxy(portOf(server));
    agents.push({ stateDir, proxy, program: startAgentProgram(node, proxy.url), nodeId: '' });
  }

  const endedEarlier: string[] = [];
  const world: World = {
    workplace,
    agents,
    canFillDisks,
    server,
    async startServer() {
      world.server = await until(() => startServerOnce(workplace, serverArgs), {
        timeoutMs: PATIENCE_MS,
        everyMs: 200,
      });
      for (const { proxy } of agents) proxy.target = portOf(world.server);
    },
    startAgent(node) {
      const agent = agents[node]!;
      agent.program = startAgentProgram(node, agent.proxy.url);
    },
    signal(program, signal) {
      if (program.isRunning) program.kill(signal);
      else endedEarlier.push(toLastWords(program === world.server ? 'the server' : 'an agent', program));
    },
    fillDisk,
    freeDisk: (dir) => rmSync(toBallast(dir), { force: true }),
    async whole() {
      const ended = endedEarlier.splice(0);
      const isWhole = async (): Promise<boolean> => {
        ended.push(...(await restartEnded(world)));
        return areConnected(world);
      };
      const back = until(isWhole, { timeoutMs: PATIENCE_MS, everyMs: 50 });
      return back.then(
        () => ({ ended, isWhole: true }),
        () => ({ ended, isWhole: false }),
      );
    },
    async close() {
      await workplace.end();
      for (const { proxy } of agents) await proxy.close();
      if (canFillDisks) disks.forEach(unmount);
      await workplace.close();
    },
  };
  const { ended, isWhole } = await world.whole();
  if (isWhole) return world;
  await world.close();
  throw new Error(`server and agents did not come up: ${ended.join('; ')}`);
}

/** As an init system does: a server that finds no room on its disk ends, and is started again. */
async function startServerOnce(workplace: Workplace, args: readonly string[]): Promise<Server> {
  try {
    return await workplace.startServer({ args });
  } catch (error) {
    workplace.programs[0]?.kill('SIGKILL');
    await workplace.programs[0]?.ended;
    throw error;
  }
}

/** Programs that ended without being told to, in their own last words. */
async function restartEnded(world: World): Promise<string[]> {
  const said: string[] = [];
  for (const [node, { program }] of world.agents.entries()) {
    if (program.isRunning) continue;
    said.push(toLastWords(`agent ${node}`, program));
    world.startAgent(node);
  }
  if (!world.server.isRunning) {
    said.push(toLastWords('the server', world.server));
    await world.startServer();
  }
  return said;
}

function toLastWords(name: string, { stderr, outcome }: Program): string {
  return `${name} ended by itself (${outcome}): ${stderr.trimEnd().split('\n').slice(-3).join(' | ')}`;
}

async function areConnected({ server, agents }: World): Promise<boolean> {
  const { items } = await server.client.call(routes.listNodes);
  for (const [node, agent] of agents.entries()) {
    const record = items.find(({ name }) => name === `node-${node}`);
    if (record?.status !== 'ONLINE' || record.connected_at === null) return false;
    agent.nodeId = record.id;
  }
  return true;
}

function portOf({ url }: Server): number {
  return Number(new URL(url).port);
}

/** False where this user may not mount. */
function mountAll(dirs: readonly string[]): boolean {
  dirs.forEach((dir) => mkdirSync(dir, { mode: 0o700 }));
  try {
    for (const dir of dirs)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'tmpfs', dir], {
        stdio: 'ignore',
      });
    return true;
  } catch {
    dirs.forEach(unmount);
    return false;
  }
}

function unmount(dir: string): void {
  try {
    execFileSync('umount', ['--lazy', dir], { stdio: 'ignore' });
  } catch {
    // It was not mounted.
  }
}

function toBallast(dir: string): string {
  return path.join(dir, 'ballast');
}

function fillDisk(dir: string): void {
  const file = openSync(toBallast(dir), 'w');
  try {
    for (let size = 1024 * 1024; size >= 512; size /= 2) writeUntilFull(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
