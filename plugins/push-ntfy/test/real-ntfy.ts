import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { until } from '@svc/kernel/testing';
import type { Message, Ntfy } from './ntfy.js';

/** A server of that program, with one user, who has a token. */
export async function realNtfy(program: string): Promise<Ntfy> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-ntfy-'));
  const address = `127.0.0.1:${await freePort()}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    NTFY_PASSWORD: 'only for this test',
    NTFY_LISTEN_HTTP: address,
    NTFY_CACHE_FILE: path.join(dir, 'cache.db'),
    NTFY_CONFIG_FILE: '/dev/null',
    NTFY_AUTH_FILE: path.join(dir, 'user.db'),
    NTFY_AUTH_DEFAULT_ACCESS: 'deny-all',
    NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '127.0.0.1',
  };
  // It makes the database of the users, which the commands need.
  const server = spawn(program, ['serve'], { env, stdio: 'ignore' });
  const url = `http://${address}`;
  await until(async () => (await fetch(`${url}/v1/health`)).ok);
  execFileSync(program, ['user', 'add', '--role=admin', 'ada'], { env, stdio: 'ignore' });
  const said = spawnSync(program, ['token', 'add', 'ada'], { env, encoding: 'utf8' });
  const [token = ''] = /tk_\w+/.exec(said.stdout + said.stderr) ?? [];
  return {
    url,
    token,
    async messages(topic) {
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/${topic}/json?poll=1`, { headers });
      if (!answer.ok) throw new Error(await answer.text());
      const lines = (await answer.text()).split('\n').filter((line) => line !== '');
      return lines.map((line) => toMessage(JSON.parse(line) as Partial<Message>));
    },
    async close() {
      server.kill();
      await once(server, 'close');
      rmSync(dir, { recursive: true });
    },
  };
}

/** The server leaves out what is empty. */
function toMessage({ title = '', message = '', priority = 0, tags = [] }: Partial<Message>): Message {
  return { title, message, priority, tags };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
