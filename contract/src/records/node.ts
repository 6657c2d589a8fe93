import { Type, type Static } from 'typebox';
import { NODE_STATUSES, SLOT_HEALTH_STATES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';
import { Labels } from './job.js';

export const NodeStatus = Type.Enum([...NODE_STATUSES]);
export type NodeStatus = Static<typeof NodeStatus>;

/** Whether a slot can take a job: only one that is `ok` is given one. */
export const SlotHealth = strict({
  state: Type.Enum([...SLOT_HEALTH_STATES]),
  /** What is said of the GPU, as "is used by python (pid 4711, alice, 10 GiB), which is not a job of svc"; null when it is ok. */
  reason: nullable(Type.String({ maxLength: 1000 })),
  since: nullable(Timestamp),
});
export type SlotHealth = Static<typeof SlotHealth>;

/** What an agent says of one GPU slot; `virtual` slots stand for no device. Without `health` it is ok. */
export const SlotSpec = strict({
  index: Type.Integer({ minimum: 0 }),
  uuid: Type.String({ maxLength: 200 }),
  model: Type.String({ maxLength: 200 }),
  memory_total_mb: nullable(Type.Number()),
  virtual: Type.Boolean(),
  health: Type.Optional(SlotHealth),
});
export type SlotSpec = Static<typeof SlotSpec>;

const Figure = nullable(Type.Number());

/** One of those that use a slot's GPU: those that take most of its memory. The snapshot of the node names all. */
export const SlotProcess = strict({
  pid: Type.Integer(),
  name: Type.String(),
  user: nullable(Type.String()),
  mem_mb: Type.Number(),
  job_id: nullable(Type.String()),
});
export type SlotProcess = Static<typeof SlotProcess>;

/** What was measured of a slot within the last 60 s; null and [] where nothing was. */
export const SlotFigures = strict({
  /** Percent. */
  utilization: Figure,
  memory_used_mb: Figure,
  temperature_c: Figure,
  power_w: Figure,
  sm_clock_mhz: Figure,
  mem_clock_mhz: Figure,
  processes: Type.Array(SlotProcess),
});
export type SlotFigures = Static<typeof SlotFigures>;

export const Slot = strict({
  ...SlotSpec.properties,
  health: SlotHealth,
  busy: Type.Boolean(),
  job_id: nullable(Type.String()),
  ...SlotFigures.properties,
});
export type Slot = Static<typeof Slot>;

/** Facts of the host; more keys may be added by collectors. */
export const SystemFacts = Type.Object(
  {
    cpu_count: Type.Integer(),
    cpu_model: Type.Optional(Type.String()),
    ram_total_mb: Type.Number(),
    disk_total_gb: Type.Optional(Type.Number()),
    os: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);
export type SystemFacts = Static<typeof SystemFacts>;

/** What a runner's probe found on the host. */
export const RunnerProbe = strict({
  name: Type.String(),
  available: Type.Boolean(),
  reason: nullable(Type.String()),
  version: nullable(Type.String()),
});
export type RunnerProbe = Static<typeof RunnerProbe>;

/** What was measured of a host within the last 60 s; `ts` is the newest sample, by the host's clock. The disk is that of the agent's state directory. */
export const NodeLive = strict({
  ts: Timestamp,
  /** Percent of all CPUs. */
  cpu_util: Figure,
  ram_used_mb: Figure,
  disk_used_gb: Figure,
  disk_free_gb: Figure,
  /** Bits per second. */
  net_rx_bps: Figure,
  net_tx_bps: Figure,
});
export type NodeLive = Static<typeof NodeLive>;

export const NodeRecord = strict(
  {
    id: Type.String(),
    name: Type.String(),
    hostname: Type.String(),
    status: NodeStatus,
    version: Type.String(),
    labels: Labels,
    runners: Type.Array(RunnerProbe),
    slots: Type.Array(Slot),
    cpu_jobs: Type.Integer(),
    max_cpu_jobs: Type.Integer(),
    busy: Type.Boolean(),
    system: SystemFacts,
    /** null: nothing was measured within the last 60 s. */
    live: nullable(NodeLive),
    last_heartbeat_at: nullable(Timestamp),
    connected_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { $id: 'Node' },
);
export type NodeRecord = Static<typeof NodeRecord>;

/** A process on a GPU. `gpu`: the index of the slot. `job_id`: null for one that is of no job. */
export const GpuProcess = strict({
  gpu: Type.Integer(),
  pid: Type.Integer(),
  /** Of the user; null where it cannot be told. */
  user: nullable(Type.String()),
  /** Of the program, without its arguments. */
  name: Type.String(),
  mem_mb: Type.Number(),
  job_id: nullable(Type.String()),
});
export type GpuProcess = Static<typeof GpuProcess>;

/** A process of a job, or one of the host that takes much. `cpu_percent`: 100 is one CPU; null when it was seen for the first time. `mem_mb`: resident, in MiB. */
export const HostProcess = strict({
  pid: Type.Integer(),
  name: Type.String({ maxLength: 100 }),
  user: nullable(Type.String({ maxLength: 100 })),
  cpu_percent: nullable(Type.Number()),
  mem_mb: Type.Number(),
  job_id: nullable(Type.String()),
});
export type HostProcess = Static<typeof HostProcess>;

/** Columns of equal length, by time. `total` counts the samples of the range before thinning. */
export const NodeSeries = strict({
  ts: Type.Array(Timestamp),
  values: Type.Array(Type.Number()),
  total: Type.Integer(),
  downsampled: Type.Boolean(),
});
export type NodeSeries = Static<typeof NodeSeries>;

/** The newest value of each metric that was measured within the last 60 s. */
export const NodeSnapshot = strict(
  {
    node_id: Type.String(),
    ts: nullable(Timestamp),
    metrics: Type.Record(Type.String(), strict({ value: Type.Number(), ts: Timestamp })),
    /** Those that use a GPU. */
    processes: Type.Array(GpuProcess),
    /** The largest of the jobs that run there, and the few of the host that take most memory and CPU. */
    host_processes: Type.Array(HostProcess),
  },
  { $id: 'NodeSnapshot' },
);
export type NodeSnapshot = Static<typeof NodeSnapshot>;
