import type { Finding } from '@svc/contract';

export interface TroubleTiming {
  /** Trouble is told when it has lasted so long. */
  readonly holdMs: number;
  /** For how long the same trouble is not told again; null: never again. */
  readonly cooldownMs: number | null;
}

interface Trouble {
  finding: Finding;
  readonly since: number;
  isTold: boolean;
}

/** What a detector has found of one subject may have so many fingerprints; it keeps no more. */
const MAX_FINGERPRINTS = 64;

/**
 * The trouble of one subject as one detector sees it. It is pending from its first finding, firing when it is told, and resolved when the detector
 * says that it is over.
 */
export class Troubles {
  readonly #open = new Map<string, Trouble>();
  readonly #toldAt = new Map<string, number>();

  constructor(private readonly timing: TroubleTiming) {}

  /** Returns the findings that are to be told now. */
  take(at: number, findings: readonly Finding[], over: readonly string[]): Finding[] {
    for (const fingerprint of over) this.#open.delete(fingerprint);
    for (const finding of findings) this.#note(at, finding);
    return this.due(at);
  }

  /** The pending findings that have become due by the passing of time. */
  due(at: number): Finding[] {
    if (this.#open.size === 0) return [];
    const due = [...this.#open].filter(([fingerprint, trouble]) => this.#isDue(at, fingerprint, trouble));
    return due.map(([fingerprint, trouble]) => {
      trouble.isTold = true;
      this.#toldAt.set(fingerprint, at);
      return trouble.finding;
    });
  }

  #note(at: number, finding: Finding): void {
    const known = this.#open.get(finding.fingerprint);
    if (known) known.finding = finding;
    else if (this.#open.size < MAX_FINGERPRINTS && this.#hasRoom(finding.fingerprint))
      this.#open.set(finding.fingerprint, { finding, since: at, isTold: false });
  }

  #hasRoom(fingerprint: string): boolean {
    return this.#toldAt.size < MAX_FINGERPRINTS || this.#toldAt.has(fingerprint);
  }

  #isDue(at: number, fingerprint: string, { since, isTold }: Trouble): boolean {
    const { holdMs, cooldownMs } = this.timing;
    if (isTold || at - since < holdMs) return false;
    const toldAt = this.#toldAt.get(fingerprint);
    return toldAt === undefined || (cooldownMs !== null && at - toldAt >= cooldownMs);
  }
}
