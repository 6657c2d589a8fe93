/** So long may charts that change draw in one frame; the others follow in the next ones. */
const FRAME_MS = 8;

const waiting = new Set<() => void>();
let frame = 0;

/** Calls `draw` once, in one of the next animation frames: many charts that change together do not hold up the page. */
export function drawSoon(draw: () => void): void {
  waiting.add(draw);
  frame ||= requestAnimationFrame(drawWaiting);
}

export function drawNoMore(draw: () => void): void {
  waiting.delete(draw);
}

/** Those that have waited the longest first, one at least. */
function drawWaiting(): void {
  frame = 0;
  const endMs = performance.now() + FRAME_MS;
  for (const draw of waiting) {
    waiting.delete(draw);
    draw();
    if (performance.now() >= endMs) break;
  }
  if (waiting.size > 0) frame = requestAnimationFrame(drawWaiting);
}
