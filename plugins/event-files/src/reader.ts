export { isEventFileName, readEventFile, type Batch } from './reader/event-file.js';
export type { HParams, Item, Restart, Scalar } from './reader/items.js';
export { withoutOverwritten } from './reader/restarts.js';
