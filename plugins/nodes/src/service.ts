import type { AttemptKey, NodeRecord, ServerFrame, SlotHealth } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { Static, TSchema } from 'typebox';
import type { MessageHandler } from './channels.js';

/** What a scheduling pass needs to know about a node. */
export interface NodeCapacity {
  readonly id: string;
  readonly name: string;
  readonly status: NodeRecord['status'];
  /** Its agent is connected to this server and can be sent frames. */
  readonly connected: boolean;
  /** The labels of the agent and the built-in `node`, `node_id` and `hostname`, which take precedence. */
  readonly labels: Readonly<Record<string, string>>;
  readonly runners: NodeRecord['runners'];
  /** Present slots, by index. */
  readonly slots: readonly SlotCapacity[];
  readonly cpu_jobs: number;
  readonly max_cpu_jobs: number;
  /** When it went OFFLINE, in ms; null while it is not. */
  readonly offline_at: number | null;
}

export interface SlotCapacity {
  readonly index: number;
  readonly model: string;
  /** No attempt holds it. */
  readonly free: boolean;
  /** Why it takes no job, as "is lost"; null: it takes one. */
  readonly trouble: string | null;
  readonly health: SlotHealth['state'];
}

/** What an attempt holds on a node: GPU slots, or one cpu-only place (then without an index). */
export interface Holding extends AttemptKey {
  readonly gpu_indices: readonly number[];
}

export interface Claim extends AttemptKey {
  readonly node_id: string;
  /** Empty: one cpu-only place. */
  readonly gpu_indices: readonly number[];
  /** Only stores that the node has the attempt, which takes neither GPU slots nor a cpu-only place. */
  readonly isExternal?: boolean;
}

export interface Nodes {
  /** `id` in canonical form. */
  get(db: Db, id: string): Promise<NodeRecord | null>;
  /** Any form of id; throws not_found. */
  require(db: Db, id: string): Promise<NodeRecord>;
  /** `online`: not OFFLINE; a draining node is online. */
  count(db: Db): Promise<{ total: number; online: number }>;
  /** All nodes, by id. */
  capacity(db: Db): Promise<NodeCapacity[]>;

  /**
   * Takes exactly these slots, or one cpu-only place, all or nothing. False when one of them is no longer free or healthy, or when the attempt still
   * holds something on that node, because its agent has not reported yet what became of it. Must hold: each slot has at most one holder, and
   * only `release` frees it.
   */
  claim(db: Db, claim: Claim): Promise<boolean>;
  /** Frees what the attempt holds on that node; false when it held nothing. May be repeated. */
  release(db: Db, nodeId: string, attempt: AttemptKey): Promise<boolean>;
  /** Everything held on the node. */
  holdings(db: Db, nodeId: string): Promise<Holding[]>;

  /** Sends the frame on the node's connection; false when there is none, or it is being closed. True does not mean that it arrives. */
  send(nodeId: string, frame: ServerFrame): boolean;
  /** The number of the node's present connection; null when there is none. */
  connectionOf(nodeId: string): number | null;
  /** Closes the node's connection, so that its agent reconnects and its hello says which attempts it has. */
  reconnect(nodeId: string, reason: string): void;

  /**
   * Registers the handler of the messages that the agent half of a plugin sends on the channel of that name; to be called before agents
   * connect (in setup or ready). A message that does not match the schema is refused: the agent stores it apart, and the first one is
   * reported as an event.
   */
  channel<Schema extends TSchema>(name: string, schema: Schema, handle: MessageHandler<Static<Schema>>): void;
}

export const nodesRef = serviceRef<Nodes>('nodes');
