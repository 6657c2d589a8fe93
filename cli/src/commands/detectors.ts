import { routes, type DetectorReplay, type ReplayedFinding } from '@svc/contract';
import type { Command } from 'commander';
import { UsageError } from '../failure.js';
import { print } from '../output/print.js';
import { styleOfSeverity, type Paint } from '../output/style.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findRun } from './find-record.js';

type Settings = Record<string, Record<string, unknown>>;

export function addDetectorsCommands(program: Command): void {
  const detectors = program.command('detectors').description('try out what notices trouble in runs');
  withJson(detectors.command('replay'))
    .description('show what the detectors would have told of the stored history of a run')
    .option('--run <run>', 'run to replay: id, the beginning or end of one, or a name (default: the newest)')
    .option(
      '--set <option>',
      'option of a detector in place of that of the server, as loss-spike.factor=5; may be repeated',
      addSetting,
      {},
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc detectors replay\n  svc detectors replay --run X8R2QF --set loss-spike.factor=5 --set oom.enabled=false',
    )
    .action(replay);
}

/** `NAME.OPTION=VALUE`, where the value is JSON. */
function addSetting(given: string, settings: Settings): Settings {
  const [, name = '', option = '', text = ''] = /^([a-z][a-z0-9-]*)\.(\w+)=(.+)$/.exec(given) ?? [];
  if (name === '') throw new UsageError(`--set ${given}: write NAME.OPTION=VALUE, as loss-spike.factor=5`);
  return { ...settings, [name]: { ...settings[name], [option]: toValue(text) } };
}

function toValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

interface ReplayOptions extends JsonOptions {
  readonly run?: string;
  readonly set: Settings;
}

async function replay({ run, set, ...options }: ReplayOptions): Promise<void> {
  const client = connect(options);
  const params = { run_id: await findRun(client, run) };
  print(
    await client.call(routes.replayDetectors, { params, body: { settings: set } }),
    options.json,
    toLines,
  );
}

function toLines({ findings, points, lines, samples, complete }: DetectorReplay, paint: Paint): string[] {
  const read = `${points} points, ${lines} lines and ${samples} samples of the host were replayed`;
  return [
    ...(findings.length > 0 ? toTable(COLUMNS, findings, paint) : ['nothing would have been told']),
    '',
    complete ? read : `${read}; the history is longer, and its end was not`,
  ];
}

const COLUMNS: readonly Column<ReplayedFinding>[] = [
  { title: 'TIME', cell: ({ at }) => new Date(at).toISOString() },
  { title: 'SEVERITY', cell: ({ severity }) => severity, style: ({ severity }) => styleOfSeverity(severity) },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'DETECTOR', cell: ({ detector }) => detector, optional: true },
  { title: 'TITLE', cell: ({ title }) => title, shrinks: true },
  { title: 'MESSAGE', cell: ({ message }) => message, shrinks: true, optional: true },
];
