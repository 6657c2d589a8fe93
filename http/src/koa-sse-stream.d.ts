declare module 'koa-sse-stream/lib/sse.js' {
  import type Koa from 'koa';
  import type { Transform } from 'node:stream';

  export interface RawMessage {
    id?: string;
    event?: string;
    data: string;
  }

  export default class SseTransform extends Transform {
    ended: boolean;
    constructor(ctx: Koa.Context);
    sendEnd(message: RawMessage): void;
  }
}
