import type { TSchema } from 'typebox';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Collects the schemas that have an `$id`, so that each is described once and referred to everywhere else. */
export class Components {
  readonly schemas: Record<string, Json> = {};
  readonly #sources = new Map<string, string>();

  /** The schema as it stands in the document: named parts as `$ref`. */
  refer(schema: TSchema): Json {
    return this.#walk(JSON.parse(JSON.stringify(schema)) as Json);
  }

  #walk(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (value === null || typeof value !== 'object') return value;
    const { $id: id, ...rest } = value;
    return typeof id === 'string' ? this.#define(toComponentName(id), rest) : this.#walkEntries(value);
  }

  /** A second schema of the same name (of another plugin, say) is described in its place instead. */
  #define(name: string, schema: JsonObject): Json {
    const source = JSON.stringify(schema);
    const first = this.#sources.get(name);
    if (first !== undefined && first !== source) return this.#walkEntries(schema);
    if (first === undefined) {
      this.#sources.set(name, source);
      this.schemas[name] = this.#walkEntries(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #walkEntries(schema: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, this.#walk(value)]));
  }
}

function toComponentName(id: string): string {
  return id.replace(/[^A-Za-z0-9._-]/g, '_');
}
