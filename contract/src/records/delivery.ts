import { Type, type Static } from 'typebox';
import { DELIVERY_STATUSES, type DELIVERY_MODES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';

export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES]);
export type DeliveryStatus = Static<typeof DeliveryStatus>;

/** What became of an event at one target that is told at least once. */
export const Delivery = strict(
  {
    id: Type.String(),
    event_id: Type.String(),
    target: Type.String(),
    status: DeliveryStatus,
    tries: Type.Integer(),
    last_error: nullable(Type.String({ description: 'Why the last try failed.' })),
    created_at: Timestamp,
    next_try_at: nullable(Timestamp),
    finished_at: nullable(Timestamp),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof Delivery>;
