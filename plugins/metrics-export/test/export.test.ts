import type { ExportFormat, Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { Rig } from '../../runs/test/support/rig.js';
import { metricsExport } from '../src/index.js';
import { inOrder, readRows, row, toBatches, type Row } from './rows.js';

const UNKNOWN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';
const FORMATS: readonly ExportFormat[] = ['csv', 'jsonl', 'parquet'];

const ODD_ROWS: readonly Row[] = [
  row('train/loss', 0, 1, 0.1 + 0.2, 0.5),
  row('train/loss', 1, 2, NaN),
  row('train/loss', 2, 3, Infinity, 1e-7),
  row('train/loss', 3, 4, -Infinity, 1),
  row('train/loss', -7, 5, 5e-324),
  row('train/loss', 1, 6, 1.7976931348623157e308),
  row('comma, "quoted"', Number.MAX_SAFE_INTEGER, 7, -1.5),
  row('comma', 1, 12, 1),
  row('=1+1', 1, 8, 2),
  row('ünïcode 🚀', 1, 9, 1e21),
  row('back\\slash', 1, Number.MAX_SAFE_INTEGER, 1e-9),
];

describe('export of the points of a run', function () {
  this.timeout(120_000);
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database, plugins: [metrics(), metricsExport()] })));
    after(() => rig.close());

    async function runWith(rows: readonly Row[]): Promise<Run> {
      const run = (await rig.post('/runs', {}, rig.tokens.sdk)).body as Run;
      for (const points of toBatches(rows))
        expect((await rig.post(`/runs/${run.id}/metrics:batch`, { points })).status).to.equal(200);
      return run;
    }

    function open({ id }: { id: string }, query: string, token = rig.tokens.read): Promise<Response> {
      const headers = { Authorization: `Bearer ${token}` };
      return fetch(`${rig.kernel.url}/api/v1/runs/${id}/metrics/export?${query}`, { headers });
    }

    async function exported(run: Run, format: ExportFormat, names?: string): Promise<Row[]> {
      const filter = names === undefined ? '' : `&names=${encodeURIComponent(names)}`;
      const answer = await open(run, `format=${format}${filter}`);
      expect(answer.status).to.equal(200);
      return readRows(format, await answer.arrayBuffer());
    }

    for (const format of FORMATS) {
      describe(format, () => {
        it('has every point, exactly and in the order name, step, seq', async () => {
          const run = await runWith(ODD_ROWS);
          expect(await exported(run, format)).to.deep.equal(inOrder(ODD_ROWS));
        });

        it('has the metrics that are named, and nothing for a name that the run does not have', async () => {
          const run = await runWith(ODD_ROWS);
          const wanted = inOrder(ODD_ROWS).filter(({ name }) => name === '=1+1' || name === 'back\\slash');
          expect(await exported(run, format, 'back\\slash,=1+1,none\0,=1+1')).to.deep.equal(wanted);
        });

        it('of a run without points is a whole file without rows', async () => {
          expect(await exported(await runWith([]), format)).to.deep.equal([]);
        });

        it('goes over many pages and chunks, late points among them', async () => {
          const early = Array.from({ length: 40_000 }, (_, step) => row('loss', 2 * step, step, step / 7));
          const late = Array.from({ length: 500 }, (_, index) =>
            row('loss', 160 * index + 1, 50_000 + index, -index),
          );
          const other = Array.from({ length: 3000 }, (_, step) => row('acc', step, 60_000 + step, step));
          const run = await runWith([...early, ...other, ...late]);
          const rows = await exported(run, format);
          expect(rows).to.have.length(43_500);
          expect(digestOf(rows)).to.equal(digestOf(inOrder([...early, ...late, ...other])));
        });
      });
    }

    it('keeps the sign of zero where the store has it', async () => {
      const run = await runWith([]);
      await rig.post(
        `/runs/${run.id}/metrics:batch`,
        '{"points":[{"seq":0,"name":"z","step":0,"value":-0}]}',
      );
      for (const format of FORMATS) {
        const [zero] = await exported(run, format);
        expect(Object.is(zero?.value, -0), format).to.equal(true);
      }
    });

    it('in csv has no name that a spreadsheet takes for a formula, and leaves numbers alone', async () => {
      const names = ['=1+1', '+a', '-a', '@a', '=HYPERLINK("x","y")', 'a=1', "'a"];
      const run = await runWith(names.map((name, seq) => row(name, -3, seq, -1.5)));
      const lines = (await (await open(run, 'format=csv')).text()).trimEnd().split('\n').slice(1);
      const cells = lines.map((line) => line.slice(0, line.indexOf(',-3,')));
      expect(cells).to.have.members([
        "'=1+1",
        "'+a",
        "'-a",
        "'@a",
        `"'=HYPERLINK(""x"",""y"")"`,
        'a=1',
        "'a",
      ]);
      for (const line of lines) expect(line).to.contain(',-3,,-1.5,');
    });

    it('is a download with a name and a type', async () => {
      const run = await runWith(ODD_ROWS);
      const types = {
        csv: 'text/csv',
        jsonl: 'application/x-ndjson',
        parquet: 'application/vnd.apache.parquet',
      };
      for (const format of FORMATS) {
        const answer = await open(run, `format=${format}`);
        await answer.arrayBuffer();
        expect(answer.headers.get('content-type')?.split(';')[0]).to.equal(types[format]);
        const file = `${run.id}-metrics.${format}`;
        expect(answer.headers.get('content-disposition')).to.equal(`attachment; filename="${file}"`);
      }
    });

    it('has the columns of the contract as the first line of csv, which is the default', async () => {
      const run = await runWith([]);
      for (const query of ['format=csv', ''])
        expect(await (await open(run, query)).text()).to.equal('name,step,epoch,value,ts,seq\n');
    });

    it('refuses an unknown format, an unknown run and a caller without read scope', async () => {
      const run = await runWith([]);
      const unknown = await open(run, 'format=xlsx');
      expect(unknown.status).to.equal(422);
      expect(await unknown.text()).to.contain('csv');
      expect((await open({ id: UNKNOWN }, 'format=csv')).status).to.equal(404);
      expect((await open(run, 'format=csv', rig.tokens.agent)).status).to.equal(403);
    });
  });
});

/** What a comparison of tens of thousands of rows would print is of no use. */
function digestOf(rows: readonly Row[]): string {
  return rows.map(({ name, step, value, seq }) => `${name} ${step} ${value} ${seq}`).join('\n');
}
