export { isEventFileName, isHParamsFolderName, readEventFile, type Batch } from './reader/event-file.js';
export { RECORD_LIMIT_BYTES } from './reader/records.js';
export type { HParams, Item, Restart, Scalar } from './reader/items.js';
export { withoutOverwritten } from './reader/restarts.js';
