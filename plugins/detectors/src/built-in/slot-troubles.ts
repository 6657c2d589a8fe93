import type { DetectorStep, Finding, NodeRecord, Slot } from '@svc/contract';

/** What is over sooner is not told: memory that the driver takes some seconds to give back. */
const HOLD_MS = 30_000;
/** Each of the first troubles of a GPU is told; from then on it is told once in a cool-down. */
const MAX_TIMES = 3;

interface Trouble {
  readonly finding: Finding;
  /** When the agent noticed it; another time is another trouble. */
  readonly noticedAt: number | null;
  readonly seenAt: number;
}

type Step = Pick<DetectorStep<never>, 'findings' | 'over'>;

/** The slots of a node that its agent says are quarantined or unhealthy. */
export class SlotTroubles {
  readonly #open = new Map<number, Trouble>();
  readonly #times = new Map<number, number>();

  has(index: string): boolean {
    return this.#open.has(Number(index));
  }

  /** The slots as the agent tells them now. */
  see({ name, slots }: NodeRecord, at: number): Step {
    const findings: Finding[] = [];
    const over: string[] = [];
    const troubled = slots.filter(isTroubled);
    const byIndex = new Map(slots.map((slot) => [slot.index, slot]));
    for (const [index, { finding, noticedAt, seenAt }] of this.#open) {
      const now = byIndex.get(index);
      const isTold = at - seenAt >= HOLD_MS;
      if (now && isTroubled(now) && now.health.since === noticedAt) continue;
      // A process that is not ours keeps jobs off it, too: it is not over for those who were told.
      if (now?.health.state === 'foreign' && isTold) continue;
      this.#open.delete(index);
      over.push(finding.fingerprint);
      if (now?.health.state === 'ok' && isTold) findings.push(toResolved(`GPU ${index} of ${name}`, finding));
    }
    for (const slot of troubled) if (!this.#open.has(slot.index)) this.#add(name, slot, at);
    return { findings: [...findings, ...(this.due(at).findings ?? [])], over };
  }

  /** The troubles that have lasted long enough. */
  due(at: number): Step {
    const due = [...this.#open.values()].filter(({ seenAt }) => at - seenAt >= HOLD_MS);
    return { findings: due.map(({ finding }) => finding) };
  }

  #add(node: string, slot: Slot, at: number): void {
    const { index, health } = slot;
    const times = (this.#times.get(index) ?? 0) + 1;
    this.#times.set(index, times);
    const which = times > MAX_TIMES ? 'often' : String(health.since);
    this.#open.set(index, { finding: toFinding(node, slot, which), noticedAt: health.since, seenAt: at });
  }
}

function isTroubled({ health: { state } }: Slot): boolean {
  return state === 'quarantined' || state === 'unhealthy';
}

function toFinding(node: string, { index, health: { state, reason } }: Slot, which: string): Finding {
  const isQuarantined = state === 'quarantined';
  return {
    fingerprint: `slot/${index}/${which}`,
    type: 'GPU_UNHEALTHY',
    severity: isQuarantined ? 'warning' : 'critical',
    title: `GPU ${index} of ${node} is ${state}`,
    message: `It ${reason ?? 'gives no reason'}. It gets no job until that is over.`,
    data: { gpu: index, state, reason },
  };
}

function toResolved(which: string, { fingerprint, data }: Finding): Finding {
  return {
    fingerprint: `over/${fingerprint}`,
    type: 'GPU_UNHEALTHY',
    severity: 'info',
    title: `${which} takes jobs again`,
    message: `It was ${String(data?.['state'])}: it ${String(data?.['reason'])}.`,
    data: { gpu: data?.['gpu'], state: 'ok' },
  };
}
