import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { importDirectory } from '../import/import-directory.js';
import { toReportLines } from '../import/report-lines.js';
import { print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';

export function addImportCommand(program: Command): void {
  withJson(program.command('import'))
    .description(
      'bring in runs that other tools have written to files, or that svc kept while it had no server',
    )
    .argument('<dir>', 'directory to look through, with all directories below it; or one file')
    .option('--project <project>', 'project of the runs, by name or id (default: what the source says)')
    .option(
      '--experiment <experiment>',
      'experiment of the runs, by name or id (default: what the source says)',
    )
    .option('--dry-run', 'only show what would come in')
    .addHelpText(
      'after',
      `
What it recognises: event files of TensorBoard, svc-offline folders, trainer_state.json of Hugging Face,
metrics.csv of Lightning, runs of MLflow (an mlruns folder, or its SQLite file), run folders of wandb.
Each run is imported once: the same command again brings in what has been added since, and goes on
where it was broken off.

Examples:
  svc import ./mlruns --dry-run
  svc import ./runs --project vision --experiment baseline`,
    )
    .action(importRuns);
}

interface ImportOptions extends JsonOptions {
  readonly project?: string;
  readonly experiment?: string;
  readonly dryRun?: boolean;
}

async function importRuns(
  directory: string,
  { dryRun = false, project, experiment, ...options }: ImportOptions,
): Promise<void> {
  const client = connect(options);
  const { report, error } = await importDirectory(client, { directory, dryRun, project, experiment });
  print(report, options.json, toReportLines);
  if (error !== null) throw error;
  if (!report.complete)
    throw new Failure('not everything came in; the reasons are above, and the same command goes on');
}
