import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { MetricPoint } from '@svc/contract';
import { expect } from 'chai';
import {
  startRecordingServer,
  type RecordingServer,
  type Request,
} from '../../sdk/typescript/test/recording-server.js';
import { requireEngine } from '../support/engines.js';
import { ROOT } from '../support/program.js';

type Fields = Record<string, unknown>;
type PointRow = readonly [name: string, step: number, value: unknown, epoch: number | null];

/** What a training does with an SDK, and what must have come of it. Of what is left out, nothing must have come. */
interface Case {
  readonly name: string;
  readonly calls: readonly (readonly unknown[])[];
  readonly env?: NodeJS.ProcessEnv;
  /** In a job, with a spool. */
  readonly job?: boolean;
  /** No server answers. */
  readonly away?: boolean;
  /** What answers is not svc. */
  readonly foreign?: keyof typeof FOREIGN;
  /** The server goes away at the call `wait`. */
  readonly leaves?: boolean;
  readonly refuse?: readonly Refusal[];
  readonly exit?: number;
  readonly created?: Fields;
  readonly points?: readonly PointRow[];
  readonly batches?: number;
  /** By the last part of the path; updates by what they update, environments left out. Omitted: not looked at. */
  readonly requests?: readonly (readonly [string, Fields])[];
  readonly offline?: { readonly metadata?: Fields } & Record<string, unknown>;
  readonly spool?: {
    readonly points: readonly PointRow[];
    readonly kinds: readonly string[];
    readonly failure?: string;
  };
}

interface Refusal {
  readonly path: string;
  /** Only where a point has this name. */
  readonly names?: string;
  readonly status: number;
  /** Left out: always. */
  readonly times?: number;
}

const FIXTURES = path.join(ROOT, 'test', 'fixtures');
const CASES = JSON.parse(readFileSync(path.join(FIXTURES, 'sdk-cases.json'), 'utf8')) as Case[];
const FOREIGN = { page: '<html>Log in to this network</html>', json: '{"ok":true}' };
const AWAY = 'http://127.0.0.1:9';
const TSX = ['--import', 'tsx', '--conditions=svc-source', path.join(FIXTURES, 'sdk-driver.ts')];

