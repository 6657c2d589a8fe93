import type { Hello, NodeRecord, NodeStatus, Slot, SlotHealth } from '@svc/contract';

/** A row of `nodes`; booleans come as 0 and 1 from SQLite. */
export interface NodeRow {
  id: string;
  name: string;
  hostname: string;
  version: string;
  boot_id: string;
  labels: string;
  runners: string;
  system: string;
  max_cpu_jobs: number;
  online: boolean | number;
  draining: boolean | number;
  secret_hash: string;
  /** The agent has stored the secret: from then on a hello of this node without the secret is refused. */
  secret_confirmed: boolean | number;
  last_heartbeat_at: number;
  connected_at: number | null;
  offline_at: number | null;
  created_at: number;
}

/** A row of `slots`. A slot that its agent no longer names is kept with `present` false as long as a job holds it. */
export interface SlotRow {
  node_id: string;
  idx: number;
  uuid: string;
  model: string;
  memory_total_mb: number | null;
  virtual: boolean | number;
  present: boolean | number;
  health: SlotHealth['state'];
  health_reason: string | null;
  health_since: number | null;
  job_id: string | null;
  attempt: number | null;
}

export interface CpuClaimRow {
  node_id: string;
  job_id: string;
  attempt: number;
  /** Another engine schedules the job: it takes no cpu-only place. */
  external: boolean;
}

/** The largest value of the integer columns. */
const MAX_INTEGER = 2 ** 31 - 1;

/** The columns that a hello sets. */
export function toHelloColumns(hello: Hello) {
  return {
    name: hello.name,
    hostname: hello.hostname,
    version: hello.version,
    boot_id: hello.boot_id,
    labels: JSON.stringify(hello.labels),
    runners: JSON.stringify(hello.runners),
    system: JSON.stringify(hello.system),
    max_cpu_jobs: Math.min(hello.max_cpu_jobs, MAX_INTEGER),
  };
}

export function toStatus(row: Pick<NodeRow, 'online' | 'draining'>): NodeStatus {
  if (!row.online) return 'OFFLINE';
  return row.draining ? 'DRAINING' : 'ONLINE';
}

export function toRecord(row: NodeRow, slots: readonly SlotRow[], cpuJobs: number): NodeRecord {
  return {
    id: row.id,
    name: row.name,
    hostname: row.hostname,
    status: toStatus(row),
    version: row.version,
    labels: JSON.parse(row.labels) as NodeRecord['labels'],
    runners: JSON.parse(row.runners) as NodeRecord['runners'],
    slots: slots.map(toSlot),
    cpu_jobs: cpuJobs,
    max_cpu_jobs: row.max_cpu_jobs,
    busy: cpuJobs > 0 || slots.some((slot) => slot.job_id !== null),
    system: JSON.parse(row.system) as NodeRecord['system'],
    last_heartbeat_at: row.last_heartbeat_at,
    connected_at: row.connected_at,
    created_at: row.created_at,
  };
}

function toSlot(row: SlotRow): Slot {
  return {
    index: row.idx,
    uuid: row.uuid,
    model: row.model,
    memory_total_mb: row.memory_total_mb,
    virtual: Boolean(row.virtual),
    health: { state: row.health, reason: row.health_reason, since: row.health_since },
    busy: row.job_id !== null,
    job_id: row.job_id,
  };
}
