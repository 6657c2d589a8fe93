import type { AttemptKey, NodeRecord, ServerFrame } from '@svc/contract';
import { serviceRef, type Db } from '@svc/kernel';
import type { Static, TSchema } from 'typebox';
import type { MessageHandler } from './channels.js';

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

/** What an attempt holds on a node: GPU slots, or one place for a cpu-only job (then no index). */
export interface Holding extends AttemptKey {
  readonly gpu_indices: readonly number[];
}

export interface Claim extends AttemptKey {
  readonly node_id: string;
  /** Empty: one cpu-only place. */
  readonly gpu_indices: readonly number[];
  /** It is noted that the node has the attempt, which takes neither a slot nor a place. */
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
   * Before agents connect (in setup or ready): takes the messages that the agent half of a plugin sends on the channel of that name. One
   * that does not fit the schema is refused: its agent sets it aside, and an event tells of the first.
   */
  channel<Schema extends TSchema>(name: string, schema: Schema, handle: MessageHandler<Static<Schema>>): void;
}

export const nodesRef = serviceRef<Nodes>('nodes');
