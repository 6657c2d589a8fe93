import { until } from '@svc/hooks/testing';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';

const STOP_MS = 10_000;

/** A throw-away PostgreSQL cluster of this process, on a socket in a temporary directory. */
export interface PostgresCluster {
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** The directory that holds initdb, or null when PostgreSQL is not installed. */
export function findPostgres(): string | null {
  const installed = '/usr/lib/postgresql';
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(installed, version, 'bin')),
  ];
  return candidates.find((directory) => existsSync(join(directory, 'initdb'))) ?? null;
}

export async function startPostgres(bin: string): Promise<PostgresCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-pg-'));
  const identity = unprivileged();
  if (identity) chownSync(directory, identity.uid, identity.gid);
  const data = join(directory, 'data');
  const run = { cwd: directory, ...identity, stdio: 'pipe' } as const;
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    run,
  );
  const settings = [
    'listen_addresses=',
    `unix_socket_directories=${directory}`,
    'fsync=off',
    'max_connections=200',
  ];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    {
      ...run,
      stdio: 'ignore',
    },
  );
  const killNow = () => server.kill('SIGQUIT');
  process.once('exit', killNow);
  const urlOf = (name: string) => `postgres://svc@/${name}?host=${encodeURIComponent(directory)}`;
  const query = async (sql: string) => {
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await until(async () => (await query('select 1'), true), { timeoutMs: 20_000 });

  let count = 0;
  return {
    async createDatabase() {
      const name = `svc_${(count += 1)}`;
      await query(`create database ${name}`);
      return urlOf(name);
    },
    async stop() {
      process.off('exit', killNow);
      // Nothing of it is kept, so it need not write down what it has in memory.
      server.kill('SIGQUIT');
      // PostgreSQL 15 sleeps for a minute when the signal comes just before it goes to sleep. Its children end when it is gone.
      const late = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
      await exited(server);
      clearTimeout(late);
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** PostgreSQL refuses to run as root; its own user or nobody will do. */
function unprivileged(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const account = ['postgres', 'nobody']
    .map((name) => accounts.find(([user]) => user === name))
    .find(Boolean);
  if (!account)
    throw new Error('running as root, and there is no user postgres or nobody to run PostgreSQL as');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
