export { ApiError, type ApiErrorCode } from './api-error.js';
export {
  createClient,
  type CallInput,
  type Client,
  type ClientOptions,
  type Connection,
  type RouteInput,
} from './client.js';
export { parseCommandLine, toCommandLine, type ParsedLine } from './command-line.js';
export { endpoint, toPath, type Endpoint } from './endpoint.js';
export { follow, type FollowOptions, type FollowState } from './follow.js';
export { pause, retryDelayMs } from './retry.js';
export { type SseEvent } from './sse-parser.js';
