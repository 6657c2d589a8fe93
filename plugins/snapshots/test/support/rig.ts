import type { Scope, Snapshot } from '@svc/contract';
import type { Plugin } from '@svc/kernel';
import { createTestKernel, fakeClock, type TestDatabase, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { retention } from '@svc/plugin-retention';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { snapshots } from '../../src/index.js';

type Answer = {
  readonly status: number;
  readonly body: Snapshot & { error?: { code: string; message: string } };
};

/** A server that takes snapshots. */
export async function openRig(database: TestDatabase, more: readonly Plugin[] = []) {
  const clock = fakeClock();
  const records = [auth(), projects(), events(), nodes(), jobs(), runnerProcess(), logs(), runs()];
  const plugins = [
    ...records,
    metricDefinitions(),
    metrics(),
    retention(),
    snapshots({ max_mb: 1 }),
    ...more,
  ];
  const kernel: TestKernel = await createTestKernel({ plugins, database, clock });
  const newToken = async (scope: Scope): Promise<string> =>
    (await createToken(kernel.db, { name: scope, scope, expires_at: null }, clock.now())).token;
  const tokens = { write: await newToken('write'), read: await newToken('read') };
  const url = `${kernel.url}/api/v1/snapshots`;
  const toHeaders = (token: string) => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/gzip',
  });

  return {
    clock,
    kernel,
    tokens,
    newToken,
    fileOf: (sha256: string) => path.join(kernel.dataDir, 'snapshots', `${sha256}.tar.gz`),
    async upload(bytes: Buffer, token = tokens.write): Promise<Answer> {
      const answer = await fetch(url, { method: 'POST', headers: toHeaders(token), body: bytes });
      return { status: answer.status, body: (await answer.json()) as Answer['body'] };
    },
    get: (sha256: string, method = 'GET', token = tokens.write) =>
      fetch(`${url}/${sha256}`, { method, headers: { authorization: `Bearer ${token}` } }),
    submit: (snapshot: string) =>
      kernel.request('POST', '/jobs', { token: tokens.write, body: { command: ['true'], snapshot } }),
    collect: async (older_than_s: number) => {
      const body = { older_than_s, dry_run: false };
      const answer = await kernel.request('POST', '/admin/gc', { token: tokens.write, body });
      return (answer.body as { orphans: { snapshots: number } }).orphans.snapshots;
    },
    /** Sends as much as is written, and ends when it is told to. */
    send(token = tokens.write): SlowUpload {
      const upload = request(url, { method: 'POST', headers: toHeaders(token) });
      const answered = new Promise<SlowAnswer>((resolve, reject) => {
        upload.on('error', reject).on('response', (answer) => resolve(readAnswer(answer)));
      });
      answered.catch(() => undefined);
      upload.flushHeaders();
      return { upload, answered };
    },
  };
}

export type Rig = Awaited<ReturnType<typeof openRig>>;

interface SlowAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface SlowUpload {
  readonly upload: ClientRequest;
  readonly answered: Promise<SlowAnswer>;
}

async function readAnswer(answer: IncomingMessage): Promise<SlowAnswer> {
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}
