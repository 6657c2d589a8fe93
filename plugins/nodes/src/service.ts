import type {
  AgentFrame,
  AttemptKey,
  FrameOf,
  Hello,
  LogPosition,
  NodeRecord,
  ServerFrame,
  Verdict,
} from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';

/** What a scheduling pass needs to know of a node. */
export interface NodeCapacity {
  readonly id: string;
  readonly name: string;
  readonly status: NodeRecord['status'];
  /** Its agent has been welcomed by this server and can be sent frames now. */
  readonly connected: boolean;
  /** The agent's own labels and, winning over them, the built-in `node`, `node_id` and `hostname`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly runners: NodeRecord['runners'];
  /** Present slots, by index. */
  readonly slots: readonly { readonly index: number; readonly model: string; readonly free: boolean }[];
  readonly cpu_jobs: number;
  readonly max_cpu_jobs: number;
  /** When it went OFFLINE, in ms; null while it is not. */
  readonly offline_at: number | null;
}

/** The agent behind a frame. */
export interface AgentNode {
  readonly id: string;
  readonly name: string;
}

/** A hello whose sender has proved to be that node. */
export interface HelloContext {
  readonly hello: Hello;
  /** Number of this connection: frames sent on it carry it, those of an earlier one do not. */
  readonly connection: number;
  /** The host has been rebooted since the node's last hello: what ran before is gone. */
  readonly rebooted: boolean;
}

export interface WelcomePart {
  readonly verdicts?: readonly (AttemptKey & { readonly verdict: Verdict })[];
  readonly log_positions?: readonly LogPosition[];
}

export type AgentFrameType = Exclude<AgentFrame['type'], 'hello' | 'heartbeat'>;
export type FrameListener<T extends AgentFrameType> = (
  frame: FrameOf<AgentFrame, T>,
  from: AgentNode,
) => Promise<void>;
/** Runs in the transaction that removes the node, so it uses `trx` alone, and refuses by throwing. */
export type RemovalListener = (trx: Db, node: NodeRecord, at: number) => Promise<void>;
export type HelloListener = (context: HelloContext) => Promise<WelcomePart>;

/** What an attempt holds on a node: GPU slots, or one place for a cpu-only job (then no index). */
export interface Holding extends AttemptKey {
  readonly gpu_indices: readonly number[];
}

export interface Claim extends AttemptKey {
  readonly node_id: string;
  /** Empty: one cpu-only place. */
  readonly gpu_indices: readonly number[];
}

export interface Nodes {
  /** `id` in canonical form. */
  get(db: Db, id: string): Promise<NodeRecord | null>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<NodeRecord>;
  /** Newest first. */
  list(db: Db, limit: number): Promise<NodeRecord[]>;
  /** `online`: not OFFLINE; a draining node is online. */
  count(db: Db): Promise<{ total: number; online: number }>;
  /** All nodes, by id. */
  capacity(db: Db): Promise<NodeCapacity[]>;

  /**
   * Takes exactly these slots, or one cpu-only place, all or nothing: false when one of them is not free any more, or when the
   * attempt holds something on that node already: its agent has not said yet what became of that. Never doubles: each slot has
   * one holder, and only `release` ends that.
   */
  claim(db: Db, claim: Claim): Promise<boolean>;
  /** Frees what the attempt holds on that node; false when it held nothing. May be repeated. */
  release(db: Db, nodeId: string, attempt: AttemptKey): Promise<boolean>;
  /** Everything held on the node. */
  holdings(db: Db, nodeId: string): Promise<Holding[]>;

  /** Hands the frame to the node's connection; false when there is none, or it is being closed. True says nothing about its arrival. */
  send(nodeId: string, frame: ServerFrame): boolean;
  /** Number of the node's present connection; null when there is none. */
  connectionOf(nodeId: string): number | null;
  /** Closes the node's connection, so that its agent comes back and says in a hello what it has. */
  reconnect(nodeId: string, reason: string): void;

  /**
   * During setup. Frames of one job are handed over one at a time, in order. A listener that rejects makes the connection close:
   * the agent comes back and repeats what was not dealt with.
   */
  onFrame<T extends AgentFrameType>(type: T, listener: FrameListener<T>): void;
  /** During setup. Called for each hello, before its welcome; frames sent meanwhile follow the welcome. */
  onHello(listener: HelloListener): void;
  /** During setup. What others keep of a node, they drop here; rows that refer to it must be gone afterwards. */
  onRemove(listener: RemovalListener): void;
}

export const nodesRef = serviceRef<Nodes>('nodes');
