import { FakeAgent } from '@svc/agent/testing';
import { SCOPES, newId, routes, type Scope } from '@svc/contract';
import { createWorkplace, submit, type Server, type Workplace } from '../support/workplace.js';
import { HealthProbe } from './health-probe.js';
import { Sender } from './send.js';

const CALIBRATION_MS = 1_500;
const CALIBRATION_SENDERS = 8;

/** The built server as a process of its own, a token of each scope, something of each kind, and who watches /health. */
export interface Lab {
  readonly workplace: Workplace;
  readonly server: Server;
  readonly sender: Sender;
  readonly probe: HealthProbe;
  readonly tokens: Readonly<Record<Scope, string>>;
  /** Identifiers that exist, by path parameter; but no node has that id. */
  readonly ids: Readonly<Record<string, string>>;
  /** An agent that does what the case says, with a node of its own. */
  agent(name: string): FakeAgent;
  close(): Promise<void>;
}

/** `prepare` may answer further arguments of `svc server`. */
export async function openLab(prepare: (workplace: Workplace) => readonly string[] = () => []): Promise<Lab> {
  const workplace = createWorkplace();
  const args = prepare(workplace);
  const server = await workplace.startServer({ args, env: { SVC_LOG_LEVEL: 'warn' } });
  const sender = new Sender(server.url);
  const probe = new HealthProbe(server);
  const tokens = await makeTokens(server);
  const ids = await makeRecords(server);
  const agents: FakeAgent[] = [];
  await probe.calibrate(() => sendNothing(sender));
  return {
    workplace,
    server,
    sender,
    probe,
    tokens,
    ids,
    agent(name) {
      const hello = { node_id: newId('node'), name, hostname: name, labels: { node: name } };
      const agent = new FakeAgent({ url: server.url, token: tokens.agent, hello });
      agents.push(agent);
      return agent;
    },
    async close() {
      for (const agent of agents) agent.cut();
      await probe.close();
      sender.close();
      await workplace.close();
    },
  };
}

/** As much as the cases send, to where it costs nothing. */
async function sendNothing(sender: Sender): Promise<void> {
  const untilMs = Date.now() + CALIBRATION_MS;
  const path = '/api/v1/no-such-path';
  const one = async (): Promise<void> => {
    while (Date.now() < untilMs) await sender.send({ path });
  };
  await Promise.all(Array.from({ length: CALIBRATION_SENDERS }, one));
}

async function makeTokens({ client }: Server): Promise<Record<Scope, string>> {
  const tokens = {} as Record<Scope, string>;
  for (const scope of SCOPES)
    tokens[scope] = (await client.call(routes.createToken, { body: { name: scope, scope } })).token;
  return tokens;
}

async function makeRecords({ client }: Server): Promise<Record<string, string>> {
  const project = await client.call(routes.createProject, { body: { name: 'p' } });
  const experiment = await client.call(routes.createExperiment, {
    body: { name: 'e', project_id: project.id },
  });
  const run = await client.call(routes.createRun, { body: { name: 'r', experiment: experiment.id } });
  const checkpoint = await client.call(routes.createCheckpoint, {
    params: { run_id: run.id },
    body: { path: '/out/checkpoint-0' },
  });
  // No agent of a case takes it.
  const job = await submit(client, { command: ['true'], node_selector: { node: 'none' } });
  const evaluation = await client.call(routes.createEvaluation, {
    params: { ckpt_id: checkpoint.id },
    body: { command: ['true'], node_selector: { node: 'none' } },
  });
  const spare = await client.call(routes.createToken, { body: { name: 'spare', scope: 'read' } });
  return {
    project_id: project.id,
    experiment_id: experiment.id,
    run_id: run.id,
    ckpt_id: checkpoint.id,
    eval_id: evaluation.id,
    job_id: job.id,
    token_id: spare.id,
    node_id: newId('node'),
    name: 'train/loss',
  };
}
