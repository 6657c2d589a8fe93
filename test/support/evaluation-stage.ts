import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createAgentLog, startAgent } from '@svc/agent';
import { killProcessesOf } from '@svc/agent/testing';
import type { Checkpoint, Evaluation, EvaluationResult, EventRecord, Job, Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { nodesRef } from '@svc/plugin-nodes';
import { Lab } from '../../plugins/evaluations/test/support/lab.js';
import agentConfig from '../../plugins/runner-process/test/support/agent-config.js';
import { createCuttingProxy, type CuttingProxy } from '../faults/cutting-proxy.js';

/** A result, and the words of a shell that leave it. */
export const RESULT: EvaluationResult = { metrics: { 'eval/acc': 0.91, loss: 'NaN' }, runtime_s: 12.5 };
export const WRITE_RESULT = `printf '%s' '${JSON.stringify(RESULT)}' > "$SVC_EVAL_OUTPUT"`;

const CPU = { resources: { cpu_only: true } };
/** Quick, and otherwise as in production. */
const TIMING = {
  jobs: { kill_grace_s: 0.5, tick_s: 0.2 },
  nodes: { heartbeat_s: 0.2, offline_after_s: 2 },
};

/** A real server and a real agent with a proxy between the two, and a checkpoint that a training has saved there. */
export interface EvaluationStage {
  readonly lab: Lab;
  readonly proxy: CuttingProxy;
  /** The working directory of the training, where the checkpoint lies too. */
  readonly dir: string;
  readonly stateDir: string;
  readonly training: Job;
  readonly run: Run;
  readonly checkpoint: Checkpoint;
  /** Evaluates the checkpoint with a shell script. */
  evaluate(script: string, more?: object): Promise<Evaluation>;
  ended(evaluation: Evaluation): Promise<Evaluation>;
  /** Its EVALUATION_FINISHED events. */
  finished(evaluation: Evaluation): Promise<EventRecord[]>;
  /** The results that the checkpoint shows. */
  attached(): Promise<readonly Evaluation[]>;
  isConnected(): Promise<boolean>;
}

export async function onEvaluationHost(prove: (stage: EvaluationStage) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'svc-evaluations-'));
  const lab = await Lab.open(TIMING);
  const proxy = await createCuttingProxy(Number(new URL(lab.kernel.url).port));
  const stateDir = path.join(dir, 'state');
  const agent = await startAgent({
    url: proxy.url,
    token: lab.tokens.agent,
    stateDir,
    virtualGpus: 0,
    plugins: agentConfig.plugins,
    log: createAgentLog({ write: () => {} }),
  });
  try {
    await agent.ready;
    const isConnected = async () =>
      (await lab.kernel.use(nodesRef).capacity(lab.kernel.db)).some(({ connected }) => connected);
    await prove({ lab, proxy, dir, stateDir, isConnected, ...(await train(lab, dir)) });
  } finally {
    await agent.close();
    await killProcessesOf(agent.nodeId);
    await proxy.close();
    await lab.close();
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function train(lab: Lab, dir: string) {
  const env = { SECRET: 'of the training' };
  const draft = { ...CPU, command: ['true'], name: 'digits', working_dir: dir, env };
  const { id } = await lab.post<Job>('/jobs', draft);
  const training = await lab.reach(id, 'SUCCEEDED');
  const run = await lab.get<Run>(`/runs/${training.run_id}`);
  const file = path.join(dir, 'checkpoint-120');
  await writeFile(file, 'weights');
  const checkpoint = await lab.checkpoint(run, 120, file);
  return {
    training,
    run,
    checkpoint,
    evaluate: (script: string, more: object = {}) =>
      lab.evaluate(checkpoint, { command: ['sh', '-c', script], ...more }),
    ended: async ({ id: evaluationId }: Evaluation) =>
      (await until(async () => {
        const now = await lab.evaluation(evaluationId);
        return now.status === 'QUEUED' ? null : now;
      })) as Evaluation,
    finished: ({ id: evaluationId }: Evaluation) => lab.finished(evaluationId),
    attached: async () => (await lab.get<Checkpoint>(`/checkpoints/${checkpoint.id}`)).metadata.evaluations,
  };
}
