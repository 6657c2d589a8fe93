import { Type, type Static } from 'typebox';
import { NODE_STATUSES, SLOT_HEALTH_STATES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';
import { Labels } from './job.js';

export const NodeStatus = Type.Enum([...NODE_STATUSES]);
export type NodeStatus = Static<typeof NodeStatus>;

/** Whether a slot can take a job: only one that is `ok` is given one. */
export const SlotHealth = strict({
  state: Type.Enum([...SLOT_HEALTH_STATES]),
  /** What is said of the GPU, as "is used by python (pid 4711, alice, 10 GB), which is not a job of svc"; null when it is ok. */
  reason: nullable(Type.String({ maxLength: 1000 })),
  since: nullable(Timestamp),
});
export type SlotHealth = Static<typeof SlotHealth>;

/** What an agent says of one GPU slot; `virtual` slots stand for no device. Without `health` it is ok. */
export const SlotSpec = strict({
  index: Type.Integer({ minimum: 0 }),
  uuid: Type.String(),
  model: Type.String(),
  memory_total_mb: nullable(Type.Number()),
  virtual: Type.Boolean(),
  health: Type.Optional(SlotHealth),
});
export type SlotSpec = Static<typeof SlotSpec>;

export const Slot = strict({
  ...SlotSpec.properties,
  health: SlotHealth,
  busy: Type.Boolean(),
  job_id: nullable(Type.String()),
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
    processes: Type.Array(GpuProcess),
  },
  { $id: 'NodeSnapshot' },
);
export type NodeSnapshot = Static<typeof NodeSnapshot>;
