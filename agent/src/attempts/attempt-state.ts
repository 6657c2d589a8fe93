import type { AttemptReport } from '@svc/contract';

interface StateFacts {
  /** What the server is told that it is. */
  readonly reported: AttemptReport['state'];
  /** What a server is told that sends the attempt once more. */
  readonly repeated: 'nothing' | 'accepted' | 'report';
  /** Nothing is under way: it waits for someone else. */
  readonly isSettled: boolean;
}

export const ATTEMPT_STATES = {
  /** Its directory is not durable yet. */
  preparing: { reported: 'accepted', repeated: 'nothing', isSettled: false },
  /** As `preparing`, and the server has said `start` already. */
  preparingToStart: { reported: 'running', repeated: 'nothing', isSettled: false },
  /** It waits for the server's `start`. */
  accepted: { reported: 'accepted', repeated: 'accepted', isSettled: true },
  /** Stopped before `start`: nothing is started, its end is being recorded. */
  cancelled: { reported: 'accepted', repeated: 'accepted', isSettled: false },
  /** The server has said `start`: it is told as running, without a pid. */
  starting: { reported: 'running', repeated: 'accepted', isSettled: false },
  /** An earlier agent has started it: it is being found out what became of it. */
  recovering: { reported: 'running', repeated: 'nothing', isSettled: false },
  running: { reported: 'running', repeated: 'report', isSettled: true },
  ended: { reported: 'ended', repeated: 'report', isSettled: true },
} as const satisfies Record<string, StateFacts>;

export type AttemptState = keyof typeof ATTEMPT_STATES;

/**
 * What happens to an attempt: `ATTEMPT_TRANSITIONS[trigger][from] = to`. What is not here changes nothing.
 * Must hold: `cancelled` is left by the end alone, and nothing leaves `ended`.
 */
export const ATTEMPT_TRANSITIONS = {
  /** Its directory is durable. */
  prepared: { preparing: 'accepted', preparingToStart: 'starting' },
  /** The server wants it started. */
  authorized: { preparing: 'preparingToStart', accepted: 'starting' },
  /** It is stopped; one that is being started is stopped once it runs. */
  stopped: { preparing: 'cancelled', accepted: 'cancelled' },
  /** An agent that has just started has found it on the disk, without an end. */
  found: { preparing: 'recovering' },
  launched: { starting: 'running', recovering: 'running' },
  ended: {
    preparing: 'ended',
    preparingToStart: 'ended',
    accepted: 'ended',
    cancelled: 'ended',
    starting: 'ended',
    recovering: 'ended',
    running: 'ended',
  },
} as const satisfies Record<string, Partial<Record<AttemptState, AttemptState>>>;

export type AttemptTrigger = keyof typeof ATTEMPT_TRANSITIONS;

/** The state of one attempt, and who waits for it. */
export class AttemptLife {
  /** Resolves with whether it is to be started. */
  readonly startAuthorized: Promise<boolean>;
  readonly ended: Promise<void>;
  #resolveStartAuthorized: (isWanted: boolean) => void = () => {};
  #resolveEnded = () => {};
  #resolveSettled = () => {};
  #settled: Promise<void>;
  #state: AttemptState = 'preparing';

  constructor() {
    this.startAuthorized = new Promise((resolve) => (this.#resolveStartAuthorized = resolve));
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#settled = this.#unsettled();
  }

  get state(): AttemptState {
    return this.#state;
  }

  get facts(): StateFacts {
    return ATTEMPT_STATES[this.#state];
  }

  get settled(): Promise<void> {
    return this.#settled;
  }

  /** The only place where the state changes. */
  move(trigger: AttemptTrigger): void {
    const transitions: Partial<Record<AttemptState, AttemptState>> = ATTEMPT_TRANSITIONS[trigger];
    const next = transitions[this.#state];
    if (next === undefined) return;
    const wasSettled = this.facts.isSettled;
    this.#state = next;
    if (this.facts.isSettled) this.#resolveSettled();
    else if (wasSettled) this.#settled = this.#unsettled();
    if (next === 'starting') this.#resolveStartAuthorized(true);
    if (next === 'cancelled') this.#resolveStartAuthorized(false);
    if (next === 'ended') this.#resolveEnded();
  }

  #unsettled(): Promise<void> {
    return new Promise((resolve) => (this.#resolveSettled = resolve));
  }
}
