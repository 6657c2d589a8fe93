import type { Citation, Conclusion, Evidence, NextAction, SemanticRule } from '@svc/contract';
import type { ArgumentChange } from './changed-argument.js';
import { readingOf } from './evidence/reading.js';
import { actionsFor, type Remedy } from './next-actions.js';

/** A built-in rule as data. */
export interface FailureRuleDefinition {
  readonly name: string;
  readonly title: string;
  /** A word in angle brackets, as `<module>`, stands for the named group of the pattern; `<message>` for the failure message. */
  readonly cause: string;
  /** The cause when the evidence names none of these words. */
  readonly unnamedCause?: string;
  readonly fixes: readonly string[];
  /** When the evidence is as clear as it can be, from 0 to 1. */
  readonly confidence: number;
  readonly remedy: Remedy;
  /** Of remedy `change`: it is suggested for a command that has such an argument. */
  readonly argument?: ArgumentChange;
  /** Each is tried on one line, without the prefix of a rank. Its time must be linear in the length of the line. */
  readonly patterns?: readonly RegExp[];
  /** Evidence outside the log; null for none. */
  readonly applies?: (evidence: Evidence['attempt']) => readonly Citation[] | null;
  /** It explains an end by a signal as well. */
  readonly explainsKill?: true;
}

export interface FailureRule extends SemanticRule<'attempt'> {
  readonly definition: FailureRuleDefinition;
}

/** A built-in rule about a run; whether it has a job makes no difference. */
export interface RunRule extends SemanticRule<'run'> {
  readonly definition: Pick<FailureRuleDefinition, 'title' | 'cause' | 'fixes' | 'confidence'>;
}

/** A program that was killed from outside has seldom ended because of an error it reported. */
const KILLED = 0.5;
const KILLS: ReadonlySet<number | null> = new Set([-2, -9, -15, 130, 137, 143]);
/** An event tells of something that happened during the attempt, not how it ended. */
const OF_EVENT = 0.8;
/**
 * They repeat the record of the job and the name that its user gave it, or tell of another job: how the evaluation of a checkpoint of the
 * run ended is no reason why the training did.
 */
const LIFE_CYCLE: ReadonlySet<string> = new Set([
  'JOB_QUEUED',
  'JOB_LOST',
  'JOB_FOUND',
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_STALLED',
  'RUN_LOST',
  'RUN_FOUND',
  'RUN_DELETED',
  'CHECKPOINT_CREATED',
  'EVALUATION_FINISHED',
]);
const MAX_CITED_CHARACTERS = 500;
const MAX_VALUE_CHARACTERS = 300;

const NOTHING: Conclusion = { findings: [], next_actions: [] };

export function failureRule(definition: FailureRuleDefinition): FailureRule {
  const { name } = definition;
  return { name, subject: 'attempt', definition, evaluate: (evidence) => conclude(definition, evidence) };
}

type Groups = Readonly<Record<string, string | undefined>>;

interface Match {
  readonly evidence: readonly Citation[];
  readonly groups: Groups;
  readonly confidence: number;
}

function conclude(rule: FailureRuleDefinition, evidence: Evidence['attempt']): Conclusion {
  const match = matchOf(rule, evidence);
  if (match === null) return NOTHING;
  const { title } = rule;
  const message = toCause(rule, match.groups);
  const fixes = rule.fixes.map((fix) => fill(fix, match.groups));
  const { confidence, evidence: cited } = match;
  const finding = { severity: 'critical', title, message, fixes, confidence, evidence: cited } as const;
  return { findings: [finding], next_actions: toActions(rule, evidence, fixes) };
}

function toActions(
  { remedy, argument }: FailureRuleDefinition,
  { job, attempt, lines }: Evidence['attempt'],
  fixes: readonly string[],
): NextAction[] {
  const fix = fixes[0] ?? null;
  return actionsFor(remedy, { job, attempt: attempt.attempt, hasLog: lines.length > 0, fix, argument });
}

function matchOf(rule: FailureRuleDefinition, evidence: Evidence['attempt']): Match | null {
  const { confidence } = rule;
  const outside = rule.applies?.(evidence) ?? null;
  const told = matchInLog(rule, evidence) ?? matchInEvents(rule, evidence);
  if (outside === null) return told;
  const message = evidence.attempt.failure_message?.replace(/\.$/, '');
  const groups = { message, ...told?.groups };
  return { evidence: [...outside, ...(told?.evidence ?? [])], groups, confidence };
}

/** The line that tells most about the end; of several the last. */
function matchInLog(rule: FailureRuleDefinition, evidence: Evidence['attempt']): Match | null {
  let best: Match | null = null;
  for (const { seq, text, weight } of readingOf(evidence).lines.toReversed()) {
    const confidence = confidenceOf(rule, evidence, weight);
    if (best !== null && confidence <= best.confidence) continue;
    const groups = find(rule, text);
    const cited = { attempt: evidence.attempt.attempt, seq, text: text.slice(0, MAX_CITED_CHARACTERS) };
    if (groups) best = { evidence: [cited], groups, confidence };
  }
  return best;
}

/** What a detector or the training itself has reported. */
function matchInEvents(rule: FailureRuleDefinition, evidence: Evidence['attempt']): Match | null {
  const confidence = confidenceOf(rule, evidence, OF_EVENT);
  for (const { id, type, severity, title, message } of evidence.events) {
    if (severity === 'info' || LIFE_CYCLE.has(type)) continue;
    const groups = find(rule, title) ?? find(rule, message);
    if (groups) return { evidence: [{ event_id: id }], groups, confidence };
  }
  return null;
}

function find({ patterns = [] }: FailureRuleDefinition, text: string): Groups | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match) return match.groups ?? {};
  }
  return null;
}

function confidenceOf(
  { confidence, explainsKill }: FailureRuleDefinition,
  { attempt }: Evidence['attempt'],
  weight: number,
): number {
  const alive = KILLS.has(attempt.exit_code) && !explainsKill ? KILLED : 1;
  return Number((confidence * weight * alive).toFixed(3));
}

function toCause({ cause, unnamedCause }: FailureRuleDefinition, groups: Groups): string {
  const isNamed = Object.values(groups).some((value) => value !== undefined);
  return unnamedCause !== undefined && !isNamed ? unnamedCause : fill(cause, groups);
}

function fill(text: string, groups: Groups): string {
  return text.replace(/<(\w+)>/g, (whole, name: string) => cut(groups[name]) ?? whole);
}

/** What is cut ends with an ellipsis. */
function cut(value: string | undefined): string | undefined {
  return value !== undefined && value.length > MAX_VALUE_CHARACTERS
    ? `${value.slice(0, MAX_VALUE_CHARACTERS - 1)}…`
    : value;
}
