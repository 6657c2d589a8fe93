import type { Client } from '@svc/client';
import { toDataDir } from '@svc/client/local-server';
import { routes, type Evaluation, type EvaluationSubmit, type MetricValue } from '@svc/contract';
import type { Command } from 'commander';
import path from 'node:path';
import { UsageError } from '../failure.js';
import { toNumber } from '../output/format.js';
import { note, print, printLines } from '../output/print.js';
import { createPaint, styleOfStatus, type Paint } from '../output/style.js';
import { toFields, toPlainText } from '../output/table.js';
import { completeFromHere, takeEnvironment } from '../submit/from-here.js';
import { checkFollow, createOnce, toGiven, toResources } from '../submit/submission.js';
import { isOnThisHost } from '../submit/this-host.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { CHECKPOINT_REFERENCE, findCheckpoint } from './find-record.js';
import { followJob } from './follow-job.js';
import { parseEnvPair, parseInteger, parsePair } from './parse.js';

export function addEvaluateCommand(program: Command): void {
  withJson(program.command('evaluate'))
    .description('evaluate a checkpoint: queues a job, whose result is attached to the checkpoint')
    .usage('[options] CHECKPOINT CMD [ARG...]')
    .argument('<checkpoint>', CHECKPOINT_REFERENCE)
    .argument('<command...>', 'program and its arguments; options of svc come before the checkpoint')
    .passThroughOptions()
    .option('--suite <name>', 'suite of the evaluation, as a label to group and filter by')
    .option('--dataset <name>', 'dataset of the evaluation, as a label')
    .option('--dataset-version <name>', 'version of the dataset, as a label')
    .option('--working-dir <dir>', 'directory on the node (default: that of the training job)')
    .option('--gpu <n>', 'number of GPUs (default: as the training job)', parseInteger)
    .option('--cpu-only', 'run without a GPU')
    .option('--priority <n>', 'priority from -1000 to 1000; higher runs first (default: 0)', parseInteger)
    .option('--no-venv', 'run without the virtual or conda environment that is active in this shell')
    .option(
      '--env <k=v>',
      'environment variable; K alone takes its value from this shell; may be repeated',
      parseEnvPair,
    )
    .option('--max-attempts <n>', 'number of attempts, with automatic retries (default: 1)', parseInteger)
    .option(
      '--node-selector <k=v>',
      'label that the node must have; may be repeated (default: the node that holds the checkpoint)',
      parsePair,
    )
    .option('-f, --follow', 'print the log, then the result, and exit with the exit code of the job')
    .addHelpText(
      'after',
      `
The command finds the path of the checkpoint in SVC_EVAL_CHECKPOINT, and writes
its result as JSON to the file that SVC_EVAL_OUTPUT names: the metrics, and how
many seconds it took. In Python:

  with open(os.environ["SVC_EVAL_OUTPUT"], "w") as file:
      json.dump({"metrics": {"eval/acc": 0.91}, "runtime_s": 1.5}, file)

Examples:
  svc evaluate X8R2QF python eval.py
  svc evaluate --follow checkpoint-120 python eval.py --batch 64
  svc evaluate --suite heldout --dataset digits checkpoint-120 python eval.py`,
    )
    .action(evaluate);
}

interface EvaluateOptions
  extends JsonOptions, Pick<EvaluationSubmit, 'suite' | 'dataset' | 'priority' | 'env'> {
  readonly datasetVersion?: string;
  readonly workingDir?: string;
  readonly gpu?: number;
  readonly cpuOnly?: boolean;
  readonly venv: boolean;
  readonly maxAttempts?: number;
  readonly nodeSelector?: Record<string, string>;
  readonly follow?: boolean;
}

async function evaluate(reference: string, words: string[], options: EvaluateOptions): Promise<void> {
  const command = toCommand(words);
  checkFollow(options);
  const client = connect(options);
  const ckpt_id = await findCheckpoint(client, reference);
  const body = {
    ...toEvaluationSubmit(command, options),
    ...(await completeEvaluation(client, ckpt_id, options)),
  };
  const evaluation = await createOnce((headers) =>
    client.call(routes.createEvaluation, { params: { ckpt_id }, body, headers }),
  );
  if (options.follow) return follow(client, evaluation);
  print(evaluation, options.json, ({ id }) => [id]);
  if (!options.json) note(`${evaluation.job_id} evaluates it; svc evaluations ${ckpt_id} shows the result`);
}

/** What neither the options nor a training job tell. */
async function completeEvaluation(
  client: Client,
  ckpt_id: string,
  options: EvaluateOptions,
): Promise<Partial<EvaluationSubmit>> {
  const { run_id } = await client.call(routes.getCheckpoint, { params: { ckpt_id } });
  const { job_id } = await client.call(routes.getRun, { params: { run_id } });
  if (job_id === null) return completeFromHere(client, { ...options, maxUploadMb: 0 });
  const isHere = await isOnThisHost(client.connection.url, toDataDir(options.dataDir));
  return takeEnvironment(options, isHere);
}

/** `--` may stand between the checkpoint and the command. */
export function toCommand(words: readonly string[]): string[] {
  const command = words[0] === '--' ? words.slice(1) : [...words];
  if (command.length === 0)
    throw new UsageError('what is to be run? As in svc evaluate CHECKPOINT python eval.py');
  if (words[0] === command[0] && command[0]?.startsWith('-'))
    throw new UsageError(`options come before the checkpoint: svc evaluate ${command[0]} ... CHECKPOINT CMD`);
  return command;
}

async function follow(client: Client, { id, job_id }: Evaluation): Promise<void> {
  const job = await client.call(routes.getJob, { params: { job_id } });
  process.exitCode = await followJob(client, job);
  const evaluation = await client.call(routes.getEvaluation, { params: { eval_id: id } });
  printLines(toEvaluationLines(evaluation, createPaint(process.stdout)));
}

export function toEvaluationLines(evaluation: Evaluation, paint: Paint): string[] {
  const { id, status, error, metrics } = evaluation;
  const values = Object.entries(metrics).map(
    ([name, value]: [string, MetricValue]) => [toPlainText(name), toNumber(value)] as const,
  );
  return [
    `${id}  ${paint(styleOfStatus(status), status)}`,
    ...(error === null ? [] : [toPlainText(error)]),
    ...toFields(values, paint),
  ];
}

/** What is not given is left out, so that what the training has holds. */
export function toEvaluationSubmit(command: string[], options: Partial<EvaluateOptions>): EvaluationSubmit {
  const { suite, dataset, datasetVersion, workingDir, priority, maxAttempts, nodeSelector, env } = options;
  const given = toGiven({
    suite,
    dataset,
    dataset_version: datasetVersion,
    priority,
    working_dir: workingDir === undefined ? undefined : path.resolve(workingDir),
    max_attempts: maxAttempts,
    node_selector: nodeSelector,
    env,
    resources: toResources(options),
  });
  return { command, ...given };
}
