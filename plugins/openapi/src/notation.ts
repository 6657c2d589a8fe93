import type { Json, JsonObject } from './components.js';

/** A schema as a line of HTML that reads like a type: `{ name: string, scope?: "read" | "write" }`. */
export function toNotation(schema: Json): string {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return 'any';
  if (typeof schema['$ref'] === 'string') return toLink(schema['$ref']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map(toLiteral).join(' | ');
  if ('const' in schema) return toLiteral(schema['const'] ?? null);
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(alternatives)) return alternatives.map(toNotation).join(' | ');
  if (schema['type'] === 'array') return `array of ${toNotation(schema['items'] ?? {})}`;
  if (schema['type'] === 'object') return toObjectNotation(schema);
  return typeof schema['type'] === 'string' ? schema['type'] + toRange(schema) : 'any';
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

function toObjectNotation(schema: JsonObject): string {
  const required = new Set((schema['required'] as Json[] | undefined) ?? []);
  const fields = Object.entries((schema['properties'] as JsonObject | undefined) ?? {}).map(
    ([name, field]) => `${escapeHtml(name)}${required.has(name) ? '' : '?'}: ${toNotation(field)}`,
  );
  const values = Object.values((schema['patternProperties'] as JsonObject | undefined) ?? {});
  const others = values.map((value) => `[name]: ${toNotation(value)}`);
  if (schema['additionalProperties'] === true) others.push('...');
  const all = [...fields, ...others];
  return all.length === 0 ? '{}' : `{ ${all.join(', ')} }`;
}

function toRange(schema: JsonObject): string {
  const bound = (key: string) => (typeof schema[key] === 'number' ? String(schema[key]) : '');
  const [low, high] = [bound('minimum') || bound('minLength'), bound('maximum') || bound('maxLength')];
  const range = low === '' && high === '' ? '' : ` ${low}..${high}`;
  return 'default' in schema ? `${range} = ${toLiteral(schema['default'] ?? null)}` : range;
}

function toLiteral(value: Json): string {
  return escapeHtml(JSON.stringify(value));
}

function toLink(reference: string): string {
  const name = escapeHtml(reference.split('/').at(-1) ?? reference);
  return `<a href="#schema-${name}">${name}</a>`;
}
