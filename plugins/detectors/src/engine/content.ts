import { EVENT_DATA_BYTES, SEVERITIES, maskSecrets, maskText, type Finding } from '@svc/contract';
import { compileCheck } from '@svc/kernel';
import { Type } from 'typebox';

/** A finding as the event has it. */
export type Content = Required<Finding>;

/** So much of a text is looked at. */
const MAX_READ = 64 * 1024;
const MAX_TITLE = 300;
const MAX_MESSAGE = 4_000;

const check = compileCheck(
  Type.Object({
    fingerprint: Type.String({ maxLength: 300 }),
    type: Type.String({ minLength: 1, maxLength: 100 }),
    severity: Type.Optional(Type.Enum([...SEVERITIES])),
    title: Type.String(),
    message: Type.Optional(Type.String()),
    data: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  'leave',
);

/**
 * A finding may repeat a line of a log: secrets are masked, before texts are cut, as half a secret would not be found. Throws when it is no finding:
 * its detector may be of a third party.
 */
export function toContent(finding: Finding): Content {
  const [issue] = check(finding);
  if (issue) throw new TypeError(`a finding is refused: ${issue.path}: ${issue.message}`);
  const { fingerprint, type, severity = 'warning', title, message = '', data = {} } = finding;
  const masked = maskSecrets(data) as Record<string, unknown>;
  const fits = Buffer.byteLength(JSON.stringify(masked)) <= EVENT_DATA_BYTES / 2;
  return {
    fingerprint,
    type,
    severity,
    title: maskText(title.slice(0, MAX_READ)).slice(0, MAX_TITLE),
    message: maskText(message.slice(0, MAX_READ)).slice(0, MAX_MESSAGE),
    data: fits ? masked : {},
  };
}
