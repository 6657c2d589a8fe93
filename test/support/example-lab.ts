import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { routes, type Job, type JobSubmit, type MetricValue, type Run } from '@svc/contract';
import type { Client } from '@svc/client';
import { until } from '@svc/kernel/testing';
import { StandIn } from '../../plugins/gpu-nvidia/testing/stand-in.js';
import { ROOT } from './program.js';
import { createWorkplace, submit, untilJob, untilPrinted, type Server } from './workplace.js';

export const HOSTILE_NAME = '<img src=x onerror="document.title=1"> & "quotes" \u202Eevil';
export const LONG_NAME = 'a-very-long-name-without-a-space-'.repeat(6);
const HEBREW_NAME = 'אימון של רשת, ניסוי 3';
const LONG_AGO_MS = 50 * 60_000;
const SWEEP_STEPS = 300;

/** What an OutOfMemoryError of PyTorch looks like in the log of a job. */
const OUT_OF_MEMORY = `
for step in $(seq 1 40); do printf 'step %s loss 2.%s lr 3.0e-04\\n' $step $((900 - step * 7)); done
printf '\\033[33mwarning: the batch is larger than in the last run\\033[0m\\n' >&2
cat >&2 <<'END'
Traceback (most recent call last):
  File "/data/train.py", line 118, in <module>
    loss = step(batch)
  File "/data/train.py", line 64, in step
    logits = model(batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.12 GiB is free.
END
exit 1`;
const STEADY_LINES = `step=0; while :; do step=$((step + 1)); echo "step $step loss 0.$((900 - step % 700)) tokens/s 18421"; sleep 1; done`;

/** A server with what a small group has there after an hour of work; all of it is real but the GPUs, for which a stand-in of nvidia-smi answers. */
export interface ExampleLab {
  readonly server: Server;
  readonly writeToken: string;
  readonly readToken: string;
  /** For the addresses of pages. */
  readonly ids: ExampleIds;
  close(): Promise<void>;
}

export interface ExampleIds {
  readonly runningJob: string;
  readonly failedJob: string;
  readonly waitingJob: string;
  readonly exampleJob: string;
  readonly exampleRun: string;
  readonly liveRun: string;
  readonly brokenRun: string;
  readonly hostileRun: string;
  readonly sweep: readonly string[];
  readonly node: string;
  readonly project: string;
  readonly experiment: string;
  readonly checkpoint: string;
}