for (const language of ['Python', 'TypeScript'] as const)
  describe(`the ${language} SDK, in the cases of both SDKs`, function () {
    this.timeout(60_000);
    let command: readonly string[];
    let dir: string;
    let server: RecordingServer;
    before(function () {
      command =
        language === 'Python'
          ? [requireEngine(this, 'python'), path.join(FIXTURES, 'sdk-driver.py')]
          : [process.execPath, ...TSX];
    });
    beforeEach(async () => {
      dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'svc-sdk-case-')));
      server = await startRecordingServer();
    });
    afterEach(async () => {
      rmSync(dir, { recursive: true, force: true });
      await server.close();
    });

    for (const one of CASES)
      it(one.name, async () => {
        server.refuse = refusalsOf(one.refuse ?? []);
        server.foreign = one.foreign === undefined ? null : FOREIGN[one.foreign];
        const { code, stderr } = await drive(one);
        expect(code, stderr).to.equal(one.exit ?? 0);
        checkServer(one);
        checkOffline(one);
        checkSpool(one);
      });

    /** Runs the calls to their end. */
    function drive({
      calls,
      env,
      job,
      away,
      leaves,
    }: Case): Promise<{ code: number | null; stderr: string }> {
      const spool = path.join(dir, 'spool');
      mkdirSync(spool);
      const inJob = { SVC_RUN_ID: 'run_1', SVC_JOB_ID: 'job_1', SVC_SPOOL_DIR: spool };
      const own = {
        SVC_URL: away ? AWAY : server.url,
        SVC_TOKEN: 't',
        SVC_QUIET: '1',
        SVC_INIT_TIMEOUT_S: '2',
      };
      const found = {
        PYTHONPATH: path.join(ROOT, 'sdk', 'python'),
        ESBK_TSCONFIG_PATH: path.join(ROOT, 'tsconfig.json'),
      };
      const [program = '', ...args] = command.map((word) =>
        word === 'tsx' ? path.join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs') : word,
      );
      const child = spawn(program, [...args, JSON.stringify(calls)], {
        cwd: dir,
        env: { PATH: process.env['PATH'], HOME: dir, ...found, ...own, ...(job && inJob), ...env },
      });
      let stderr = '';
      child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
      child.stdout.on('data', () => {
        void (leaves ? server.close() : Promise.resolve()).then(() => child.stdin.end('\n'));
      });
      return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
    }

    function checkServer({ created, points = [], batches, requests }: Case): void {
      const [create] = server.requests;
      if (created) expect(create!.body).to.deep.include(created);
      expect(toRows(server.points())).to.deep.equal(points);
      const seqs = server.points().map(({ seq }) => seq);
      const isGapless = seqs.every((seq, index) => seq === seqs[0]! + index);
      if (batches === undefined) expect(new Set(seqs).size).to.equal(seqs.length);
      else expect(isGapless, 'numbered without gaps').to.equal(true);
      const sent = server.requests.filter(({ path: at }) => at.endsWith('/metrics:batch'));
      if (batches !== undefined) {
        expect(sent).to.have.length(batches);
        for (const { body } of sent) expect(body).to.deep.equal(sent[0]!.body);
      }
      if (requests === undefined) return;
      const others = server.taken.map(toOther).filter((other) => other !== null);
      const expected = JSON.parse(JSON.stringify(requests).replaceAll('DIR', dir)) as typeof others;
      expect(others).to.have.deep.members(expected);
      if (expected.at(-1)?.[0] === 'finish') expect(others.at(-1)).to.deep.equal(expected.at(-1));
    }

    function checkOffline({ offline }: Case): void {
      const base = path.join(dir, 'svc-offline');
      if (offline === undefined)
        return expect(existsSync(base), 'an offline folder').to.equal(false) as never;
      const [folder = ''] = readdirSync(base);
      const place = path.join(base, folder);
      const metadata = JSON.parse(readFileSync(path.join(place, 'metadata.json'), 'utf8')) as Fields;
      expect(metadata).to.deep.include(offline.metadata ?? {});
      const { metadata: _metadata, points = [], ...records } = offline;
      expect(toRows(linesOf(path.join(place, 'points.jsonl')) as unknown as MetricPoint[])).to.deep.equal(
        points,
      );
      for (const kind of ['events', 'checkpoints', 'metrics']) {
        const lines = linesOf(path.join(place, `${kind}.jsonl`)).map(({ ts, ...rest }) => {
          expect(ts).to.be.a('number');
          return rest;
        });
        expect(lines, kind).to.deep.equal(records[kind] ?? []);
      }
    }

    function checkSpool({ spool }: Case): void {
      const folder = path.join(dir, 'spool');
      const lines = readdirSync(folder).flatMap((name) => linesOf(path.join(folder, name)));
      const records = lines.filter(({ kind }) => kind !== 'end');
      if (spool === undefined) return expect(records).to.deep.equal([]) as never;
      expect([...new Set(records.map(({ kind }) => kind as string))].sort()).to.deep.equal(spool.kinds);
      const bodies = records.map(({ body }) => body as Fields & { points?: MetricPoint[] });
      expect(toRows(bodies.flatMap(({ points = [] }) => points))).to.deep.equal(spool.points);
      if (spool.failure === undefined) return;
      const failure = bodies.find(({ severity }) => severity === 'critical');
      expect(failure?.['title'])
        .to.match(/^\w*Error: /)
        .and.contain(spool.failure);
      expect(failure?.['message']).to.contain('sdk-driver');
    }
  });

function toRows(points: readonly MetricPoint[]): PointRow[] {
  const inOrder = [...points].sort((one, other) => one.seq - other.seq);
  return inOrder.map(({ name, step, value, epoch }) => [name, step, value, epoch ?? null]);
}

/** Null: points, the making of the run, and the environment, which differs by language. */
function toOther({ method, path: at, body }: Request): [string, Fields] | null {
  const last = at.split('/').at(-1) ?? '';
  if (last === 'metrics:batch' || last === 'runs') return null;
  if (method !== 'PATCH') return [last, body];
  const { environment: _environment, ...rest } = body;
  const [kind] = Object.keys(rest);
  return kind === undefined ? null : [kind, rest];
}

function refusalsOf(refusals: readonly Refusal[]): RecordingServer['refuse'] {
  const left = refusals.map(({ times = Infinity }) => times);
  return ({ path: at, body }) => {
    const index = refusals.findIndex(
      ({ path: suffix, names }, position) =>
        at.endsWith(suffix) &&
        left[position]! > 0 &&
        (names === undefined || body.points?.some(({ name }) => name === names)),
    );
    if (index < 0) return null;
    left[index]! -= 1;
    return refusals[index]!.status;
  };
}

function linesOf(file: string): Fields[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8').trimEnd();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Fields);
}
