import { routes, type NodeRecord } from '@svc/contract';
import type { Command } from 'commander';
import { meanUtilization, toFigure } from '../output/figures.js';
import { toAge, toShownId } from '../output/format.js';
import { print } from '../output/print.js';
import { styleOfStatus } from '../output/style.js';
import { toPlainText, toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findNode, NODE_REFERENCE } from './find-record.js';

export function addNodesCommand(program: Command): void {
  withJson(program.command('nodes'))
    .description('list nodes with their GPU slots, jobs, load and last heartbeat')
    .addHelpText('after', '\nExample:\n  svc nodes --json')
    .action(listNodes);

  for (const [verb, route, description] of [
    ['drain', routes.drainNode, 'let a node finish its jobs and start no new ones on it'],
    ['undrain', routes.undrainNode, 'start new jobs on a drained node again'],
  ] as const)
    withJson(program.command(verb))
      .description(description)
      .argument('<node>', NODE_REFERENCE)
      .addHelpText('after', `\nExample:\n  svc ${verb} gpu-7`)
      .action(async (reference: string, options: JsonOptions) => {
        const client = connect(options);
        const params = { node_id: await findNode(client, reference) };
        const node = await client.call(route, { params });
        print(node, options.json, ({ id, name, status }) => [`${id} (${name}) ${status}`]);
      });

  const node = program
    .command('node')
    .description('remove a node (to keep jobs off one, see svc drain)')
    .addHelpText('after', '\nExample:\n  svc node rm gpu-7');
  withJson(node.command('rm'))
    .description('remove a node that will not come back, with its slots, metrics and secret')
    .argument('<node>', NODE_REFERENCE)
    .addHelpText('after', '\nExample:\n  svc node rm gpu-7')
    .action(removeNode);
}

async function removeNode(reference: string, options: JsonOptions): Promise<void> {
  const client = connect(options);
  const params = { node_id: await findNode(client, reference) };
  const removed = await client.call(routes.removeNode, { params });
  print(removed, options.json, ({ id, name }) => [`${id} (${name}) removed`]);
}

async function listNodes(options: JsonOptions): Promise<void> {
  const nodes = await connect(options).call(routes.listNodes);
  print(nodes, options.json, ({ items }, paint) =>
    items.length > 0
      ? [...toTable(COLUMNS, items, paint), ...toTroubles(items), ...toMissingRunners(items)]
      : ['no nodes; to add this host, run: svc agent'],
  );
}

/** Why slots take no job. */
function toTroubles(nodes: readonly NodeRecord[]): string[] {
  const troubles = nodes.flatMap(({ name, slots }) =>
    slots
      .filter(({ health }) => health.state !== 'ok')
      .map(({ index, health }) =>
        toPlainText(`GPU ${index} of ${name} ${health.reason ?? `is ${health.state}`}`),
      ),
  );
  return troubles.length === 0 ? [] : ['', ...troubles];
}

/** Which runners cannot run jobs where, and why: hosts of which the same holds share a line. */
function toMissingRunners(nodes: readonly NodeRecord[]): string[] {
  const namesByTrouble = new Map<string, string[]>();
  for (const { name, runners, status } of nodes)
    for (const runner of runners.filter(({ available }) => !available && status !== 'OFFLINE')) {
      const trouble = `the runner ${runner.name}: ${runner.reason ?? 'it cannot run jobs there'}`;
      namesByTrouble.set(trouble, [...(namesByTrouble.get(trouble) ?? []), name]);
    }
  const lines = [...namesByTrouble].map(([trouble, names]) =>
    toPlainText(`${toFew(names)} cannot use ${trouble}`),
  );
  return lines.length === 0 ? [] : ['', ...lines];
}

function toFew(names: readonly string[]): string {
  if (names.length <= MAX_NAMED) return names.join(', ');
  return `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;
}

/** Of the nodes in a line. */
const MAX_NAMED = 5;

const COLUMNS: readonly Column<NodeRecord>[] = [
  { title: 'ID', cell: (node) => toShownId(node.id) },
  { title: 'NAME', cell: (node) => node.name, shrinks: true },
  { title: 'STATUS', cell: (node) => node.status, style: (node) => styleOfStatus(node.status) },
  { title: 'GPUS BUSY', cell: toSlots, shrinks: true },
  { title: 'CPU JOBS', cell: (node) => `${node.cpu_jobs}/${node.max_cpu_jobs}`, align: 'right' },
  {
    title: 'GPU UTIL',
    cell: ({ slots }) => toFigure(meanUtilization(slots), '%'),
    align: 'right',
    optional: true,
  },
  { title: 'CPU', cell: ({ live }) => toFigure(live?.cpu_util, '%'), align: 'right', optional: true },
  { title: 'RAM', cell: toRam, align: 'right', optional: true },
  {
    title: 'DISK FREE',
    cell: ({ live }) => toFigure(live?.disk_free_gb, 'GB'),
    align: 'right',
    optional: true,
  },
  { title: 'LAST HEARD', cell: (node) => toAge(node.last_heartbeat_at), optional: true },
  {
    title: 'LABELS',
    cell: (node) =>
      Object.entries(node.labels)
        .map((pair) => pair.join('='))
        .join(' '),
    shrinks: true,
    optional: true,
  },
];

function toRam({ live, system }: NodeRecord): string {
  const usedMb = live?.ram_used_mb ?? null;
  return usedMb === null ? '-' : toFigure((100 * usedMb) / system.ram_total_mb, '%');
}

function toSlots({ slots }: NodeRecord): string {
  if (slots.length === 0) return '-';
  const busy = slots.filter((slot) => slot.busy).length;
  const models = [...new Set(slots.map((slot) => (slot.virtual ? 'virtual' : slot.model)))].join(', ');
  const troubled = slots.filter(({ health }) => health.state !== 'ok').map(({ health }) => health.state);
  const counts = [...new Set(troubled)].map(
    (state) => `${troubled.filter((each) => each === state).length} ${state}`,
  );
  return [`${busy}/${slots.length} ${models}`, ...counts].join(', ');
}
