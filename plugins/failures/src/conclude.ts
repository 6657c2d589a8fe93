import {
  withoutDirection,
  type CauseRecord,
  type Evidence,
  type NextAction,
  type NextActionRecord,
  type SemanticFinding,
  type SemanticRule,
} from '@svc/contract';
import type { Logger } from '@svc/kernel';
import { isRunnable, toRecord } from './runnable-actions.js';

export interface Concluded {
  readonly cause: CauseRecord;
  readonly next_actions: readonly NextAction[];
}

export type Warn = Pick<Logger, 'warn'>;

/** Below this a conclusion is a possibility, not the likely cause. */
const MIN_LIKELY = 0.5;

/** The conclusions of the rules about the subject, the most confident first: of equal ones the first rule counts. */
export function concludeAll<S extends 'run' | 'attempt'>(
  subject: S,
  evidence: Evidence[S],
  rules: Iterable<SemanticRule>,
  log: Warn,
): Concluded[] {
  const all: Concluded[] = [];
  for (const rule of rules) {
    if (rule.subject !== subject) continue;
    try {
      const { findings, next_actions } = (rule as SemanticRule<S>).evaluate(evidence);
      for (const finding of findings) all.push({ cause: toCause(rule.name, finding), next_actions });
    } catch (err) {
      log.warn({ err, rule: rule.name }, 'a rule that explains failures has thrown');
    }
  }
  return all.sort((a, b) => b.cause.confidence - a.cause.confidence);
}

function toCause(
  rule: string,
  { title, message, evidence, fixes = [], ...rest }: SemanticFinding,
): CauseRecord {
  return {
    rule,
    ...rest,
    title: withoutDirection(title),
    message: withoutDirection(message),
    evidence: evidence.map((citation) => ({ ...citation })),
    fixes: fixes.map(withoutDirection),
  };
}

export function likelyOf(concluded: readonly Concluded[]): Concluded | undefined {
  return concluded.find(({ cause }) => cause.confidence >= MIN_LIKELY);
}

export function toLikely(cause: CauseRecord | undefined) {
  return {
    rule: cause?.rule ?? null,
    likely_cause: cause?.message ?? null,
    confidence: cause?.confidence ?? null,
    evidence: cause?.evidence ?? [],
    suggested_fixes: cause?.fixes ?? [],
  };
}

/** Those that their tools take. Another one is reported. */
export function toNextActions(
  actions: readonly NextAction[],
  rule: string | undefined,
  log: Warn,
): NextActionRecord[] {
  const runnable = actions.filter((action) => {
    const { tool, args } = action;
    if (isRunnable(action)) return true;
    log.warn({ rule, tool, args }, 'a rule suggests an action that the tool would refuse');
    return false;
  });
  return runnable.map(toRecord);
}
