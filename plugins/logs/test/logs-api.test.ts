import type { LogLine, LogsFrame } from '@svc/contract';
import { fakeClock, until, type SseClient } from '@svc/kernel/testing';
import { definePlugin } from '@svc/kernel';
import { expect } from 'chai';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { linesAppended, logs, type LineBatch } from '../src/index.js';
import { shipper } from './support/shipper.js';

describe('logs over HTTP', () => {
  const batches: LineBatch[] = [];
  const observer = definePlugin({
    name: 'observer',
    requires: ['logs'],
    setup: (ctx) => ctx.tap(linesAppended, (batch) => void batches.push(batch)),
  });
  let rig: Rig;
  let agent: JobAgent;
  before(async () => {
    rig = await Rig.start({ plugins: [logs(), observer()] });
    agent = await rig.agent();
  });
  after(() => rig.close());

  /** A running job, and what ships its log as an agent does. */
  async function startJob(): Promise<{ id: string; ship: ReturnType<typeof shipper> }> {
    const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    return { id, ship: shipper(agent, id) };
  }

  const pathOf = (id: string, attempt = 1) =>
    join(rig.kernel.dataDir, 'logs', id, `attempt-${attempt}.ndjson`);
  const tail = async (
    id: string,
    query = '',
  ): Promise<{ lines: LogLine[]; dropped: number; attempt: number }> =>
    (await rig.get(`/jobs/${id}/logs${query}`)).body;
  const textsOf = (lines: readonly LogLine[]) => lines.map(({ text }) => text);

  it('follows long lines, however little may be on its way', async () => {
    const small = await Rig.start({ plugins: [logs()], limits: { streamBytes: 1 } });
    const on = await small.agent();
    const { id } = await small.submit({ node_selector: { node: on.nodeId } });
    await on.startJob(id);
    await small.reach(id, 'RUNNING');
    const ship = shipper(on, id);
    for (let batch = 0; batch < 4; batch += 1)
      await ship.lines('stdout', Array<string>(20).fill('\u0001'.repeat(16_000)));
    const stream = await small.kernel.sse(`/jobs/${id}/logs/stream?tail=80`, { token: small.tokens.read });
    for (let seq = 0; seq < 80; seq += 1) expect((await stream.take()).data.seq).to.equal(seq);
    await stream.close();
    await small.close();
  });

  it('read from a line on, wherever it stands, by stream and by text', async () => {
    const { id, ship } = await startJob();
    for (let batch = 0; batch < 6; batch += 1)
      await ship.lines(
        batch === 5 ? 'stderr' : 'stdout',
        Array.from({ length: 500 }, (_, at) => `line ${batch * 500 + at}`),
      );
    const seqsOf = async (query: string) => (await tail(id, query)).lines.map(({ seq }) => seq);
    expect(await seqsOf('?from=0&tail=3')).to.deep.equal([0, 1, 2]);
    expect(await seqsOf('?from=2998&tail=9')).to.deep.equal([2998, 2999]);
    expect(await seqsOf('?from=3000')).to.deep.equal([]);
    expect(await seqsOf('?from=10&tail=2&stream=stderr')).to.deep.equal([2500, 2501]);
    expect(await seqsOf('?from=10&tail=2&search=line%2077')).to.deep.equal([77, 770]);
  });

  describe('frames', () => {
    it('need no query of their own', async () => {
      const { ship } = await startJob();
      await ship.lines('stdout', ['first']);
      const queries: string[] = [];
      const note = ({ sql }: { sql: string }) => void queries.push(sql);
      rig.kernel.db.on('query', note);
      for (let count = 0; count < 20; count += 1) await ship.lines('stdout', ['line']);
      rig.kernel.db.off('query', note);
      // Others go on meanwhile: the scheduler, the watch of tokens, the sign of life that is written every 5 s whatever an agent sends.
      const others = /`(nodes|slots|cpu_claims|tokens)`|from `jobs` where `(status|retry_at)`/;
      expect(queries.filter((sql) => !others.test(sql))).to.deep.equal([]);
    });

    it('are acknowledged by the mark, stored once, and told by batches', async () => {
      const { id, ship } = await startJob();
      expect(await ship.lines('stdout', ['one', 'two'])).to.equal(10);
      const again: LogsFrame = { ...ship.frame('stdout', ['one', 'two']), from: 0, to: 10 };
      expect(await ship.send(again)).to.equal(10);
      expect(await ship.send({ ...again, from: 20, to: 30 })).to.equal(10);
      await ship.lines('stderr', ['oops']);
      const { lines, dropped } = await tail(id);
      expect(lines.map(({ seq, stream, text }) => `${seq} ${stream} ${text}`)).to.deep.equal([
        '0 stdout one',
        '1 stdout two',
        '2 stderr oops',
      ]);
      expect(dropped).to.equal(0);
      const told = batches.filter(({ job_id }) => job_id === id);
      expect(told.map(({ lines: batch }) => textsOf(batch))).to.deep.equal([['one', 'two'], ['oops']]);
    });

    it('that give lines up say so in the record, in the log itself, in its stream and in the download', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['one']);
      const at = Date.UTC(2026, 10, 20, 12, 30);
      await ship.send({ ...ship.frame('stdout', []), to: 900, dropped: 41, ts: at });
      await ship.lines('stdout', ['behind']);
      const notice =
        '[svc] 41 lines were given up here at 2026-11-20T12:30:00.000Z: the log spool of the node was full';
      const { lines, dropped } = await tail(id);
      expect(dropped).to.equal(41);
      expect(lines.map(({ seq, text }) => `${seq} ${text}`)).to.deep.equal([
        '0 one',
        `1 ${notice}`,
        '2 behind',
      ]);
      expect(lines[1]).to.include({ ts: at, stream: 'stdout' });
      expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal(`one\n${notice}\nbehind\n`);
      const client = await rig.kernel.sse(`/jobs/${id}/logs/stream`, { token: rig.tokens.read });
      expect(await take(client, 3)).to.deep.equal(['0 one', `1 ${notice}`, '2 behind']);
      await client.close();
    });

    it('that skip bytes without a line in them leave no trace', async () => {
      const { id, ship } = await startJob();
      expect(await ship.send({ ...ship.frame('stdout', []), to: 700 })).to.equal(700);
      await ship.lines('stdout', ['one']);
      const { lines, dropped } = await tail(id);
      expect(textsOf(lines)).to.deep.equal(['one']);
      expect(dropped).to.equal(0);
    });

    it('whose times go back and forth are in the order in which they came', async () => {
      const { id, ship } = await startJob();
      const times = [5000, 3_600_000, 10, 0, 8_640_000_000_000_000, 6000];
      for (const ts of times) await ship.lines('stdout', [`at ${ts}`], { ts });
      const { lines } = await tail(id);
      expect(lines.map(({ seq, ts, text }) => ({ seq, ts, text }))).to.deep.equal(
        times.map((ts, seq) => ({ seq, ts, text: `at ${ts}` })),
      );
      expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal(
        times.map((ts) => `at ${ts}\n`).join(''),
      );
    });

    it('of an attempt of another node are refused, and its agent is told to go on', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['mine']);
      const stranger = await rig.agent();
      const forged: LogsFrame = { ...ship.frame('stdout', ['forged']), from: 10, to: 99 };
      expect(await shipper(stranger, id).send(forged)).to.equal(99);
      for (const job_id of ['job_01HZZZZZZZZZZZZZZZZZZZZZZZ', '../../etc']) {
        expect(await shipper(agent, job_id).send({ ...forged, job_id, from: 0, to: 5 })).to.equal(5);
      }
      expect(textsOf((await tail(id)).lines)).to.deep.equal(['mine']);
    });

    it('go on from the position that the hello is answered by', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['a']);
      await ship.lines('stderr', ['b', 'c'], { dropped: 4 });
      await agent.close();
      const report = {
        job_id: id,
        attempt: 1,
        state: 'running' as const,
        pid: 1,
        started_at: 1,
        exit: null,
        finished_at: null,
      };
      const { log_positions } = await agent.connect({ attempts: [report] });
      const own = log_positions.filter(({ job_id }) => job_id === id);
      expect(own.map(({ stream, offset, lines }) => `${stream} ${offset} ${lines}`)).to.deep.equal([
        'stdout 5 1',
        'stderr 10 6',
      ]);
    });

    it('wait at their agent while the disk is full', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['before']);
      renameSync(pathOf(id), `${pathOf(id)}.aside`);
      symlinkSync('/dev/full', pathOf(id));
      const frame = ship.frame('stdout', ['while full']);
      expect(await ship.send(frame)).to.equal(frame.from);
      renameSync(`${pathOf(id)}.aside`, pathOf(id));
      expect(await ship.send(frame)).to.equal(frame.to);
      expect(textsOf((await tail(id)).lines)).to.deep.equal(['before', 'while full']);
    });
  });

  describe('tail', () => {
    it('answers by stream, number, attempt and text', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['epoch 1', 'epoch 2', 'done']);
      await ship.lines('stderr', ['warning: epoch']);
      expect(textsOf((await tail(id, '?stream=stderr')).lines)).to.deep.equal(['warning: epoch']);
      expect(textsOf((await tail(id, '?tail=2')).lines)).to.deep.equal(['done', 'warning: epoch']);
      expect(textsOf((await tail(id, '?search=epoch&tail=2')).lines)).to.deep.equal([
        'epoch 2',
        'warning: epoch',
      ]);
      expect(await tail(id, '?attempt=1')).to.deep.include({ attempt: 1, dropped: 0 });
    });

    it('is empty for a job without a log, and 404 for what there is not', async () => {
      const { id } = await rig.submit({ node_selector: { node: 'nowhere' } });
      expect(await tail(id)).to.deep.equal({ job_id: id, attempt: 1, lines: [], dropped: 0 });
      expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal('');
      for (const path of ['logs', 'logs/download', 'logs/stream']) {
        expect((await rig.get(`/jobs/${id}/${path}?attempt=2`)).status).to.equal(404);
        expect((await rig.get(`/jobs/job_01HZZZZZZZZZZZZZZZZZZZZZZZ/${path}`)).status).to.equal(404);
        expect((await rig.get(`/jobs/..%2F..%2Fetc/${path}`)).status).to.equal(404);
        expect((await rig.get(`/jobs/${id}/${path}?attempt=0`)).status).to.equal(422);
        expect((await rig.get(`/jobs/${id}/${path}?stream=stdin`)).status).to.equal(422);
      }
      for (const query of ['tail=0', 'tail=2001', 'tail=x', 'search=', 'colour=red']) {
        expect((await rig.get(`/jobs/${id}/logs?${query}`)).status, query).to.equal(422);
      }
      expect((await rig.get(`/jobs/${id}/logs`, rig.tokens.sdk)).status).to.equal(403);
    });

    it('and download have every line after the log was compressed, and after the server was started again', async () => {
      const { id, ship } = await startJob();
      const texts = Array.from({ length: 5000 }, (_, index) => `line ${index} ü`);
      for (let start = 0; start < texts.length; start += 1000)
        await ship.lines('stdout', texts.slice(start, start + 1000));
      await ship.lines('stderr', ['error']);
      await ship.end();
      await until(() => existsSync(`${pathOf(id)}.gz`) && !existsSync(pathOf(id)));
      const { body, headers } = await rig.get(`/jobs/${id}/logs/download`);
      expect(body).to.equal(`${[...texts, 'error'].join('\n')}\n`);
      expect(headers.get('content-type')).to.include('text/plain');
      expect((await rig.get(`/jobs/${id}/logs/download?stream=stderr`)).body).to.equal('error\n');
      expect(textsOf((await tail(id, '?search=line 123&tail=3')).lines)).to.deep.equal([
        'line 1237 ü',
        'line 1238 ü',
        'line 1239 ü',
      ]);
      expect((await tail(id, '?tail=2000')).lines.at(-1)).to.include({ seq: 5000, text: 'error' });
    });
  });

  describe('stream', () => {
    const open = (id: string, query = '', lastEventId?: string): Promise<SseClient> =>
      rig.kernel.sse(`/jobs/${id}/logs/stream${query}`, {
        token: rig.tokens.read,
        ...(lastEventId && { lastEventId }),
      });

    it('sends a recent tail, then live lines, then the end', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['old', 'newer', 'newest']);
      const client = await open(id, '?tail=2');
      expect(await take(client, 2)).to.deep.equal(['1 newer', '2 newest']);
      await ship.lines('stderr', ['live']);
      expect(await take(client, 1)).to.deep.equal(['3 live']);
      agent.end(id);
      await rig.reach(id, 'SUCCEEDED');
      await ship.lines('stdout', ['last words']);
      await ship.end();
      expect(await rest(client)).to.deep.equal(['4 last words', 'end']);
    });

    it('resumes behind Last-Event-ID without a gap or a double, far back too', async () => {
      const { id, ship } = await startJob();
      const texts = Array.from({ length: 6000 }, (_, index) => `${index}`);
      for (let start = 0; start < texts.length; start += 500)
        await ship.lines('stdout', texts.slice(start, start + 500));
      for (const last of [10, 5990]) {
        const client = await open(id, '', String(last));
        const got = await take(client, 5999 - last);
        expect(got).to.deep.equal(texts.slice(last + 1).map((text) => `${text} ${text}`));
        await client.close();
      }
      agent.end(id);
      await ship.end();
      await rig.reach(id, 'SUCCEEDED');
      expect(await rest(await open(id, '', '5997'))).to.deep.equal(['5998 5998', '5999 5999', 'end']);
      expect(await rest(await open(id, '', '5999'))).to.deep.equal(['end']);
      expect(await rest(await open(id, '?tail=1', 'nonsense'))).to.deep.equal(['5999 5999', 'end']);
      expect(await rest(await open(id, '?tail=0'))).to.deep.equal(['end']);
      expect(await rest(await open(id, '?tail=2&stream=stderr'))).to.deep.equal(['end']);
    });

    it('ends for an attempt that never has a log', async () => {
      const queued = await rig.submit({ node_selector: { node: 'nowhere' } });
      const client = await open(queued.id);
      await rig.post(`/jobs/${queued.id}/cancel`);
      expect(await rest(client)).to.deep.equal(['end']);

      const failed = await rig.submit({ node_selector: { node: agent.nodeId } });
      await agent.dispatchOf(failed.id);
      const waiting = await open(failed.id);
      const exit = { kind: 'dispatch_failed', message: 'no such file' } as const;
      agent.report({ job_id: failed.id, attempt: 1, state: 'ended', started_at: null, exit });
      expect(await rest(waiting)).to.deep.equal(['end']);
    });

    it('of a job that has been retried ends, and the new attempt has a log of its own', async () => {
      const { id, ship } = await startJob();
      await ship.lines('stdout', ['first attempt']);
      await ship.end();
      const client = await open(id, '?attempt=1');
      expect(await take(client, 1)).to.deep.equal(['0 first attempt']);
      agent.report({ job_id: id, attempt: 1, state: 'ended', exit: { kind: 'lost', reason: 'gone' } });
      await rig.reach(id, 'LOST');
      await rig.post(`/jobs/${id}/retry`);
      expect(await rest(client)).to.deep.equal(['end']);
      await agent.startJob(id, 2);
      await shipper(agent, id, 2).lines('stdout', ['second attempt']);
      const resumed = await open(id, '', '5000');
      expect(await take(resumed, 1)).to.deep.equal(['0 second attempt']);
      await resumed.close();
      expect(textsOf((await tail(id)).lines)).to.deep.equal(['second attempt']);
      expect(textsOf((await tail(id, '?attempt=1')).lines)).to.deep.equal(['first attempt']);
    });
  });

  const whenSetBack = { '': 0, ', also when the clock is set back an hour then': -3_600_000 };
  for (const [when, setBackMs] of Object.entries(whenSetBack))
    it(`of an attempt whose node never comes back end 15 s after it was given up${when}`, async () => {
      const clock = fakeClock(Date.now());
      const slow = await Rig.start({ plugins: [logs()], clock });
      try {
        const gone = await slow.agent();
        const { id } = await slow.submit();
        await gone.startJob(id);
        await slow.reach(id, 'RUNNING');
        await shipper(gone, id).lines('stdout', ['the last that was heard']);
        gone.report({ job_id: id, attempt: 1, state: 'ended', exit: { kind: 'lost', reason: 'gone' } });
        await slow.reach(id, 'LOST');
        const client = await slow.kernel.sse(`/jobs/${id}/logs/stream`, { token: slow.tokens.read });
        expect(await take(client, 1)).to.deep.equal(['0 the last that was heard']);
        let isOver = false;
        const ended = rest(client).then((messages) => ((isOver = true), messages));
        await clock.advance(60_000);
        await clock.advance(setBackMs);
        await slow.post(`/jobs/${id}/cancel`);
        await slow.reach(id, 'CANCELLED');
        await clock.advance(14_000);
        expect(isOver).to.equal(false);
        await clock.advance(2_000);
        expect(await ended).to.deep.equal(['end']);
      } finally {
        await slow.close();
      }
    });

  it('are had from the files by a server that is started again', async () => {
    const dataDir = join(rig.kernel.dataDir, 'another');
    mkdirSync(dataDir);
    let second = await Rig.start({ plugins: [logs()], dataDir });
    const other = await second.agent();
    const { id } = await second.submit();
    await other.startJob(id);
    await second.reach(id, 'RUNNING');
    await shipper(other, id).lines('stdout', ['kept', 'lines']);
    await second.close();
    second = await Rig.start({ plugins: [logs()], dataDir });
    try {
      expect(textsOf((await second.get(`/jobs/${id}/logs`)).body.lines)).to.deep.equal(['kept', 'lines']);
    } finally {
      await second.close();
      rmSync(dataDir, { recursive: true });
    }
  });
});

async function take(client: SseClient, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) taken.push(toText(await client.take()));
  return taken;
}

async function rest(client: SseClient): Promise<string[]> {
  const taken: string[] = [];
  for await (const message of client) taken.push(toText(message));
  return taken;
}

function toText({
  id,
  event,
  data,
}: {
  id: string | null;
  event: string | null;
  data: { text: string };
}): string {
  return event ?? `${id} ${data.text}`;
}
