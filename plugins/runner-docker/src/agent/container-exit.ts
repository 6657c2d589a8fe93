import type { Exit } from '@svc/contract';
import type { ContainerInspectInfo } from 'dockerode';
import os from 'node:os';

/** Exit code of a container whose main process was killed by SIGKILL. */
const KILLED = 137;
const SIGNALED = 128;
const SIGNALS = Object.entries(os.constants.signals);

/** What is known of the end besides what the engine says of the container. */
export interface EndFacts {
  /** We have killed it, as its time to end was over. */
  readonly wasKilled: boolean;
  /** Why the container may have been ended by something else than the job; null: by nothing. */
  readonly disturbance: string | null;
}

/** How an attempt ended whose container does not run any more; null: there is no such container. */
export function toContainerExit(info: ContainerInspectInfo | null, facts: EndFacts): Exit {
  if (info === null) return { kind: 'lost', reason: 'its container was removed' };
  const { Status, ExitCode: code, OOMKilled } = info.State;
  if (Status === 'created')
    return { kind: 'lost', reason: 'the agent was killed before it had started the container' };
  if (OOMKilled && code === KILLED && !facts.wasKilled) return { kind: 'oom', code: -9 };
  if (code !== 0 && facts.disturbance !== null) return { kind: 'lost', reason: facts.disturbance };
  return toSignal(code) ?? { kind: 'exited', code };
}

/** The engine tells a signal as 128 and its number, as shells do. */
function toSignal(code: number): Exit | null {
  const signal = SIGNALS.find(([, number]) => code === SIGNALED + number)?.[0];
  return signal === undefined ? null : { kind: 'signaled', signal, code: SIGNALED - code };
}
