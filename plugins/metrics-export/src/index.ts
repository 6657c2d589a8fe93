import { routes as contract, type ExportFormat } from '@svc/contract';
import { definePlugin, download } from '@svc/kernel';
import { metricsRef, type PointPage } from '@svc/plugin-metrics';
import { runsRef } from '@svc/plugin-runs';
import { Readable } from 'node:stream';
import { toCsv } from './csv.js';
import { toJsonLines } from './json-lines.js';
import { toParquet } from './parquet.js';

type Pages = AsyncIterable<PointPage>;

interface Format {
  readonly contentType: string;
  write(pages: Pages): AsyncIterable<string | Uint8Array>;
}

const FORMATS: Record<ExportFormat, Format> = {
  csv: { contentType: 'text/csv; charset=utf-8', write: toCsv },
  jsonl: { contentType: 'application/x-ndjson; charset=utf-8', write: toJsonLines },
  parquet: { contentType: 'application/vnd.apache.parquet', write: toParquet },
};

export const metricsExport = definePlugin({
  name: 'metrics-export',
  requires: ['metrics', 'runs'],
  setup(ctx) {
    const metrics = ctx.use(metricsRef);
    const runs = ctx.use(runsRef);
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      routes.add(contract.exportMetrics, async ({ params, query: { format = 'csv', names } }) => {
        const { id } = await runs.require(ctx.db, params.run_id);
        const { contentType, write } = FORMATS[format];
        const pages = metrics.points(id, names === undefined ? null : toNames(names));
        return download({
          filename: `${id}-metrics.${format}`,
          contentType,
          // Back-pressure: pages are read at the pace of the client, and reading stops when it disconnects.
          body: Readable.from(write(pages), { objectMode: false }),
        });
      }),
    );
  },
});

/** Names with NUL are left out: no metric has one, and PostgreSQL rejects such a query. */
function toNames(names: string): string[] {
  return names.split(',').filter((name) => name !== '' && !name.includes('\0'));
}