/** `python`: runs the example training; null leaves out its job, and `exampleRun` is a run of the sweep. */
export async function openExampleLab(python: string | null): Promise<ExampleLab> {
  const workplace = createWorkplace();
  const processes = [0, 1, 2].map((gpu) => ({ gpu, pid: process.pid, mb: 31_000 + gpu * 9_000 }));
  const smi = new StandIn({ recording: '570-h100.xml', gpus: 8, processes });
  const close = async () => {
    await workplace.close();
    smi.remove();
  };
  try {
    const server = await workplace.startServer();
    const tokenOf = async (scope: 'agent' | 'read' | 'write') =>
      (await server.client.call(routes.createToken, { body: { name: scope, scope } })).token;
    const env = {
      PATH: `${smi.dir}:${process.env['PATH']}`,
      SVC_URL: server.url,
      SVC_TOKEN: await tokenOf('agent'),
    };
    const stateDir = path.join(workplace.dir, 'agent');
    const agent = workplace.start(['agent', '--name', 'gpu-node-1', '--state-dir', stateDir], env);
    await untilPrinted(agent, /(connected)/, 'stderr');
    const node = await untilNode(server.client);
    const jobs = await submitJobs(server.client, python);
    const runs = await reportRuns(server.client);
    const exampleRun = jobs.example === null ? (runs.sweep[0] as string) : jobs.example.run_id!;
    const { checkpoint } = await evaluateCheckpoints(server.client, runs.sweep, workplace.dir);
    const { project_id, experiment_id } = await server.client.call(routes.getRun, {
      params: { run_id: runs.sweep[0]! },
    });
    await server.client.call(routes.setPrimaryMetric, {
      body: { name: 'val/accuracy', project_id: project_id! },
    });
    return {
      server,
      writeToken: await tokenOf('write'),
      readToken: await tokenOf('read'),
      ids: {
        runningJob: jobs.running.id,
        failedJob: jobs.failed.id,
        waitingJob: jobs.waiting.id,
        exampleJob: jobs.example?.id ?? jobs.running.id,
        exampleRun,
        ...runs,
        node,
        project: project_id!,
        experiment: experiment_id!,
        checkpoint,
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilNode(client: Client): Promise<string> {
  const read = async () =>
    (await client.call(routes.listNodes)).items.find(({ slots }) => slots.length === 8);
  await until(async () => (await read()) !== undefined, { timeoutMs: 30_000 });
  return (await read())!.id;
}

async function submitJobs(client: Client, python: string | null) {
  const sh = (name: string, script: string, more: Partial<JobSubmit> = {}) =>
    submit(client, { name, command: ['sh', '-c', script], resources: { cpu_only: true }, ...more });
  const train = path.join(ROOT, 'examples/train-digits/train.py');
  const example =
    python === null
      ? null
      : await submit(client, {
          name: 'train-digits',
          command: [python, train, '--pace-ms', '0'],
          resources: { cpu_only: true },
          project: 'examples',
        });
  const running = await sh('pretrain-7b', STEADY_LINES, {
    project: 'language',
    resources: { gpu: 4 },
    env: { EPOCHS: '3', HF_TOKEN: 'hidden-from-readers' },
  });
  await sh(HOSTILE_NAME, STEADY_LINES, { project: HEBREW_NAME, resources: { gpu: 1 } });
  await sh(HEBREW_NAME, STEADY_LINES, { resources: { gpu: 1 } });
  const failed = await sh('resnet-152 batch=512', OUT_OF_MEMORY, { project: 'vision', max_attempts: 1 });
  const waiting = await sh('finetune-70b', 'true', { project: 'language', resources: { gpu: 8 } });
  await sh('needs-another-zone', 'true', { node_selector: { zone: 'eu-west' } });
  await sh(LONG_NAME.slice(0, 200), 'echo done', { project: 'vision' });
  const cancelled = await sh('stopped-by-hand', STEADY_LINES);
  const is = (status: Job['status']) => (job: Job) => job.status === status;
  await untilJob(client, running.id, is('RUNNING'));
  await untilJob(client, failed.id, is('FAILED'));
  await untilJob(client, cancelled.id, is('RUNNING'));
  await client.call(routes.cancelJob, { params: { job_id: cancelled.id } });
  await untilJob(client, cancelled.id, is('CANCELLED'));
  return {
    running,
    failed,
    waiting,
    example: example && (await untilJob(client, example.id, is('SUCCEEDED'), 120_000)),
  };
}

/** Between -0.5 and 0.5, the same on every machine. */
function noise(seed: number): number {
  const product = Math.sin(seed * 12.9898) * 43_758.5453;
  return product - Math.floor(product) - 0.5;
}

/** The curves of a training whose learning rate decides how well it goes. */
function pointsOf(seed: number, lr: number, steps: number, isBroken = false) {
  const floor = 0.25 + Math.abs(Math.log10(lr) + 3) * 0.3;
  const startMs = Date.now() - LONG_AGO_MS;
  let seq = 0;
  return Array.from({ length: steps }, (_, step) => {
    const loss = floor + 2.1 * Math.exp(-step / 45) + 0.12 * noise(seed * 7_919 + step * 13);
    const values: Record<string, MetricValue> = {
      'train/loss': isBroken && step > steps * 0.7 ? 'NaN' : loss,
      'train/grad_norm': 1.2 + noise(seed * 31 + step) + (step % 97 === 96 ? 9 : 0),
      'optim/lr': lr * Math.min(1, step / 30) * (0.5 + 0.5 * Math.cos((Math.PI * step) / SWEEP_STEPS)),
      'perf/samples_per_s': 1_840 + 60 * noise(seed + step * 3),
      epoch: Math.floor(step / 60),
    };
    if (step % 10 === 0) {
      values['val/loss'] = loss + 0.05 + step / 8_000;
      values['val/accuracy'] = 1 / (1 + Math.exp(floor * 3 - step / 40)) - 0.02 * Math.abs(noise(step));
    }
    const ts = startMs + Math.round((step * LONG_AGO_MS) / SWEEP_STEPS);
    return Object.entries(values).map(([name, value]) => ({ seq: seq++, name, step, value, ts }));
  }).flat();
}

async function reportRuns(client: Client) {
  const create = async (
    name: string,
    config: Record<string, string | number>,
    more: { tags?: string[]; project?: string; experiment?: string } = {},
  ): Promise<Run> =>
    client.call(routes.createRun, {
      body: {
        name,
        config: { model: 'resnet-50', optimizer: 'adamw', weight_decay: 0.05, epochs: 5, ...config },
        environment: { hostname: 'gpu-node-1', python: '3.12.3', packages: ['numpy==2.1.0', 'torch==2.6.0'] },
        max_steps: SWEEP_STEPS,
        started_at: Date.now() - LONG_AGO_MS,
        ...more,
      },
    });
  const report = (run_id: string, points: ReturnType<typeof pointsOf>) =>
    client.call(routes.writePoints, { params: { run_id }, body: { points } });
  const finish = (run_id: string, status: 'SUCCEEDED' | 'FAILED') =>
    client.call(routes.finishRun, { params: { run_id }, body: { status } });

  const sweep: string[] = [];
  const place = { project: 'vision', experiment: 'resnet sweep' };
  for (const [at, lr] of [1e-4, 3e-4, 1e-3, 3e-3, 1e-2].entries())
    for (const batch of [128, 256]) {
      const { id } = await create(
        `resnet-50 lr=${lr} batch=${batch}`,
        { lr, batch },
        { tags: ['sweep'], ...place },
      );
      await report(id, pointsOf(at * 2 + batch, lr, SWEEP_STEPS));
      await finish(id, 'SUCCEEDED');
      sweep.push(id);
    }
  const live = await create('resnet-50 warm restart', { lr: 8e-4, batch: 256 }, { tags: ['base'], ...place });
  await report(live.id, pointsOf(77, 8e-4, 210));
  const broken = await create('resnet-50 lr=0.3', { lr: 0.3, batch: 256 }, place);
  await report(broken.id, pointsOf(5, 0.3, 120, true));
  await finish(broken.id, 'FAILED');
  const hostile = await create(
    HOSTILE_NAME,
    { [HOSTILE_NAME]: HOSTILE_NAME },
    { tags: [HEBREW_NAME, '<b>'], project: HEBREW_NAME },
  );
  const odd: [string, MetricValue[]][] = [
    [HOSTILE_NAME, [1, 'NaN', 'Infinity', 3]],
    [LONG_NAME.slice(0, 180), [1e301, -1e301]],
    ['one/point', [0.5]],
  ];
  let seq = 0;
  await report(
    hostile.id,
    odd.flatMap(([name, values]) =>
      values.map((value, step) => ({ seq: seq++, name, step, value, ts: Date.now() })),
    ),
  );
  return { sweep, liveRun: live.id, brokenRun: broken.id, hostileRun: hostile.id };
}

/** Three checkpoints of each of the first runs, one of which is evaluated by a job. */
async function evaluateCheckpoints(client: Client, runs: readonly string[], dir: string) {
  let last = '';
  for (const run_id of runs.slice(0, 4))
    for (const step of [100, 200, 299]) {
      const file = path.join(dir, 'checkpoints', run_id, `step-${step}`);
      mkdirSync(file, { recursive: true });
      const body = { path: file, step, size: 102_400_000 + step };
      last = (await client.call(routes.createCheckpoint, { params: { run_id }, body })).id;
    }
  const result = JSON.stringify({ metrics: { 'eval/accuracy': 0.913, 'eval/loss': 0.31 }, runtime_s: 12.5 });
  const { job_id } = await client.call(routes.createEvaluation, {
    params: { ckpt_id: last },
    body: {
      command: ['sh', '-c', `printf '%s' '${result}' > "$SVC_EVAL_OUTPUT"`],
      working_dir: dir,
      resources: { cpu_only: true },
      suite: 'heldout',
    },
  });
  await untilJob(client, job_id, ({ status }) => status === 'SUCCEEDED' || status === 'FAILED');
  return { checkpoint: last };
}
