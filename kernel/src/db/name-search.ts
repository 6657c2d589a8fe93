/** The name as a column for searches keeps it. The databases differ in how they fold letter case, so it is done here. */
export function toSearchName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** The different words of a search, as a column for searches would have them. */
export function toSearchWords(search: string): string[] {
  return [...new Set(toSearchName(search).split(/\s+/).filter(Boolean))];
}

/** For `like ... escape '!'`: the text itself, without wildcards. */
export function toLikeText(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}
