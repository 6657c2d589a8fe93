import { partDone, type Job, type NodeRecord, type Run, type Slot } from '@svc/contract';
import { meanUtilization, toFigure } from '../output/figures.js';
import { toAge, toDuration, toShownId, toWaitReason } from '../output/format.js';
import { styleOfStatus, type Paint } from '../output/style.js';
import { terminalWidth, toTable, type Column } from '../output/table.js';
import { cutToWidth, toLines, widthOf } from '../output/text-width.js';
import type { Usage } from '../overview.js';
import type { Activity } from './read-activity.js';

/** Of the screen, that nodes may take. */
const SHARE_OF_NODES = 0.5;
/** A title, an empty line and the names of the columns. */
const AROUND_TABLE = 3;

/** The lines of one screen of so many rows: nodes with their slots, running jobs, and waiting jobs. */
export function toFrame(
  activity: Activity,
  rows: number,
  paint: Paint,
  width: number = terminalWidth(),
): string[] {
  const { nodes, running, waiting } = activity;
  const title = toTitle(activity, width, paint);
  const left = rows - title.length;
  const forNodes = Math.floor(left * SHARE_OF_NODES);
  const nodeLines = toNodeLines(nodes, { rows: forNodes, width }, paint);
  const forJobs = left - nodeLines.length;
  const needed = waiting.length + AROUND_TABLE;
  const forWaiting =
    waiting.length === 0 ? 2 : Math.min(needed, Math.max(AROUND_TABLE + 1, Math.floor(forJobs / 2)));
  return [
    ...title,
    ...nodeLines,
    ...toSection(
      toRunningColumns(nodes),
      running,
      { rows: forJobs - forWaiting, width, noun: 'running jobs' },
      paint,
    ),
    ...toSection(WAITING, waiting, { rows: forWaiting, width, noun: 'waiting jobs' }, paint),
  ].slice(0, rows);
}

function toTitle(
  { version, url, jobs, gpu_slots: gpus, cpu_jobs: cpus }: Activity,
  width: number,
  paint: Paint,
): string[] {
  const name = `svc ${version}`;
  const parts = [
    `${paint('bold', name)} at ${cutToWidth(url, width - widthOf(`${name} at `))}`,
    `GPU slots ${toUse(gpus)}`,
    `CPU jobs ${toUse(cpus)}`,
    `${jobs.RUNNING} running, ${jobs.QUEUED} queued`,
  ];
  return toLines(parts, '  ', width);
}

const toUse = ({ used, free, unavailable = 0 }: Usage): string => `${used}/${used + free + unavailable}`;

interface Room {
  readonly rows: number;
  /** In columns of the terminal. */
  readonly width: number;
}

interface Place extends Room {
  readonly noun: string;
}

/** A table in at most so many rows, which says how many are left out. */
function toSection<Row>(
  columns: readonly Column<Row>[],
  all: readonly Row[],
  place: Place,
  paint: Paint,
): string[] {
  const { rows, width, noun } = place;
  if (all.length === 0) return ['', paint('dim', `no ${noun}`)].slice(0, Math.max(0, rows));
  const room = Math.max(1, rows - AROUND_TABLE + 1);
  const shown = all.length <= room ? all : all.slice(0, room - 1);
  const more = all.length - shown.length;
  const rest = more === 0 ? [] : [paint('dim', `and ${more} more ${noun}`)];
  return ['', ...toTable(columns, shown, paint, width), ...rest];
}

/** One GPU, or a node without any. */
interface GpuOrNode {
  readonly node: NodeRecord;
  readonly slot: Slot | null;
}

/** A row for each GPU, or for each node where these do not fit. */
function toNodeLines(nodes: readonly NodeRecord[], room: Room, paint: Paint): string[] {
  const each = nodes.flatMap((node): GpuOrNode[] =>
    node.slots.length === 0 ? [{ node, slot: null }] : node.slots.map((slot) => ({ node, slot })),
  );
  const isWhole = each.length <= room.rows - AROUND_TABLE;
  if (isWhole) return toSection(SLOTS, each, { ...room, noun: 'nodes' }, paint);
  return toSection(NODES, nodes, { ...room, noun: 'nodes' }, paint);
}

const NODE_COLUMNS: readonly Column<NodeRecord>[] = [
  { title: 'NODE', cell: ({ name }) => name, shrinks: true },
  {
    title: 'STATUS',
    cell: ({ status }) => status,
    style: ({ status }) => styleOfStatus(status),
    optional: true,
  },
  {
    title: 'CPU JOBS',
    cell: ({ cpu_jobs, max_cpu_jobs }) => `${cpu_jobs}/${max_cpu_jobs}`,
    align: 'right',
    optional: true,
  },
];

