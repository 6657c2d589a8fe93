import type { Exit, GpuProcess, HostProcess, SlotSpec } from '@svc/contract';
import type { EndedAttempt, StartedAttempt } from './attempt-hooks.js';
import type { HostSlot } from './host-slot.js';

/** Figures by name, as in `cpu.util`. */
export type Measured = Record<string, number>;

/** So often the host is measured. */
export const SAMPLE_INTERVAL_MS = 2_000;

/** Measures this host. One that fails is told in the log, and the others go on. */
export interface HostCollector {
  readonly name: string;
  readonly of: 'host';
  /** Called once, when the slots of this host are known. */
  start?(slots: readonly SlotSpec[]): void;
  /** The present figures, every 2 s. What cannot be measured now is left out. */
  measure(): Measured | Promise<Measured>;
  /** Those that use a GPU now. */
  processes?(): readonly GpuProcess[];
  /** Processes of the host that are worth showing. */
  hostProcesses?(): readonly HostProcess[];
  close?(): void;
}

/** Follows each attempt from its start (or from the start of the agent) to its end. */
export interface AttemptCollector {
  readonly name: string;
  readonly of: 'attempt';
  /** Called once for each attempt that runs; what it returns is closed at the attempt's end, and when the agent closes. */
  start(attempt: StartedAttempt): Collecting | Promise<Collecting>;
}

/** How an attempt ended. */
export interface CollectedEnd extends Pick<EndedAttempt, 'wasStopped'> {
  readonly exit: Exit;
}

export interface Collecting {
  /** `ended`: left out when the agent closes. Must hold: the report of the end waits for it, so it takes seconds at most, and less if the attempt was stopped. */
  close(ended?: CollectedEnd): void | Promise<void>;
}

export type AgentCollector = HostCollector | AttemptCollector;

/** Where GPU slots of this host come from. */
export interface SlotSource {
  readonly name: string;
  /** The GPUs there are, none when the host has none. Throws when they cannot be told. */
  discover(signal: AbortSignal): Promise<readonly HostSlot[]>;
  /** Called once, after `discover`: from then on tells all slots anew whenever one comes or goes, or the health of one changes. */
  follow?(onChange: (slots: readonly HostSlot[]) => void): void;
  /** Facts of the host that the server keeps in the `system` of the node, such as the version of a driver. */
  facts?(): Readonly<Record<string, string>>;
}
