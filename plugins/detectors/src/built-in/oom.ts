import { maskText, strict, type Detector, type Finding } from '@svc/contract';
import { outOfMemoryIn, splitRank } from '@svc/signals';

const MAX_CHARACTERS = 4_000;
const SHOWN_CHARACTERS = 500;

/** Each attempt is told of once. */
export const oom: Detector = {
  name: 'oom',
  of: 'attempt',
  takes: ['log', 'job'],
  finds: [
    {
      type: 'OOM',
      severity: 'critical',
      when: 'a line of the log has an out-of-memory error of CUDA, HIP, XLA, MPS or the host, or the attempt ended for that reason. Once for an attempt',
    },
  ],
  optionsSchema: strict({}),
  init: () => null,
  step(memory, input) {
    if (input.kind === 'job' && input.job.failure_reason === 'OOM')
      return {
        memory,
        findings: [told('The attempt ran out of memory', input.job.failure_message ?? '', {})],
      };
    if (input.kind !== 'log') return { memory, findings: [] };
    for (const line of input.lines) {
      const text = line.text.slice(0, MAX_CHARACTERS);
      const of = outOfMemoryIn(splitRank(text).bare);
      if (of === null) continue;
      const shown = maskText(text).slice(0, SHOWN_CHARACTERS);
      const data = { attempt: input.attempt, seq: line.seq, text: shown, memory: of };
      return { memory, findings: [told(`Out of memory (${of})`, shown, data)] };
    }
    return { memory, findings: [] };
  },
};

function told(title: string, message: string, data: Record<string, unknown>): Finding {
  return { fingerprint: 'memory', type: 'OOM', severity: 'critical', title, message, data };
}
