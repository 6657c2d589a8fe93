/// <reference lib="dom" />
// Runs in the browser: mounts one element in a page of its own, before a server that the test plays.
import { ContextProvider } from '@lit/context';
import { LitElement, type ReactiveElement } from 'lit';
import { Api } from '../../../src/data/api.js';
import { apiContext, feedContext, whoContext } from '../../../src/data/contexts.js';
import { LiveFeed } from '../../../src/data/live-feed.js';
import { PAGES, RUN_TABS } from '../../../src/pages/pages.js';
import { Registry, registryContext } from '../../../src/pages/registry.js';
import { fakeFetch, openStreams, pushToStream, setAway } from './page-fetch.js';

export interface MountRequest {
  readonly tag: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly canWrite: boolean;
  /** The page's address. */
  readonly address: string;
  /** Names of events of the element that are written down. */
  readonly events: readonly string[];
  readonly theme: 'light' | 'dark';
  /** What the page's clock says then. */
  readonly now: number;
}

class TestHost extends LitElement {
  readonly #api = new Api({
    token: () => 'svc_test',
    onUnauthorized: (message) => heard.push(['unauthorized', message]),
  });
  readonly #feed = new LiveFeed(this.#api, () => {});

  constructor(canWrite: boolean) {
    super();
    new ContextProvider(this, { context: apiContext, initialValue: this.#api });
    new ContextProvider(this, { context: feedContext, initialValue: this.#feed });
    new ContextProvider(this, { context: registryContext, initialValue: new Registry(PAGES, RUN_TABS) });
    const who = { name: 'me', scope: canWrite ? 'write' : 'read', can_write: canWrite } as const;
    new ContextProvider(this, { context: whoContext, initialValue: who });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#feed.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#feed.stop();
  }

  override createRenderRoot(): HTMLElement {
    return this;
  }
}
customElements.define('test-host', TestHost);

/** The events that the element has fired: name and detail. */
let heard: [name: string, detail: unknown][] = [];

async function mount({
  tag,
  properties,
  canWrite,
  address,
  events,
  theme,
  now,
}: MountRequest): Promise<void> {
  unmount();
  setClock(now);
  history.replaceState(null, '', address);
  document.documentElement.dataset.theme = theme;
  const host = new TestHost(canWrite);
  // As in the console, where pages lie in <main>.
  const main = document.createElement('main');
  document.body.append(main);
  main.append(host);
  const element = document.createElement(tag) as ReactiveElement;
  Object.assign(element, revive(properties));
  for (const name of events) {
    element.addEventListener(name, (event) => heard.push([name, (event as CustomEvent<unknown>).detail]));
  }
  host.append(element);
  await element.updateComplete;
}

/** The shell has contexts of its own. */
async function mountApp(address: string, token: string | null): Promise<void> {
  unmount();
  if (token !== null) sessionStorage.setItem('svc.token', token);
  history.replaceState(null, '', address);
  const app = document.createElement('svc-app') as ReactiveElement;
  document.body.append(app);
  await app.updateComplete;
}

const realNow = Date.now;
/** The time goes on from there, so that a record of five minutes ago is as old in every test. */
function setClock(now: number): void {
  const ahead = now - realNow();
  Date.now = () => realNow() + ahead;
}

function unmount(): void {
  setAway(false);
  document.body.replaceChildren();
  sessionStorage.clear();
  localStorage.clear();
  delete document.documentElement.dataset.theme;
  window.scrollTo(0, 0);
  heard = [];
}

async function change(properties: Readonly<Record<string, unknown>>): Promise<void> {
  const element = mounted();
  Object.assign(element, revive(properties));
  await element.updateComplete;
}

function mounted(): ReactiveElement {
  return document.querySelector('test-host')!.firstElementChild as ReactiveElement;
}

/** JSON has no URLSearchParams and no Map. */
function revive(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(properties).map(([name, value]) => {
    if (name === 'query') return [name, new URLSearchParams(value as string)];
    return [name, name === 'nodeNames' ? new Map(Object.entries(value as object)) : value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

// What the router does when a page changes its own address, or somebody goes back.
for (const name of ['svc-navigate', 'popstate'])
  window.addEventListener(name, () => {
    const element = document.querySelector('test-host')?.firstElementChild;
    if (element && 'query' in element) element.query = new URLSearchParams(location.search);
  });

window.fetch = fakeFetch;
const harness = { mount, mountApp, unmount, change, heard: () => heard, openStreams, pushToStream, setAway };
export type Harness = typeof harness;
Object.assign(window, { harness });
