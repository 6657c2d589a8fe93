import { Type } from 'typebox';
import { route } from '../route.js';

export const getOpenApi = route({
  id: 'openapi.document',
  method: 'GET',
  path: '/openapi.json',
  scope: 'any',
  summary: 'This description of every endpoint: OpenAPI 3.1.',
  answers: { 200: Type.Object({ openapi: Type.String() }, { additionalProperties: true }) },
});

export const getDocs = route({
  id: 'openapi.docs',
  method: 'GET',
  path: '/docs',
  scope: 'none',
  summary: 'The same for people, as a page.',
  stream: 'download',
});
