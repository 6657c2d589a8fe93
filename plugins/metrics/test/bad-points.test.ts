import type { MetricPoint } from '@svc/contract';
import { eachDatabase, type TestAnswer } from '@svc/kernel/testing';
import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { count, MetricsRig, point, type NewRun } from './support/metrics-rig.js';

/** A batch as it goes over the wire: JSON.stringify would change some numbers. */
const raw = (value: string) => `{"points":[{"seq":0,"name":"loss","step":0,"value":${value}}]}`;

describe('points that no training should send', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    let run: NewRun;
    before(async () => void (rig = await MetricsRig.start(database)));
    after(() => rig.close());
    beforeEach(async () => void (run = await rig.newRun()));

    const send = (body: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> =>
      rig.http.kernel.request('POST', `/runs/${run.id}/metrics:batch`, {
        token: run.ingest_token,
        body,
        headers,
      });
    const values = async () => (await rig.series(run))['loss']?.values;

    async function expectRefused(answer: TestAnswer, path: string, remedy: string): Promise<void> {
      expect(answer.status).to.equal(422);
      expect(answer.body.error.code).to.equal('validation_error');
      const [issue] = answer.body.error.details.errors as { path: string; message: string }[];
      expect(issue?.path).to.equal(path);
      expect(`${issue?.message}`).to.include(remedy);
      expect(await rig.series(run), 'nothing is stored').to.deep.equal({});
    }

    const refuses = (what: string, bad: Partial<Record<keyof MetricPoint, unknown>>, remedy: string) =>
      it(`${what}: the whole batch is refused`, async () => {
        const [field = ''] = Object.keys(bad);
        await expectRefused(
          await rig.write(run, [point(0), { ...point(1), ...bad }]),
          `points[1].${field}`,
          remedy,
        );
      });

    refuses('a name of 1 000 characters', { name: 'x'.repeat(1000) }, 'at most 250 characters');
    refuses('an empty name', { name: '' }, 'must not be empty');
    refuses('a name with control characters', { name: 'a\u0007b' }, 'none of them a control character');
    refuses('a name with a line break', { name: 'a\nb' }, 'none of them a control character');
    refuses('a value as string', { value: '0.5' }, 'a number or one of NaN, Infinity, -Infinity');
    refuses('a NaN in other letters', { value: 'nan' }, 'a number or one of NaN, Infinity, -Infinity');
    refuses('no number at all', { value: null }, 'a number or one of NaN, Infinity, -Infinity');
    refuses('a step as string', { step: '3' }, 'must be an integer, not a string');
    refuses('a fractional step', { step: 1.5 }, 'must be an integer');
    refuses('a step beyond 2^53', { step: 2 ** 53 }, 'at most 9007199254740991');
    refuses('a negative seq', { seq: -1 }, 'at least 0');
    refuses('a seq beyond 2^53', { seq: 2 ** 53 }, 'at most 9007199254740991');
    refuses('a fractional seq', { seq: 0.5 }, 'must be an integer');
    refuses('a ts in seconds with a fraction', { ts: 1_700_000_000.5 }, 'must be an integer');
    refuses('a ts that no date can have', { ts: 8.64e15 + 1 }, 'at most 8640000000000000');
    refuses('an epoch as string', { epoch: 'one' }, 'must be a number, not a string');

    it('an unknown field: refused, with the one that was meant', async () => {
      const { value: _value, ...rest } = point(0);
      const answer = await rig.write(run, [{ ...rest, valeu: 1 }]);
      expect(answer.status).to.equal(422);
      expect(JSON.stringify(answer.body.error.details)).to.include('value').and.to.include('points[0].valeu');
    });

    it('half a character in a name: refused', async () => {
      await expectRefused(await rig.write(run, [point(0, { name: '\ud800' })]), 'points', 'no valid Unicode');
    });

    it('an empty batch: refused', async () => {
      await expectRefused(await rig.write(run, []), 'points', 'at least 1 item');
      await expectRefused(await send({}), 'points', 'is required');
    });

    it('10 001 points: refused', async () => {
      const points = count(10_001).map((seq) => point(seq));
      await expectRefused(await rig.write(run, points), 'points', 'at most 10000 items');
    });

    it('100 000 distinct names in one run: the first 10 000 are taken, then a clear refusal; known ones go on', async () => {
      for (let start = 0; start < 100_000; start += 10_000) {
        const answer = await rig.write(
          run,
          count(10_000, start).map((seq) => point(seq, { name: `m/${seq}` })),
        );
        expect(answer.status).to.equal(start === 0 ? 200 : 422);
        if (start === 0) continue;
        expect(answer.body.error.message)
          .to.include('at most 10000 metrics')
          .and.to.include('has 10000 and the batch adds 10000')
          .and.to.include('A name must not hold what changes');
      }
      const known = await rig.write(run, [point(200_000, { name: 'm/0' })]);
      expect(known.body).to.deep.equal({ accepted: 1, duplicates: 0 });
    });

    it('a duplicate seq with another value: the first stands, the other is counted', async () => {
      const twice = [point(0, { value: 1 }), point(0, { value: 2 })];
      expect((await rig.write(run, twice)).body).to.deep.equal({ accepted: 1, duplicates: 1 });
      const again = point(0, { value: 3, name: 'other', step: 9 });
      expect((await rig.write(run, [again])).body).to.deep.equal({ accepted: 0, duplicates: 1 });
      expect(await rig.series(run)).to.have.all.keys('loss');
      expect(await values()).to.deep.equal([1]);
    });

    it('seq gaps, seq out of order: taken', async () => {
      const seqs = [Number.MAX_SAFE_INTEGER, 5, 1_000_000, 0];
      const answer = await rig.write(
        run,
        seqs.map((seq, step) => point(seq, { step, value: step })),
      );
      expect(answer.body).to.deep.equal({ accepted: 4, duplicates: 0 });
      expect((await rig.write(run, [point(3, { step: 4, value: 4 })])).body.accepted).to.equal(1);
      expect(await values()).to.deep.equal([0, 1, 2, 3, 4]);
    });

    it('steps that go back, and negative ones: taken, in order of their steps', async () => {
      await rig.write(
        run,
        [5, 6, 7].map((step, seq) => point(seq, { step, value: step })),
      );
      await rig.write(
        run,
        [6, -3, 0].map((step, index) => point(10 + index, { step, value: step + 0.5 })),
      );
      const { loss } = await rig.series(run);
      expect(loss?.steps).to.deep.equal([-3, 0, 5, 6, 6, 7]);
      expect(loss?.values).to.deep.equal([-2.5, 0.5, 5, 6, 6.5, 7]);
      expect((await rig.summary(run)).metrics['loss']?.latest).to.include({ step: 7, value: 7 });
    });

    it('NaN, Infinity and -Infinity as their words: taken and given back', async () => {
      const words = ['NaN', 'Infinity', '-Infinity'] as const;
      await rig.write(
        run,
        words.map((value, seq) => point(seq, { value })),
      );
      expect(await values()).to.deep.equal(words);
    });

    it('NaN as a JavaScript or Python client writes it: malformed JSON, naming the position', async () => {
      const answer = await send(raw('NaN'));
      expect(answer.status).to.equal(422);
      expect(answer.body.error.message).to.match(/malformed JSON at line 1, column \d+/);
    });

    for (const [text, value] of [
      ['1e308', 1e308],
      ['-1.7976931348623157e308', -Number.MAX_VALUE],
      ['5e-324', 5e-324],
      ['2.225e-310', 2.225e-310],
      ['-0', 0],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['18014398509481984', 2 ** 54],
      ['9007199254740993', 2 ** 53],
      ['0.1', 0.1],
    ] as const) {
      it(`the value ${text}: stored as the double ${value}`, async () => {
        expect((await send(raw(text))).status).to.equal(200);
        expect(await values()).to.deep.equal([value]);
      });
    }

    it('a number that is too large for a double: refused, naming the word to send', async () => {
      await expectRefused(await send(raw('1e400')), 'points[0].value', 'Infinity');
    });

    it('a clock that is decades off: taken, and health goes by the server’s clock', async () => {
      const [past, future] = [0, 8.64e15];
      await rig.write(run, [point(0, { ts: past }), point(1, { ts: future }), point(2)]);
      const { loss } = await rig.series(run);
      expect(loss?.ts.slice(0, 2)).to.deep.equal([past, future]);
      expect(loss?.ts[2]).to.be.within(Date.now() - 60_000, Date.now());
      expect((await rig.summary(run)).health).to.deep.equal({ status: 'ok', reasons: [] });
      expect((await rig.series(run, '?window_s=60'))['loss']?.steps).to.deep.equal([1, 2]);
    });

    it('a batch for another run’s token: forbidden', async () => {
      const other = await rig.newRun();
      const answer = await rig.write(run, [point(0)], other.ingest_token);
      expect(answer.status).to.equal(403);
      expect(answer.body.error.message).to.include(run.id);
      expect(await rig.series(run)).to.deep.equal({});
    });

    it('another content type: refused, naming the right one', async () => {
      const body = JSON.stringify({ points: [point(0)] });
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/x-ndjson']) {
        await expectRefused(
          await send(body, { 'Content-Type': type }),
          '',
          'send "Content-Type: application/json"',
        );
      }
    });

    it('a body that is compressed, or broken so: refused, saying so', async () => {
      const zipped = gzipSync(JSON.stringify({ points: [point(0)] }));
      for (const body of [zipped, zipped.subarray(0, 20)]) {
        await expectRefused(await send(body, { 'Content-Encoding': 'gzip' }), '', 'send it uncompressed');
      }
    });

    it('a body of 17 MiB: payload_too_large', async () => {
      const answer = await send(Buffer.alloc(17 * 1024 * 1024, ' '));
      expect(answer.status).to.equal(413);
      expect(answer.body.error.code).to.equal('payload_too_large');
      expect(answer.body.error.message).to.include(String(16 * 1024 * 1024));
    });

    it('a body that is cut short, or no object: refused, naming the position', async () => {
      for (const body of ['{"points":[', '[]', 'null', '']) {
        expect((await send(body)).status, body).to.equal(422);
      }
      expect(await rig.series(run)).to.deep.equal({});
    });
  });
});
