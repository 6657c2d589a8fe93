/** What the icon of the tab tells. failed: since the tab was last looked at. */
export type Mood = 'idle' | 'waiting' | 'running' | 'failed';

const FILES: Readonly<Record<Mood, string>> = {
  idle: '/favicon.svg',
  waiting: '/favicon-waiting.svg',
  running: '/favicon-running.svg',
  failed: '/favicon-failed.svg',
};

export function setFavicon(mood: Mood): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]') ?? addLink();
  if (link.getAttribute('href') !== FILES[mood]) link.setAttribute('href', FILES[mood]);
}

function addLink(): HTMLLinkElement {
  const link = document.createElement('link');
  link.rel = 'icon';
  document.head.append(link);
  return link;
}
