import { until } from '@svc/kernel/testing';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startProgram, type Program } from '../../test/support/program.js';
import type { Engine } from './engine.js';

const run = promisify(execFile);
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;
const NEEDED = ['munged', 'slurmctld', 'slurmd', 'sbatch', 'scontrol', 'sinfo'];
const PATIENCE_MS = 10 * 60_000;

export interface Slurm extends Engine {
  /** Ends what was started, and removes its directory. */
  close(): Promise<void>;
}

/** How to get what is missing; null when it is all there. */
export function findSlurmTrouble(): string | null {
  const isThere = (name: string) => PATH.split(':').some((dir) => existsSync(path.join(dir, name)));
  const missing = NEEDED.filter((name) => !isThere(name));
  return missing.length === 0
    ? null
    : `Slurm is not installed (${missing.join(', ')}): apt-get install slurm-wlm munge`;
}

/** A private Slurm of one node with one CPU, all of it in a temporary directory and on ports of its own. */
export async function startSlurmEngine(): Promise<Slurm> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-slurm-'));
  const programs: Program[] = [];
  const close = async () => {
    for (const program of programs.toReversed()) {
      program.kill();
      await program.ended;
    }
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const env = { ...process.env, PATH, SLURM_CONF: await writeConfig(dir) };
    const start = (name: string, args: readonly string[]) => programs.unshift(startProgram(name, args, env));
    writeFileSync(path.join(dir, 'munge.key'), randomBytes(1024), { mode: 0o600 });
    const files = ['key-file=munge.key', 'socket=munge.socket', 'pid-file=munge.pid', 'seed-file=munge.seed'];
    start('munged', [
      '--foreground',
      '--force',
      ...files.map((file) => `--${file.replace('=', `=${dir}/`)}`),
    ]);
    await until(() => existsSync(path.join(dir, 'munge.socket')));
    start('slurmctld', ['-D']);
    start('slurmd', ['-D']);
    const ask = async (name: string, args: readonly string[]) =>
      (await run(name, args, { env, cwd: dir })).stdout;
    await until(async () => /^idle/.test(await ask('sinfo', ['-h', '-o', '%T']).catch(() => '')), {
      timeoutMs: 60_000,
    });
    return { ...createEngine(dir, ask), close };
  } catch (error) {
    const said = programs.map(({ stderr }) => stderr).join('\n');
    await close();
    throw new Error(`Slurm does not start:\n${said}`, { cause: error });
  }
}

type Ask = (program: string, args: readonly string[]) => Promise<string>;

function createEngine(dir: string, ask: Ask): Engine {
  let serial = 0;
  const submit = (command: string) =>
    ask('sbatch', ['--parsable', '--output=/dev/null', `--wrap=${command}`]);
  /** Its state and times, in s, as `scontrol show job` tells them. */
  const show = async (id: string) => {
    const text = await ask('scontrol', ['show', 'job', id.trim()]);
    const field = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(text)?.[1] ?? '';
    return {
      state: field('JobState'),
      start: Date.parse(field('StartTime')),
      end: Date.parse(field('EndTime')),
    };
  };
  const completed = (id: string) =>
    until(
      async () => {
        const job = await show(id);
        return job.state === 'COMPLETED' ? job : null;
      },
      { timeoutMs: PATIENCE_MS, everyMs: 100 },
    );
  return {
    name: 'Slurm',
    async timeStart() {
      const stamp = path.join(dir, `start-${serial++}`);
      const submittedMs = Date.now();
      await completed(await submit(`date +%s%3N > ${stamp}`));
      return Number(readFileSync(stamp, 'utf8')) - submittedMs;
    },
    async timeRow(count) {
      const ids: string[] = [];
      for (let index = 0; index < count; index++) ids.push(await submit('exec true'));
      const [last, first] = [await completed(ids.at(-1)!), await show(ids[0]!)];
      return (last!.end - first.start) / 1000;
    },
  };
}

async function writeConfig(dir: string): Promise<string> {
  const file = path.join(dir, 'slurm.conf');
  const at = (name: string) => path.join(dir, name);
  for (const name of ['state', 'spool']) mkdirSync(at(name), { mode: 0o755 });
  const user = os.userInfo().username;
  const host = os.hostname();
  const settings = {
    ClusterName: 'bench',
    SlurmctldHost: `${host}(127.0.0.1)`,
    SlurmctldPort: await findFreePort(),
    SlurmdPort: await findFreePort(),
    AuthType: 'auth/munge',
    AuthInfo: `socket=${at('munge.socket')}`,
    SlurmUser: user,
    SlurmdUser: user,
    StateSaveLocation: at('state'),
    SlurmdSpoolDir: at('spool'),
    SlurmctldPidFile: at('slurmctld.pid'),
    SlurmdPidFile: at('slurmd.pid'),
    ProctrackType: 'proctrack/linuxproc',
    TaskPlugin: 'task/none',
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_Core',
    ReturnToService: 2,
    MpiDefault: 'none',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  lines.push(`NodeName=${host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN`);
  lines.push(`PartitionName=main Nodes=${host} Default=YES State=UP`);
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  return file;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
