import { Type, type Static } from 'typebox';
import { DELIVERY_MODES } from '../protocol/enums.js';
import { strict } from '../route.js';
import { Severity } from './event.js';

/** Where a secret is kept: svc.config.ts does not hold it, so that neither the file nor `svc config print` shows it. */
export const SecretRef = Type.Union([
  strict({ file: Type.String({ pattern: '^/', description: 'an absolute path' }) }),
  strict({
    env: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'the name of a variable' }),
  }),
]);
export type SecretRef = Static<typeof SecretRef>;

/** What every target of push that is reached by HTTP has in svc.config.ts. */
export const pushTargetOptions = {
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    description: 'letters, digits, ., _ and -',
  }),
  url: Type.Union([
    Type.String({ pattern: '^https?://', description: 'an http or https address' }),
    SecretRef,
  ]),
  token: Type.Optional(SecretRef),
  min_severity: Type.Optional(Severity),
  types: Type.Optional(
    Type.Array(
      Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$', description: 'a type of events, as in LOSS_NAN' }),
    ),
  ),
  delivery: Type.Optional(Type.Enum([...DELIVERY_MODES])),
};

export const PushTarget = strict(pushTargetOptions);
export type PushTarget = Static<typeof PushTarget>;
