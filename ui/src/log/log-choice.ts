import { LOG_STREAMS } from '@svc/contract/protocol';
import type { Address } from '../controllers/address.js';
import type { LogStream } from '../data/jobs.js';

/** How a log is shown. All of it is in the address of the page. */
export interface LogChoice {
  /** What is searched for; empty: nothing. */
  readonly search: string;
  /** null: both. */
  readonly stream: LogStream | null;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
}

export type LogSwitch = 'wrap' | 'times';

/** What the address says of it, to be part of another address. */
export function choiceIn(address: Pick<Address, 'get'>): Record<string, string | null> {
  return Object.fromEntries(['search', 'stream', 'wrap', 'times'].map((name) => [name, address.get(name)]));
}

/** Switches that the address does not name are as the reader left them the last time. */
export function readChoice(address: Pick<Address, 'get'>): LogChoice {
  const isOn = (name: LogSwitch, fallback: boolean): boolean => {
    const asked = address.get(name);
    return asked === 'on' || (asked !== 'off' && readSwitch(name, fallback));
  };
  return {
    search: address.get('search') ?? '',
    stream: LOG_STREAMS.find((stream) => stream === address.get('stream')) ?? null,
    isWrapped: isOn('wrap', false),
    hasTimes: isOn('times', window.innerWidth > 900),
  };
}

/** What the address says of a switch from now on; the next log is shown in the same way. */
export function chooseSwitch(name: LogSwitch, isOn: boolean): Partial<Record<LogSwitch, string>> {
  const value = isOn ? 'on' : 'off';
  try {
    localStorage.setItem(`svc.log.${name}`, value);
  } catch {
    // Storage is blocked: the switch lasts until the page is left.
  }
  return { [name]: value };
}

function readSwitch(name: LogSwitch, fallback: boolean): boolean {
  try {
    const stored = localStorage.getItem(`svc.log.${name}`);
    return stored === null ? fallback : stored === 'on';
  } catch {
    return fallback;
  }
}
