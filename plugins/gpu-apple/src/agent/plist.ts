export type PlistValue = string | number | boolean | Buffer | readonly PlistValue[] | PlistDict;
export type PlistDict = { readonly [key: string]: PlistValue };

const TAG = /<(\/?)(dict|array|key|string|integer|real|data|date|true|false)\b[^>]*?(\/?)>([^<]*)/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MOST_DEPTH = 64;

interface Tag {
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  readonly name: string;
  readonly text: string;
}

/** A property list of macOS in XML, as its programs print with `-a` or `-xml`. Throws when it is none. */
export function parsePlist(xml: string): PlistValue {
  const tags = [...xml.matchAll(TAG)].map(([, end = '', name = '', empty = '', text = '']): Tag => ({
    isEnd: end !== '',
    isEmpty: empty !== '',
    name,
    text,
  }));
  return new Reader(tags).value(0);
}

class Reader {
  readonly #tags: readonly Tag[];
  #at = 0;

  constructor(tags: readonly Tag[]) {
    this.#tags = tags;
  }

  value(depth: number): PlistValue {
    const tag = this.#next();
    if (tag.isEnd || depth > MOST_DEPTH) throw malformed();
    if (tag.name === 'dict') return tag.isEmpty ? {} : this.#dict(depth);
    if (tag.name === 'array') return tag.isEmpty ? [] : this.#array(depth);
    if (tag.name === 'true' || tag.name === 'false') {
      if (!tag.isEmpty) this.#end(tag.name);
      return tag.name === 'true';
    }
    return toScalar(tag.name, this.#text(tag));
  }

  #dict(depth: number): PlistDict {
    const dict = new Map<string, PlistValue>();
    for (let tag = this.#next(); !tag.isEnd; tag = this.#next()) {
      if (tag.name !== 'key') throw malformed();
      const key = this.#text(tag);
      dict.set(key, this.value(depth + 1));
    }
    return Object.fromEntries(dict);
  }

  #array(depth: number): PlistValue[] {
    const values: PlistValue[] = [];
    while (!this.#peek().isEnd) values.push(this.value(depth + 1));
    this.#end('array');
    return values;
  }

  #text(tag: Tag): string {
    if (tag.isEmpty) return '';
    this.#end(tag.name);
    return tag.text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity] as string);
  }

  #end(name: string): void {
    const tag = this.#next();
    if (!tag.isEnd || tag.name !== name) throw malformed();
  }

  #next(): Tag {
    const tag = this.#peek();
    this.#at += 1;
    return tag;
  }

  #peek(): Tag {
    const tag = this.#tags[this.#at];
    if (tag === undefined) throw malformed();
    return tag;
  }
}

function toScalar(name: string, text: string): PlistValue {
  if (name === 'integer' || name === 'real') return Number(text);
  return name === 'data' ? Buffer.from(text, 'base64') : text;
}

const malformed = () => new Error('a property list in XML was expected');
