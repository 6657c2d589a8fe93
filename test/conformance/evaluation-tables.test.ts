import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { routes, type Evaluation, type Job, type RouteSpec } from '@svc/contract';
import { expect } from 'chai';
import { onEvaluationHost, RESULT, WRITE_RESULT, type EvaluationStage } from '../support/evaluation-stage.js';

/** What three evaluations of one checkpoint have shown; every row below looks at it. */
interface Facts {
  readonly stage: Pick<EvaluationStage, 'checkpoint' | 'run' | 'training' | 'dir' | 'stateDir'>;
  readonly plain: Seen;
  readonly overridden: Seen;
  readonly invalid: Seen;
}

/** An evaluation that has ended, its job, and what its process wrote: the variables of its environment first. */
interface Seen {
  readonly created: Evaluation;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

const LABELS = { suite: 'heldout', dataset: 'digits', dataset_version: '2' };
const OVERRIDES = {
  working_dir: '/',
  env: { BATCH: '8' },
  resources: { gpu: 0, cpu_only: true },
  priority: 7,
  max_attempts: 2,
};
/** Beside the checkpoint: where the process runs, and its variables. */
const TELL = `(pwd; env) > "$SVC_EVAL_CHECKPOINT.$SVC_EVAL_ID"`;

async function gather(facts: (found: Facts) => void): Promise<void> {
  await onEvaluationHost(async (stage) => {
    const see = async (script: string, body: object = {}): Promise<Seen> => {
      const created = await stage.evaluate(`${TELL}; ${script}`, body);
      const evaluation = await stage.ended(created);
      return {
        created,
        evaluation,
        job: await stage.lab.job(created.job_id),
        ...(await told(stage, created)),
      };
    };
    const nodeName = (await stage.lab.get<{ items: { name: string }[] }>('/nodes')).items[0]!.name;
    const node_selector = { node: nodeName };
    facts({
      stage,
      plain: await see(WRITE_RESULT),
      overridden: await see(WRITE_RESULT, { ...LABELS, ...OVERRIDES, node_selector }),
      invalid: await see('echo 0.9 > "$SVC_EVAL_OUTPUT"'),
    });
  });
}

async function told({ checkpoint }: EvaluationStage, { id }: Evaluation): Promise<Pick<Seen, 'cwd' | 'env'>> {
  const [cwd = '', ...lines] = (await readFile(`${checkpoint.path}.${id}`, 'utf8')).trimEnd().split('\n');
  const env = Object.fromEntries(lines.map((line) => [line.split('=', 1)[0], line.replace(/^[^=]*=/, '')]));
  return { cwd, env };
}

type Row = readonly [title: string, check: (facts: Facts) => void];

const FIELDS: readonly Row[] = [
  [
    'id | string | evaluation id (eval_id)',
    ({ plain }) => expect(plain.evaluation.id).to.match(/^eval_[0-9A-HJKMNP-TV-Z]{26}$/),
  ],
  [
    'checkpoint reference, run reference | string',
    ({ plain, stage: { checkpoint, run } }) =>
      expect(plain.evaluation).to.include({ checkpoint_id: checkpoint.id, run_id: run.id }),
  ],
  [
    'job | string | the EVALUATE job',
    ({ plain: { evaluation, job } }) =>
      expect(job).to.include({ id: evaluation.job_id, type: 'EVALUATE', evaluation_id: evaluation.id }),
  ],
  ...(['suite', 'dataset', 'dataset_version'] as const).map((label): Row => {
    const notes = {
      suite: 'grouping label',
      dataset: 'dataset name',
      dataset_version: 'dataset version label',
    };
    return [
      `${label} | free text | ${notes[label]}`,
      ({ plain, overridden }) =>
        expect([plain.evaluation[label], overridden.evaluation[label]]).to.deep.equal([null, LABELS[label]]),
    ];
  }),
  [
    'metrics | map metric name to number',
    ({ plain }) => expect(plain.evaluation.metrics).to.deep.equal(RESULT.metrics),
  ],
  [
    'runtime_s | number | seconds',
    ({ plain }) => expect(plain.evaluation.runtime_s).to.equal(RESULT.runtime_s),
  ],
  [
    'status | enum | see States and transitions',
    ({ plain, invalid }) =>
      expect([plain.created.status, plain.evaluation.status, invalid.evaluation.status]).to.deep.equal([
        'QUEUED',
        'SUCCEEDED',
        'FAILED',
      ]),
  ],
  [
    'suite, dataset and dataset_version never influence script execution: they only group and filter',
    ({ overridden }) => {
      const told = Object.entries(overridden.env).flat().join('\n');
      for (const label of ['SUITE', 'DATASET', LABELS.suite, LABELS.dataset])
        expect(told).not.to.contain(label);
      expect(overridden.job.name).not.to.contain(LABELS.suite);
    },
  ],
];

const BODY: readonly Row[] = [
  [
    'command | array of string | the evaluation script command',
    ({ plain: { job } }) => expect(job.command).to.deep.equal(['sh', '-c', `${TELL}; ${WRITE_RESULT}`]),
  ],
  [
    'suite, dataset, dataset_version | string | optional labels',
    ({ plain, overridden }) => {
      expect(plain.created).to.deep.include({ suite: null, dataset: null, dataset_version: null });
      expect(overridden.created).to.deep.include(LABELS);
    },
  ],
  [
    'working_dir, env, resources, priority, node_selector, max_attempts | as in Job | optional overrides',
    ({ overridden: { job, cwd, env } }) => {
      const { env: given, ...rest } = OVERRIDES;
      expect(job).to.deep.include(rest);
      expect(job.env).to.include(given);
      expect(job.node_selector).to.have.all.keys('node');
      expect([cwd, env['BATCH']]).to.deep.equal(['/', '8']);
    },
  ],
  [
    'without overrides, the job inherits working_dir and resources from the training job',
    ({ plain: { job, cwd, env }, stage: { training, dir } }) => {
      expect(job).to.deep.include({
        working_dir: dir,
        resources: training.resources,
        priority: 0,
        max_attempts: 1,
      });
      expect(cwd).to.equal(dir);
      expect(env).not.to.have.property('SECRET');
    },
  ],
  [
    'the job is named eval:<run_name>:step<N> with the last 8 characters of the evaluation id, so two evaluations of one checkpoint have different job names',
    ({ plain, overridden }) => {
      for (const { job, evaluation } of [plain, overridden])
        expect(job.name).to.equal(`eval:digits:step120:${evaluation.id.slice(-8)}`);
      expect(plain.job.name).not.to.equal(overridden.job.name);
    },
  ],
];

const SCRIPT: readonly Row[] = [
  [
    'SVC_EVAL_CHECKPOINT | environment variable, absolute path of the checkpoint under evaluation',
    ({ plain: { env }, stage: { checkpoint } }) => {
      expect(env['SVC_EVAL_CHECKPOINT']).to.equal(checkpoint.path);
      expect(path.isAbsolute(checkpoint.path)).to.equal(true);
    },
  ],
  [
    'SVC_EVAL_ID | environment variable, evaluation id for correlation',
    ({ plain: { env, evaluation } }) => expect(env['SVC_EVAL_ID']).to.equal(evaluation.id),
  ],
  [
    'SVC_EVAL_OUTPUT | when not set explicitly the runner sets it to ~/.svc/jobs/{job_id}/attempt-{attempt}/eval_result.json',
    ({ plain: { env, job }, stage: { stateDir } }) =>
      expect(env['SVC_EVAL_OUTPUT']).to.equal(
        path.join(stateDir, 'jobs', job.id, `attempt-${job.attempt}`, 'eval_result.json'),
      ),
  ],
  [
    'Result JSON | object with metrics (object, metric name to number) and runtime_s (number)',
    ({ plain: { evaluation } }) => expect(evaluation).to.deep.include({ ...RESULT, status: 'SUCCEEDED' }),
  ],
  [
    'Exit code 0 without a valid result | job becomes FAILED, failure_reason EVALUATION_RESULT_INVALID',
    ({ invalid: { job, evaluation } }) => {
      expect(job).to.include({ status: 'FAILED', exit_code: 0, failure_reason: 'EVALUATION_RESULT_INVALID' });
      expect(job.failure_message).to.contain('eval_result.json is not a JSON object');
      expect(evaluation.error).to.equal(job.failure_message);
    },
  ],
];

const LIST = ['before', 'limit'];
const EVALUATION_FILTERS = ['run_id', 'checkpoint_id', 'status', 'suite', 'q', ...LIST];
const RANKED = ['dataset', 'dataset_version', 'metric', 'suite'];
/** Method, path, scope and query parameters; the lists take those of a page as well. */
const ENDPOINTS: readonly (readonly [RouteSpec, string, string, string, readonly string[]])[] = [
  [routes.createCheckpoint, 'POST', '/runs/{run_id}/checkpoints', 'ingest', []],
  [routes.listRunCheckpoints, 'GET', '/runs/{run_id}/checkpoints', 'read', LIST],
  [
    routes.recommendCheckpoint,
    'GET',
    '/checkpoints:recommend',
    'read',
    ['run_id', 'experiment_id', ...RANKED],
  ],
  [routes.getCheckpoint, 'GET', '/checkpoints/{ckpt_id}', 'read', []],
  [routes.createEvaluation, 'POST', '/checkpoints/{ckpt_id}/evaluations', 'write', []],
  [routes.listCheckpointEvaluations, 'GET', '/checkpoints/{ckpt_id}/evaluations', 'read', LIST],
  [routes.listEvaluations, 'GET', '/evaluations', 'read', EVALUATION_FILTERS],
  [routes.getEvaluation, 'GET', '/evaluations/{eval_id}', 'read', []],
  [routes.compareRuns, 'GET', '/runs/compare', 'read', ['ids', ...RANKED]],
  [routes.compareCheckpoints, 'GET', '/checkpoints/compare', 'read', ['ids', ...RANKED]],
  [routes.bestCheckpoint, 'GET', '/experiments/{experiment_id}/best-checkpoint', 'read', RANKED],
  [routes.explainRunFailure, 'GET', '/runs/{run_id}/failure', 'read', ['attempt']],
];

describe('the tables of evaluations', function () {
  this.timeout(120_000);
  let facts: Facts;
  before(() => gather((found) => (facts = found)));

  for (const [table, rows] of Object.entries({
    'the fields of an evaluation': FIELDS,
    'the body that creates an evaluation': BODY,
    'the contract of the evaluation script': SCRIPT,
  }))
    describe(table, () => {
      for (const [title, check] of rows) it(title, () => check(facts));
    });

  describe('the endpoints of checkpoints, evaluations and rankings', () => {
    for (const [route, method, url, scope, query] of ENDPOINTS)
      it(`${method} ${url} (${scope}) ${query.length > 0 ? `?${query.join('=&')}=` : ''}`, () => {
        expect(route).to.include({ method, path: url, scope });
        expect(Object.keys(route.query?.properties ?? {})).to.have.members([...query]);
      });
  });
});
