import { strict } from '@svc/contract';
import { Type } from 'typebox';

export const pushOptions = strict({
  give_up_after_h: Type.Integer({
    minimum: 1,
    maximum: 720,
    default: 24,
    description: 'With at-least-once, for how long an event is pushed again and again.',
  }),
  keep_deliveries_d: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 7,
    description: 'For how long deliveries that are over are listed.',
  }),
});
