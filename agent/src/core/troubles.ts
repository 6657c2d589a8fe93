import { toReason, type AgentLog, type LogFields } from './log.js';

/** Tells the log of what fails again and again: once, until it works. */
export class Troubles {
  /** The kind of error of each thing that fails. */
  readonly #standing = new Map<string, string>();

  constructor(
    private readonly log: Pick<AgentLog, 'warn'>,
    /** Stands with each line. */
    private readonly about: LogFields,
  ) {}

  /** `what` fails, such as the path of a file. Another kind of error is told too; the same one with another path in its message is not. */
  tell(what: string, message: string, error: unknown, fields: LogFields = {}): void {
    const reason = toReason(error);
    const kind = (error as NodeJS.ErrnoException | undefined)?.code ?? reason;
    if (this.#standing.get(what) === kind) return;
    this.#standing.set(what, kind);
    this.log.warn(message, { ...this.about, ...fields, reason });
  }

  /** It works, or is there no more. */
  over(what: string): void {
    this.#standing.delete(what);
  }
}
