/** With a modifier it is the browser's, and in a field it is text. */
export function isMeantElsewhere(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  const isField = target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  return isField || event.ctrlKey || event.metaKey || event.altKey;
}
