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
  /** Of its newest finding. */
  seenAt: number;
  isTold: boolean;
}

/** What a detector has found of one subject may have so many fingerprints; it keeps no more. */
const MAX_FINGERPRINTS = 64;
/** When there is no more room: trouble that was told and not found again for so long, and for its cool-down, makes room. */
const STALE_MS = 3_600_000;

/** What is reported, as the failures of a detector are, when there is no room for its trouble. */
export class TooManyTroubles extends Error {
  override readonly message = `found more than ${MAX_FINGERPRINTS} different troubles of one subject; the further ones are not told`;
}

/**
 * The trouble of one subject as one detector sees it. It is pending from its first finding, firing when it is told, and resolved when the detector
 * says that it is over.
 */
export class Troubles {
  readonly #open = new Map<string, Trouble>();
  readonly #toldAt = new Map<string, number>();
  #hasLost = false;

  constructor(private readonly timing: TroubleTiming) {}

  /** Returns the findings that are to be told now. */
  take(at: number, findings: readonly Finding[], over: readonly string[]): Finding[] {
    for (const fingerprint of over) this.#open.delete(fingerprint);
    for (const finding of findings) this.#note(at, finding);
    return this.due(at);
  }

  /** Whether trouble was found since the last call for which there was no room. */
  takeLost(): boolean {
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    return hasLost;
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
    if (known) Object.assign(known, { finding, seenAt: at });
    else if (this.#hasRoom(at, finding.fingerprint))
      this.#open.set(finding.fingerprint, { finding, since: at, seenAt: at, isTold: false });
    else this.#hasLost = true;
  }

  #hasRoom(at: number, fingerprint: string): boolean {
    if (this.#open.size >= MAX_FINGERPRINTS || this.#toldAt.size >= MAX_FINGERPRINTS) this.#forgetStale(at);
    if (this.#open.size >= MAX_FINGERPRINTS) return false;
    return this.#toldAt.size < MAX_FINGERPRINTS || this.#toldAt.has(fingerprint);
  }

  /** Told trouble whose cool-down is over may be told again, so nothing is lost with it. */
  #forgetStale(at: number): void {
    const { cooldownMs } = this.timing;
    if (cooldownMs === null) return;
    for (const [fingerprint, { isTold, seenAt }] of this.#open)
      if (isTold && at - seenAt > Math.max(cooldownMs, STALE_MS)) this.#open.delete(fingerprint);
    for (const [fingerprint, toldAt] of this.#toldAt)
      if (at - toldAt >= cooldownMs && !this.#open.has(fingerprint)) this.#toldAt.delete(fingerprint);
  }

  #isDue(at: number, fingerprint: string, { since, isTold }: Trouble): boolean {
    const { holdMs, cooldownMs } = this.timing;
    if (isTold || at - since < holdMs) return false;
    const toldAt = this.#toldAt.get(fingerprint);
    return toldAt === undefined || (cooldownMs !== null && at - toldAt >= cooldownMs);
  }
}