const NODES: readonly Column<NodeRecord>[] = [
  ...NODE_COLUMNS,
  {
    title: 'GPUS BUSY',
    cell: ({ slots }) =>
      slots.length === 0 ? '-' : `${slots.filter(({ busy }) => busy).length}/${slots.length}`,
    align: 'right',
  },
  { title: 'UTIL', cell: ({ slots }) => toFigure(meanUtilization(slots), '%'), align: 'right' },
];

const SLOTS: readonly Column<GpuOrNode>[] = [
  ...NODE_COLUMNS.map(({ cell, style, ...column }) => ({
    ...column,
    cell: ({ node }: GpuOrNode) => cell(node),
    ...(style && { style: ({ node }: GpuOrNode) => style(node) }),
  })),
  { title: 'GPU', cell: ({ slot }) => (slot === null ? '-' : String(slot.index)), align: 'right' },
  {
    title: 'MODEL',
    cell: ({ slot }) => (slot === null ? '' : slot.virtual ? 'virtual' : slot.model),
    shrinks: true,
    optional: true,
  },
  { title: 'UTIL', cell: ({ slot }) => toFigure(slot?.utilization, '%'), align: 'right' },
  { title: 'MEMORY', cell: toMemory, align: 'right' },
  { title: 'TEMP', cell: ({ slot }) => toFigure(slot?.temperature_c, '°C'), align: 'right', optional: true },
  {
    title: 'JOB',
    cell: ({ slot }) => toHolder(slot),
    style: ({ slot }) => (slot === null || slot.health.state === 'ok' ? null : 'yellow'),
  },
];

/** Who holds it, and whether it takes a job: `job_…, foreign`. */
function toHolder(slot: GpuOrNode['slot']): string {
  if (slot === null) return '';
  const holder = slot.busy ? toShownId(slot.job_id) : '';
  return [holder, slot.health.state === 'ok' ? '' : slot.health.state].filter(Boolean).join(', ');
}

function toMemory({ slot }: GpuOrNode): string {
  if (slot === null || slot.memory_used_mb === null) return '-';
  const { memory_used_mb: usedMb, memory_total_mb: totalMb } = slot;
  return totalMb === null ? `${toGib(usedMb)} GiB` : `${toGib(usedMb)}/${toGib(totalMb)} GiB`;
}

const toGib = (mib: number): string => (mib / 1024).toFixed(1);

function toRunningColumns(nodes: readonly NodeRecord[]): readonly Column<Activity['running'][number]>[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return [
    { title: 'ID', cell: ({ job }) => toShownId(job.id) },
    { title: 'RUNNING', cell: ({ job }) => job.name, shrinks: true },
    {
      title: 'STATUS',
      cell: ({ job }) => job.status,
      style: ({ job }) => styleOfStatus(job.status),
      optional: true,
    },
    {
      title: 'NODE',
      cell: ({ job }) => names.get(job.node_id ?? '') ?? '-',
      shrinks: true,
      optional: true,
    },
    {
      title: 'GPU',
      cell: ({ job }) => (job.gpu_indices ?? []).join(',') || '-',
      shrinks: true,
      optional: true,
    },
    { title: 'RAN FOR', cell: ({ job }) => toRanFor(job), align: 'right' },
    { title: 'STEP', cell: ({ run }) => toStep(run), align: 'right' },
    { title: 'LEFT', cell: ({ run }) => toTimeLeft(run), align: 'right' },
  ];
}

function toRanFor({ started_at }: Job): string {
  return started_at === null ? '-' : toDuration(Date.now() - started_at);
}

function toStep(run: Run | null): string {
  if (run === null || run.step === null) return '-';
  return run.max_steps === null ? String(run.step) : `${run.step}/${run.max_steps}`;
}

/** Unknown for a run that has been silent for too long. */
function toTimeLeft(run: Run | null): string {
  if (!run?.step || run.max_steps === null || run.stale_since !== null) return '-';
  if (partDone(run) === 1) return '-';
  return toDuration(((Date.now() - run.started_at) / run.step) * (run.max_steps - run.step));
}

const WAITING: readonly Column<Job>[] = [
  { title: 'ID', cell: (job) => toShownId(job.id) },
  { title: 'WAITING', cell: (job) => job.name, shrinks: true },
  {
    title: 'GPU',
    cell: ({ resources }) => (resources.cpu_only ? '-' : String(resources.gpu)),
    align: 'right',
  },
  { title: 'QUEUED', cell: (job) => toAge(job.queued_at), optional: true },
  {
    title: 'BECAUSE',
    cell: (job) => toWaitReason(job.pending_reason),
    shrinks: true,
  },
];
