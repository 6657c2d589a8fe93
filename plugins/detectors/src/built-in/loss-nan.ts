import { maskText, strict, type Detector, type DetectorInput, type Finding } from '@svc/contract';
import { hasNonFiniteLoss, isLoss, mustBeNumber, splitRank } from '@svc/signals';

const FINGERPRINT = 'loss';
const MAX_CHARACTERS = 500;

/** A loss that is NaN stays so: it is told once for a run. */
export const lossNan: Detector = {
  name: 'loss-nan',
  of: 'run',
  takes: ['metric', 'log'],
  finds: [
    {
      type: 'LOSS_NAN',
      severity: 'critical',
      when: 'a loss is NaN or infinite: a metric whose name has the word `loss`, or a line of the log such as `loss: nan` or `NaN loss detected`; or a loss by another name is NaN, such as `trainloss`, `nll`, `ppl`, `cross_entropy`, `mse` or `kl`. Once for a run',
    },
  ],
  optionsSchema: strict({}),
  wantsMetric: mustBeNumber,
  init: () => null,
  step(memory, input) {
    const finding = findIn(input);
    return { memory, findings: finding ? [finding] : [] };
  },
};

function findIn(input: DetectorInput): Finding | null {
  if (input.kind === 'metric') {
    const point = input.points.find(
      // A perplexity may overflow.
      ({ name, value }) => value === 'NaN' || (typeof value !== 'number' && isLoss(name)),
    );
    if (!point) return null;
    const { name, step, value } = point;
    return told(`${name} is ${value}`, `At step ${step} the training reported ${value}.`, {
      metric: name,
      step,
      value,
    });
  }
  if (input.kind !== 'log') return null;
  const line = input.lines.find(({ text }) =>
    hasNonFiniteLoss(splitRank(text.slice(0, MAX_CHARACTERS)).bare),
  );
  if (!line) return null;
  const text = maskText(line.text.slice(0, 2 * MAX_CHARACTERS)).slice(0, MAX_CHARACTERS);
  return told('The log shows a loss that is not finite', text, {
    attempt: input.attempt,
    seq: line.seq,
    text,
  });
}

function told(title: string, message: string, data: Record<string, unknown>): Finding {
  return { fingerprint: FINGERPRINT, type: 'LOSS_NAN', severity: 'critical', title, message, data };
}
