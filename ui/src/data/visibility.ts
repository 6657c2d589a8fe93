const HIDDEN_GRACE_MS = 15_000;

interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * Pauses while the page is hidden for a while. A browser opens six connections to a host over HTTP/1.1, all tabs
 * together: streams of forgotten tabs would leave none for the tab in front.
 */
export function followVisibility(target: Pausable): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onChange = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => target.pause(), HIDDEN_GRACE_MS);
    else target.resume();
  };
  document.addEventListener('visibilitychange', onChange);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onChange);
  };
}
