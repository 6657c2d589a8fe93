import { Type, type Static } from 'typebox';
import { TOOL_INPUTS, TOOL_NAMES, type ToolName } from '../tools.js';
import { nullable, strict } from '../route.js';
import { Severity } from './event.js';
import { MetricValue } from './metric.js';

/** A next step: a tool of the MCP adapter, with arguments that pass its input schema (`TOOL_INPUTS`). */
export interface NextActionRecord {
  readonly tool: ToolName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason: string;
}
export const NextActionRecord = Type.Unsafe<NextActionRecord>(
  Type.Union(TOOL_NAMES.map(toAction), { $id: 'NextAction' }),
);

function toAction(tool: ToolName) {
  return strict({ tool: Type.Literal(tool), args: TOOL_INPUTS[tool], reason: Type.String() });
}

/** Where the evidence can be looked up: a point, an event, a line of a log, or a field of the job, the attempt or the run. */
export const CitationRecord = Type.Union([
  strict({ metric: Type.String(), step: Type.Integer(), value: MetricValue }),
  strict({ event_id: Type.String() }),
  strict({ attempt: Type.Integer(), seq: Type.Integer(), text: Type.String() }),
  strict({ field: Type.String(), value: Type.String() }),
]);
export type CitationRecord = Static<typeof CitationRecord>;

export const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'How sure the rule is.',
});

/** A conclusion of one rule. */
export const CauseRecord = strict(
  {
    rule: Type.String(),
    severity: Severity,
    title: Type.String(),
    message: Type.String(),
    confidence: Confidence,
    evidence: Type.Array(CitationRecord),
    fixes: Type.Array(Type.String()),
  },
  { $id: 'Cause' },
);
export type CauseRecord = Static<typeof CauseRecord>;

export const StackFrame = strict({
  file: Type.String(),
  line: Type.Integer(),
  function: nullable(Type.String()),
  code: nullable(Type.String()),
});
export type StackFrame = Static<typeof StackFrame>;
