export { toActionCommand } from './action-command.js';
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
export { toJobName } from './job-name.js';
export { pause, retryDelayMs } from './retry.js';
export { type SseEvent } from './sse-parser.js';
export { toSubmitCommand } from './submit-command.js';
