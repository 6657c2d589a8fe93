import { createContext } from '@lit/context';
import type { Api } from './api.js';
import type { Whoami } from './auth.js';
import type { LiveFeed } from './live-feed.js';

/** Split by how often they change: the first two never while signed in. */
export const apiContext = createContext<Api>(Symbol('api'));
export const feedContext = createContext<LiveFeed>(Symbol('feed'));
export const whoContext = createContext<Whoami | null>(Symbol('who'));
/** Whether the connection to the server is lost: the shell says so once for all that is on the page. */
export const isAwayContext = createContext<boolean>(Symbol('away'));
