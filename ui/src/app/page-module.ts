import type { CallInput } from '@svc/client';
import type { RouteSpec } from '@svc/contract';
import { LitElement, css, html, nothing, svg, type CSSResultGroup } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { toast } from '../components/svc-toasts.js';
import { Loader } from '../controllers/loader.js';
import { endpoint, withoutEmpty, type Api } from '../data/api.js';
import type { EventRecord } from '../data/event-list.js';
import type { LiveFeed } from '../data/live-feed.js';
import { navigate, paths } from '../paths.js';
import { chipStyles } from '../styles/filter-styles.js';
import { baseStyles, controlStyles, pageStyles } from '../styles/shared.js';
import { tableStyles } from '../styles/table-styles.js';

type Query = Readonly<Record<string, string | number | null | undefined>>;

/** What the module of a plugin gets; docs/plugins.md describes it. Nothing else of the console is for others to use. */
export interface PageContext {
  readonly lit: {
    readonly LitElement: typeof LitElement;
    readonly html: typeof html;
    readonly svg: typeof svg;
    readonly css: typeof css;
    readonly nothing: typeof nothing;
    readonly repeat: typeof repeat;
  };
  /** Requests below /api/v1 with the token of who is signed in. A refusal is thrown, with `code`, `message` and `status`. */
  readonly api: {
    get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
    post<T>(path: string, body?: unknown): Promise<T>;
  };
  /** A controller that keeps one answer fresh: `new Loader(this, { load: (signal) => ..., everyMs: 5000 })`. */
  readonly Loader: typeof Loader;
  /** Calls back with the service's events as they happen; returns the end of it. */
  onEvents(listener: (events: readonly EventRecord[]) => void): () => void;
  /** The addresses of the console's own pages, and the way to one of them. */
  readonly paths: typeof paths;
  readonly navigate: typeof navigate;
  /** A short message in the corner. */
  readonly toast: typeof toast;
  /** The look of the console's own pages: page head, panels, buttons, filters, rows. */
  readonly styles: CSSResultGroup;
}

/** The default export of a module: makes the class of its element, which the console defines and shows. */
export type PageModule = (context: PageContext) => CustomElementConstructor;

export function createPageContext(api: Api, feed: LiveFeed): PageContext {
  return {
    lit: { LitElement, html, svg, css, nothing, repeat },
    api: {
      get: (path, query = {}, signal) => request(api, 'GET', path, { query: withoutEmpty(query), signal }),
      post: (path, body) => request(api, 'POST', path, { body }),
    },
    Loader,
    onEvents: (listener) => feed.subscribe(listener),
    paths,
    navigate,
    toast,
    styles: [baseStyles, controlStyles, pageStyles, chipStyles, tableStyles],
  };
}

/** A plugin names a route by its path: the contract need not know it. */
function request<T>(api: Api, method: 'GET' | 'POST', path: string, input: object): Promise<T> {
  const route = endpoint<RouteSpec>(method, path as RouteSpec['path']);
  return api.callAny(route, input as CallInput<RouteSpec>) as Promise<T>;
}
