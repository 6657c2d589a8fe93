import { AGENT_PROTOCOL, AgentFrame } from '@svc/contract';
import { compileCheck, HttpError, parseJson, type Check } from '@svc/kernel';
import type { TObject, TSchema } from 'typebox';

/** A frame that the agent protocol does not allow. `message` says what is wrong with it. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

/** A hello of another protocol version; the rest of it is not checked, as its format may differ. */
export class ProtocolMismatch extends Error {
  override readonly name = 'ProtocolMismatch';

  constructor(theirs: unknown) {
    super(
      `this server speaks agent protocol ${AGENT_PROTOCOL}, the agent ${String(theirs)}: install the agent of the server's own release`,
    );
  }
}

const CHECKS: ReadonlyMap<string, Check> = new Map(
  (AgentFrame as unknown as { anyOf: TSchema[] }).anyOf.map((schema) => {
    const type = (schema as TObject).properties['type'] as unknown as { const: string };
    return [type.const, compileCheck(schema, 'leave')];
  }),
);

/** NUL in JSON text. PostgreSQL cannot store it. */
const NUL = '\\u0000';

/** null for a frame type that this server does not know: the protocol says to ignore it. */
export function parseFrame(bytes: Buffer): AgentFrame | null {
  const frame = parseObject(bytes);
  const { type } = frame;
  if (typeof type !== 'string') throw new MalformedFrame('a frame needs a "type"');
  if ((type === 'hello' || type === 'slots') && bytes.includes(NUL))
    throw new MalformedFrame(`${type} frame: text must not hold NUL`);
  if (type === 'hello' && frame['protocol'] !== AGENT_PROTOCOL) throw new ProtocolMismatch(frame['protocol']);
  const check = CHECKS.get(type);
  if (!check) return null;
  const [issue] = check(frame);
  if (issue)
    throw new MalformedFrame(`${type} frame: ${issue.path === '' ? '' : `${issue.path} `}${issue.message}`);
  return frame as unknown as AgentFrame;
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (error) {
    throw new MalformedFrame(error instanceof HttpError ? error.message : 'a frame must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedFrame('a frame must be a JSON object');
  return value as Record<string, unknown>;
}
