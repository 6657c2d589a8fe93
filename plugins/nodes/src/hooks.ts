import type { AgentFrame, AttemptKey, FrameOf, Hello, LogPosition, NodeRecord, Verdict } from '@svc/contract';
import { decision, observation, type Change, type Tx } from '@svc/kernel';

/** The agent behind a frame. */
export interface AgentNode {
  readonly id: string;
  readonly name: string;
}

/** A hello whose sender has proved to be that node. */
export interface HelloContext {
  readonly hello: Hello;
  /** The number of this connection; each new connection of the server gets a higher one. */
  readonly connection: number;
  /** The host has been rebooted since the node's last hello: what ran before is gone. */
  readonly rebooted: boolean;
}

export interface WelcomePart {
  readonly verdicts?: readonly (AttemptKey & { readonly verdict: Verdict })[];
  readonly log_positions?: readonly LogPosition[];
}

export type AgentFrameType = Exclude<
  AgentFrame['type'],
  'hello' | 'heartbeat' | 'runners' | 'slots' | 'channel'
>;

const frame = <T extends AgentFrameType>(type: T) =>
  decision<[frame: FrameOf<AgentFrame, T>, from: AgentNode]>(`nodes.frame.${type}`);

/**
 * One hook for each type of frame that an agent sends after its hello. The frames of one job are fired one at a time, in order. If a tap
 * throws, the connection is closed: the agent reconnects and repeats what was not processed.
 */
export const frameReceived = {
  accepted: frame('accepted'),
  attempt: frame('attempt'),
  logs: frame('logs'),
  partial: frame('partial'),
  node_metrics: frame('node_metrics'),
  spool: frame('spool'),
} satisfies Record<AgentFrameType, unknown>;

/** Fired for each hello, before its welcome: a tap returns its part of the welcome. Frames that are sent meanwhile follow the welcome. */
export const helloReceived = decision.gather<[context: HelloContext], WelcomePart>('nodes.hello');

/**
 * Fired within the transaction that removes a node: a tap deletes the rows of its plugin that refer to the node, or throws to refuse the
 * removal.
 */
export const nodeRemove = decision<[tx: Tx, node: NodeRecord, at: number]>('nodes.remove');

/** Fired after the commit. */
export const nodeChanged = observation<[change: Change<NodeRecord>]>('nodes.changed');
