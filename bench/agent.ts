/**
 * What an agent costs its host: the built one with 8 GPUs, measured every 2 s, sent every 5 s, with heartbeats every 25 s, connected to the built
 * server. A stand-in answers for nvidia-smi with documents of the size that H100s give, and a process on each GPU; what it costs itself is told
 * apart, and says nothing of the real one. With `--container` a job runs in a container of a Docker engine, and with `--lines` writes a line
 * each second.
 * Usage: npm run bench -- agent [--gpus 8] [--seconds 300] [--container [--lines]]
 */
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { DockerEngine, IMAGE } from '../plugins/runner-docker/test/support/docker-engine.js';
import { StandIn } from '../plugins/gpu-nvidia/testing/stand-in.js';
import { createWorkplace, submit, untilJob, untilPrinted } from '../test/support/workplace.js';
import { MemoryWatch } from './support/memory.js';
import { childrenOf, cpuSecondsOf } from './support/process-tree.js';
import { printTable } from './support/report.js';

/** Starting is not counted. */
const SETTLE_MS = 20_000;

const { values } = parseArgs({
  options: {
    gpus: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '300' },
    container: { type: 'boolean', default: false },
    lines: { type: 'boolean', default: false },
  },
});
const gpus = Number(values.gpus);
const seconds = Number(values.seconds);

const processes = Array.from({ length: gpus }, (_, gpu) => ({ gpu, pid: process.pid, mb: 40_000 }));
const smi = new StandIn({ recording: '570-h100.xml', gpus, processes });
const workplace = createWorkplace();
process.env['SVC_TEST_DOCKERD'] ??= 'dockerd';
const engine = values.container ? await DockerEngine.create() : null;
try {
  const server = await workplace.startServer();
  const { token } = await server.client.call(routes.createToken, { body: { name: 'bench', scope: 'agent' } });
  const env = {
    PATH: `${smi.dir}:${process.env['PATH']}`,
    SVC_URL: server.url,
    SVC_TOKEN: token,
    DOCKER_HOST: engine === null ? '' : `unix://${engine.socket}`,
  };
  const agent = workplace.start(['agent', '--state-dir', `${workplace.dir}/agent`], env);
  await untilPrinted(agent, /(connected)/, 'stderr');
  await until(async () => {
    const { items } = await server.client.call(routes.listNodes);
    return items[0]?.slots.length === gpus;
  });
  if (engine !== null) {
    const job = await submit(server.client, {
      command: ['sh', '-c', `while :; do ${values.lines ? 'date; ' : ''}sleep 1; done`],
      runner: 'docker',
      runner_options: { image: IMAGE, pull: 'never' },
      resources: { cpu_only: true },
    });
    await untilJob(server.client, job.id, ({ status }) => status === 'RUNNING');
  }
  await delay(SETTLE_MS);
  const memory = new MemoryWatch(agent.pid);
  const [child] = childrenOf(agent.pid);
  if (child === undefined) throw new Error('the agent runs no nvidia-smi');
  const childMemory = new MemoryWatch(child);
  const before = { agent: cpuSecondsOf(agent.pid), child: cpuSecondsOf(child) };
  await delay(seconds * 1000);
  const shareOf = (pid: number, from: number) => ((100 * (cpuSecondsOf(pid) - from)) / seconds).toFixed(2);
  const mostOf = ({ idleMb, grownMb }: MemoryWatch) => (idleMb + grownMb).toFixed(0);
  const node = (await server.client.call(routes.listNodes)).items[0];
  const snapshot = await server.client.call(routes.getNodeSnapshot, { params: { node_id: node?.id ?? '' } });
  printTable([
    ['figure', 'budget', 'measured'],
    ['agent: of a core, %', '1', shareOf(agent.pid, before.agent)],
    ['agent: resident at most, MB', '80', mostOf(memory)],
    ['stand-in for nvidia-smi: of a core, %', '', shareOf(child, before.child)],
    ['stand-in for nvidia-smi: resident at most, MB', '', mostOf(childMemory)],
    ['programs started for it', '', String(smi.starts.length)],
    ['metrics of the node within the last minute', '', String(Object.keys(snapshot.metrics).length)],
    ['processes on GPUs', '', String(snapshot.processes.length)],
  ]);
} finally {
  await engine?.close();
  await workplace.close();
  smi.remove();
}
