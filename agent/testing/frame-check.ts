import { AgentFrame, ServerFrame } from '@svc/contract';
import { compileCheck } from '@svc/validation';
import type { TObject, TSchema } from 'typebox';

/** Throws when the contract does not let an agent send that frame. */
export const checkAgentFrame = createFrameCheck('agent', AgentFrame);

/** Throws when the contract does not let a server send that frame. */
export const checkServerFrame = createFrameCheck('server', ServerFrame);

function createFrameCheck(sender: 'agent' | 'server', frames: TSchema): (frame: object) => void {
  const { anyOf } = frames as unknown as { anyOf: TObject[] };
  const checks = new Map(anyOf.map((schema) => [typeOf(schema), compileCheck(schema, 'leave')]));
  return (frame) => {
    const { type } = frame as { type?: string };
    const check = checks.get(type ?? '');
    const [issue] = check ? check(frame) : [{ path: 'type', message: 'is none of the protocol' }];
    if (issue)
      throw new TypeError(
        `the ${sender} sent a ${type} frame that the contract does not allow: ${issue.path}: ${issue.message}`,
      );
  };
}

function typeOf(schema: TObject): string {
  return (schema.properties['type'] as unknown as { const: string }).const;
}
