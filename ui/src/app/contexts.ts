import { createContext } from '@lit/context';
import type { Api } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import type { LiveFeed } from '../data/live-feed.js';
import type { Registry } from './registry.js';

/** Split by how often they change: the first three never while signed in. */
export const apiContext = createContext<Api>(Symbol('api'));
export const feedContext = createContext<LiveFeed>(Symbol('feed'));
export const registryContext = createContext<Registry>(Symbol('registry'));
export const whoContext = createContext<Whoami | null>(Symbol('who'));
