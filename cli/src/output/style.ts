import type { JobStatus, NodeStatus, RunStatus, Severity } from '@svc/contract';

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

type Terminal = { readonly isTTY?: boolean };

/** Colours for that stream: only on a terminal, and not if NO_COLOR is set or the terminal is dumb. */
export function createPaint(stream: Terminal, env: NodeJS.ProcessEnv = process.env): Paint {
  const isColoured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return isColoured ? (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m` : (_style, text) => text;
}

const STATUS_STYLES: Record<JobStatus | RunStatus | NodeStatus, Style> = {
  QUEUED: 'blue',
  DISPATCHING: 'blue',
  RUNNING: 'cyan',
  SUCCEEDED: 'green',
  IMPORTED: 'green',
  ONLINE: 'green',
  FAILED: 'red',
  LOST: 'red',
  OFFLINE: 'red',
  CANCELLED: 'yellow',
  DRAINING: 'yellow',
};

export function styleOfStatus(status: JobStatus | RunStatus | NodeStatus): Style {
  return STATUS_STYLES[status];
}

export function styleOfSeverity(severity: Severity): Style | null {
  return ({ info: null, warning: 'yellow', critical: 'red' } as const)[severity];
}
