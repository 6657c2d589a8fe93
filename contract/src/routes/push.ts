import { Type } from 'typebox';
import { Delivery, DeliveryStatus } from '../records/delivery.js';
import { listOf, page, route, strict, text } from '../route.js';

export const listDeliveries = route({
  id: 'events.deliveries',
  method: 'GET',
  path: '/events/deliveries',
  scope: 'read',
  summary: 'What became of events at the targets with `at-least-once`, newest first.',
  query: strict({
    target: Type.Optional(text(100, 1)),
    status: Type.Optional(DeliveryStatus),
    event_id: Type.Optional(Type.String()),
    ...page(),
  }),
  answers: { 200: listOf(Delivery) },
});
