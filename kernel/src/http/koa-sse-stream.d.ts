declare module 'koa-sse-stream/lib/sse.js' {
  import type Koa from 'koa';
  import type { Transform } from 'node:stream';

  interface Message {
    id?: string;
    event?: string;
    data: string;
  }

  export default class SseTransform extends Transform {
    ended: boolean;
    constructor(ctx: Koa.Context, options?: object);
    sendEnd(message: Message): void;
  }
}
