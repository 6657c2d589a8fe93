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
  /** Number of this connection: frames sent on it carry it, those of an earlier one do not. */
  readonly connection: number;
  /** The host has been rebooted since the node's last hello: what ran before is gone. */
  readonly rebooted: boolean;
}

export interface WelcomePart {
  readonly verdicts?: readonly (AttemptKey & { readonly verdict: Verdict })[];
  readonly log_positions?: readonly LogPosition[];
}

export type AgentFrameType = Exclude<AgentFrame['type'], 'hello' | 'heartbeat' | 'runners' | 'channel'>;

const frame = <T extends AgentFrameType>(type: T) =>
  decision<[frame: FrameOf<AgentFrame, T>, from: AgentNode]>(`nodes.frame.${type}`);

/**
 * By type: a frame of an agent, behind its hello. Frames of one job are handed over one at a time, in order. A tap that throws makes
 * the connection close: the agent comes back and repeats what was not dealt with.
 */
export const frameReceived = {
  accepted: frame('accepted'),
  attempt: frame('attempt'),
  logs: frame('logs'),
  node_metrics: frame('node_metrics'),
  spool: frame('spool'),
} satisfies Record<AgentFrameType, unknown>;

/** For each hello, before its welcome: a tap returns its part of that. Frames sent meanwhile follow the welcome. */
export const helloReceived = decision.gather<[context: HelloContext], WelcomePart>('nodes.hello');

/**
 * Within the transaction that removes a node: what others keep of it, they drop here. Rows that refer to it must be gone afterwards. A tap
 * refuses by throwing.
 */
export const nodeRemove = decision<[tx: Tx, node: NodeRecord, at: number]>('nodes.remove');

/** After commit. */
export const nodeChanged = observation<[change: Change<NodeRecord>]>('nodes.changed');
