import type { Protocol } from '@svc/contract';
import { fail } from '@svc/kernel';
import type { EvaluatedValue, ProtocolFilter } from '@svc/plugin-evaluations';
import { LABELS } from './question.js';

const MOST_SHOWN = 20;

/**
 * The one protocol of these values; null without values. Values of different protocols cannot be compared: throws a validation_error that
 * asks for suite, dataset and dataset_version, and lists the combinations that there are.
 */
export function requireOneProtocol(
  metric: string,
  values: readonly EvaluatedValue[],
  labels: ProtocolFilter,
): Protocol | null {
  const protocols = countProtocols(values);
  if (protocols.length > 1) failAmbiguous(metric, protocols, labels);
  const [only] = protocols;
  if (!only) return null;
  const { suite, dataset, dataset_version } = only;
  return { suite, dataset, dataset_version };
}

type Counted = Protocol & { evaluations: number };

function countProtocols(values: readonly EvaluatedValue[]): Counted[] {
  const found = new Map<string, Counted>();
  let last: Counted | undefined;
  for (const value of values) {
    // Most have the protocol of the one before.
    if (!last || !isOf(last, value)) last = ensureCounted(found, value);
    last.evaluations += 1;
  }
  return [...found.values()];
}

function ensureCounted(found: Map<string, Counted>, { suite, dataset, dataset_version }: Protocol): Counted {
  const key = JSON.stringify([suite, dataset, dataset_version]);
  const counted = found.get(key) ?? { suite, dataset, dataset_version, evaluations: 0 };
  found.set(key, counted);
  return counted;
}

function isOf(protocol: Protocol, value: Protocol): boolean {
  return LABELS.every((label) => protocol[label] === value[label]);
}

function failAmbiguous(metric: string, protocols: readonly Counted[], labels: ProtocolFilter): never {
  const message = `evaluations of "${metric}" by ${protocols.length} protocols cannot be compared: give suite, dataset and dataset_version. Found: ${toList(protocols.map(toText))}`;
  const errors = LABELS.filter((label) => labels[label] === undefined).flatMap((label) => {
    const values = new Set(protocols.map((protocol) => protocol[label] ?? ''));
    const choice = toList([...values].map((value) => (value === '' ? 'none' : `"${value}"`)));
    return values.size < 2
      ? []
      : [
          {
            path: label,
            message: `evaluations of "${metric}" have different ones (${choice}): give one, or "" for none`,
          },
        ];
  });
  return fail('validation_error', message, { errors, protocols: protocols.slice(0, MOST_SHOWN) });
}

function toList(texts: readonly string[]): string {
  const more = texts.length - MOST_SHOWN;
  return texts.slice(0, MOST_SHOWN).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** `suite=heldout dataset=digits dataset_version= (3 evaluations)`: as a query takes it, empty for none. */
function toText(protocol: Counted): string {
  const labels = LABELS.map((label) => `${label}=${protocol[label] ?? ''}`).join(' ');
  return `${labels} (${protocol.evaluations} evaluation${protocol.evaluations === 1 ? '' : 's'})`;
}
