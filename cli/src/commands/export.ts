import type { Client } from '@svc/client';
import { EXPORT_FORMATS, routes, type ExportFormat } from '@svc/contract';
import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Failure, UsageError } from '../failure.js';
import { note, writeOut } from '../output/print.js';
import { toSize } from '../output/format.js';
import { toPlainText } from '../output/table.js';
import { connect, withServer } from './connected.js';
import { findRun, NEEDED_RUN } from './find-record.js';
import { parseOneOf } from './parse.js';
import type { ConnectionOptions } from '../settings.js';

const SHOWN_NAMES = 20;

export function addExportCommand(program: Command): void {
  withServer(program.command('export'))
    .description('write every metric point of a run to a file: CSV, JSON lines or Parquet')
    .argument('<run>', NEEDED_RUN)
    .option(
      '--format <format>',
      `file format: ${EXPORT_FORMATS.join(', ')} (default: by the extension of the file, else csv)`,
      parseOneOf(EXPORT_FORMATS),
    )
    .option('--names <names>', 'only these metrics, separated by commas')
    .option('-o, --output <file>', 'file to write (default: standard output)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc export X8R2QF -o run.parquet\n  svc export X8R2QF --names train/loss,eval/acc | head',
    )
    .action(exportRun);
}

interface ExportOptions extends ConnectionOptions {
  readonly format?: ExportFormat;
  readonly names?: string;
  readonly output?: string;
}

async function exportRun(
  reference: string,
  { format, names, output, ...options }: ExportOptions,
): Promise<void> {
  const query = { format: format ?? toFormat(output), names };
  if (output === undefined && query.format === 'parquet' && process.stdout.isTTY)
    throw new UsageError('Parquet is a binary format: name a file with -o, or redirect standard output');
  const client = connect(options);
  const params = { run_id: await findRun(client, reference) };
  if (names !== undefined) await noteUnknownNames(client, params.run_id, names.split(','));
  const answer = await client.open(routes.exportMetrics, { params, query });
  const body = Readable.fromWeb(answer.body as ReadableStream);
  if (output === undefined) return void (await writeOut(body));
  const sizeBytes = await writeFile(body, output);
  note(`${output}: ${toSize(sizeBytes)}`);
}

/** The export has no points of them. */
async function noteUnknownNames(client: Client, run_id: string, names: readonly string[]): Promise<void> {
  const { metrics } = await client.call(routes.getRunSummary, { params: { run_id } });
  const unknown = names.filter((name) => name !== '' && !Object.hasOwn(metrics, name));
  if (unknown.length === 0) return;
  const known = Object.keys(metrics);
  const shown = known.slice(0, SHOWN_NAMES).join(', ') + (known.length > SHOWN_NAMES ? ', ...' : '');
  note(toPlainText(`the run has no metric ${unknown.join(', ')}; it has ${shown || 'none yet'}`));
}

/** By the extension of the file. Throws UsageError for one that is of no format. */
function toFormat(output: string | undefined): ExportFormat {
  const ending = path.extname(output ?? '').slice(1);
  const known = EXPORT_FORMATS.find((format) => format === ending.toLowerCase());
  if (known === undefined && ending !== '')
    throw new UsageError(
      `-o ${output}: .${ending} is no format of an export; name a file that ends in ${EXPORT_FORMATS.map((format) => `.${format}`).join(', ')}, or say --format`,
    );
  return known ?? 'csv';
}

/** Writes to a temporary file and renames it, so that a file with that name is never incomplete. */
async function writeFile(body: Readable, output: string): Promise<number> {
  const draft = `${output}.${process.pid}.tmp`;
  const file = createWriteStream(draft);
  try {
    await pipeline(body, file);
    await rename(draft, output);
    return file.bytesWritten;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new Failure(`cannot write ${output}: ${withoutFile(error as Error)}`, { cause: error });
  }
}

/** An error of the system names the temporary file. */
function withoutFile({ message }: Error): string {
  return message.replace(/, [a-z]+ '.*$/, '');
}
