import type { Exit } from '@svc/contract';
import type { ContainerInspectInfo } from 'dockerode';
import os from 'node:os';

const SIGNALED = 128;
const SIGNALS = Object.entries(os.constants.signals);

/** What is known of the end besides what the engine says of the container. */
export interface EndFacts {
  /** We have told it to end. */
  readonly wasStopped: boolean;
  /** Why the container may have been ended by something else than the job; null: by nothing. */
  readonly disturbance: string | null;
}

/** How an attempt ended whose container does not run any more; null: there is no such container. */
export function toContainerExit(info: ContainerInspectInfo | null, facts: EndFacts): Exit {
  if (info === null) return { kind: 'lost', reason: 'its container was removed' };
  const { Status, ExitCode: code, OOMKilled } = info.State;
  if (Status === 'created')
    return {
      kind: 'lost',
      reason: 'the agent or the container engine went away before the container was started',
    };
  // Of any process of the container, as a worker, without which the command then gives up.
  if (OOMKilled && code !== 0 && !facts.wasStopped)
    return { kind: 'oom', code: toSignal(code)?.code ?? code };
  if (code !== 0 && facts.disturbance !== null) return { kind: 'lost', reason: facts.disturbance };
  return toSignal(code) ?? { kind: 'exited', code };
}

/** The engine tells a signal as 128 and its number, as shells do. */
function toSignal(code: number): Extract<Exit, { kind: 'signaled' }> | null {
  const signal = SIGNALS.find(([, number]) => code === SIGNALED + number)?.[0];
  return signal === undefined ? null : { kind: 'signaled', signal, code: SIGNALED - code };
}
