export const AGENT_LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type AgentLogLevel = (typeof AGENT_LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

/** Never give it env values, tokens or whole frames. */
export type AgentLog = Readonly<Record<AgentLogLevel, (message: string, fields?: LogFields) => void>>;

export interface AgentLogOptions {
  level?: AgentLogLevel;
  /** `json`: one object per line, for machines. */
  format?: 'text' | 'json';
  write?: (line: string) => void;
}

/** A log of lines on stdout. */
export function createAgentLog(options: AgentLogOptions = {}): AgentLog {
  const { level = 'info', format = 'text', write = (line) => void process.stdout.write(line) } = options;
  const toLine = format === 'json' ? toJsonLine : toTextLine;
  const at =
    (own: AgentLogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (AGENT_LOG_LEVELS.indexOf(own) >= AGENT_LOG_LEVELS.indexOf(level))
        write(toLine(own, message, fields));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function toJsonLine(level: AgentLogLevel, message: string, fields: LogFields): string {
  return `${JSON.stringify({ time: Date.now(), level, msg: message, ...fields })}\n`;
}

function toTextLine(level: AgentLogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${toText(value)}`);
  return `${new Date().toISOString()} ${level.padEnd(5)} ${message}${pairs.join('')}\n`;
}

function toText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value)
    ? value
    : (JSON.stringify(value) ?? 'undefined');
}

/** What went wrong, as one line. */
export function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
